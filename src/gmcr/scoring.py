"""Found against true: which slot is which component, and how many supports are right."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray

IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How a found decomposition compares with the true one.

    Attributes
    ----------
    assignment : (N,) slot matched to each true component, −1 where there is none
    cosines : (N,) profile cosine of each matched pair, NaN where there is none
    unmatched : slots in use that are no true component's match
    count : slots in use
    true_count : true components in use
    usage_ratio : selections over true selections; one is usage-minimal
    exact : share of samples whose support is the true one after the matching
    no_miss : share of samples whose support contains the true one
    min_cos : smallest of the matched cosines, NaN if nothing matched
    misses : true components left without a slot because fewer slots than components are in use
    """

    assignment: IntArray
    cosines: FloatArray
    unmatched: IntArray
    count: int
    true_count: int
    usage_ratio: float
    exact: float
    no_miss: float
    min_cos: float
    misses: int

    def as_row(self) -> dict[str, int | float]:
        """The numbers, one column each; the matching itself is left out."""
        matching = ("assignment", "cosines", "unmatched")
        return {name: value for name, value in vars(self).items() if name not in matching}


def compare(found: Any, truth: Any) -> Comparison:
    """Comparison found components to true ones (Hungarian assignment on profile cosine) and compare supports.

    Only slots active in at least one sample take part, and only true components that some sample holds.
    No cosine cutoff is applied. Profiles of any norm are scaled to unit norm and concentrations with them.
    Where concentrations have both signs a profile's own sign is arbitrary, so cosines are taken without it.

    Parameters
    ----------
    found, truth : each a Decomposition, a fitted model's or a generator's result with `C` and `S`, or a pair
        (components, concentrations) of shapes (slots, channels) and (samples, slots)

    Returns
    -------
    Comparison
    """
    found, truth = _decomposition(found, "found"), _decomposition(truth, "truth")
    _check_comparable(found, truth)
    assignment, cosines = _assign(found, truth)
    in_use, true_in_use = _in_use(found), _in_use(truth)
    matched = np.zeros_like(in_use)
    matched[assignment[assignment >= 0]] = True

    supports, target = found.supports, supports_by_slot(assignment, truth.supports, found.n_components)
    # A true component without a slot is missed by every sample that holds it, whatever else it selects.
    lost = truth.supports[:, assignment < 0].any(axis=1)
    return Comparison(
        assignment=assignment,
        cosines=cosines,
        unmatched=np.flatnonzero(in_use & ~matched),
        count=int(in_use.sum()),
        true_count=int(true_in_use.sum()),
        usage_ratio=found.usage / truth.usage,
        exact=float(np.mean((supports == target).all(axis=1) & ~lost)),
        no_miss=float(np.mean((supports >= target).all(axis=1) & ~lost)),
        min_cos=float(np.nanmin(cosines)) if matched.any() else nan,
        misses=int(np.count_nonzero(true_in_use & (assignment < 0))),
    )


def _decomposition(source: Any, name: str) -> Decomposition:
    """Whatever `compare` accepts, with profiles of unit norm."""
    if isinstance(source, Decomposition):
        return source
    if hasattr(source, "components_") and hasattr(source, "concentrations_"):
        source = source.components_, source.concentrations_
    elif hasattr(source, "S") and hasattr(source, "C"):
        source = source.S, source.C
    elif not (isinstance(source, tuple | list) and len(source) == 2):
        raise InputError(
            f"{name} must be a Decomposition or a pair (components, concentrations), "
            f"but is a {type(source).__name__}."
        )
    components, concentrations = source
    try:
        return Decomposition.from_factors(concentrations, components, signed=True)
    except InputError as error:
        raise InputError(f"{name} cannot be matched: {error}") from None


def _check_comparable(found: Decomposition, truth: Decomposition) -> None:
    for what in ("channels", "samples"):
        mine, theirs = (getattr(one, f"n_{what}") for one in (found, truth))
        if mine != theirs:
            raise InputError(
                f"found has {mine} {what} and truth has {theirs}; both must be of the same data."
            )
    if truth.usage == 0:
        raise InputError("truth holds no component in any sample; there is nothing to compare with.")


def _in_use(decomposition: Decomposition) -> BoolArray:
    """(slots,) which slots at least one sample holds."""
    return np.count_nonzero(decomposition.concentrations, axis=0) > 0


def _assign(found: Decomposition, truth: Decomposition) -> tuple[IntArray, FloatArray]:
    """Slot and cosine of each true component; −1 and NaN where it got none."""
    slots, components = np.flatnonzero(_in_use(found)), np.flatnonzero(_in_use(truth))
    cosines = truth.components[components] @ found.components[slots].T
    if (found.concentrations < 0).any() or (truth.concentrations < 0).any():
        cosines = np.abs(cosines)
    rows, columns = linear_sum_assignment(cosines, maximize=True)
    assignment = np.full(truth.n_components, -1, dtype=np.intp)
    matched_cosines = np.full(truth.n_components, nan)
    assignment[components[rows]] = slots[columns]
    matched_cosines[components[rows]] = cosines[rows, columns]
    return assignment, matched_cosines


def supports_by_slot(assignment: IntArray, true_supports: BoolArray, n_slots: int) -> BoolArray:
    """(samples, slots) the supports the found ones should be, as far as true components have slots."""
    target = np.zeros((len(true_supports), n_slots), dtype=bool)
    matched = assignment >= 0
    target[:, assignment[matched]] = true_supports[:, matched]
    return target
