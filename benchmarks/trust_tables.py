"""Answers on simulated tables whose truth is known, and the numbers that they are judged by.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python benchmarks/trust_tables.py benchmarks/evidence/answers.npz --seeds 400000 404000 --jobs 2
    python benchmarks/trust_tables.py benchmarks/evidence/answers_on_sets.npz --sets ../shared/data --jobs 2

A run that was ended goes on where it was. Of each table the blind answer, and of some one that was told the
count or one more or less than it. Tables are as often disturbed, and components as often weak, as where the count
is learned; seeds are others, since its chances are too good on its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from counting_tables import as_drawn, counted_by, is_met, like_measured, sparse, written
from gmcr import GMCR
from gmcr.trust import numbers_of
from real_sets import REFERENCES, references

CHUNK = 20
LARGEST = 200  # samples and channels
FEW_OF_MANY = 0.1
TOLD = 3  # tables to one that is also answered with a told count:
STEPS = (-1, 0, 0, 1)  # from the true count, of an answer that was told one


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, str] | None:
    """A table that behaves like a measured one, its true profiles, and what disturbs it; None if none is met."""
    rng = np.random.default_rng([seed, 21])
    d = int(np.exp(rng.uniform(np.log(20), np.log(LARGEST))))
    if rng.random() < FEW_OF_MANY:
        mix = sparse(rng, max(d, 40))
        return mix.D, mix.S, "few of many"
    made = like_measured(rng, d, (6, LARGEST))
    facts = as_drawn(made).facts
    return (made.D, made.S, facts["kinds"]) if is_met(seed, **counted_by(facts)) else None


def cosines_of(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    """(components,) of each found profile with its own true one; 0 where it has none."""
    cosines = np.abs(found @ (true / np.linalg.norm(true, axis=1, keepdims=True)).T)
    rows, columns = linear_sum_assignment(-cosines)
    each = np.zeros(len(found))
    each[rows] = cosines[rows, columns]
    return each


def judged(D: np.ndarray, S: np.ndarray, told: int | None, about: dict[str, Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GMCR(told or "auto", random_state=0, n_jobs=1).fit(D)
        numbers = numbers_of(model.answer(D))
    return about | {
        "told": told is not None,
        "step": len(model.components_) - len(S),
        "table": numbers.table,
        "components": numbers.components,
        "cosines": cosines_of(model.components_, S),
    }


def answers(seed: int) -> list[dict[str, Any]]:
    table = drawn(seed)
    if table is None:
        return []
    D, S, kinds = table
    about = {"seed": seed, "kinds": kinds}
    blind = judged(D, S, None, about)
    if seed % TOLD:
        return [blind]
    return [blind, judged(D, S, max(len(S) + STEPS[seed // TOLD % len(STEPS)], 1), about)]


def answers_on_set(name: str, folder: Path) -> list[dict[str, Any]]:
    D, S, _, count = references(folder, name)
    about = {"seed": REFERENCES.index(name), "kinds": name}
    return [judged(D, S, told, about) for told in (None, count - 1, count, count + 1)]


def saved(path: Path, found: Sequence[dict[str, Any]]) -> None:
    """All answers in one file of plain arrays, their components one under the other."""
    arrays = {name: np.array([one[name] for one in found]) for name in ("seed", "kinds", "told", "step")}
    names, each = list(found[0]["table"]), list(found[0]["components"])
    arrays |= {"numbers": np.array(names), "component numbers": np.array(each)}
    arrays["values"] = np.array([[one["table"][name] for name in names] for one in found], dtype=np.float32)
    arrays["sizes"] = np.array([len(one["cosines"]) for one in found])
    stacked = [np.stack([one["components"][name] for name in each], axis=1) for one in found]
    arrays["component values"] = np.concatenate(stacked).astype(np.float32)
    arrays["cosines"] = np.concatenate([one["cosines"] for one in found])
    written(path, arrays)


def loaded(path: Path) -> list[dict[str, Any]]:
    with np.load(path, allow_pickle=False) as kept:
        arrays = dict(kept)
    ends = np.cumsum(arrays["sizes"])[:-1]
    each, cosines = np.split(arrays["component values"], ends), np.split(arrays["cosines"], ends)
    names, own = arrays["numbers"].tolist(), arrays["component numbers"].tolist()
    return [
        {name: arrays[name][n].item() for name in ("seed", "kinds", "told", "step")}
        | {"table": dict(zip(names, arrays["values"][n].tolist())), "cosines": cosines[n]}
        | {"components": dict(zip(own, each[n].T))}
        for n in range(len(arrays["seed"]))
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--seeds", type=int, nargs=2, default=(400_000, 404_000), metavar=("FIRST", "END"))
    arguments.add_argument("--sets", type=Path, metavar="FOLDER", help="the shared sets instead")
    arguments.add_argument("--jobs", type=int, default=1)
    asked = arguments.parse_args()
    if asked.sets is not None:
        with ProcessPoolExecutor(asked.jobs) as pool:
            each = pool.map(partial(answers_on_set, folder=asked.sets), REFERENCES)
            saved(asked.file, [one for some in each for one in some])
        return
    found = loaded(asked.file) if asked.file.exists() else []
    done = {one["seed"] for one in found}
    seeds = [seed for seed in range(*asked.seeds) if seed not in done]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for start in range(0, len(seeds), CHUNK):
            found += [one for some in pool.map(answers, seeds[start : start + CHUNK]) for one in some]
            saved(asked.file, found)
            print(f"{len(found)} answers", flush=True)


if __name__ == "__main__":
    main()
