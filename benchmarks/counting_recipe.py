"""The count as an earlier recipe tells it, on the tables that gmcr's own way is judged on.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python benchmarks/counting_recipe.py recipe.npz            # gather; a run that was ended goes on where it was
    python benchmarks/counting_recipe.py recipe.npz --judge    # learn from half of the tables, judge on the other

The tables are those of evidence/simulated.npz, small.npz, few.npz and counts.npz, made again from their seeds,
and the whole shared sets. For each count up to 16: cheap numbers from singular values, halves and a short fit;
numbers from fits out of four starts; and how well profiles come back from random starts on disturbed samples.
Boosted trees learn whether to stop at a count that is reached. Counts beyond 16 the recipe cannot tell.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import silhouette_samples

from common import DATA
from counting import TOLD, Chances, Table, as_met, judged
from counting_learning import halves
from counting_tables import CHUNK, MEASURED, counted, drawn, few, loaded, measured, saved, small
from gmcr.counting.fits import of_fits
from gmcr.counting.numbers import _binned, _by_signal, _of_values
from gmcr.counting.ratios import at, digits, log_ratio
from gmcr.validation import evenly
from gmcr.window.dense_fit import extreme_pools, factors, filled
from gmcr.window.first_guess import unit_rows
from gmcr.window.rotations import aligned

Columns = dict[str, np.ndarray]  # by name, a number for each count from one on
EVIDENCE, SETS = Path(__file__).parent / "evidence", "measured.npz"
FILES = {"simulated.npz": drawn, "small.npz": small, "few.npz": few, "counts.npz": counted}
MOST, MOST_FITTED = 16, 9  # counts that are told, and that the four starts are fitted at
ROWS, FITTED_ROWS = 600, 300  # samples that are looked at, and that are fitted
SWEEPS, HALF_SWEEPS, RANDOM_SWEEPS = 200, 50, 100  # from four starts, of halves, and from random starts
SPLITS, RUNS = 3, 5  # random halves, and fits from random starts
DISTURBED = 0.03  # of each entry
MISFIT_WEIGHT = 10.0  # of the logarithm of the misfit against that of the volume, to choose among four starts
NEIGHBOURS = {-1: ", before", 0: "", 1: ", next", 2: ", next but one"}
FITS, STABILITY = "fits: ", "stability: "  # what names of such numbers begin with; all others are cheap
WITHOUT = {"cheap": (FITS, STABILITY), "cheap, fits": (STABILITY,), "cheap, stability": (FITS,), "all": ()}
LEARNING = {"max_iter": 120, "learning_rate": 0.06, "l2_regularization": 5.0, "early_stopping": False}
TREES = {"max_leaf_nodes": 12, "min_samples_leaf": 20, "max_features": 1 / 3}
MEMBERS = 5


# Numbers


def numbers(D: np.ndarray) -> Columns:
    """All numbers of the recipe for the counts that the size of a table lets be."""
    X = _binned(filled(D, 3))
    X = X[evenly(len(X), ROWS)]
    some = X[evenly(len(X), FITTED_ROWS)]
    most = min(MOST, min(some.shape) - 1)
    return cheap_numbers(X, most) | numbers_of_fits(some, most) | numbers_of_stability(some, most)


def with_neighbours(kind: str, base: Columns, most: int, steps: Sequence[int]) -> Columns:
    """Numbers at each count, and at those so many steps away."""
    return {
        f"{kind}{name}{NEIGHBOURS[step]}": at(values, most, step)
        for name, values in base.items()
        for step in steps
    }


def cheap_numbers(X: np.ndarray, most: int) -> Columns:
    U, values, Vt = scipy.linalg.svd(X, full_matrices=False)
    found = _of_values(values, X.shape, most, "plain")
    found |= _of_values(scipy.linalg.svdvals(_by_signal(X)), X.shape, most, "counting")
    fits = of_fits(X, values, most, seed=0)
    found |= {name: column for name, column in fits.items() if name.startswith(("fit over", "fall of"))}
    base = of_spaces(X, most + 1) | of_roughness(X, values)
    m, d = X.shape
    same = {"samples": m, "channels": d, "smaller side": min(m, d)}
    same["negative"] = np.square(np.minimum(X, 0.0)).sum() / np.square(X).sum()
    for side, vectors in {"channels": Vt, "samples": U.T}.items():
        smooth = np.einsum("kl,kl->k", vectors[:, 1:], vectors[:, :-1])
        base |= {f"smooth {side}": smooth, f"one of {side}": np.abs(vectors).max(axis=1)}
        same |= {f"smooth {side}, first": smooth[0], f"smooth {side}, last": smooth[:MOST][-1]}
    found |= with_neighbours("", base, most, (0, 1)) | {"count": np.arange(1, most + 1)}
    return found | {name: np.full(most, value) for name, value in same.items()}


def of_roughness(X: np.ndarray, values: np.ndarray) -> Columns:
    """Noise by what is left beyond k directions, against that by the roughness along either side."""
    beyond = np.arange(1, len(values))
    n_left = np.subtract.outer(X.shape, beyond).prod(axis=0)
    left = np.cumsum(values[:0:-1] ** 2)[::-1] / np.maximum(n_left, 1)
    return {
        f"tail over roughness of {side}": log_ratio(left, np.mean(np.diff(X, 2, axis=axis) ** 2) / 6.0)
        for axis, side in enumerate(("samples", "channels"))
    }


def of_spaces(X: np.ndarray, most: int) -> Columns:
    """In digits, the smallest cosine between the spaces of the k strongest directions of two halves."""
    rng, order = np.random.default_rng(0), np.arange(len(X))
    at_random = [agreement(X, rng.permutation(order), most) for _ in range(SPLITS)]
    return {
        "random halves": np.median(at_random, axis=0),
        "odd and even": agreement(X, np.concatenate([order[::2], order[1::2]]), most),
        "first and second half": agreement(X, order, most),
    }


def agreement(X: np.ndarray, order: np.ndarray, most: int) -> np.ndarray:
    one, other = (scipy.linalg.svd(X[half], full_matrices=False)[2] for half in np.array_split(order, 2))
    overlap, found = one @ other.T, np.full(most, np.nan)
    for k in range(1, min(most, *overlap.shape) + 1):
        found[k - 1] = scipy.linalg.svdvals(overlap[:k, :k])[-1]
    return digits(found)


def numbers_of_fits(X: np.ndarray, most: int) -> Columns:
    """What the best of four starts says of each count and of its neighbours."""
    total = float(np.square(X).sum())
    best = np.cumsum(scipy.linalg.svdvals(X)[::-1] ** 2)[::-1]
    halved = np.array_split(np.random.default_rng(0).permutation(len(X)), 2)
    fitted = [of_fit(X, k, halved, max(best[k], 1e-15 * total)) for k in range(1, min(MOST_FITTED, most) + 1)]
    base = {name: np.array([one[name] for one in fitted]) for name in fitted[0]}
    base["change of volume"] = np.diff(base["volume"], prepend=np.nan)
    base["fall of misfit"] = np.diff(base.pop("log misfit"), prepend=np.log(total))
    return with_neighbours(FITS, base, most, (-1, 0, 1, 2))


def of_fit(X: np.ndarray, k: int, halved: list[np.ndarray], best: float) -> dict[str, float]:
    """best : sum of squares that k singular values leave"""
    found = [factors(X, S, SWEEPS, near=True) for S in extreme_pools(np.maximum(X, 0.0), k)]
    misfits = np.log([max(float(np.square(X - C @ S).sum()), best) for C, S in found])
    volumes = np.array([volume(S) for _, S in found])
    chosen = int(np.argmin(volumes + MISFIT_WEIGHT * misfits if np.isfinite(volumes).any() else misfits))
    C, S = found[chosen]
    left, shares, profiles = X - C @ S, C.sum(axis=0) * S.sum(axis=1), unit_rows(S)
    total = max(np.square(left).sum(), 1e-300)
    back = [unit_rows(factors(X[rows], S, HALF_SWEEPS, near=True)[1]) for rows in halved]
    cosines = np.einsum("kl,kl->k", *back)
    whole = np.einsum("hkl,kl->hk", back, profiles)
    return {
        "log misfit": misfits[chosen],
        "misfit over rank": misfits[chosen] - np.log(best),
        "smallest misfit over rank": misfits.min() - np.log(best),
        "volume": volumes[chosen] if np.isfinite(volumes[chosen]) else np.nan,
        "smallest share": np.log(max(shares.min() / max(shares.sum(), 1e-300), 1e-12)),
        "most alike profiles": most_alike(profiles),
        "most alike amounts": most_alike(unit_rows(C.T)),
        "halves, smallest": digits(cosines.min()),
        "halves, mean": digits(cosines.mean()),
        "halves and whole, smallest": digits(whole.min()),
        "left along channels": np.sum(left[:, 1:] * left[:, :-1]) / total,
        "left along samples": np.sum(left[1:] * left[:-1]) / total,
    }


def volume(S: np.ndarray) -> float:
    """log det(S S')/k of profiles that sum to one; ∞ where one has vanished, which is never to be chosen."""
    sums = S.sum(axis=1, keepdims=True)
    value = np.linalg.slogdet((S / sums) @ (S / sums).T)[1] / len(S) if sums.all() else np.inf
    return float(value) if np.isfinite(value) else np.inf


def most_alike(unit: np.ndarray) -> float:
    return float(digits(np.max(unit @ unit.T - 2.0 * np.eye(len(unit))))) if len(unit) > 1 else 0.0


def numbers_of_stability(X: np.ndarray, most: int) -> Columns:
    """How well profiles from random starts on disturbed samples agree, at each count and at the next two."""
    rng = np.random.default_rng(0)
    base = np.array([stability(X, k, rng) for k in range(1, min(most + 2, min(X.shape) - 1) + 1)])
    names = "smallest silhouette", "mean silhouette", "median silhouette", "spread of misfit"
    return with_neighbours(STABILITY, dict(zip(names, base.T)), most, (0, 1, 2))


def stability(X: np.ndarray, k: int, rng: np.random.Generator) -> tuple[float, ...]:
    pools, misfits = [], []
    for _ in range(RUNS):
        disturbed = X * (1.0 + DISTURBED * rng.standard_normal(X.shape))
        C, S = factors(disturbed, rng.random((k, X.shape[1])), RANDOM_SWEEPS)
        pools.append(unit_rows(S))
        misfits.append(np.square(disturbed - C @ S).sum())
    spread = float(np.log(np.std(misfits) / np.mean(misfits) + 1e-12))
    if k == 1:
        return 1.0, 1.0, 1.0, spread
    # Slots in the order of the first run, then of the mean over runs.
    alike = aligned(np.array(pools), pools[0])
    alike = aligned(alike, unit_rows(alike.mean(axis=0)))
    each = silhouette_samples(alike.reshape(RUNS * k, -1), np.tile(np.arange(k), RUNS), metric="cosine")
    clusters = each.reshape(RUNS, k).mean(axis=0)
    return float(clusters.min()), float(clusters.mean()), float(np.median(clusters)), spread


# Gathering


def all_tables() -> list[Table]:
    """What is known of each table, in the order in which gmcr's own way is judged, and of the whole sets."""
    simulated = [t | {"made by": make} for name, make in FILES.items() for t in loaded(EVIDENCE / name)]
    return [*as_met(simulated), *(t for t in loaded(EVIDENCE / SETS) if t["kinds"] in MEASURED)]


def looked_at(known: Table, folder: Path) -> Table:
    if known["kinds"] in MEASURED:
        made = measured(known["kinds"], folder)[0]
    else:
        made = known["made by"](known["seed"])
    if (made.true, made.facts["kinds"]) != (known["true"], known["kinds"]):
        raise SystemExit(f"seed {known['seed']} no longer gives the table of the evidence.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = numbers(made.D)
    values = np.stack(list(columns.values()), axis=1).astype(float)
    return known | {"counts": np.arange(1, len(values) + 1), "values": values, "names": tuple(columns)}


def gather(path: Path, known: list[Table], folder: Path) -> None:
    tables = loaded(path) if path.exists() else []
    done = {key_of(t) for t in tables}
    left = [t for t in known if key_of(t) not in done]
    for start in range(0, len(left), CHUNK):
        tables += [looked_at(t, folder) for t in left[start : start + CHUNK]]
        saved(path, tables)
        print(f"{len(tables)} tables of {len(tables[0]['names'])} numbers", flush=True)


def key_of(table: Table) -> tuple[Any, ...]:
    return tuple(table[name] for name in ("seed", "true", "kinds", "rule"))


# Learning and judging


def told(learn: Sequence[Table], judge: Sequence[Table], columns: list[int]) -> list[Chances]:
    """The chances of each count on the tables to judge: forests on those to learn from, averaged."""
    reached = [t["counts"] <= t["true"] for t in learn]
    values = np.concatenate([t["values"][rows][:, columns] for t, rows in zip(learn, reached)]).astype(float)
    truth = np.concatenate([t["counts"][rows] == t["true"] for t, rows in zip(learn, reached)])
    members = [
        HistGradientBoostingClassifier(random_state=seed, **LEARNING, **TREES).fit(values, truth)
        for seed in range(MEMBERS)
    ]
    asked = np.concatenate([t["values"][:, columns] for t in judge]).astype(float)
    log_odds = np.mean([member.decision_function(asked) for member in members], axis=0)
    each = np.split(log_odds, np.cumsum([len(t["counts"]) for t in judge])[:-1])
    return [dict(zip(t["counts"].tolist(), stopping(odds).tolist())) for t, odds in zip(judge, each)]


def stopping(log_odds: np.ndarray) -> np.ndarray:
    """The distribution over counts whose odds to stop at each, given that it is reached, are these."""
    stop = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -30, 30)))
    reached = np.concatenate([[1.0], np.cumprod(1.0 - stop)[:-1]])
    return stop * reached / (stop * reached).sum()


