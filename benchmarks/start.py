"""The starting pool does not matter: the count found from pools of 1.2 to 4 times the true size.

    python benchmarks/start.py

N = 64, 4N and 8N samples at 20 and 30 dB, five seeds: 20 data sets. Each is solved from its own default and from
starting pools of K0 samples drawn at random; a data set passes when all of these give the same count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from common import SEEDS, Cell, Result, check, measure, parser, report, timed
from fits import SMOKE, largest_miss, mixtures, right_counts, setting, true_count, warm_up
from gmcr.scoring import compare
from gmcr.window.search import Options
from gmcr.window.solver import solve

N = 64
FACTORS = (None, 1.2, 1.6, 2.0, 3.0, 4.0)  # starting slots over true components; None is the default
SHARE_SAME = 19 / 20


def cells(seeds: Sequence[int]) -> list[Cell]:
    return [
        {"row": f"{ratio}N-{snr}dB", **setting(N, ratio * N, snr, random_state=seed), "factor": factor}
        for ratio in (4, 8)
        for snr in (20, 30)
        for seed in seeds
        for factor in FACTORS
    ]


def run(cell: Cell) -> Result:
    warm_up()
    mix = mixtures(cell)
    factor = cell["factor"]
    n_start = None if factor is None else round(factor * cell["n_components"])
    rng = np.random.default_rng(cell["random_state"])
    pool = None if n_start is None else mix.D[rng.choice(len(mix.D), n_start, replace=False)]
    solution, seconds = timed(lambda: solve(mix.D, Options(pool=pool)))
    if solution.interrupted:
        raise KeyboardInterrupt
    return {
        "count": solution.state.count,
        "true_count": true_count(mix),
        "exact": compare((solution.state.S, solution.state.C), mix).exact,
        "seconds": seconds,
    }


def line_of(factor: Any, runs: pd.DataFrame) -> dict[str, Any]:
    return {
        "starting slots / N": "default" if pd.isna(factor) else f"{factor:.1f}",
        "counts exact": right_counts(runs),
        "largest miss": largest_miss(runs),
        "exact": f"{runs['exact'].mean():.4f}",
        "seconds": f"{runs['seconds'].median():.2f}",
    }


def main() -> None:
    given = parser(__doc__, "start").parse_args()
    smoke = [
        {"row": "smoke", **SMOKE, "random_state": SEEDS[0], "factor": factor} for factor in (None, 1.2, 3.0)
    ]
    runs = measure(smoke if given.smoke else cells(given.seeds or SEEDS), run, given)
    by_factor = [line_of(*group) for group in runs.table.groupby("factor", sort=False, dropna=False)]
    same = runs.table.groupby(["row", "random_state"])["count"].nunique() == 1
    what = f"data sets with one and the same count, of {len(same)}"
    asked = [check(what, same.sum(), ">=", SHARE_SAME * len(same), "{:d}")]
    report([by_factor, asked], runs, given)


if __name__ == "__main__":
    main()
