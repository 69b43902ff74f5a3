"""Closure: concentrations as fractions that sum to one in every sample.

Profiles of unit norm leave the unit of each component's concentration open. Where the true fractions sum to one,
that settles it: one scale per component makes the concentrations of all samples sum to one. The fit may obey that
(constrained/closed.py), or its answer is scaled afterwards.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from gmcr.constraints.constraint import CONSTRAINTS, Constraint, Stage
from gmcr.constraints.factor import check_components
from gmcr.constraints.layout import Layout
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, check_number, require

SPREAD = 0.2  # relative spread of the sums, before they are made one, from which closure is doubtful


@dataclass(frozen=True, eq=False)
class Closure(Constraint):
    """The concentrations of a sample, each in the unit of its component, sum to `total`.

    The estimator gives such concentrations beside the plain ones, as `fractions_`, and measures the violation on
    those. A sample without any signal holds nothing.

    components : numbers of those that are summed; None for all
    when : "fit": the fit obeys. "answer", which `closure=True` stands for: the finished answer is scaled to come
        near, and then made to sum to `total`; how far samples are from that before is warned of
    """

    total: float = 1.0
    components: tuple[int, ...] | None = None
    when: str = "fit"

    kind = "closure"
    parameter = "closure"

    def __post_init__(self) -> None:
        fine = 0 < check_number(self.total, "closure") < np.inf
        require(fine, "closure", "to a positive number", self.total)
        require(self.when in ("fit", "answer"), "when of Closure", '"fit" or "answer"', self.when)
        object.__setattr__(self, "components", check_components(self.components, "components of Closure"))
        if self.components is not None and self.when == "answer":
            raise InputError('Closure of some components needs when="fit".')

    @property
    def stages(self) -> frozenset[Stage]:  # type: ignore[override]
        return frozenset({"fit" if self.when == "fit" else "answer"})

    @property
    def least_count(self) -> int:
        return 0 if self.components is None else max(self.components) + 1

    def speaks_of(self, n_components: int) -> BoolArray:
        """(components,) which ones are summed."""
        every = np.arange(n_components)
        return np.full(n_components, True) if self.components is None else np.isin(every, self.components)

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        summed = C[:, self.speaks_of(C.shape[1])]
        sums = summed[C.any(axis=1)].sum(axis=1)
        return float(np.abs(sums / self.total - 1.0).max(initial=0.0))

    @classmethod
    def of_words(cls, words: list[str]) -> Closure:
        (total,) = words or ["1"]
        return cls(float(total))

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


def as_fractions(C: FloatArray, scales: FloatArray, summed: BoolArray | None = None) -> FloatArray:
    """Fractions of each sample, summing to one; NaN for a sample that holds nothing: (samples, components).

    summed : (components,) those that sum to one; the others come as they are scaled
    """
    scaled = C * scales
    summed = np.full(len(scales), True) if summed is None else summed
    total = scaled[:, summed].sum(axis=1, keepdims=True)
    return np.where(summed, scaled / np.where(total > 0, total, np.nan), scaled)
