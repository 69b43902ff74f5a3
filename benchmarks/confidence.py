"""Is confidence calibrated? Stated against observed, known and learned pools, 8 to 30 dB and other settings.

    python benchmarks/confidence.py

Known pools: samples decoded over the true pool, the noise estimated. Learned pools: a model is fitted and judged
on its training samples and on fresh ones that it decodes. A support is right if it is the true one, under the
matching of the training samples. `cover` is the share of true concentrations inside their 95 % intervals, where
the support is right and, for learned pools, at least five training samples hold the component.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta

from common import SEEDS, Cell, Result, check, measure, parser, report
from fits import COUNTS, SMOKE, fit, fresh_mixtures, mixtures, setting
from gmcr import decode
from gmcr.confidence.standard_errors import concentration_errors, interval
from gmcr.confidence.supports import support_posterior
from gmcr.decoder import Decoding
from gmcr.mixtures import Mixtures
from gmcr.noise import Poisson
from gmcr.scoring import compare
from reliability import calibration

LEVELS = (8, 10, 12, 15, 20, 25, 30)
BINS = 10
# Rows beside the grid over SNR; each at a low, a middle and a high level.
SETTINGS: dict[str, dict[str, Any]] = {
    "active-2-4": {"active": (2, 4)},
    "active-1-8": {"active": (1, 8)},
    "narrow": {"concentration": (4, 10)},
    "wide": {"concentration": (0.3, 30)},
    "constant": {"noise": "constant"},
    "poisson": {"noise": "poisson"},
    "peaks": {"profiles": "peaks"},
    "bands": {"profiles": "bands", "n_components": 8},
    "N8": {"n_components": 8},
    "N128": {"n_components": 128},
    "64-channels": {"n_features": 64, "n_components": 16},
    "128-channels": {"n_features": 128, "n_components": 32},
}


def cells(seeds: Sequence[int]) -> list[Cell]:
    grid = [{"row": "known", **setting(64, 600, snr, random_state=seed)} for snr in LEVELS for seed in seeds]
    for name, changes in SETTINGS.items():
        for snr in (8, 12, 20):
            base = setting(64, 1500, snr, random_state=seeds[0])
            grid.append({"row": f"known-{name}", **base, **changes, "counts": COUNTS[snr]})
    for n, ratio in ((16, 4), (16, 8), (32, 4), (32, 8), (64, 4)):
        for snr in LEVELS:
            for seed in seeds[:3]:
                grid.append(_learned(f"learned-{n}-{ratio}N", snr, seed, n, ratio * n))
    for name, changes in SETTINGS.items():
        if name != "N128":  # minutes
            n = changes.get("n_components", 32)
            for snr in (8, 12, 20):
                cell = _learned(f"learned-{name}", snr, seeds[0], n, 8 * n)
                grid.append(cell | changes | {"counts": COUNTS[snr]})
    return grid


def _learned(row: str, snr: int, seed: int, n: int, n_samples: int) -> Cell:
    return {"row": row, **setting(n, n_samples, snr, random_state=seed), "fresh": 500}


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    return run_learned(cell, mix) if "fresh" in cell else run_known(mix)


def run_known(mix: Mixtures) -> Result:
    out = decode(mix.D, mix.S, noise="poisson" if mix.noise == "poisson" else None)
    sigma = decoded_noise(mix, out)
    errors = concentration_errors(mix.S, out.concentrations, sigma)
    right = (out.supports == mix.supports).all(axis=1)
    posterior = support_posterior(mix.D, mix.S, out.concentrations, sigma)
    return {
        **binned("", out.confidence, right),
        **covered("", out.concentrations, errors, mix.C, right[:, None] & mix.supports),
        "q": posterior.q,
        "expected_wrong": posterior.expected_wrong,
        "wrong": int((~right).sum()),
    }


def run_learned(cell: Cell, mix: Mixtures) -> Result:
    model, seconds = fit(mix.D)
    slots = compare(model, mix).assignment
    fresh = fresh_mixtures(cell, mix.S)
    often = model.supports_.sum(axis=0) >= 5
    result: Result = {"count": model.n_components_, "seconds": seconds}
    for name, one in (("", mix), ("fresh_", fresh)):
        out = model.decode(one.D)
        truth, right = by_slot(one, out, slots)
        result |= binned(name, out.confidence, right)
        result |= covered(name, out.concentrations, out.errors, truth, right[:, None] & out.supports & often)
    return result


def decoded_noise(mix: Mixtures, out: Decoding) -> np.ndarray:
    """The noise the decoder estimated: (samples,), or per entry for counting noise."""
    if mix.noise != "poisson":
        return out.noise
    fitted = out.concentrations @ mix.S
    level = float(np.median(out.noise**2 / np.maximum(fitted, 1e-12).mean(axis=1)))
    return Poisson(level).sigma(mix.D, fitted).values


def by_slot(mix: Mixtures, out: Decoding, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """True concentrations in the order of the slots, (samples, slots), and whether each support is right."""
    there = slots >= 0
    truth = np.zeros_like(out.concentrations)
    truth[:, slots[there]] = mix.C[:, there]
    lost = mix.supports[:, ~there].any(axis=1)
    return truth, (out.supports == (truth != 0)).all(axis=1) & ~lost


def binned(name: str, confidence: np.ndarray | None, right: np.ndarray) -> Result:
    """Samples, stated total and right ones by bin; as lists, so that cells can be added up."""
    table = calibration(confidence, right, BINS).set_index("bin").reindex(range(BINS), fill_value=0)
    return {
        f"{name}n": table["n"].tolist(),
        f"{name}stated": (table["stated"] * table["n"]).round(6).tolist(),
        f"{name}right": (table["observed"] * table["n"]).round().astype(int).tolist(),
    }


def covered(name: str, C: np.ndarray, errors: np.ndarray, truth: np.ndarray, counted: np.ndarray) -> Result:
    low, high = interval(C, errors)
    inside = ((low <= truth) & (truth <= high))[counted]
    return {f"{name}inside": int(inside.sum()), f"{name}intervals": int(inside.size)}


# Tables


def added(runs: pd.DataFrame, column: str) -> np.ndarray:
    return np.sum([np.asarray(values, dtype=float) for values in runs[column]], axis=0)


def ece(runs: pd.DataFrame, name: str = "") -> float:
    n, stated, right = (added(runs, name + column) for column in ("n", "stated", "right"))
    return float(np.abs(stated - right).sum() / n.sum())


def bins_of(runs: pd.DataFrame, name: str, title: str) -> list[dict[str, Any]]:
    n, stated, right = (added(runs, name + column) for column in ("n", "stated", "right"))
    lines = []
    for k in np.flatnonzero(n):
        low = beta.ppf(0.005, right[k], n[k] - right[k] + 1) if right[k] else 0.0
        high = beta.ppf(0.995, right[k] + 1, n[k] - right[k]) if right[k] < n[k] else 1.0
        said, seen = stated[k] / n[k], right[k] / n[k]
        lines.append(
            {
                title: f"{k / BINS:.1f}–{(k + 1) / BINS:.1f}",
                "samples": f"{n[k]:.0f}",
                "stated": f"{said:.3f}",
                "observed": f"{seen:.3f}",
                "99 %": f"{low:.3f}–{high:.3f}",
                "holds": "yes" if abs(said - seen) <= 0.05 or low <= said <= high else "NO",
            }
        )
    return lines


def line_of(row: str, snr: Any, runs: pd.DataFrame) -> dict[str, Any]:
    line = {"cell": row, "dB": snr}
    for name, title in (("", ""), ("fresh_", "fresh ")):
        if f"{name}n" not in runs or runs[f"{name}n"].isna().any():
            line |= {f"{title}{column}": "–" for column in ("samples", "right", "stated", "ECE", "cover")}
            continue
        n, stated, right = (added(runs, name + column) for column in ("n", "stated", "right"))
        line |= {
            f"{title}samples": f"{n.sum():.0f}",
            f"{title}right": f"{right.sum() / n.sum():.3f}",
            f"{title}stated": f"{stated.sum() / n.sum():.3f}",
            f"{title}ECE": f"{ece(runs, name):.4f}",
            f"{title}cover": f"{coverage(runs, name):.3f}",
        }
    return line


def coverage(runs: pd.DataFrame, name: str = "") -> float:
    return float(runs[f"{name}inside"].sum() / max(runs[f"{name}intervals"].sum(), 1))


def main() -> None:
    given = parser(__doc__, "confidence").parse_args()
    seeds = given.seeds or SEEDS
    smoke = [
        {"row": "known", **SMOKE, "random_state": seeds[0]},
        {"row": "learned-smoke", **SMOKE, "random_state": seeds[0], "fresh": 100},
    ]
    runs = measure(smoke if given.smoke else cells(seeds), run, given)
    table = runs.table
    lines = [
        line_of(str(row), snr, group) for (row, snr), group in table.groupby(["row", "snr_db"], sort=False)
    ]
    tables, asked = [lines], []
    known, learned = table[table["row"] == "known"], table[table["row"].str.match(r"learned-(\d+-\dN|smoke)")]
    if len(known):
        tables.append(bins_of(known, "", "known pool"))
        asked += [check("known pool, calibration error", ece(known), "<=", 0.02)]
        asked += [check("known pool, 95 % intervals cover", coverage(known), ">=", 0.93)]
        asked += [check("known pool, 95 % intervals cover", coverage(known), "<=", 0.97)]
    if len(learned):
        for name, title in (
            ("", "learned pool, training samples"),
            ("fresh_", "learned pool, fresh samples"),
        ):
            tables.append(bins_of(learned, name, title))
            asked += [check(f"{title}, calibration error", ece(learned, name), "<=", 0.03)]
            asked += [check(f"{title}, 95 % intervals cover", coverage(learned, name), ">=", 0.90)]
            asked += [check(f"{title}, 95 % intervals cover", coverage(learned, name), "<=", 0.98)]
    report([*tables, asked], runs, given)


if __name__ == "__main__":
    main()
