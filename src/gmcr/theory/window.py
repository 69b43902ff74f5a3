"""The window of prices (Theorem 1) and the noise levels of the certificate (Theorem 2).

For prices λ inside the window the true support is the strict optimum of the criterion (Eq. 3) under every
change of one component. Prices and windows are in noise units here, as everywhere in gmcr: the paper's λ
divided by σ².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2

from gmcr.decoding.prices import ALPHA, usage_price
from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, as_numbers, check_share

SMALLEST_TAIL = -690.0  # log of the smallest tail probability that a float holds with all its digits
STACKED = 4_000_000  # entries of Gram matrices inverted at a time


@dataclass(frozen=True)
class PriceWindow:
    """The prices for which Theorem 1(b) puts the truth at the optimum, in noise units.

    Attributes
    ----------
    low, high : L_α² and (c_min s_min / σ − L_α)², zero where the noise hides the weakest component
    is_open : whether c_min s_min > 2 σ L_α, the SNR condition
    missing_db : by how many decibel the SNR would have to be higher for it; zero where it is open
    """

    low: float
    high: float
    is_open: bool
    missing_db: float

    def __str__(self) -> str:
        if self.is_open:
            return f"window open: prices between {self.low:.4g} and {self.high:.4g} in noise units"
        if not np.isfinite(self.missing_db):
            return "window closed: no SNR would open it"
        return f"window closed: {self.missing_db:.1f} dB more SNR would open it"


def price_window(
    c_min: float, s_min: float, sigma: Any, n_components: int, n_samples: int, alpha: float = ALPHA
) -> PriceWindow:
    """The window for all samples at once, from the smallest concentration and the spark margin (Theorem 1).

    sigma : noise, one number or one per sample; the largest rules
    """
    price = usage_price(n_components, n_samples, alpha)
    noise = float(np.max(_not_negative(sigma, "sigma")))
    weakest = float(_not_negative(c_min, "c_min")) * float(_not_negative(s_min, "s_min"))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.divide(weakest, noise) if weakest > 0 else 0.0
    missing = -20 * np.log10(distance / (2 * np.sqrt(price))) if distance > 0 else np.inf
    return PriceWindow(
        low=price,
        high=float(max(distance - np.sqrt(price), 0.0) ** 2),  # what a removal surely costs (Step 7)
        is_open=bool(distance > 2 * np.sqrt(price)),
        missing_db=float(max(missing, 0.0)),
    )


# Distances within each support


def inverse_gram_diagonals(S: FloatArray, supports: BoolArray) -> FloatArray:
    """(G_J⁻¹)_ii for each sample's own support J: (samples, slots), NaN where a slot is not held.

    It is 1 / dist(s_i, span of the others)², infinite where the others contain s_i. Equal supports are done
    once, and supports of equal size together.
    """
    norms = np.linalg.norm(S, axis=1)
    unit = S / norms[:, None]
    G = unit @ unit.T
    rows, inverse = np.unique(np.packbits(supports, axis=1), axis=0, return_inverse=True)
    unique = np.unpackbits(rows, axis=1, count=supports.shape[1]).astype(bool)
    found = np.full(unique.shape, np.nan)
    sizes = unique.sum(axis=1)
    for size in np.unique(sizes[sizes > 0]):
        same = np.flatnonzero(sizes == size)
        step = max(1, STACKED // int(size) ** 2)
        for first in range(0, len(same), step):
            part = same[first : first + step]
            slots = np.nonzero(unique[part])[1].reshape(len(part), size)
            diagonal = _inverse_diagonals(G[slots[:, :, None], slots[:, None, :]])
            found[part[:, None], slots] = diagonal / norms[slots] ** 2
    return found[inverse.ravel()]


def _inverse_diagonals(grams: FloatArray) -> FloatArray:
    """Diagonals of the inverses of stacked Gram matrices of unit profiles: (stack, size)."""
    try:
        diagonal = np.einsum("bii->bi", np.linalg.inv(grams)).copy()
    except np.linalg.LinAlgError:
        diagonal = np.full(grams.shape[:2], np.nan)
    # An inverse below one, or of more digits than there are, is rounding: such supports are done by what
    # each profile has outside the span of the others.
    broken = ~((diagonal >= 1 - 1e-9) & (diagonal < 1e8)).all(axis=1)
    for b in np.flatnonzero(broken):
        values, vectors = np.linalg.eigh(grams[b])
        null = values <= 1e-13 * values[-1] * len(values)
        inside = (vectors[:, ~null] ** 2 / values[~null]).sum(axis=1)
        diagonal[b] = np.where((vectors[:, null] ** 2).sum(axis=1) > 1e-10, np.inf, inside)
    return np.maximum(diagonal, 1.0)


# The noise levels of Theorem 2


@dataclass(frozen=True, eq=False)
class NoiseLevels:
    """The noise event of Theorem 2: with probability 1 − α no sample's noise exceeds these.

    Attributes
    ----------
    norm : ε_ns, of the noise as a whole; one number, or one per sample as `sigma` came
    projected : ε_prj, of the noise projected on any 2k profiles
    """

    norm: Any
    projected: Any


def net_levels(
    sigma: Any, n_channels: int, n_components: int, n_samples: int, k: int, alpha: float = ALPHA
) -> NoiseLevels:
    """The paper's levels, by nets of the sphere: good for any sub-Gaussian noise of proxy σ."""
    scale, log_tail = _not_negative(sigma, "sigma"), _log_share(n_samples, k, alpha)
    log_subsets = logsumexp([log_binomial(n_components, r) for r in range(min(2 * k, n_components) + 1)])
    norm = 2 * np.sqrt(2 * (n_channels * np.log(5) - log_tail))
    projected = 2 * np.sqrt(2 * (2 * k * np.log(5) - log_tail + log_subsets))
    return NoiseLevels((scale * norm)[()], (scale * projected)[()])


