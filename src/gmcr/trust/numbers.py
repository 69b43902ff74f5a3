"""Numbers of a solution that tell right answers from wrong ones: of the table as a whole, and of each component.

All are shares, cosines by their digits, logarithms of ratios, or sizes: the unit of the data does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gmcr.counting.ratios import TINY, digits, log_ratio
from gmcr.decoder import Decoding
from gmcr.rank import noise_edge
from gmcr.validation import FloatArray, evenly
from gmcr.window.dense_fit import factorise, filled, starting_pools
from gmcr.window.evidence import Evidence
from gmcr.window.spread import Spread, spread_of_pool

ENOUGH = 400  # samples and channels that are looked at
STRONG = 0.1  # of the largest sample: what is weaker is too noisy to be called pure
SPLITS, SPLIT_SWEEPS = 4, 30
MANY = 16  # components, beyond which neither other starts nor other pools are tried: supports tell them apart


@dataclass(frozen=True)
class Answer:
    """What is judged: samples and the solution for them.

    D : (samples, channels), NaN where missing;  C : (samples, components);  S : (components, channels), unit norm
    evidence : on the count;  decoding : of the samples: which are explained, how sure the supports are
    n_fixed : the first so many profiles were given;  signed : whether profiles may be negative
    """

    D: FloatArray
    C: FloatArray
    S: FloatArray
    evidence: Evidence
    decoding: Decoding
    n_fixed: int = 0
    signed: bool = False


@dataclass(frozen=True)
class Numbers:
    """By name, of the table; by name, of each component, (components,); and the spread about the profiles."""

    table: dict[str, float]
    components: dict[str, FloatArray]
    spread: Spread | None


def numbers_of(answer: Answer) -> Numbers:
    """All numbers; NaN where there is none."""
    rows = evenly(len(answer.D), ENOUGH)
    X = filled(answer.D[rows], len(answer.S))
    many = len(answer.S) > MANY
    spread = None
    if not many and not (answer.C < 0).any():
        spread = spread_of_pool(X, answer.S, np.ones(len(X)), answer.n_fixed, answer.signed)
    components = _of_components(answer, X, rows, spread)
    return Numbers(_of_table(answer, X, rows, components), components, spread)


def _of_table(answer: Answer, X: FloatArray, rows: np.ndarray, of: dict[str, FloatArray]) -> dict[str, float]:
    evidence, (m, d), k = answer.evidence, answer.D.shape, len(answer.S)
    values = scipy.linalg.svdvals(X, check_finite=False)
    residual = X - answer.C[rows] @ answer.S
    left = float(np.square(residual).sum())
    best = float(np.square(values[k:]).sum())
    pairs = float((residual[:, 1:] * residual[:, :-1]).sum())
    chances = evidence.probabilities
    others = [p for count, p in chances.items() if count != evidence.count]
    noise = np.sqrt(left / max(residual.size, 1))
    edge = noise * float(noise_edge(max(X.shape), min(X.shape)))
    found = {
        "probability of the count": chances.get(evidence.count, np.nan),
        "probability of the next": max(others, default=np.nan),
        "probability of more": sum(p for count, p in chances.items() if count > evidence.count),
        "left over rank": float(log_ratio(left, max(best, 1e-15 * float(np.square(X).sum())))),
        "unexplained": float((~answer.decoding.known).mean()),
        "gap": float(log_ratio(values[k - 1], values[k])) if k < len(values) else np.nan,
        "over noise": float(log_ratio(values[min(k, len(values)) - 1], edge)),
        "neighbours left": pairs / max(left, TINY),
        "direction left": float(log_ratio(_largest(residual), edge)),
        "condition": float(log_ratio(np.linalg.cond(answer.S), 1.0)),
        "explained": float(log_ratio(left, float(np.square(X).sum()))),
        "profiles back": _digits_of(evidence.reproducibility.get(k, np.nan)),
        "profiles back, next": _digits_of(evidence.reproducibility.get(k + 1, np.nan)),
        "starts agree": _digits_of(evidence.agreement.get(k, np.nan)),
        "starts agree, next": _digits_of(evidence.agreement.get(k + 1, np.nan)),
        "white noise left": float(evidence.white),
        "share that samples hold": float((answer.C != 0).mean()),
        "negative": float(np.square(np.minimum(X, 0.0)).sum() / max(float(np.square(X).sum()), TINY)),
        "signed": float(answer.signed),
        "components": float(k),
        "samples": float(np.log(m)),
        "channels": float(np.log(d)),
        "components of the smaller side": k / min(m, d),
    }
    for name, each in of.items():
        seen = each[~np.isnan(each)]
        found[f"least: {name}"] = float(seen.min()) if seen.size else np.nan
        found[f"mean: {name}"] = float(seen.mean()) if seen.size else np.nan
    return found


def _of_components(
    answer: Answer, X: FloatArray, rows: np.ndarray, spread: Spread | None
) -> dict[str, FloatArray]:
    """Whether each profile comes back, from halves and other starts; whether it is pure somewhere; its share."""
    C, S = answer.C[rows], answer.S
    none = np.full(len(S), np.nan)
    signal = np.abs(C) * np.abs(S).sum(axis=1)
    size = signal.sum(axis=1, keepdims=True)
    strong = size[:, 0] >= STRONG * size.max(initial=0.0)
    shares = signal / np.maximum(size, TINY)
    height = (np.abs(C).sum(axis=0) @ np.abs(S))[None]
    in_channels = np.abs(C).sum(axis=0)[:, None] * np.abs(S) / np.maximum(height, TINY)
    clear = height[0] >= STRONG * height.mean()
    gram = S @ S.T - 2.0 * np.eye(len(S))
    few = len(S) <= MANY
    return {
        "range": none if spread is None else digits(spread.cosines),
        "farthest": none if spread is None else digits(np.einsum("kl,kl->k", spread.farthest, S)),
        "halves": _back_from_halves(X, S, answer.signed) if few else none,
        "other starts": _back_from_starts(X, S, answer.signed) if few else none,
        "purest sample": shares[strong].max(axis=0, initial=0.0),
        "purest channel": in_channels[:, clear].max(axis=1, initial=0.0),
        "share of the signal": np.log(np.maximum(signal.sum(axis=0) / max(signal.sum(), TINY), TINY)),
        "most alike": -digits(np.clip(gram.max(axis=1), -1.0, 1.0)) if len(S) > 1 else none,
        "samples that hold it": np.log(np.maximum((answer.C != 0).sum(axis=0), 1)),
    }


def _back_from_halves(X: FloatArray, S: FloatArray, signed: bool) -> FloatArray:
    """Digits of the cosine of each profile with its own in halves of the samples, refitted from it."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(SPLITS):
        for half in np.array_split(rng.permutation(len(X)), 2):
            if len(half) > len(S):
                pool = factorise(X[half], S, SPLIT_SWEEPS, signed, near=True)
                found.append(np.einsum("kl,kl->k", pool, S))
    return digits(np.median(found, axis=0)) if found else np.full(len(S), np.nan)


def _back_from_starts(X: FloatArray, S: FloatArray, signed: bool) -> FloatArray:
    """Digits of the cosine of each profile with the most alike one of fits from other starts, in the median."""
    if len(S) >= min(X.shape):
        return np.full(len(S), np.nan)
    pools = starting_pools(X if signed else np.maximum(X, 0.0), len(S), signed)
    return digits(np.median([(S @ pool.T).max(axis=1) for pool in pools], axis=0))


def _largest(residual: FloatArray) -> float:
    small = residual if residual.shape[0] >= residual.shape[1] else residual.T
    return float(np.sqrt(max(float(np.linalg.eigvalsh(small.T @ small)[-1]), 0.0)))


def _digits_of(cosine: float) -> float:
    return float(digits(np.array(cosine)))
