"""Whether the law of the noise comes back from a fit: every member of the family, and noise that is smoothed.

    python benchmarks/laws.py
    python benchmarks/laws.py --only agb smooth-5 --seeds 100 101

Rows are the terms of σ² = a² + g·μ + (b·μ)² that the noise has, on dense tables of `make_measured` (3 components,
80 x 100, signal from the 5th percentile of its entries to the largest over a range of 30 or more), 20 a row, told
the count; -channels, with a factor of 0.5 to 2 per channel; counts-s, whole numbers of up to 3,000 with the
variance μ + s μ², s being the same throughout or not (each); and smooth-w, constant noise averaged over w
channels. `sigma within 10 %`: tables in which the median over entries of |σ found / σ true − 1| is below 0.1. A
term is to be named where it gives a fifth of the variance in a tenth of the entries, and not where it gives less
than 2 %.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import toeplitz

from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR, make_measured
from gmcr.noise import Instrument

MEMBERS = {
    "a": (1e-2, 0.0, 0.0),
    "g": (0.0, 1e-3, 0.0),
    "b": (0.0, 0.0, 0.05),
    "ag": (1e-2, 1e-3, 0.0),
    "ab": (1e-2, 0.0, 0.05),
    "gb": (0.0, 1e-3, 0.05),
    "agb": (1e-2, 1e-3, 0.05),
}
CHANNELS = ("a-channels", "g-channels", "b-channels", "agb-channels")
COUNTS = {"counts-0": (0.0, False), "counts-0.05": (0.05, False), "counts-0.05-each": (0.05, True)}
MOST_COUNTS = 3000.0
WIDTHS = (1, 2, 3, 4, 5)
RANGE, TABLES, FIRST_SEED = 30.0, 20, 100


def seeds_with_range(n: int) -> list[int]:
    """Seeds whose tables have the signal range that is asked for, and are not empty in most entries."""
    found: list[int] = []
    seed = FIRST_SEED
    while len(found) < n:
        made = make_measured(3, 80, 100, seed, disturbed=False)
        low, middle = np.quantile(made.C @ made.S, [0.05, 0.25])
        high = (made.C @ made.S).max()
        if high >= RANGE * low and middle >= 1e-4 * high:
            found.append(seed)
        seed += 1
    return found


def shares(law: Instrument, mean: np.ndarray) -> np.ndarray:
    """The share of the variance that each term gives in a tenth of the entries, at least: (3,)."""
    parts = np.stack([np.full_like(mean, law.level**2), law.gain * mean, (law.slope * mean) ** 2])
    return np.quantile((parts / np.maximum(parts.sum(axis=0), 1e-300)).reshape(3, -1), 0.9, axis=1)


def run(cell: Cell) -> Result:
    row, seed = cell["row"], cell["random_state"]
    if row.startswith("smooth-"):
        return smoothed(int(row.partition("-")[2]), seed)
    if row in COUNTS:
        return counted(*COUNTS[row], seed)
    row, _, channels = row.partition("-")
    law = Instrument(*MEMBERS[row])
    made = make_measured(3, 80, 100, seed, law=law, disturbed=False)
    D, mean = made.D, made.C @ made.S
    if channels:
        rng = np.random.default_rng(seed)
        law = replace(law, channels=tuple(np.exp(rng.uniform(-0.7, 0.7, 100)).tolist()))
        D = law.draw(mean, rng)
    model = GMCR(n_components=3).fit(D)
    found = model.noise_law_
    sigma = np.broadcast_to(found.sigma(D, model.concentrations_ @ model.components_).entries, mean.shape)
    off = float(np.median(np.abs(sigma / law.sigma(mean, mean).entries - 1)))
    constant, poisson = found.kind in ("constant", "proportional"), found.kind == "poisson"
    named = np.array(
        [constant or (getattr(found, "gain", None) is not None and found.level > 0),
         poisson or getattr(found, "gain", 0) > 0, getattr(found, "slope", 0) > 0]
    )  # fmt: skip
    true = shares(law, mean)
    missed, false = int((~named & (true >= 0.2)).sum()), int((named & (true < 0.02)).sum())
    return {"law": found.sentence(), "off": off, "missed": missed, "false": false}


def counted(s: float, each: bool, seed: int) -> Result:
    made, rng = make_measured(3, 80, 100, seed, disturbed=False), np.random.default_rng(seed)
    mean = made.C @ made.S
    mean *= MOST_COUNTS / mean.max()
    own = s * (np.exp(rng.uniform(-1.5, 1.5, (len(mean), 1))) if each else np.ones((len(mean), 1)))
    varied = mean * rng.gamma(1 / own, own, mean.shape) if s else mean
    D = rng.poisson(varied).astype(float)
    D = D[D.any(axis=1)]
    model = GMCR(n_components=3).fit(D)
    found = model.noise_law_
    sigma = found.sigma(D, model.concentrations_ @ model.components_).entries
    true = np.sqrt(mean + own * mean**2)[: len(sigma)]
    some = mean[: len(sigma)] >= 1.0  # of fewer the variance is that of one
    missed = found.kind != "counts" or bool(found.slope) != bool(s)
    return {
        "law": found.sentence(),
        "off": float(np.median(np.abs(sigma / true - 1)[some])),
        "missed": int(missed),
        "false": 0,
    }


def smoothed(width: int, seed: int) -> Result:
    made = make_measured(3, 80, 100, seed, disturbed=False)
    clean = made.C @ made.S
    white = np.random.default_rng(seed).standard_normal((80, 100 + width - 1))
    windows = np.lib.stride_tricks.sliding_window_view(white, width, axis=1)
    D = clean + 0.03 * clean.std() * windows.sum(axis=2) / np.sqrt(width)
    model = GMCR(n_components=3).fit(D)
    covariance = toeplitz(np.maximum(1 - np.arange(100) / width, 0))
    true = np.trace(covariance) ** 2 / np.square(covariance).sum()
    ratio = model.noise_correlation_.degrees_of_freedom(100.0) / true
    return {"law": model.noise_law_.sentence(), "off": abs(ratio - 1), "missed": 0, "false": 0}


def main() -> None:
    given = parser(__doc__, "laws").parse_args()
    seeds = given.seeds or ([FIRST_SEED] if given.smoke else seeds_with_range(TABLES))
    rows = ["a"] if given.smoke else [*MEMBERS, *CHANNELS, *COUNTS, *(f"smooth-{width}" for width in WIDTHS)]
    runs = measure([{"row": row, "random_state": seed} for row in rows for seed in seeds], run, given)
    by_row, asked = [], []
    for row, group in runs.table.groupby("row", sort=False):
        smooth = row.startswith("smooth-")
        within = int((group["off"] < (0.15 if smooth else 0.1)).sum())
        by_row.append(
            {
                "noise": row,
                "tables": len(group),
                "within 15 %" if smooth else "within 10 %": within,
                "median error": f"{group['off'].median():.3f}",
                "largest": f"{group['off'].max():.3f}",
                "terms missed": int(group["missed"].sum()),
                "named wrongly": int(group["false"].sum()),
            }
        )
        what = "effective degrees of freedom within 15 %" if smooth else "sigma of entries within 10 %"
        asked.append(check(f"{row}: {what}", within, ">=", int(np.ceil(0.95 * len(group))), "{:d}"))
    laws = [one for one in by_row if "within 10 %" in one]
    smooths = [one for one in by_row if "within 15 %" in one]
    report([part for part in (laws, smooths, asked) if part], runs, given)


if __name__ == "__main__":
    main()
