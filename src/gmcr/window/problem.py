"""The samples as the solver sees them, and the state it improves: one criterion, evaluated in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gmcr.decoding import decode_arrays
from gmcr.noise import NoiseLaw, degrees_of_freedom, estimate_noise, root_mean_square
from gmcr.validation import BoolArray, FloatArray
from gmcr.window.pool import update_pool


@dataclass(frozen=True)
class State:
    """A pool with the decoding of all samples over it, at an assumed noise.

    S : (slots, channels);  C : (samples, slots);  sigma : (samples,) or (samples, channels)
    misfit : (samples,) squared residuals in noise units
    removal : (samples, slots) rise of a sample's criterion when a slot it holds is taken from it
    """

    S: FloatArray
    C: FloatArray
    sigma: FloatArray
    misfit: FloatArray
    removal: FloatArray

    @property
    def count(self) -> int:
        return len(self.S)

    @property
    def usage(self) -> int:
        return int(np.count_nonzero(self.C))


@dataclass(frozen=True)
class Problem:
    """The data, what is known beforehand, and the prices.

    D : (samples, channels), NaN where missing;  X : the same with zeros there
    repeats : (samples,) weight of each sample in the criterion
    usage_price : λ, of one selection;  slot_price : μ, of one slot; both in noise units
    """

    D: FloatArray
    X: FloatArray
    repeats: FloatArray
    usage_price: float
    slot_price: float
    signed: bool = False
    n_fixed: int = 0
    k_max: int | None = None

    @property
    def n_samples(self) -> int:
        return len(self.D)

    @property
    def n_channels(self) -> int:
        return self.D.shape[1]

    @property
    def has_missing(self) -> bool:
        return self.D is not self.X

    def rows(self, rows: np.ndarray) -> Problem:
        """The same problem on some of the samples."""
        D = self.D[rows]
        X = self.X[rows] if self.has_missing else D
        return replace(self, D=D, X=X, repeats=self.repeats[rows])

    def decode(self, S: FloatArray, sigma: FloatArray, start: BoolArray | None = None) -> State:
        """Decode every sample over the pool S (Eq. 3)."""
        removal = np.zeros((self.n_samples, len(S)))
        prices = np.full(self.n_samples, self.usage_price)
        k_max = None if self.k_max is None else min(self.k_max, *S.shape)
        C, _, misfit = decode_arrays(
            self.D, S, sigma, prices, None, k_max, self.signed, start=start, removal=removal
        )
        return State(S, C, sigma, misfit, removal)

    def weights(self, sigma: FloatArray) -> FloatArray:
        """Weights of the entries in the pool update: (samples, 1), or (samples, channels) where needed."""
        W = (self.repeats / np.square(sigma.T)).T
        W = W[:, None] if W.ndim == 1 else W
        return np.where(np.isnan(self.D), 0.0, W) if self.has_missing else W

    def improve_pool(self, state: State, n_sweeps: int = 4) -> FloatArray:
        """The profiles refitted to the state's supports; slots that nobody holds fall away."""
        S, C = update_pool(
            state.S,
            self.X,
            state.C,
            self.weights(state.sigma),
            n_sweeps=n_sweeps,
            n_fixed=self.n_fixed,
            signed=self.signed,
        )
        held = C.any(axis=0)
        held[: self.n_fixed] = True
        return S[held] if held.any() else S[:1]

    def rounds(self, S: FloatArray, sigma: FloatArray, n_rounds: int) -> State:
        """Decode and refit in turn, ending with a decode."""
        state = self.decode(S, sigma)
        for _ in range(n_rounds):
            state = self.decode(self.improve_pool(state), sigma)
        return state

    def criterion(self, state: State) -> float:
        """Misfit plus the prices of usage and of slots, at the state's noise."""
        usage = np.count_nonzero(state.C, axis=1)
        per_sample = state.misfit + self.usage_price * usage
        return float(self.repeats @ per_sample) + self.slot_price * state.count

    def cost(self, state: State) -> float:
        """The criterion as −2 log-likelihood, so that states with different noise compare."""
        log_variance = 2.0 * np.log(state.sigma)
        if log_variance.ndim == 1:
            log_variance = log_variance[:, None]
        entries = np.where(np.isnan(self.D), 0.0, log_variance).sum(axis=1)
        return self.criterion(state) + float(self.repeats @ entries)

    def estimate_noise(self, state: State, kind: str) -> NoiseLaw:
        """The noise law that the state's residuals speak for."""
        weights = 1.0 / (state.sigma if state.sigma.ndim == 1 else root_mean_square(state.sigma)) ** 2
        learned = state.S[self.n_fixed :]
        dof = degrees_of_freedom(
            self.D, state.C, learned if len(learned) else None, self.repeats * weights
        )
        return estimate_noise(self.D, state.C @ state.S, dof, kind)
