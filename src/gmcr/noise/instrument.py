"""The noise of a detector: what is there in the dark, what counting adds, and what goes with the signal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numba import njit
from numpy.random import Generator
from scipy.stats import chi2

from gmcr.errors import InputError
from gmcr.noise.estimation import left_per_entry
from gmcr.noise.law import LAWS, NoiseLaw
from gmcr.noise.sigma import SMALLEST, Sigma, rounding_floor
from gmcr.validation import FloatArray

BINS, LEAST_IN_BIN = 60, 30  # of the signal, within which the variance is taken for one, and entries in each
SCORINGS = 12
STANDS = 1e-12  # relative change of the variances from which they stand still
CLEAR = 10.0  # twice the log-likelihood that a term must bring, beyond what noise alone would
NAMED, MARKED = 0.06, 0.1  # share of the variance that a term must give, in what share of the entries
RESOLVED, TOLD = 1e-6, 1e-4  # of the mean variance: what is seen at all, and what is told apart by its terms
BEYOND = 9.0  # squares in units of the variance, from which an entry is left out
CHANNELS = 4.0  # standard errors of what channels differ by, from which they do
LEAST_FACTOR = 1e-2  # of the mean variance
CHI2_MEDIAN = float(chi2.median(1))
KEPT = float(chi2.cdf(BEYOND, 3) / chi2.cdf(BEYOND, 1))  # of the variance, in those that are left


@dataclass(frozen=True)
class Instrument(NoiseLaw):
    """σ_ml² = f_l² (level² + gain · x̂_ml + (slope · x̂_ml)²); gain is the size of one count.

    channels : (channels,) the factors f, where channels differ; their mean square is one
    """

    gain: float = 0.0
    slope: float = 0.0
    channels: tuple[float, ...] = ()

    kind = "instrument"
    per_entry = True
    least_gain: ClassVar[float] = 0.0
    doublings: ClassVar[int] = 0  # of the signal up to the largest, that its bins are divided at

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        mean = np.maximum(np.nan_to_num(D) if fit is None else fit, 0.0)
        # Where less than one count is expected the variance is that of one: it must not vanish.
        sigma = np.sqrt(self.variance(mean, self.least_gain))
        return Sigma(np.maximum(sigma * self.factors(D.shape[1]), rounding_floor(D)[:, None]))

    def factors(self, n_channels: int) -> FloatArray:
        """(channels,) of the channels' standard deviations: one where they do not differ."""
        if not self.channels:
            return np.ones(n_channels)
        if len(self.channels) != n_channels:
            told = f"factors of {len(self.channels)} channels, but samples have {n_channels}"
            raise InputError(f"the law of the noise has {told}.")
        return np.array(self.channels)

    @classmethod
    def estimate(cls, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Self:
        """By likelihood, from the mean square of residuals over entries of like signal, without outliers.

        A term is left out where the likelihood does not clearly speak for it: three terms that one would do for
        share the noise among them by chance.
        """
        squares = residual**2 / left_per_entry(residual, dof)
        present = ~np.isnan(squares)
        mean, squares = np.maximum(fit, 0.0)[present], squares[present]
        order = np.argsort(mean, kind="stable")
        mean, squares = mean[order], squares[order]
        edges = _bins(mean, cls.doublings)
        sizes = np.diff(edges)
        scale = max(float(mean[-1]), SMALLEST)
        terms = (mean / scale)[:, None] ** np.arange(3.0)
        # What is far beyond the rest of its bin is not explained rather than noisy, and left out.
        usual = _medians(squares, edges) / CHI2_MEDIAN
        variance = np.repeat(np.maximum(usual, SMALLEST), sizes)
        for _ in range(3):
            inside = squares <= BEYOND * variance
            n_inside = np.maximum(np.add.reduceat(inside, edges[:-1], dtype=float), 1.0)
            seen = np.maximum(np.add.reduceat(squares * inside, edges[:-1]) / n_inside / KEPT, SMALLEST)
            in_bins = np.add.reduceat(terms * inside[:, None], edges[:-1]) / n_inside[:, None]
            found = _likeliest_terms(in_bins, seen, sizes.astype(float), cls.least_gain * scale)
            variance = np.maximum(terms @ found, SMALLEST)
        return cls(float(np.sqrt(found[0])), float(found[1] / scale), float(np.sqrt(found[2]) / scale))

    def by_channel(self, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Self:
        """The law with a factor per channel, where residuals clearly speak for one; else as it is.

        Arguments as for `estimate`. A channel's factor is drawn towards one as far as chance may have made it.
        """
        squares = np.square(residual) / left_per_entry(residual, dof)
        mean, factors = np.maximum(fit, 0.0), np.ones(D.shape[1])
        law = self
        for _ in range(3):  # of factors and terms in turn
            variance = np.maximum(law.variance(mean) * factors, SMALLEST)
            inside = squares <= BEYOND * variance  # not where an entry is missing
            n_inside = np.maximum(inside.sum(axis=0), 1)
            seen = np.sum(squares / variance, axis=0, where=inside) / n_inside / KEPT * factors
            error = 2.0 / n_inside * np.square(factors)
            between = float(np.mean(np.square(seen - seen.mean()) - error))
            if between <= CHANNELS * float(np.sqrt(2.0 * np.square(error).sum())) / len(seen):
                return self
            factors = seen.mean() + (seen - seen.mean()) * between / (between + error)
            factors = np.maximum(factors / factors.mean(), LEAST_FACTOR)
            law = type(self).estimate(D, fit, residual / np.sqrt(factors), dof)
        return replace(law, channels=tuple(np.sqrt(factors).tolist()))

    def variance(self, mean: FloatArray, least: float = 0.0) -> FloatArray:
        """Of entries with these means, of which counting takes none for smaller than `least`."""
        mean = np.maximum(mean, 0.0)
        return self.level**2 + self.gain * np.maximum(mean, least) + (self.slope * mean) ** 2

    @property
    def composed(self) -> bool:
        """Whether it is more than constant or counting noise, which have laws of their own."""
        return self.slope > 0 or (self.level > 0 and self.gain > 0) or len(self.channels) > 0

    def draw(self, mean: FloatArray, random: Generator) -> FloatArray:
        return mean + self.sigma(mean, mean).entries * random.standard_normal(mean.shape)

    def scaled(self, factor: float) -> Self:
        return replace(self, level=self.level * factor, gain=self.gain * factor**2, slope=self.slope * factor)

    def sentence(self) -> str:
        parts = [f"{self.level:.3g} everywhere"] if self.level else []
        parts += [f"counts of size {self.gain:.3g}"] if self.gain else []
        parts += [f"{self.slope:.2%} of the signal"] if self.slope else []
        differing = (
            f", channels by {min(self.channels):.2g} to {max(self.channels):.2g} of it"
            if self.channels
            else ""
        )
        return "instrument, " + (" and ".join(parts) or "none") + differing


def _likeliest_terms(terms: FloatArray, seen: FloatArray, sizes: FloatArray, gain: float) -> FloatArray:
    """Non-negative factors of the terms (bins, 3) that make the mean squares most likely, as few as will do.

    gain : of counts, which is known: then the second term is given, and is not among those looked for
    """
    candidates = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]] if gain == 0 else [[], [2]]
    given, least = gain * terms[:, 1], TOLD * float(np.average(seen, weights=sizes))
    costs = [_scored(terms[:, used], seen, sizes, given)[1] + CLEAR * len(used) for used in candidates]
    used = candidates[int(np.argmin(costs))]
    while True:
        factors = _scored(terms[:, used], seen, sizes, given)[0]
        parts = terms[:, used] * factors
        shares = parts / np.maximum(given + parts.sum(axis=1), max(least, SMALLEST))[:, None]
        marked = np.quantile(shares, 1.0 - MARKED, axis=0)
        if len(used) < 2 or marked.min() >= NAMED:
            break
        used = np.delete(
            used, marked.argmin()
        ).tolist()  # errors of the fit may look like a term that is as small
    found = np.zeros(3)
    found[used] = factors
    found[1] += gain
    return found


