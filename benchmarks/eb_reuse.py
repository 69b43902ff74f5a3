"""Reuse on the Carbs simplex: a frozen checkpoint decodes 861 mixtures × 20 noise draws it has never seen.

    python benchmarks/eb_reuse.py --data ../shared/data --figure results/eb_reuse.csv

The checkpoint is the one with the fewest components. Mixtures lie on the simplex with step 0.025; noise is
uniform on [0, 3 % of the maximum]. Its mean is absorbed by the learned profiles, so the floor is the centred
noise's nMSE times one plus the leverage of 21 training samples, about 1.11. `kept` is the share of boundary
mixtures, which lack one component or two, that hold three all the same. `window` is the window solver's pool
and decoder. The figure's data: one line per mixture.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from common import Cell, Result, measure, parser, report
from eb import trained
from fits import matched_cosines
from gmcr import GMCR
from real_sets import OFFSETS, load

STEP, DRAWS, NOISE = 0.025, 20, 0.03
LEVERAGE = 1.11


def simplex() -> np.ndarray:
    """(861, 3) points whose entries are multiples of the step and sum to one."""
    n = round(1 / STEP)
    return np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n


def run(cell: Cell, folder: Path, figure: Path | None) -> Result:
    data = load(folder, "carbs")
    S = data["S"]
    C = simplex()
    top = NOISE * float((data["C"] @ S).max())
    rng = np.random.default_rng(cell["random_state"])
    eb, _ = trained(data["D"], cell, lowest_band=0.95)
    rule = "fewest" if eb.bands_ else "final"
    window = GMCR().fit(data["D"])
    pools = {
        "gate": eb.select(rule).components,
        "exact": eb.select(rule).components,
        "window": window.components_,
    }
    errors = {name: np.zeros(len(C)) for name in pools}
    kept = dict.fromkeys(pools, 0.0)
    below = dict.fromkeys(pools, 0.0)
    floor = 0.0
    boundary = (C == 0).any(axis=1)
    for _ in range(DRAWS):
        X = C @ S + rng.uniform(0.0, top, (len(C), S.shape[1]))
        size = (X**2).sum(axis=1)
        floor += float(np.mean(top**2 / 12 * S.shape[1] * LEVERAGE / size)) / DRAWS
        amounts = {name: eb.decode(X, name, rule=rule).concentrations for name in ("gate", "exact")}
        amounts["window"] = window.decode(X).concentrations
        for name, pool in pools.items():
            error = ((X - amounts[name] @ pool) ** 2).sum(axis=1) / size
            errors[name] += error / DRAWS
            below[name] += float((error < 0.01).mean()) / DRAWS
            kept[name] += float((np.count_nonzero(amounts[name][boundary], axis=1) >= 3).mean()) / DRAWS
    if figure is not None:
        figure.parent.mkdir(parents=True, exist_ok=True)
        header = "c1,c2,c3," + ",".join(f"nmse_{name}" for name in errors)
        np.savetxt(figure, np.column_stack([C, *errors.values()]), delimiter=",", header=header, comments="")
    result: Result = {
        "count": len(pools["gate"]),
        "min_cos": float(matched_cosines(pools["gate"], S + OFFSETS["carbs"]).min()),
        "floor": floor,
        "n_boundary": int(boundary.sum()),
    }
    for name in pools:
        result |= {f"{name}_nmse": float(errors[name].mean()), f"{name}_kept": kept[name]}
        result[f"{name}_below"] = below[name]
    return result


def main() -> None:
    options = parser(__doc__, "eb_reuse", data=True)
    options.add_argument("--figure", type=Path, metavar="FILE", help="CSV of the map's data")
    given = options.parse_args()
    epochs = 30 if given.smoke else 20_000
    cells = [
        {"row": "carbs", "random_state": seed, "pool": 128, "epochs": epochs}
        for seed in given.seeds or (100,)
    ]
    runs = measure(cells, lambda cell: run(cell, given.data, given.figure), given)
    lines = [
        {
            "seed": one["random_state"],
            "decoder": name,
            "components": one["count"] if name != "window" else "–",
            "mean nMSE": f"{one[f'{name}_nmse']:.5f}",
            "floor": f"{one['floor']:.5f}",
            "nMSE < 0.01": f"{one[f'{name}_below']:.3f}",
            f"kept, of {one['n_boundary']} boundary mixtures": f"{one[f'{name}_kept']:.3f}",
        }
        for one in runs.table.to_dict("records")
        for name in ("gate", "exact", "window")
    ]
    report([lines], runs, given)


if __name__ == "__main__":
    main()
