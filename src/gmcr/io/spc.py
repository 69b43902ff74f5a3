"""Galactic SPC files by their specification: new format in both byte orders, and the old one.

The layout is that of Galactic's SPC.H: a header, then for each trace (subfile) a header of its own and its
ordinates, which are 16- or 32-bit fractions with an exponent, or floats; abscissas are even, common, or each
trace's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.errors import FileError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.opening import Bytes, Cut, FilePath, decoded, read_bytes
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table
from gmcr.validation import FloatArray

# Flags TSPREC, TMULTI, TRANDM, TORDRD, TALABS, TXYXYS and TXVALS; TCGRAM (0x02) is for older software
SHORT, MULTI, ANY_Z, UNEVEN_Z, LABELLED, OWN_AXES, WITH_AXIS = 0x01, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
NEW, NEW_BIG_ENDIAN, OLD = 0x4B, 0x4C, 0x4D
FLOATS = -128  # exponent that says ordinates are floats
LABELS = 15  # kind of the z axis that says, in the old format, that axes have labels
HEADER, OLD_HEADER, TRACE_HEADER, ENTRY = 512, 224, 32, 12

UNITS = {
    1: "cm⁻¹", 2: "µm", 3: "nm", 4: "s", 5: "min", 6: "Hz", 7: "kHz", 8: "MHz", 9: "m/z", 10: "ppm", 11: "d",
    12: "a", 13: "cm⁻¹", 14: "eV", 16: "diode", 17: "channel", 18: "°", 19: "°F", 20: "°C", 21: "K", 22: "point",
    23: "ms", 24: "µs", 25: "ns", 26: "GHz", 27: "cm", 28: "m", 29: "mm", 30: "h",
}  # fmt: skip
ORDINATES = {
    1: "interferogram", 2: "absorbance", 3: "Kubelka-Munk", 4: "counts", 5: "volts", 6: "degrees",
    7: "milliamperes", 8: "millimetres", 9: "millivolts", 10: "log(1/R)", 11: "percent", 12: "intensity",
    13: "relative intensity", 14: "energy", 16: "decibel", 19: "°F", 20: "°C", 21: "K", 22: "index of refraction",
    23: "extinction coefficient", 24: "real part", 25: "imaginary part", 26: "complex", 128: "transmission",
    129: "reflectance", 130: "valleys", 131: "emission",
}  # fmt: skip


def read_spc(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read the traces of an SPC file, one sample each."""
    content = read_bytes(path)
    version = content[1] if len(content) > 1 else 0
    notes: list[str] = []
    if version in (NEW, NEW_BIG_ENDIAN):
        spectra = _new(path, Bytes(content, "<" if version == NEW else ">"), notes)
    elif version == OLD:
        spectra = _old(path, Bytes(content))
    else:
        raise FileError(f"{path} is no Galactic SPC file: its second byte is {version:#x}; export it again.")
    return join(path, spectra, notes, asked)


def _new(path: FilePath, file: Bytes, notes: list[str]) -> list[Spectrum]:
    flags, _, _, exponent, points, first, last, count = file.unpack("BBBbIddI", 0)
    x_type, y_type, z_type = file.unpack("BBB", 28)
    (date,) = file.unpack("I", 32)
    z_step, planes = file.unpack("fI", 312)
    labels = _labels(file, 218) if flags & LABELLED else ("", "", "")
    facts = {
        "ordinate": labels[1] or ORDINATES.get(y_type),
        "resolution": file.text(9, 36),
        "source": file.text(9, 45),
        "comment": file.text(130, 88),
        "date": _date(date),
    }
    position, axis = HEADER, None
    if flags & WITH_AXIS and not flags & OWN_AXES:
        axis = file.array("f4", points, position).astype(float)
        position += 4 * points
    elif not flags & OWN_AXES:
        # Before the axis is made: the ordinates must be there, at 2 bytes each or more.
        file.array("u1", 2 * points, position)
        axis = np.linspace(first, last, points)
    if count > 1 and not flags & MULTI:
        notes.append(f"The file says that it holds one trace and that they are {count}; all were read.")
    own_axes = bool(flags & OWN_AXES)
    layout = _Layout(flags, exponent, 0 if own_axes else points, own_axes)
    places = _directory(file, layout, points, count) if own_axes and points else None
    traces: list[_Trace] = []
    for number in range(max(count, 1)):
        traces.append(_trace(file, layout, position if places is None else places[number]))
        position = traces[-1].end
    doubtful = sum(trace.doubtful for trace in traces)
    if doubtful:
        notes.append(
            f"The file says that ordinates are floats, {doubtful} of its traces do not; they were read as floats."
        )
    even = not flags & (ANY_Z | UNEVEN_Z)
    z_step = (z_step or traces[0].next_z - traces[0].z) if even else 0.0  # 0: each trace has its own
    spectra = []
    for number, trace in enumerate(traces):
        here: dict[str, Any] = {}
        if flags & MULTI:
            z = traces[0].z + number * z_step if z_step and np.isfinite(z_step) else trace.z
            here = {"z": z, "z_unit": labels[2] or UNITS.get(z_type), "w": trace.w if planes else None}
        own = axis if trace.axis is None else trace.axis
        spectra.append(_spectrum(path, trace.values, own, labels[0] or UNITS.get(x_type), facts | here))
    return spectra


