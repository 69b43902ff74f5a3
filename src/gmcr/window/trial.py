"""A state that trials change in place, and the trial itself: some slots go or start anew, others are refitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gmcr.constraints import Constraints
from gmcr.threads import product
from gmcr.validation import FloatArray
from gmcr.window.problem import Problem, State

HEIR_ROUNDS = 24  # refits that the heirs of a removed slot are given, at most, to take its place
SETTLING_ROUNDS = 4  # refits of the whole pool, where its heirs alone fall short by less than a selection
HOPELESS = 0.02  # share of what is missing that a refit must win, for another one to be tried
FAR = 0.1  # the same for new profiles while five selections' price or more is missing: those start far off
ALIKE = 3  # pairs of slots, from the most alike down, that are taken for possible splits

Leaving = tuple[int, ...]
Seed = FloatArray | Literal["common"] | None
Trial = tuple[Leaving, Seed]


@dataclass
class Draft:
    """A state that trials change in place: only the samples concerned are decoded anew, and slots that have
    been given up stay as profiles of zeros until it is finished."""

    state: State
    gram: FloatArray
    changed: bool = False
    products: FloatArray | None = None  # (samples, slots) X S', from the first trial on

    @classmethod
    def of(cls, state: State) -> Draft:
        own = State(state.S.copy(), state.C.copy(), state.sigma, state.misfit.copy(), state.removal.copy())
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

    def replace(
        self, problem: Problem, leaving: Leaving, seed: Seed = None, companions: bool = False
    ) -> bool:
        """Empty some slots and refit their heirs, if that costs less; whether it did.

        seed : profile from which the first of the slots starts anew, or "common" for what their samples are
            left with in common
        companions : whether the slots they are held with are refitted too
        """
        state = self.state
        emptied = list(leaving)
        S, G = state.S.copy(), self.gram.copy()
        put(S, G, emptied, 0.0)
        rows = np.flatnonzero(state.C[:, emptied].any(axis=1))
        if isinstance(seed, np.ndarray):
            put(S, G, emptied[:1], seed)
        local = problem.rows(rows)
        trial = local.decode(S, state.sigma[rows], gram=G, products=self._products(problem, rows, S, emptied))
        held = state.C[rows] != 0
        heirs = ((trial.C != 0) & ~held).any(axis=0)
        heirs = np.flatnonzero(heirs | held.any(axis=0) if companions else heirs)
        if seed is not None:
            if isinstance(seed, str):
                if len(rows) == 0:  # nobody's slots have nothing in common
                    return False
                seed = _common_direction(problem.residual(rows, trial), problem.constraints)
                put(S, G, emptied[:1], seed)
            heirs = np.union1d(heirs, emptied[:1])
            # Beside them, samples whose residual holds enough of the profile to pay for its selection.
            amounts = (problem.X @ seed - state.C @ (state.S @ seed)) / state.sigma.per_sample()
            rows = np.union1d(rows, np.flatnonzero(amounts**2 > problem.usage_price))
        heirs = heirs[heirs >= problem.n_fixed]
        rows = np.union1d(rows, np.flatnonzero((state.C[:, heirs] != 0).any(axis=1)))
        local, others = problem.rows(rows), np.union1d(heirs, emptied)
        elsewhere = problem.holders(state) - local.holders(state.rows(rows))

        def cost_here(part: State) -> float:
            return float(local.repeats @ part.misfit) + problem.description(elsewhere + local.holders(part))

        allowed = cost_here(state.rows(rows))
        gap = np.inf
        for _ in range(HEIR_ROUNDS):
            products = self._products(problem, rows, S, others)
            trial = local.decode(S, state.sigma[rows], gram=G, products=products)
            before, gap = gap, cost_here(trial) - allowed
            if gap < 0:
                state.C[rows], state.misfit[rows], state.removal[rows] = trial.C, trial.misfit, trial.removal
                state.S[:] = trial.S
                self.products = self._products(problem, slice(None), S, others)
                self.gram, self.changed = G, True
                return True
            if seed is not None and np.array_equal(trial.C != 0, state.C[rows] != 0):
                return False  # the old supports are back: nothing but a refit
            if heirs.size == 0 or is_hopeless(problem, before, gap, seed is not None):
                break
            put(S, G, heirs, local.refit(trial, heirs)[0][heirs])
        return seed is not None and gap < problem.usage_price and self._settles(problem, S)

    def _products(
        self, problem: Problem, rows: np.ndarray | slice, S: FloatArray, others: list[int] | np.ndarray
    ) -> FloatArray:
        """X S' of some samples, where S is the state's pool but for the slots `others`."""
        if self.products is None:
            self.products = product(problem.X, self.state.S)
        found = self.products[rows]
        found[:, others] = product(problem.X[rows], S[others])
        return found

    def _settles(self, problem: Problem, S: FloatArray) -> bool:
        """Whether a pool that costs a little too much is worth taking once all slots have been refitted."""
        cost = problem.cost(self.state)
        for _ in range(SETTLING_ROUNDS):
            gram = S @ S.T
            np.fill_diagonal(gram, np.where(S.any(axis=1), np.diagonal(gram), 1.0))  # as `put` has it
            trial = problem.decode(S, self.state.sigma, gram=gram)
            if problem.cost(trial) < cost:
                self.state, self.gram, self.changed, self.products = trial, gram, True, None
                return True
            S = problem.refit(trial)[0]
        return False


def is_hopeless(problem: Problem, before: float, gap: float, seeded: bool = True) -> bool:
    """Whether a refit that brought what a trial costs too much from `before` to `gap` was too slow to go on."""
    return before - gap < (FAR if seeded and gap > 5 * problem.usage_price else HOPELESS) * gap


def put(S: FloatArray, G: FloatArray, slots: list[int] | np.ndarray, profiles: FloatArray | float) -> None:
    """Set some profiles, in place, and the Gram matrix with them; an empty profile gets a pivot of one."""
    S[slots] = profiles
    G[slots] = S[slots] @ S.T
    G[:, slots] = G[slots].T
    empty = np.asarray(slots)[~S[slots].any(axis=1)]
    G[empty, empty] = 1.0


def _common_direction(residual: FloatArray, constraints: Constraints) -> FloatArray:
    """The unit profile that residuals share: a few power iterations, non-negative unless signed."""
    profile = residual[np.argmax(np.einsum("ml,ml->m", residual, residual))]
    for _ in range(5):
        amounts = residual @ constraints.positive(profile)
        profile = (amounts if constraints.signed_amounts else np.maximum(amounts, 0.0)) @ residual
    profile = constraints.positive(profile)
    size = np.linalg.norm(profile)
    return profile / size if size > 0 else profile


def positive(profile: FloatArray) -> FloatArray:
    """The positive part, at unit norm if there is any."""
    profile = np.maximum(profile, 0.0)
    size = np.linalg.norm(profile)
    return profile / size if size > 0 else profile