def gaussian_levels(
    sigma: Any, n_channels: int, n_components: int, n_samples: int, k: int, alpha: float = ALPHA
) -> NoiseLevels:
    """The same levels for Gaussian noise, by exact chi-square quantiles: about a third of the paper's.

    A projection on fewer profiles is never longer than on more, so subsets of exactly min(2k, N) profiles are
    enough. Where those can fill all channels the projection is the noise itself.
    """
    scale, log_tail = _not_negative(sigma, "sigma"), _log_share(n_samples, k, alpha)
    norm = np.sqrt(chi_square_quantile(n_channels, log_tail))
    size = min(2 * k, n_components)
    projected = norm
    if size < n_channels:
        projected = np.sqrt(chi_square_quantile(size, log_tail - log_binomial(n_components, size)))
    return NoiseLevels((scale * norm)[()], (scale * min(norm, projected))[()])


def chi_square_quantile(dof: int, log_tail: float) -> float:
    """The value that chi-square of `dof` exceeds with probability exp(log_tail), or a little more than it.

    Beyond what a float holds, from the bound Γ(a, x) ≤ xᵃ e⁻ˣ / (x − a + 1) for x > a − 1, a = dof / 2 ≥ 1,
    which is tight there.
    """
    if log_tail >= SMALLEST_TAIL:
        return float(chi2.isf(np.exp(log_tail), dof))
    shape = max(dof, 2) / 2  # at least one: chi-square grows with its degrees of freedom

    def excess(x: float) -> float:
        return shape * np.log(x) - x - np.log(x - shape + 1) - gammaln(shape) - log_tail

    # Laurent and Massart's bound lies above the quantile; the mean lies below it.
    highest = dof + 2 * np.sqrt(-dof * log_tail) - 2 * log_tail
    return 2 * float(brentq(excess, shape, highest, xtol=1e-9 * highest)) * (1 + 1e-8)


def log_binomial(n: int, r: int) -> float:
    """The logarithm of the number of subsets of r out of n."""
    return float(gammaln(n + 1) - gammaln(r + 1) - gammaln(n - r + 1))


def _log_share(n_samples: int, k: int, alpha: float) -> float:
    """log α/(2M): the chance that one sample's noise is let exceed one of the two levels."""
    check_share(alpha, "alpha")
    if k < 1 or n_samples < 1:
        raise InputError(f"k and n_samples must be at least 1, but are {k} and {n_samples}.")
    return float(np.log(alpha) - np.log(2.0 * n_samples))


def _not_negative(values: Any, name: str) -> FloatArray:
    array = as_numbers(values, name)
    if array.size == 0 or not (np.isfinite(array) & (array >= 0)).all():
        raise InputError(f"{name} must be finite and not negative, but is {values}.")
    return array
