"""Steps before unmixing on real data made worse: carbs with a drifting baseline and with spikes.

    python benchmarks/steps.py --data ../shared/data
    python benchmarks/steps.py --only background --seeds 100 101 102

Every sample of carbs gets a quadratic baseline of its own, each coefficient up to 20 % of the largest signal,
of either sign, and the table thirty spikes of one or two channels, one to five times the largest signal. It
is unmixed four ways: `as is`; by `steps`, despiked and with a baseline subtracted, for which all samples have
the same weights of channels; with baselines that samples find `each by itself`; and with a `background` of
three smooth components, despiked too. `same` is the smallest cosine to the profiles that the same way finds in
carbs as it is, `known` that to the known profiles, `plain` that to the profiles of a plain fit of carbs as it
is: these hold the offset of carbs, which no way can tell from a baseline. Seeds draw the
disturbance; GMCR's random state is 0.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Cell, Result, check, measure, parser, report, shown, timed
from fits import matched_cosines
from gmcr import GMCR
from gmcr.preprocessing import Baseline, Despike
from real_sets import load

SEEDS = range(100, 200)
SPIKES, SHARE = 30, 0.2
BASELINE: dict[str, Any] = {"method": "asls", "options": {"lam": 1e6, "p": 0.001}}
WAYS: dict[str, dict[str, Any]] = {
    "as is": {},
    "steps": {"steps": [Despike(), Baseline(**BASELINE, common=True)]},
    "each by itself": {"steps": [Despike(), Baseline(**BASELINE)]},
    "background": {"steps": [Despike()], "background": 3},
}


def disturbed(D: np.ndarray, seed: int) -> np.ndarray:
    """Samples with a baseline each, and spikes."""
    rng = np.random.default_rng(seed)
    (n_samples, n_channels), top = D.shape, D.max()
    place = np.linspace(-1, 1, n_channels)
    amounts = rng.uniform(-SHARE, SHARE, (n_samples, 3)) * top
    out = D + amounts @ np.stack([np.ones(n_channels), place, place**2])
    for _ in range(SPIKES):
        m, first, width = rng.integers(n_samples), rng.integers(n_channels - 1), rng.integers(1, 3)
        out[m, first : first + width] += rng.uniform(1, 5) * top
    return out


@cache
def undisturbed(folder: Path, way: str, step: int) -> np.ndarray:
    data = load(folder, "carbs", step)
    return fitted(data["D"].astype(float), way, data["axis"]).components_


def fitted(D: np.ndarray, way: str, axis: np.ndarray) -> GMCR:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GMCR(random_state=0, **WAYS[way]).fit(pd.DataFrame(D, columns=axis))


def run_one(folder: Path, way: str, seed: int, step: int = 1) -> Result:
    data = load(folder, "carbs", step)
    D, axis = data["D"].astype(float), data["axis"]
    model, seconds = timed(lambda: fitted(disturbed(D, seed), way, axis))
    S = model.components_

    def smallest(others: np.ndarray) -> float | None:
        return float(matched_cosines(S, others).min()) if len(S) >= len(others) else None

    return {
        "count": model.n_components_,
        "same": smallest(undisturbed(folder, way, step)),
        "known": smallest(data["S"]),
        "plain": smallest(undisturbed(folder, "as is", step)),
        "sure": float(model.count_.probabilities.get(3, 0.0)),
        "seconds": seconds,
    }


def line_of(way: str, runs: pd.DataFrame) -> dict[str, Any]:
    right = runs[runs["count"] == 3]
    least = {name: shown(right[name].min(), "{:.4f}") for name in ("same", "known", "plain")}
    return {
        "way": way,
        "count 3": f"{len(right)}/{len(runs)}",
        "other counts": ", ".join(str(n) for n in sorted(set(runs["count"]) - {3})) or "–",
        **{f"{name} (least)": value for name, value in least.items()},
        "sure (median)": f"{runs['sure'].median():.3f}",
        "seconds": f"{runs['seconds'].median():.2f}",
    }


def acceptance(runs: pd.DataFrame) -> list[dict[str, str]]:
    lines = []
    for way in ("steps", "background"):
        group = runs[runs["row"] == way]
        if len(group):
            wrong = int((group["count"] != 3).sum())
            lines.append(
                check(f"{way} ({len(group)} seeds): tables with a wrong count", wrong, "<=", 0, "{:d}")
            )
            lines.append(check(f"{way}: cosine to the same without", group["same"].min(), ">=", 0.99))
    return lines


def main() -> None:
    given = parser(__doc__, "steps", data=True).parse_args()
    seeds = given.seeds or SEEDS
    few = {"as is": 5, "each by itself": 10}  # seeds, to show what the others are for
    cells = [{"row": way, "seed": seed} for way in WAYS for seed in list(seeds)[: few.get(way)]]
    smoke = [{"row": "background", "seed": 0, "step": 4}]

    def run(cell: Cell) -> Result:
        return run_one(given.data, cell["row"], cell["seed"], cell.get("step", 1))

    runs = measure(smoke if given.smoke else cells, run, given)
    by_way = [line_of(str(way), group) for way, group in runs.table.groupby("row", sort=False)]
    report([by_way, acceptance(runs.table)], runs, given)


if __name__ == "__main__":
    main()
