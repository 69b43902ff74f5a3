"""One run of the window solver: the problem, what is known of it beforehand, and the states found so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gmcr.constraints import Constraints, Layout
from gmcr.decoding.prices import ALPHA, usage_price
from gmcr.noise import Counts, ErrorCovariance, NoiseLaw, Sigma
from gmcr.validation import FloatArray
from gmcr.window.descent import Listener, NoiseModel, Path
from gmcr.window.evidence import is_white
from gmcr.window.first_guess import Guess, guess_of_given, guess_of_known, guesses, unit_rows
from gmcr.window.judging import tells_of_counts
from gmcr.window.levels import Levels
from gmcr.window.problem import Problem, State


@dataclass(frozen=True)
class Options:
    """What the caller knows or wants beforehand."""

    n_components: int | None = None
    max_components: int | None = None
    constraints: Constraints = field(default_factory=Constraints)
    pool: FloatArray | None = None
    noise: str | NoiseLaw = "auto"
    sigma: Sigma | None = None
    covariance: ErrorCovariance | None = None
    layout: Layout = field(default_factory=Layout)
    alpha: float = ALPHA
    n_starts: int = 1
    seed: int = 0
    thinned: bool = True  # whether some of many samples may be searched first


@dataclass
class Search:
    """One run: the problem, what is known of its noise, the path so far and the cheapest state at each count."""

    problem: Problem
    options: Options
    guess: Guess
    noise: NoiseModel
    path: Path
    usage_price: float  # λ, at which samples are decoded in the end
    states: dict[int, State] = field(default_factory=dict)
    back: dict[int, float] = field(default_factory=dict)
    starts: dict[int, list[FloatArray]] = field(default_factory=dict)  # pools to start from, by count
    middles: dict[int, State] = field(default_factory=dict)  # the middle of the pools that fit, by count
    held: dict[int, float] = field(default_factory=dict)  # share of the components that samples hold there
    descended: bool = False  # whether few components in each sample were searched for
    refined: State | None = None  # the last state that was tried to be refined
    interrupted: bool = False

    @property
    def coarse_noise(self) -> NoiseModel:
        """What is known of the noise while residuals still hold signal: the law of the singular values."""
        if self.noise.law == "auto" and self.guess.white and self.guess.noisy:
            return replace(self.noise, law=self.guess.law.kind)
        return self.noise

    @property
    def of_counts(self) -> bool:
        return self.noise.of_counts

    def cost(self, state: State) -> float:
        return self.problem.cost(state, self.path.reference)

    def keep(self, state: State) -> bool:
        """Remember the state if it is the cheapest at its count; whether it is clearly the cheapest of all."""
        cost = self.cost(state)
        lowest = min((self.cost(other) for other in self.states.values()), default=np.inf)
        rival = self.states.get(state.count)
        if rival is None or cost < self.cost(rival):
            self.states[state.count] = state
        return cost < lowest - self.problem.usage_price

    @property
    def best(self) -> State:
        return min(self.states.values(), key=self.cost)

    def pool(self, profiles: FloatArray) -> FloatArray:
        """A starting pool: the fixed profiles, then these."""
        fixed = self.options.constraints.fixed
        profiles = self.options.constraints.positive(profiles)
        # A sample without anything positive starts as a flat profile.
        profiles = np.where(profiles.any(axis=1, keepdims=True), profiles, 1.0)
        return unit_rows(profiles if fixed is None else np.vstack([fixed, profiles]))

    @property
    def most(self) -> int:
        """The largest count allowed: what was asked for, or as many as samples can tell apart."""
        options = self.options
        return options.n_components or options.max_components or max(self.problem.n_samples // 2, 1)


def prepare(D: FloatArray, options: Options, repeats: FloatArray | None, listener: Listener | None) -> Search:
    if options.noise == "auto" and options.sigma is None and tells_of_counts(D):
        options = replace(options, noise=Counts.kind)
    if options.sigma is not None:
        options = replace(options, sigma=options.sigma.bounded())
    noise = NoiseModel(options.noise, options.sigma)
    kind = options.noise.kind if isinstance(options.noise, NoiseLaw) else options.noise
    found = guesses(D, counts=noise.of_counts)
    guess = next((g for g in found if g.law.kind == kind), found[0])
    levels = Levels() if options.sigma is None else Levels.of_given(options.sigma)
    if options.covariance is not None:
        guess = guess_of_known(D, guess.law, options.covariance)
    elif options.sigma is not None:
        guess = guess_of_given(levels.evened(D), guess.law)
    price = last_price = usage_price(options.n_components or guess.count, len(D), options.alpha)
    if noise.of_counts:
        # Profiles of counts overlap: at λ, which keeps chance from adding a component to any sample, others take
        # what weak ones hold. So they are searched at what writing an amount down costs, and decoded at λ last.
        price = min(price, float(np.log(D.shape[1])))
    problem = Problem(
        D,
        np.nan_to_num(D) if np.isnan(D).any() else D,
        np.ones(len(D)) if repeats is None else repeats,
        usage_price=price,
        constraints=options.constraints,
        layout=options.layout,
    )
    reference = options.sigma
    if reference is None:
        law = options.noise if isinstance(options.noise, NoiseLaw) else guess.law
        reference = law.sigma(D, np.maximum(problem.X, 0.0))
        reference = reference.bounded() if law is noise.law else reference
    if noise.known:
        problem = replace(problem, levels=Levels.of(reference) if options.sigma is None else levels)
    path = Path(reference, listener)
    return Search(problem, options, guess, noise, path, last_price)


def leaves_white_noise(search: Search, state: State) -> bool:
    """Whether a state leaves nothing but white noise, with at least two samples to a slot."""
    if 2 * state.count > search.problem.n_samples:
        return False
    return is_white(search.problem.scaled_residual(state))
