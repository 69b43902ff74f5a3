"""How often disturbances of a table are found, by kind and strength; false alarms; the count with them masked.

    python benchmarks/disturbances.py
    python benchmarks/disturbances.py --only spike jump --seeds 1000 1001
    python benchmarks/disturbances.py --only 'count, *' --seeds 2000 2001

Tables behave like measured ones, undisturbed but for one thing. Strength 1 is where the best test that knows the
place, the shape, the noise and what the components span would find it half of the time at a level of 0.001: where
what is not explained by the components is 3.09 standard deviations long. A hot channel reads too much by the same
in every sample; where amounts sum to one that is a component's own, no test can tell, and the table is left out.
A shifted axis is off by at most two channels, and a table that would need more is left out at that strength.
A jump is a band that all samples have from one on; its limit is that of a test that knows neither amounts nor
profiles, it counts as found within a tenth of the samples, and only tables whose amounts have no order are asked.
A dead channel reads zero; a clipped table stops at its so-and-so largest reading: both have no strength.
A clean table may have a sample that alone shows a component, which the others together leave below the edge of
the noise: no table tells that from a foreign sample, and such tables stand in a row of their own.

`count, ...` fits a table undisturbed, disturbed and as it is, and disturbed with what was found masked. Strengths
are drawn between 3 and 10 there; spikes are one in ten samples, and a stuck channel reads the same throughout.
Measured sets (--data) are looked at for alarms alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR, find_disturbances, make_measured
from gmcr.mixtures.measured import Measured
from real_sets import REFERENCES, SIGNED

LIMIT = 3.09  # standard deviations, the quantile of a normal at 0.999
STRENGTHS = (1.0, 2.0, 3.0, 5.0, 10.0)
FARTHEST = 2.0  # channels, by which an axis may be off
TOLD = 0.1  # of an offset, that amounts must leave unexplained
KINDS = ("hot channel", "spike", "foreign sample", "shifted axis", "jump")
CLIPPED = (3, 10, 30)  # largest readings, at which a table is clipped
UNORDERED = ("lognormal", "dirichlet", "few", "design")
FEWEST = 16  # samples for a jump
EXACT = ("dead channel", *(f"clipped at the {n} largest" for n in CLIPPED))
MASKED = ("hot channel", "spike", "stuck channel", "clipped at the 30 largest")
SETS = (*REFERENCES, SIGNED, "raman_emulsion_hsi")
SIZES = (20, 160), (40, 200)  # samples and channels, on a logarithmic scale

Rng = np.random.Generator


def table_of(seed: int, most: float = 1.0) -> tuple[Measured, Rng]:
    """An undisturbed table; `most` of the largest size."""
    rng = np.random.default_rng(seed)
    m, d = (int(np.exp(rng.uniform(np.log(low), np.log(most * high)))) for low, high in SIZES)
    return make_measured(n_samples=m, n_features=d, random_state=seed, disturbed=False), rng


def free(shape: np.ndarray, directions: np.ndarray, sigma: np.ndarray) -> float:
    """Length in standard deviations of what of a shape the directions (n, entries) do not explain."""
    Q = np.linalg.qr((directions / sigma).T)[0]
    white = shape / sigma
    return float(np.linalg.norm(white - Q @ (Q.T @ white)))


# One disturbance each: the table with it, and where it is


def disturbed(kind: str, strength: float, table: Measured, rng: Rng) -> tuple[np.ndarray, tuple]:
    """The table with one disturbance, so many times its limit, and where it is: (sample, channel)."""
    if kind == "jump":
        return jump(table, strength, rng)
    D, clean = table.D.copy(), table.C @ table.S
    sigma = np.broadcast_to(table.sigma, D.shape)
    m, j, d = int(rng.integers(len(D))), int(rng.integers(D.shape[1])), D.shape[1]
    if kind == "hot channel":
        D[:, j] += strength * LIMIT / free(np.ones(len(D)), table.C.T, sigma[:, j])
        return D, (None, j)
    if kind == "spike":
        D[m, j] += strength * LIMIT / free(np.eye(d)[j], table.S, sigma[m])
        return D, (m, j)
    if kind == "shifted axis":
        D[m] += moved(clean[m], strength * LIMIT, table.S, sigma[m], rng)
        return D, (m, None)
    shape = band(d, rng)
    D[m] += strength * LIMIT / max(free(shape, table.S, sigma[m]), 1e-12) * shape
    return D, (m, None)


def moved(clean: np.ndarray, asked: float, profiles: np.ndarray, sigma: np.ndarray, rng: Rng) -> np.ndarray:
    """What a sample whose axis is off differs by: so far that what no component explains of it is `asked` long,
    NaN where it would have to be off by more channels than an axis is."""
    x, sign = np.arange(float(len(clean))), rng.choice([-1.0, 1.0])

    def difference(by: float) -> np.ndarray:
        return np.interp(x - sign * by, x, clean) - clean

    low, high = 0.0, FARTHEST
    if free(difference(high), profiles, sigma) < asked:
        return np.full(len(clean), np.nan)
    for _ in range(40):
        middle = (low + high) / 2.0
        too_far = free(difference(middle), profiles, sigma) > asked
        low, high = (low, middle) if too_far else (middle, high)
    return difference(high)


def band(d: int, rng: Rng) -> np.ndarray:
    width = max(d * rng.uniform(0.02, 0.1), 1.5)
    return np.exp(-0.5 * ((np.arange(d) - rng.uniform(0, d - 1)) / width) ** 2)


def jump(table: Measured, strength: float, rng: Rng) -> tuple[np.ndarray, tuple]:
    """The table with a band on top of all samples from one on, so many times its limit, and from which."""
    (m, d), sigma = table.D.shape, np.broadcast_to(table.sigma, table.D.shape)
    start = int(rng.integers(m // 4, 3 * m // 4 + 1))
    on_top = np.outer(np.arange(m) >= start, band(d, rng))
    amounts, profiles = np.linalg.qr(table.C)[0], np.linalg.qr(table.S.T)[0]
    left = on_top - amounts @ (amounts.T @ on_top)
    left = left - (left @ profiles) @ profiles.T
    size = strength * LIMIT / max(float(np.linalg.norm(left / sigma)), 1e-12)
    return table.D + size * on_top, (start, None)


def clipped(D: np.ndarray, n: int) -> np.ndarray:
    return np.minimum(D, np.partition(D.ravel(), -n)[-n])


def can_be_told(kind: str, table: Measured) -> bool:
    """A hot channel is a component's own where amounts sum to one; a jump is where amounts go with the order."""
    ones = np.ones(len(table.D))
    if kind == "hot channel":
        return free(ones, table.C.T, ones) >= TOLD * np.linalg.norm(ones)
    return kind != "jump" or (table.kinds["concentrations"] in UNORDERED and len(table.D) >= FEWEST)


