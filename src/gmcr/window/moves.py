"""Moves that change the number of slots: births, deaths, and deaths with a refit of the heirs.

A slot earns its price μ or it goes. Cost is the only test: how often a slot is used, or how much it looks like
another one, says nothing reliable.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import chi2

from gmcr.validation import FloatArray
from gmcr.window.problem import Problem, State

SAME_DIRECTION = 0.8  # residuals closer than this (cosine) are taken for one missing component
HEIR_ROUNDS = 4  # refits that the heirs of a removed slot are given to take its place
PATIENCE = 6  # failed removals in a row, from the cheapest up, after which the rest are not tried


def births(problem: Problem, state: State, alpha: float = 0.05) -> FloatArray:
    """New profiles for the samples that the pool does not explain: (new slots, channels).

    A sample is unexplained when its misfit exceeds what noise gives one of the samples with chance `alpha`.
    Unexplained samples whose residuals point the same way get one slot between them.
    """
    limit = chi2.isf(alpha / problem.n_samples, problem.n_channels)
    rows = np.flatnonzero(state.misfit > limit)
    if rows.size == 0:
        return state.S[:0]
    sigma = state.sigma[rows]
    residual = problem.X[rows] - state.C[rows] @ state.S
    if problem.has_missing:
        residual[np.isnan(problem.D[rows])] = 0.0
    residual /= sigma[:, None] if sigma.ndim == 1 else np.sqrt((sigma**2).mean(axis=1))[:, None]
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
    """Remove slots whose place others can take once they are refitted: splits, blends and shares.

    Tried from the cheapest up; the first few failures end the search.
    """
    gram = state.S @ state.S.T
    while state.count > 1:
        rise = problem.repeats @ state.removal
        rise[: problem.n_fixed] = np.inf
        order = np.argsort(rise, kind="stable")[: min(PATIENCE, state.count - problem.n_fixed)]
        for j in order:
            without = _without(problem, state, int(j), gram)
            if without is not None:
                keep = np.arange(state.count) != j
                state = problem.decode(without[keep], state.sigma)
                gram = state.S @ state.S.T
                break
        else:
            return state
    return state


def _without(problem: Problem, state: State, j: int, gram: FloatArray) -> FloatArray | None:
    """The pool with slot j emptied and its heirs refitted, if that costs less than a slot; else None."""
    S, G = state.S.copy(), gram.copy()
    S[j] = 0.0
    G[j], G[:, j], G[j, j] = 0.0, 0.0, 1.0
    rows = np.flatnonzero(state.C[:, j])
    if rows.size == 0:
        return S
    alone = problem.rows(rows).decode(S, state.sigma[rows], gram=G)
    heirs = np.flatnonzero(((alone.C != 0) & (state.C[rows] == 0)).any(axis=0))
    heirs = heirs[heirs >= problem.n_fixed]
    rows = np.union1d(rows, np.flatnonzero((state.C[:, heirs] != 0).any(axis=1)))
    local = problem.rows(rows)
    elsewhere = problem.holders(state) - local.repeats @ (state.C[rows] != 0)

    def cost_here(C: FloatArray, misfit: FloatArray) -> float:
        return float(local.repeats @ misfit) + problem.description(elsewhere + local.repeats @ (C != 0))

    allowed = cost_here(state.C[rows], state.misfit[rows])
    for _ in range(HEIR_ROUNDS + 1):
        trial = local.decode(S, state.sigma[rows], gram=G)
        if cost_here(trial.C, trial.misfit) < allowed:
            return S
        if heirs.size == 0:
            return None
        S[heirs] = _refit(local, trial, heirs)
        G[heirs] = S[heirs] @ S.T
        G[:, heirs] = G[heirs].T
        G[j, j] = 1.0
    return None


def _refit(problem: Problem, state: State, free: np.ndarray) -> FloatArray:
    """The profiles of the slots `free`, refitted to these samples with all others fixed."""
    others = np.setdiff1d(np.arange(state.count), free)
    order = np.concatenate([others, free])
    reordered = replace(state, S=state.S[order], C=state.C[:, order])
    S = replace(problem, n_fixed=len(others)).refit(reordered)[0]
    return S[len(others) :]
