"""Tables of numbers as text: CSV and its relatives, with what a file does not say inferred and told."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from gmcr.errors import FileError, InputError
from gmcr.files import as_bytes, write_whole
from gmcr.io.cells import Cells, as_number
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.layout import Grid, Texts
from gmcr.io.limits import check_entries
from gmcr.io.opening import FilePath, decoded, read_bytes
from gmcr.io.preamble import table_of_grid
from gmcr.io.table import Table
from gmcr.validation import FloatArray

SNIFFED_LINES = 40  # lines looked at to find the delimiter and the decimal mark
COMMENT = ("#", "%", "//", "!")  # first characters of a line that is no part of the table
RUNS_AS_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # first in a spreadsheet's cell

_DIALECTS = [
    ("\t", "."), ("\t", ","), (";", "."), (";", ","), (",", "."), (",", ","), ("|", "."), (" ", "."), (" ", ","),
]  # fmt: skip
_SPOKEN = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "spaces"}
_PLAIN = set("0123456789+-.eE ")  # what a row of plain numbers is written with

Line = tuple[int, list[str]]  # its number in the file, and its cells


def read_csv(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read a text table of numbers; how it is written and laid out is inferred, and told in the notes."""
    notes: list[str] = []
    try:
        grid = _read_grid(path, notes, asked)
    except csv.Error as error:
        raise FileError(f"{path} is not a text table: {error}; export it as CSV.") from error
    return table_of_grid(path, grid, asked, notes)


