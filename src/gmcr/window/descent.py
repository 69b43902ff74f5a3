"""The descent through noise levels, from coarse to what the residuals themselves say.

Solving at the final noise level from the start sticks in local minima, and the less noisy the data the more.
At a coarse level a small error of a profile is noise, so that supports come out right before profiles do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gmcr.noise import Counts, NoiseLaw, Sigma
from gmcr.validation import FloatArray
from gmcr.window.moves import births, deaths, removals
from gmcr.window.problem import Problem, State
from gmcr.window.remembering import remembered

STEP = 1.6  # ratio of one noise level to the next
ROUNDS = 4  # decodes and refits per level
SETTLED = 0.02  # change of the logarithm of the noise that counts as none
TRAPPED = 1.25  # times the noise of the singular values, above which a descent does not end
MOST_LEVELS = 60
FREE = 1e-6  # price of a selection, at which samples hold all that they can
MOST_SETTLING = 6


@dataclass(frozen=True)
class Row:
    """One row of the path."""

    stage: str
    noise: float
    count: int
    r2: float
    usage: int
    cost: float


Listener = Callable[[Row, State], None]


class Path:
    """Collects the rows as they come and shows each to whoever listens."""

    def __init__(self, reference: Sigma, listener: Listener | None = None) -> None:
        self.rows: list[Row] = []
        self.reference = reference  # the noise at which all costs are taken
        self.last: State | None = None
        self.listener = listener

    def add(self, stage: str, problem: Problem, state: State) -> Row:
        r2, cost = problem.r_squared(state), problem.cost(state, self.reference)
        row = Row(stage, state.sigma.typical, state.count, r2, state.usage, cost)
        self.rows.append(row)
        self.last = state
        if self.listener is not None:
            self.listener(row, state)
        return row


@dataclass(frozen=True)
class NoiseModel:
    """How the solver gets the noise of a state: estimated under a law, by a law that is known, or given."""

    law: str | NoiseLaw = "auto"
    given: Sigma | None = None

    @remembered
    def sigma(self, problem: Problem, state: State) -> tuple[Sigma, NoiseLaw]:
        if self.of_counts and self.given is None:
            # From all slots at no price: a sample that gave one up would have less noise there and take it back.
            state = replace(problem, usage_price=FREE).decode(state.S, state.sigma)
        law = self.law if isinstance(self.law, NoiseLaw) else problem.estimate_noise(state, self.law)
        if self.given is not None:
            return self.given, law
        fit = state.C @ state.S if law.per_entry else None
        sigma = law.common.sigma(problem.D, fit)
        return (sigma.bounded() if law is self.law else sigma), law

    @property
    def known(self) -> bool:
        """Whether more is known of it than residuals say: it was given, or is that of counts."""
        return self.given is not None or isinstance(self.law, NoiseLaw) or self.of_counts

    @property
    def of_counts(self) -> bool:
        """Whether it is that of counts: a law that is known, though small ones do not show it."""
        return (self.law.kind if isinstance(self.law, NoiseLaw) else self.law) == Counts.kind


def descend(problem: Problem, S: FloatArray, sigma: Sigma, noise: NoiseModel, path: Path, most: int) -> State:
    """From the noise `sigma` down to the noise the residuals speak for, births on the way, up to `most` slots.

    While the supports hold still from one level to the next, larger steps are taken.
    """
    before: FloatArray | None = None
    settled, trapped = False, np.inf  # the cost at which it last settled too high
    for _ in range(MOST_LEVELS):
        state = problem.rounds(S, sigma, ROUNDS)
        cost = path.add("descent", problem, state).cost
        target, _ = noise.sigma(problem, state)
        ratio = sigma.typical / target.typical
        # Below the noise that the residuals speak for, every sample looks unexplained.
        born = births(problem, state, 0 if settled else most - state.count)
        settled = abs(np.log(ratio)) < SETTLED and len(born) == 0
        if settled and sigma.typical <= TRAPPED * path.reference.typical:
            break
        if settled and trapped - cost < 1.0:
            break  # what is not understood passes for noise, and going below it did not help
        held = state.C != 0
        still = before is not None and np.array_equal(held, before)
        before = held
        step = STEP**3 if still else STEP
        sigma = target * (ratio / step) if ratio > step else target
        if settled:
            sigma, trapped = sigma / STEP, cost
        S = np.vstack([state.S, born])
    return state


def settle(problem: Problem, state: State, noise: NoiseModel, path: Path, most: int) -> State:
    """Deaths, removals, births and the noise in turn at the fine level, until nothing is gained."""
    cost = np.inf
    for _ in range(MOST_SETTLING):
        count = state.count
        state = removals(problem, deaths(problem, state))
        born = births(problem, state, most - state.count)
        if len(born):
            state = problem.rounds(np.vstack([state.S, born]), state.sigma, ROUNDS)
            state = removals(problem, deaths(problem, state))
        sigma, _ = noise.sigma(problem, state)
        state = problem.rounds(state.S, sigma, ROUNDS // 2)
        before, cost = cost, path.add("settling", problem, state).cost
        # A sample may be unexplained for good; what is born for it dies again, every time.
        if state.count == count and (len(born) == 0 or before - cost < problem.usage_price):
            break
    return state
