"""Are samples that hold something new flagged, and known ones left alone?

    python benchmarks/unknown.py

A pool of N components, known or learned from 4N samples (8N where N is small), decodes fresh samples: half of
them hold known components only, half hold one component outside the pool as well (one to four components in all,
the stranger among them; in the rows `-added`, one to four known ones and the stranger). `flagged` is the share of
the latter, `false` the share of the former, that the pool is said not to explain. A component that no learned
profile matches is no more in the pool than the stranger is, so that samples which hold it are not counted. One
whose profile was learned badly, from two samples, say, does count: its samples are not explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from common import Cell, Result, check, measure, parser, report
from fits import COUNTS, FRESH_SEED, SMOKE, fit, mixtures, setting, true_noise
from gmcr import decode
from gmcr.mixtures import Mixtures
from gmcr.scoring import compare

SEEDS = tuple(range(100, 110))
LEVELS = (8, 12, 15, 20, 25, 30)
FRESH = 1_000
SETTINGS: dict[str, dict[str, Any]] = {
    "constant": {"noise": "constant"},
    "poisson": {"noise": "poisson", "n_components": 32},
    "peaks": {"profiles": "peaks"},
    "bands": {"profiles": "bands", "n_components": 8},
    "64-channels": {"n_features": 64, "n_components": 16},
}


def cells(seeds: Sequence[int]) -> list[Cell]:
    grid = [
        _cell("white" if how == "among" else "white-added", snr, seed, {}, how)
        for how in ("among", "added")
        for snr in LEVELS
        for seed in (seeds if snr == 20 else seeds[:3])
    ]
    for name, changes in SETTINGS.items():
        for snr in COUNTS:
            grid += [_cell(name, snr, seed, changes | {"counts": COUNTS[snr]}) for seed in seeds[:3]]
    return grid


def _cell(row: str, snr: int, seed: int, changes: dict[str, Any], how: str = "among") -> Cell:
    n = changes.get("n_components", 64)
    base = setting(n, (4 if n >= 32 else 8) * n, snr, random_state=seed)
    return {"row": row, **base, **changes, "fresh": FRESH, "how": how}


def run(cell: Cell) -> Result:
    n, seed = cell["n_components"], cell["random_state"]
    # All N + 1 profiles are drawn together, so that the stranger is one of their kind.
    everyone = mixtures({**cell, "n_components": n + 1, "n_samples": 1}).S
    train = mixtures({**cell, "profiles": everyone[:n]})
    model, seconds = fit(train.D)
    fresh, stranger = fresh_samples(cell, everyone, train, FRESH_SEED + seed)
    missed = compare(model, train).assignment < 0
    counted = ~fresh.supports[:, :n][:, missed].any(axis=1)
    known_pool = decode(fresh.D, everyone[:n], noise=true_noise(fresh)).known
    learned_pool = model.decode(fresh.D).known
    return {
        "count": model.n_components_,
        "known_flagged": float(1 - known_pool[stranger].mean()),
        "known_false": float(1 - known_pool[~stranger].mean()),
        "flagged": float(1 - learned_pool[stranger & counted].mean()),
        "false": float(1 - learned_pool[~stranger & counted].mean()),
        "uncounted": float(1 - counted.mean()),
        "seconds": seconds,
    }


def fresh_samples(
    cell: Cell, everyone: np.ndarray, train: Mixtures, seed: int
) -> tuple[Mixtures, np.ndarray]:
    """Fresh samples over all profiles, the last one in every other sample only, and which those are.

    Their noise is that of the same instrument: a level that `make_mixtures` takes from the samples themselves, as
    for constant and counting noise, is set to that of the training samples.
    """
    n, n_samples = cell["n_components"], cell["fresh"]
    rng = np.random.default_rng(seed)
    stranger = np.arange(n_samples) % 2 == 1
    size = rng.integers(1, 4, n_samples, endpoint=True) - (stranger if cell["how"] == "among" else 0)
    supports = np.zeros((n_samples, n + 1), dtype=bool)
    supports[:, :n] = rng.random((n_samples, n)).argsort(axis=1).argsort(axis=1) < size[:, None]
    supports[:, n] = stranger
    drawn = {"n_components": n + 1, "n_samples": n_samples, "profiles": everyone, "occurrence": supports}
    settings = {**cell, **drawn, "random_state": seed}
    fresh = mixtures(settings)
    if fresh.noise == "constant":
        louder = 20.0 * np.log10(fresh.sigma[0] / train.sigma[0])
        fresh = mixtures({**settings, "snr_db": cell["snr_db"] + louder})
    elif fresh.noise == "poisson":
        fresh = mixtures({**settings, "counts": cell["counts"] * fresh.clean.mean() / train.clean.mean()})
    return fresh, stranger


def line_of(row: str, snr: Any, runs: pd.DataFrame) -> dict[str, Any]:
    def share(column: str) -> str:
        return f"{runs[column].mean():.4f}"

    return {
        "cell": row,
        "dB": snr,
        "runs": len(runs),
        "known pool: flagged": share("known_flagged"),
        "false": share("known_false"),
        "learned pool: flagged": share("flagged"),
        "false ": share("false"),
        "worst run": f"{runs['false'].max():.4f}",
        "counts": ", ".join(map(str, sorted(set(runs["count"])))),
        "not counted": share("uncounted"),
    }


def main() -> None:
    given = parser(__doc__, "unknown").parse_args()
    smoke = [{"row": "smoke", **SMOKE, "random_state": 0, "fresh": 200, "how": "among"}]
    runs = measure(smoke if given.smoke else cells(given.seeds or SEEDS), run, given)
    table = runs.table
    lines = [line_of(str(row), snr, own) for (row, snr), own in table.groupby(["row", "snr_db"], sort=False)]
    asked = []
    for row in ("white", "white-added"):
        own = table[(table["row"] == row) & (table["snr_db"] == 20)]
        if len(own):
            for name, title in (("known_", "known pool"), ("", "learned pool")):
                asked += [
                    check(f"{row}, 20 dB, {title}, flagged", own[f"{name}flagged"].mean(), ">=", 0.95),
                    check(f"{row}, 20 dB, {title}, false", own[f"{name}false"].mean(), "<=", 0.01),
                ]
    report([lines, asked], runs, given)


if __name__ == "__main__":
    main()
