"""Time against the number of samples, and the largest case.

    python benchmarks/scale.py
    python benchmarks/scale.py --large

N = 32 components in 128 channels at 20 dB, 1,000 to 32,000 samples; the slope of log time over log samples, from
the median over seeds. With --large also N = 1024 in 512 channels, 8N samples at 30 dB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from common import SEEDS, Cell, Result, check, measure, parser, report
from fits import SMOKE, fit_and_score, mixtures, right_counts, setting

SIZES = tuple(1000 * 2**i for i in range(6))
LARGE = {"row": "large", **setting(1024, 8 * 1024, 30, n_features=512)}


def cells(seeds: Sequence[int]) -> list[Cell]:
    # By seed first: what the machine does meanwhile then falls on all sizes alike.
    return [
        {"row": f"{n_samples} samples", **setting(32, n_samples, 20, n_features=128, random_state=seed)}
        for seed in seeds
        for n_samples in SIZES
    ]


def run(cell: Cell) -> Result:
    return fit_and_score(mixtures(cell))


def line_of(runs: pd.DataFrame) -> dict[str, Any]:
    first, seconds = runs.iloc[0], runs["seconds"].median()
    return {
        "components": first["n_components"],
        "channels": first["n_features"],
        "samples": f"{first['n_samples']:,}",
        "runs": len(runs),
        "seconds": f"{seconds:.2f}",
        "per 1,000 samples": f"{1000 * seconds / first['n_samples']:.3f}",
        "counts exact": right_counts(runs),
        "exact": f"{runs['exact'].mean():.4f}",
        "true pool": f"{runs['true_exact'].mean():.4f}",
    }


def slope(runs: pd.DataFrame) -> float:
    """Slope of log seconds (median over seeds) over log samples, by least squares."""
    seconds = runs.groupby("n_samples")["seconds"].median()
    return float(np.polyfit(np.log(seconds.index.to_numpy()), np.log(seconds.to_numpy()), 1)[0])


def main() -> None:
    options = parser(__doc__, "scale")
    options.add_argument("--large", action="store_true", help="also N = 1024 in 512 channels: minutes")
    given = options.parse_args()
    smoke = [{**SMOKE, "row": f"{m} samples", "n_samples": m, "random_state": SEEDS[0]} for m in (48, 96)]
    chosen = smoke if given.smoke else cells(given.seeds or SEEDS[:3])
    if given.large:
        chosen += [{**LARGE, "random_state": seed} for seed in given.seeds or SEEDS[:1]]
    runs = measure(chosen, run, given)
    large = runs.table["row"] == LARGE["row"]
    by_size = [line_of(group) for _, group in runs.table.groupby("row", sort=False)]
    asked = []
    if runs.table.loc[~large, "n_samples"].nunique() > 1:
        asked.append(
            check("slope of log time over log samples", slope(runs.table[~large]), "<=", 1.1, "{:.3f}")
        )
    if large.any():
        asked.append(check("large: seconds", runs.table.loc[large, "seconds"].median(), "<=", 120, "{:.1f}"))
    report([by_size, asked], runs, given)


if __name__ == "__main__":
    main()
