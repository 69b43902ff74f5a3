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
from gmcr.io.limits import room
from gmcr.io.opening import FilePath, decoded, read_bytes
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table
from gmcr.io.units import as_unit
from gmcr.validation import FloatArray

LONGEST = 1000  # characters of a record that are kept
POINT = 96  # bytes that a point takes while it is read: a number of Python's in two lists, and a float
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
    tables: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # by record: its lines, numbered
    ended: bool = False

    @property
    def table(self) -> str:
        """The record whose data are taken: a spectrum before pairs, pairs before peaks."""
        return next((label for label in TABLES if label in self.tables), "")

    def number(self, label: str, default: float | None = None) -> float | None:
        """A record's number, `default` if it is empty or not there; a decimal comma passes."""
        text = self.records.get(label, "").split("\n")[0].strip().replace(",", ".")
        value = float(text) if _FLOAT.fullmatch(text) else default
        if (text and not _FLOAT.fullmatch(text)) or (value is not None and not np.isfinite(value)):
            raise ValueError(f"##{label} is {text:.40}")
        return value

    def factor(self, label: str) -> float:
        """What the numbers of a table are to be multiplied with."""
        value = self.number(label, 1.0)
        if not value:
            raise ValueError(f"##{label} is 0")
        return value


def read_jcamp(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read the spectra of a JCAMP-DX file, one per block."""
    notes: list[str] = []
    blocks = _blocks(path, decoded(read_bytes(path)))
    spectra = _spectra(path, blocks, notes, asked)
    if not spectra:
        raise FileError(f"{path} holds no spectrum as JCAMP-DX (##XYDATA or ##XYPOINTS); export one.")
    return join(path, spectra, notes, asked)


def _spectra(path: FilePath, blocks: list[_Block], notes: list[str], asked: Asked) -> list[Spectrum]:
    spectra: list[Spectrum] = []
    most = room(path, asked) // POINT  # in all blocks together: a few bytes can stand for many points
    for block in blocks:
        if block.table:
            spectra.append(_spectrum(path, block, most, notes))
            most -= len(spectra[-1].values)
    others = [
        block for block in blocks if not block.table and block.records.get("DATATYPE", "").upper() != "LINK"
    ]
    if spectra and others:
        notes.append(f"{len(others)} of its {len(blocks)} blocks hold no spectrum and were passed over.")
    return spectra


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
                if label in block.tables:
                    raise FileError(
                        f"{path} line {number} begins a second ##{label} in one block; it is damaged."
                    )
                block.tables[label] = []
                block.records[label] = value
            else:
                block.records.setdefault(label, value)
        elif open_blocks and line.strip():
            block = open_blocks[-1]
            if label in block.tables:
                block.tables[label].append((number, line.strip()))
            elif len(block.records.get(label, "-" * LONGEST)) < LONGEST:
                block.records[label] += "\n" + line.strip()
    if not blocks:
        raise FileError(f"{path} is no JCAMP-DX file: it has no ##TITLE.")
    if len(blocks) > 1 and open_blocks:
        raise FileError(f"{path} ends before the ##END of its {len(blocks)} blocks; it is cut short.")
    return blocks


def _spectrum(path: FilePath, block: _Block, most: int, notes: list[str]) -> Spectrum:
    """The spectrum of a block; most : points that there is room for."""
    form = re.sub(r"\s", "", block.records[block.table]).upper()
    told = block.number("NPOINTS")
    points = None if told is None else int(told)
    if told != points or (points is not None and points < 0):
        raise ValueError(f"##NPOINTS is {told:g}")
    if form.startswith("(XY..XY)"):
        axis, values = _pairs(path, block)
    elif form.startswith("(X++(Y..Y))"):
        axis, values = _evenly(path, block, points, most, notes)
    else:
        raise FileError(f"{path} holds data as {form!r:.40}, which gmcr does not read; export (X++(Y..Y)).")
    if (points is not None and points != len(values)) or (points is None and not block.ended):
        raise FileError(
            f"{path} has {len(values)} points where ##NPOINTS says {points}; it is damaged or cut short."
        )
    _check_ends(block, values, notes)
    if len(block.tables) > 1:
        notes.append(f"##{block.table} was taken of a block that holds {' and '.join(block.tables)}.")
    if block.table == "PEAKTABLE":
        notes.append("The file holds a table of peaks, not a spectrum.")
    kept = {label: text[:200] for label, text in block.records.items() if text and label in ABOUT}
    name = block.records.get("TITLE", "").split("\n")[0].strip() or Path(path).stem
    unit = as_unit(block.records.get("XUNITS", ""))
    return Spectrum(values, axis, name, unit, kept)


def _pairs(path: FilePath, block: _Block) -> tuple[FloatArray, FloatArray]:
    numbers: list[float] = []
    for row, text in block.tables[block.table]:
        for word in re.split(r"[\s,;]+", text.strip(" ,;")):
            if not _FLOAT.fullmatch(word):
                raise FileError(f"{path} line {row} holds {word!r:.40}, which is no number; export it again.")
            numbers.append(float(word))
    if len(numbers) % 2:
        raise FileError(f"{path} has an abscissa without an ordinate; it is damaged or cut short.")
    pairs = np.array(numbers).reshape(-1, 2)
    return pairs[:, 0] * block.factor("XFACTOR"), pairs[:, 1] * block.factor("YFACTOR")


def _check_ends(block: _Block, values: FloatArray, notes: list[str]) -> None:
    """Tell if ordinates are not those that the file says they are, to within a unit of its integers."""
    known = values[np.isfinite(values)]
    if not len(known):
        return
    near = np.abs(block.factor("YFACTOR")) + 1e-4 * np.abs(known).max()
    for label, value in (("FIRSTY", values[0]), ("MAXY", known.max()), ("MINY", known.min())):
        told = block.number(label)
        if told is not None and np.abs(told - value) > near:
            notes.append(
                f"The file says ##{label}={told:g}, but that ordinate is {value:g}; check its factors."
            )


def _evenly(
    path: FilePath, block: _Block, points: int | None, most: int, notes: list[str]
) -> tuple[FloatArray, FloatArray]:
    """Ordinates at even steps from FIRSTX to LASTX; the abscissas of the lines only check that."""
    too_many = "has more points than ##NPOINTS says; it is damaged."
    if points is None or points > most:
        too_many = (
            f"has more than {most} points, for which there is no room; say memory= (--memory) to allow more."
        )
    most = most if points is None else min(points, most)
    ordinates: list[float] = []
    starts: list[tuple[int, float]] = []  # of each line: index of its first ordinate, and its abscissa
    check: float | None = None  # what the next line must begin with, after one that ends in a difference
    for number, text in block.tables[block.table]:
        abscissa, items, stepped = _items(path, number, text, most - len(ordinates), too_many)
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
            raise FileError(f"{path} {too_many}")
    count = len(ordinates)
    first, last, step = (block.number(label) for label in ("FIRSTX", "LASTX", "DELTAX"))
    by_step = None if first is None or step is None else first + step * (count - 1)
    last = by_step if last is None else last
    if first is None or last is None:
        raise FileError(f"{path} does not say ##FIRSTX and ##LASTX; export it again.")
    axis = np.linspace(first, last, count)
    factor = block.factor("XFACTOR")
    if by_step is not None and count > 1 and abs(by_step - last) > abs(last - first) / (count - 1):
        notes.append("##DELTAX does not agree with ##FIRSTX and ##LASTX, which were taken.")
    if count > 1 and starts:
        step = abs(last - first) / (count - 1)
        index, abscissas = np.array([s[0] for s in starts]), np.array([s[1] for s in starts]) * factor
        if (np.abs(abscissas - axis[np.minimum(index, count - 1)]) > 2 * step + abs(factor)).any():
            notes.append("Positions in the file do not agree with ##FIRSTX and ##LASTX, which were taken.")
    return axis, np.array(ordinates, dtype=float) * block.factor("YFACTOR")


def _items(path: FilePath, line: int, text: str, most: int, too_many: str) -> tuple[float, list[float], bool]:
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
            if len(values) + repeats > most + 2:  # the abscissa and a check come on top
                raise FileError(f"{path} {too_many}")
            values += [values[-1] + (step or 0.0) * (n + 1) for n in range(repeats)]
    return values[0], values[1:], step is not None


FORMATS.add("JCAMP-DX", Format(
    (".jdx", ".dx", ".jcamp", ".jcm"), read_jcamp, mark=rb"(?i)[\xef\xbb\xbf\r\n ]*##TITLE", apart=False,
))  # fmt: skip
