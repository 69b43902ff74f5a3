"""Fits and their scores: synthetic samples, a default model, and what it found against the truth."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment, nnls

from common import Cell, Result, span, timed
from gmcr import GMCR, decode, make_mixtures
from gmcr.mixtures import Mixtures
from gmcr.noise import Poisson
from gmcr.scoring import compare
from gmcr.window.pool_update import update_pool

FRESH_SEED = 1_000_000  # far from any seed of training samples
COUNTS = {
    8: 10,
    12: 30,
    20: 300,
    30: 3000,
}  # counts per entry at which Poisson noise is as loud as so many dB


def setting(n: int, n_samples: int, snr_db: float | None, **others: Any) -> dict[str, Any]:
    """Settings of `make_mixtures`, the usual ones without their names."""
    return {"n_components": n, "n_samples": n_samples, "snr_db": snr_db, **others}


# Small, yet more than the dozen components up to which the solver fits every count in turn.
SMOKE = setting(16, 64, 30, n_features=64)


def grid_cells(
    counts: Iterable[int], levels: Iterable[float], seeds: Iterable[int], **others: Any
) -> list[Cell]:
    """Cells of the paper's grid, 4N and 8N samples, whose rows are named like 16-4N-20dB."""
    return [
        {"row": f"{n}-{ratio}N-{snr}dB", **setting(n, ratio * n, snr, random_state=seed), **others}
        for n in counts
        for ratio in (4, 8)
        for snr in levels
        for seed in seeds
    ]


def mixtures(cell: Cell) -> Mixtures:
    """The synthetic samples of a cell: those of its settings that `make_mixtures` knows."""
    known = inspect.signature(make_mixtures).parameters
    return make_mixtures(**{name: value for name, value in cell.items() if name in known})


def fresh_mixtures(cell: Cell, S: np.ndarray) -> Mixtures:
    """Samples that a model of this cell has not seen: `fresh` new mixtures, new noise, the same profiles."""
    seed = FRESH_SEED + cell["random_state"]
    return mixtures({**cell, "n_samples": cell["fresh"], "profiles": S, "random_state": seed})


def fit(D: np.ndarray, **options: Any) -> tuple[GMCR, float]:
    """A model told nothing but D and these options, and the seconds it took."""
    warm_up()
    model, seconds = timed(lambda: GMCR(**{"random_state": 0} | options).fit(D))
    if model.interrupted_:  # the best found so far: good for a user, no measurement
        raise KeyboardInterrupt
    return model, seconds


@cache
def warm_up() -> None:
    """Compile, or load, what a fit needs, so that no timing has to pay for it."""
    GMCR(n_components=2).fit(make_mixtures(2, 24, n_features=32, random_state=0).D)


def fit_and_score(mix: Mixtures) -> Result:
    """One default fit against the truth."""
    model, seconds = fit(mix.D)
    return score(mix, model) | {"seconds": seconds}


def score(mix: Mixtures, model: GMCR) -> Result:
    """Found against true.

    count, true_count : components found, and those that there are to find;  firm : whether it was sure of them
    exact, true_exact : share of samples whose support is right; the second when they are decoded over the
        true pool with the true noise
    min_cos, ls_min_cos : smallest cosine between matched profiles; the second for `least_squares_pool`
    apart_cos_gap : by how much the first falls short of the second over components that no other one always
        accompanies: for those, part of the companion can be moved into the profile and nothing in D tells
    noise_ratio : estimated over true noise, median over samples; nothing where there is no noise
    law : the noise law found
    """
    compared = compare(model, mix)
    reference = decode(mix.D, mix.S, noise=true_noise(mix))
    occurs = mix.supports.any(axis=0)
    best_cosines = (least_squares_pool(mix) * mix.S).sum(axis=1)
    apart = occurs & ~always_accompanied(mix.supports)
    found = matched_cosines(model.components_, mix.S)
    noisy = mix.sigma > 0
    return {
        "count": model.n_components_,
        "true_count": true_count(mix),
        "firm": model.count_.firm,
        "exact": compared.exact,
        "true_exact": share_exact(reference.supports, mix.supports),
        "min_cos": compared.min_cos,
        "ls_min_cos": float(best_cosines[occurs].min()),
        "apart_cos_gap": float((best_cosines[apart].min() - found[apart].min()) if apart.any() else 0.0),
        "noise_ratio": float(np.median(model.noise_[noisy] / mix.sigma[noisy])) if noisy.any() else None,
        "law": model.noise_law_.kind,
    }