def write_csv(path: FilePath, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, whole or not at all; numbers read back exactly, and no text runs as a formula."""
    text = io.StringIO()
    for row in (header, *rows):
        text.write(",".join(_quoted(_cell(value)) for value in row) + "\n")
    write_whole(path, as_bytes(text.getvalue()))


# Cells


def _cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    text = str(value)
    is_number = as_number(text) is not None and text[-1:].isdigit()
    return text if is_number or not text.lstrip("'").startswith(RUNS_AS_FORMULA) else "'" + text


def unescaped(text: str) -> str:
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(RUNS_AS_FORMULA) else text


def _quoted(cell: str) -> str:
    if cell.startswith(COMMENT) or any(character in cell for character in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


# From text to cells


def _read_grid(path: FilePath, notes: list[str], asked: Asked) -> Grid:
    lines, skipped = _numbered_lines(path)
    if skipped:
        notes.append(f"{skipped} comment line{'s' if skipped > 1 else ''} left out.")
    sniffed = [text for _, text in lines[-SNIFFED_LINES:]]  # what is no part of the table stands at the top
    # Where every line has as many tabs, a space belongs to a name: "sample 1".
    n_tabs = {text.count("\t") for text in sniffed}
    dialects = [(mark, point) for mark, point in _DIALECTS if mark != " " or len(n_tabs) > 1 or n_tabs == {0}]
    delimiter, decimal = max(dialects, key=lambda dialect: _fitness(sniffed, *dialect))
    rows_seen = [row for _, row in _split(lines[-SNIFFED_LINES:], delimiter)]
    rows_seen = rows_seen[1:] or rows_seen
    widths = [len(row) for row in rows_seen]
    width = max(set(widths), key=lambda width: (widths.count(width), width))
    named = 2 * sum(as_number(row[0], decimal) is None for row in rows_seen if row) > len(rows_seen)
    mark = ", decimal commas" if decimal == "," else ""
    written = f"Cells are separated by {_SPOKEN[delimiter]}{mark}."
    notes.append(written if width > 1 else "There is one column.")

    check_entries(path, len(lines) * width, asked)  # lines of text are filled up to the width of the table
    texts: Texts = {}
    ended = width > 2 and not any(row[-1].strip() for row in rows_seen if len(row) == width)
    table = list(_one_width(path, _split(lines, delimiter), width, decimal, named, ended))
    rows = [_numbers(cells, decimal, texts, row) for row, (_, cells) in enumerate(table)]
    first_row, first_column = table[0][1], [cells[0] for _, cells in table]
    return Grid(
        np.array(rows),
        texts,
        Cells.parse([unescaped(cell.strip()) for cell in first_row], decimal),
        Cells.parse([unescaped(cell.strip()) for cell in first_column], decimal),
        lambda row, column: f"{path} line {table[row][0]}, column {column + 1}",
    )


def _numbered_lines(path: FilePath) -> tuple[list[tuple[int, str]], int]:
    """Lines that are neither empty nor comments, with their numbers, and how many comments there are."""
    content = read_bytes(path)
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and b"\0" in content:
        raise FileError(f"{path} is not a text table: it holds binary data; export it as CSV.")
    text = decoded(content, "utf-16" if wide else "utf-8-sig")
    lines = [(n, line) for n, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1) if line.strip()]
    table = [(number, line) for number, line in lines if not line.lstrip().startswith(COMMENT)]
    if not table:
        raise FileError(f"{path} is empty; give a table with a row of numbers per sample.")
    return table, len(lines) - len(table)


def _split(lines: list[tuple[int, str]], delimiter: str) -> Iterator[Line]:
    """The cells of each line; a cell in quotes may go on over several of them."""
    if delimiter == " ":
        yield from ((number, line.split()) for number, line in lines)
        return
    reader = csv.reader((line + "\n" for _, line in lines), delimiter=delimiter, skipinitialspace=True)
    done = 0
    for row in reader:
        yield lines[done][0], row or [""]
        done = reader.line_num


def _one_width(
    path: FilePath, lines: Iterable[Line], width: int, decimal: str, named: bool, ended: bool
) -> Iterator[Line]:
    """Lines of `width` cells: texts above and below the table are filled up, any other line is refused.

    named : whether lines of the table begin with a text, as those above it do
    ended : whether they end in a delimiter, which the header may lack
    """
    above: list[Line] = []
    lines = iter(lines)
    for number, cells in lines:
        if (named and len(cells) == width) or not any(as_number(cell, decimal) is None for cell in cells):
            break
        above.append((number, cells))
    else:
        number, cells = above.pop()
    # A header may lack the cell over the names, but may not have a cell too many, unless it is empty.
    if above:
        line, texts = above[-1]
        is_open = not texts[-1].strip()  # it ends in a delimiter itself
        if len(texts) == width - 1 > 1:
            above[-1] = (line, [*texts, ""] if ended and not is_open else ["", *texts])
        elif len(texts) == width + 1 and is_open:
            above[-1] = (line, texts[:-1])
    if above and len(above[-1][1]) > width:
        raise _ragged(path, *above[-1], width)
    if len(cells) == width - 1:
        cells = ["", *cells]
    for line, texts in above:
        texts = [*texts, ""] if ended and len(texts) == width - 1 else texts
        yield line, texts if len(texts) == width else [" ".join(texts), *[""] * (width - 1)]
    below: list[Line] = []
    head = number, cells
    for number, cells in chain([head], lines):
        if len(cells) == width and not below:
            yield number, cells
        elif (len(cells) == 1 or below) and as_number(cells[0], decimal) is None:
            below.append((number, [" ".join(filter(None, map(str.strip, cells)))]))  # about the measurement
        else:
            raise _ragged(path, *(below[0] if below else (number, cells)), width)
    yield from ((line, texts + [""] * (width - 1)) for line, texts in below)


def _ragged(path: FilePath, line: int, cells: list[str], width: int) -> InputError:
    return InputError(
        f"{path} line {line} has {len(cells)} columns where {width} are expected; "
        "give every line the same number of cells, separated the same way."
    )


def _numbers(cells: list[str], decimal: str, texts: Texts, row: int) -> FloatArray:
    """The numbers of a row; its cells that are text go to `texts`."""
    if decimal == "." and _PLAIN.issuperset("".join(cells)):
        try:
            numbers = np.array(cells, dtype=float)  # much quicker than cell by cell
            if np.isfinite(numbers).all():
                return numbers
        except ValueError:
            pass
    numbers = np.full(len(cells), np.nan)
    for column, cell in enumerate(cells):
        number = as_number(cell, decimal)
        if number is None:
            texts[row, column] = unescaped(cell.strip())
        else:
            numbers[column] = number
    return numbers


def _fitness(lines: list[str], delimiter: str, decimal: str) -> tuple[bool, float, int]:
    """How well a dialect suits: several columns, many numbers in lines of the usual width, many columns."""
    try:
        rows = [row for _, row in _split(list(enumerate(lines)), delimiter)]
    except csv.Error:
        return False, 0.0, 0
    widths = [len(row) for row in rows]
    usual = max(widths, key=widths.count)
    good = sum(
        as_number(cell, decimal) is not None and bool(cell.strip())
        for row in rows
        if len(row) == usual
        for cell in row
    )
    return usual > 1, round(good / sum(widths), 3), usual


FORMATS.add("text", Format(
    (".csv", ".tsv", ".txt", ".dat", ".asc", ".prn", ".dpt", ".xy", ".all"), read_csv, takes=("samples_in",),
    apart=False, write=write_csv,
))  # fmt: skip
