"""Entries that are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import Bounds, FactorConstraint
from gmcr.constraints.layout import Layout
from gmcr.constraints.zero_region import largest_in
from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_numbers, require


@dataclass(frozen=True, eq=False)
class FixedValues(FactorConstraint):
    """Entries of C (samples, components) or S (components, channels) that are known, NaN where they are not.

    They are known up to a unit of each component: its concentrations and its profile, of unit norm, say that.
    """

    values: Any = None

    kind = "fixed values"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components is not None:
            raise InputError("FixedValues has a place for each component; give NaN and not components=.")
        object.__setattr__(self, "values", known_table(self.values, "values of FixedValues"))

    @property
    def table(self) -> FloatArray:
        """(places, components): samples or channels."""
        values: FloatArray = self.values if self.of == "C" else self.values.T
        return values

    @property
    def count(self) -> int:
        return self.table.shape[1]

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds:
        check_shape(self, self.table, shape)
        unknown = np.isnan(self.table)
        return np.where(unknown, -np.inf, self.table), np.where(unknown, np.inf, self.table)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        check_shape(self, self.table, factor.shape)
        known = ~np.isnan(self.table)
        values, found = np.where(known, self.table, 0.0), np.where(known, factor, 0.0)
        squares = np.maximum((values**2).sum(axis=0), 1e-300)
        off = found - values * (values * found).sum(axis=0) / squares
        return largest_in(np.vstack([off, np.abs(factor).max(axis=0)]), np.pad(known, ((0, 1), (0, 0))))

    def sentence(self) -> str:
        what = "concentrations" if self.of == "C" else "entries of profiles"
        return f"{int((~np.isnan(self.values)).sum())} {what} known beforehand"


def known_table(given: Any, name: str) -> FloatArray:
    """A table with a value for every entry, NaN where nothing is known."""
    values = np.array(given, dtype=object)
    values[values == None] = np.nan  # noqa: E711, as files have NaN
    values = as_numbers(values, name)
    fine = values.ndim == 2 and values.size and not np.isnan(values).all() and not np.isinf(values).any()
    require(fine, name, "a table of numbers, NaN where nothing is known", given)
    values.setflags(write=False)
    return values


def check_shape(one: FactorConstraint, table: FloatArray, shape: tuple[int, ...]) -> None:
    """Refuse a table that is not of this shape (places, components)."""
    if table.shape != shape:
        what = "samples" if one.of == "C" else "channels"
        raise InputError(
            f"{one.name} knows of {len(table)} {what} × {table.shape[1]} components, and there are "
            f"{shape[0]} × {shape[1]}."
        )


CONSTRAINTS.add(FixedValues.kind, FixedValues)
