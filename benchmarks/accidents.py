"""What must not change an answer: scale, order of the samples, noise far below the data's own, being told.

    python benchmarks/accidents.py

The measured sets with references, told the count. `law` says whether the noise has the same law as before; the
numbers are one less the smallest cosine between a profile and what it was before. `blind` is the largest
difference between entries of profiles told the count and found blind, where the count is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from common import Cell, Result, check, measure, parser, report
from fits import matched_cosines
from gmcr import GMCR
from real_sets import REFERENCES, references

CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "times 1.0001": lambda D, rng: D * 1.0001,
    "times 3": lambda D, rng: D * 3,
    "times 1e6": lambda D, rng: D * 1e6,
    "permuted": lambda D, rng: D[rng.permutation(len(D))],
    "noise of 1e-9": lambda D, rng: np.maximum(D + 1e-9 * D.std() * rng.standard_normal(D.shape), D.min()),
}


def run_with(folder: Any) -> Callable[[Cell], Result]:
    def run(cell: Cell) -> Result:
        D, _, _, k = references(folder, cell["set"])
        before, rng = GMCR(n_components=k).fit(D), np.random.default_rng(0)
        after = {name: GMCR(n_components=k).fit(change(D, rng)) for name, change in CHANGES.items()}
        blind = GMCR().fit(D)
        same = blind.n_components_ == k
        return {
            "law": all(model.noise_law_.kind == before.noise_law_.kind for model in after.values()),
            "blind": float(np.abs(blind.components_ - before.components_).max()) if same else np.nan,
        } | {
            name: float(1 - matched_cosines(model.components_, before.components_).min())
            for name, model in after.items()
        }

    return run


def line_of(result: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: f"{max(result[name], 0.0):.1e}" for name in CHANGES}
    blind = "another count" if np.isnan(result["blind"]) else f"{result['blind']:.1e}"
    return {"set": result["set"], "law": "same" if result["law"] else "another"} | numbers | {"blind": blind}


def main() -> None:
    given = parser(__doc__ or "", "accidents", data=True).parse_args()
    names = [name for name in REFERENCES if name != "mir_ethanol_glucose"]
    cells = [{"row": name, "set": name} for name in (["carbs"] if given.smoke else names)]
    runs = measure(cells, run_with(given.data), given)
    lines = [line_of(dict(result)) for _, result in runs.table.iterrows()]
    worst = runs.table[list(CHANGES)].to_numpy().max()
    met = [check("largest change of a profile", worst, "<=", 1e-3, "{:.1e}")]
    report([lines, met], runs, given)


if __name__ == "__main__":
    main()
