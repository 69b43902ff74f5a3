"""Amounts in mol/L of inorganic_uvvis (26 mixtures x 5 replicates), calibrated with five mixtures at random.

    python benchmarks/calibration.py --data ../shared/data
    python benchmarks/calibration.py --only "gmcr*" --seeds 0 1 2

A seed chooses the five mixtures; the other 21 are predicted, row by row. GMCR is fitted once, blind, to all rows.
*gmcr* is told the known amounts alone, *gmcr, replicates named* also which rows are replicates of one mixture.
PLS (scikit-learn) has its latent variables chosen by leaving one mixture out, from rows or from means of
replicates, scaled or not. MCR-ALS with a correlation constraint (Antunes et al. 2007) is non-negative both ways,
started from what least squares make of the known mixtures or from the purest rows, regressed with an offset or
through zero.
*Pure spectra known* is classical least squares over the spectra that all 26 mixtures together tell, its intervals
from its errors at the five mixtures; with *replicates named*, weighted by the noise that all replicates show.
"error" is the median relative error over predicted rows and components; widths are over the mean amount.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.stats import t as student
from sklearn.cross_decomposition import PLSRegression

from common import Cell, Result, check, measure, parser, report
from gmcr import GMCR
from gmcr.calibration.coordinates import cleaned_map, plain_map

SET, N_KNOWN, SEEDS = "inorganic_uvvis_354_620", 5, range(100, 150)
MOST_LATENT = 19  # one less than the rows of four mixtures
SWEEPS = 200  # of MCR-ALS
Interval = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Split:
    D: np.ndarray
    amounts: np.ndarray
    mixture: np.ndarray
    known: np.ndarray  # (rows,) bool

    @property
    def told(self) -> np.ndarray:
        return np.where(self.known[:, None], self.amounts, np.nan)


Answer = tuple[np.ndarray, Interval | None]


@cache
def data(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with np.load(folder / f"{SET}.npz") as file:
        return file["D"], file["C"], file["x_sample"].astype(int)


@cache
def fitted(folder: Path) -> GMCR:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GMCR(random_state=0).fit(data(folder)[0])


def split_of(folder: Path, seed: int) -> Split:
    D, amounts, mixture = data(folder)
    chosen = np.random.default_rng(seed).choice(mixture.max() + 1, N_KNOWN, replace=False)
    return Split(D, amounts, mixture, np.isin(mixture, chosen))


# gmcr


def by_gmcr(split: Split, folder: Path, named: bool) -> Answer:
    found = fitted(folder).calibrate(split.told, replicates=split.mixture if named else None)
    return found.predicted, (found.low, found.high)


# What people use instead


def by_pls(split: Split, folder: Path, means: bool, scale: bool) -> Answer:
    D, Y, mixture, weight = split.D, split.amounts, split.mixture, split.amounts[split.known].mean(axis=0)
    chosen = np.unique(mixture[split.known])

    def learned(which: np.ndarray, latent: int) -> PLSRegression:
        rows = [mixture == number for number in which]
        if means:
            X, y = np.stack([D[r].mean(axis=0) for r in rows]), np.stack([Y[r][0] for r in rows])
        else:
            X, y = D[np.isin(mixture, which)], Y[np.isin(mixture, which)]
        return PLSRegression(latent, scale=scale).fit(X, y)

    errors = []
    for latent in range(1, (N_KNOWN - 1 if means else MOST_LATENT)):
        off = [learned(chosen[chosen != one], latent).predict(D[mixture == one]) for one in chosen]
        true = [Y[mixture == one] for one in chosen]
        errors.append(sum(float(np.square((a - b) / weight).sum()) for a, b in zip(off, true)))
    return learned(chosen, int(np.argmin(errors)) + 1).predict(D), None


def by_mcr_als(split: Split, folder: Path, pure_rows: bool, offset: bool) -> Answer:
    D, known, K = split.D, split.known, split.amounts.shape[1]
    if pure_rows:
        from peers import simplisma_rows

        S = D[simplisma_rows(D, K)]
    else:
        S = np.linalg.lstsq(split.amounts[known], D[known], rcond=None)[0]
    S = np.maximum(S, 0.0)
    order, before = None, np.inf
    for _ in range(SWEEPS):
        C = np.stack([nnls(S.T, row)[0] for row in D])
        if order is None:  # which component is which, once
            from scipy.optimize import linear_sum_assignment

            along = np.nan_to_num(np.corrcoef(C[known].T, split.amounts[known].T)[:K, K:])
            order = linear_sum_assignment(-along.T)[1]
            C, S = C[:, order], S[order]
        for a in range(K):
            y = split.amounts[known, a]
            X = np.stack([y, np.ones_like(y)], axis=1) if offset and np.ptp(y) > 0 else y[:, None]
            b = np.linalg.lstsq(X, C[known, a], rcond=None)[0]
            C[:, a] = np.maximum((C[:, a] - (b[1] if len(b) > 1 else 0.0)) / (b[0] or 1.0), 0.0)
            C[known, a] = y
        S = np.stack([nnls(C, column)[0] for column in D.T], axis=1)
        left = float(np.linalg.norm(D - C @ S))
        if abs(before - left) < 1e-7 * left:
            break
        before = left
    return C, None


# What could be done at best


def by_pure_spectra(split: Split, folder: Path, named: bool) -> Answer:
    P = np.linalg.lstsq(split.amounts, split.D, rcond=None)[0]
    learned = cleaned_map(split.D, P, split.mixture) if named else None
    found = split.D @ (plain_map(P) if learned is None else learned[0])
    off = (found - split.amounts)[split.known]
    by_mixture = np.stack(
        [off[split.mixture[split.known] == one] for one in np.unique(split.mixture[split.known])]
    )
    within = by_mixture.var(axis=1, ddof=1).mean(axis=0)
    between = np.square(by_mixture.mean(axis=1)).mean(axis=0)
    reach = student.ppf(0.975, N_KNOWN) * np.sqrt(between + within * (1 - 1 / by_mixture.shape[1]))
    return found, (found - reach, found + reach)


METHODS: dict[str, Callable[[Split, Path], Answer]] = {
    "gmcr": lambda *a: by_gmcr(*a, named=False),
    "gmcr, replicates named": lambda *a: by_gmcr(*a, named=True),
    "PLS": lambda *a: by_pls(*a, means=False, scale=False),
    "PLS, scaled": lambda *a: by_pls(*a, means=False, scale=True),
    "PLS, means": lambda *a: by_pls(*a, means=True, scale=False),
    "PLS, means, scaled": lambda *a: by_pls(*a, means=True, scale=True),
    "MCR-ALS": lambda *a: by_mcr_als(*a, pure_rows=False, offset=False),
    "MCR-ALS, offset": lambda *a: by_mcr_als(*a, pure_rows=False, offset=True),
    "MCR-ALS, purest rows": lambda *a: by_mcr_als(*a, pure_rows=True, offset=False),
    "MCR-ALS, purest rows, offset": lambda *a: by_mcr_als(*a, pure_rows=True, offset=True),
    "pure spectra known": lambda *a: by_pure_spectra(*a, named=False),
    "pure spectra known, replicates named": lambda *a: by_pure_spectra(*a, named=True),
}


def run(cell: Cell, folder: Path) -> Result:
    split = split_of(folder, cell["seed"])
    found, interval = METHODS[cell["row"]](split, folder)
    rows = ~split.known
    true = split.amounts[rows]
    result: Result = {"error": float(np.median(np.abs(found[rows] / true - 1)))}
    if interval is not None:
        low, high = (end[rows] for end in interval)
        result["cover"] = float(((low <= true) & (true <= high)).mean())
        result["width"] = float(((high - low) / split.amounts.mean(axis=0)).mean())
    return result


def line_of(name: str, runs: Any) -> dict[str, Any]:
    with_intervals = "cover" in runs and runs["cover"].notna().all()
    return {
        "method": name,
        "error, median of splits": f"{runs['error'].median():.2%}",
        "nine in ten below": f"{runs['error'].quantile(0.9):.2%}",
        "covered": f"{runs['cover'].mean():.1%}" if with_intervals else "–",
        "width": f"{runs['width'].mean():.2%}" if with_intervals else "–",
    }


def acceptance(table: Any) -> list[dict[str, str]]:
    error = table.groupby("row")["error"].median()
    lines = []
    for own, best in (
        ("gmcr", "pure spectra known"),
        ("gmcr, replicates named", "pure spectra known, replicates named"),
    ):
        if own not in error:
            continue
        runs = table[table["row"] == own]
        for family in ("PLS", "MCR-ALS"):
            rivals = error[error.index.str.startswith(family)]
            if len(rivals):
                lines.append(
                    check(
                        f"{own}: error, against {rivals.idxmin()}", error[own], "<=", round(rivals.min(), 6)
                    )
                )
        lines.append(check(f"{own}: covered", runs["cover"].mean(), ">=", 0.90))
        lines.append(check(f"{own}: covered", runs["cover"].mean(), "<=", 0.99))
        for reference in dict.fromkeys(("pure spectra known", best)):
            if reference in error:
                width = runs["width"].mean() / table[table["row"] == reference]["width"].mean()
                lines.append(check(f"{own}: width over that of {reference}", width, "<=", 1.5))
    return lines


def main() -> None:
    given = parser(__doc__, "calibration", data=True).parse_args()
    seeds = given.seeds or SEEDS
    cells = [{"row": name, "seed": int(seed)} for name in METHODS for seed in seeds]
    if given.smoke:
        cells = [{"row": name, "seed": 0} for name in METHODS if not name.startswith("gmcr")]
    runs = measure(cells, lambda cell: run(cell, given.data), given)
    table = runs.table
    lines = [line_of(str(name), group) for name, group in table.groupby("row", sort=False)]
    report([lines, acceptance(table)], runs, given)


if __name__ == "__main__":
    main()
