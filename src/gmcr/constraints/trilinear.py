"""Concentrations of tables that were cut in slices: each component changes alike in all of them.

The rows of an excitation–emission landscape, say, are pairs of a sample and an excitation. A component's
concentrations over them are its amount in the sample times its excitation spectrum, whatever the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint, Shaper
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, as_labels

ROUNDS = 50
CONVERGED = 1e-13  # relative change of the squares that are left


@dataclass(frozen=True, eq=False)
class Trilinear(FactorConstraint):
    """A component's concentrations are an amount for each slice times a profile along the mode, the same in all.

    slices : (samples,) label of the slice, such as a sample or a run, that each row belongs to
    mode : (samples,) label of its place in the slice, such as an excitation or a time; without both, the runs and
        the order that the fit is told
    """

    of: str = field(default="C", init=False)
    slices: Any = None
    mode: Any = None

    kind = "trilinear"
    shapes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slices is None and self.mode is None:
            return
        for name in ("slices", "mode"):
            given = getattr(self, name)
            if given is None:
                raise InputError(f"{name} of Trilinear must be a list of labels, one for each sample.")
            labels = as_labels(given, len(given), f"{name} of Trilinear").astype(str).tolist()
            object.__setattr__(self, name, tuple(labels))
        if len(self.slices) != len(self.mode):
            raise InputError(
                f"Trilinear has {len(self.slices)} slices and {len(self.mode)} modes; give one of both a sample."
            )
        if len(set(zip(self.slices, self.mode))) < len(self.slices):
            raise InputError("Trilinear has two samples at the same place of a slice; give each its own.")

    @property
    def name(self) -> str:
        return self.kind

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return False  # of equal runs, which ask for this, it says nothing more

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        rows, columns, there = self._grid(n_places, layout)

        def shaped(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
            full = np.zeros(there.shape)
            full[rows, columns] = values
            barred = np.zeros(there.shape, dtype=bool)
            barred[rows, columns] = (upper == 0) & (lower <= 0)
            a, b = _nearest_product(full, there, barred, bool((lower >= 0).all()))
            found = (a[:, None] * b)[rows, columns]
            return np.where((found < lower) | (found > upper), np.nan, found)

        return shaped

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        rows, columns, there = self._grid(len(C), layout or Layout())
        worst = 0.0
        for c in C[:, self.speaks_of(C.shape[1])].T:
            full = np.zeros(there.shape)
            full[rows, columns] = c
            a, b = _nearest_product(full, there, np.zeros_like(there), False)
            off = np.abs(full - a[:, None] * b)[there]
            worst = max(worst, float(off.max()) / max(float(np.abs(c).max()), 1e-300))
        return worst

    @classmethod
    def of_words(cls, words: list[str]) -> Trilinear:
        if words:
            raise InputError(
                "the constraint trilinear takes no words; its slices and mode are --runs and --order."
            )
        return cls()

    def sentence(self) -> str:
        return "each component changes along the mode alike in all slices"

    def _grid(self, n_places: int, layout: Layout) -> tuple[NDArray[np.intp], NDArray[np.intp], BoolArray]:
        """Slice and mode of each row by number, and (slices, modes) which of them there are."""
        own = self.slices is not None
        slices, mode = (self.slices, self.mode) if own else (layout.runs, layout.order)
        if slices is None or mode is None:
            raise InputError(
                "trilinear compares slices place by place; give fit runs= and order=, or slices."
            )
        if len(slices) != n_places:
            raise InputError(f"Trilinear speaks of {len(slices)} samples, and there are {n_places}.")
        rows = np.unique(slices, return_inverse=True)[1]
        columns = np.unique(mode, return_inverse=True)[1]
        there = np.zeros((rows.max() + 1, columns.max() + 1), dtype=bool)
        there[rows, columns] = True
        return rows, columns, there


def _nearest_product(
    M: FloatArray, there: BoolArray, barred: BoolArray, positive: bool
) -> tuple[FloatArray, FloatArray]:
    """a (slices,) and b (modes,) whose products are nearest to M (slices, modes) where there is an entry.

    barred : entries that must be zero: whole slices or modes
    """
    weight = there.astype(float)
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    sign = 1.0 if U[:, 0].sum() * np.abs(Vt[0]).sum() >= 0 else -1.0
    b = sign * Vt[0]
    open_a, open_b = ~_all_barred(barred, there), ~_all_barred(barred.T, there.T)
    b = b * open_b
    if positive:
        b = np.maximum(b, 0.0)
        if not b.any():
            b = np.maximum(-sign * Vt[0] * open_b, 0.0)
    a, last = np.zeros(len(M)), np.inf
    for _ in range(ROUNDS):
        a = _amounts(M, weight, b, positive) * open_a
        b = _amounts(M.T, weight.T, a, positive) * open_b
        left = float((weight * (M - a[:, None] * b) ** 2).sum())
        if last - left <= CONVERGED * left:
            break
        last = left
    return a, b


def _amounts(M: FloatArray, weight: FloatArray, b: FloatArray, positive: bool) -> FloatArray:
    squares = weight @ b**2
    a = (weight * M) @ b / np.where(squares > 0, squares, 1.0)
    return np.maximum(a, 0.0) if positive else a


def _all_barred(barred: BoolArray, there: BoolArray) -> BoolArray:
    """(slices,) those in which every entry that there is must be zero."""
    return np.asarray((barred | ~there).all(axis=1) & barred.any(axis=1))


CONSTRAINTS.add(Trilinear.kind, Trilinear)
