"""A fit of more samples than are searched: what was found among some of them, carried to all by a few passes.

The search sees samples that were drawn. A pass over all then says what a refit of the pool needs, as sums, and
which samples the pool does not explain; those join the drawn ones, and the search is done again, for as long as
it finds more components. At last the pool is refitted until it stands still. For that few passes are enough: how
sums change with the pool, the samples that were searched tell about as well as all of them, so that between two
passes only the change is taken from them,

    sums of all at S  ≈  sums of all at S₀  +  (sums of some at S − sums of some at S₀) · samples each stands for,

which is exact where S comes back to S₀: a control variate, as in SVRG for gradients (Johnson & Zhang 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gmcr.constraints import Constraints
from gmcr.preprocessing import Chain
from gmcr.validation import FloatArray
from gmcr.window.descent import Row
from gmcr.window.drawing import Drawn
from gmcr.window.evidence import with_rare
from gmcr.window.first_guess import guesses
from gmcr.window.frozen_pool import FrozenPool
from gmcr.window.pool_update import Sums, update_from_sums
from gmcr.window.problem import prices_of_slots, written_down
from gmcr.window.regime import ENOUGH_SAMPLES
from gmcr.window.remembering import remember
from gmcr.window.solver import ENOUGH_PER_SLOT, Solution
from gmcr.window.tallies import Asked, Block, Grid, Look, ManyRows, Tally, looked_at, tallied

WHOLE = 5_000_000  # entries of lazy samples that are loaded and solved whole; of more, so many are drawn
FEWEST = 2048  # samples that are drawn in any case
SEARCHED = 8  # times the samples that a search needs are searched: then they tell supports and noise, too
MOST_SEARCHES = 3
MOST_ROUNDS = 3  # passes after which a pool is taken as it is
MOST_STEPS = 40  # of a refit between two passes
RARE = 0.01  # share of the samples
STILL = 0.1  # of the profiles' standard errors: what moves by less stands still
STEADY = 0.1  # of that, between two passes


@dataclass(frozen=True)
class Searches:
    """What finds a solution for some samples.

    first : for those that were drawn
    more : from a solution, for its samples and others that it leaves unexplained, with what slots these need
    """

    first: Callable[[Drawn], Solution]
    more: Callable[[Solution, Drawn], Solution]


def is_small(n_entries: int) -> bool:
    """Whether a table of so many entries is solved whole."""
    return n_entries <= WHOLE


@dataclass(frozen=True, eq=False)
class Passed:
    """What passes over all samples made of a solution.

    solution : with the pool, the price and the path as they are for all;  searched : the samples that were
    tally : of the last pass;  n_passes : all of them
    """

    solution: Solution
    searched: Drawn
    tally: Tally
    n_passes: int


def look(rows: ManyRows, n_channels: int, grid: Grid | None = None, known_as: str = "") -> Look:
    """The first pass, which draws the samples that are searched.

    grid : of those that are shown;  known_as : what tells this table from another before it is looked at
    """
    share = max(WHOLE // n_channels, FEWEST) / rows.n_rows
    task = partial(looked_at, share=share, grid=grid)
    if not known_as:
        return rows.over("looking", task)
    return remember(lambda: rows.over("looking", task), "look", known_as, share, grid)


def enough_of(drawn: Drawn, samples: FloatArray) -> Drawn:
    """As many of the drawn as a search needs several times; samples : they, after the steps."""
    count = guesses(samples)[0].count
    return drawn[: SEARCHED * max(ENOUGH_SAMPLES, ENOUGH_PER_SLOT * count)]


def passed(
    rows: ManyRows, seen: Look, drawn: Drawn, chain: Chain, constraints: Constraints, searches: Searches
) -> Passed:
    """The fit of all samples."""
    course, own = _Course(rows, seen, chain, constraints, len(drawn)), Own(((drawn, float(seen.n_held)),))
    found = searches.first(own.samples)
    asked, told = course.first(found, own)
    try:
        for _ in range(MOST_SEARCHES - 1):
            if found.interrupted or not _may_hold_more(found, told, own, seen.n_held):
                break
            joined = own.joined_by(told.strangers, told.n_strange)
            more = searches.more(found, joined.samples)
            n_rare = more.state.count - found.state.count
            if n_rare <= 0:
                break
            own, found = joined, replace(more, evidence=with_rare(found.evidence, n_rare))
            asked, told = course.first(found, own)
        if found.refit.settles and not found.interrupted:
            asked, told = course.settled(asked, told, own)
        elif not found.interrupted:
            asked = asked.at(_refitted(asked.frozen.S, told.sums, constraints))
        return course.finished(found, asked, told, own)
    except KeyboardInterrupt:
        found = replace(found, interrupted=True)
        return course.finished(found, asked, told, own)


def _may_hold_more(found: Solution, told: Tally, own: Own, n_held: int) -> bool:
    """Whether samples that are not explained, others than those searched, are looked at for rare components.

    Many of them, where samples hold most components, tell of misfit more than of components; so do any where
    noise is not white.
    """
    evidence = found.evidence
    rare = found.refit.settles or told.n_strange <= RARE * n_held
    new = len(told.strangers.without(own.samples)) > 0
    return new and rare and evidence.white_rank and evidence.decided_by != "you"


@dataclass(frozen=True, eq=False)
class Own:
    """The samples that are searched, in parts; parts : the samples of each, and how many of all it stands for."""

    parts: tuple[tuple[Drawn, float], ...]

    @property
    def samples(self) -> Drawn:
        first, *others = (part for part, _ in self.parts)
        return sum(others, first)

    def joined_by(self, strangers: Drawn, n_strange: int) -> Own:
        """The same and samples that are not explained, which stand for so many like them."""
        (drawn, n), *others = self.parts
        before = [(part.without(strangers), stands_for) for part, stands_for in others]
        first = drawn.without(strangers), max(n - n_strange, 1.0)
        return Own((first, *(one for one in before if len(one[0])), (strangers, float(n_strange))))

    def tally(self, asked: Asked) -> Tally:
        """What these samples tell, each as many times as it stands for."""
        parts = []
        for part, n in self.parts:
            told = tallied(Block(part.rows, part.places, len(part)), asked)
            parts.append(told * (n / max(len(part), 1)))
        return sum(parts[1:], parts[0])


@dataclass(eq=False)
class _Course:
    """The passes of a fit; n_drawn : samples of the first search;  n_passes : those made so far."""

    rows: ManyRows
    seen: Look
    chain: Chain
    constraints: Constraints
    n_drawn: int
    n_passes: int = 1

    def price(self, found: Solution) -> float:
        """The price of a selection among all samples, from that among those drawn (Theorem 1)."""
        return found.usage_price + 2.0 * float(np.log(self.seen.n_held / self.n_drawn))

    def first(self, found: Solution, own: Own) -> tuple[Asked, Tally]:
        """The pool of a solution, as a refit needs it, and what all samples tell of it."""
        price, refit = self.price(found), found.refit
        price = price if refit.price == found.usage_price else refit.price
        law = found.law if refit.law is None else refit.law
        frozen = self._frozen(found, own, price)
        asked = Asked(frozen, self.chain, law, refit.law is not None, self.seen.n_held)
        return asked, own.tally(asked) if found.interrupted else self.over("comparing", asked)

    def over(self, what: str, asked: Asked) -> Tally:
        self.n_passes += 1
        task = partial(tallied, asked=asked)
        return remember(lambda: self.rows.over(what, task), "pass", self.seen.fingerprint, asked)

    def settled(self, asked: Asked, told: Tally, own: Own) -> tuple[Asked, Tally]:
        """The pool refitted until it stands still, and what all samples tell of it."""
        far = True  # whether the samples that were searched tell how sums change
        for _ in range(MOST_ROUNDS):
            S = (
                self._steady(asked, told, own)
                if far
                else _refitted(asked.frozen.S, told.sums, self.constraints)
            )
            if _moved(S, asked, told) < STILL:
                break
            then = asked.at(S)
            new = self.over("refitting", then)
            if new.criterion(asked.frozen.price) <= told.criterion(asked.frozen.price):
                asked, told = then, new
            elif not far:
                break
            else:
                far = False
        return asked, told

    def finished(self, found: Solution, asked: Asked, told: Tally, own: Own) -> Passed:
        """The solution with the pool as it is now, at the price and by the law that samples are decoded with."""
        price, S = self.price(found), asked.frozen.S
        last = Asked(replace(asked.frozen, price=price), self.chain, found.law, True, self.seen.n_held)
        if found.interrupted:
            told = own.tally(last)
        elif (asked.frozen.price, asked.law, asked.weighed) != (price, found.law, True):
            told = self.over("decoding", last)
        noise = float(np.sqrt(told.squares / max(told.variation.present.sum(), 1.0)))
        row = Row("all samples", noise, len(S), told.r2, told.usage, _cost(told, price))
        return Passed(
            replace(
                found,
                state=replace(found.state, S=S),
                path=[*found.path, row],
                chosen=len(found.path),
                usage_price=price,
            ),
            own.samples,
            told,
            self.n_passes,
        )

    def _frozen(self, found: Solution, own: Own, price: float) -> FrozenPool:
        """The pool of a solution, with the errors that it has from the samples that were searched."""
        S = found.state.S
        bare = FrozenPool(S, np.zeros((len(S), len(S))), price, self.constraints, found.correlation)
        out = bare.decode_plain(self.chain.apply(own.samples.rows), found.law)
        return bare.with_errors_of(out.concentrations, out.noise)

    def _steady(self, asked: Asked, told: Tally, own: Own) -> FloatArray:
        """The pool at which refits would stand still, if all samples change as those that were searched do."""
        there, S = own.tally(asked).sums, asked.frozen.S
        least = 0.5 * np.diagonal(told.sums.gram)
        for _ in range(MOST_STEPS):
            sums = told.sums + own.tally(asked.at(S)).sums + there * -1.0
            if (np.diagonal(sums.gram) < least).any():  # too few of them hold a slot to tell that
                return _refitted(asked.frozen.S, told.sums, self.constraints)
            new = _refitted(S, sums, self.constraints)
            moved, S = _moved(new, asked.at(S), told), new
            if moved < STEADY * STILL:
                break
        return S


def _refitted(S: FloatArray, sums: Sums, constraints: Constraints) -> FloatArray:
    """The pool refitted to sums; those known beforehand stay, and those that nobody holds."""
    free = np.arange(constraints.n_fixed, len(S))
    new, sizes = update_from_sums(S, sums, free=free, signed=constraints.signed)
    return constraints.on_pool(new, sizes, free)[0]


def _moved(S: FloatArray, asked: Asked, told: Tally) -> float:
    """How far the profile that moved most did, in units of its standard error."""
    variance = np.diagonal(np.linalg.pinv(told.response, hermitian=True))
    apart = np.linalg.norm(S - asked.frozen.S, axis=1)
    error = np.sqrt(np.maximum(variance, np.finfo(float).tiny) * S.shape[1])
    return float((apart / error).max())


def _cost(told: Tally, price: float) -> float:
    """−2 log-likelihood, as the cost of a state is."""
    n, d = float(told.n_samples), len(told.variation.mean)
    slots = prices_of_slots(told.holders, n, d, price).sum()
    return told.misfit + written_down(told.holders, n, d) + float(slots)
