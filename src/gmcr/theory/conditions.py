"""The conditions of the certificate (Theorem 2), each with its status, number and threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gmcr.decoding.prices import usage_price
from gmcr.theory.facts import Facts
from gmcr.theory.pairs import profile_distance, span_distance
from gmcr.theory.window import gaussian_levels, net_levels, price_window

HOLDS, FAILS, UNCHECKED = "holds", "fails", "unchecked"
AGAINST_TRUTH = "compares with the true supports, which nothing in the data shows"
MOST_DECIBELS = 400.0  # searched for: noise 10^20 times smaller


@dataclass(frozen=True)
class Condition:
    """One condition: its name, "holds", "fails" or "unchecked", the number found, what it should be, and why."""

    name: str
    status: str
    value: float = np.nan
    threshold: float = np.nan
    note: str = ""


def fit_condition(name: str, facts: Facts, with_floor: bool = False) -> Condition:
    """(C1), (C3), (C8): every sample within its tolerance, with at most k components (of at least ϑ)."""
    over = facts.residual > facts.eps_fit
    sizes = (facts.C != 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(facts.residual > 0, facts.residual / facts.eps_fit, 0.0)
    worst = float(ratio.max())
    if sizes.max() > facts.k:
        note = f"a sample holds {sizes.max()} components, more than k = {facts.k}"
        return Condition(name, FAILS, float(sizes.max()), float(facts.k), note)
    if over.any():
        note = (
            f"{over.sum()} of {facts.n_samples} samples leave more than noise; the worst is {ratio.argmax()}"
        )
        return Condition(name, FAILS, worst, 1.0, note)
    amounts = np.abs(facts.C[facts.C != 0])
    if with_floor and amounts.size and amounts.min() < facts.floor:
        note = "a concentration lies below the floor ϑ"
        return Condition(name, FAILS, float(amounts.min()), facts.floor, note)
    return Condition(name, HOLDS, worst, 1.0, "largest residual over its tolerance")


def spark_condition(name: str, facts: Facts) -> Condition:
    """(C5), (C10): no 2k profiles nearly cancel."""
    spark = facts.spark
    note = f"between {spark.lower:.4g} and {spark.upper:.4g} for any {spark.size} profiles"
    if spark.upper < 1e-7:
        return Condition(name, FAILS, spark.upper, 0.0, f"profiles {spark.subset} cancel")
    status = HOLDS if spark.lower > 0 else UNCHECKED
    return Condition(name, status, spark.lower, 0.0, note if status == HOLDS else f"{note}; too wide to tell")


def pairs_condition(facts: Facts) -> Condition:
    """(C6): every component is isolated by two samples, on the solution's own supports."""
    pairs = facts.pairs
    lonely = np.flatnonzero(pairs.active & ~pairs.isolated)
    n = int(pairs.active.sum())
    if lonely.size:
        note = (
            f"no two samples single out component {', '.join(map(str, lonely[:8]))}{' …' * (lonely.size > 8)}"
        )
        return Condition("C6", FAILS, n - lonely.size, n, note)
    return Condition("C6", HOLDS, n, n, "components isolated by a pair, if the supports are right")


def diversity_condition(facts: Facts) -> Condition:
    """Conjecture R on the solution: pairs of supports that are both spanned at level γ_c."""
    level = facts.pairs.level[facts.pairs.active]
    short = int((level < max(facts.diversity, np.finfo(float).tiny)).sum())
    note = f"{len(level) - short} of {len(level)} components have isolating pairs that are spanned"
    return Condition("R", FAILS if short else HOLDS, float(level.min(initial=np.inf)), facts.diversity, note)


def fixed_pool_window(facts: Facts) -> Condition:
    """ε_ns ≤ ε_fit and ε_fit + ε_prj < c_min s_min, for every sample (Theorem 2a)."""
    name, needed = "fixed-pool window", float((facts.eps_fit + facts.levels.projected).max())
    reach = facts.c_min * facts.spark.lower
    if (facts.levels.norm > facts.eps_fit * (1 + 1e-12)).any():
        note = "the fit tolerance is smaller than the noise may be"
        return Condition(name, FAILS, float(facts.levels.norm.max()), float(facts.eps_fit.min()), note)
    if needed < reach:
        return Condition(name, HOLDS, needed, reach, "ε_fit + ε_prj against c_min s_min")
    if needed < facts.c_min * facts.spark.upper:
        margin = f"{needed / facts.c_min:.4g}"
        note = f"open if the spark margin is above {margin}; it is between the interval's ends"
        return Condition(name, UNCHECKED, needed, reach, note)
    paper = float((facts.net.norm + facts.net.projected).max())
    missing = decibels(needed, reach)
    note = f"{missing:.1f} dB more SNR would open it ({decibels(paper, reach):.1f} dB by the paper's bounds)"
    note = note if reach > 0 else "the pool's spark margin is zero, and no SNR would open it"
    return Condition(name, FAILS, needed, reach, note)


def usage_condition(facts: Facts, window: Condition) -> Condition:
    """(C2), which needs no truth inside the window.

    There a support that passes the fit condition contains the true one (detection lemma). So if it still passes
    without one of its components it is too large, and if it passes without none of them it is the true one.
    """
    if window.status != HOLDS:
        note = f"{AGAINST_TRUTH}; inside the fixed-pool window it could be decided"
        return Condition("C2", UNCHECKED, int((facts.C != 0).sum()), note=note)
    spare = facts.spare
    if spare.any():
        rows = int(spare.any(axis=1).sum())
        note = f"{rows} of {facts.n_samples} samples fit as well with one component less"
        return Condition("C2", FAILS, float(spare.sum()), 0.0, note)
    return Condition(
        "C2", HOLDS, 0.0, 0.0, "no sample fits with one component less, so no support is too large"
    )


