"""The paper's grid: count, supports, profiles and noise, blind, beside what the true pool would give.

    python benchmarks/grid.py
    python benchmarks/grid.py --only "256-*" "*-8N-30dB" --seeds 100 101

Samples come from Algorithm 2; GMCR is told nothing but D. Rows are named like 16-4N-20dB. `exact` is the share
of samples whose support is right, averaged over seeds; `true pool` is the same when the samples are decoded over
the true pool with the true noise; `worst gap` is the largest difference in one run; `LS pool` is the smallest
cosine of the non-negative least-squares pool on the true supports.
"""

from __future__ import annotations

import pandas as pd

from common import SEEDS, Cell, Result, check, measure, parser, report
from fits import SMOKE, cosine_gap, exact_gap, fit_and_score, grid_cells, mixtures, summary

COUNTS = (16, 32, 48, 64, 96, 128, 160, 192, 224, 256)
TARGETS = {30: {"share exact": 0.98, "exact": 0.99}, 20: {"share exact": 0.96, "exact": 0.985, "gap": 0.01}}


def run(cell: Cell) -> Result:
    return fit_and_score(mixtures(cell))


def acceptance(runs: pd.DataFrame) -> list[dict[str, str]]:
    """What is asked of the grid, over the runs there are."""
    lines = []
    for snr, targets in TARGETS.items():
        here = runs[runs["snr_db"] == snr]
        if here.empty:
            continue
        miss = (here["count"] - here["true_count"]).abs()
        what = f"{snr} dB ({len(here)} runs)"
        needed = targets["share exact"] * len(here)
        lines += [
            check(f"{what}: runs with the exact count", (miss == 0).sum(), ">=", needed, "{:d}"),
            check(f"{what}: largest miss of the count", miss.max(), "<=", 1, "{:d}"),
            check(
                f"{what}: supports exact, worst cell",
                here.groupby("row")["exact"].mean().min(),
                ">=",
                targets["exact"],
            ),
        ]
        if "gap" in targets:
            gap = exact_gap(here, "row")
            lines.append(check(f"{what}: short of the true pool, worst cell", gap, "<=", targets["gap"]))
    off = (runs["noise_ratio"] - 1).abs().max()
    return [
        *lines,
        check("smallest cosine short of the LS pool, worst run", cosine_gap(runs), "<=", 0.005),
        check(
            "the same over components no other one always accompanies",
            float(runs["apart_cos_gap"].max()),
            "<=",
            0.005,
        ),
        check("noise off the truth, worst run", off, "<=", 0.10),
    ]


def main() -> None:
    given = parser(__doc__, "grid").parse_args()
    smoke = [{"row": "smoke", **SMOKE, "random_state": SEEDS[0]}]
    cells = smoke if given.smoke else grid_cells(COUNTS, TARGETS, given.seeds or SEEDS)
    runs = measure(cells, run, given)
    by_cell = [{"cell": row, **summary(group)} for row, group in runs.table.groupby("row", sort=False)]
    report([by_cell, acceptance(runs.table)], runs, given)


if __name__ == "__main__":
    main()
