"""What to measure next: the cheapest sample that would close a band, and by how much.

Two samples isolate a component when it is all they have in common (C6), and a sample with one component and
without another keeps the one out of the other's concentrations: then fewer transformations fit. What a sample
would close depends on what is true, which the band leaves open. So it is tried in solutions spread over all that
fit: each is taken for the truth, the sample is added, and the band is looked for again. What is promised is kept
in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints import Layout
from gmcr.decomposition import Decomposition
from gmcr.theory.balancing import Given, checked_solution
from gmcr.theory.draws import drawn
from gmcr.theory.extremes import ends_of
from gmcr.theory.feasible_plane import pair_extremes, pair_interval
from gmcr.theory.further_samples import Kind, kinds_of
from gmcr.theory.transformations import Block, group
from gmcr.validation import FloatArray

WORLDS = 12  # solutions that are taken for the truth: in one of thirteen others a sample would close less
STEP = 0.05  # promises are rounded down to such shares: noise moves a band's ends too
HALF = 0.5  # share of a band that is worth a sample
FOLLOWED = 2  # samples of a kind that are tried in all worlds
MAX_VARIABLES = 20  # free coefficients of T that can be followed


@dataclass(frozen=True, eq=False)
class NextSample:
    """A sample that would close a component's band.

    Attributes
    ----------
    component, name : whose band
    words : what to measure
    promise : share of the band's width that it closes, at least
    width : of the band now, in shares of the signal
    concentrations : (components,) what such a sample would hold if the solution were true
    absent : components that it must be without
    kind : "time", "diluted", "without" or "alone"
    """

    component: int
    name: str
    words: str
    promise: float
    width: float
    concentrations: FloatArray
    absent: tuple[int, ...]
    kind: str

    def __str__(self) -> str:
        what, band = f"{self.words[0].upper()}{self.words[1:]}", f"the band of {self.name}"
        if np.isinf(self.width):
            return f"{what} would bound {band}, which nothing bounds now."
        return f"{what} would close {band} by {self.promise:.0%} or more."

    def to_dict(self) -> dict[str, Any]:
        plain = {
            name: getattr(self, name) for name in ("component", "name", "words", "promise", "width", "kind")
        }
        return plain | {"concentrations": self.concentrations.tolist(), "absent": list(self.absent)}


def what_next(
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
) -> tuple[NextSample, ...]:
    """For components that the data do not separate, the cheapest sample that would, and by how much it does.

    One for each group of components that trade signal with each other: it closes the widest band of the group, by
    half or more if any sample does. Samples at another time are cheaper than a dilution, that is cheaper than a
    sample that lacks a component, and that than a component by itself.

    Parameters
    ----------
    D, decomposition, noise, c_min, closure, supports, constraints, runs, order, alpha, seconds : as in
        `feasible_bands`

    Returns
    -------
    NextSample for each group that is open by more than noise, unless no sample surely closes any of it

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr import Decomposition
    >>> from gmcr.theory.next_sample import what_next
    >>> random = np.random.default_rng(0)
    >>> found = Decomposition.from_factors(random.uniform(1, 5, (9, 2)), random.uniform(1, 5, (2, 20)))
    >>> print(what_next(found.reconstruct(), found, noise=1e-3)[0])
    A sample with ... and without ... would close the band of ... by ...% or more.
    """
    used = np.flatnonzero(decomposition.concentrations.any(axis=0))
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
        notes=[],
    )
    names = decomposition.component_names or tuple(
        f"component {j}" for j in range(decomposition.n_components)
    )
    own = [names[j] for j in used]
    layout = Layout.of(runs, order, len(given.C))
    balanced, found = given.balanced(), []
    for members in group(balanced.directions):
        block = balanced.block(members)
        if len(members) > 1 and 0 < block.n_variables <= MAX_VARIABLES:
            one = _for_group(given, members, block, own, layout)
            found += [] if one is None else [_renumbered(one, used, decomposition.n_components)]
    return tuple(found)


def _for_group(
    given: Given, members: NDArray[np.intp], block: Block, names: list[str], layout: Layout
) -> NextSample | None:
    """The sample for components that trade with each other, numbered as in `given`."""
    widths = {int(i): _width(given, int(i)) for i in members}
    widest = max(widths.values())
    # Twice the standard error of a share on either side is noise.
    if not widest > 2 * given.z * float(np.sqrt(np.diag(block.S_cov).max())) / _total(given):
        return None
    tries = [
        _Try(kind, i, width, _closing(given, kind, i, width))
        for i, width in widths.items()
        if width >= HALF * widest
        for kind in kinds_of(given.C, members, i, names, layout)
    ]
    worlds = [given.moved(_whole(T, members, given.sizes)) for T in drawn(block, WORLDS)]
    best = _cheapest(tries, worlds)
    if best is None:
        return None
    amounts = np.where(np.isin(np.arange(len(names)), best.kind.absent), 0.0, best.kind.amounts(given.C))
    told = best.kind
    return NextSample(
        best.component,
        names[best.component],
        told.words,
        best.closes,
        best.width,
        amounts,
        told.absent,
        told.kind,
    )


@dataclass(frozen=True, eq=False)
class _Try:
    """What a kind of sample closes of the band of a component."""

    kind: Kind
    component: int
    width: float
    closes: float


def _cheapest(tries: list[_Try], worlds: list[Given]) -> _Try | None:
    """The cheapest that is worth it in all worlds or, if none is, what closes most; None if none surely does."""
    best: _Try | None = None
    for cost in sorted({one.kind.cost for one in tries}):
        of_a_kind = [one for one in tries if one.kind.cost == cost and one.closes > 0]
        for one in sorted(of_a_kind, key=_closes)[-FOLLOWED:]:
            if best is None or one.closes > best.closes:
                kept = _kept_in(worlds, one)
                best = kept if best is None else max(best, kept, key=_closes)
        if best is not None and best.closes >= HALF:
            break
    return best if best is not None and best.closes > 0 else None


def _closes(one: _Try) -> float:
    return one.closes


def _kept_in(worlds: list[Given], one: _Try) -> _Try:
    """The same, with what it closes in all worlds, rounded down."""
    closes = [_closing(world, one.kind, one.component, one.width) for world in worlds]
    seen = [share for share in (one.closes, *closes) if not np.isnan(share)]
    least = min(seen) if len(seen) > len(worlds) / 2 else 0.0
    return replace(one, closes=float(STEP * np.floor(least / STEP)))


def _whole(T: FloatArray, members: NDArray[np.intp], sizes: FloatArray) -> FloatArray:
    """T of a group in balanced units as one of all components in their own."""
    whole = np.diag(1.0 / sizes)
    whole[np.ix_(members, members)] = T / sizes[members][:, None]
    return whole


def _closing(world: Given, kind: Kind, i: int, width: float) -> float:
    """Share of the band of component i that a sample closes if this solution is true, NaN if not seen."""
    new = _width(world.and_sample(kind.amounts(world.C), kind.absent), i)
    if np.isinf(width):
        return float(np.isfinite(new))
    return max(1.0 - new / width, 0.0)


def _total(given: Given) -> float:
    return float(np.linalg.norm(given.C @ given.S))


def _width(given: Given, i: int) -> float:
    """The width of one component's band, in shares of the signal."""
    balanced = given.balanced()
    members = next(one for one in group(balanced.directions) if i in one)
    block = balanced.block(members)
    if block.n_variables == 0:
        return 0.0
    place = int(np.flatnonzero(members == i)[0])
    plain = block.fully_free and not block.signed and block.c_min is None and not block.limits
    if len(members) == 2 and plain:
        a, b = pair_interval(block, 0), pair_interval(block, 1)
        low, high = pair_extremes(block, a, b)[place] if np.isfinite([a, b]).all() else ends_of(block, place)
    else:
        low, high = ends_of(block, place)
    return float(np.exp(high[0]) - np.exp(low[0])) / _total(given)


def _renumbered(one: NextSample, used: NDArray[np.intp], n_components: int) -> NextSample:
    """With the decomposition's own numbers."""
    amounts = np.zeros(n_components)
    amounts[used] = one.concentrations
    absent = tuple(int(used[j]) for j in one.absent)
    return NextSample(
        int(used[one.component]), one.name, one.words, one.promise, one.width, amounts, absent, one.kind
    )
