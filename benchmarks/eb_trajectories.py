"""Whether a change of the paper's solver left its dynamics alone: 300 epochs, five seeds, before and after.

    PYTHONPATH=OLD/src python benchmarks/eb_trajectories.py --side before --out FILE
    python benchmarks/eb_trajectories.py --side after --out FILE

N = 16, 64 samples, 30 dB, pool 1024, batches of 16. OLD is a checkout of the code to compare with; both sides
write to the same file, and the tables show what it holds. Two runs with one seed part by rounding within tens
of epochs, so that it is the seeds' distributions that are compared: the difference of the means in units of its
standard error, and the ranges.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import torch

from common import Cell, Result, check, measure, parser, report, span
from fits import mixtures, setting
from gmcr import EBgMCR
from gmcr.eb.settings import Settings

SIDES = ("before", "after")
SEEDS = tuple(range(100, 105))
EPOCHS, EVERY = 300, 25
FOLLOWED = {"nmse": "{:.4f}", "count": "{:.0f}", "mean_energy": "{:.4f}"}
APART = 3.4  # of Student's t with 8 degrees of freedom in 1 % of comparisons: two sides of five seeds each


def run(cell: Cell) -> Result:
    torch.set_num_threads(1)
    rows: list[dict[str, float]] = []

    def follow(row: Any) -> None:
        if (row.epoch + 1) % EVERY == 0:
            rows.append({name: float(getattr(row, name)) for name in FOLLOWED})

    settings = replace(Settings(), batch_size=cell["batch"])
    mix = mixtures(cell)
    EBgMCR(
        cell["pool"], cell["epochs"], random_state=cell["random_state"], settings=settings, callback=follow
    ).fit(mix.D)
    return {name: [float(f"{row[name]:.6g}") for row in rows] for name in FOLLOWED}


def compared(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Both sides at every epoch that was kept: ranges over the seeds, and how far the means are apart."""
    lines = []
    for name, form in FOLLOWED.items():
        sides = {
            side: np.array(table.loc[table["side"] == side, name].tolist()) for side in SIDES
        }  # (seeds, epochs kept)
        for place in range(next(iter(sides.values())).shape[1]):
            before, after = (sides[side][:, place] for side in SIDES)
            error = sqrt(before.var(ddof=1) / len(before) + after.var(ddof=1) / len(after))
            apart = abs(before.mean() - after.mean())
            lines.append(
                {
                    "number": name,
                    "epoch": EVERY * (place + 1),
                    "before": span(before, form),
                    "after": span(after, form),
                    "means": f"{form.format(before.mean())}, {form.format(after.mean())}",
                    "apart, standard errors": apart / error if error else 0.0,
                }
            )
    return lines


def main() -> None:
    options = parser(__doc__, "eb_trajectories")
    options.add_argument("--side", choices=SIDES, required=True, help="which code this is")
    given = options.parse_args()
    pool, epochs = (64, EVERY) if given.smoke else (1024, EPOCHS)
    sides = SIDES if given.smoke else SIDES[: SIDES.index(given.side) + 1]  # what was before is in the file
    cells = [
        {
            "row": f"{side}",
            **setting(16, 64, 30, random_state=seed),
            "side": side,
            "batch": 16,
            "pool": pool,
            "epochs": epochs,
        }
        for side in sides
        for seed in given.seeds or SEEDS
    ]
    runs = measure(cells, run, given)
    if set(runs.table["side"]) != set(SIDES):
        return
    lines = compared(runs.table)
    far = max(line["apart, standard errors"] for line in lines)
    asked = [check("largest distance of means, standard errors", far, "<=", APART, "{:.2f}")]
    shown = [line | {"apart, standard errors": f"{line['apart, standard errors']:.2f}"} for line in lines]
    report([shown, asked], runs, given)


if __name__ == "__main__":
    main()
