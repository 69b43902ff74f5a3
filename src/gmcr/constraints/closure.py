"""Closure: concentrations as fractions that sum to one in every sample.

Profiles of unit norm leave the unit of each component's concentration open. Where the true fractions sum to one,
that settles it: one scale per component makes the concentrations of all samples sum to one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import FloatArray, check_number, require

SPREAD = 0.2  # relative spread of the sums, before they are made one, from which closure is doubtful


@dataclass(frozen=True, eq=False)
class Closure(Constraint):
    """The concentrations of a sample, each in the unit of its component, sum to `total`.

    The estimator gives such concentrations beside the plain ones, as `fractions_`, and measures the violation on
    those; how far samples are from closure before they are made to sum to `total` is warned of.
    """

    total: float = 1.0

    kind = "closure"
    parameter = "closure"
    stages: ClassVar[frozenset[Stage]] = frozenset({"answer"})

    def __post_init__(self) -> None:
        fine = 0 < check_number(self.total, "closure") < np.inf
        require(fine, "closure", "to a positive number", self.total)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        sums = C[C.any(axis=1)].sum(axis=1)
        return float(np.abs(sums / self.total - 1.0).max(initial=0.0))

    def sentence(self) -> str:
        return f"concentrations of a sample sum to {self.total:g}"


CONSTRAINTS.add(Closure.kind, Closure)


def closure_scales(C: FloatArray, total: float = 1.0) -> FloatArray:
    """The scale of each component with which the concentrations come closest to summing to one: (components,).

    C : (samples, components), not negative;  total : what messages call one
    """
    held = C[C.any(axis=1)]
    scales = nnls(held, np.ones(len(held)))[0] if len(held) else np.zeros(C.shape[1])
    vanished = np.flatnonzero(scales == 0)
    if vanished.size:
        raise InputError(
            f"closure cannot be met: component {vanished[0]} would have to count for nothing for the "
            f"concentrations to sum to {total:g}; fit without closure."
        )
    spread = float(np.sqrt(np.mean((held @ scales - 1.0) ** 2)))
    if spread > SPREAD:
        warnings.warn(
            f"the scaled concentrations of a sample sum to {total:g} only within {spread:.0%}; "
            "these samples may not obey closure.",
            stacklevel=4,
        )
    return scales


def as_fractions(C: FloatArray, scales: FloatArray) -> FloatArray:
    """Fractions of each sample, summing to one; NaN for a sample that holds nothing: (samples, components)."""
    scaled = C * scales
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / np.where(total > 0, total, np.nan)
