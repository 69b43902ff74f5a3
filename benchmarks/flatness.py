"""Are results flat around the solver's constants? Each is halved and doubled, one at a time.

    python benchmarks/flatness.py --data ../shared/data
    python benchmarks/flatness.py --only "as it is" "WEAKEST *"

The battery: N = 16 and 64, 4N samples, 20 and 30 dB; 16 smooth spectra, 6N, 30 dB; four components in each of 30
samples, 25 dB; and the real sets with a known count, where their folder is given. Some constants have no half or
double: a cosine is moved, and of a ratio the logarithm is halved and doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd

from common import Cell, Result, measure, parser, report, span
from fits import SMOKE, fit, largest_miss, mixtures, setting, true_count
from gmcr.scoring import compare
from gmcr.window import (
    dense_fit,
    descent,
    evidence,
    first_guess,
    moves,
    problem,
    rare_slots,
    search,
    small_counts,
    solver,
    trial,
)
from real import run_set
from real_sets import COUNTS

Patch = tuple[Any, str, Any]  # owner, attribute, and what to put there

BATTERY = {
    **{f"{n}-4N-{snr}dB": setting(n, 4 * n, snr) for n in (16, 64) for snr in (20, 30)},
    "smooth": setting(16, 96, 30, profiles="peaks"),
    "3,000 samples": setting(16, 3000, 25, n_features=64),
    "dense": setting(4, 30, 25, profiles="peaks", active=[4, 4]),
}
UNCHANGED = "as it is"
MODULES = (
    dense_fit, descent, evidence, first_guess, moves, problem, rare_slots, search, small_counts, solver, trial,
)  # fmt: skip
SCALED = (
    "ROUNDS",
    "WEAKEST",
    "HEIR_ROUNDS",
    "HOPELESS",
    "FAR",
    "SETTLING_ROUNDS",
    "TASTING_ROUNDS",
    "SHARED",
    "REFITTED",
    "REFINEMENTS",
    "RARE",
    "PAIRS",
    "CORRELATED",
    "ENOUGH_SAMPLES",
    "ENOUGH_PER_SLOT",
)  # constants to halve and double
MOVED = {"SAME_DIRECTION": (0.7, 0.9), "COMES_BACK": (0.97, 0.99), "RESEMBLES": (0.7, 0.9)}  # cosines


# What can be changed, and how. Patches are made when a cell runs: a constant that has gone fails there, by name.


def variants() -> dict[str, Callable[[], list[Patch]]]:
    """Every setting by its name, with what makes the patches for it."""
    changed: dict[str, Callable[[], list[Patch]]] = {UNCHANGED: list}
    for name, change in CHANGES.items():
        for factor in (0.5, 2.0):
            changed[f"{name} x {factor:g}"] = partial(change, factor)
    for name in SCALED:
        for factor in (0.5, 2.0):
            changed[f"{name} x {factor:g}"] = partial(_everywhere, name, factor=factor)
    for name, values in MOVED.items():
        for value in values:
            changed[f"{name} {value:g}"] = partial(_everywhere, name, value=value)
    return changed


def _everywhere(name: str, factor: float = 1.0, value: float | None = None) -> list[Patch]:
    """A constant changed in every module of the solver that holds it; whole numbers stay whole."""
    owners = [module for module in MODULES if hasattr(module, name)]
    if not owners:
        raise AttributeError(f"no module of the solver has a constant {name}; see SCALED and MOVED here")
    old = getattr(owners[0], name)
    new = value if value is not None else type(old)(round(old * factor, 12))
    return [(module, name, new) for module in owners]


def _step(factor: float) -> list[Patch]:
    return [(descent, "STEP", descent.STEP**factor)]


def _usage_price(factor: float) -> list[Patch]:
    return [(search, "usage_price", _scaled(search.usage_price, factor))]


def _slot_price(factor: float) -> list[Patch]:
    return [(problem.Problem, "slot_prices", _scaled(problem.Problem.slot_prices, factor))]


def _start_level(factor: float) -> list[Patch]:
    return [(solver, "coarsest_noise", _scaled(solver.coarsest_noise, factor))]


def _alpha(factor: float) -> list[Patch]:
    """The window's error probability, and that of calling a sample unexplained."""
    price, births = search.usage_price, moves.births

    def changed_price(n_components: int, n_samples: int, alpha: float) -> float:
        return price(n_components, n_samples, factor * alpha)

    def changed_births(*arguments: Any) -> Any:
        return births(*arguments, alpha=factor * signature(births).parameters["alpha"].default)

    return [
        (search, "usage_price", changed_price),
        *((module, "births", changed_births) for module in MODULES if hasattr(module, "births")),
    ]


def _scaled(function: Any, factor: float) -> Any:
    return lambda *arguments: factor * function(*arguments)


CHANGES = {
    "alpha": _alpha,
    "usage price": _usage_price,
    "slot price": _slot_price,
    "start level": _start_level,
    "log STEP": _step,
}


# The battery under one of them


def run(cell: Cell, folder: Path) -> Result:
    with ExitStack() as stack:
        for owner, attribute, value in variants()[cell["row"]]():
            stack.enter_context(patch.object(owner, attribute, value))
        if cell["case"] in COUNTS:
            return run_set(folder, cell["case"], cell["random_state"])
        case = SMOKE if cell["case"] == "smoke" else BATTERY[cell["case"]]
        mix = mixtures({**case, "random_state": cell["random_state"]})
        model, seconds = fit(mix.D)
    return {
        "count": model.n_components_,
        "true_count": true_count(mix),
        "exact": compare(model, mix).exact,
        "seconds": seconds,
    }


def line_of(name: str, runs: pd.DataFrame) -> dict[str, Any]:
    real = runs["case"].isin(list(COUNTS))
    wrong = runs["count"] != runs["true_count"]
    carbs = runs[runs["case"] == "carbs"]
    sets = sorted(set(runs.loc[real & wrong, "case"]))
    return {
        "setting": name,
        "wrong counts": f"{(wrong & ~real).sum()}/{(~real).sum()}",
        "largest miss": largest_miss(runs[~real]),
        "exact, mean": f"{runs.loc[~real, 'exact'].mean():.4f}",
        "lowest case": f"{runs[~real].groupby('case')['exact'].mean().min():.4f}",
        "wrong counts, real": f"{(wrong & real).sum()}/{real.sum()}"
        + (f" ({', '.join(sets)})" if sets else ""),
        "carbs, smallest cosine": span([carbs["min_cos"].min()] if len(carbs) else [], "{:.4f}"),
        "seconds": f"{runs['seconds'].sum():.1f}",
    }


def main() -> None:
    given = parser(__doc__, "flatness", data=True).parse_args()
    cases = [*BATTERY, *(name for name in COUNTS if (given.data / f"{name}.npz").exists())]
    names, seeds = list(variants()), given.seeds or range(5)
    if given.smoke:
        cases, names, seeds = ["smoke"], [UNCHANGED, "alpha x 2", "log STEP x 0.5"], range(1)
    cells = [
        {"row": name, "case": case, "random_state": seed}
        for name in names
        for case in cases
        for seed in seeds
    ]
    runs = measure(cells, lambda cell: run(cell, given.data), given)
    by_setting = [line_of(str(name), group) for name, group in runs.table.groupby("row", sort=False)]
    report([by_setting], runs, given)


if __name__ == "__main__":
    main()
