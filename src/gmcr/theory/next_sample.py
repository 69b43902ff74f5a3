"""What to measure next: the cheapest sample that would close a band, and by how much.

Two samples isolate a component when it is all they have in common (C6), and a sample with one component and
without another keeps the one out of the other's concentrations: then fewer transformations fit. What a sample
would close depends on what is true, which the band leaves open. So it is tried in solutions spread over all that
fit, and at the ends of all bands: each is taken for the truth, the sample is added, and the band is looked for
again. What is promised is kept in all of them, and leaves room for as much as noise moves the ends of a band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints import Layout
from gmcr.decomposition import Decomposition
from gmcr.theory.balancing import Given, checked_solution
from gmcr.theory.draws import drawn
from gmcr.theory.extremes import End, Problem, ends_of, error_of, extremes
from gmcr.theory.further_samples import Kind, kinds_of
from gmcr.theory.transformations import group
from gmcr.validation import FloatArray

WORLDS = 12  # solutions that are taken for the truth, beside those at the ends of bands
STEP = 0.05  # promises are rounded down to such shares
HALF = 0.5  # share of a band that is worth a sample
FOLLOWED = 2  # kinds of one cost that are tried in all worlds
MAX_VARIABLES = 20  # free coefficients of T that can be followed


@dataclass(frozen=True, eq=False)
class NextSample:
    """A sample that would close a component's band, or two where no single one closes half of it.

    Attributes
    ----------
    component, name : whose band
    words : what to measure
    promise : share of the band's width that it closes, at least
    width : of the band now, in shares of the signal
    concentrations : (further samples, components) what they would hold if the solution were true
    absent : for each of them, the components that it must be without
    kind : "time", "diluted", "without", "alone", or "alone and without", which are two
    """

    component: int
    name: str
    words: str
    promise: float
    width: float
    concentrations: FloatArray
    absent: tuple[tuple[int, ...], ...]
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
        absent = [list(one) for one in self.absent]
        return plain | {"concentrations": self.concentrations.tolist(), "absent": absent}


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
            one = _for_group(given, members, own, layout)
            found += [] if one is None else [_renumbered(one, used, decomposition.n_components)]
    return tuple(found)


def _for_group(
    given: Given, members: NDArray[np.intp], names: list[str], layout: Layout
) -> NextSample | None:
    """The sample for components that trade with each other, numbered as in `given`."""
    block = given.balanced().block(members)
    ends = extremes(block)
    widths = _widths(given, ends)
    widest = float(np.nanmax(widths, initial=0.0))
    noise = 2 * given.z * np.array([error_of(block, place) for place in range(len(members))]) / _total(given)
    if not widest > noise.max():
        return None
    at_ends = [T for pair in ends for _, T in pair if T is not None]
    moves = [*at_ends, *drawn(block, WORLDS)]
    worlds = [given.moved(_whole(T, members, given.sizes)).clipped() for T in moves]
    before = np.zeros(len(names))
    before[members] = widths
    bands = [
        _Open(int(i), float(width), float(moves / width) if np.isfinite(width) else 0.0)
        for i, width, moves in zip(members, widths, noise)
        if width >= HALF * widest
    ]
    best = _cheapest([given, *worlds], list(kinds_of(given.C, members, names, layout)), bands)
    if best is None:
        return None
    told, i = best.kind, best.band.component
    amounts = np.stack([one.of(given.C) for one in told.samples])
    absent = tuple(one.absent for one in told.samples)
    return NextSample(i, names[i], told.words, best.closes, best.band.width, amounts, absent, told.kind)


@dataclass(frozen=True, eq=False)
class _Open:
    """The band of a component, its width, and the share of that by which noise moves its ends."""

    component: int
    width: float
    noise: float

    def promised(self, closes: float) -> float:
        """What may be promised where so much closes."""
        return max(float(STEP * np.floor((closes - self.noise) / STEP)), 0.0)


@dataclass(frozen=True, eq=False)
class _Try:
    """What a kind of sample closes of a band."""

    kind: Kind
    band: _Open
    closes: float


def _cheapest(worlds: list[Given], kinds: list[Kind], bands: list[_Open]) -> _Try | None:
    """The cheapest that is worth it in all worlds or, if none is, what closes most; None if none surely does.

    worlds : solutions, the one that was found first;  bands : those that may be named
    """
    best, dear = _Try(kinds[-1], bands[0], 0.0), list[_Try]()
    for cost in sorted({kind.cost for kind in kinds}):
        own = [
            _Try(kind, band, _closing(worlds[0], kind, band))
            for kind in kinds
            if kind.cost == cost
            for band in bands
        ]
        tries = sorted((one for one in own if one.closes > 0), key=_closes, reverse=True)[:FOLLOWED]
        dear += [one for one in tries if one.closes < HALF]
        best = _best([one for one in tries if one.closes >= HALF], worlds, best)
        if best.closes >= HALF:
            return best
    best = _best(sorted(dear, key=_closes, reverse=True), worlds, best)
    return best if best.closes > 0 else None


def _closes(one: _Try) -> float:
    return one.closes


def _best(tries: Sequence[_Try], worlds: list[Given], best: _Try) -> _Try:
    """The one of these, or `best`, of which most can be promised: what it closes in all worlds, less noise."""
    for one in tries:
        least, seen = one.closes, 1
        for world in worlds[1:]:
            if one.band.promised(least) <= best.closes:
                break
            closes = _closing(world, one.kind, one.band)
            least, seen = float(np.fmin(least, closes)), seen + int(not np.isnan(closes))
        promise = one.band.promised(least)
        # Of a search that mostly fails nothing is known.
        if promise > best.closes and 2 * seen > len(worlds):
            best = replace(one, closes=promise)
    return best


def _whole(T: FloatArray, members: NDArray[np.intp], sizes: FloatArray) -> FloatArray:
    """T of a group in balanced units as one of all components in their own."""
    whole = np.diag(1.0 / sizes)
    whole[np.ix_(members, members)] = T / sizes[members][:, None]
    return whole


def _closing(world: Given, kind: Kind, band: _Open) -> float:
    """Share of a band that the samples close if this solution is true, NaN if not seen."""
    C, i = world.C, band.component
    for one in kind.samples:
        world = world.and_sample(one.of(C), one.absent)
    balanced = world.balanced()
    members = next(one for one in group(balanced.directions) if i in one)
    block, place = balanced.block(members), int(np.flatnonzero(members == i)[0])
    if len(members) == 1:
        after = 0.0
    elif not Problem(block).is_feasible(np.zeros(block.n_variables)):
        return np.nan
    else:
        after = float(_widths(world, [ends_of(block, place)])[0])
    return (
        float(np.isfinite(after))
        if np.isinf(band.width)
        else float(np.maximum(1.0 - after / band.width, 0.0))
    )


def _total(given: Given) -> float:
    C = given.C if given.counted is None else given.C[given.counted]
    return float(np.linalg.norm(C @ given.S))


def _widths(given: Given, ends: Sequence[tuple[End, End]]) -> FloatArray:
    """Widths of bands between such ends, in shares of the signal; NaN where not seen."""
    low, high = (np.exp([pair[k][0] for pair in ends]) for k in range(2))
    return np.asarray((high - low) / _total(given))


def _renumbered(one: NextSample, used: NDArray[np.intp], n_components: int) -> NextSample:
    """With the decomposition's own numbers."""
    amounts = np.zeros((len(one.concentrations), n_components))
    amounts[:, used] = one.concentrations
    absent = tuple(tuple(int(used[j]) for j in own) for own in one.absent)
    return replace(one, component=int(used[one.component]), concentrations=amounts, absent=absent)
