"""Learn once, decode ever after: fresh samples of the same process over the learned pool.

    python benchmarks/reuse.py

A model is fitted to 4N or 8N samples and decodes 2,000 fresh ones, of the same components in new mixtures with
new noise. `exact` is the share of fresh samples whose support is right, `true pool` the same over the true pool
with the true noise, `flagged` the share that the model does not call known.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from common import SEEDS, Cell, Result, check, measure, parser, report, span
from fits import (
    SMOKE,
    exact_gap,
    fit,
    fresh_mixtures,
    grid_cells,
    mixtures,
    right_counts,
    share_exact,
    true_count,
    true_noise,
)
from gmcr import decode
from gmcr.scoring import compare

COUNTS = (16, 64, 128)
FRESH = 2_000


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    model, seconds = fit(mix.D)
    fresh = fresh_mixtures(cell, mix.S)
    out = model.decode(fresh.D)
    reference = decode(fresh.D, fresh.S, noise=true_noise(fresh))
    return {
        "count": model.n_components_,
        "true_count": true_count(mix),
        "exact": compare((model.components_, out.concentrations), fresh).exact,
        "true_exact": share_exact(reference.supports, fresh.supports),
        "flagged": float((~out.known).mean()),
        "seconds": seconds,
    }


def line_of(row: str, runs: pd.DataFrame) -> dict[str, Any]:
    return {
        "cell": row,
        "counts exact": right_counts(runs),
        "components never seen": span(runs["n_components"] - runs["true_count"], "{:d}"),
        "exact": f"{runs['exact'].mean():.4f}",
        "true pool": f"{runs['true_exact'].mean():.4f}",
        "worst gap": f"{(runs['true_exact'] - runs['exact']).max():+.4f}",
        "flagged": f"{runs['flagged'].mean():.4f}",
    }


def main() -> None:
    given = parser(__doc__, "reuse").parse_args()
    smoke = [{"row": "smoke", **SMOKE, "random_state": SEEDS[0], "fresh": 200}]
    cells = smoke if given.smoke else grid_cells(COUNTS, (20, 30), given.seeds or SEEDS, fresh=FRESH)
    runs = measure(cells, run, given)
    by_cell = [line_of(str(row), group) for row, group in runs.table.groupby("row", sort=False)]
    asked = check(
        "fresh samples, short of the true pool, worst cell", exact_gap(runs.table, "row"), "<=", 0.01
    )
    report([by_cell, [asked]], runs, given)


if __name__ == "__main__":
    main()
