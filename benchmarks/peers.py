"""What people would use instead, told the same count, side by side: profiles, concentrations, fit, CPU seconds.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    python benchmarks/peers.py
    python benchmarks/peers.py --only 'shared*'
    python benchmarks/peers.py --only 'sim*' --seeds $(seq 200 299)

Rows: `shared` (the measured sets that have references), `image` (one of 3,600 pixels without any, for its times),
`left` (the measured sets without the samples in which one component has more than 0.8 of the signal), and
simulated dense tables with pure samples (`sim-pure`), with none in which a component has more than 0.7 of the
signal (`sim-none`), and between (`sim-between`). mcrnmf is left out where it is not installed:
pip install --no-deps --ignore-requires-python mcrnmf. Times are CPU seconds with compiled code warm; they mean
something as ratios within a run on a quiet machine.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from sklearn.decomposition import NMF

from common import Cell, Result, measure, parser, report
from fits import matched_cosines
from gmcr import GMCR, make_measured
from real_sets import REFERENCES, load, references

Factors = tuple[np.ndarray, np.ndarray]  # concentrations and profiles
IMAGE = "raman_emulsion_hsi"
SEEDS = range(100, 200)
ITERATIONS = 200
PURE, MIXED = 0.8, {"sim-pure": "pure", "sim-none": 0.7, "sim-between": None}


# Starting rows


def spa_rows(X: np.ndarray, n: int) -> list[int]:
    """Successive projections: each next row has the largest part outside the span of those before."""
    left, rows = X.copy(), []
    for _ in range(n):
        rows.append(int((left**2).sum(axis=1).argmax()))
        direction = left[rows[-1]] / max(np.linalg.norm(left[rows[-1]]), 1e-300)
        left = left - np.outer(left @ direction, direction)
    return rows


def simplisma_rows(X: np.ndarray, n: int, offset: float = 0.05) -> list[int]:
    """SIMPLISMA (Windig & Guilment 1991) for samples: the purest, weighted by what those before leave of it."""
    mean, spread = X.mean(axis=1), X.std(axis=1)
    alpha = offset * mean.max()
    purity = spread / (mean + alpha)
    scaled = X / np.sqrt(mean**2 + (spread + alpha) ** 2)[:, None]
    weights, rows = (mean**2 + spread**2) / (mean**2 + (spread + alpha) ** 2), []
    for _ in range(n):
        value = weights * purity
        value[rows] = -1.0
        rows.append(int(value.argmax()))
        basis = np.linalg.qr(scaled[rows].T)[0]
        weights = ((scaled - scaled @ basis @ basis.T) ** 2).sum(axis=1)
    return rows


# Peers, each from samples and a count to concentrations and profiles


def gmcr_told(D: np.ndarray, k: int) -> Factors:
    model = GMCR(n_components=k, random_state=0, n_jobs=1).fit(D)
    return model.concentrations_, model.components_


def gmcr_blind(D: np.ndarray, k: int) -> Factors:
    model = GMCR(random_state=0, n_jobs=1).fit(D)
    return model.concentrations_, model.components_


def pymcr(rows_of: Callable[[np.ndarray, int], list[int]]) -> Callable[[np.ndarray, int], Factors]:
    def fit(D: np.ndarray, k: int) -> Factors:
        from pymcr.constraints import ConstraintNonneg
        from pymcr.mcr import McrAR

        logging.getLogger("pymcr").setLevel(logging.CRITICAL)
        bounds = {"c_constraints": [ConstraintNonneg()], "st_constraints": [ConstraintNonneg()]}
        patient = {"tol_increase": 100, "tol_n_increase": 20, "tol_n_above_min": 50}
        model = McrAR(max_iter=ITERATIONS, c_regr="NNLS", st_regr="NNLS", **bounds, **patient)
        X = np.maximum(D, 0.0)
        model.fit(D, ST=X[rows_of(X, k)] + 1e-12 * X.max())
        return model.C_opt_, model.ST_opt_

    return fit


def minimum_volume(D: np.ndarray, k: int) -> Factors:
    from mcrnmf import SNPA, MinVol

    X = np.maximum(D, 0.0).T.copy()
    start = SNPA(rank=k)
    start.fit(X)
    model = MinVol(rank=k, constraint_kind=3)
    model.fit(X, start.W, start.H)
    return model.H.T, model.W.T


def nmf(D: np.ndarray, k: int) -> Factors:
    model = NMF(k, init="nndsvda", max_iter=1000)
    return model.fit_transform(np.maximum(D, 0.0)), model.components_


def nmf_of_ten(D: np.ndarray, k: int) -> Factors:
    X = np.maximum(D, 0.0)
    models = [NMF(k, init="random", random_state=seed, max_iter=1000) for seed in range(10)]
    factors = [(model.fit_transform(X), model.components_) for model in models]
    return factors[int(np.argmin([model.reconstruction_err_ for model in models]))]


def recipe(D: np.ndarray, k: int) -> Factors:
    """Four starts, 200 sweeps of plain least squares each, the smallest log det(SS')/k + 10 log(misfit)."""
    X = np.maximum(D, 0.0)
    size, height = X.sum(axis=1), X.sum(axis=0)
    strong = np.flatnonzero(size >= 0.1 * size.max())
    strong = strong if len(strong) >= k else np.arange(len(X))
    scaled = X[strong] / np.maximum(size[strong], 1e-300)[:, None]
    channels = spa_rows((X / np.maximum(height, 0.1 * height.mean())).T, k)
    starts = [X[spa_rows(X, k)], X[strong[spa_rows(scaled, k)]], X[simplisma_rows(X, k)]]
    starts.append(np.linalg.lstsq(X[:, channels], X, rcond=None)[0])
    found = [_sweeps(D, np.maximum(S, 0.0)) for S in starts]
    values = [np.linalg.slogdet(S @ S.T)[1] / k + 10 * np.log(((D - C @ S) ** 2).sum()) for C, S in found]
    return found[int(np.nanargmin(values))]


def _sweeps(D: np.ndarray, S: np.ndarray) -> Factors:
    """Coordinate descent, rows of S scaled to sum one as it goes."""
    S = S + 1e-12 * S.max()
    S /= S.sum(axis=1, keepdims=True)
    C = np.maximum(D @ np.linalg.pinv(S), 0.0) + 1e-12
    for _ in range(ITERATIONS):
        B, G = D @ S.T, S @ S.T
        for j in range(len(S)):
            C[:, j] = np.maximum(C[:, j] + (B[:, j] - C @ G[:, j]) / max(G[j, j], 1e-300), 0.0)
        A, H = C.T @ D, C.T @ C
        for j in range(len(S)):
            S[j] = np.maximum(S[j] + (A[j] - H[j] @ S) / max(H[j, j], 1e-300), 0.0)
        sums = np.maximum(S.sum(axis=1), 1e-300)
        S, C = S / sums[:, None], C * sums
    return C, S


PEERS: dict[str, Callable[[np.ndarray, int], Factors]] = {
    "gmcr": gmcr_told,
    "gmcr blind": gmcr_blind,
    "pyMCR, SPA": pymcr(spa_rows),
    "pyMCR, SIMPLISMA": pymcr(simplisma_rows),
    "mcrnmf": minimum_volume,
    "NMF": nmf,
    "NMF of ten": nmf_of_ten,
    "recipe": recipe,
}
if find_spec("mcrnmf") is None:
    del PEERS["mcrnmf"]


# Cells


def table_of(cell: Cell, folder: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """Samples, reference profiles, reference concentrations where there are any, and the count."""
    if cell["row"] == "image":
        kept = load(folder, cell["set"])
        return kept["D"].astype(float), np.empty((0, kept["D"].shape[1])), None, int(kept["n_components"])
    if cell["row"] in ("shared", "left"):
        D, S, C, k = references(folder, cell["set"])
        if cell["row"] == "left":
            amounts = np.array([nnls(np.maximum(S, 0.0).T, np.maximum(row, 0.0))[0] for row in D])
            signal = amounts * S.sum(axis=1)
            kept = signal.max(axis=1) <= PURE * np.maximum(signal.sum(axis=1), 1e-300)
            D, C = D[kept], None if C is None else C[kept]
        return D, S, C, k
    random = np.random.default_rng(cell["seed"])
    k, purity = int(random.integers(2, 6, endpoint=True)), MIXED[cell["row"]]
    purity = float(random.uniform(0.72, 0.96)) if purity is None else purity
    made = make_measured(
        k,
        random_state=cell["seed"],
        purity=max(purity, 1.1 / k) if purity != "pure" else purity,
        profiles=("peaks", "bands", "sticks", "mixed"),
        concentrations=("lognormal", "dirichlet", "elution", "reaction", "few", "image", "titration"),
        disturbed=("shift", "baseline", "saturation", "correlated noise"),
    )
    return made.D, made.S, made.C, k


def run_with(folder: Any) -> Callable[[Cell], Result]:
    def run(cell: Cell) -> Result:
        D, S, C, k = table_of(cell, folder)
        work = PEERS[cell["peer"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = process_time()
            amounts, profiles = work(D, k)
            seconds = process_time() - started
        cosines = matched_cosines(profiles, S) if len(S) else np.array([np.nan])
        best = np.linalg.svd(D, compute_uv=False)[k:]
        found: Result = {
            "count": len(profiles),
            "mean": float(cosines.mean()),
            "smallest": float(cosines.min()),
            "misfit": float(((D - amounts @ profiles) ** 2).sum() / max((best**2).sum(), 1e-300)),
            "seconds": seconds,
        }
        if C is not None and C.size:
            r = np.nan_to_num(np.corrcoef(C.T, amounts.T)[: C.shape[1], C.shape[1] :])
            found["correlation"] = float(r.max(axis=1).mean())
        return found

    return run


def main() -> None:
    options = parser(__doc__, "peers", data=True)
    given = options.parse_args()
    seeds = given.seeds or ([100] if given.smoke else SEEDS)
    sets = (
        ["hplc_pesticides_bdata"]
        if given.smoke
        else [name for name in REFERENCES if name != "mir_ethanol_glucose"]
    )
    cells = [{"row": "shared", "set": name, "peer": peer} for name in sets for peer in PEERS]
    cells += [{"row": "image", "set": IMAGE, "peer": peer} for peer in ("gmcr", "gmcr blind", "pyMCR, SPA")]
    cells += [
        {"row": "left", "set": name, "peer": peer}
        for name in sets
        if not name.startswith("hplc")
        for peer in PEERS
        if peer != "gmcr blind"
    ]
    cells += [
        {"row": row, "seed": seed, "peer": peer}
        for row in MIXED
        for seed in seeds
        for peer in PEERS
        if peer != "gmcr blind"
    ]
    warm = make_measured(3, 30, 40, random_state=0).D
    GMCR(n_components=3).fit(warm), GMCR().fit(warm)
    runs = measure(cells, run_with(given.data), given)
    sets_told = [_sets(runs.table, row) for row in ("shared", "left")]
    report([*sets_told, _image(runs.table), _simulated(runs.table)], runs, given)


def _sets(table: pd.DataFrame, row: str) -> list[dict[str, str]]:
    """A line per set: mean cosine of each peer, and the CPU seconds beside pyMCR's."""
    lines = []
    part = table[table["row"] == row]
    if part.empty:
        return []
    for name, own in part.groupby("set", sort=False):
        of = own.set_index("peer")
        told = of[[peer not in ("gmcr", "gmcr blind") for peer in of.index]]
        line = {row: str(name)} | {peer: f"{of['mean'][peer]:.4f}" for peer in PEERS if peer in of.index}
        line |= {
            "best peer": f"{told['mean'].max():.4f}",
            "ahead": f"{of['mean']['gmcr'] - told['mean'].max():+.4f}",
        }
        line |= {"smallest": f"{of['smallest']['gmcr']:.4f}", "misfit": f"{of['misfit']['gmcr']:.3f}"}
        for peer in ("gmcr", "gmcr blind"):
            if peer in of.index:
                ratio = of["seconds"][peer] / of["seconds"]["pyMCR, SPA"]
                line[f"{peer} s / pyMCR s"] = f"{of['seconds'][peer]:.2f} ({ratio:.2f})"
        lines.append(line)
    if lines:
        means = part.groupby("peer")["mean"].mean()
        best = part[~part["peer"].str.startswith("gmcr")].groupby("set")["mean"].max().mean()
        mean_line = {row: "mean"} | {peer: f"{means[peer]:.4f}" for peer in PEERS if peer in means.index}
        mean_line |= {"best peer": f"{best:.4f}", "ahead": f"{means['gmcr'] - best:+.4f}"}
        lines.append(mean_line | {key: "" for key in lines[0] if key not in mean_line})
    return lines


def _image(table: pd.DataFrame) -> list[dict[str, str]]:
    """CPU seconds of an image, and over pyMCR's."""
    part = table[table["row"] == "image"]
    seconds = part.set_index("peer")["seconds"]
    return [
        {
            "image": own["set"],
            "peer": own["peer"],
            "count": str(own["count"]),
            "misfit": f"{own['misfit']:.3f}",
        }
        | {"CPU s": f"{own['seconds']:.1f}", "over pyMCR's": f"{own['seconds'] / seconds['pyMCR, SPA']:.2f}"}
        for own in part.to_dict("records")
    ]


def _simulated(table: pd.DataFrame) -> list[dict[str, str]]:
    """A line per class of tables: mean cosine of each peer, gmcr's lead with its paired standard error."""
    part = table[table["row"].str.startswith("sim")]
    lines = []
    for row in [*dict.fromkeys(part["row"]), "all"] if len(part) else []:
        own = part if row == "all" else part[part["row"] == row]
        wide = own.pivot_table(index=["row", "seed"], columns="peer", values="mean")
        line = {"tables": f"{row} ({len(wide)})"}
        for peer in [peer for peer in PEERS if peer in wide]:
            lead = wide["gmcr"] - wide[peer]
            error = lead.std() / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
            beside = "" if peer == "gmcr" else f" ({lead.mean():+.4f} ± {error:.4f})"
            line[peer] = f"{wide[peer].mean():.4f}{beside}"
        lines.append(line)
    return lines


if __name__ == "__main__":
    main()
