"""Galactic SPC files by their specification: new format in both byte orders, and the old one.

The layout is that of Galactic's SPC.H: a header, then for each trace (subfile) a header of its own and its
ordinates, which are 16- or 32-bit fractions with an exponent, or floats; abscissas are even, common, or each
trace's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gmcr.errors import FileError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.opening import Bytes, Cut, FilePath, read_bytes
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table
from gmcr.validation import FloatArray

SHORT, MULTI, LABELLED, OWN_AXES, WITH_AXIS = 0x01, 0x04, 0x20, 0x40, 0x80  # flags TSPREC ... TXVALS
NEW, NEW_BIG_ENDIAN, OLD = 0x4B, 0x4C, 0x4D
FLOATS = -128  # exponent that says ordinates are floats
HEADER, OLD_HEADER, TRACE_HEADER = 512, 224, 32

UNITS = {
    1: "cm⁻¹", 2: "µm", 3: "nm", 4: "s", 5: "min", 6: "Hz", 7: "kHz", 8: "MHz", 9: "m/z", 10: "ppm", 13: "cm⁻¹",
    14: "eV", 18: "°", 23: "ms", 26: "GHz", 30: "h",
}  # fmt: skip
ORDINATES = {
    1: "interferogram", 2: "absorbance", 3: "Kubelka-Munk", 4: "counts", 10: "log(1/R)", 11: "percent",
    12: "intensity", 13: "relative intensity", 128: "transmission", 129: "reflectance", 131: "emission",
}  # fmt: skip


def read_spc(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read the traces of an SPC file, one sample each."""
    content = read_bytes(path)
    version = content[1] if len(content) > 1 else 0
    if version in (NEW, NEW_BIG_ENDIAN):
        spectra = _new(path, Bytes(content, "<" if version == NEW else ">"))
    elif version == OLD:
        spectra = _old(path, Bytes(content))
    else:
        raise FileError(f"{path} is no Galactic SPC file: its second byte is {version:#x}; export it again.")
    return join(path, spectra)


def _new(path: FilePath, file: Bytes) -> list[Spectrum]:
    flags, _, _, exponent, points, first, last, traces = file.unpack("BBBbIddI", 0)
    x_type, y_type, z_type = file.unpack("BBB", 28)
    (date,) = file.unpack("I", 32)
    facts = {
        "ordinate": ORDINATES.get(y_type),
        "resolution": file.text(9, 36),
        "source": file.text(9, 45),
        "comment": file.text(130, 88),
        "date": _date(date),
    }
    unit = UNITS.get(x_type)
    if flags & LABELLED:
        unit = file.text(30, 218) or unit
    position = HEADER
    axis: FloatArray | None = None
    if not flags & OWN_AXES:
        if flags & WITH_AXIS:
            axis = file.array("f4", points, position).astype(float)
            position += 4 * points
        else:
            # Before the axis is made: the ordinates must be there, at 2 bytes each or more.
            file.array("u1", 2 * points, position)
            axis = np.linspace(first, last, points)
    spectra = []
    for _ in range(max(traces, 1)):
        trace_exponent, z, own_points, w = _trace_header(file, position)
        position += TRACE_HEADER
        own, count = axis, own_points if flags & OWN_AXES else points
        if flags & OWN_AXES:
            own = file.array("f4", count, position).astype(float)
            position += 4 * count
        use = exponent if exponent == FLOATS or not flags & MULTI else trace_exponent
        values, size = _ordinates(file, position, count, use, flags)
        position += size
        here = facts | ({"z": z, "z_unit": UNITS.get(z_type), "w": w or None} if flags & MULTI else {})
        spectra.append(_spectrum(path, values, own, unit, here))
    return spectra


def _old(path: FilePath, file: Bytes) -> list[Spectrum]:
    """The format before 1987: no axes of its own, and as many traces as the file has room for."""
    flags, _, exponent, points, first, last, x_type, y_type = file.unpack("BBhfffBB", 0)
    if not (np.isfinite([points, first, last]).all() and 0 < points == int(points)):
        raise ValueError(f"it says it has {points} points")
    count = int(points)
    facts = {"ordinate": ORDINATES.get(y_type), "comment": file.text(130, 64)}
    file.array("u1", 2 * count, OLD_HEADER + TRACE_HEADER)
    axis = np.linspace(first, last, count)
    spectra: list[Spectrum] = []
    position = OLD_HEADER
    while position < len(file):
        trace_exponent, z, _, _ = _trace_header(file, position)
        use = trace_exponent if flags & MULTI and trace_exponent else exponent
        values, size = _ordinates(file, position + TRACE_HEADER, count, use, flags, swapped=True)
        position += TRACE_HEADER + size
        here = facts | ({"z": z} if flags & MULTI else {})
        spectra.append(_spectrum(path, values, axis, UNITS.get(x_type), here))
        if not flags & MULTI:
            break
    return spectra


def _trace_header(file: Bytes, position: int) -> tuple[int, float, int, float]:
    """A trace's exponent, its place on the z axis, its number of points and its place on the w axis."""
    _, exponent, _, z, _, _, points, _, w, _ = file.unpack("BbHfffIIf4s", position)
    return exponent, float(z), points, float(w)


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
