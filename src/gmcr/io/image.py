"""An image from a table: pixels by their positions in two columns, x and y."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.io.cube import Pixels
from gmcr.io.table import Table
from gmcr.io.words import is_position

FULL = 0.5  # share of the pixels that must be there: positions of a few points make no image


def as_image(table: Table, columns: dict[str, Any]) -> Table:
    """The table with its samples in the order of their pixels, where columns tell positions."""
    found = _pixels_of(columns)
    if found is None:
        return table
    pixels, order = found
    note = f"They are an image of {' x '.join(map(str, pixels.shape))} pixels, by their positions."
    return replace(
        table,
        samples=np.ascontiguousarray(table.samples[order]),
        sample_names=pixels.names,
        metadata={
            name: [values[m] for m in order] if isinstance(values, list) else values
            for name, values in table.metadata.items()
        },
        pixels=pixels,
        notes=(*table.notes, note),
    )


def _pixels_of(columns: Mapping[str, Any]) -> tuple[Pixels, NDArray[np.intp]] | None:
    """Where samples stand in their image, and the order that puts them so; None if columns tell no such thing.

    columns : by heading, a value per sample; two that have no heading and come first are x and y too
    """
    numbers = {name: np.asarray(values, dtype=float) for name, values in columns.items() if _numeric(values)}
    pairs = [(x, y) for x in numbers for y in numbers if is_position(x, y)]
    if len(pairs) == 1:
        return _image(*(numbers[name] for name in pairs[0]))
    return _image(*numbers.values()) if set(columns) == {"", UNNAMED} == set(numbers) else None


UNNAMED = "column 1"  # what a first column without a heading is called, behind that of the labels


def _numeric(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, float) and np.isfinite(value) for value in values
    )


def _image(x: Any, y: Any) -> tuple[Pixels, NDArray[np.intp]] | None:
    xs, across = np.unique(x, return_inverse=True)
    ys, down = np.unique(y, return_inverse=True)
    kept = np.zeros((len(ys), len(xs)), dtype=bool)
    kept[down, across] = True
    if min(kept.shape) < 2 or kept.sum() < len(x) or kept.sum() < FULL * kept.size:
        return None
    return Pixels(kept, coords={"y": ys, "x": xs}), np.lexsort((across, down))
