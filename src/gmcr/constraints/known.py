"""Entries that are known beforehand: their values (`FixedValues`), or whether there is anything (`Presence`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import Bounds, FactorConstraint
from gmcr.constraints.layout import Layout
from gmcr.constraints.zero_region import largest_in, zero_where
from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_numbers, require


@dataclass(frozen=True, eq=False)
class _Table(FactorConstraint):
    """A constraint with a value for every entry, NaN where nothing is known."""

    @property
    def table(self) -> FloatArray:
        """(places, components): samples or channels."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        return self.table.shape[1]

    def _check(self, shape: tuple[int, ...]) -> None:
        if self.table.shape != shape:
            what = "samples" if self.of == "C" else "channels"
            raise InputError(
                f"{self.name} knows of {len(self.table)} {what} × {self.count} components, and there are "
                f"{shape[0]} × {shape[1]}."
            )

    def _checked(self, given: Any, name: str) -> FloatArray:
        if self.components is not None:
            raise InputError(f"{name} has a place for each component; give NaN and not components=.")
        values = np.array(given, dtype=object)
        values[values == None] = np.nan  # noqa: E711, as files have NaN
        values = as_numbers(values, name)
        fine = values.ndim == 2 and values.size and not np.isnan(values).all() and not np.isinf(values).any()
        require(fine, name, "a table of numbers, NaN where nothing is known", given)
        values.setflags(write=False)
        return values


@dataclass(frozen=True, eq=False)
class FixedValues(_Table):
    """Entries of C (samples, components) or S (components, channels) that are known, NaN where they are not.

    They are known up to a unit of each component: its concentrations and its profile, of unit norm, say that.
    """

    values: Any = None

    kind = "fixed values"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "values", self._checked(self.values, "values of FixedValues"))

    @property
    def table(self) -> FloatArray:
        return self.values if self.of == "C" else self.values.T

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds:
        self._check(shape)
        unknown = np.isnan(self.table)
        return np.where(unknown, -np.inf, self.table), np.where(unknown, np.inf, self.table)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        factor = self.factor(C, S)
        self._check(factor.shape)
        known = ~np.isnan(self.table)
        values, found = np.where(known, self.table, 0.0), np.where(known, factor, 0.0)
        squares = np.maximum((values**2).sum(axis=0), 1e-300)
        off = found - values * (values * found).sum(axis=0) / squares
        return largest_in(np.vstack([off, np.abs(factor).max(axis=0)]), np.pad(known, ((0, 1), (0, 0))))

    def sentence(self) -> str:
        what = "concentrations" if self.of == "C" else "entries of profiles"
        return f"{int((~np.isnan(self.values)).sum())} {what} known beforehand"


@dataclass(frozen=True, eq=False)
class Presence(_Table):
    """Which sample holds which component: (samples, components) of 1, 0, and NaN where that is not known.

    A zero holds in the fit. A one is looked for in the answer, which is refused where the sample has none of it.
    """

    of: str = field(default="C", init=False)
    components: tuple[int, ...] | None = field(default=None, init=False)
    samples: Any = None

    kind = "presence"

    def __post_init__(self) -> None:
        values = self._checked(self.samples, "samples of Presence")
        fine = np.isin(values[~np.isnan(values)], (0.0, 1.0)).all()
        require(fine, "samples of Presence", "1, 0, or NaN where that is not known", self.samples)
        object.__setattr__(self, "samples", values)

    @property
    def name(self) -> str:
        return self.kind

    @property
    def table(self) -> FloatArray:
        return self.samples

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds:
        self._check(shape)
        return zero_where(self.samples == 0)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        self._check(C.shape)
        lacking = bool(((self.samples == 1) & (C == 0)).any())
        return max(largest_in(C, self.samples == 0), float(lacking))

    def sentence(self) -> str:
        return (
            f"which sample holds which component is known for {int((~np.isnan(self.samples)).sum())} entries"
        )


CONSTRAINTS.add(FixedValues.kind, FixedValues)
CONSTRAINTS.add(Presence.kind, Presence)
