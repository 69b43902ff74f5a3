"""Bruker OPUS files: a directory of blocks, each of parameters or of ordinates.

The layout is the one brukeropus (MIT) documents. That package itself is not used: a parameter with a negative
size makes it run forever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.errors import FileError, InputError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.opening import Bytes, Cut, FilePath, read_bytes
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table
from gmcr.validation import FloatArray

MAGIC = b"\n\n\xfe\xfe"
DIRECTORY, STATUS, ORIGIN = 13, 1, 10  # kinds of blocks
SERIES, COMPACT, REPORT = 2, 4, 5  # forms of data blocks
UNITS = {"WN": "cm⁻¹", "MI": "µm", "LGW": "log cm⁻¹", "MIN": "min", "PNT": None}
# By kind of ordinate, the likeliest to be wanted first; only measured ratios and sample spectra by themselves.
KINDS = {
    4: "absorbance", 16: "ATR", 10: "Raman", 5: "transmittance", 12: "reflectance", 15: "log reflectance",
    6: "Kubelka-Munk", 11: "emission", 17: "photoacoustic", 14: "power", 19: "arithmetic absorbance",
    18: "arithmetic transmittance", 1: "spectrum", 3: "phase", 2: "interferogram",
}  # fmt: skip
SIDES = {1: "sample", 2: "reference", 3: ""}
PARTS = {1: "real part of", 2: "imaginary part of"}  # of complex data; 3 is their amplitude
DERIVATIVES = {1: "first derivative of", 2: "second derivative of", 3: "derivative of"}
CHANNELS = 32  # added to the kind of ordinate for each further channel of a detector
NUMBERS = {1: "f4", 2: "i4"}  # by DPF, the format of data points
MOST_STATUS = 100  # blocks of parameters that may describe one spectrum


@dataclass(frozen=True)
class _Block:
    """An entry of the directory: what it holds, by code numbers, and where it stands, in bytes."""

    part: int  # real or imaginary
    side: int
    parameters: int  # kind of parameters
    kind: int  # of ordinates
    derivative: int
    form: int
    start: int
    size: int

    @property
    def label(self) -> str:
        channel, kind = divmod(self.kind, CHANNELS)
        words = (
            DERIVATIVES.get(self.derivative),
            PARTS.get(self.part),
            SIDES.get(self.side),
            KINDS.get(kind, f"kind {kind}"),
            f"of channel {channel + 1}" if channel else None,
        )
        return " ".join(filter(None, words))

    @property
    def is_plain(self) -> bool:
        """Whether it is no derivative and no part of complex data."""
        return self.derivative == 0 and self.part not in PARTS

    @property
    def holds_data(self) -> bool:
        return self.parameters == 0 and self.kind not in (0, DIRECTORY) and self.form != REPORT

    def describes(self, data: _Block) -> bool:
        """Whether these parameters tell the axis of that block of ordinates."""
        return replace(data, parameters=STATUS, start=self.start, size=self.size) == self


def read_opus(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read a spectrum, or a series: the one asked for, such as "reference spectrum", else the likeliest."""
    content = read_bytes(path)
    if not content.startswith(MAGIC):
        raise FileError(f"{path} is no Bruker OPUS file: it does not begin as one.")
    file = Bytes(content)
    blocks = _directory(file)
    data, notes = _wanted(path, [block for block in blocks if block.holds_data], asked.name)
    status = _status(file, blocks, data)
    points, first, last = int(status["NPT"]), float(status["FXV"]), float(status["LXV"])
    if not (0 < points <= len(content) // 4 and np.isfinite([first, last]).all()):
        raise Cut
    if (kind := NUMBERS.get(status.get("DPF", 1))) is None:
        raise ValueError(f"its data points are of the format {status['DPF']}, which is not known")
    rows = _series(file, data, points, kind) if data.form == SERIES else [_row(file, data, points, kind)]
    scale = float(status.get("CSF", 1.0))
    facts = {"ordinate": data.label}
    for block in blocks:
        if block.parameters == ORIGIN:  # name and form of the sample, operator
            facts |= {key: fact for key, fact in _parameters(file, block).items() if fact not in ("", None)}
    sample = facts.get("SNM") or Path(path).stem
    axis = np.linspace(first, last, points)
    unit = UNITS.get(str(status.get("DXU", "")).strip())
    spectra = [Spectrum(row * scale, axis, sample, unit, facts) for row in rows]
    return join(path, spectra, notes, asked)


def _directory(file: Bytes) -> list[_Block]:
    start, most = file.unpack("2i", 12)
    blocks = []
    for entry in range(min(most, len(file) // 12)):
        code, words, offset = file.unpack("Iii", start + 12 * entry)
        if offset <= 0:
            break
        if offset + 4 * words > len(file) or words < 0:
            raise Cut
        parts = (code & 3, code >> 2 & 3, code >> 4 & 63, code >> 10 & 127, code >> 17 & 3, code >> 19 & 7)
        blocks.append(_Block(*parts, offset, 4 * words))
    if sum(block.size for block in blocks if block.parameters) > len(file):
        raise ValueError(
            "its blocks of parameters overlap"
        )  # or reading each takes as long as a file is asked to
    return blocks


def _wanted(path: FilePath, data: list[_Block], name: str | None) -> tuple[_Block, list[str]]:
    """The block of ordinates to take, and what to tell: of several of a kind the last, which OPUS added last."""
    held = ", ".join(block.label for block in data) or "nothing"
    if name is not None:
        asked = [block for block in data if block.label == name]
        if not asked:
            raise InputError(f"{path} holds no {name!r:.40}, but {held}; name one of these.")
    else:
        ratios = [block for block in data if block.side == 3 or (block.side == 1 and block.kind == 1)]
        known = [block for kind in KINDS for block in ratios if block.kind == kind and block.is_plain]
        asked = [block for block in known if block.label == known[0].label]
        if not asked:
            raise InputError(f"{path} holds no measured spectrum, but {held}; say the name of one of these.")
    chosen = max(asked, key=lambda block: block.start)
    notes = [f"The {chosen.label} of the file was taken."]
    if len(asked) > 1:
        notes.append(f"The file holds {len(asked)} of them; the last one was taken.")
    return chosen, notes


def _status(file: Bytes, blocks: list[_Block], data: _Block) -> dict[str, Any]:
    """Parameters of the ordinates' axis; among several, those whose extremes are the data's."""
    found = [_parameters(file, block) for block in blocks if block.describes(data)]
    found = [status for status in found if {"NPT", "FXV", "LXV"} <= set(status)]
    if not found:
        raise ValueError("it does not say where its spectrum begins and ends")
    if len(found) > MOST_STATUS:
        raise ValueError(f"it describes its spectrum {len(found)} times")
    for status in found if len(found) > 1 and data.form not in (SERIES, COMPACT) else []:
        points, kind = min(int(status["NPT"]), data.size // 4), NUMBERS.get(status.get("DPF", 1), "f4")
        row = _row(file, data, points, kind) * float(status.get("CSF", 1.0))
        if np.isclose(row.min(), status.get("MNY", 0)) and np.isclose(row.max(), status.get("MXY", 0)):
            return status
    return found[0]


def _parameters(file: Bytes, block: _Block) -> dict[str, Any]:
    """A block of parameters: three letters, a type, a size in words, a value."""
    values: dict[str, Any] = {}
    position, end = block.start, block.start + block.size
    while position + 8 <= end:
        key = file.text(4, position)
        if key == "END":
            break
        kind, words = file.unpack("Hh", position + 4)
        position += 8
        if words < 0 or position + 2 * words > end:
            raise Cut
        if kind == 0 and words >= 2:
            (values[key],) = file.unpack("i", position)
        elif kind == 1 and words >= 4:
            (values[key],) = file.unpack("d", position)
        elif kind not in (0, 1):
            values[key] = file.text(2 * words, position)
        position += 2 * words
    return values


def _row(file: Bytes, block: _Block, points: int, kind: str) -> FloatArray:
    if 4 * points > block.size:
        raise Cut
    start = block.start + (block.size - 4 * points if block.form == COMPACT else 0)
    return file.array(kind, points, start).astype(float)


def _series(file: Bytes, block: _Block, points: int, kind: str) -> list[FloatArray]:
    """Spectra one after the other, each followed by facts about it; not all that are announced need be there."""
    _, announced, offset, size, facts = file.unpack("5i", block.start)
    if min(offset, facts) < 0 or size < 4 * points:
        raise Cut
    rows: list[FloatArray] = []
    position, end = block.start + offset, block.start + block.size
    while len(rows) < announced and position + size <= end:
        rows.append(file.array(kind, points, position).astype(float))
        position += size + facts
    if not rows:
        raise Cut
    return rows


# OPUS numbers its files: name.0, name.1
FORMATS.add("Bruker OPUS", Format((".0", ".opus"), read_opus, takes=("name",), mark=MAGIC, apart=False))
