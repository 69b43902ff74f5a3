"""What to measure next, carried out: does the proposed sample close the band that it names by what was promised?

    python benchmarks/next_sample.py                  # 200 ambiguous tables
    python benchmarks/next_sample.py --only mixtures --seeds 0 1 2

Tables whose components all samples hold, fitted told the count. The sample that `what_next` names, or the two, is
made from the true concentrations and profiles, with the table's noise, and added; what it lacks by its name is
told to the fit. `closes` is the share of the named band's width that is gone then, `random` what as many further
samples drawn like the others close of the same band. Bands are those of the shares of signal in the samples that
were there before. Tables without an open band are drawn anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from bands import noisy, profiles
from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR, Decomposition
from gmcr.constraints import Kinetic, Presence
from gmcr.theory.ambiguity import feasible_bands
from gmcr.theory.further_samples import DILUTED, STEPS_IN
from gmcr.theory.next_sample import NextSample, what_next

SAMPLES = 20
TRIES = 20
Absent = Sequence[Sequence[int]]  # for each further sample, the components that it is without


class Drawn(NamedTuple):
    """A table, its truth, its order if it has one, and what draws a further sample or one at another time."""

    D: np.ndarray
    C: np.ndarray
    S: np.ndarray
    further: Callable[[], np.ndarray]
    order: Any = None
    at: Callable[[float], np.ndarray] | None = None


def mixtures(random: np.random.Generator, k: int) -> Drawn:
    C, S = random.uniform(1, 6, (SAMPLES, k)), profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, lambda: random.uniform(1, 6, k))


def in_solvent(random: np.random.Generator, k: int) -> Drawn:
    """The last component is the solvent: about as much of it in every sample."""

    def one() -> np.ndarray:
        return np.append(random.uniform(1, 6, k - 1), random.uniform(4, 5))

    C, S = np.array([one() for _ in range(SAMPLES)]), profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, one)


def reaction(random: np.random.Generator, k: int) -> Drawn:
    """Measured from when it is on its way until before it is done."""
    rates = np.sort(10 ** random.uniform(-0.9, -0.2, k - 1))[::-1]
    kinetic, order = Kinetic(" > ".join("ABCD"[:k])), np.linspace(2, 6, SAMPLES)

    def at(time: float) -> np.ndarray:
        return kinetic.concentrations(rates, np.array([max(time, 0.0)]))[0]

    C, S = kinetic.concentrations(rates, order), profiles(random, k)
    return Drawn(noisy(random, C, S), C, S, lambda: at(float(random.uniform(2, 6))), order, at)


KINDS: dict[str, Callable[[np.random.Generator, int], Drawn]] = {
    "mixtures": mixtures,
    "in a solvent": in_solvent,
    "reaction": reaction,
}


def run(cell: Cell) -> Result:
    for attempt in range(TRIES):
        random = np.random.default_rng([cell["random_state"], attempt])
        drawn = KINDS[cell["row"]](random, cell["k"])
        model = fitted(drawn.D, cell["k"])
        told = what_next(drawn.D, model, supports="all", order=drawn.order)
        if told and told[0].promise > 0:
            return carried_out(drawn, model, told[0], random) | {"attempts": attempt + 1}
    raise RuntimeError("no ambiguous table was drawn")


def fitted(D: np.ndarray, k: int, absent: Absent = ()) -> Decomposition:
    """A fit told the count; absent : for each of the last samples, components that it is without."""
    told = Presence(without(D, k, absent)) if any(absent) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GMCR(k, signed=False, constraints=told).fit(D).decomposition_


def without(D: np.ndarray, k: int, absent: Absent) -> np.ndarray:
    """(samples, components) zero where the last samples are without, NaN elsewhere."""
    table = np.full((len(D), k), np.nan)
    for row, own in enumerate(absent):
        table[len(D) - len(absent) + row, list(own)] = 0
    return table


def carried_out(drawn: Drawn, before: Decomposition, one: NextSample, random: np.random.Generator) -> Result:
    bands = feasible_bands(drawn.D, before, supports="all").bands
    width = bands[one.component].max - bands[one.component].min
    further = proposed(drawn, before, one, matched(before, drawn.S))
    closes = closing(drawn, before, one.component, width, further, one.absent, random)
    others = np.array([drawn.further() for _ in further])
    other = closing(drawn, before, one.component, width, others, (), random)
    return {
        "promise": one.promise,
        "closes": closes,
        "random": other,
        "kind": one.kind,
        "width": width,
        "kept": bool(closes >= one.promise),
    }


def proposed(drawn: Drawn, before: Decomposition, one: NextSample, true_of: np.ndarray) -> np.ndarray:
    """The true concentrations of the samples that were proposed."""
    typical = np.median(drawn.C, axis=0)
    if one.kind == "time":
        assert drawn.at is not None
        later = " later " in f" {one.words} "
        end, inside = (-1, -1 - STEPS_IN) if later else (0, STEPS_IN)
        return drawn.at(2 * drawn.order[end] - drawn.order[inside])[None]
    if one.kind == "diluted":
        kept = true_of[np.argmax(one.concentrations[0] / np.median(before.concentrations, axis=0))]
        return np.where(np.arange(len(typical)) == kept, typical, typical / DILUTED)[None]
    further = np.tile(typical, (len(one.absent), 1))
    if one.kind.startswith("alone"):
        further[0] = drawn.C.max(axis=0)
    for c, own in zip(further, one.absent):
        c[[true_of[j] for j in own]] = 0.0
    return further


def closing(
    drawn: Drawn,
    before: Decomposition,
    component: int,
    width: float,
    further: np.ndarray,
    absent: Absent,
    random: np.random.Generator,
) -> float:
    """The share of the named band that is gone once samples of concentrations `further` are added."""
    clean, k = drawn.C @ drawn.S, len(drawn.S)
    sigma = float(np.std(drawn.D - clean))
    new = further @ drawn.S
    D = np.vstack([drawn.D, new + sigma * random.standard_normal(new.shape)])
    after = fitted(D, k, absent)
    held = np.isnan(without(D, k, absent))
    # Components that the same samples are without may have changed places.
    same = (held[:, :, None] == held[:, None]).all(axis=0)
    place = linear_sum_assignment(-(before.components @ after.components.T) + 9.0 * ~same)[1]
    first = np.arange(len(D)) < len(drawn.D)
    band = feasible_bands(D, after, supports=held | after.supports, counted=first).bands[place[component]]
    return 1.0 - (band.max - band.min) / width


def matched(found: Decomposition, S: np.ndarray) -> np.ndarray:
    """(components,) which true one each found one is."""
    unit = S / np.linalg.norm(S, axis=1, keepdims=True)
    return linear_sum_assignment(-(found.components @ unit.T))[1]


def line_of(row: str, runs: pd.DataFrame) -> dict[str, Any]:
    return {
        "tables": row,
        "kept": f"{runs['kept'].sum()}/{len(runs)}",
        "promise (median)": f"{runs['promise'].median():.2f}",
        "closes (median)": f"{runs['closes'].median():.2f}",
        "random (median)": f"{runs['random'].median():.2f}",
        "random closes more": f"{(runs['random'] > runs['closes']).sum()}/{len(runs)}",
        "samples": ", ".join(f"{kind} {count}" for kind, count in runs["kind"].value_counts().items()),
    }


def main() -> None:
    given = parser(__doc__, "next_sample").parse_args()
    seeds = list(given.seeds or range(100, 300))
    seeds = seeds[:1] if given.smoke else seeds
    cells: list[Cell] = [
        {
            "row": list(KINDS)[seed % 3],
            "k": 2 if given.smoke else (2, 3, 2, 3, 2, 3)[seed % 6],
            "random_state": seed,
        }
        for seed in seeds
    ]
    runs = measure(cells, run, given)
    table = runs.table
    lines = [line_of(str(row), group) for row, group in table.groupby("row", sort=False)]
    lines.append(line_of("all", table))
    asked = [
        check("tables on which the promise was kept", table["kept"].mean(), ">=", 0.9),
        check("median promise", table["promise"].median(), ">=", 0.5),
        check(
            "median closed, less that by a random sample",
            (table["closes"] - table["random"]).median(),
            ">=",
            0.0,
        ),
    ]
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
