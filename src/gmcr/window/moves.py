"""Moves between pools: births, deaths, removals with a refit, merges, and slots rebuilt from pairs of samples.

A slot earns its price μ or it goes. Cost is the only test: how often a slot is used, or how much it looks like
another one, only says which slots to try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.stats import chi2

from gmcr.decoding import decode_arrays
from gmcr.noise import root_mean_square
from gmcr.validation import FloatArray
from gmcr.window.problem import Problem, State

SAME_DIRECTION = 0.8  # residuals closer than this (cosine) are taken for one missing component
HEIR_ROUNDS = 12  # refits that the heirs of a removed slot are given, at most, to take its place
HOPELESS = 0.02  # share of what is missing that a refit must win, for another one to be tried
RARE = 8  # holders up to which a slot is rebuilt from pairs of its samples
PAIRS = 2  # pairs that are tried: the strongest sample with the next ones
ALIKE = 3  # pairs of slots, from the most alike down, of which one's removal is tried
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
    """Remove slots whose place others can take once they are refitted: splits, blends and shares.

    Tried are the weakest slots; and, however much they explain, those made for one sample and those most like
    another slot.
    """

    def singles(draft: Draft, weakest: list[int]) -> Iterator[Trial]:
        for j in dict.fromkeys([*weakest, *draft.held_once(problem), *draft.alike(problem)]):
            yield (j,), None

    return _while_cheaper(problem, state, singles)


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


def isolations(problem: Problem, state: State) -> State:
    """Rebuild rarely held slots, each from a pair of its samples.

    A component seen a few times, once much stronger than otherwise, takes in a companion of that sample, or
    leaves part of itself to others; then neither supports nor profile can move without the other. Two samples
    that share it tell it apart whatever the slot looks like now: with r the ratio of its amounts, x_a − r x_b
    holds the companions of x_a with positive and those of x_b with negative sign (the paper's isolating pairs).
    """
    if problem.signed:
        return state
    holders = problem.holders(state)
    rare = np.flatnonzero((holders >= 2) & (holders <= RARE))
    draft = Draft.of(state)
    for j in rare[rare >= problem.n_fixed].tolist():
        any(draft.replace(problem, (j,), seed) for seed in _isolated(problem, draft, j))
    return draft.finished(problem, state)


def _isolated(problem: Problem, draft: Draft, j: int) -> Iterator[FloatArray]:
    """Profiles for slot j from pairs of its samples, those that change what its samples hold."""
    state = draft.state
    rows = np.flatnonzero(state.C[:, j])
    sigma = state.sigma[rows] if state.sigma.ndim == 1 else root_mean_square(state.sigma[rows])
    order = np.argsort(-state.C[rows, j] / sigma, kind="stable")
    rows, sigma = rows[order], sigma[order]
    X, held = problem.X[rows], state.C[rows] != 0
    if problem.has_missing:
        X = np.where(np.isnan(problem.D[rows]), state.C[rows] @ state.S, X)
    price = np.array([problem.usage_price])
    S, G = state.S.copy(), draft.gram.copy()
    for b in range(1, min(len(rows), PAIRS + 1)):
        _put(S, G, [j], X[b] / np.linalg.norm(X[b]))
        # What the slot took in makes its amount in the first sample too large, but not larger than the sample.
        sizes = np.linalg.norm(X[0]) / np.linalg.norm(X[b])
        ratio = min(state.C[rows[0], j] / state.C[rows[b], j], sizes)
        noise = np.array([np.hypot(sigma[0], ratio * sigma[b])])
        start = held[:1] | held[b : b + 1]  # both samples hold j, so that the second is in it, as j
        shares = decode_arrays(X[:1], S, noise, price, signed=True, start=start, gram=G)[0][0]
        shared, shares[j] = shares[j], 0.0
        seed = np.maximum(X[0] - np.maximum(shares, 0.0) @ S, 0.0)
        if shared <= 0 or not seed.any():
            continue
        seed /= np.linalg.norm(seed)
        _put(S, G, [j], seed)
        trial = problem.rows(rows).decode(S, state.sigma[rows], gram=G)
        if not np.array_equal(trial.C != 0, held):
            yield seed


Leaving = tuple[int, ...]
Seed = FloatArray | Literal["common"] | None
Trial = tuple[Leaving, Seed]


def _while_cheaper(
    problem: Problem, state: State, trials: Callable[[Draft, list[int]], Iterable[Trial]]
) -> State:
    """Carry out trials on the weakest slots, from the cheapest up, as long as one of them lowers the cost."""
    draft = Draft.of(state)
    while True:
        free = draft.occupied()[problem.n_fixed :]
        if len(free) < 2:
            break
        rise = problem.repeats @ draft.state.removal
        weakest = free[np.argsort(rise[free], kind="stable")[:WEAKEST]].tolist()
        if not any(draft.replace(problem, leaving, seed) for leaving, seed in trials(draft, weakest)):
            break
    return draft.finished(problem, state)


@dataclass
class Draft:
    """A state that trials change in place: only the samples concerned are decoded anew, and slots that have
    been given up stay as profiles of zeros until it is finished."""

    state: State
    gram: FloatArray
    changed: bool = False

    @classmethod
    def of(cls, state: State) -> Draft:
        own = replace(
            state,
            S=state.S.copy(),
            C=state.C.copy(),
            misfit=state.misfit.copy(),
            removal=state.removal.copy(),
        )
        return cls(own, state.S @ state.S.T)

    def occupied(self) -> np.ndarray:
        return np.flatnonzero(self.state.S.any(axis=1))

    def held_once(self, problem: Problem) -> dict[int, int]:
        """Slots that a single sample holds, and which sample that is."""
        slots = np.flatnonzero(np.count_nonzero(self.state.C, axis=0) == 1)
        return {int(j): int(np.argmax(self.state.C[:, j] != 0)) for j in slots if j >= problem.n_fixed}

    def alike(self, problem: Problem) -> list[int]:
        """Of the pairs of slots most like each other, the less held one of each."""
        cosines = np.triu(np.abs(self.gram), 1)
        order = np.argpartition(-cosines, min(ALIKE, cosines.size - 1), axis=None)[:ALIKE]
        holders = problem.holders(self.state)
        pairs = zip(*np.unravel_index(order, cosines.shape))
        less_held = [min(pair, key=lambda j: holders[j]) for pair in pairs]
        return [int(j) for j in less_held if j >= problem.n_fixed and holders[j] > 0]

    def finished(self, problem: Problem, before: State) -> State:
        """All samples decoded over the slots that are left; `before` itself if nothing has changed."""
        return problem.decode(self.state.S[self.occupied()], self.state.sigma) if self.changed else before

    def replace(self, problem: Problem, leaving: Leaving, seed: Seed = None) -> bool:
        """Empty some slots and refit their heirs, if that costs less; whether it did.

        seed : profile from which the first of the slots starts anew, or "common" for what their samples are
            left with in common
        """
        state = self.state
        emptied = list(leaving)
        S, G = state.S.copy(), self.gram.copy()
        _put(S, G, emptied, 0.0)
        rows = np.flatnonzero(state.C[:, emptied].any(axis=1))
        alone = problem.rows(rows).decode(S, state.sigma[rows], gram=G)
        heirs = np.flatnonzero(((alone.C != 0) & (state.C[rows] == 0)).any(axis=0))
        heirs = heirs[heirs >= problem.n_fixed]
        if seed is not None:
            if isinstance(seed, str):
                seed = _common_direction(problem.residual(rows, alone), problem.signed)
            _put(S, G, emptied[:1], seed)
            heirs = np.union1d(heirs, emptied[:1])
        rows = np.union1d(rows, np.flatnonzero((state.C[:, heirs] != 0).any(axis=1)))
        local = problem.rows(rows)
        elsewhere = problem.holders(state) - local.holders(state.rows(rows))

        def cost_here(part: State) -> float:
            return float(local.repeats @ part.misfit) + problem.description(elsewhere + local.holders(part))

        allowed = cost_here(state.rows(rows))
        gap = np.inf
        for _ in range(HEIR_ROUNDS):
            trial = local.decode(S, state.sigma[rows], gram=G)
            before, gap = gap, cost_here(trial) - allowed
            if gap < 0:
                self._accept(rows, trial, G)
                return True
            if heirs.size == 0 or before - gap < HOPELESS * gap:
                return False
            _put(S, G, heirs, _refit(local, trial, heirs))
        return False

    def _accept(self, rows: np.ndarray, trial: State, gram: FloatArray) -> None:
        state = self.state
        state.C[rows], state.misfit[rows], state.removal[rows] = trial.C, trial.misfit, trial.removal
        state.S[:] = trial.S
        self.gram, self.changed = gram, True


def _put(S: FloatArray, G: FloatArray, slots: list[int] | np.ndarray, profiles: FloatArray | float) -> None:
    """Set some profiles, in place, and the Gram matrix with them; an empty profile gets a pivot of one."""
    S[slots] = profiles
    G[slots] = S[slots] @ S.T
    G[:, slots] = G[slots].T
    empty = np.asarray(slots)[~S[slots].any(axis=1)]
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
