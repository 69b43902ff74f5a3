"""Moves for rarely held slots, which a nearly finished pool may still have wrong.

A component that few samples hold can blend with its companions, hide in other slots, or go unnoticed, at little
cost; single removals and refits do not lead out of that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from gmcr.constraints import Constraints
from gmcr.decoding.batch import decode_arrays
from gmcr.noise import Sigma
from gmcr.validation import FloatArray
from gmcr.window.problem import Problem, State
from gmcr.window.remembering import remembered
from gmcr.window.trial import HEIR_ROUNDS, Draft, is_hopeless, positive, put

ANY_SIGN = Constraints(())

RARE = 8  # holders up to which a slot is rebuilt from pairs of its samples
REFITTED = 0.1  # selections' prices by which a sample's misfit may move without its slots being tried again
PAIRS = 2  # pairs that are tried: the strongest sample with the next ones
TASTING_ROUNDS = 4  # refits on a slot's own samples that tell whether a new profile falls back to the old one
MOST_PAIRED = 2048  # samples, from the worst explained down, whose residuals are compared
SHARED = 3  # pairs of samples, from the most alike residuals down, that are offered a slot between them


@remembered
def isolations(problem: Problem, state: State, tried: State | None = None) -> State:
    """Rebuild rarely held slots, each from a pair of its samples.

    tried : a state on which that was tried; slots whose samples hold the same as there are left alone

    A component seen a few times, once much stronger than otherwise, takes in a companion of that sample, or
    leaves part of itself to others; then neither supports nor profile can move without the other. Two samples
    that share it tell it apart whatever the slot looks like now: with r the ratio of its amounts, x_a − r x_b
    holds the companions of x_a with positive and those of x_b with negative sign (the paper's isolating pairs).
    Where each selection costs λ (`by_usage`), only the most rarely held slots are rebuilt, without the sample
    that all but decides them.
    """
    if problem.constraints.signed:
        return state
    draft = Draft.of(state)
    for j in _rare(problem, state, RARE // 2 if problem.by_usage else RARE, tried):
        if not problem.by_usage:
            any(draft.replace(problem, (j,), seed) for seed in _isolated(problem, draft, j))
        any(draft.replace(problem, (j,), seed, True) for seed in _without_strongest(problem, draft, j))
    return draft.finished(problem, state)


def _rare(problem: Problem, state: State, most: int, tried: State | None) -> list[int]:
    """Slots that two to `most` samples hold, of which some hold something else than in the state tried before.

    Such a sample holds another number of slots, or is explained otherwise: slots may have been renumbered in
    between, and profiles refitted, which moves misfits a little.
    """
    holders = problem.holders(state)
    rare = (holders >= 2) & (holders <= most)
    if tried is not None:
        sizes, sizes_before = (np.count_nonzero(one.C, axis=1) for one in (state, tried))
        moved = np.abs(state.misfit - tried.misfit) > REFITTED * problem.usage_price
        rare &= (state.C[(sizes != sizes_before) | moved] != 0).any(axis=0)
    rare[: problem.n_fixed] = False
    return np.flatnonzero(rare).tolist()


def _isolated(problem: Problem, draft: Draft, j: int) -> Iterator[FloatArray]:
    """Profiles for slot j from pairs of its samples, those that change what its samples hold."""
    state = draft.state
    rows = np.flatnonzero(state.C[:, j])
    sigma = state.sigma[rows].per_sample()
    order = np.argsort(-state.C[rows, j] / sigma, kind="stable")
    rows, sigma = rows[order], sigma[order]
    X, held = problem.X[rows], state.C[rows] != 0
    if problem.has_missing:
        X = np.where(np.isnan(problem.D[rows]), state.C[rows] @ state.S, X)
    price = np.array([problem.usage_price])
    S, G = state.S.copy(), draft.gram.copy()
    for b in range(1, min(len(rows), PAIRS + 1)):
        put(S, G, [j], X[b] / np.linalg.norm(X[b]))
        # What the slot took in makes its amount in the first sample too large, but not larger than the sample.
        sizes = np.linalg.norm(X[0]) / np.linalg.norm(X[b])
        ratio = min(state.C[rows[0], j] / state.C[rows[b], j], sizes)
        noise = np.array([np.hypot(sigma[0], ratio * sigma[b])])
        start = held[:1] | held[b : b + 1]  # both samples hold j, so that the second is in it, as j
        shares = decode_arrays(X[:1], S, Sigma(noise), price, ANY_SIGN, start=start, gram=G)[0][0]
        shared, shares[j] = shares[j], 0.0
        seed = positive(X[0] - np.maximum(shares, 0.0) @ S)
        if shared <= 0 or not seed.any():
            continue
        put(S, G, [j], seed)
        trial = problem.rows(rows).decode(S, state.sigma[rows], gram=G)
        if not np.array_equal(trial.C != 0, held):
            yield seed


def _without_strongest(problem: Problem, draft: Draft, j: int) -> Iterator[FloatArray]:
    """Profiles for a slot j that one sample all but decides: from its other samples, and what other slots leave
    of that one."""
    state = draft.state
    rows = np.flatnonzero(state.C[:, j])
    if len(rows) == 0:  # another change took its last sample
        return
    part = state.rows(rows)
    amounts = part.C[:, j] / part.sigma.per_sample()
    strongest = np.argmax(amounts)
    if 2 * amounts[strongest] ** 2 < amounts @ amounts:
        return
    one = rows[[strongest]]
    S, G = state.S.copy(), draft.gram.copy()
    put(S, G, [j], 0.0)
    alone = problem.rows(one).decode(S, state.sigma[one], gram=G)
    own = problem.residual(rows, part) + amounts[:, None] * state.S[j]
    amounts[strongest] = 0.0
    local = problem.rows(rows)
    for seed in (positive(amounts @ own), positive(problem.residual(one, alone)[0])):
        # A few rounds on these samples alone tell whether the old state comes back.
        put(S, G, [j], seed)
        for _ in range(TASTING_ROUNDS):
            trial = local.decode(S, part.sigma, gram=G)
            if not trial.C[:, j].any():
                break
            put(S, G, [j], local.refit(trial, np.array([j]))[0][j])
        if ((trial.C[strongest] != 0) & (part.C[strongest] == 0)).any() and trial.C[:, j].any():
            yield S[j].copy()


@remembered
def leftovers(problem: Problem, state: State) -> State:
    """Give up a slot made for one sample, or give it what the others leave of that sample, if that is cheaper.

    Such a slot may hold the sample whole, with a component that elsewhere hides in other slots: all samples are
    decoded anew, and all profiles refitted, before the cost is compared.
    """
    changed: set[int] = set()  # each sample once: refits alone would lower the cost a little for ever
    while (better := _without_leftover(problem, state, changed)) is not None:
        state = better
    return state


def _without_leftover(problem: Problem, state: State, changed: set[int]) -> State | None:
    """A cheaper state with one slot of a single sample less or other; the sample is added to `changed`."""
    if problem.constraints.signed or state.count == 1:
        return None
    for j, m in sorted(Draft.of(state).held_once(problem).items(), reverse=True):
        if m in changed:
            continue
        one = np.array([m])
        others = np.delete(state.S, j, axis=0)
        left = problem.rows(one).decode(others, state.sigma[one])
        profile = positive(problem.residual(one, left)[0])
        for S in (others, np.vstack([others, profile])):
            trial = _cheaper(problem, state, S)
            if trial is not None:
                changed.add(m)
                return trial
    return None


@remembered
def shared_births(problem: Problem, state: State, alpha: float = 0.05) -> State:
    """Give two samples a slot between them where what is left of both points the same way.

    A component seen twice can be too weak for either sample to be unexplained. Residuals of noise have a cosine
    of about 1/√d; tried are the pairs, from the most alike down, that noise makes as alike with chance `alpha`.
    """
    if problem.constraints.signed or state.count >= min(problem.D.shape):
        return state
    rows = np.sort(np.argsort(-state.misfit, kind="stable")[:MOST_PAIRED])
    residual = problem.residual(rows, state.rows(rows))
    norms = np.linalg.norm(residual, axis=1)
    unit = residual / np.where(norms > 0, norms, 1.0)[:, None]
    cosines = np.triu(unit @ unit.T, 1)
    limit = norm.isf(2.0 * alpha / max(len(rows) * (len(rows) - 1), 2)) / np.sqrt(problem.n_channels)
    best = np.argpartition(-cosines, min(SHARED, cosines.size) - 1, axis=None)[:SHARED]
    best = best[np.argsort(-cosines.flat[best], kind="stable")]
    for a, b in zip(*np.unravel_index(best, cosines.shape)):
        if cosines[a, b] > limit:
            profile = positive(residual[a] + residual[b])
            trial = _cheaper(problem, state, np.vstack([state.S, profile]), problem.usage_price)
            if trial is not None:
                return trial
    return state


def _cheaper(problem: Problem, state: State, S: FloatArray, margin: float = 0.0) -> State | None:
    """The pool S, all samples decoded and all slots refitted, as soon as it costs less by more than `margin`."""
    cost, gap = problem.cost(state) - margin, np.inf
    for _ in range(HEIR_ROUNDS):
        trial = problem.decode(S, state.sigma)
        before, gap = gap, problem.cost(trial) - cost
        if gap < 0:
            return trial
        if is_hopeless(problem, before, gap):
            break
        S = problem.improve_pool(trial)
    return None