def one_alone(table: Measured) -> bool:
    """Whether one sample alone shows a component: at twice its limit, and below the edge of noise without it."""
    others = [np.delete(table.S, i, axis=0) for i in range(len(table.S))]
    sigma = np.full(table.D.shape[1], np.median(table.sigma))
    held = np.square(table.C * [free(one, rest, sigma) for one, rest in zip(table.S, others)])
    edge = np.square(np.sqrt(table.D.shape).sum())
    shown = held.max(axis=0) > np.square(2.0 * LIMIT)
    return bool((shown & (held.sum(axis=0) - held.max(axis=0) < edge)).any())


# What a cell measures


def run_with(folder: Path) -> Callable[[Cell], Result]:
    def run(cell: Cell) -> Result:
        row = cell["row"]
        if row == "measured":
            return alarms(np.load(folder / f"{cell['set']}.npz")["D"])
        if row.startswith("count, "):
            return counted(row.removeprefix("count, "), cell["seed"])
        table, rng = table_of(cell["seed"])
        if row == "clean":
            return alarms(table.D) | {"alone": one_alone(table)}
        if row in EXACT:
            return {"found": exact(row, table, rng)}
        if not can_be_told(row, table):
            return {"asked": False}
        seeds = rng.integers(2**32, size=len(STRENGTHS))
        hits = {s: found(row, s, table, np.random.default_rng(at)) for s, at in zip(STRENGTHS, seeds)}
        named = {f"{s:g} x": hit[0] for s, hit in hits.items()}
        return {"asked": True} | named | {f"told at {s:g} x": hit[1] for s, hit in hits.items()}

    return run


def alarms(D: np.ndarray) -> Result:
    found = find_disturbances(D)
    return {"alarms": len(found), "masked": sum(one.masked for one in found), "which": found.in_short(5)}


def exact(row: str, table: Measured, rng: Rng) -> bool:
    if row == "dead channel":
        dead, j = table.D.copy(), int(rng.integers(table.D.shape[1]))
        dead[:, j] = 0.0
        return any(one.kind == row and one.channel == j for one in find_disturbances(dead))
    D = clipped(table.D, int(row.split()[3]))
    hits = {one.sample for one in find_disturbances(D) if one.kind == "clipped"}
    return hits == set(np.flatnonzero(np.equal(D, D.max()).any(axis=1)))


