"""Sheets of XLSX workbooks: read as values, never as formulas, and written so that no text runs as one."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gmcr.errors import FileError, GMCRError, InputError
from gmcr.files import write_whole
from gmcr.io.cells import Cells, as_number, as_text
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.layout import Grid, Texts
from gmcr.io.limits import COPIES, check_archive, check_entries, room
from gmcr.io.opening import FilePath
from gmcr.io.preamble import table_of_grid
from gmcr.io.several import put_together
from gmcr.io.table import Table

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


ALL = "*"  # no sheet can be called that
MOST_ROWS = 1_048_576  # of a sheet, by its format

Sheet = tuple[list[tuple[Any, ...]], tuple[int, int]]  # cells of the rows, and where the first of them stands


def read_xlsx(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read the sheet asked for, else the first one that is not empty; laid out as any text table may be.

    With the name "*", all sheets that are not empty, each a run.
    """
    from openpyxl import load_workbook

    # Given as an open file, the workbook may have any name.
    with open(path, "rb") as file:
        with zipfile.ZipFile(file) as archive:
            check_archive(path, archive, asked)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if asked.name not in (None, ALL, *sheets):
            raise InputError(
                f"{path} has no sheet {asked.name!r}, but {', '.join(sheets)}; name one of these."
            )
        wanted = sheets if asked.name in (None, ALL) else {asked.name: sheets[asked.name]}
        found = {}
        for title, sheet in wanted.items():
            rows, first = _rows(path, sheet, asked)
            if rows:
                found[title] = rows, first
            if rows and asked.name is None:
                break
    if not found:
        raise FileError(f"{path} is empty; give a sheet with a row of numbers per sample.")
    if asked.name == ALL:
        return _all_sheets(path, found, asked)
    ((title, (rows, first)),) = found.items()
    notes = (
        []
        if len(sheets) == 1
        else [f'The sheet {title!r} was taken, one of {len(sheets)}; name="*" takes all, each a run.']
    )
    return _table(path, title, rows, first, asked, notes)


def _all_sheets(path: FilePath, found: dict[str, Sheet], asked: Asked) -> Table:
    """All sheets with numbers in them, each a run."""
    check_entries(path, sum(len(rows) * max(map(len, rows)) for rows, _ in found.values()), asked)
    with_numbers = {title: one for title, one in found.items() if _has_numbers(one[0])}
    if not with_numbers:
        raise FileError(f"{path} has no sheet with numbers; give one with a row of numbers per sample.")
    tables = {}
    for title, (rows, first) in with_numbers.items():
        try:
            tables[title] = _table(path, title, rows, first, asked, [])
        except GMCRError as error:
            raise type(error)(
                f"{error} (It is the sheet {title!r}; take it out to do without it.)"
            ) from error
    passed = [
        f"The sheet {title!r} has no numbers and was passed over." for title in found.keys() - tables.keys()
    ]
    return put_together(path, tables, sorted(passed), asked)


def _has_numbers(rows: list[tuple[Any, ...]]) -> bool:
    return any(isinstance(value, int | float) for row in rows for value in row)


def _table(
    path: FilePath,
    title: str,
    rows: list[tuple[Any, ...]],
    first: tuple[int, int],
    asked: Asked,
    notes: list[str],
) -> Table:
    """The samples of one sheet, whose cells from the first filled one on are `rows`."""
    check_entries(path, len(rows) * max(len(row) for row in rows), asked)
    grid = _grid(path, rows, first)
    _refuse_formulas(path, title, grid, first)
    return table_of_grid(path, grid, asked, notes)


def write_xlsx(path: FilePath, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, whole or not at all; numbers stay numbers, and text stays text, whatever it begins with."""
    write_book(path, {"table": (header, *rows)})


def write_book(path: FilePath, sheets: Mapping[str, Iterable[Sequence[Any]]]) -> None:
    """Write rows to sheets of a workbook, by title."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append([_cell(sheet, value) for value in row])
    content = io.BytesIO()
    book.save(content)
    write_whole(path, content.getvalue())


def _cell(sheet: Any, value: Any) -> Any:
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet)
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            return None
        cell.value = repr(float(value))  # openpyxl would write fewer digits than a float has
        cell.data_type = "n"
        return cell
    cell.value = _NOT_IN_XML.sub("\ufffd", str(value))
    cell.data_type = "s"  # or openpyxl makes a formula of what begins with =
    cell.quotePrefix = True  # and a spreadsheet does, when the cell is edited
    return cell


