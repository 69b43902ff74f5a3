"""JCAMP-DX (4.24 to 5.01) by its specification: AFFN and PAC, SQZ, DIF and DUP forms, pairs, linked blocks.

McDonald and Wilks, Applied Spectroscopy 42 (1988) 151. Not read: NTUPLES, peak assignments, structures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gmcr.errors import FileError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.opening import FilePath, decoded, read_bytes
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table
from gmcr.io.units import as_unit
from gmcr.validation import FloatArray

LONGEST = 1000  # characters of a record that are kept
MOST_POINTS = 10_000_000  # of a spectrum whose length the file does not say
TABLES = ("XYDATA", "XYPOINTS", "PEAKTABLE")
ABOUT = (
    "DATATYPE", "ORIGIN", "OWNER", "DATE", "TIME", "LONGDATE", "CLASS", "NAMES", "CASNAME", "CASREGISTRYNO",
    "MOLFORM", "STATE", "SAMPLEDESCRIPTION", "SPECTROMETERDATASYSTEM", "RESOLUTION", "PATHLENGTH", "YUNITS",
)  # fmt: skip
_RECORD = re.compile(r"\s*##([^=]*)=(.*)", re.DOTALL)
_FLOAT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_ITEM = re.compile(
    r"""(?P<plain>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]\d{1,3})?)  # E without a sign is the digit 5 of SQZ
      | (?P<coded>[@A-Ia-i%J-Rj-r])(?P<rest>\d*(?:\.\d*)?)       # SQZ: the number; DIF: the step to it
      | (?P<dup>[S-Zs])(?P<more>\d*)                             # DUP: how often the item stands here
      | (?P<missing>\?)""",
    re.VERBOSE,
)
_DIGITS = [str(digit) for digit in (*range(10), *range(-1, -10, -1))]
_SQUEEZED = dict(zip("@ABCDEFGHIabcdefghi", _DIGITS))
_STEPS = dict(zip("%JKLMNOPQRjklmnopqr", _DIGITS))
_REPEATS = dict(zip("STUVWXYZs", _DIGITS[1:]))


@dataclass
class _Block:
    """A block from ##TITLE to ##END: its records, and the lines of its table."""

    records: dict[str, str] = field(default_factory=dict)
    table: str = ""  # the record that holds the data
    lines: list[tuple[int, str]] = field(default_factory=list)
    ended: bool = False

    def number(self, label: str, default: float | None = None) -> float | None:
        """A record's number; a decimal comma passes."""
        text = self.records.get(label, "").strip().replace(",", ".")
        value = float(text) if _FLOAT.fullmatch(text) else default
        if value is not None and not np.isfinite(value):
            raise ValueError(f"##{label} is {text:.40}")
        return value


