"""Simulated tables that a model of the count is learned from and judged on, and the evidence on each.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python benchmarks/counting_tables.py evidence.npz --seeds 0 4000 --jobs 2
    python benchmarks/counting_tables.py measured.npz --sets ../shared/data

A run that was ended goes on where it was. Of every table: its count, what was drawn, whether its components can
be told at all (the last singular value of C S, whitened by the true noise, over the edge of white noise), and the
numbers of `gmcr.counting.gather` for each candidate count.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.counting import gather
from gmcr.mixtures.disturbances import DISTURBANCES
from real_sets import load

LARGEST = 200  # samples and channels
CHUNK = 50
FEW_OF_MANY = 0.12  # share of the paper's tables
MEASURED = {
    "carbs": 3,
    "als2004": 4,
    "claus_eem": 3,
    "simdata_uv_noisy": 3,
    "dorrit_eem": 4,
    "inorganic_uvvis_354_620": 3,
    "hplc_pesticides_bdata": 3,
    "gcms_osd_gcms2": 2,
    "uvvis_kinetics_meting9_300_500": 3,
    "mir_ethanol_glucose": 3,
    "raman_emulsion_hsi": 4,
}
SUBSETS, SUBSET = 20, 0.7


def drawn(seed: int) -> tuple[np.ndarray, int, tuple[str, ...], float]:
    """A table, its count, the kinds of disturbance in it, and how far its last component stands out of noise."""
    rng = np.random.default_rng([seed, 17])
    d = int(np.exp(rng.uniform(np.log(20), np.log(LARGEST))))
    if rng.random() < FEW_OF_MANY:
        return few_of_many(rng, d)
    k = int(rng.choice(np.arange(1, 26), p=_weights()))
    m = int(np.exp(rng.uniform(np.log(max(6, k + 2)), np.log(LARGEST))))
    disturbed = bool(rng.random() >= 0.3)
    made = make_measured(k, m, max(d, k + 3), random_state=rng, disturbed=disturbed)
    clean = (made.C @ made.S) / np.maximum(made.sigma, 1e-12)
    values = np.linalg.svd(clean, compute_uv=False)
    stands_out = values[min(k, len(values)) - 1] / (np.sqrt(m) + np.sqrt(made.D.shape[1]))
    return made.D, k, tuple(name for name in made.kinds if name in DISTURBANCES), float(stands_out)


def few_of_many(rng: np.random.Generator, d: int) -> tuple[np.ndarray, int, tuple[str, ...], float]:
    """The paper's tables: few of many components in each sample."""
    k = int(np.exp(rng.uniform(np.log(4), np.log(48))))
    m = min(int(k * rng.uniform(4, 8)), LARGEST)
    noise = str(rng.choice(["proportional", "constant", "poisson"]))
    profiles = str(rng.choice(["orthonormal", "peaks", "bands"]))
    snr = float(rng.uniform(12, 35))
    mix = make_mixtures(
        k, m, snr_db=snr, n_features=max(d, 40), noise=noise, profiles=profiles, random_state=rng
    )
    return mix.D, k, ("few of many",), np.nan


def all_of_many(rng: np.random.Generator, d: int) -> tuple[np.ndarray, int, tuple[str, ...], float]:
    """The paper's profiles, each in every sample: so even a mixture that one direction has nearly all of it."""
    k = int(np.exp(rng.uniform(np.log(2), np.log(40))))
    m = min(int(k * rng.uniform(2, 7)) + 4, LARGEST)
    profiles = str(rng.choice(["orthonormal", "orthonormal", "peaks", "bands"]))
    snr = float(rng.uniform(15, 40))
    mix = make_mixtures(
        k, m, snr_db=snr, n_features=max(d, 2 * k), active=(k, k), profiles=profiles, random_state=rng
    )
    return mix.D, k, ("all of many",), np.nan


def _weights() -> np.ndarray:
    """Of the counts 1 to 25, most often two to five."""
    weights = 1.0 / (1.0 + np.abs(np.arange(1, 26) - 3.0)) ** 1.2
    return weights / weights.sum()


