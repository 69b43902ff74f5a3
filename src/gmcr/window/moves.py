"""Moves that change the number of slots: births, deaths, removals with a refit, and merges.

A slot earns its price μ or it goes. Cost is the only test: how often a slot is used, or how much it looks like
another one, says nothing reliable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.stats import chi2

from gmcr.decoding import decode_arrays
from gmcr.validation import FloatArray
from gmcr.window.problem import Problem, State

SAME_DIRECTION = 0.8  # residuals closer than this (cosine) are taken for one missing component
HEIR_ROUNDS = 12  # refits that the heirs of a removed slot are given, at most, to take its place
HOPELESS = 0.02  # share of what is missing that a refit must win, for another one to be tried
RARE = 4  # holders up to which a slot is tried for what it took in
COMPANIONS = 3  # slots that it may have taken in
RESOLUTION = 0.02  # noise of a profile, of unit norm, when it is itself decoded over the others
WEAKEST = 6  # slots, from the cheapest up, whose removal is tried


def births(problem: Problem, state: State, alpha: float = 0.05) -> FloatArray:
    """New profiles for the samples that the pool does not explain: (new slots, channels).

    A sample is unexplained when its misfit exceeds what noise gives one of the samples with chance `alpha`.
    Unexplained samples whose residuals point the same way get one slot between them.
    """
    limit = chi2.isf(alpha / problem.n_samples, problem.n_channels)
    rows = np.flatnonzero(state.misfit > limit)
    if rows.size == 0:
        return state.S[:0]
    residual = problem.residual(rows, state.rows(rows))
    if not problem.signed:
        residual = np.maximum(residual, 0.0)
    norms = np.linalg.norm(residual, axis=1)
    residual, norms = residual[norms > 0], norms[norms > 0]
    unit = residual / norms[:, None]
    cosines = unit @ unit.T
    cosines = np.abs(cosines) if problem.signed else cosines
    waiting = np.ones(len(unit), dtype=bool)
    born = []
    for i in np.argsort(-norms):
        if waiting[i]:
            group = waiting & (cosines[i] > SAME_DIRECTION)
            group[i] = True
            waiting &= ~group
            total = (residual[group] * np.sign(unit[group] @ unit[i])[:, None]).sum(axis=0)
            born.append(total / np.linalg.norm(total))
    return np.array(born).reshape(-1, problem.n_channels)


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


def removals(problem: Problem, state: State) -> State:
    """Remove slots whose place others can take once they are refitted: splits, blends and shares."""
    return _while_cheaper(problem, state, lambda weakest: [((j,), False) for j in weakest])


def merges(problem: Problem, state: State) -> State:
    """Give up two slots for one new one: a component that never got its own slot hides in two blends."""
    return _while_cheaper(problem, state, lambda weakest: [(pair, True) for pair in combinations(weakest, 2)])


def purifications(problem: Problem, state: State) -> State:
    """Take out of rarely held slots what they hold of others.

    A component seen a few times, once much stronger than otherwise, takes in a companion of that sample: that
    saves a selection, and only the other samples tell. So each rare slot is tried without part of the slots that
    explain it best.
    """
    if problem.signed:
        return state
    holders = problem.holders(state)
    rare = np.flatnonzero((holders > 0) & (holders <= RARE))
    gram = state.S @ state.S.T
    for j in rare[rare >= problem.n_fixed].tolist():
        S, G = state.S.copy(), gram.copy()
        _put(S, G, [j], 0.0)
        price, sigma = np.array([problem.usage_price]), np.array([RESOLUTION])
        C, _, _ = decode_arrays(state.S[[j]], S, sigma, price, k_max=min(COMPANIONS, *S.shape), gram=G)
        for part in (0.4, 0.8):
            seed = np.maximum(state.S[j] - part * C[0] @ S, 0.0)
            pool = _without(problem, state, (j,), True, gram, seed / max(np.linalg.norm(seed), 1e-300))
            if pool is not None:
                state = problem.decode(pool[pool.any(axis=1)], state.sigma)
                if state.count != len(gram):
                    return state
                gram = state.S @ state.S.T
                break
    return state


Leaving = tuple[int, ...]


def _while_cheaper(
    problem: Problem, state: State, trials: Callable[[list[int]], Sequence[tuple[Leaving, bool]]]
) -> State:
    """Carry out trials on the weakest slots, from the cheapest up, as long as one of them lowers the cost."""
    while state.count > 1 + problem.n_fixed:
        rise = problem.repeats @ state.removal
        rise[: problem.n_fixed] = np.inf
        weakest = np.argsort(rise, kind="stable")[: min(WEAKEST, state.count - problem.n_fixed)].tolist()
        gram = state.S @ state.S.T
        for leaving, reseeded in trials(weakest):
            pool = _without(problem, state, leaving, reseeded, gram)
            if pool is not None:
                state = problem.decode(pool[pool.any(axis=1)], state.sigma)
                break
        else:
            return state
    return state


def _without(
    problem: Problem,
    state: State,
    leaving: Leaving,
    reseeded: bool,
    gram: FloatArray,
    seed: FloatArray | None = None,
) -> FloatArray | None:
    """The pool with some slots emptied and their heirs refitted, if that costs less; else None.

    reseeded : whether the first of the slots starts anew, from `seed` or from what their samples are left with
    """
    emptied = list(leaving)
    S, G = state.S.copy(), gram.copy()
    _put(S, G, emptied, 0.0)
    rows = np.flatnonzero(state.C[:, emptied].any(axis=1))
    if rows.size == 0:
        return S
    alone = problem.rows(rows).decode(S, state.sigma[rows], gram=G)
    heirs = np.flatnonzero(((alone.C != 0) & (state.C[rows] == 0)).any(axis=0))
    heirs = heirs[heirs >= problem.n_fixed]
    if reseeded:
        if seed is None:
            seed = _common_direction(problem.residual(rows, alone), problem.signed)
        _put(S, G, emptied[:1], seed)
        heirs = np.union1d(heirs, emptied[:1])
    rows = np.union1d(rows, np.flatnonzero((state.C[:, heirs] != 0).any(axis=1)))
    local = problem.rows(rows)
    elsewhere = problem.holders(state) - local.repeats @ (state.C[rows] != 0)

    def cost_here(C: FloatArray, misfit: FloatArray) -> float:
        return float(local.repeats @ misfit) + problem.description(elsewhere + local.repeats @ (C != 0))

    allowed = cost_here(state.C[rows], state.misfit[rows])
    gap = np.inf
    for _ in range(HEIR_ROUNDS):
        trial = local.decode(S, state.sigma[rows], gram=G)
        before, gap = gap, cost_here(trial.C, trial.misfit) - allowed
        if gap < 0:
            return S
        if heirs.size == 0 or before - gap < HOPELESS * gap:
            return None
        _put(S, G, heirs, _refit(local, trial, heirs))
    return None


def _put(S: FloatArray, G: FloatArray, slots: list[int] | np.ndarray, profiles: FloatArray | float) -> None:
    """Set some profiles, in place, and the Gram matrix with them; an empty profile gets a pivot of one."""
    S[slots] = profiles
    G[slots] = S[slots] @ S.T
    G[:, slots] = G[slots].T
    empty = np.flatnonzero(~S.any(axis=1))
    G[empty, empty] = 1.0


def _common_direction(residual: FloatArray, signed: bool) -> FloatArray:
    """The unit profile that residuals share: a few power iterations, non-negative unless signed."""
    profile = residual[np.argmax(np.einsum("ml,ml->m", residual, residual))]
    for _ in range(5):
        profile = profile if signed else np.maximum(profile, 0.0)
        amounts = residual @ profile
        profile = (amounts if signed else np.maximum(amounts, 0.0)) @ residual
    profile = profile if signed else np.maximum(profile, 0.0)
    size = np.linalg.norm(profile)
    return profile / size if size > 0 else profile


def _refit(problem: Problem, state: State, free: np.ndarray) -> FloatArray:
    """The profiles of the slots `free`, refitted to these samples with all others fixed."""
    others = np.setdiff1d(np.arange(state.count), free)
    order = np.concatenate([others, free])
    reordered = replace(state, S=state.S[order], C=state.C[:, order])
    S = replace(problem, n_fixed=len(others)).refit(reordered)[0]
    return S[len(others) :]
