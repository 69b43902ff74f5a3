"""Tables of marks: which components a sample may hold, said by name with 0 and 1, true and false, or a cross."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gmcr.errors import InputError
from gmcr.io.layout import Grid
from gmcr.io.opening import FilePath
from gmcr.io.table import Table
from gmcr.validation import BoolArray

YES, NO = ("1", "true", "t", "yes", "y", "x", "+"), ("", "0", "false", "f", "no", "n")


def marks_of(path: FilePath, grid: Grid) -> Table:
    """The marks of a grid as ones and zeros; the first row and the first column are names, whatever they hold."""
    if min(grid.numbers.shape) < 2:
        raise InputError(
            f"{path} has no marks; give a row per sample and a column per component, each named."
        )
    marks = np.zeros(np.subtract(grid.numbers.shape, 1))
    for row, column in np.ndindex(marks.shape):
        text = grid.text(row + 1, column + 1)
        if text.lower() not in YES + NO:
            where = grid.place(row + 1, column + 1)
            raise InputError(f"{where} is {text!r:.40}, which is neither yes nor no; mark with 1 and 0.")
        marks[row, column] = text.lower() in YES
    names, channels = (
        tuple(text.strip() for text in cells.texts[1:]) for cells in (grid.first_column, grid.first_row)
    )
    return Table(marks, None, names, channels=channels)


def allowed_by(table: Table, samples: Sequence[str], components: Sequence[str], whose: str) -> BoolArray:
    """Which components each sample may hold, (samples, components): marks that name both, either way round."""
    told = np.isin(np.nan_to_num(table.samples), (0, 1)).all()
    if table.sample_names is None or table.channels is None or not told:
        raise InputError(f"{whose} is no table of 1 and 0 that names samples and components; give it as CSV.")
    rows, columns = (
        {name: n for n, name in enumerate(side)} for side in (table.sample_names, table.channels)
    )
    marks = table.samples == 1
    if len(rows) < marks.shape[0] or len(columns) < marks.shape[1]:
        raise InputError(f"{whose} has two rows or two columns of one name; give each a name of its own.")
    if not any(name in rows for name in samples) and any(name in columns for name in samples):
        rows, columns, marks = columns, rows, marks.T
    for what, names, known in (("sample", samples, rows), ("component", components, columns)):
        missing = [name for name in names if name not in known]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise InputError(
                f"{whose} says nothing of the {what} {missing[0]!r:.60}{others}; "
                f"give every {what} a row or column."
            )
    return marks[np.ix_([rows[name] for name in samples], [columns[name] for name in components])]