def _rows(path: FilePath, sheet: Any, asked: Asked) -> Sheet:
    """Rows of cells from the first that is not empty to the last, and where the first cell stands."""
    rows: list[tuple[Any, ...]] = []
    top = empty = cells = 0
    most = room(path, asked) // (8 * COPIES)
    sheet.reset_dimensions()  # what the file says of its own size need not be so
    for index, row in enumerate(sheet.iter_rows(values_only=True)):
        cells += len(row) + 1
        if index >= MOST_ROWS:  # before which even empty rows take no time
            raise FileError(f"{path} says it has more than the {MOST_ROWS:,} rows of a sheet; save it anew.")
        if cells > most:  # also of empty rows, however far down the next one says it is
            check_entries(path, cells, asked)
        if all(value is None for value in row):
            empty += 1
            continue
        top = top if rows else index
        rows.extend([()] * (empty if rows else 0))
        empty = 0
        rows.append(row)
    # A lone text above the table says nothing of where its columns begin.
    filled = [[j for j, value in enumerate(row) if value is not None] for row in rows]
    several = [columns for columns in filled if len(columns) > 1]
    left = min((columns[0] for columns in several or filled if columns), default=0)
    return [row[left:] for row in rows], (top, left)


def _grid(path: FilePath, rows: list[tuple[Any, ...]], first: tuple[int, int]) -> Grid:
    from openpyxl.utils import get_column_letter

    width = max(len(row) for row in rows)
    numbers = np.full((len(rows), width), np.nan)
    texts: Texts = {}
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            plain = isinstance(value, int | float) and not isinstance(value, bool)
            number = value if plain or value is None else as_number(str(value))
            if number is not None:
                numbers[i, j] = number
            elif value is not None:
                texts[i, j] = str(value).strip()
    return Grid(
        numbers,
        texts,
        _cells(rows[0], width),
        _cells([row[0] if row else None for row in rows], len(rows)),
        lambda i, j: f"{path} cell {get_column_letter(j + first[1] + 1)}{i + first[0] + 1}",
    )


def _cells(values: Sequence[Any], length: int) -> Cells:
    texts = ["" if value is None else as_text(value) for value in values]
    return Cells.parse(texts + [""] * (length - len(values)))


def _refuse_formulas(path: FilePath, title: str, grid: Grid, first: tuple[int, int]) -> None:
    """A formula whose value was not stored reads as an empty cell, which would pass for a missing entry."""
    empty = np.isnan(grid.numbers)
    if grid.texts:
        empty[tuple(np.array(list(grid.texts)).T)] = False
    if not empty.any():
        return
    from openpyxl import load_workbook

    with open(path, "rb") as file:
        sheet = load_workbook(file, read_only=True, data_only=False, keep_links=False)[title]
        sheet.reset_dimensions()
        rows = sheet.iter_rows(min_row=first[0] + 1, min_col=first[1] + 1, values_only=True)
        for i, row in zip(range(len(empty)), rows):
            for j in np.flatnonzero(empty[i, : len(row)]):
                if row[j] is not None:
                    raise InputError(
                        f"{grid.place(i, int(j))} is a formula without a stored value; "
                        "save the workbook once in a spreadsheet program."
                    )


def _is_workbook(path: FilePath) -> bool:
    """Whether an archive is a workbook; NumPy's are archives too."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


FORMATS.add("XLSX", Format(
    (".xlsx", ".xlsm"), read_xlsx, takes=("samples_in", "name"), mark=rb"PK\x03\x04", is_one=_is_workbook,
    package="openpyxl", extra="readers", write=write_xlsx,
))  # fmt: skip
