"""How well the count is told: what half of the tables teach, judged on the other half, and the other way round.

    cd benchmarks/evidence; ALL="simulated.npz small.npz few.npz counts.npz many.npz dense.npz quick.npz wide.npz"
    python ../counting.py $ALL --sets measured.npz  # judge
    python ../counting.py $ALL --keep               # and store what all of them teach
    python ../counting.py $ALL --single             # each kind of evidence by itself
    python ../counting.py $ALL --left-out           # weights that never saw the disturbance

The files are those of counting_tables.py; what learns is counting_learning.py (extra `eb`). Tables without a
search (quick.npz, wide.npz) teach, and are not judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common import check, tell
from counting_learning import (
    LEAST,
    Judged,
    Table,
    borne_out,
    halves,
    in_turn,
    of_all,
    sharpened,
    taught,
)
from counting_tables import NOT_SOUGHT, counted_by, is_met, loaded
from gmcr.counting import Gathered
from gmcr.counting.distribution import MASS, probabilities, smallest_range
from gmcr.counting.net import REGIMES, STORED, Net

Chances = dict[int, float]
BINS = 10
CLEARLY = 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, np.inf  # times as likely as the solver's own count, to be chosen
WIDE = 3  # counts
GROUPS = 8  # of kinds of disturbance, left out together
TOLD = 1.5  # times the edge of white noise, from which components are distinguishable
ALWAYS = ("count", "count of smaller side", "samples", "channels", "smaller side")
SINGLE = {
    "singular values": ("plain:",),
    "scaled for counting": ("counting:",),
    "scaled by sample": ("relative:",),
    "whitened": ("whitened:", "shifted"),
    "cleaned": ("cleaned:",),
    "law of the noise": ("left under", "neighbours left", "tails left", "tail over"),
    "held-out blocks": ("held out:",),
    "halves": ("halves",),
    "neighbours": ("neighbours: ",),
    "vectors": ("smooth", "one sample", "one channel", "like a", "fall without"),
    "scores": ("few ", "mean of", "skewness of", "tails of", "where signal is"),
    "what samples leave": ("left like",),
    "short fits": ("fit over", "fall of", "most alike", "smallest share"),
    "cost": ("cost", "beyond the lowest cost", "white noise left", "share that"),
    "profiles of halves": ("profiles back", "beyond the halves"),
    "rank rule": ("beyond the singular values", "white noise below"),
    "solver's rule": ("beyond the rule",),
}


def as_met(tables: list[Table]) -> list[Table]:
    """The tables as often as their counts are taken to be met."""
    return [table for table in tables if is_met(table["seed"], **counted_by(table))]


# Judging


def chances_of(model: Net, table: Table) -> Chances:
    return probabilities(Gathered(table["counts"], table["names"], table["values"]), model)


def judged(name: str, found: Sequence[Chances], tables: Sequence[Table]) -> dict[str, Any]:
    true = np.array([t["true"] for t in tables])
    top = np.array([max(p, key=lambda k: p[k]) for p in found])
    confidence = np.array([max(p.values()) for p in found])
    ranges = np.array([smallest_range(p) for p in found])
    mass = np.array([sum(v for k, v in p.items() if a <= k <= b) for p, (a, b) in zip(found, ranges)])
    right, inside = top == true, (ranges[:, 0] <= true) & (true <= ranges[:, 1])
    score = np.log(np.maximum([p.get(int(k), 0.0) for p, k in zip(found, true)], LEAST))
    firm = confidence >= MASS
    by_chance = [
        calibration_error(confidence, np.random.default_rng(seed).random(len(tables)) < confidence)
        for seed in range(20)
    ]
    line = {
        "tables": name,
        "number": len(tables),
        "right": right.mean(),
        "confidence": confidence.mean(),
        "firm": firm.mean(),
        "wrong and firm": (firm & ~right).mean(),
        "score": score.mean(),
        "truth in range": inside.mean(),
        "its mass": mass.mean(),
        "calibration error": calibration_error(confidence, right),
        "by chance": float(np.mean(by_chance)),
        "bins outside": bins_outside(confidence, right),
    }
    print(*(f"{value:.3f}" if isinstance(value, float) else value for value in line.values()), flush=True)
    return line


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    parts = [
        abs(right[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean()
        for b in range(BINS)
        if (bins == b).any()
    ]
    return float(sum(parts))


def bins_outside(confidence: np.ndarray, right: np.ndarray, draws: int = 4000) -> int:
    """Bins in which as many are right as a perfect forecaster of these probabilities has in less than 1 %."""
    rng, outside = np.random.default_rng(0), 0
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    for own in (bins == b for b in range(BINS)):
        by_chance = (rng.random((draws, own.sum())) < confidence[own]).sum(axis=1)
        low, high = np.quantile(by_chance, [0.005, 0.995])
        outside += not low <= right[own].sum() <= high
    return outside


def judge_all(found: list[Chances], tables: list[Table]) -> list[dict[str, Any]]:
    """All tables, those whose components can be told, and by kind of disturbance."""
    parts: dict[str, Callable[[Table], bool]] = {
        "all": lambda t: True,
        "undisturbed": lambda t: not t["kinds"],
        "distinguishable": lambda t: t["stands_out"] >= TOLD,
        "both": lambda t: t["stands_out"] >= TOLD and not t["kinds"],
    }
    parts |= {kind: lambda t, kind=kind: kind in kinds_in(t) for kind in kinds_of(tables)}
    lines = []
    for name, belongs in parts.items():
        chosen = [n for n, t in enumerate(tables) if belongs(t)]
        if chosen:
            lines.append(judged(name, [found[n] for n in chosen], [tables[n] for n in chosen]))
    for clearly in CLEARLY:
        rule = [t["rule"] for t in tables]
        top = [max(p, key=lambda k: p[k]) for p in found]
        chosen = [k if p[k] >= clearly * p.get(own, 0.0) else own for k, p, own in zip(top, found, rule)]
        right = np.mean([k == t["true"] for k, t in zip(chosen, tables)])
        print(f"the likeliest where it is {clearly:g} times as likely as the solver's own: right {right:.3f}")
    return lines


def acceptance(lines: list[dict[str, Any]]) -> list[dict[str, str]]:
    by_name = {line["tables"]: line for line in lines}
    every, told, both = (by_name[name] for name in ("all", "distinguishable", "both"))
    kinds = [line["wrong and firm"] for line in lines if line["tables"] not in ("all", "both")]
    return [
        check("calibration error beyond chance", every["calibration error"] - every["by chance"], "<=", 0.02),
        check("bins outside their 99 % interval", every["bins outside"], "<=", 0),
        check("truth in range short of its mass", every["its mass"] - every["truth in range"], "<=", 0.015),
        check("wrong and firm", every["wrong and firm"], "<=", 0.015),
        check("wrong and firm, worst kind", max(kinds), "<=", 0.05),
        check("distinguishable: right", told["right"], ">=", 0.8),
        check("distinguishable: firm", told["firm"], ">=", 0.3),
        check("and undisturbed: right", both["right"], ">=", 0.95),
        check("and undisturbed: firm", both["firm"], ">=", 0.6),
    ]


def kinds_of(tables: list[Table]) -> list[str]:
    return sorted({kind for t in tables for kind in kinds_in(t)})


def kinds_in(table: Table) -> list[str]:
    return [kind for kind in table["kinds"].split(", ") if kind]


def chances_in_turn(found: Sequence[Judged]) -> list[tuple[Table, Chances]]:
    """Each table that was searched, with what the other half of them, and those without a search, teach of it."""
    return [(t, chances_of(net, t)) for net, judge in sharpened(found) for t in judge]


def single_kinds(tables: list[Table], names: Sequence[str]) -> list[dict[str, Any]]:
    """Each kind of evidence by itself, and all together, as one member learns from tables with a search."""
    searched = [table for table in tables if table["rule"] != NOT_SOUGHT]
    lines = []
    for kind, begins in {"all kinds": ("",), **SINGLE}.items():
        columns = [n for n, name in enumerate(names) if name in ALWAYS or name.startswith(begins)]
        found = chances_in_turn(in_turn(searched, np.array(columns), members=1))
        name = kind if kind == "all kinds" else f"only {kind}"
        lines.append(judged(name, [chances for _, chances in found], [t for t, _ in found]))
    return lines


def left_out(tables: list[Table], columns: np.ndarray, sharpness: np.ndarray) -> list[dict[str, Any]]:
    """Each kind by weights that never saw it, nor the others of its group: harder than without it alone."""
    learn, judge = halves(tables)[0]
    kinds = kinds_of(tables)
    groups = [kinds[n::GROUPS] for n in range(GROUPS)]
    others = [[t for t in learn if not any(kind in kinds_in(t) for kind in group)] for group in groups]
    with ProcessPoolExecutor(2) as pool:
        models = list(pool.map(partial(taught, columns=columns, members=range(2)), others))
    by_kind = {kind: model for group, model in zip(groups, models) for kind in group}
    lines = []
    for kind in kinds:
        some = [t for t in judge if kind in kinds_in(t)]
        found = [chances_of(replace(by_kind[kind], sharpness=sharpness), t) for t in some]
        lines.append(judged(f"never seen: {kind}", found, some))
    return lines


def on_sets(model: Net, tables: list[Table]) -> list[dict[str, Any]]:
    for table in tables:
        if is_whole(table):
            found = chances_of(model, table)
            top = sorted(found, key=lambda k: -found[k])[:3]
            said = ", ".join(f"{k} with {found[k]:.3f}" for k in top)
            print(f"{table['kinds']:32s} {table['true']} is {said}; rule {table['rule']}")
    parts: dict[str, Callable[[Table], bool]] = {
        "shared sets": is_whole,
        "subsets of them": lambda t: "subset" in t["kinds"],
        "parts of inorganic": lambda t: "part" in t["kinds"],
    }
    lines = []
    for name, belongs in parts.items():
        own = [t for t in tables if belongs(t)]
        found = [chances_of(model, t) for t in own]
        lines.append(judged(name, found, own))
        wide = [high - low + 1 for low, high in map(smallest_range, found)]
        print(f"range at most {WIDE} counts wide: {np.mean(np.array(wide) <= WIDE):.3f}")
    return lines


def is_whole(table: Table) -> bool:
    """Whether it is a whole shared set."""
    return "subset" not in table["kinds"] and "part" not in table["kinds"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("files", type=Path, nargs="+")
    arguments.add_argument(
        "--sets", type=Path, help="evidence on the shared sets, by counting_tables.py --sets"
    )
    arguments.add_argument("--keep", action="store_true", help="store what all tables teach in the package")
    arguments.add_argument("--single", action="store_true", help="each kind of evidence by itself")
    arguments.add_argument("--left-out", action="store_true", help="each disturbance, never seen")
    arguments.add_argument("--docs", type=Path, metavar="FILE", help="put the table there")
    asked = arguments.parse_args()
    tables = as_met([table for file in asked.files for table in loaded(file)])
    names = tables[0]["names"]
    columns = np.arange(len(names))
    halves_taught = in_turn(tables, columns)
    found = chances_in_turn(halves_taught)
    lines = judge_all([chances for _, chances in found], [t for t, _ in found])
    met = acceptance(lines)
    if asked.sets is not None or asked.keep:
        model = of_all(tables, columns, halves_taught)
        print("sharpness", dict(zip(REGIMES, model.sharpness.round(3).tolist())))
        if asked.keep:
            folder = Path(__file__).resolve().parents[1] / "src/gmcr/counting"
            np.savez_compressed(folder / STORED, **model.as_arrays())
        lines += on_sets(model, loaded(asked.sets)) if asked.sets is not None else []
    if asked.single:
        by_kind = single_kinds(tables, names)
        lines += by_kind
        best = max(line["score"] for line in by_kind[1:])
        met.append(
            check("score of all kinds beyond the best single one", by_kind[0]["score"] - best, ">=", 0.0)
        )
    if asked.left_out:
        unseen = left_out(tables, columns, borne_out(halves_taught))
        lines += unseen
        worst = max(line["wrong and firm"] for line in unseen)
        met.append(check("wrong and firm, worst kind never seen", worst, "<=", 0.08))
    tell(lines, met, "counting", asked.docs)


if __name__ == "__main__":
    main()