def measured(name: str, folder: Path) -> list[tuple[np.ndarray, int, tuple[str, ...], float]]:
    """A shared set with a known count, and random subsets of its samples."""
    D = load(folder, name)["D"].astype(float)
    k = MEASURED[name]
    rng = np.random.default_rng(0)
    subsets = [np.sort(rng.choice(len(D), int(SUBSET * len(D)), replace=False)) for _ in range(SUBSETS)]
    return [
        (D[rows], k, (name if n == 0 else f"{name}, subset",), np.nan)
        for n, rows in enumerate([slice(None), *subsets])
    ]


def looked_at(seed: int) -> dict[str, Any]:
    return evidence_on(seed, *drawn(seed))


def few_looked_at(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 18])
    return evidence_on(seed, *few_of_many(rng, int(np.exp(rng.uniform(np.log(40), np.log(LARGEST))))))


def all_looked_at(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 19])
    return evidence_on(seed, *all_of_many(rng, int(np.exp(rng.uniform(np.log(40), np.log(LARGEST))))))


WORK = {"measured": looked_at, "few": few_looked_at, "all": all_looked_at}


def evidence_on(
    seed: int, D: np.ndarray, k: int, kinds: tuple[str, ...], stands_out: float
) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = GMCR(random_state=0, n_jobs=1).fit(D).count_
        one = gather(D, found)
    kept = {
        "seed": seed,
        "true": k,
        "kinds": ", ".join(kinds),
        "stands_out": stands_out,
        "rule": found.by_rule,
    }
    return kept | {"counts": one.counts, "values": one.values, "names": one.names}


def saved(path: Path, tables: list[dict[str, Any]]) -> None:
    """All tables in one file of plain arrays: their candidates one under the other."""
    arrays = {
        name: np.array([t[name] for t in tables]) for name in ("seed", "true", "kinds", "stands_out", "rule")
    }
    arrays["sizes"] = np.array([len(t["counts"]) for t in tables])
    arrays["counts"] = np.concatenate([t["counts"] for t in tables])
    arrays["values"] = np.concatenate([t["values"] for t in tables]).astype(np.float32)
    arrays["names"] = np.array(tables[0]["names"])
    temporary = path.with_suffix(".tmp.npz")
    np.savez_compressed(temporary, **arrays)
    temporary.replace(path)


def loaded(path: Path) -> list[dict[str, Any]]:
    with np.load(path, allow_pickle=False) as kept:
        arrays = dict(kept)
    ends = np.cumsum(arrays["sizes"])[:-1]
    counts, values = np.split(arrays["counts"], ends), np.split(arrays["values"], ends)
    names = tuple(arrays["names"].tolist())
    return [
        {name: arrays[name][n].item() for name in ("seed", "true", "kinds", "stands_out", "rule")}
        | {"counts": counts[n], "values": values[n], "names": names}
        for n in range(len(arrays["seed"]))
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--seeds", type=int, nargs=2, default=(0, 2000), metavar=("FIRST", "END"))
    arguments.add_argument(
        "--sets", type=Path, metavar="FOLDER", help="the shared sets instead, and subsets of them"
    )
    arguments.add_argument(
        "--kind", choices=list(WORK), default="measured", help="few or all of many: the paper's"
    )
    arguments.add_argument("--jobs", type=int, default=1)
    asked = arguments.parse_args()
    if asked.sets is not None:
        given = [one for name in MEASURED for one in measured(name, asked.sets)]
        with ProcessPoolExecutor(asked.jobs) as pool:
            saved(asked.file, list(pool.map(evidence_on, range(len(given)), *zip(*given, strict=True))))
        return
    tables = loaded(asked.file) if asked.file.exists() else []
    done = {table["seed"] for table in tables}
    seeds = [seed for seed in range(*asked.seeds) if seed not in done]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for start in range(0, len(seeds), CHUNK):
            tables += pool.map(WORK[asked.kind], seeds[start : start + CHUNK])
            saved(asked.file, tables)
            print(f"{len(tables)} tables", flush=True)


if __name__ == "__main__":
    main()