def true_count(mix: Mixtures) -> int:
    """Components that occur: Algorithm 2 can leave one out of every sample, and then nothing can find it."""
    return int(mix.supports.any(axis=0).sum())


def always_accompanied(supports: np.ndarray) -> np.ndarray:
    """Whether some other component is in every sample that holds a component: (components,)."""
    together = supports.T.astype(float) @ supports
    np.fill_diagonal(together, -1.0)
    return together.max(axis=1) >= supports.sum(axis=0)


def share_exact(supports: np.ndarray, true_supports: np.ndarray) -> float:
    """Share of samples whose support is the true one; both (samples, components), in the same order."""
    return float((supports == true_supports).all(axis=1).mean())


def true_noise(mix: Mixtures) -> np.ndarray:
    """Standard deviations the samples were drawn with: (samples,), or per entry for counting noise."""
    if mix.noise != "poisson":
        return mix.sigma
    one_count = float(np.median(mix.sigma**2 / mix.clean.mean(axis=1)))
    return Poisson(one_count).sigma(mix.D, mix.clean).values


def least_squares_pool(mix: Mixtures, n_rounds: int = 5, n_sweeps: int = 20) -> np.ndarray:
    """The pool that non-negative least squares finds when the true supports are known: (N, channels).

    Profiles and concentrations are refitted in turn, from the truth, on the true supports and weighted by the
    true noise; supports never change. No blind method can be asked for better profiles than these.
    """
    sigma = true_noise(mix)
    sigma = np.where(sigma > 0, sigma, 1.0)
    sigma = sigma[:, None] if sigma.ndim == 1 else sigma
    S, _ = update_pool(mix.S, mix.D, mix.C, sigma**-2, n_sweeps=n_sweeps)
    for _ in range(n_rounds):
        C = np.zeros_like(mix.C)
        for m, support in enumerate(mix.supports):
            C[m, support] = nnls((S[support] / sigma[m]).T, mix.D[m] / sigma[m])[0]
        S, _ = update_pool(S, mix.D, C, sigma**-2, n_sweeps=n_sweeps)
    return S


def matched_cosines(found: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Cosine of each known profile with the found one assigned to it, zero where there is none: (known,)."""
    unit_found, unit_known = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (found, known))
    cosines = unit_known @ unit_found.T
    rows, columns = linear_sum_assignment(-cosines)
    best = np.zeros(len(known))
    best[rows] = cosines[rows, columns]
    return best


def summary(runs: pd.DataFrame) -> dict[str, Any]:
    """The scored runs of one cell as a line of a table. Gaps: positive is worse than the reference."""
    return {
        "counts exact": right_counts(runs),
        "largest miss": largest_miss(runs),
        "firm": f"{int(runs['firm'].sum())}/{len(runs)}",
        "exact": f"{runs['exact'].mean():.4f}",
        "true pool": f"{runs['true_exact'].mean():.4f}",
        "worst gap": f"{(runs['true_exact'] - runs['exact']).max():+.4f}",
        "min cos": f"{runs['min_cos'].min():.4f}",
        "LS pool": f"{runs['ls_min_cos'].min():.4f}",
        "worst cos gap": f"{cosine_gap(runs):+.4f}",
        "noise / true": span(runs["noise_ratio"], "{:.3f}"),
        "law": ", ".join(sorted(set(runs["law"]))),
        "seconds": f"{runs['seconds'].median():.2f}",
    }


def right_counts(runs: pd.DataFrame) -> str:
    """How many of the runs found the count."""
    return f"{(runs['count'] == runs['true_count']).sum()}/{len(runs)}"


def largest_miss(runs: pd.DataFrame) -> str:
    """The count furthest from the truth, as its difference."""
    miss = runs["count"] - runs["true_count"]
    worst = int(miss.loc[miss.abs().idxmax()])
    return f"{worst:+d}" if worst else "0"


def cosine_gap(runs: pd.DataFrame) -> float:
    """How far the smallest cosine falls short of the least-squares pool's, in the worst run."""
    return float((runs["ls_min_cos"] - runs["min_cos"]).max())


def exact_gap(runs: pd.DataFrame, by: str | list[str]) -> float:
    """How far the mean share of exact supports falls short of the true pool's, in the worst cell."""
    means = runs.groupby(by)[["true_exact", "exact"]].mean()
    return float((means["true_exact"] - means["exact"]).max())