def found(kind: str, strength: float, table: Measured, rng: Rng) -> tuple[bool | None, bool | None]:
    """Whether it is found by its name where it is, and whether it is told at all there; None if it cannot be."""
    D, (m, j) = disturbed(kind, strength, table, rng)
    if np.isnan(D).any():
        return None, None
    if kind == "jump":
        near = max(1, len(D) // 10)
        hit = any(one.kind == kind and abs(one.sample - m) <= near for one in find_disturbances(D))
        return hit, hit
    there = [
        one
        for one in find_disturbances(D)
        if one.sample == m and (j is None or one.channel is None or one.channel == j)
    ]
    return any(one.kind == kind for one in there), bool(there)


def counted(kind: str, seed: int) -> Result:
    """Whether the count is right: undisturbed, disturbed, and with what was found masked."""
    table, rng = table_of(seed, most=0.5)
    strength = float(np.exp(rng.uniform(np.log(3.0), np.log(10.0))))
    if kind == "stuck channel":
        D = table.D.copy()
        D[:, rng.integers(D.shape[1])] = rng.uniform(0.05, 1.0) * D.max()
    elif kind.startswith("clipped"):
        D = clipped(table.D, int(kind.split()[3]))
    elif not can_be_told(kind, table):
        return {"asked": False}
    else:
        D = table.D.copy()
        for _ in range(max(1, len(D) // 10) if kind == "spike" else 1):
            D += disturbed(kind, strength, table, rng)[0] - table.D
    right = {"undisturbed": count(table.D, "keep") == len(table.S)}
    if right["undisturbed"]:
        right |= {"as it is": count(D, "keep") == len(table.S), "masked": count(D, "mask") == len(table.S)}
    return {"asked": True} | right


def count(D: np.ndarray, disturbances: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GMCR(random_state=0, disturbances=disturbances).fit(D).n_components_


# Tables


def of_strengths(asked: pd.DataFrame, title: str, prefix: str) -> list[dict[str, Any]]:
    return [
        {title: kind, "tables": len(of)} | {f"{s:g} x": share(of[f"{prefix}{s:g} x"]) for s in STRENGTHS}
        for kind, of in asked[asked["row"].isin(KINDS)].groupby("row", sort=False)
    ]


def share(found: pd.Series) -> str:
    """Of those that could be asked, and how many they are where not all could."""
    asked = found.dropna()
    return f"{asked.astype(float).mean():.0%}" + ("" if len(asked) == len(found) else f" of {len(asked)}")


def of_counts(asked: pd.DataFrame) -> list[dict[str, Any]]:
    """Of tables whose undisturbed twin is counted right."""
    right = asked[asked["row"].str.startswith("count, ") & asked["undisturbed"].eq(True)]
    return [
        {"count right with a": row.removeprefix("count, "), "tables": len(of)}
        | {how: f"{of[how].astype(float).mean():.0%}" for how in ("as it is", "masked")}
        for row, of in right.groupby("row", sort=False)
    ]


def of_clean(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "clean tables": "with a sample that alone shows a component" if alone else "all others",
            "tables": len(of),
        }
        | {
            "with an alarm": int((of["alarms"] > 0).sum()),
            "with one to be masked": int((of["masked"] > 0).sum()),
        }
        for alone, of in table[table["row"] == "clean"].groupby("alone")
    ]


def of_alarms(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {"set": one["set"], "alarms": int(one["alarms"]), "masked": int(one["masked"]), "first ones": said}
        for _, one in table[table["row"] == "measured"].iterrows()
        for said in one["which"].split("\n")
    ]


def acceptance(table: pd.DataFrame, asked: pd.DataFrame) -> list[dict[str, str]]:
    lines = []
    for kind, of in asked[asked["row"].isin(KINDS)].groupby("row", sort=False):
        strong = [of[f"{s:g} x"].dropna().astype(float).mean() for s in STRENGTHS if s >= 3.0]
        lines.append(
            check(f"{kind}: found from three times the limit on", float(np.mean(strong)), ">=", 0.95)
        )
    for kind, of in table[table["row"].isin(EXACT)].groupby("row", sort=False):
        lines.append(check(f"{kind}: found", of["found"].astype(float).mean(), ">=", 0.95))
    clean = table[(table["row"] == "clean") & table["alone"].eq(False)]
    if len(clean):
        lines.append(check("clean tables with an alarm", (clean["alarms"] > 0).mean(), "<=", 0.02))
    right = asked[asked["row"].str.startswith("count, ") & asked["undisturbed"].eq(True)]
    for row, of in right.groupby("row", sort=False):
        lines.append(check(f"{row}, masked: right", of["masked"].astype(float).mean(), ">=", 0.9))
    return lines


def main() -> None:
    given = parser(__doc__ or "", "disturbances", data=True).parse_args()
    looked_for = given.seeds or range(1000, 1001 if given.smoke else 1100)
    counted_on = given.seeds or range(2000, 2001 if given.smoke else 2040)
    cells: list[Cell] = [
        {"row": row, "seed": seed} for seed in looked_for for row in ("clean", *KINDS, *EXACT)
    ]
    cells += [{"row": f"count, {row}", "seed": seed} for seed in counted_on for row in MASKED]
    cells += [{"row": "measured", "set": name} for name in SETS if not given.smoke]
    runs = measure(cells, run_with(given.data), given)
    table = runs.table.reindex(columns=runs.table.columns.union(["asked", "alone", "undisturbed", "set"]))
    asked = table[table["asked"].eq(True)]
    tables = [
        of_strengths(asked, "found by name", ""),
        of_strengths(asked, "told at its place", "told at "),
        of_clean(table),
        of_counts(asked),
        of_alarms(table),
        acceptance(table, asked),
    ]
    report(tables, runs, given)


if __name__ == "__main__":
    main()
