"""Concentrations that go along with known amounts: the correlation constraint of MCR-ALS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import nnls

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import FactorConstraint, Shaper
from gmcr.constraints.known import known_table
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, require

LEAST = 2  # samples of known amount of a component


@dataclass(frozen=True, eq=False)
class Calibration(FactorConstraint):
    """In samples whose amounts are known, concentrations are in proportion to them.

    It speaks of the first components, one for each column of `known`; which of those that were found they are is
    seen by how well both go along. The model is calibrated with the same amounts, so that `decode` gives amounts.

    known : (samples, known) amounts, NaN where one is not known: a DataFrame or dict with names, or an array
    units : of the amounts, such as "g/L", or by name
    offset : whether concentrations may be off by a constant, a blank
    """

    of: str = field(default="C", init=False)
    components: tuple[int, ...] | None = field(default=None, init=False)
    known: Any = None
    units: Any = None
    offset: bool = False

    kind = "calibration"
    shapes = True
    several = False
    alike = False

    def __post_init__(self) -> None:
        columns, name = _columns(self.known), "known of Calibration"
        table = known_table(list(columns.values()), name)
        given = table[~np.isnan(table)]
        require((given >= 0).all(), name, "amounts that are not negative, NaN where not known", self.known)
        for label, column in zip(columns, table):
            there = column[~np.isnan(column)]
            if len(there) < LEAST or len(np.unique(there)) < LEAST:
                raise InputError(
                    f"{name} tells {len(there)} amount(s) of {label!r:.40}; give at least {LEAST} that differ."
                )
        object.__setattr__(self, "known", dict(zip(columns, map(tuple, table.tolist()))))
        require(isinstance(self.offset, bool), "offset of Calibration", "True or False", self.offset)
        object.__setattr__(self, "components", tuple(range(len(columns))))

    @property
    def name(self) -> str:
        return self.kind

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return False

    def shaper(self, n_places: int, layout: Layout) -> Shaper:
        return self.shaper_of(0, n_places, layout)

    def shaper_of(self, component: int, n_places: int, layout: Layout) -> Shaper:
        rows, basis = self._basis(component, n_places)

        def shaped(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
            found = np.clip(values, lower, upper)
            found[rows] = basis @ nnls(basis, values[rows])[0]
            fine = (found >= lower - 1e-12 * np.abs(found)) & (found <= upper)
            return np.where(fine, found, np.nan)

        return shaped

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        worst = 0.0
        for j in range(len(self.known)):
            rows, basis = self._basis(j, len(C))
            off = C[rows, j] - basis @ nnls(basis, C[rows, j])[0]
            worst = max(worst, float(np.abs(off).max()) / max(float(np.abs(C[:, j]).max()), 1e-300))
        return worst

    def sentence(self) -> str:
        beside = ", with an offset" if self.offset else ""
        return f"concentrations go along with known amounts of {', '.join(self.known)}{beside}"

    def _basis(self, component: int, n_places: int) -> tuple[BoolArray, FloatArray]:
        """Samples of known amount, and what their concentrations are sums of: (samples, 1 or 2)."""
        amounts = np.array(list(self.known.values())[component], dtype=float)
        if len(amounts) != n_places:
            raise InputError(f"calibration knows of {len(amounts)} samples, and there are {n_places}.")
        rows = ~np.isnan(amounts)
        told = amounts[rows]
        if not self.offset:
            return rows, told[:, None]
        # a y + b with a ≥ 0 that is nowhere negative: sums of y less its least, and of a constant.
        return rows, np.column_stack([told - told.min(), np.ones(len(told))])


def _columns(known: Any) -> dict[str, Any]:
    """Amounts by name."""
    if known is None:
        raise InputError("known of Calibration must be amounts, samples × components.")
    if isinstance(known, Mapping):
        return {str(name): column for name, column in known.items()}
    names = getattr(known, "columns", None)
    table = np.atleast_2d(np.asarray(known, dtype=object).T)
    labels = [f"known {a}" for a in range(len(table))] if names is None else [str(name) for name in names]
    return dict(zip(labels, table))


CONSTRAINTS.add(Calibration.kind, Calibration)
