"""Whether negative values are told from noise: measured sets, simulated tables with negative parts, and without.

    python benchmarks/signs.py --data ../shared/data
    python benchmarks/signs.py --only noise --seeds 100 101

Rows: measured (mir, nir, emulsion), derivative and difference (negative parts), noise (tables of `make_measured`
without negative signal, under noise of any strength, white or smoothed). `noticed`: whether profiles were allowed
to be negative; `told`: whether anything was said; `R²` beside that of the best table of the same rank.
"""

from __future__ import annotations

import os
import warnings

import numpy as np

from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR, make_measured

MEASURED = ("mir_ethanol_glucose", "nir", "raman_emulsion_hsi")
COUNTS = {"mir_ethanol_glucose": 3, "nir": 4, "raman_emulsion_hsi": 4}
SIGNED_SEEDS = range(100, 110)
NOISE_SEEDS = range(100, 300)


def table(cell: Cell) -> tuple[np.ndarray, int]:
    """The samples of a cell, and the count to fit."""
    if cell["row"] == "measured":
        with np.load(os.path.join(cell["data"], f"{cell['set']}.npz")) as stored:
            return stored["D"].astype(float), COUNTS[cell["set"]]
    seed = cell["random_state"]
    rng = np.random.default_rng(seed)
    made = make_measured(random_state=rng, disturbed=False)
    S = {"derivative": np.diff(made.S), "difference": made.S - made.S.mean(axis=0)}.get(cell["row"], made.S)
    clean = made.C @ S
    level = 10 ** rng.uniform(-3, -0.3) if cell["row"] == "noise" else 10 ** rng.uniform(-3, -1.5)
    width = int(rng.integers(1, 6))
    noise = np.apply_along_axis(np.convolve, 1, rng.standard_normal(clean.shape), np.ones(width), "same")
    return clean + level * clean.std() * noise / np.sqrt(width), len(made.S)


def run(cell: Cell) -> Result:
    D, n = table(cell)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GMCR(n_components=n).fit(D)
    told = any("negative" in str(one.message) for one in caught)
    U, values, Vt = np.linalg.svd(D, full_matrices=False)
    best = (U[:, :n] * values[:n]) @ Vt[:n]
    fit = model.concentrations_ @ model.components_
    about = np.square(D - D.mean(axis=0)).sum()
    found, possible = (1 - np.square(D - one).sum() / about for one in (fit, best))
    return {
        "negative": float((D < 0).mean()),
        "noticed": bool(model.decomposition_.signed),
        "told": told,
        "r2": found,
        "best": possible,
    }


def main() -> None:
    options = parser(__doc__, "signs")
    options.add_argument("--data", default=os.environ.get("GMCR_DATA", "../shared/data"))
    given = options.parse_args()
    cells = [{"row": "measured", "set": name, "data": given.data} for name in MEASURED]
    for row, seeds in (("derivative", SIGNED_SEEDS), ("difference", SIGNED_SEEDS), ("noise", NOISE_SEEDS)):
        cells += [{"row": row, "random_state": seed} for seed in (given.seeds or seeds)]
    runs = measure([{"row": "noise", "random_state": 100}] if given.smoke else cells, run, given)
    by_row, asked = [], []
    for row, group in runs.table.groupby("row", sort=False):
        ratio = group["r2"] / group["best"]
        for part, rows in group.groupby("set", sort=False) if row == "measured" else [(row, group)]:
            by_row.append(
                {
                    "tables": part,
                    "number": len(rows),
                    "negative": f"{rows['negative'].mean():.0%}",
                    "noticed": int(rows["noticed"].sum()),
                    "told": int(rows["told"].sum()),
                    "R²/best, smallest": f"{ratio[rows.index].min():.4f}",
                }
            )
        if row == "noise":
            asked.append(
                check("notices where there is only noise", int(group["told"].sum()), "<=", 2, "{:d}")
            )
        elif row != "measured":
            asked.append(check(f"{row}: noticed", int(group["noticed"].sum()), ">=", len(group), "{:d}"))
            asked.append(check(f"{row}: R² over the rank's best", float(ratio.min()), ">=", 0.99))
    report([by_row, asked], runs, given)


if __name__ == "__main__":
    main()
