"""Learn once, decode ever after: fresh samples of the same process over the learned pool.

    python benchmarks/reuse.py

A model is fitted to 4N or 8N samples and decodes 2,000 fresh ones, of the same components in new mixtures with
new noise. `exact` is the share of fresh samples whose support is right, `true pool` the same over the true pool
with the true noise, `flagged` the share that the model does not call known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from common import (
    SEEDS,
    SMOKE,
    Cell,
    Result,
    check,
    exact_gap,
    fit,
    measure,
    mixtures,
    parser,
    report,
    share_exact,
    span,
    true_noise,
)
from gmcr import decode
from gmcr.scoring import match

COUNTS = (16, 64, 128)
FRESH = 2_000
FRESH_SEED = 1_000_000  # far from any seed of training samples


def cells(seeds: Sequence[int]) -> list[Cell]:
    return [
        {
            "row": f"{n}-{ratio}N-{snr}dB",
            "n_components": n,
            "n_samples": ratio * n,
            "snr_db": snr,
            "random_state": seed,
            "fresh": FRESH,
        }
        for n in COUNTS
        for ratio in (4, 8)
        for snr in (20, 30)
        for seed in seeds
    ]


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    model, seconds = fit(mix.D)
    seed = FRESH_SEED + cell["random_state"]
    fresh = mixtures({**cell, "n_samples": cell["fresh"], "profiles": mix.S, "random_state": seed})
    out = model.decode(fresh.D)
    reference = decode(fresh.D, fresh.S, noise=true_noise(fresh))
    return {
        "count": model.n_components_,
        "true_count": int(mix.supports.any(axis=0).sum()),
        "exact": match((model.components_, out.concentrations), fresh).exact,
        "true_exact": share_exact(reference.supports, fresh.supports),
        "flagged": float((~out.known).mean()),
        "seconds": seconds,
    }


def line_of(row: str, runs: pd.DataFrame) -> dict[str, Any]:
    return {
        "cell": row,
        "counts exact": f"{(runs['count'] == runs['true_count']).sum()}/{len(runs)}",
        "components never seen": span(runs["n_components"] - runs["true_count"], "{:d}"),
        "exact": f"{runs['exact'].mean():.4f}",
        "true pool": f"{runs['true_exact'].mean():.4f}",
        "worst gap": f"{(runs['true_exact'] - runs['exact']).max():+.4f}",
        "flagged": f"{runs['flagged'].mean():.4f}",
    }


def main() -> None:
    given = parser(__doc__, "reuse").parse_args()
    smoke = [{"row": "smoke", **SMOKE, "random_state": SEEDS[0], "fresh": 200}]
    runs = measure(smoke if given.smoke else cells(given.seeds or SEEDS), run, given)
    by_cell = [line_of(str(row), group) for row, group in runs.table.groupby("row", sort=False)]
    asked = check(
        "fresh samples, short of the true pool, worst cell", exact_gap(runs.table, "row"), "<=", 0.01
    )
    report([by_cell, [asked]], runs, given)


if __name__ == "__main__":
    main()
