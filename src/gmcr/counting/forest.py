"""What was learned about counts: boosted trees as plain arrays, how they are stored and how they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from gmcr.validation import FloatArray

STORED = "weights.npz"


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees whose leaves add up to a score of each count.

    Attributes
    ----------
    names : (columns,) of the table it is asked about
    roots : (trees,) node that each tree begins with
    column, threshold : (nodes,) left if the column is at most the threshold
    missing_left : (nodes,) whether NaN goes left
    left, right : (nodes,) the next node; a leaf leads to itself
    value : (nodes,) of a leaf
    depth : of the deepest tree
    offset : added to the sum
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

    def score(self, values: FloatArray) -> FloatArray:
        """Of each row of a table with these columns: (rows,)."""
        rows = np.arange(len(values))[:, None]
        nodes = np.broadcast_to(self.roots, (len(values), len(self.roots)))
        for _ in range(int(self.depth)):
            seen = values[rows, self.column[nodes]]
            left = np.where(np.isnan(seen), self.missing_left[nodes], seen <= self.threshold[nodes])
            nodes = np.where(left, self.left[nodes], self.right[nodes])
        return self.offset + self.value[nodes].sum(axis=1)


@dataclass(frozen=True, eq=False)
class Learned:
    """Two ways to ask about a count, and how much each counts for.

    stop : log-odds to stop at a count, given that it is reached, from what speaks of counts up to the true one
    choice : the logarithm of a count's probability among all candidates, but for a constant
    weights : (2,) of the logarithms of the two distributions
    """

    stop: Forest
    choice: Forest
    weights: np.ndarray

    def as_arrays(self) -> dict[str, Any]:
        parts = {"stop": self.stop, "choice": self.choice}
        arrays = {
            f"{part} {field.name}": getattr(forest, field.name)
            for part, forest in parts.items()
            for field in fields(forest)
        }
        return arrays | {"weights": self.weights}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Learned:
        stop, choice = (
            Forest(**{field.name: arrays[f"{part} {field.name}"] for field in fields(Forest)})
            for part in ("stop", "choice")
        )
        return cls(stop, choice, arrays["weights"])


@cache
def stored() -> Learned:
    """What comes with gmcr, made by benchmarks/counting.py."""
    with (
        files("gmcr.counting").joinpath(STORED).open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return Learned.of_arrays(arrays)
