"""Tables of counts with known signatures, unmixed blind: how many are found, and how well.

    python benchmarks/de_novo.py --data ../shared/data
    python benchmarks/de_novo.py --data ../shared/data --only sigmos-nbalpha10

Catalogues of mutations: sbs_set1 (23 signatures, 540 x 96) and indel_set1 (11, 1,119 x 83), and fifty small
tables of five signatures under each of four laws of noise. A match is a cosine above 0.9, one to one; composite =
share of found that match + share of true that are matched + mean cosine of the matches, at most 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from common import Cell, Result, check, measure, parser, report, timed
from gmcr import GMCR

CATALOGUES = ("sbs_set1", "indel_set1")
SMALL = {"poisson": 48, "nbalpha200": 48, "nbalpha10": 44, "nbn": 38}  # counts to be right, of 50
TABLES, MATCH = 50, 0.9


def composite(found: np.ndarray, true: np.ndarray) -> tuple[float, int]:
    found, true = (S / np.linalg.norm(S, axis=1, keepdims=True) for S in (found, true))
    cosines = found @ true.T
    pairs = linear_sum_assignment(-np.where(cosines > MATCH, cosines, 0.0))
    matched = cosines[pairs][cosines[pairs] > MATCH]
    if not len(matched):
        return 0.0, 0
    return float(len(matched) / len(found) + len(matched) / len(true) + matched.mean()), len(matched)


def run_with(folder: Any) -> Any:
    def run(cell: Cell) -> Result:
        name = cell["row"].removeprefix("sigmos-")
        if name in SMALL:
            with np.load(folder / "counts" / "sigmos.npz") as kept:
                D, S, true = kept[name][cell["table"]].astype(float), None, int(kept["n_components"])
        else:
            with np.load(folder / "counts" / f"{name}.npz") as kept:
                D, S, true = kept["D"].astype(float), kept["S"], int(kept["n_components"])
        model, seconds = timed(lambda: GMCR(random_state=0).fit(D))
        count = model.count_
        score, matches = (np.nan, np.nan) if S is None else composite(model.components_, S)
        return {
            "true": true,
            "count": model.n_components_,
            "low": count.low,
            "high": count.high,
            "firm": count.firm,
            "probability": count.probabilities.get(model.n_components_, 0.0),
            "composite": score,
            "matches": matches,
            "law": model.noise_law_.sentence(),
            "seconds": seconds,
        }

    return run


def main() -> None:
    given = parser(__doc__, "de_novo", data=True).parse_args()
    tables = 1 if given.smoke else TABLES
    cells = [{"row": f"sigmos-{name}", "table": n} for name in SMALL for n in range(tables)]
    cells += [] if given.smoke else [{"row": name, "table": 0} for name in CATALOGUES]
    runs = measure(cells, run_with(given.data), given)
    lines, asked = [], []
    for row, group in runs.table.groupby("row", sort=False):
        right, firm = group["count"] == group["true"], group["firm"].astype(bool)
        inside = (group["low"] <= group["true"]) & (group["true"] <= group["high"])
        lines.append(
            {
                "tables": row,
                "number": len(group),
                "right": int(right.sum()),
                "counts": ", ".join(f"{k}: {n}" for k, n in group["count"].value_counts().items()),
                "truth in range": int(inside.sum()),
                "firm": int(firm.sum()),
                "wrong and firm": int((firm & ~right).sum()),
                "composite": "–" if group["composite"].isna().all() else f"{group['composite'].max():.3f}",
                "seconds, median": f"{group['seconds'].median():.1f}",
            }
        )
        name = row.removeprefix("sigmos-")
        if name in SMALL:
            asked.append(check(f"{row}: right of {len(group)}", int(right.sum()), ">=", SMALL[name], "{:d}"))
        else:
            least = 2.7 if name == "sbs_set1" else 2.75
            asked.append(check(f"{row}: composite", group["composite"].max(), ">=", least, "{:.3f}"))
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
