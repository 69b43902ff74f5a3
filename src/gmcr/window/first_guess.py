"""Where the solver starts: the noise law and the count that the singular values suggest, and the first pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gmcr.errors import InputError
from gmcr.noise import Counts, ErrorCovariance, NoiseLaw, Proportional, whitenings
from gmcr.rank import WHITE_MISFIT, marchenko_pastur, misfit, noise_edge, prepare, whitened_counts
from gmcr.validation import FloatArray
from gmcr.window.remembering import remembered, storable


@storable
@dataclass(frozen=True)
class Guess:
    """What the singular values suggest: a noise law with its level, and the count above its edge.

    white : whether what is left looks like white noise once the law's scaling is taken out
    noisy : whether anything but rounding errors is left
    """

    law: NoiseLaw
    count: int
    white: bool
    noisy: bool = True


@remembered
def guesses(D: FloatArray, counts: bool = False) -> list[Guess]:
    """A guess per noise law, the one whose remainder looks most like white noise first.

    counts : whether the table's noise may be that of counts
    """
    try:
        table, _ = prepare(D, np.random.default_rng(0))
    except InputError:  # too small for singular values to tell signal from noise
        return [Guess(Proportional(0.1), 1, True)]
    scalings: list[tuple[Callable[[float], NoiseLaw], FloatArray]] = [
        (law.of_white, scaled) for law, scaled in whitenings(table).items()
    ]
    if counts:
        scaled, overdispersion = whitened_counts(table)
        scalings.append((lambda _: Counts(slope=float(np.sqrt(overdispersion))), scaled))
    found = [_guess(law_of, scaled) for law_of, scaled in scalings]
    return [guess for _, guess in sorted(found, key=lambda pair: (not pair[1].white, pair[0]))]


def guess_of_given(evened: FloatArray, law: NoiseLaw) -> Guess:
    """The guess where the noise is given, from the samples with about the same noise in all entries."""
    try:
        table, _ = prepare(evened, np.random.default_rng(0))
    except InputError:  # as above
        return Guess(law, 1, True)
    return _guess(lambda _: law, table)[1]


def _guess(law_of: Callable[[float], NoiseLaw], scaled: FloatArray) -> tuple[float, Guess]:
    """The guess from a table whose noise is white under a law, and how far what is left is from that."""
    values = singular_values(scaled)
    edge, noise = marchenko_pastur(values, scaled.shape)
    noisy = bool(values[edge.count] > values[-1])
    places = misfit(values, edge.count, noise, scaled.shape) if noisy else 0.0
    # A remainder of less than half of the values is no evidence of anything.
    white = places <= WHITE_MISFIT and 2 * edge.count <= len(values)
    return places / (len(values) - edge.count), Guess(law_of(noise), max(edge.count, 1), white, noisy)


def guess_of_known(D: FloatArray, law: NoiseLaw, covariance: ErrorCovariance) -> Guess:
    """The guess where replicates tell how large errors are and how channels are off together.

    With channels in units of their own errors and modes brought down to these (the maximum-likelihood projection
    of samples whose errors are alike, Wentzell et al. 1997), noise is white and of size one, but for what few
    replicates leave unknown of them.
    """
    values = singular_values(covariance.whitened(np.where(np.isnan(D), np.nanmean(D, axis=0), D)))
    n, p = max(D.shape), min(D.shape)
    count = 0
    while count < p - 1 and values[count] > covariance.excess * noise_edge(n - count, p - count):
        count += 1
    white = 2 * count <= p and misfit(values, count, 1.0, D.shape) <= WHITE_MISFIT
    return Guess(law, max(count, 1), white)


def singular_values(table: FloatArray) -> FloatArray:
    """Singular values from the smaller Gram matrix; those lost in its rounding are all set to one value."""
    gram = table @ table.T if table.shape[0] <= table.shape[1] else table.T @ table
    squares = scipy.linalg.eigvalsh(gram, check_finite=False)[::-1]
    resolution = squares[0] * np.finfo(float).eps * len(squares)
    return np.sqrt(np.maximum(squares, resolution))


def extreme_samples(X: FloatArray, n: int) -> np.ndarray:
    """Indices of `n` samples that span as much as `n` samples can, whatever their size.

    Where there are pure samples, these are the first to be taken. The first is the one least like their mean:
    all are equally large, and rounding errors must not choose.
    """
    unit = unit_rows(X)
    first = int(np.argmin(np.where(unit.any(axis=1), unit @ unit.mean(axis=0), np.inf)))
    outside = unit - np.outer(unit @ unit[first], unit[first])
    outside[first] = 0.0
    return np.append(first, spanning_rows(outside, n - 1))


def spanning_rows(X: FloatArray, n: int) -> np.ndarray:
    """Indices of the `n` rows that the successive projection algorithm takes.

    Each next row is the one with the largest part outside the span of those before, which is a QR decomposition
    with column pivoting.
    """
    return scipy.linalg.qr(X.T, mode="r", pivoting=True, check_finite=False)[1][:n]


def coarsest_noise(X: FloatArray) -> float:
    """The noise level, relative to a sample's size, at which a single profile explains the samples."""
    unit = unit_rows(X)
    mean = unit.mean(axis=0)
    share = (unit @ mean) ** 2 / max(mean @ mean, np.finfo(float).tiny)
    return float(np.sqrt(np.median(1.0 - np.minimum(share, 0.9999))))


def unit_rows(X: FloatArray) -> FloatArray:
    """Rows scaled to unit norm; rows of zeros stay."""
    norms = np.linalg.norm(X, axis=1)
    return X / np.where(norms > 0, norms, 1.0)[:, None]
