"""Could it look different and fit as well? The feasible band of every component of a solution.

A solution C S fits exactly as well as (C T)(T⁻¹ S). Those T that keep the supports and leave nothing negative
beyond noise make up what the data cannot tell. For every component the band runs from the least to the largest
share of the signal it can have, with its profile and concentrations at either end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.decomposition import Decomposition
from gmcr.theory.balancing import checked_solution
from gmcr.theory.extremes import SMALLEST, End, coefficient_range, error_of, extremes
from gmcr.theory.feasible_bands import Ambiguity, Band
from gmcr.theory.feasible_plane import FeasibleArea, FeasiblePair, feasible_area, pair_extremes, pair_interval
from gmcr.theory.transformations import Balanced, Block, group
from gmcr.validation import FloatArray

MAX_VARIABLES = 20  # a block with more free coefficients is reported as open and not followed to its ends
SAME = 1e-5  # shares closer than this are one


def as_fitted(model: Any) -> dict[str, Any]:
    """The constraints, runs and order that a model was fitted with, as `feasible_bands` takes them."""
    layout = getattr(model, "layout_", None)
    if not getattr(model, "constraints", None) or layout is None:
        return {}
    return {"constraints": model.constraints, "runs": layout.labels, "order": layout.order}


def feasible_bands(
    D: Any,
    decomposition: Decomposition,
    noise: Any = None,
    c_min: float | None = None,
    closure: bool = False,
    *,
    supports: Any = None,
    constraints: Any = None,
    runs: Any = None,
    order: Any = None,
    alpha: float = 0.05,
    seconds: float = np.inf,
    counted: Any = None,
) -> Ambiguity:
    """The range of profiles and concentrations that fit as well as a solution, for each of its components.

    Profiles and concentrations stay non-negative up to noise (unless the solution is signed), and a sample
    holds what it holds. The supports are taken as right: for a solution whose zeros mean little, such as one from
    NMF or MCR-ALS, pass supports="all".

    Parameters
    ----------
    D : (samples, channels) the samples; NaN means missing
    decomposition : the solution, from anywhere
    noise : standard deviation, one number or one per sample, or a `NoiseLaw`; by default the decomposition's, or
        else estimated from what it leaves over
    c_min : the smallest concentration a held component can have, with profiles of unit norm
    closure : whether the concentrations, each component in its own unit, sum to one in every sample
    supports : (samples, components) bool, what each sample may hold; "all" for no knowledge of that; by default
        what it holds in the solution or, with constraints and up to five components, anything
    constraints : what else must be obeyed up to noise, one or several objects of `gmcr.constraints`, as the
        solution was fitted with
    runs, order : (samples,) of samples, for constraints that go by them
    alpha : probability with which noise alone may exceed what is forgiven as noise
    seconds : after which to give up with a TimeoutError
    counted : (samples,) a yes or no for each, of whose signal shares are; by default all. Bands from before and
        after further samples compare where those of the first samples count alone

    Returns
    -------
    Ambiguity

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr import Decomposition
    >>> from gmcr.theory.ambiguity import feasible_bands
    >>> S = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.8, 0.6]])
    >>> C = np.array([[0.0, 5.0], [5.0, 5.0]])
    >>> out = feasible_bands(C @ S, Decomposition(S, C), noise=0.0, c_min=1.0)
    >>> out.bands[1].concentrations[:, 1].round(3)  # how much of the second component the second sample holds
    array([1., 5.])
    """
    notes: list[str] = []
    C, S = decomposition.concentrations, decomposition.components
    used = np.flatnonzero(C.any(axis=0))
    given = checked_solution(
        D,
        decomposition,
        used,
        noise,
        supports=supports,
        c_min=c_min,
        closure=closure,
        constraints=constraints,
        runs=runs,
        order=order,
        alpha=alpha,
        seconds=seconds,
        counted=counted,
        notes=notes,
    )
    names = decomposition.component_names or tuple(str(j) for j in range(len(S)))
    bands, planes = _bands(given.balanced(), given.sizes, used, names)
    if any(np.isnan(band.max) for band in bands):
        notes.append(
            "Bands without numbers: too many components trade with each other, or nothing meets what is asked."
        )
    for number in np.setdiff1d(np.arange(len(S)), used):
        nothing, twice = np.zeros((2, len(C))), np.stack([S[number]] * 2)
        why = "no sample holds it"
        bands.append(Band(int(number), names[number], 0.0, 0.0, 0.0, twice, nothing, 0.0, False, why, ()))
    bands.sort(key=lambda band: band.component)
    return Ambiguity(tuple(bands), tuple(planes), tuple(notes))


def _bands(
    solution: Balanced, sizes: FloatArray, used: Any, names: tuple[str, ...]
) -> tuple[list[Band], list[FeasiblePair | FeasibleArea]]:
    """Bands and planes of the components that samples hold.

    sizes : (K,) norm of each component's signal; used : (K,) their numbers, names : by number
    """
    C = solution.C_counted
    total = float(np.linalg.norm(C @ solution.S))
    bands: list[Band] = []
    planes: list[FeasiblePair | FeasibleArea] = []
    for members in group(solution.directions):
        block = solution.block(members)
        ends = _ends(block, planes, used, sizes)
        for position, i in enumerate(members):
            number = int(used[i])
            partners = tuple(int(used[k]) for k in members if k != i)
            low, high = ends[position]
            least, most = float(np.exp(low[0]) / total), float(np.exp(high[0]) / total)
            looks = [_looks(block, position, T) for _, T in (low, high)]
            error = error_of(block, position) / total
            noise = 2 * block.z * error
            limited = bool(block.limits)
            closed, why = _verdict(least, most, noise, [names[k] for k in partners], limited)
            band = Band(
                component=number,
                name=names[number],
                share=float(sizes[i] * np.linalg.norm(C[:, i]) / total),
                min=least,
                max=most,
                profiles=np.stack([profile for profile, _ in looks]),
                concentrations=np.stack([amounts for _, amounts in looks]),
                noise=error,
                closed=closed,
                why=why,
                partners=partners,
                within_noise=not closed and most - least <= noise,
            )
            bands.append(band)
    return bands, planes


def _ends(block: Block, planes: list[Any], used: Any, sizes: FloatArray) -> list[tuple[End, End]]:
    """Both ends of every member's band, as log ‖c_i‖ ‖s_i‖ and T; planes found on the way are added."""
    count = len(block.members)
    if count == 1:
        size = float(np.linalg.norm(block.C_counted) * np.linalg.norm(block.S))
        here = float(np.log(max(size, SMALLEST)))
        return [((here, np.eye(1)), (here, np.eye(1)))]
    if block.n_variables > MAX_VARIABLES:
        return [((np.nan, None), (np.nan, None))] * count
    exact = block.fully_free and not block.signed and block.c_min is None and not block.limits
    if count == 2 and not block.signed:
        a, b = (pair_interval(block, i) if exact else coefficient_range(block, 1 - i, i) for i in (0, 1))
        i, j = block.members
        ratio = float(sizes[i] / sizes[j])  # from balanced units to profiles of unit norm
        numbers = int(used[i]), int(used[j])
        planes.append(FeasiblePair(numbers, (a[0] * ratio, a[1] * ratio), (b[0] / ratio, b[1] / ratio)))
        if exact and np.isfinite([a, b]).all():
            return pair_extremes(block, a, b)
    if count == 3 and exact:
        area = feasible_area(block, used[block.members])
        if area is not None:
            planes.append(area)
    return extremes(block)


def _looks(block: Block, i: int, T: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Profile (channels,) of unit norm and concentrations (samples,) of a member after T."""
    if T is None:
        return np.full(block.S.shape[1], np.nan), np.full(len(block.C), np.nan)
    profile = np.linalg.solve(T, block.S)[i]
    size = np.linalg.norm(profile)
    # What a transformation leaves in samples that do not hold the component is below notice.
    return profile / size, np.where(block.held[:, i], block.C @ T[:, i] * size, 0.0)


def _verdict(least: float, most: float, noise: float, partners: list[str], limited: bool) -> tuple[bool, str]:
    """Whether a band is closed, and what closes it or keeps it open; partners : names of those it trades with."""
    if not partners:
        return True, "closed: the supports leave no other"
    others = ", ".join(partners[:4]) + (", …" if len(partners) > 4 else "")
    if np.isnan(most):
        return False, f"open: trades with {others}"
    if most - least <= SAME:
        return True, "closed: anything else would be negative" + " or break a constraint" * limited
    if most - least <= noise:
        return False, f"open by no more than noise: trades with {others}"
    return False, f"open: trades with {others}"
