"""Feasible bands under constraints: do they hold the truth, and are they never wider than without?

    python benchmarks/bands.py                        # 120 tables, ten of each kind, and als2004
    python benchmarks/bands.py --only unimodal --seeds 0 1 2

Tables of two to four components that all samples hold, with constraints that the truth obeys. Each is fitted
under its constraints, told the count; bands are at alpha 0.01, with and without them, samples free to hold
anything. `held` counts tables in which the true share of every component lies in its band, `wider` those in which
some band is wider than without constraints, by more than a thousandth of the share; `left` is the median of what
is left of the bands' width.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR
from gmcr.constraints import (
    Calibration,
    Closure,
    Equal,
    FixedValues,
    Monotonic,
    Presence,
    ReferenceProfile,
    Selectivity,
    Smooth,
    Trilinear,
    Unimodal,
    ZeroRegion,
)
from gmcr.constraints.kinetic import Kinetic
from gmcr.constraints.smooth import basis
from gmcr.theory.ambiguity import feasible_bands
from real_sets import load

ALPHA = 0.01
CHANNELS, TIMES = 60, 30
ALS = "als2004"


class Drawn(NamedTuple):
    """Samples, their true concentrations and profiles, constraints that these obey, runs and order."""

    D: np.ndarray
    C: np.ndarray
    S: np.ndarray
    constraints: list[Any]
    runs: Any = None
    order: Any = None


def profiles(random: np.random.Generator, k: int) -> np.ndarray:
    """Bands that overlap everywhere, none without the others."""
    centres = np.linspace(0.25, 0.75, k)[:, None] + random.uniform(-0.03, 0.03, (k, 1))
    x = np.linspace(0, 1, CHANNELS)
    S = np.exp(-0.5 * ((x - centres) / random.uniform(0.12, 0.2, (k, 1))) ** 2)
    return S + random.uniform(0.02, 0.1, (k, 1))


def peaks(random: np.random.Generator, k: int) -> np.ndarray:
    """Peaks of a chromatogram, with tails: (times, k)."""
    time, width = np.arange(TIMES)[:, None], random.uniform(2, 3, k)
    top = TIMES / 2 + (np.arange(k) - (k - 1) / 2) * random.uniform(3, 5)
    tailing = np.where(time < top, 1.0, random.uniform(1, 1.6, k))
    return np.exp(-0.5 * ((time - top) / (width * tailing)) ** 2)


def noisy(random: np.random.Generator, C: np.ndarray, S: np.ndarray) -> np.ndarray:
    clean = C @ S
    sigma = np.sqrt((clean**2).mean()) * 10 ** -random.uniform(1.2, 2.0)  # 24 to 40 dB
    return clean + sigma * random.standard_normal(clean.shape)


def two_runs(random: np.random.Generator, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    one = peaks(random, k)
    C = np.vstack([one * random.uniform(0.3, 1, k) for _ in range(2)])
    return C, np.repeat(["a", "b"], TIMES), np.tile(np.arange(float(TIMES)), 2)


def unimodal(random: np.random.Generator, k: int) -> Drawn:
    C, runs, order = two_runs(random, k)
    S = profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, [Unimodal("C")], runs, order)


def present(random: np.random.Generator, k: int) -> Drawn:
    C, runs, order = two_runs(random, k)
    C[:TIMES, -1] = 0
    S = profiles(random, k)
    told = Presence(runs={"a": [np.nan] * (k - 1) + [0.0], "b": [np.nan] * (k - 1) + [1.0]})
    return Drawn(noisy(random, C, S), C, S, [told, Unimodal("C")], runs, order)


def reaction(random: np.random.Generator, k: int) -> Drawn:
    rates = np.sort(10 ** random.uniform(-1.2, 0.2, k - 1))[::-1]
    order = np.linspace(0.5, 12, TIMES)
    C = Kinetic(" > ".join("ABCD"[:k])).concentrations(rates, order)
    S = profiles(random, k)
    told = [Monotonic("C", "down", components=0), Monotonic("C", "up", components=k - 1)]
    return Drawn(noisy(random, C, S), C, S, told, None, order)


def kinetic(random: np.random.Generator, k: int) -> Drawn:
    """Constants that are told apart by their size."""
    rates = 10 ** (0.2 - 0.7 * np.arange(k - 1) + random.uniform(-0.15, 0.15, k - 1))
    one, order = Kinetic(" > ".join("ABCD"[:k])), np.linspace(0.5, 12, TIMES)
    C, S = one.concentrations(rates, order), profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, [one], None, order)


def landscapes(random: np.random.Generator, k: int) -> Drawn:
    slices, mode = np.repeat(np.arange(6), 8), np.tile(np.arange(8.0), 6)
    light = np.exp(-0.5 * ((np.arange(8) - np.linspace(1, 6, k)[:, None]) / 2.0) ** 2).T
    C, S = random.uniform(0.2, 1, (6, k))[slices] * light[mode.astype(int)], profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, [Trilinear()], slices, mode)


def fractions(random: np.random.Generator, k: int) -> tuple[np.ndarray, np.ndarray]:
    C = 0.05 + random.dirichlet(np.ones(k), 25)
    return C / C.sum(axis=1, keepdims=True), profiles(random, k)


def closed(random: np.random.Generator, k: int) -> Drawn:
    C, S = fractions(random, k)
    return Drawn(noisy(random, C, S), C, S, [Closure()])


def closed_peaks(random: np.random.Generator, k: int) -> Drawn:
    """A titration, one step after the other: species come and go, and sum to one."""
    order = np.arange(float(TIMES))
    halfway = np.linspace(0, TIMES, k + 1)[1:-1] + random.uniform(-2, 2, k - 1)
    steps = (order[:, None] - halfway) / random.uniform(2, 4)
    C = softmax(np.column_stack([np.zeros(TIMES), np.cumsum(steps, axis=1)]), axis=1)
    S = profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, [Closure(), Unimodal("C")], None, order)


def zero(random: np.random.Generator, k: int) -> Drawn:
    C, S = fractions(random, k)
    S[0, :15] = 0.0
    return Drawn(noisy(random, C, S), C, S, [ZeroRegion("S", (0, 14), components=0)])


def selective(random: np.random.Generator, k: int) -> Drawn:
    C, S = fractions(random, k)
    S[1:, -8:] = 0.0
    S[0, -8:] += 0.2
    return Drawn(noisy(random, C, S), C, S, [Selectivity("S", (CHANNELS - 8, CHANNELS - 1), 0)])


def known(random: np.random.Generator, k: int) -> Drawn:
    C, S = fractions(random, k)
    rows = np.arange(25) < 6
    if random.random() < 0.5:
        return Drawn(noisy(random, C, S), C, S, [Calibration(np.where(rows, C[:, 0], np.nan)[:, None])])
    values = np.full(C.shape, np.nan)
    values[rows, 0] = C[rows, 0]
    return Drawn(noisy(random, C, S), C, S, [FixedValues("C", values)])


def reference(random: np.random.Generator, k: int) -> Drawn:
    C, S = fractions(random, k)
    return Drawn(noisy(random, C, S), C, S, [ReferenceProfile(S[0])])


def smooth(random: np.random.Generator, k: int) -> Drawn:
    """Splines, and runs that repeat each other."""
    B = basis(CHANNELS, 6.0)
    at = np.linspace(0, CHANNELS - 1, B.shape[1])
    S = np.array([B @ np.interp(at, np.arange(CHANNELS), s) for s in profiles(random, k)])
    C, runs, order = two_runs(random, k)
    C[TIMES:] = C[:TIMES]
    return Drawn(noisy(random, C, S), C, S, [Smooth("S", 6.0), Equal()], runs, order)


KINDS: dict[str, Callable[[np.random.Generator, int], Drawn]] = {
    "unimodal": unimodal,
    "unimodal, presence": present,
    "monotonic": reaction,
    "closure": closed,
    "closure, unimodal": closed_peaks,
    "zero region": zero,
    "selectivity": selective,
    "known amounts": known,
    "reference profile": reference,
    "smooth, equal": smooth,
    "kinetic": kinetic,
    "trilinear": landscapes,
}


def run(cell: Cell, data: Path) -> Result:
    if cell["row"] == ALS:
        return judged(als2004(data))
    random = np.random.default_rng([cell["random_state"], list(KINDS).index(cell["row"])])
    return judged(KINDS[cell["row"]](random, cell["k"]))


def als2004(data: Path) -> Drawn:
    found = load(data, ALS)
    order = np.arange(float(len(found["D"])))
    return Drawn(found["D"], found["C"], found["S"], [Unimodal("C")], found["x_run"], order)


def judged(drawn: Drawn) -> Result:
    D, C, S, constraints, runs, order = drawn
    model = GMCR(n_components=len(S), constraints=constraints, signed=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(D, runs=runs, order=order)
    norms = np.linalg.norm(S, axis=1)
    cosines = model.components_ @ (S / norms[:, None]).T
    which = linear_sum_assignment(-cosines)[1]
    shares = (np.linalg.norm(C, axis=0) * norms / np.linalg.norm(C @ S))[which]
    told = {"runs": runs, "order": order, "constraints": constraints}
    out = feasible_bands(D, model.decomposition_, alpha=ALPHA, **told)
    free = feasible_bands(D, model.decomposition_, alpha=ALPHA, supports="all")
    beyond = [max(band.min - share, share - band.max, 0.0) for band, share in zip(out.bands, shares)]
    widths, without = (np.array([band.max - band.min for band in one.bands]) for one in (out, free))
    return {
        "held": bool(max(beyond) == 0.0),
        "beyond": float(max(beyond)),
        "more": float(((widths - without) / shares).max()),
        "left": float(np.median(widths / np.maximum(without, 1e-12))),
        "width": float(without.mean()),
        "cosine": float(cosines[np.arange(len(S)), which].min()),
        "numbers": bool(np.isfinite(widths).all()),
    }


def line_of(row: str, runs: pd.DataFrame) -> dict[str, Any]:
    return {
        "constraints": row,
        "held": f"{runs['held'].sum()}/{len(runs)}",
        "furthest beyond": f"{runs['beyond'].max():.4f}",
        "wider": f"{(runs['more'] > 1e-3).sum()}/{len(runs)}",
        "width without": f"{runs['width'].median():.3f}",
        "left": f"{runs['left'].median():.2f}",
    }


def main() -> None:
    given = parser(__doc__, "bands", data=True).parse_args()
    seeds = given.seeds or range(100, 110)
    cells: list[Cell] = [
        {"row": row, "k": 2 + (seed + place) % 3, "random_state": seed}
        for place, row in enumerate(KINDS)
        for seed in (seeds if not given.smoke else seeds[:1])
    ]
    if given.smoke:
        cells = [cell | {"k": 2} for cell in cells[:2]]
    elif (given.data / f"{ALS}.npz").exists():
        cells.append({"row": ALS})
    runs = measure(cells, lambda cell: run(cell, given.data), given)
    table = runs.table
    lines = [line_of(str(row), group) for row, group in table.groupby("row", sort=False)]
    simulated = table[table["row"] != ALS]
    asked = [
        check("simulated tables that hold the truth", simulated["held"].mean(), ">=", 0.99),
        check("tables with a wider band than without", float((simulated["more"] > 1e-3).sum()), "<=", 0),
    ]
    if len(simulated) < len(table):
        asked.append(
            check("als2004: the truth in the bands", float(table[table["row"] == ALS]["held"].all()), ">=", 1)
        )
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
