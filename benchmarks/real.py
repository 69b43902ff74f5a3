"""Real data with default settings: the count and what decided it, profiles, usage and fit.

    python benchmarks/real.py --data ../shared/data
    python benchmarks/real.py --only carbs --seeds 0 1

Each set is an .npz file with D, and C and S where they are known; GMCR sees D alone. Seeds are GMCR's random
states. `cosines` are the smallest over the known profiles, over all states. nir holds derivative spectra and is
fitted with signed=True, for the R² of the cheapest two-component solution of its path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Cell, Result, check, measure, parser, report, shown, span
from fits import fit, matched_cosines
from gmcr.metrics import r_squared
from real_sets import COUNTS, OFFSETS, SIGNED, load

PATH_COUNT, PATH_R2 = 2, 0.910  # nir: R² of two signed factors


def run_set(folder: Path, name: str, random_state: int, step: int = 1) -> Result:
    """One fit of one set. Also used by flatness.py."""
    data = load(folder, name, step)
    D, S = data["D"], data["S"]
    model, seconds = fit(D, signed=name == SIGNED, random_state=random_state)
    cosines = matched_cosines(model.components_, S + OFFSETS.get(name, 0.0)) if S.size else None
    rows = model.path_[model.path_["count"] == PATH_COUNT]
    evidence = model.count_
    return {
        "count": model.n_components_,
        "true_count": COUNTS.get(name),
        "decided_by": evidence.decided_by,
        "low": evidence.low,
        "high": evidence.high,
        "min_cos": None if cosines is None else float(cosines.min()),
        "usage": int(model.supports_.sum()),
        "true_usage": int(np.count_nonzero(data["C"])) if data["C"].size and name != SIGNED else None,
        "r2": r_squared(D, model.concentrations_ @ model.components_),
        "path_r2": float(rows.loc[rows["cost"].idxmin(), "r2"]) if len(rows) else None,
        "seconds": seconds,
    }


def line_of(name: str, runs: pd.DataFrame) -> dict[str, Any]:
    """One set, all random states."""
    known = COUNTS.get(name)
    return {
        "set": name,
        "true count": "–" if known is None else known,
        "counts": span(runs["count"], "{:d}"),
        "right": "–" if known is None else f"{(runs['count'] == known).sum()}/{len(runs)}",
        "decided by": ", ".join(sorted(set(runs["decided_by"]))),
        "range": f"{runs['low'].min()}–{runs['high'].max()}",
        "cosines": shown(runs["min_cos"].min(), "{:.4f}"),
        "usage": span(runs["usage"], "{:d}"),
        "true usage": shown(runs["true_usage"].iloc[0], "{:.0f}"),
        "R²": span(runs["r2"], "{:.5f}"),
        f"R² at {PATH_COUNT}": span(runs["path_r2"], "{:.4f}"),
        "seconds": f"{runs['seconds'].median():.2f}",
    }


def acceptance(runs: pd.DataFrame) -> list[dict[str, str]]:
    lines = []
    for name, group in runs.groupby("row", sort=False):
        what = f"{name} ({len(group)} states)"
        if name in COUNTS:
            wrong = int((group["count"] != COUNTS[name]).sum())
            lines.append(check(f"{what}: states with a wrong count", wrong, "<=", 0, "{:d}"))
        if name == "carbs":
            off = (group["usage"] / group["true_usage"] - 1).abs().max()
            lines.append(check(f"{what}: smallest cosine", group["min_cos"].min(), ">=", 0.99))
            lines.append(check(f"{what}: usage off the truth", off, "<=", 0.10))
        if name == SIGNED:
            # A path without such a row is a failure, not a gap in the table.
            off = (group["path_r2"].astype(float).fillna(-np.inf) - PATH_R2).abs().max()
            lines.append(check(f"{what}: R² of two components off {PATH_R2}", off, "<=", 0.005))
    return lines


def main() -> None:
    given = parser(__doc__, "real", data=True).parse_args()
    seeds = given.seeds or range(10)
    cells = [{"row": name, "random_state": seed} for name in (*COUNTS, SIGNED) for seed in seeds]
    smoke = [{"row": "carbs", "random_state": 0, "step": 20}]

    def run(cell: Cell) -> Result:
        return run_set(given.data, cell["row"], cell["random_state"], cell.get("step", 1))

    runs = measure(smoke if given.smoke else cells, run, given)
    by_set = [line_of(str(name), group) for name, group in runs.table.groupby("row", sort=False)]
    report([by_set, acceptance(runs.table)], runs, given)


if __name__ == "__main__":
    main()
