"""Cheap numbers that speak for or against each count: singular values, their vectors, halves, and a short fit.

All are ratios, cosines or correlations: they stay the same when the samples are scaled and, those of the halves
and shifts apart, when they are permuted. Samples have no order here; channels do. What is told of a count k is
of its own direction, the k-th, or of what is left beyond it; what speaks of k − 1 and k + 1 stands in their rows.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.counting.by_sample import of_samples
from gmcr.counting.cleaning import cleaned
from gmcr.counting.few import of_few
from gmcr.counting.fits import of_fits
from gmcr.counting.left_over import Parts, of_blocks, of_law, of_shifts
from gmcr.counting.likeness import of_likeness
from gmcr.counting.neighbours import of_neighbours
from gmcr.counting.ratios import TINY, at, digits, log_ratio
from gmcr.rank import levelled, marchenko_pastur, noise_edge, whitened_counts
from gmcr.validation import FloatArray
from gmcr.window.first_guess import unit_rows

MOST_CHANNELS = 200  # beyond which neighbours are added up: more were never learned from
BEYOND = 2  # singular values past the last count that are looked at
SPLITS = 3  # into halves
ROUNDING = 1e-9  # of directions whose squares sum to one


def candidate_counts(shape: tuple[int, ...], most: int) -> int:
    """The largest count that so many samples and channels let be looked at."""
    return max(min(most, min(shape) - 1 - BEYOND), 1)


def cheap_numbers(X: FloatArray, most: int, counts: bool = False, seed: int = 0) -> dict[str, FloatArray]:
    """By name, a number for each count from one to `most`; NaN where there is none.

    X : (samples, channels), without gaps;  counts : whether its noise may be that of counts
    """
    X = _binned(X)
    m, d = X.shape
    found: dict[str, FloatArray] = {}
    white = whitened_counts(X)[0] if counts else levelled(X)
    parts = scipy.linalg.svd(white, full_matrices=False, check_finite=False)
    if counts:  # of which the few largest samples would decide all that follows
        X = white
    U, values, Vt = parts if counts else scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    for name, own in {
        "plain": values,
        "counting": scipy.linalg.svdvals(_by_signal(X), check_finite=False),
        "relative": scipy.linalg.svdvals(unit_rows(X), check_finite=False),
        "whitened": parts[1],
    }.items():
        found |= _of_values(own, (m, d), most, name)
    clean = cleaned(X)
    clean_parts = scipy.linalg.svd(clean, full_matrices=False, check_finite=False)
    found |= _of_values(clean_parts[1], clean.shape, most, "cleaned")
    found |= of_shifts(white, parts, most, seed)
    found |= of_law(clean, clean_parts, most, seed)
    found |= of_blocks(white, most, seed)
    found |= of_likeness(clean_parts, most, seed)
    found |= of_samples(clean, clean_parts, most, seed)
    found |= of_neighbours(clean_parts, marchenko_pastur(parts[1], (m, d))[0].count, most)
    found |= _of_vectors(U, Vt, most) | _of_scores(clean_parts, most) | of_few((U, values, Vt), most)
    found |= _of_halves(X, most, seed)
    found |= {f"whitened: {name}": values for name, values in _of_halves(white, most, seed).items()}
    found |= of_fits(X, values, most, seed)
    left = np.sqrt(np.maximum(np.cumsum(values[::-1] ** 2)[::-1], 0.0))
    curvature = np.diff(X, 2, axis=1)
    rough = np.sqrt(np.mean(curvature**2) / 6.0) if curvature.size else np.nan
    n_left = np.maximum((m - np.arange(len(left))) * (d - np.arange(len(left))), 1)
    found["tail over roughness"] = log_ratio(at(left / np.sqrt(n_left), most, 1), rough)
    negative = np.square(np.minimum(X, 0.0)).sum() / np.square(X).sum()
    for name, value in {
        "negative": negative,
        "samples": np.log(m),
        "channels": np.log(d),
        "smaller side": np.log(min(m, d)),
    }.items():
        found[name] = np.full(most, value)
    found["count"] = np.arange(1.0, most + 1)
    found["count of smaller side"] = found["count"] / min(m, d)
    return found


def _binned(X: FloatArray) -> FloatArray:
    """Neighbouring channels added up until they are not too many."""
    step = -(-X.shape[1] // MOST_CHANNELS)
    return np.add.reduceat(X, np.arange(0, X.shape[1], step), axis=1) if step > 1 else X


def _by_signal(X: FloatArray) -> FloatArray:
    """Entries over the square root of what their sample and channel have: white where counting made the noise."""
    rows, columns = np.abs(X).mean(axis=1), np.abs(X).mean(axis=0)
    scale = np.sqrt(np.outer(rows, columns) / max(np.abs(X).mean(), np.finfo(float).tiny))
    return X / np.maximum(scale, 1e-3 * scale.max())


def _of_values(values: FloatArray, shape: tuple[int, int], most: int, name: str) -> dict[str, FloatArray]:
    """Gaps between singular values, and how far they stand out from the edge of white noise like the rest."""
    values = values / values[0]
    gaps = log_ratio(values[:-1], values[1:])
    counts = np.arange(1, most + 1)
    tail = np.array([np.sqrt(np.mean(values[k:] ** 2)) if k < len(values) else np.nan for k in counts])
    n, p = max(shape) - counts, min(shape) - counts
    # Entries of the rest have this standard deviation: of min(m, d) − k values, each Σ over the longer side.
    noise = tail * np.sqrt(np.maximum(len(values) - counts, 1) / np.maximum(n * p, 1))
    edge = noise * noise_edge(np.maximum(n, 1.0), np.maximum(p, 1.0))
    found = {
        f"{name}: gap": at(gaps, most, 0),
        f"{name}: over the edge": log_ratio(at(values, most, 0), edge),
        f"{name}: next over the edge": log_ratio(at(values, most, 1), edge),
        f"{name}: of the first": log_ratio(at(values, most, 0), 1.0),
    }
    later = np.array([gaps[k:].max() if k < len(gaps) else np.nan for k in counts])
    found[f"{name}: gap over later ones"] = found[f"{name}: gap"] - later
    return found


def _of_vectors(U: FloatArray, Vt: FloatArray, most: int) -> dict[str, FloatArray]:
    """Smoothness along the channels, and whether one sample or channel makes a direction."""
    lag = np.einsum("kl,kl->k", Vt[:, 1:], Vt[:, :-1])
    return {
        "smooth": at(lag, most, 0),
        "smooth, last": np.full(most, lag[min(most, len(lag) - 1)]),
        "one sample": at(np.abs(U).max(axis=0), most, 0),
        "one channel": at(np.abs(Vt).max(axis=1), most, 0),
    }


def _of_scores(parts: Parts, most: int) -> dict[str, FloatArray]:
    """How values lie along each direction: those of chance are symmetric, without a mean, and bell-shaped."""
    U, values, Vt = parts
    found = {}
    for side, scores in (("samples", U), ("channels", Vt.T)):
        about = scores - scores.mean(axis=0)
        spread = np.maximum(np.sqrt(np.square(about).mean(axis=0)), ROUNDING)
        size = np.square(scores * values).sum(axis=1)
        for name, of_each in (
            ("mean", np.abs(scores.sum(axis=0)) / np.sqrt(len(scores))),
            ("skewness", np.abs((about**3).mean(axis=0)) / spread**3),
            ("tails", np.log(np.maximum((about**4).mean(axis=0), TINY)) - 4.0 * np.log(spread)),
            ("where signal is", np.square(scores).T @ size / max(float(size.mean()), TINY)),
        ):
            found[f"{name} of {side}"] = at(of_each, most, 0)
    return found


def _of_halves(X: FloatArray, most: int, seed: int) -> dict[str, FloatArray]:
    """How well the spaces of the first k directions of random halves agree, in digits: the median over splits."""
    rng = np.random.default_rng(seed)
    agreed = np.full((SPLITS, most + BEYOND), np.nan)
    for split in agreed:
        halves = np.array_split(rng.permutation(len(X)), 2)
        first, second = (
            scipy.linalg.svd(X[half], full_matrices=False, check_finite=False)[2] for half in halves
        )
        overlap = first @ second.T
        for k in range(1, min(most + BEYOND, len(first) - 1, len(second) - 1) + 1):
            split[k - 1] = digits(scipy.linalg.svdvals(overlap[:k, :k], check_finite=False)[-1:])[0]
    middle = np.full(most + BEYOND, np.nan)
    seen = ~np.isnan(agreed).all(axis=0)
    middle[seen] = np.nanmedian(agreed[:, seen], axis=0)
    later = np.array(
        [np.nanmax(middle[k:]) if (~np.isnan(middle[k:])).any() else np.nan for k in range(1, most + 1)]
    )
    return {"halves": middle[:most], "halves over later ones": middle[:most] - later}
