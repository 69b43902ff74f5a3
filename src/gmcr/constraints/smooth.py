"""Columns without anything narrower than a width: splines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import nnls

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint, Shaper, run_by_run
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import FloatArray, check_number, require

DEGREE = 3


@dataclass(frozen=True, eq=False)
class Smooth(FactorConstraint):
    """Concentrations over the order of a run ("C"), or profiles ("S"), are cubic splines.

    width : distance between the spline's knots, in places: about the narrowest half-width that a column can have.
        Where columns cannot be negative, neither can the spline's coefficients
    """

    width: float = 5.0

    kind = "smooth"
    shapes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        fine = 1.0 <= check_number(self.width, "width of Smooth") < np.inf
        require(fine, "width of Smooth", "a number of places, 1 or more", self.width)

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        series = self.series(n_places, layout)
        bases = {len(rows): basis(len(rows), self.width) for rows in series}

        def nearest(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
            B = bases[len(values)]
            barred = (lower == 0) & (upper == 0)
            if (np.isfinite(upper) & ~barred).any() or not np.isin(lower[~barred], (0.0, -np.inf)).all():
                raise InputError(f"{self.name} cannot keep values that are fixed, other than zeros.")
            free = ~(B[barred] != 0).any(axis=0)  # whose spline does not reach where there is nothing
            B = B[:, free]
            positive = bool((lower[~barred] == 0).all())
            if not positive and (lower[~barred] == 0).any():
                raise InputError(f"{self.name} needs all of a column, or none, to be non-negative.")
            if not free.any():
                return np.zeros(len(values))
            found: FloatArray = B @ (
                nnls(B, values)[0] if positive else np.linalg.lstsq(B, values, rcond=None)[0]
            )
            return found

        return run_by_run(series, nearest)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        chosen = factor[:, self.speaks_of(factor.shape[1])]
        off = np.zeros_like(chosen)
        for rows in self.series(len(factor), layout):
            Q = np.linalg.qr(basis(len(rows), self.width))[0]
            off[rows] = chosen[rows] - Q @ (Q.T @ chosen[rows])
        sizes = np.maximum(np.abs(chosen).max(axis=0, initial=0.0), 1e-300)
        return float((np.abs(off) / sizes).max(initial=0.0))

    @classmethod
    def of_words(cls, words: list[str]) -> Smooth:
        of, *width = words
        return cls(of, *map(float, width))

    def sentence(self) -> str:
        what = "concentrations over a run" if self.of == "C" else "profiles"
        return f"{what} are splines with knots {self.width:g} places apart"


def basis(n_places: int, width: float) -> FloatArray:
    """Cubic B-splines over so many places, with knots about `width` apart: (places, splines)."""
    pieces = max(int((n_places - 1) // width), 1)
    if n_places <= DEGREE or pieces + DEGREE >= n_places:
        return np.eye(n_places)
    ends = float(n_places - 1)
    knots = np.concatenate([np.zeros(DEGREE), np.linspace(0.0, ends, pieces + 1), np.full(DEGREE, ends)])
    dense: Any = BSpline.design_matrix(np.arange(float(n_places)), knots, DEGREE)
    return dense.toarray()


CONSTRAINTS.add(Smooth.kind, Smooth)
