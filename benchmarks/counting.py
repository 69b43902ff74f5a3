"""How well the count is told: learned from half of the simulated tables, judged on the other half.

    python benchmarks/counting.py evidence.npz few.npz            # judge
    python benchmarks/counting.py evidence.npz few.npz --keep     # and store what was learned in the package

The files are those of counting_tables.py. What is learned is the chance to stop at a count, given that it is
reached: gradient-boosted trees over the evidence on that count. Its log-odds are then stretched until they are as
frequent on tables that were left out as they say.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.ensemble import HistGradientBoostingClassifier

from counting_tables import loaded
from gmcr.counting.distribution import MASS, smallest_range, spread
from gmcr.counting.forest import STORED, Forest

Table = dict[str, Any]
FOLDS, MEMBERS, BINS = 5, 5, 10
SETTINGS = {
    "learning_rate": 0.06,
    "max_iter": 120,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 30,
    "l2_regularization": 5.0,
}


def rows(tables: list[Table]) -> tuple[np.ndarray, np.ndarray]:
    """Evidence on all counts that are reached, and whether the count is that."""
    values = [t["values"][t["counts"] <= t["true"]] for t in tables]
    stops = [t["counts"][t["counts"] <= t["true"]] == t["true"] for t in tables]
    return np.concatenate(values), np.concatenate(stops)


def learned(tables: list[Table], columns: np.ndarray, seed: int = 0) -> Forest:
    """Members, each of which sees half of the columns at a split, averaged; their log-odds stretched."""
    values, stops = rows(tables)
    trees, start = [], 0.0
    for member in range(MEMBERS):
        model = HistGradientBoostingClassifier(
            **SETTINGS, max_features=0.4, random_state=seed + member, early_stopping=False
        )
        model.fit(values[:, columns], stops)
        start += float(model._baseline_prediction.ravel()[0]) / MEMBERS
        trees += [one[0].nodes for one in model._predictors]
    firsts = np.cumsum([0, *(len(nodes) for nodes in trees)])
    nodes = np.concatenate(trees)
    shift = np.repeat(firsts[:-1], np.diff(firsts))
    own, leaf = np.arange(len(nodes)), nodes["is_leaf"].astype(bool)
    return Forest(
        names=np.array(tables[0]["names"])[columns],
        roots=firsts[:-1],
        column=nodes["feature_idx"].astype(np.int32),
        threshold=nodes["num_threshold"],
        missing_left=nodes["missing_go_to_left"].astype(bool),
        left=np.where(leaf, own, nodes["left"] + shift).astype(np.int32),
        right=np.where(leaf, own, nodes["right"] + shift).astype(np.int32),
        value=np.where(leaf, nodes["value"], 0.0) / MEMBERS,
        depth=np.array(int(nodes["depth"].max())),
        offset=np.array(start),
        slope=np.array(1.0),
    )


def calibrated(tables: list[Table], columns: np.ndarray) -> Forest:
    """What is learned from all, its log-odds stretched as tables that were left out ask for."""
    folds = np.array([t["seed"] % FOLDS for t in tables])
    odds, stops = [], []
    for fold in range(FOLDS):
        forest = learned([t for t, f in zip(tables, folds) if f != fold], columns)
        values, own = rows([t for t, f in zip(tables, folds) if f == fold])
        odds.append(forest.log_odds(values[:, columns]))
        stops.append(own)
    x, y = np.concatenate(odds), np.concatenate(stops)
    found = minimize(lambda p: np.mean(np.logaddexp(0, -(2 * y - 1) * (p[0] + p[1] * x))), [0.0, 1.0]).x
    forest = learned(tables, columns)
    arrays = forest.as_arrays()
    arrays["offset"], arrays["slope"] = found[0] + found[1] * forest.offset, np.array(found[1])
    return Forest(**arrays)


def chances(forest: Forest, table: Table) -> dict[int, float]:
    order = [table["names"].index(name) for name in forest.names.tolist()]
    return spread(table["counts"], forest.log_odds(table["values"][:, order]))


def judged(name: str, forest: Forest, tables: list[Table], shown: bool = True) -> dict[str, float]:
    found = [chances(forest, t) for t in tables]
    true = np.array([t["true"] for t in tables])
    top = np.array([max(p, key=lambda k: p[k]) for p in found])
    confidence = np.array([max(p.values()) for p in found])
    ranges = np.array([smallest_range(p) for p in found])
    mass = np.array([sum(v for k, v in p.items() if a <= k <= b) for p, (a, b) in zip(found, ranges)])
    right, inside = top == true, (ranges[:, 0] <= true) & (true <= ranges[:, 1])
    score = np.log(np.maximum([p.get(int(k), 0.0) for p, k in zip(found, true)], 1e-4))
    firm = confidence >= MASS
    out = {
        "tables": len(tables),
        "right": right.mean(),
        "confidence": confidence.mean(),
        "firm": firm.mean(),
        "wrong and firm": (firm & ~right).mean(),
        "score": score.mean(),
        "in range": inside.mean(),
        "mass": mass.mean(),
        "calibration error": calibration_error(confidence, right),
        "by chance": np.mean(
            [
                calibration_error(confidence, np.random.default_rng(s).random(len(tables)) < confidence)
                for s in range(20)
            ]
        ),
    }
    if shown:
        print(f"{name:28s}", "  ".join(f"{k} {v:.4g}" for k, v in out.items()), flush=True)
    return out


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    parts = [
        abs(right[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean()
        for b in range(BINS)
        if (bins == b).any()
    ]
    return float(sum(parts))


def _sets(forest: Forest, tables: list[Table]) -> None:
    for table in tables:
        if "subset" not in table["kinds"]:
            found = chances(forest, table)
            top = sorted(found, key=lambda k: -found[k])[:3]
            said = ", ".join(f"{k} with {found[k]:.3f}" for k in top)
            print(f"{table['kinds']:32s} {table['true']} is {said}; rule {table['rule']}")
    judged("shared sets", forest, [t for t in tables if "subset" not in t["kinds"]])
    judged("subsets of them", forest, [t for t in tables if "subset" in t["kinds"]])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("files", type=Path, nargs="+")
    arguments.add_argument(
        "--sets", type=Path, help="evidence on the shared sets, by counting_tables.py --sets"
    )
    arguments.add_argument("--keep", action="store_true")
    asked = arguments.parse_args()
    tables = [table for file in asked.files for table in loaded(file)]
    learn, judge = tables[::2], tables[1::2]
    columns = np.arange(len(tables[0]["names"]))
    forest = calibrated(learn, columns)
    judged("all", forest, judge)
    plain = [t for t in judge if not t["kinds"]]
    told = [t for t in judge if t["stands_out"] >= 1.5]
    judged("undisturbed", forest, plain)
    judged("distinguishable", forest, told)
    judged("both", forest, [t for t in told if not t["kinds"]])
    for kind in sorted({k for t in judge for k in t["kinds"].split(", ") if k}):
        judged(kind, forest, [t for t in judge if kind in t["kinds"].split(", ")])
    rule = np.array([t["rule"] == t["true"] for t in judge])
    print(f"the solver's own rule: right {rule.mean():.3f}")
    if asked.sets is not None:
        _sets(forest, loaded(asked.sets))
    if asked.keep:
        folder = Path(__file__).parents[1] / "src/gmcr/counting"
        np.savez_compressed(folder / STORED, **calibrated(tables, columns).as_arrays())


if __name__ == "__main__":
    main()