def _bins(mean: FloatArray, doublings: int) -> np.ndarray:
    """Edges of bins of entries in the order of their means: as many in each, and at halves of the largest.

    Of counts few may be far larger than the rest: equal bins would take their noise for one.
    """
    equal = np.linspace(0, len(mean), min(BINS, max(len(mean) // LEAST_IN_BIN, 1)) + 1).astype(int)
    halves = np.searchsorted(mean, mean[-1] * 0.5 ** np.arange(1, doublings + 1))
    halves = halves[2 * halves > len(mean)]  # the small ones have all but the same noise
    edges, last = [0], len(mean)
    for edge in np.union1d(equal, halves).tolist():
        if edge - edges[-1] >= LEAST_IN_BIN and last - edge >= LEAST_IN_BIN:
            edges.append(edge)
    return np.array([*edges, last])


@njit(cache=True)
def _medians(values, edges):
    """Of the stretches between edges."""
    found = np.empty(len(edges) - 1)
    for n in range(len(found)):
        found[n] = np.median(values[edges[n] : edges[n + 1]])
    return found


@njit(cache=True)
def _scored(terms, seen, sizes, given):
    """The most likely factors, by Fisher scoring, and −2 log-likelihood but for a constant: squares are χ²."""
    scale = (seen * sizes).sum() / sizes.sum()
    # What is far below the rest cannot be told from errors of the fit, and would have all the weight.
    seen, given, factors = seen / scale, given / scale, np.zeros(terms.shape[1])
    variance = np.ones(len(seen))
    for _ in range(SCORINGS):
        weights = sizes / variance**2
        factors = _least_squares(terms, seen - given, weights)
        before, variance = variance, np.maximum(given + terms @ factors, RESOLVED)
        if np.abs(variance - before).max() <= STANDS * variance.max():
            break
    seen = np.maximum(seen, RESOLVED)
    return factors * scale, (sizes * (np.log(variance) + seen / variance)).sum()


@njit(cache=True)
def _least_squares(terms, values, weights):
    """Non-negative factors of a few terms: of those over each of their subsets, the best that has no negative."""
    n = terms.shape[1]
    norms = np.sqrt(weights @ terms**2 + 1e-300)
    unit = terms / norms
    normal, right = unit.T @ (unit * weights.reshape(-1, 1)), unit.T @ (values * weights)
    best, gain = np.zeros(n), 0.0
    for subset in range(1, 2**n):
        used = np.array([j for j in range(n) if subset >> j & 1])
        ridge = 1e-14 * np.eye(len(used))  # of collinear terms; their norm is one
        factors = np.linalg.solve(normal[used][:, used] + ridge, right[used])
        if factors.min() >= 0.0 and factors @ right[used] > gain:
            best[:] = 0.0
            best[used], gain = factors, factors @ right[used]
    return best / norms


LAWS.add(Instrument.kind, Instrument)