def _old(path: FilePath, file: Bytes) -> list[Spectrum]:
    """The format before 1987: no axes of its own, and as many traces as the file has room for."""
    flags, _, exponent, points, first, last, x_type, y_type, year = file.unpack("BBhfffBBH", 0)
    if not (np.isfinite([points, first, last]).all() and 0 < points == int(points)):
        raise ValueError(f"it says it has {points} points")
    if flags & (OWN_AXES | WITH_AXIS):
        raise ValueError("it is of the old format and says it has axis values, which that format has not")
    count = int(points)
    labels = _labels(file, 194) if flags & LABELLED or year >> 12 == LABELS else ("", "", "")
    facts = {"ordinate": labels[1] or ORDINATES.get(y_type), "comment": file.text(130, 64)}
    unit, z_unit = labels[0] or UNITS.get(x_type), labels[2] or UNITS.get(year >> 12)
    file.array("u1", 2 * count, OLD_HEADER + TRACE_HEADER)
    axis = np.linspace(first, last, count)
    layout = _Layout(flags, exponent, count, swapped=True)
    spectra: list[Spectrum] = []
    position = OLD_HEADER
    while position < len(file):
        trace = _trace(file, layout, position)
        position = trace.end
        here = facts | ({"z": trace.z, "z_unit": z_unit} if flags & MULTI else {})
        spectra.append(_spectrum(path, trace.values, axis, unit, here))
        if not flags & MULTI:
            break
    return spectra


@dataclass(frozen=True)
class _Layout:
    """How a file holds its traces."""

    flags: int
    exponent: int  # of the file
    points: int  # of each trace; 0 where each says its own
    own_axes: bool = False  # whether each trace has abscissas before its ordinates
    swapped: bool = False  # whether the more significant word of an ordinate comes first


@dataclass(frozen=True, eq=False)
class _Trace:
    """A trace: ordinates, own abscissas, its place on the z axis, the next one's, its place on the w axis."""

    values: FloatArray
    axis: FloatArray | None
    z: float
    next_z: float
    w: float
    index: int
    end: int  # where the next one begins
    doubtful: bool  # whether file and trace say different things of the ordinates


def _trace(file: Bytes, layout: _Layout, position: int) -> _Trace:
    """The trace whose header stands at `position`.

    Of many traces each has its exponent, also where that is 0; a single trace has the file's. But traces of files
    of floats often leave theirs at 0, so there the ordinates decide: as floats, fractions are no sane numbers.
    """
    _, own, index, z, next_z, _, points, _, w, _ = file.unpack("BbHfffIIf4s", position)
    position += TRACE_HEADER
    axis, count = None, layout.points
    if layout.own_axes:
        count = points
        axis = file.array("f4", count, position).astype(float)
        position += 4 * count
    exponent = own if layout.flags & MULTI else layout.exponent
    doubtful = layout.exponent == FLOATS and exponent == 0 and position + 4 * count <= len(file)
    if doubtful:
        size = np.abs(file.array("f4", count, position))
        doubtful = bool(((size == 0) | ((size > 1e-30) & (size < 1e30))).all())
    values, size = _ordinates(
        file, position, count, FLOATS if doubtful else exponent, layout.flags, swapped=layout.swapped
    )
    return _Trace(values, axis, float(z), float(next_z), float(w), index, position + size, doubtful)


def _directory(file: Bytes, layout: _Layout, start: int, count: int) -> list[int] | None:
    """Where the traces stand, by the directory at `start`: not always one after the other.

    None if there is no directory there, since some programs write what points nowhere.
    """
    try:
        entries = [file.unpack("II", start + ENTRY * number) for number in range(max(count, 1))]
        if sum(size for _, size in entries) > len(file):  # or many could share the bytes of a few
            return None
        traces = [_trace(file, layout, position) for position, _ in entries]
    except Cut:
        return None
    fits = all(
        trace.index == number and trace.end - position == size
        for number, (trace, (position, size)) in enumerate(zip(traces, entries))
    )
    return [position for position, _ in entries] if fits else None


def _labels(file: Bytes, offset: int) -> tuple[str, str, str]:
    """Labels of the x, y and z axes, "" where the kind of the axis is to be taken."""
    file.text(30, offset)
    parts = file.content[offset : offset + 30].split(b"\0")
    x, y, z = ([decoded(part, "utf-8").strip() for part in parts] + [""] * 3)[:3]
    return x, y, z


def _ordinates(
    file: Bytes, position: int, count: int, exponent: int, flags: int, *, swapped: bool = False
) -> tuple[FloatArray, int]:
    """The ordinates from `position`, and how many bytes they take."""
    if exponent in (FLOATS, -FLOATS):
        return file.array("f4", count, position).astype(float), 4 * count
    if flags & SHORT:
        return file.array("i2", count, position).astype(float) * 2.0 ** (exponent - 16), 2 * count
    if swapped:  # the old format has the more significant word first
        words = file.array("u2", 2 * count, position).astype(np.uint32).reshape(-1, 2)
        whole = ((words[:, 0] << 16) | words[:, 1]).view(np.int32)
    else:
        whole = file.array("i4", count, position)
    return whole.astype(float) * 2.0 ** (exponent - 32), 4 * count


def _spectrum(
    path: FilePath, values: FloatArray, axis: FloatArray | None, unit: str | None, facts: dict[str, Any]
) -> Spectrum:
    if not len(values):
        raise Cut
    known = {name: fact for name, fact in facts.items() if fact not in (None, "")}
    return Spectrum(values, axis, Path(path).stem, unit, known)


def _date(packed: int) -> str | None:
    """Minute, hour, day, month and year in 6, 5, 5, 4 and 12 bits."""
    if not packed:
        return None
    year, month, day = packed >> 20, packed >> 16 & 15, packed >> 11 & 31
    return f"{year:04}-{month:02}-{day:02} {packed >> 6 & 31:02}:{packed & 63:02}"


FORMATS.add("Galactic SPC", Format((".spc",), read_spc, apart=False))
