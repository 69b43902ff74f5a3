"""Are recovered profiles named from a library, and is one that is not in it said to be none of these?

    python benchmarks/match.py --data ../shared/data

Carbs, unmixed with nothing told, against libraries of 50 spectra: its three pure ones, and decoys that are noise,
smooth noise, or its pure ones shifted by at least 10, 5 or 3 channels of 1401. `named` counts profiles that got
their own name; for `none` one pure spectrum was left out of the library, and its profile must get no name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Cell, Result, check, measure, parser, report
from decoys import decoy_library
from fits import fit
from gmcr.naming import match
from real_sets import load

SEEDS = tuple(range(100, 120))
NEAREST = (10, 5, 3)


def cells(seeds: Sequence[int]) -> list[Cell]:
    return [
        {"row": f"{nearest} channels", "nearest": nearest, "derivative": derivative, "seed": seed}
        for nearest in NEAREST
        for derivative in (False, True)
        for seed in seeds
    ]


@cache
def carbs(folder: Path) -> tuple[Any, Any]:
    data = load(folder, "carbs")
    return data, fit(pd.DataFrame(data["D"], columns=data["axis"]))[0]


def named(cell: Cell, folder: Path) -> Result:
    data, model = carbs(folder)
    truth = np.corrcoef(model.components_, data["S"])[:3, 3:].argmax(axis=1)
    labels = [str(label) for label in data["labels"][truth]]

    def names(left_out: str | None = None) -> tuple[str | None, ...]:
        library = decoy_library(data, cell["seed"], left_out, nearest=cell["nearest"])
        return match(model, library, derivative=cell["derivative"]).names

    return {
        "named": sum(name == label for name, label in zip(names(), labels)),
        "none": sum(names(label)[slot] is None for slot, label in enumerate(labels)),
        "asked": len(labels),
    }


def main() -> None:
    given = parser(__doc__, "match", data=True).parse_args()
    seeds = given.seeds or (SEEDS[:1] if given.smoke else SEEDS)

    def run(cell: Cell) -> Result:
        return named(cell, given.data)

    runs = measure(cells(seeds), run, given)
    lines = [
        {
            "decoys shifted by": f"at least {row}",
            "compared": "derivatives" if derivative else "spectra",
            "named": f"{own['named'].sum()}/{own['asked'].sum()}",
            "none": f"{own['none'].sum()}/{own['asked'].sum()}",
        }
        for (row, derivative), own in runs.table.groupby(["row", "derivative"], sort=False)
    ]
    far = runs.table[(runs.table["nearest"] == NEAREST[0]) & ~runs.table["derivative"]]
    asked = far["asked"].sum()
    checks = [
        check("named", far["named"].sum() / asked, ">=", 1.0),
        check("none of these", far["none"].sum() / asked, ">=", 1.0),
    ]
    report([lines, checks], runs, given)


if __name__ == "__main__":
    main()
