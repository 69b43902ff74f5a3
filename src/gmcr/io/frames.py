"""Tables with named columns (Parquet, R's data frames): which columns are channels, and what the others are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.io.cells import Cells, as_text
from gmcr.io.formats import Asked
from gmcr.io.layout import Sheet, arrange
from gmcr.io.mutations import MOST_LABELS, leading_types
from gmcr.io.opening import FilePath
from gmcr.io.table import Table
from gmcr.io.words import says

Column = tuple[str, NDArray[Any]]  # its name, and numbers or texts


def table_of_columns(
    path: FilePath,
    columns: Sequence[Column],
    asked: Asked,
    *,
    row_names: Sequence[str] | None = None,
    row_heading: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """The samples of a table with named columns.

    Without `row_names`, a first column of texts, or of numbers that its name or its order say to be labels, holds
    the labels of the rows; other columns of texts are metadata.
    """
    told = list(notes)
    columns = list(columns)
    if not columns or not len(columns[0][1]):
        raise InputError(f"{path} has a header and no data below it; add a row of numbers per sample.")
    leading = [[as_text(value) for value in values.tolist()] for _, values in columns[:MOST_LABELS]]
    width, types = leading_types(leading) if row_names is None else (0, [])
    if width and all(types) and len(columns) > width:
        row_names, columns = [str(key) for key in types], columns[width:]
    elif row_names is None and len(columns) > 1 and _holds_labels(columns):
        row_heading, first = columns.pop(0)
        row_names = [as_text(value) for value in first.tolist()]
    metadata = {name: values.tolist() for name, values in columns if values.dtype.kind == "U"}
    told += [f"{name!r:.60} is no channel; it was set aside as metadata." for name in metadata]
    numeric = [(name, values) for name, values in columns if values.dtype.kind != "U"]
    if not numeric:
        raise InputError(f"{path} holds no column of numbers; give a table with a row of numbers per sample.")
    body = np.column_stack([values.astype(float) for _, values in numeric])
    sheet = Sheet(
        body,
        top=Cells.parse([name for name, _ in numeric]),
        left=Cells.parse(row_names or ()),
        corner=row_heading,
    )
    return arrange(path, sheet, asked, told, metadata)


def _holds_labels(columns: Sequence[Column]) -> bool:
    name, values = columns[0]
    if values.dtype.kind == "U":
        return True
    others = Cells.parse([other for other, _ in columns[1:]]).unlabelled()[0]
    said = says(name) != ""
    numeric = Cells.parse([name]).numbers[0]
    in_line = np.isfinite(numeric) and others.is_axis()  # a channel like the others
    return not in_line and (
        said or (others.mostly_text and Cells.parse(list(map(as_text, values))).is_axis())
    )
