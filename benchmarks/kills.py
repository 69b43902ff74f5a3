"""Fits with a checkpoint that are killed at a random moment and resumed: is the answer the uninterrupted one?

    python benchmarks/kills.py
    python benchmarks/kills.py --only 'few of many' --seeds 100 101 --kills 8

Each table is fitted once without interruption. Then, so many times, a forked process fits it and is killed once
it has had a share of the processor time that the whole fit took, and the fit goes on from what it left.
`difference` is the largest between entries of profiles and of concentrations, as a share of the largest entry.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR, make_measured, make_mixtures
from gmcr.window.checkpoint import Checkpoint

EQUAL = 1e-9


def few_of_many(seed: int) -> np.ndarray:
    return make_mixtures(8, 40, snr_db=25, n_features=48, random_state=seed).D


def all_of_a_few(seed: int) -> np.ndarray:
    return make_measured(n_samples=30, n_features=60, random_state=seed).D


RUNS: dict[str, tuple[dict[str, Any], Callable[[int], np.ndarray]]] = {
    "few of many": ({}, few_of_many),
    "all of a few": ({}, all_of_a_few),
    "in a band of R²": ({"r2_band": (0.9, 1.0)}, all_of_a_few),
    "told the count": ({"n_components": 4, "n_starts": 2}, all_of_a_few),
}


def run_with(n_kills: int) -> Callable[[Cell], Result]:
    def run(cell: Cell) -> Result:
        options, draw = RUNS[cell["row"]]
        D, rng = draw(cell["seed"]), np.random.default_rng(cell["seed"])
        fitted(options, D)  # which compiles
        began = time.process_time()
        whole = fitted(options, D)
        seconds = time.process_time() - began
        left, differences = [], []
        while len(left) < n_kills:
            killed, there, difference = killed_and_resumed(options, D, whole, seconds, rng)
            differences.append(difference)
            left += [there] * killed  # one that came to its end before is no kill
        equal = sum(difference <= EQUAL for difference in differences)
        return {
            "kills": len(left),
            "left": sum(left),
            "resumed": len(differences),
            "difference": max(differences),
            "equal": equal,
        }

    return run


def fitted(options: dict[str, Any], D: np.ndarray, checkpoint: Path | None = None) -> GMCR:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GMCR(**options).fit(D, checkpoint=checkpoint)


def killed_and_resumed(
    options: dict[str, Any], D: np.ndarray, whole: GMCR, seconds: float, rng: np.random.Generator
) -> tuple[bool, bool, float]:
    """Whether it was killed before its end, whether it left something to go on from, and the difference."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.checkpoint"
        killed = killed_after(rng.uniform(0.02, 1.0) * seconds, options, D, file)
        left = file.exists()
        resumed = fitted(options, D, file)
    return killed, left, difference_of(resumed, whole)


def killed_after(seconds: float, options: dict[str, Any], D: np.ndarray, file: Path) -> bool:
    """Fit in a forked process that is killed once it has had so many seconds; whether it was killed."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # whose signal kills
        fitted(options, D, Checkpoint(file))
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def difference_of(model: GMCR, other: GMCR) -> float:
    pairs = (model.components_, other.components_), (model.concentrations_, other.concentrations_)
    if any(ours.shape != theirs.shape for ours, theirs in pairs):
        return np.inf
    return max(float(np.abs(ours - theirs).max() / np.abs(theirs).max()) for ours, theirs in pairs)


def main() -> None:
    arguments = parser(__doc__ or "", "kills")
    arguments.add_argument("--kills", type=int, default=5, help="of each table")
    given = arguments.parse_args()
    seeds = given.seeds or range(100, 101 if given.smoke else 110)
    cells = [{"row": name, "seed": seed} for name in RUNS for seed in seeds]
    runs = measure(cells, run_with(1 if given.smoke else given.kills), given)
    lines = [
        {"fits": row, "tables": len(of)}
        | {"kills": int(of["kills"].sum()), "left a checkpoint": int(of["left"].sum())}
        | {"resumed": int(of["resumed"].sum()), "equal": int(of["equal"].sum())}
        | {"largest difference": f"{of['difference'].max():.1e}"}
        for row, of in runs.table.groupby("row", sort=False)
    ]
    kills, resumed, equal = (runs.table[name].sum() for name in ("kills", "resumed", "equal"))
    met = [
        check("kills", kills, ">=", 200, "{:d}"),
        check("resumed, equal to the uninterrupted fit to 1e-9", equal / resumed, ">=", 1.0),
    ]
    report([lines, met], runs, given)


if __name__ == "__main__":
    main()
