"""Moves between pools: births, deaths, removals with a refit, and merges.

A slot earns its price μ or it goes. Cost is the only test: how often a slot is used, or how much it looks like
another one, only says which slots to try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

import numpy as np
from scipy.stats import chi2

from gmcr.validation import FloatArray
from gmcr.window.problem import Problem, State
from gmcr.window.remembering import remembered
from gmcr.window.trial import Draft, Trial

SAME_DIRECTION = 0.8  # residuals closer than this (cosine) are taken for one missing component
WEAKEST = 6  # slots, from the cheapest up, whose removal is tried


def births(problem: Problem, state: State, most: int, alpha: float = 0.05) -> FloatArray:
    """At most so many new profiles for the samples that the pool does not explain: (new slots, channels).

    A sample is unexplained when its misfit exceeds what noise gives one of the samples with chance `alpha`.
    Unexplained samples whose residuals point the same way get one slot between them.
    """
    limit = chi2.isf(alpha / problem.n_samples, problem.n_channels)
    rows = np.flatnonzero(state.misfit > limit)
    if rows.size == 0:
        return state.S[:0]
    residual = problem.residual(rows, state.rows(rows))
    if not problem.constraints.signed:
        residual = np.maximum(residual, 0.0)
    norms = np.linalg.norm(residual, axis=1)
    residual, norms = residual[norms > 0], norms[norms > 0]
    unit = residual / norms[:, None]
    waiting = np.ones(len(unit), dtype=bool)
    born: list[FloatArray] = []
    for i in np.argsort(-norms):
        if len(born) >= most:
            break
        if waiting[i]:
            # One row of cosines at a time: all pairs of the samples of an image would not fit in memory.
            cosines = unit @ unit[i]
            group = waiting & (
                (np.abs(cosines) if problem.constraints.signed_amounts else cosines) > SAME_DIRECTION
            )
            group[i] = True
            waiting &= ~group
            total = (residual[group] * np.sign(unit[group] @ unit[i])[:, None]).sum(axis=0)
            born.append(total / np.linalg.norm(total))
    return np.array(born).reshape(-1, problem.n_channels)


@remembered
def deaths(problem: Problem, state: State) -> State:
    """Remove slots whose samples do as well without them, the price μ considered.

    Slots removed at the same time share no sample and are not each other's likely heirs, so that each removal
    costs what it was tested for.
    """
    while True:
        rise = problem.repeats @ state.removal
        doomed = np.flatnonzero(rise < np.maximum(problem.slot_prices(problem.holders(state)), 1e-9))
        doomed = doomed[doomed >= problem.n_fixed]
        if doomed.size == 0 or state.count <= 1:
            return state
        held = state.C != 0
        gram = state.S @ state.S.T
        touched = np.zeros(problem.n_samples, dtype=bool)
        spared = np.zeros(state.count, dtype=bool)
        keep = np.ones(state.count, dtype=bool)
        for j in doomed[np.argsort(rise[doomed], kind="stable")]:
            if spared[j] or touched[held[:, j]].any() or keep.sum() == 1:
                continue
            keep[j] = False
            touched |= held[:, j]
            spared[np.argsort(-gram[j])[:3]] = True
        state = problem.decode(state.S[keep], state.sigma)


@remembered
def removals(problem: Problem, state: State) -> State:
    """Remove slots whose place others can take once they are refitted: splits, blends and shares.

    Tried are the weakest slots; and, however much they explain, those made for one sample and those most like
    another slot.
    """

    def singles(draft: Draft, weakest: list[int]) -> Iterator[Trial]:
        for j in dict.fromkeys([*weakest, *draft.held_once(problem), *draft.alike(problem)]):
            yield (j,), None

    return _while_cheaper(problem, state, singles)


@remembered
def merges(problem: Problem, state: State) -> State:
    """Give up two slots for one new one: a component that never got its own slot hides in two blends.

    Beside pairs of weak slots, a slot made for one sample is added to each of its companions there: it may be
    what one of them lacks.
    """

    def pairs(draft: Draft, weakest: list[int]) -> Iterator[Trial]:
        for pair in combinations(weakest, 2):
            yield pair, "common"
        S, C = draft.state.S, draft.state.C
        for j, m in draft.held_once(problem).items():
            here = np.flatnonzero(C[m])
            for i in here[(here >= problem.n_fixed) & (here != j)].tolist():
                total = C[m, [i, j]] @ S[[i, j]]
                yield (i, j), total / np.linalg.norm(total)

    return _while_cheaper(problem, state, pairs)


@remembered
def unblended(problem: Problem, state: State) -> State:
    """Remove weak slots whose place their companions take once these are refitted, too.

    Two components may hide in three slots, one of them a blend that nearly all of their samples hold: no heir
    takes the place of either remainder while the blend stands still.
    """

    def singles(draft: Draft, weakest: list[int]) -> Iterator[Trial]:
        for j in weakest:
            yield (j,), None

    return _while_cheaper(problem, state, singles, companions=True)


def _while_cheaper(
    problem: Problem,
    state: State,
    trials: Callable[[Draft, list[int]], Iterable[Trial]],
    companions: bool = False,
) -> State:
    """Carry out trials on the weakest slots, from the cheapest up, as long as one of them lowers the cost."""
    draft = Draft.of(state)
    while True:
        free = draft.occupied()[problem.n_fixed :]
        if len(free) < 2:
            break
        rise = problem.repeats @ draft.state.removal
        weakest = free[np.argsort(rise[free], kind="stable")[:WEAKEST]].tolist()
        if not any(
            draft.replace(problem, leaving, seed, companions) for leaving, seed in trials(draft, weakest)
        ):
            break
    return draft.finished(problem, state)