def optimum_condition(facts: Facts) -> Condition:
    """Theorem 1(b) turned round: a single change that lowers the criterion speaks against a support.

    Removals are exact; of additions, only those are counted whose gain ⟨residual, s_j⟩² alone pays the price.
    """
    if facts.noiseless:
        return Condition(
            "local optimum", UNCHECKED, note="prices are in units of the noise, and there is none"
        )
    price = usage_price(facts.n_slots, facts.n_samples, facts.alpha)
    scale = facts.sigma[:, None] * np.sqrt(price)
    squares = facts.without**2 - np.square(facts.residual)[:, None]
    spare = (squares < scale**2).any(axis=1, where=facts.C != 0)
    lacking = ((facts.gains > scale) & (facts.C == 0)).any(axis=1)
    note = f"{spare.sum()} samples hold a component that noise explains, {lacking.sum()} lack one that pays"
    bad = int((spare | lacking).sum())
    return Condition("local optimum", FAILS if bad else HOLDS, bad, 0.0, note)


def price_condition(facts: Facts) -> Condition:
    """The window of Theorem 1(b), for all samples at once and for each by itself."""
    window = price_window(
        facts.c_min, facts.spark.lower, facts.sigma, facts.n_slots, facts.n_samples, facts.alpha
    )
    with np.errstate(divide="ignore"):
        nearest = np.nanmin(np.abs(facts.C) / np.sqrt(facts.inverse), axis=1, initial=np.inf) / facts.sigma
    note = (
        f"{window}; open by its own distances for {(nearest > 2 * np.sqrt(window.low)).mean():.1%} of samples"
    )
    return Condition("price window", HOLDS if window.is_open else FAILS, window.high, 2 * window.low, note)


@dataclass(frozen=True)
class RobustWindow:
    """The robust window of Theorem 2(c): its five inequalities and the errors it guarantees when open.

    f, profile_error, concentration_error : f, f′ and κ_c + Ĉ f′
    missing_db : by how much the noise would have to be smaller for all five to hold
    """

    is_open: bool
    f: float
    profile_error: float
    concentration_error: float
    holds: tuple[bool, ...]
    missing_db: float


def robust_window(facts: Facts) -> RobustWindow:
    """The window at the level γ_c; how far away it is, at the least level of those components that have one."""
    now = _robust(facts, facts.diversity, 1.0)
    levels = facts.pairs.level[facts.pairs.served]
    level = facts.diversity or float(levels.min(initial=np.inf))
    if now.is_open:
        return now
    low, high = 0.0, MOST_DECIBELS
    if not np.isfinite(level) or not _robust(facts, level, 10 ** (-high / 20)).is_open:
        return replace(now, missing_db=np.inf)
    while high - low > 0.05:
        middle = (low + high) / 2
        low, high = (low, middle) if _robust(facts, level, 10 ** (-middle / 20)).is_open else (middle, high)
    return replace(now, missing_db=high)


def _robust(facts: Facts, level: float, scale: float) -> RobustWindow:
    """The window with the noise `scale` times what it is; the learned pool's margin stands for the true one's."""
    k, s_min = facts.k, facts.spark.lower
    error = scale * float((facts.eps_fit + facts.levels.norm).max())  # ε̄
    if not np.sqrt(k) * error < s_min * level:
        return RobustWindow(False, np.inf, np.inf, np.inf, (False,) * 5, 0.0)
    f = float(span_distance(k, error, s_min, level))
    far = float(profile_distance(k, f, f, s_min))
    bound = (k * facts.c_max + error) / s_min  # Ĉ
    kappa = (error + np.sqrt(k) * bound * far) / s_min
    floor = (error + k * facts.c_max * far / (1 - far)) / s_min if far < 1 else np.inf
    holds = (
        True,
        bool(np.sqrt(2 * k) * f < s_min),
        bool(far * (1 + 2 / s_min) < 1),
        bool(kappa < facts.c_min),
        bool(floor < facts.floor),
    )
    return RobustWindow(all(holds), f, far, float(kappa + bound * far), holds, 0.0)


def reuse_condition(facts: Facts) -> Condition:
    """Corollary 1: the fixed-pool window for a single fresh sample over this pool."""
    scale = float(np.median(facts.sigma))
    k, n = facts.k, int(facts.pairs.active.sum())
    both = [
        law(scale, facts.S.shape[1], max(n, 1), 1, k, facts.alpha) for law in (gaussian_levels, net_levels)
    ]
    exact, paper = (float(levels.norm + levels.projected) for levels in both)
    reach = facts.c_min * facts.spark.lower
    if exact < reach:
        note = "a new sample of median noise is decoded with proof"
        return Condition("single samples", HOLDS, exact, reach, note)
    note = f"{decibels(exact, reach):.1f} dB short ({decibels(paper, reach):.1f} dB by the paper's bounds)"
    note = note if reach > 0 else "the pool's spark margin is zero, and no SNR would do"
    return Condition("single samples", FAILS, exact, reach, note)


def decibels(needed: float, reach: float) -> float:
    """By how many dB the noise is too large when `needed`, which grows with it, is to come below `reach`."""
    return float(20 * np.log10(needed / reach)) if reach > 0 and needed > 0 else np.inf
