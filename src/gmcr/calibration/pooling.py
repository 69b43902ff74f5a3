"""Regression with partial pooling: coefficients in blocks, each shrunk as far as the data say.

For groups of samples (replicates of one mixture), with x the mean of their coordinates and y the known amount,

    y = x β + u + e,   u ~ N(0, r s²),   e ~ N(0, s²/replicates),   β ~ N(0, τ² of its block),

where s² is the known variance of a single sample's own error. What replicates share, u, are errors of the known
amount, and of the instrument where they were measured together: it is as large as s² or not (r).

How strongly a block is shrunk (τ) and how much is shared (r) are not chosen: the answer is averaged over them,
weighted by the marginal likelihood. Beforehand, √r, what is shared over what is not, is half-Cauchy (as Gelman
2006 has it for few groups), τ is as likely in one decade as in another, from nothing up to all of the amounts,
and a block that need not be there is there or not with equal odds. So is whether all columns of amounts share
these strengths or have their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_expit, logsumexp, ndtr, ndtri
from scipy.stats import chi2, qmc

from gmcr.validation import FloatArray

LEAST, MOST = np.log(1e-4), np.log(1.0)  # of τ: what a block contributes, over the size of the known amounts
FREE = 1e2  # τ of what is not shrunk
LEVELS = 6  # two to this power points stand for all strengths
TAIL = 5.0  # degrees of freedom of the law that points are drawn from: wider than a normal one
WIDEST = 3.0  # its standard deviation along what the data leave open, in logits
STEP = 0.05  # for derivatives, in logits
FURTHEST = 25.0  # logits that are searched
NEGLIGIBLE = 1e-4  # weight of a point, over the largest


@dataclass(frozen=True, eq=False)
class Column:
    """Known amounts to learn from, in units in which coordinates and amounts are about one.

    X : (groups, features);  y : (groups,) known amounts
    noise : (groups,) variance of the own error of each mean;  single : s², that of one sample
    """

    X: FloatArray
    y: FloatArray
    noise: FloatArray
    single: float


@dataclass(frozen=True, eq=False)
class Fits:
    """Coefficients at several sets of strengths.

    mean : (fits, features);  root : (fits, features, features), covariance = root root'
    shared : (fits,) variance of what replicates share;  evidence : (fits,) log of the marginal likelihood
    """

    mean: FloatArray
    root: FloatArray
    shared: FloatArray
    evidence: FloatArray


def fit_at(column: Column, ratio: FloatArray, tau: FloatArray) -> Fits:
    """Coefficients at strengths: ratio (fits,), what is shared over s²; tau (fits, features), zero for absent."""
    X, y = column.X, column.y
    shared = column.single * ratio
    spread = shared[:, None] + column.noise
    # In units of the prior, so that nothing is divided by a small τ.
    Z = X * tau[:, None, :]
    inner = np.eye(X.shape[1]) + np.swapaxes(Z, 1, 2) @ (Z / spread[:, :, None])
    L = np.linalg.cholesky(inner)
    inverse = np.linalg.solve(L, np.broadcast_to(np.eye(X.shape[1]), L.shape))
    root = tau[:, :, None] * np.swapaxes(inverse, 1, 2)
    z = np.einsum("nij,nj->ni", inverse, np.einsum("ngi,ng->ni", Z, y / spread))
    unit = np.einsum("nji,nj->ni", inverse, z)  # the mean over τ
    mean = tau * unit
    squares = (np.square(y - mean @ X.T) / spread).sum(axis=1) + np.square(unit).sum(axis=1)
    logs = np.log(spread).sum(axis=1) + 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    return Fits(mean, root, shared, -0.5 * (squares + logs))


@dataclass(frozen=True, eq=False)
class Strengths:
    """What strengths a column may have: ratio (points,), tau (points, blocks), and the weight of each point."""

    ratio: FloatArray
    tau: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class Blocks:
    """Which block each feature belongs to, −1 for what is not shrunk; those in `optional` may be absent."""

    of: tuple[int, ...]
    optional: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        return max(self.of, default=-1) + 1

    def by_feature(self, tau: FloatArray) -> FloatArray:
        """(points, features) from (points, blocks)."""
        return np.concatenate([tau, np.full((len(tau), 1), FREE)], axis=1)[:, list(self.of)]

    def choices(self) -> list[tuple[int, ...]]:
        """Which blocks are there, for each way of leaving optional ones out."""
        kept = [block for block in range(self.count) if block not in self.optional]
        ways = product(*((False, True) for _ in self.optional))
        return [tuple(sorted(kept + [b for b, on in zip(self.optional, way) if on])) for way in ways]


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Of the strengths that some columns share, with some of the blocks there."""

    columns: tuple[Column, ...]
    blocks: Blocks
    there: tuple[int, ...]

    def resolved(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ratio and τ by block, from logits (points, 1 + blocks that are there)."""
        tau = np.zeros((len(points), self.blocks.count))
        tau[:, list(self.there)] = np.exp(LEAST + (MOST - LEAST) * expit(points[:, 1:]))
        return np.exp(points[:, 0]), tau

    def log_density(self, points: FloatArray) -> FloatArray:
        """Evidence and prior, (points,).

        The logistic law of a logit is uniform in what it stands for; √r is half-Cauchy.
        """
        ratio, tau = self.resolved(points)
        by_feature = self.blocks.by_feature(tau)
        size = np.abs(points[:, 1:])
        prior = log_expit(points[:, 0]) - points[:, 0] / 2 - np.log(np.pi)
        prior -= (size + 2 * np.log1p(np.exp(-size))).sum(axis=1)
        return prior + sum(fit_at(column, ratio, by_feature).evidence for column in self.columns)

    def mode(self) -> FloatArray:
        size = 1 + len(self.there)
        moves = STEP * np.concatenate([np.zeros((1, size)), np.eye(size), -np.eye(size)])

        def cost(z: FloatArray) -> tuple[float, FloatArray]:
            values = -self.log_density(z + moves)
            return values[0], (values[1 : size + 1] - values[size + 1 :]) / (2 * STEP)

        starts = [np.append(shared, np.full(size - 1, tau)) for shared, tau in ((0.0, 2.0), (6.0, -2.0))]
        bounds, ends = [(-FURTHEST, FURTHEST)] * size, {"ftol": 1e-8, "gtol": 1e-3}
        found = [
            minimize(cost, at, jac=True, method="L-BFGS-B", bounds=bounds, options=ends) for at in starts
        ]
        return min(found, key=lambda one: one.fun).x

    def curvature(self, at: FloatArray) -> FloatArray:
        """Second derivatives of the density's negative logarithm."""
        n, moves = len(at), STEP * np.eye(len(at))
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        points = np.array([at + a * moves[i] + b * moves[j] for i, j in pairs for a, b in signs])
        values = -self.log_density(points).reshape(-1, 4) @ [1.0, -1.0, -1.0, 1.0] / (4 * STEP**2)
        H = np.empty((n, n))
        for (i, j), value in zip(pairs, values):
            H[i, j] = H[j, i] = value
        return H

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Logits that stand for all of them, and the logarithm of what each counts: (points, …), (points,)."""
        best = self.mode()
        size = len(best)
        values, vectors = np.linalg.eigh(self.curvature(best))
        spread = vectors / np.sqrt(np.maximum(values, WIDEST**-2))
        steps, drawn = _spread_points(size)
        points = best + steps @ (
            spread @ vectors.T
        )  # along the axes where all are alike, whatever their order
        logs = self.log_density(points) - drawn - float(np.log(np.maximum(values, WIDEST**-2)).sum()) / 2
        return points, logs - np.log(len(points))


def _spread_points(size: int) -> tuple[FloatArray, FloatArray]:
    """Points of a t law, the same whatever the data, so that answers are as smooth in them as the evidence is."""
    n = 2**LEVELS
    uniform = (qmc.Sobol(size + 1, scramble=False).random_base2(LEVELS) + 0.5 / n) % 1.0
    scale = np.sqrt(TAIL / chi2.ppf(uniform[:, 0], TAIL))
    steps = ndtri(uniform[:, 1:]) * scale[:, None]
    log_density = -0.5 * (TAIL + size) * np.log1p(np.square(steps).sum(axis=1) / TAIL)
    log_density += gammaln(0.5 * (TAIL + size)) - gammaln(0.5 * TAIL) - 0.5 * size * np.log(TAIL * np.pi)
    return steps, log_density


def likeliest(columns: list[Column], blocks: Blocks) -> list[Strengths]:
    """The one likeliest set of strengths, shared by the columns: one per column, of a single point."""
    found = [_Posterior(tuple(columns), blocks, there) for there in blocks.choices()]
    modes = [one.mode()[None, :] for one in found]
    best = max(range(len(found)), key=lambda i: float(found[i].log_density(modes[i])[0]))
    ratio, tau = found[best].resolved(modes[best])
    return [Strengths(ratio, tau, np.ones(1)) for _ in columns]


def weighed(columns: list[Column], blocks: Blocks) -> list[Strengths]:
    """All strengths with their weights, per column.

    Strengths are common to all columns, or each column has its own: both with equal odds beforehand.
    """
    own = [_averaged((column,), blocks) for column in columns]
    if len(columns) == 1:
        return [own[0][0]]
    common, together = _averaged(tuple(columns), blocks)
    apart = sum(evidence for _, evidence in own)
    share = float(expit(together - apart))
    return [_mixed(common, share, one, 1 - share) for one, _ in own]


def _averaged(columns: tuple[Column, ...], blocks: Blocks) -> tuple[Strengths, float]:
    """Over all strengths, with each optional block or without it, and the logarithm of the evidence."""
    parts, logs = [], []
    for there in blocks.choices():
        posterior = _Posterior(columns, blocks, there)
        points, weights = posterior.points()
        parts.append(posterior.resolved(points))
        logs.append(weights)
    log = np.concatenate(logs)
    total = float(logsumexp(log))
    ratio, tau = (np.concatenate(part) for part in zip(*parts))
    return Strengths(ratio, tau, np.exp(log - total)), total - float(np.log(len(logs)))


def _mixed(a: Strengths, share_a: float, b: Strengths, share_b: float) -> Strengths:
    weight = np.concatenate([share_a * a.weight, share_b * b.weight])
    kept = weight > NEGLIGIBLE * weight.max()
    weight = weight[kept] / weight[kept].sum()
    return Strengths(np.append(a.ratio, b.ratio)[kept], np.concatenate([a.tau, b.tau])[kept], weight)


def predicted(fits: Fits, X: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of samples' amounts by each fit, (fits, samples); own : (samples,) their own variance."""
    means = fits.mean @ X.T
    spread = np.stack([np.square(X @ root).sum(axis=1) for root in fits.root])
    return means, spread + fits.shared[:, None] + own


def quantile(means: FloatArray, spread: FloatArray, weight: FloatArray, level: float) -> FloatArray:
    """What each sample's amount is below with probability `level`, over all fits: (samples,)."""
    deviation = np.sqrt(spread)
    reach = deviation * ndtri(level)
    low, high = (means + reach).min(axis=0), (means + reach).max(axis=0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        below = weight @ ndtr((middle - means) / deviation) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
