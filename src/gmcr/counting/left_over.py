"""What is left of a table beyond each count: by chance, under the law of the noise that it has, and held out."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.counting.ratios import TINY
from gmcr.noise import Instrument
from gmcr.validation import FloatArray, evenly

Parts = tuple[FloatArray, FloatArray, FloatArray]  # U, singular values, V'

SHIFTS = 2
POWERS = 12
ENOUGH_ENTRIES = 2000  # to tell the law of the noise
LEAST_NOISE = 0.03  # of the typical: smaller noise would give an entry all the weight
VANISHING = 1e-12  # of what is left: a law without a constant gives entries without a fit no noise at all
SEGMENTS = 8  # of channels, every other one of which is held out


def of_shifts(X: FloatArray, parts: Parts, most: int, seed: int) -> dict[str, FloatArray]:
    """How far a direction stands out from what is left once each sample is shifted along the channels by chance.

    Noise that is correlated along the channels is as strong after that; what samples share is not.

    X : (samples, channels);  parts : its singular value decomposition
    """
    rng = np.random.default_rng(seed)
    U, values, Vt = parts
    left, places = X.copy(), np.arange(X.shape[1])
    found = np.full(most + 1, np.nan)
    for k in range(min(most + 1, len(values) - 1)):
        # The direction k + 1 against those of shifted remainders of k.
        by_chance = []
        for _ in range(SHIFTS):
            moves = rng.integers(0, X.shape[1], len(X))
            by_chance.append(
                largest_value(np.take_along_axis(left, (places + moves[:, None]) % X.shape[1], 1), rng)
            )
        found[k] = np.log(max(values[k], TINY) / max(float(np.mean(by_chance)), TINY))
        left -= np.outer(U[:, k] * values[k], Vt[k])
    return {"shifted": found[:most], "shifted, next": found[1:]}


def of_law(X: FloatArray, parts: Parts, most: int, seed: int) -> dict[str, FloatArray]:
    """Whether what is left looks like white noise under the law that it has: its largest direction over the edge.

    Beside it the correlation of neighbouring channels, which smooth misfit has, and how heavy the tails are.
    """
    rng = np.random.default_rng(seed)
    U, values, Vt = parts
    m, d = X.shape
    rows = evenly(m, max(ENOUGH_ENTRIES // d, 1))
    fit = np.zeros_like(X)
    over, alike, tails = np.full((3, most + 1), np.nan)
    for k in range(1, min(most + 1, len(values))):
        fit += np.outer(U[:, k - 1] * values[k - 1], Vt[k - 1])
        left = X - fit
        law = Instrument.estimate(X[rows], fit[rows], left[rows], np.ones((len(rows), d)))
        variance = law.variance(fit)
        least = max(LEAST_NOISE**2 * variance.mean(), VANISHING * float(np.square(left).mean()), TINY)
        white = left / np.sqrt(np.maximum(variance, least))
        squares = np.square(white)
        power = max(float(squares.mean()), TINY)
        edge = np.sqrt(m - k) + np.sqrt(d - k)
        over[k] = np.log(max(largest_value(white, rng), TINY) / (edge * np.sqrt(power)))
        alike[k] = float((white[:, 1:] * white[:, :-1]).mean()) / power if d > 1 else np.nan
        tails[k] = np.log(max(float(np.square(squares).mean()), TINY)) - 2.0 * np.log(power)
    return {
        "left under the law": over[1:],
        "neighbours left": alike[1:],
        "tails left": tails[1:],
    }


def of_blocks(X: FloatArray, most: int, seed: int) -> dict[str, FloatArray]:
    """How well k directions predict blocks of entries from all others (Owen & Perry 2009), and how that changes.

    Blocks are half of the samples by every other stretch of channels: single entries would leak where noise is
    correlated.
    """
    m, d = X.shape
    one = np.random.default_rng(seed).permutation(m) < m // 2
    other = np.arange(d) * SEGMENTS // d % 2 == 0
    errors = np.zeros(most + 2)
    for rows in (one, ~one):
        for columns in (other, ~other):
            held, rest = X[rows][:, columns], X[~rows][:, ~columns]
            beside, below = X[rows][:, ~columns], X[~rows][:, columns]
            U, values, Vt = scipy.linalg.svd(rest, full_matrices=False, check_finite=False)
            errors[0] += np.square(held).sum()
            for k in range(1, most + 2):
                if k > len(values) or values[k - 1] <= 1e-12 * values[0]:
                    errors[k:] = np.nan
                    break
                held = held - np.outer(beside @ Vt[k - 1] / values[k - 1], U[:, k - 1] @ below)
                errors[k] += np.square(held).sum()
    falls = np.log(np.maximum(errors[:-1], TINY)) - np.log(np.maximum(errors[1:], TINY))
    best = np.nanargmin(errors)
    return {
        "held out: fall": falls[:-1],
        "held out: over the best": np.log(np.maximum(errors[1:-1], TINY) / max(errors[best], TINY)),
        "held out: beyond the best": np.arange(1.0, most + 1) - best,
    }


def largest_value(X: FloatArray, rng: np.random.Generator) -> float:
    """The largest singular value, about, by power iteration."""
    v = rng.standard_normal((X.shape[1],))
    for _ in range(POWERS):
        v = X.T @ (X @ (v / max(np.linalg.norm(v), TINY)))
    return float(np.sqrt(np.linalg.norm(v)))