def judge_all(tables: list[Table]) -> None:
    parts: dict[str, Callable[[Table], bool]] = {
        "all": lambda t: True,
        "undisturbed": lambda t: not t["kinds"],
        "distinguishable": lambda t: t["stands_out"] >= TOLD,
        "both": lambda t: t["stands_out"] >= TOLD and not t["kinds"],
        f"tables whose count is at most {MOST}": lambda t: t["true"] <= MOST,
    }
    simulated = [t for t in tables if t["kinds"] not in MEASURED]
    sets = [t for t in tables if t["kinds"] in MEASURED]
    for name, without in WITHOUT.items():
        columns = [n for n, column in enumerate(tables[0]["names"]) if not column.startswith(without)]
        print(f"\n{name}: {len(columns)} numbers")
        pairs = [pair for one, other in halves(simulated) for pair in zip(other, told(one, other, columns))]
        for part, belongs in parts.items():
            own = [(t, chances) for t, chances in pairs if belongs(t)]
            if own:
                judged(part, [chances for _, chances in own], [t for t, _ in own])
        if sets:
            judged("shared sets", told(simulated, sets, columns), sets)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("files", type=Path, nargs="+", help="one to gather in, or those to judge by")
    arguments.add_argument("--first", type=int, default=0, help="place of the first table to gather")
    arguments.add_argument("--end", type=int, help="place after the last one")
    arguments.add_argument("--data", type=Path, default=DATA, help="folder of the shared sets")
    arguments.add_argument("--judge", action="store_true", help="learn from what was gathered, and judge")
    asked = arguments.parse_args()
    known = all_tables()
    if asked.judge:
        found = {key_of(t): t for file in asked.files for t in loaded(file)}
        judge_all([found[key_of(t)] for t in known if key_of(t) in found])
    else:
        gather(asked.files[0], known[asked.first : asked.end], asked.data)


if __name__ == "__main__":
    main()
