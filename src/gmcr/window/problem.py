"""The samples as the solver sees them, and the state it improves: one criterion, evaluated in one place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gmcr.constraints import Constraints, Layout
from gmcr.decoding.batch import decode_arrays
from gmcr.noise import NoiseLaw, Sigma, degrees_of_freedom, estimate_noise
from gmcr.rank import noise_edge
from gmcr.threads import kept
from gmcr.validation import BoolArray, FloatArray
from gmcr.window.levels import Levels
from gmcr.window.pool_update import count_holders, update_pool
from gmcr.window.remembering import remembered, storable

ENOUGH_ENTRIES = 100_000  # for the noise to be told from


@storable
@dataclass(frozen=True)
class State:
    """A pool with the decoding of all samples over it, at an assumed noise.

    S : (slots, channels);  C : (samples, slots)
    misfit : (samples,) squared residuals in noise units
    removal : (samples, slots) rise of a sample's criterion when a slot it holds is taken from it
    """

    S: FloatArray
    C: FloatArray
    sigma: Sigma
    misfit: FloatArray
    removal: FloatArray

    @property
    def count(self) -> int:
        return len(self.S)

    @property
    def usage(self) -> int:
        return int(np.count_nonzero(self.C))

    def rows(self, rows: np.ndarray) -> State:
        """The same state on some of the samples."""
        return State(self.S, self.C[rows], self.sigma[rows], self.misfit[rows], self.removal[rows])


def prices_of_slots(holders: FloatArray, total: float, n_channels: int, usage_price: float) -> FloatArray:
    """The price μ of each slot, (slots,), by how many of all samples hold it; see `Problem.slot_prices`."""
    saved = usage_price * max(2.0 * holders.sum() / total - 2.0, 0.0)
    edges = noise_edge(np.maximum(holders, 1.0), float(n_channels))
    return np.where(holders > 0, edges**2 + saved, 0.0)


def written_down(holders: FloatArray, total: float, n_channels: int) -> float:
    """What it takes to write supports and amounts down; see `Problem.description`."""
    share = np.clip(holders / total, 1e-300, 1 - 1e-16)
    entropy = -share * np.log(share) - (1 - share) * np.log1p(-share)
    return float(2.0 * total * entropy.sum() + np.log(n_channels) * holders.sum())


@dataclass(frozen=True)
class Problem:
    """The data, what is known beforehand, and the prices.

    D : (samples, channels), NaN where missing;  X : the same with zeros there
    repeats : (samples,) weight of each sample in the criterion
    constraints, layout : what the answer must obey; runs and order of the samples, where they were given
    usage_price : λ, of one selection in the decoder, in noise units
    by_usage : whether the cost is that of Eq. 3, each selection at λ, with the number of slots given
    levels : how samples and channels differ in noise, where that is known beforehand
    """

    D: FloatArray
    X: FloatArray
    repeats: FloatArray
    usage_price: float
    constraints: Constraints = field(default_factory=Constraints)
    layout: Layout = field(default_factory=Layout)
    by_usage: bool = False
    levels: Levels = field(default_factory=Levels)

    digest_once = True  # for `remembered`: the samples never change

    @property
    def n_samples(self) -> int:
        return len(self.D)

    @property
    def n_channels(self) -> int:
        return self.D.shape[1]

    @property
    def n_fixed(self) -> int:
        """The first so many profiles are known beforehand."""
        return self.constraints.n_fixed

    @property
    def has_missing(self) -> bool:
        return self.D is not self.X

    def rows(self, rows: np.ndarray) -> Problem:
        """The same problem on some of the samples."""
        D = self.D[rows]
        X = self.X[rows] if self.has_missing else D
        return replace(
            self, D=D, X=X, repeats=self.repeats[rows], layout=self.layout[rows], levels=self.levels[rows]
        )

    def residual(self, rows: np.ndarray, state: State) -> FloatArray:
        """What a state of these rows leaves of them, each in units of its typical noise, zero where missing."""
        residual = (self.X[rows] - state.C @ state.S) / state.sigma.per_sample()[:, None]
        if self.has_missing:
            residual[np.isnan(self.D[rows])] = 0.0
        return residual

    def decode(
        self,
        S: FloatArray,
        sigma: Sigma,
        start: BoolArray | None = None,
        gram: FloatArray | None = None,
        products: FloatArray | None = None,
    ) -> State:
        """Decode every sample over the pool S (Eq. 3); gram, products : S S' and X S', where they are known."""
        removal = np.zeros((self.n_samples, len(S)))
        prices = np.full(self.n_samples, self.usage_price)
        arrays = (self.D, S, sigma, prices, self.constraints, None, start, removal, gram, products)
        C, _, misfit = decode_arrays(*arrays)
        return State(S, C, sigma, misfit, removal)

    def weights(self, sigma: Sigma) -> FloatArray:
        """Weights of the entries in the pool update: (samples, 1), or (samples, channels) where needed."""
        W = self.repeats[:, None] / np.square(sigma.entries)
        return np.where(np.isnan(self.D), 0.0, W) if self.has_missing else W

    def refit(self, state: State, free: np.ndarray | None = None) -> tuple[FloatArray, FloatArray]:
        """The profiles refitted to the state's amounts, and their sizes (zero where one vanished).

        free : the slots to refit; by default all but those known beforehand
        """
        free = np.arange(self.n_fixed, state.count) if free is None else free
        W = self.weights(state.sigma)
        S, sizes = update_pool(state.S, self.X, state.C, W, free=free, signed=self.constraints.signed)
        return self.constraints.on_pool(S, sizes, free)

    def improve_pool(self, state: State) -> FloatArray:
        """The profiles refitted; slots that nobody holds fall away."""
        S, sizes = self.refit(state)
        kept = (sizes > 0) & (self.holders(state) > 0)
        kept[: self.n_fixed] = True
        return S[kept] if kept.any() else S[:1]

    @remembered
    def rounds(self, S: FloatArray, sigma: Sigma, n_rounds: int) -> State:
        """Decode and refit in turn, ending with a decode."""
        state = self.decode(S, sigma)
        for _ in range(n_rounds):
            state = self.decode(self.improve_pool(state), sigma)
        return state

    def slot_prices(self, holders: FloatArray) -> FloatArray:
        """The price μ of each slot, (slots,), by how many samples hold it.

        A slot must bring more than noise alone can pay: the largest squared singular value of a table of noise,
        n holders by d channels. And more than a slot made for one sample saves that sample, k − 1 selections
        when it holds k; with supports evenly spread between 1 and k, k − 1 is twice the mean size less two.
        """
        total = float(self.repeats.sum())
        return prices_of_slots(holders, total, self.n_channels, self.usage_price)

    def description(self, holders: FloatArray) -> float:
        """What it takes to write down slots, supports and amounts, as −2 log-likelihood.

        holders : (slots,) number of samples that hold each slot. Which samples hold a slot costs the entropy of
        its share of them; an amount costs log d, as a parameter estimated from d channels does (BIC). A slot
        held by all samples is thus cheap to hold, where a flat price per selection would favour spare slots
        that save selections.
        """
        if self.by_usage:
            alone = self.slot_prices(np.ones(1))[0]
            return float(self.usage_price * holders.sum() + alone * np.count_nonzero(holders))
        total = float(self.repeats.sum())
        written = written_down(holders, total, self.n_channels)
        return written + float(self.slot_prices(holders).sum())

    def holders(self, state: State) -> FloatArray:
        """Number of samples that hold each slot, by their weight: (slots,)."""
        return count_holders(state.C, self.repeats)

    def cost(self, state: State, sigma: Sigma | None = None, length: float = 1.0) -> float:
        """Misfit, plus what supports, amounts and slots cost: −2 log-likelihood up to a constant.

        States with different noise compare only at one and the same `sigma`: a count too large understates its
        own noise a little, and over all entries a little is a lot. Where noise is correlated along the channels,
        over `length` of them, the misfit tells that much less.
        """
        misfit = state.misfit if sigma is None else self.misfit(state, sigma)
        return float(self.repeats @ misfit) / length + self.description(self.holders(state))

    def misfit(self, state: State, sigma: Sigma) -> FloatArray:
        """Squared residuals of each sample in units of the noise `sigma`: (samples,)."""
        if sigma is state.sigma:
            return state.misfit
        if not (sigma.per_entry or state.sigma.per_entry):
            return state.misfit * np.square(state.sigma.values / sigma.values)
        residual = self.scaled_residual(state, sigma)
        return np.einsum("ml,ml->m", residual, residual)

    def scaled_residual(self, state: State, sigma: Sigma | None = None) -> FloatArray:
        """What a state leaves of the samples, in units of the noise, its own or `sigma`; zero where missing."""
        residual = self.X - state.C @ state.S
        residual /= (state.sigma if sigma is None else sigma).entries
        if self.has_missing:
            residual[np.isnan(self.D)] = 0.0
        return residual

    def r_squared(self, state: State) -> float:
        """R² of the state, about column means."""
        left = self.misfit(state, Sigma(np.ones(self.n_samples))).sum()
        return 1.0 - float(left) / self.variation if self.variation > 0 else np.nan

    @property
    def variation(self) -> float:
        """Sum of squares of the samples about their column means."""
        return kept(
            self, "_variation", lambda: float(np.nansum(np.square(self.D - np.nanmean(self.D, axis=0))))
        )

    def estimate_noise(self, state: State, kind: str) -> NoiseLaw:
        """The noise law that the state's residuals speak for."""
        weights = 1.0 / state.sigma.per_sample() ** 2
        learned = state.S[self.n_fixed :]
        # The level is a median over samples: some of them tell it as well as all of them do.
        some = slice(None, None, max(1, self.D.size // ENOUGH_ENTRIES))
        dof = degrees_of_freedom(
            self.D, state.C, learned if len(learned) else None, self.repeats * weights, some
        )
        return estimate_noise(self.D[some], state.C[some] @ state.S, dof, kind)