def read_jcamp(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read the spectra of a JCAMP-DX file, one per block."""
    notes: list[str] = []
    blocks = _blocks(path, decoded(read_bytes(path)))
    spectra = [_spectrum(path, block, notes) for block in blocks if block.table]
    if not spectra:
        raise FileError(f"{path} holds no spectrum as JCAMP-DX (##XYDATA or ##XYPOINTS); export one.")
    return join(path, spectra, notes)


def _blocks(path: FilePath, text: str) -> list[_Block]:
    blocks: list[_Block] = []
    open_blocks: list[_Block] = []
    label = ""
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = raw.split("$$", 1)[0]
        record = _RECORD.fullmatch(line)
        if record:
            label = re.sub(r"[\s/_-]", "", record[1]).upper()
            value = record[2].strip()
            if label == "TITLE":
                blocks.append(_Block())
                open_blocks.append(blocks[-1])
            elif label == "NTUPLES" or label == "DATATABLE":
                raise FileError(f"{path} holds NTUPLES, which gmcr does not read; export it as ##XYDATA.")
            if not open_blocks:
                continue
            block = open_blocks[-1]
            if label == "END":
                open_blocks.pop().ended = True
            elif label in TABLES:
                block.table = label
                block.records[label] = value
            else:
                block.records.setdefault(label, value)
        elif open_blocks and line.strip():
            block = open_blocks[-1]
            if block.table and label == block.table:
                block.lines.append((number, line.strip()))
            elif len(block.records.get(label, "-" * LONGEST)) < LONGEST:
                block.records[label] += "\n" + line.strip()
    if not blocks:
        raise FileError(f"{path} is no JCAMP-DX file: it has no ##TITLE.")
    if len(blocks) > 1 and open_blocks:
        raise FileError(f"{path} ends before the ##END of its {len(blocks)} blocks; it is cut short.")
    return blocks


def _spectrum(path: FilePath, block: _Block, notes: list[str]) -> Spectrum:
    form = re.sub(r"\s", "", block.records[block.table]).upper()
    told = block.number("NPOINTS")
    points = None if told is None else int(told)
    if form.startswith("(XY..XY)"):
        axis, values = _pairs(path, block)
    elif form.startswith("(X++(Y..Y))"):
        axis, values = _evenly(path, block, points, notes)
    else:
        raise FileError(f"{path} holds data as {form!r:.40}, which gmcr does not read; export (X++(Y..Y)).")
    if (points is not None and points != len(values)) or (points is None and not block.ended):
        raise FileError(
            f"{path} has {len(values)} points where ##NPOINTS says {points}; it is damaged or cut short."
        )
    if block.table == "PEAKTABLE":
        notes.append("The file holds a table of peaks, not a spectrum.")
    kept = {label: text[:200] for label, text in block.records.items() if text and label in ABOUT}
    name = block.records.get("TITLE", "").split("\n")[0].strip() or Path(path).stem
    unit = as_unit(block.records.get("XUNITS", ""))
    return Spectrum(values, axis, name, unit, kept)


def _pairs(path: FilePath, block: _Block) -> tuple[FloatArray, FloatArray]:
    numbers: list[float] = []
    for row, text in block.lines:
        for word in re.split(r"[\s,;]+", text.strip(" ,;")):
            if not _FLOAT.fullmatch(word):
                raise FileError(f"{path} line {row} holds {word!r:.40}, which is no number; export it again.")
            numbers.append(float(word))
    if len(numbers) % 2:
        raise FileError(f"{path} has an abscissa without an ordinate; it is damaged or cut short.")
    pairs = np.array(numbers).reshape(-1, 2)
    return pairs[:, 0] * block.number("XFACTOR", 1.0), pairs[:, 1] * block.number("YFACTOR", 1.0)


def _evenly(
    path: FilePath, block: _Block, points: int | None, notes: list[str]
) -> tuple[FloatArray, FloatArray]:
    """Ordinates at even steps from FIRSTX to LASTX; the abscissas of the lines only check that."""
    most = MOST_POINTS if points is None else min(points, MOST_POINTS)
    ordinates: list[float] = []
    starts: list[tuple[int, float]] = []  # of each line: index of its first ordinate, and its abscissa
    check: float | None = None  # what the next line must begin with, after one that ends in a difference
    for number, text in block.lines:
        abscissa, items, stepped = _items(path, number, text, most - len(ordinates))
        if check is not None and items:
            if items[0] != check:
                raise FileError(
                    f"{path} line {number} begins with {items[0]:g} where the line before ends in {check:g}; "
                    "it is damaged."
                )
            items = items[1:]
            starts.append((len(ordinates) - 1, abscissa))
        else:
            starts.append((len(ordinates), abscissa))
        ordinates += items
        check = ordinates[-1] if stepped and ordinates else None
        if len(ordinates) > most:
            raise FileError(f"{path} has more points than ##NPOINTS says; it is damaged.")
    count = len(ordinates)
    first, last, step = (block.number(label) for label in ("FIRSTX", "LASTX", "DELTAX"))
    if last is None and None not in (first, step):
        last = first + step * (count - 1)  # type: ignore[operator]
    if first is None or last is None:
        raise FileError(f"{path} does not say ##FIRSTX and ##LASTX; export it again.")
    axis = np.linspace(first, last, count)
    factor = block.number("XFACTOR", 1.0) or 1.0
    if count > 1 and starts:
        step = abs(last - first) / (count - 1)
        index, abscissas = np.array([s[0] for s in starts]), np.array([s[1] for s in starts]) * factor
        if (np.abs(abscissas - axis[np.minimum(index, count - 1)]) > 2 * step + abs(factor)).any():
            notes.append("Positions in the file do not agree with ##FIRSTX and ##LASTX, which were taken.")
    return axis, np.array(ordinates, dtype=float) * block.number("YFACTOR", 1.0)


def _items(path: FilePath, line: int, text: str, room: int) -> tuple[float, list[float], bool]:
    """A line's abscissa, its ordinates, and whether the last of them was written as a difference."""
    words = re.split(r"[\s,]+", text)
    if len(words) > 1 and all(_FLOAT.fullmatch(word) for word in words):
        return float(words[0]), [float(word) for word in words[1:]], False
    values: list[float] = []
    step: float | None = None  # of the item before, if that was a difference
    position = 0
    while position < len(text):
        if text[position] in " \t,;":
            position += 1
            continue
        item = _ITEM.match(text, position)
        if item is None or (not values and not item["plain"]):
            raise FileError(
                f"{path} line {line} holds {text[position:]!r:.40}, which is no data; export it again."
            )
        position = item.end()
        if item["coded"] in _STEPS:
            step = float(_STEPS[item["coded"]] + item["rest"])
            values.append(values[-1] + step)
        elif not item["dup"]:
            squeezed = _SQUEEZED[item["coded"]] + item["rest"] if item["coded"] else "nan"
            values.append(float(item["plain"] or squeezed))
            step = None
        else:
            repeats = int((_REPEATS[item["dup"]] + item["more"])[:9]) - 1
            if len(values) + repeats > room + 2:  # the abscissa and a check come on top
                raise FileError(f"{path} has more points than ##NPOINTS says; it is damaged.")
            values += [values[-1] + (step or 0.0) * (n + 1) for n in range(repeats)]
    return values[0], values[1:], step is not None


FORMATS.add("JCAMP-DX", Format(
    (".jdx", ".dx", ".jcamp", ".jcm"), read_jcamp, mark=rb"(?i)[\xef\xbb\xbf\r\n ]*##TITLE", apart=False,
))  # fmt: skip
