"""Runs whose profiles fall short of the least-squares pool: does the truth cost less, or more?

    python benchmarks/missed.py --runs 128-101 160-102

For N and a seed, 4N samples at 20 dB: the criterion of what was found and of the truth (the pool fitted on the
true supports, then decoded and refitted freely), at the same noise. Where the truth costs more, a better search
of the criterion would not find it; where it costs less, the search is to blame.
"""

from __future__ import annotations

import numpy as np

from common import Cell, Result, measure, parser, report
from fits import always_accompanied, fit, least_squares_pool, matched_cosines, mixtures, setting
from gmcr.noise import Sigma
from gmcr.window.problem import Problem

ROUNDS = 10


def run(cell: Cell) -> Result:
    mix = mixtures(cell)
    model, _ = fit(mix.D)
    pool = least_squares_pool(mix)
    held = mix.supports.any(axis=0)
    unit = pool[held] / np.linalg.norm(pool[held], axis=1, keepdims=True)
    problem = Problem(mix.D, mix.D, np.ones(len(mix.D)), model.usage_price_)
    states = {
        name: problem.rounds(S, Sigma(model.noise_), ROUNDS)
        for name, S in (("found", model.components_), ("truth", unit))
    }
    apart = held & ~always_accompanied(mix.supports)
    found, best = matched_cosines(model.components_, mix.S), matched_cosines(pool, mix.S)
    worst = int(np.argmax(np.where(apart, best - found, -np.inf)))
    return {
        "count": model.n_components_,
        **{name: problem.cost(state) for name, state in states.items()},
        **{f"{name}_misfit": float(state.misfit.sum()) for name, state in states.items()},
        **{f"{name}_usage": state.usage for name, state in states.items()},
        "component": worst,
        "samples": int(mix.supports[:, worst].sum()),
        "cosine": float(found[worst]),
        "least_squares": float(best[worst]),
        "accompanied": int((held & ~apart).sum()),
    }


def main() -> None:
    options = parser(__doc__, "missed")
    options.add_argument("--runs", nargs="+", default=["128-101", "160-102"], metavar="N-SEED")
    given = options.parse_args()
    asked = ["16-100"] if given.smoke else given.runs
    cells = [
        {"row": name, **setting(n, 4 * n, 20, random_state=seed)}
        for name in asked
        for n, seed in [map(int, name.split("-"))]
    ]
    runs = measure(cells, run, given)
    lines = [
        {
            "run": one["row"],
            "count": one["count"],
            "cost found": f"{one['found']:.0f}",
            "of the truth": f"{one['truth']:.0f}",
            "misfit found": f"{one['found_misfit']:.0f}",
            "of the truth ": f"{one['truth_misfit']:.0f}",
            "selections": one["found_usage"],
            "of the truth  ": one["truth_usage"],
            "worst component": one["component"],
            "samples with it": one["samples"],
            "cosine": f"{one['cosine']:.4f}",
            "least squares": f"{one['least_squares']:.4f}",
            "components always accompanied": one["accompanied"],
        }
        for one in runs.table.to_dict("records")
    ]
    report([lines], runs, given)


if __name__ == "__main__":
    main()
