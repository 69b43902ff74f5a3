"""Boosted trees as plain arrays: what a model of the count is stored as, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from gmcr.validation import FloatArray

STORED = "weights.npz"


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees whose leaves add up to log-odds.

    Attributes
    ----------
    names : (columns,) of the table it is asked about
    roots : (trees,) node that each tree begins with
    column, threshold : (nodes,) left if the column is at most the threshold
    missing_left : (nodes,) whether NaN goes left
    left, right : (nodes,) the next node; a leaf leads to itself
    value : (nodes,) of a leaf
    depth : of the deepest tree
    offset, slope : of the log-odds, which make them as frequent as they say
    """

    names: np.ndarray
    roots: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    depth: np.ndarray
    offset: np.ndarray
    slope: np.ndarray

    def log_odds(self, values: FloatArray) -> FloatArray:
        """Of each row of a table with these columns: (rows,)."""
        rows = np.arange(len(values))[:, None]
        nodes = np.broadcast_to(self.roots, (len(values), len(self.roots)))
        for _ in range(int(self.depth)):
            seen = values[rows, self.column[nodes]]
            left = np.where(np.isnan(seen), self.missing_left[nodes], seen <= self.threshold[nodes])
            nodes = np.where(left, self.left[nodes], self.right[nodes])
        return self.offset + self.slope * self.value[nodes].sum(axis=1)

    def as_arrays(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@cache
def stored_forest() -> Forest:
    """The one that comes with gmcr, made by benchmarks/counting.py."""
    with (
        files("gmcr.counting").joinpath(STORED).open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return Forest(**arrays)
