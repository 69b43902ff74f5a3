"""Simulated tables that a model of the count is learned from and judged on, and the evidence on each.

    cd benchmarks; export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python counting_tables.py evidence/simulated.npz --seeds 0 300 --jobs 2
    python counting_tables.py evidence/small.npz --small --seeds 0 500 --jobs 2
    python counting_tables.py evidence/small.npz --small --seeds 300000 302500 --jobs 2
    python counting_tables.py evidence/few.npz --few --seeds 0 200 --jobs 2
    python counting_tables.py evidence/counts.npz --counts --seeds 0 400 --jobs 2
    python counting_tables.py evidence/many.npz --many --seeds 0 80 --jobs 2
    python counting_tables.py evidence/dense.npz --dense --seeds 0 80 --jobs 2
    python counting_tables.py evidence/quick.npz --small --quick --seeds 100000 112500 --jobs 2
    python counting_tables.py evidence/measured.npz --sets ../../shared/data
    python counting_tables.py FILE --small-file  # each, in the end

A run that was ended goes on where it was. Of every table: its count, what was drawn, whether its components can
be told at all (the last singular value of C S, whitened by the true noise, over the edge of white noise), and the
numbers of `gmcr.counting.gather` for each candidate count.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from gmcr import GMCR, estimators, make_measured, make_mixtures
from gmcr.counting import Gathered, gather
from gmcr.counting.gathered import last_looked_at, of_the_table, some
from gmcr.mixtures.disturbances import DISTURBANCES, draw_law
from gmcr.mixtures.generative import Mixtures
from gmcr.mixtures.measured import Measured
from gmcr.window.dense_fit import filled
from gmcr.window.evidence import Evidence
from gmcr.window.first_guess import guesses
from gmcr.window.judging import tells_of_counts
from real_sets import load

LARGEST = 300  # samples and channels,
SMALL = 200  # of most measured tables
TALL, TALLEST = 0.05, 2000  # but for images: how often, and their samples
QUIET, QUIETEST = 0.25, 0.03  # how often noise is less than usual, and to which part of it,
SILENT, LEAST_NOISE = 0.05, 1e-6  # and all but none
FEWEST_SAMPLES, FEWEST_CHANNELS = 4, 10
CHUNK = 200
MOST_ALIKE = {"peaks": 20, "bands": 5}  # components to 40 channels
QUANTILES = 0.05, 0.5, 0.95  # of a column: from its middle, half a range to either side
SMALLEST = 1e-3  # half range
FEW_OF_MANY, ALL_OF_MANY = 0.14, 0.1  # shares of the paper's tables
SELDOM, RARER = 7, 4.0  # components of a dense table, beyond which so many more are e times as rare
BURIED = 1 / 3  # of the tables with a component below the noise that are met: others are drawn too often
QUIETLY = 0.2  # how often nothing is disturbed
FAINTEST, CLEAREST = 8, 35  # dB
NOISELESS = 0.08  # of the paper's tables
OVERCOMPLETE = 48  # components, from which there may be more of them than channels
WEAK = 0.02  # share of the signal that a component has by itself, below which it is as much rarer in what is met,
WEAKEST = 0.005  # and in what is drawn: what is met may be taken to be otherwise without drawing anew
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
REPLICATED, REPLICATES, PARTS = "inorganic_uvvis_354_620", 5, 100

MORE = "offset", "scattered light", "cosmic rays", "counting"  # disturbances that are drawn
SINCE = 300_000  # from this seed on: tables of earlier ones were looked at when there were none of these

FIRST_OF_THE_SEARCH = "beyond the lowest cost"
WITHOUT_SEARCH = "beyond the singular values", "white noise below"
NOT_SOUGHT = 0  # in place of the count by the solver's rule


class Drawn(NamedTuple):
    """A table, its count, what disturbs it, how far its last component stands out of noise, and its own share."""

    D: np.ndarray
    true: int
    kinds: tuple[str, ...]
    stands_out: float = np.nan
    own: float = np.nan

    @property
    def facts(self) -> dict[str, Any]:
        return self._asdict() | {"kinds": ", ".join(self.kinds)}


def drawn(seed: int) -> Drawn:
    """The table of a seed: one that behaves like a measured one, or one of the paper's."""
    rng = np.random.default_rng([seed, 17])
    d = int(np.exp(rng.uniform(np.log(FEWEST_CHANNELS), np.log(LARGEST))))
    kind = rng.random()
    if kind < FEW_OF_MANY + ALL_OF_MANY:
        return few_of_many(rng, max(d, 40)) if kind < FEW_OF_MANY else all_of_many(rng, d)
    samples = (LARGEST, TALLEST) if kind > 1 - TALL else (FEWEST_SAMPLES, LARGEST)
    return as_drawn(like_measured(rng, d, samples, allowed_at(seed)))


def small(seed: int) -> Drawn:
    """One that behaves like a measured one, of the usual size: many of them are gathered in little time."""
    rng = np.random.default_rng([seed, 22])
    d = int(np.exp(rng.uniform(np.log(FEWEST_CHANNELS), np.log(SMALL))))
    return as_drawn(like_measured(rng, d, (FEWEST_SAMPLES, SMALL), allowed_at(seed)))


def allowed_at(seed: int) -> list[str]:
    """Disturbances that tables of a seed may have."""
    return [name for name in DISTURBANCES if seed >= SINCE or name not in MORE]


def as_drawn(made: Measured) -> Drawn:
    k = len(made.S)
    kinds = tuple(name for name in made.kinds if name in DISTURBANCES)
    clean = made.C @ made.S
    return Drawn(made.D, k, kinds, stands_out(clean, made.sigma, k), least_own(made.C, made.S))


def is_met(seed: int, true: int, kinds: str, stands_out: float, own: float) -> bool:
    """Whether a table counts: some are drawn more often than they are met.

    Dense ones of many components, those with a component that has little of its own, and those with one below
    the noise, which nobody could have known of. To expect them as often as they are drawn would widen all ranges.
    How often chemists meet these is a guess: of 27 measured sets with a known count two have a component that
    hardly shows, and in nine of the shared sets the least share is 1.8 to 35 %.
    """
    if any(kind in kinds for kind in ("of many", "counts")):
        return True
    often = np.exp(-max(true - SELDOM, 0) / RARER) * (BURIED if stands_out < 1.0 else 1.0)
    often *= min(own / WEAK, 1.0) / min(own / WEAKEST, 1.0)
    return np.random.default_rng([seed, 1]).random() < often


def like_measured(
    rng: np.random.Generator, d: int, samples: tuple[int, int], allowed: Iterable[str] = DISTURBANCES
) -> Measured:
    """A table that behaves like a measured one, with at least d channels and so many samples."""
    k = int(rng.choice(np.arange(1, 26), p=_weights()))
    m = int(np.exp(rng.uniform(np.log(max(samples[0], k + 2)), np.log(samples[1]))))
    careless = 0.0 if rng.random() < QUIETLY else rng.random()  # how much may go wrong differs between tables
    disturbed = [name for name in allowed if rng.random() < careless]
    law = draw_law(rng)
    for often, (least, most) in ((QUIET, (QUIETEST, 1.0)), (SILENT, (LEAST_NOISE, QUIETEST))):
        if rng.random() < often:
            law = law.scaled(float(np.exp(rng.uniform(np.log(least), np.log(most)))))
    while True:
        made = make_measured(k, m, max(d, k + 3), random_state=rng, law=law, disturbed=disturbed)
        if rng.spawn(1)[0].random() < least_own(made.C, made.S) / WEAKEST:
            return made


def least_own(C: np.ndarray, S: np.ndarray) -> float:
    """The share of the signal that a component has by itself, beyond what others would make of it: the least.

    In nine of the shared sets with references it is 1.8 to 35 %, 13 % in the middle.
    """
    own = np.linalg.norm(beyond_others(C), axis=0) * np.linalg.norm(beyond_others(S.T), axis=0)
    return float(own.min() / np.linalg.norm(C @ S))


def beyond_others(columns: np.ndarray) -> np.ndarray:
    """What is left of each column by least squares on the others."""
    parts = []
    for n in range(columns.shape[1]):
        others = np.delete(columns, n, axis=1)
        parts.append(columns[:, n] - others @ np.linalg.lstsq(others, columns[:, n], rcond=None)[0])
    return np.stack(parts, axis=1)


def few_of_many(rng: np.random.Generator, d: int) -> Drawn:
    mix = sparse(rng, d)
    return Drawn(mix.D, len(mix.S), ("few of many",))


def sparse(rng: np.random.Generator, d: int) -> Mixtures:
    """The paper's tables: few of many components in each sample, of which there may be more than channels."""
    k, per_component = int(np.exp(rng.uniform(np.log(4), np.log(96)))), rng.uniform(4, 8)
    noise = str(rng.choice(["proportional", "constant", "poisson"]))
    profiles = str(rng.choice(["orthonormal", "peaks", "bands"], p=[0.5, 0.3, 0.2]))
    snr = float(rng.uniform(FAINTEST, CLEAREST))
    d = max(d, 2 * k // 3)
    k = min(k, MOST_ALIKE.get(profiles, k * d) * d // 40)  # broader profiles than these nobody could tell
    m = int(k * per_component)
    snr_db = of_noise(rng, snr)
    return make_mixtures(k, m, snr_db=snr_db, n_features=d, noise=noise, profiles=profiles, random_state=rng)


def of_noise(rng: np.random.Generator, snr: float) -> float | None:
    """So much noise, or none at all."""
    return None if rng.random() < NOISELESS else snr


def few(seed: int) -> Drawn:
    """Those alone, of the usual size."""
    rng = np.random.default_rng([seed, 23])
    return few_of_many(rng, int(np.exp(rng.uniform(np.log(40), np.log(SMALL)))))


def many(seed: int) -> Drawn:
    """The paper's tables at its own size: up to 256 components in 512 channels."""
    rng = np.random.default_rng([seed, 19])
    k, per_component = int(np.exp(rng.uniform(np.log(8), np.log(256)))), rng.uniform(4, 8)
    snr = float(rng.uniform(FAINTEST, CLEAREST))
    d = int(k * rng.uniform(0.6, 1.0)) if k >= OVERCOMPLETE and rng.random() < 0.5 else 512
    mix = make_mixtures(k, int(k * per_component), snr_db=of_noise(rng, snr), n_features=d, random_state=rng)
    return Drawn(mix.D, k, ("few of many",))


def dense(seed: int) -> Drawn:
    """The paper's tables at its own size with all of up to 48 components in every sample."""
    rng = np.random.default_rng([seed, 20])
    k, per_component = int(np.exp(rng.uniform(np.log(4), np.log(48)))), rng.uniform(3, 7)
    snr = float(rng.uniform(20, 35))
    mix = make_mixtures(k, int(k * per_component) + 4, snr_db=snr, active=(k, k), random_state=rng)
    return Drawn(mix.D, k, ("all of many",))


def all_of_many(rng: np.random.Generator, d: int) -> Drawn:
    """The paper's profiles, each in every sample: so even a mixture that one direction has nearly all of it."""
    k = int(np.exp(rng.uniform(np.log(2), np.log(40))))
    m = int(k * rng.uniform(2, 7)) + 4
    profiles = str(rng.choice(["orthonormal", "orthonormal", "peaks", "bands"]))
    snr = float(rng.uniform(15, 40))
    mix = make_mixtures(
        k, m, snr_db=snr, n_features=max(d, 2 * k), active=(k, k), profiles=profiles, random_state=rng
    )
    return Drawn(mix.D, k, ("all of many",))


def counted(seed: int) -> Drawn:
    """Counts, as of mutations: profiles of few or many channels, samples of very different sizes that hold some.

    Components are about as frequent, or some are in all samples and others in a few. Counts vary by chance, or
    beyond it by as much throughout, or by more in some samples than in others.
    """
    rng = np.random.default_rng([seed, 18])
    k = int(np.exp(rng.uniform(np.log(2), np.log(28))))
    m, d = int(np.exp(rng.uniform(np.log(30), np.log(500)))), int(rng.integers(30, 100))
    S = rng.dirichlet(np.full(d, np.exp(rng.uniform(np.log(0.04), np.log(1.0)))), k)
    alike = rng.random() < 0.5
    frequent = rng.uniform(0.2, 1.0) if alike else np.exp(rng.uniform(np.log(0.02), 0.0, k))
    C = rng.lognormal(0, rng.uniform(0.4, 1.5), (m, k)) * (rng.random((m, k)) < frequent)
    C[np.arange(m), rng.integers(0, k if alike else min(k, 2), m)] += 1.0
    C[rng.permutation(m)[: 3 * k] if m >= 3 * k else rng.integers(0, m, 3 * k), np.arange(3 * k) % k] += 1.0
    mean = C @ S
    size = np.exp(rng.uniform(np.log(100), np.log(4e4))) * rng.lognormal(0, rng.uniform(0.1, 1.3), (m, 1))
    mean *= size / mean.sum(axis=1, keepdims=True)
    alpha = np.exp(rng.uniform(np.log(3), np.log(300), (m, 1) if rng.random() < 0.4 else (1, 1)))
    if rng.random() < 0.7:
        mean = mean * rng.gamma(alpha, 1 / alpha, mean.shape)
    return Drawn(rng.poisson(mean).astype(float), k, ("counts",))


def stands_out(clean: np.ndarray, sigma: np.ndarray, k: int) -> float:
    """How far the last of k components stands out of the noise, whitened by its true law; 1 is the edge."""
    values = np.linalg.svd(clean / np.maximum(sigma, 1e-12), compute_uv=False)
    return float(values[min(k, len(values)) - 1] / np.sqrt(clean.shape).sum())


def _weights() -> np.ndarray:
    """Of the counts 1 to 25, most often two to five."""
    weights = 1.0 / (1.0 + np.abs(np.arange(1, 26) - 3.0)) ** 1.2
    return weights / weights.sum()


def measured(name: str, folder: Path) -> list[Drawn]:
    """A shared set with a known count, and random subsets of its samples."""
    D = load(folder, name)["D"].astype(float)
    k = MEASURED[name]
    rng = np.random.default_rng(0)
    subsets = [np.sort(rng.choice(len(D), int(SUBSET * len(D)), replace=False)) for _ in range(SUBSETS)]
    return [
        Drawn(D[rows], k, (name if n == 0 else f"{name}, subset",))
        for n, rows in enumerate([slice(None), *subsets])
    ]


def parts_of_replicated(folder: Path) -> list[Drawn]:
    """Parts of the set with replicates: one of each mixture, all but two of the mixtures, means of replicates."""
    D = load(folder, REPLICATED)["D"].astype(float)
    by_mixture = D.reshape(-1, REPLICATES, D.shape[1])
    rng = np.random.default_rng(0)
    parts = []
    for n in range(PARTS):
        if n < REPLICATES:
            part = by_mixture[:, n]
        elif n % 3 == 0:
            part = by_mixture[np.arange(len(by_mixture)), rng.integers(REPLICATES, size=len(by_mixture))]
        elif n % 3 == 1:
            part = np.delete(by_mixture, rng.choice(len(by_mixture), 2, replace=False), axis=0)
        else:
            chosen = rng.choice(REPLICATES, rng.integers(2, REPLICATES + 1), replace=False)
            part = by_mixture[:, chosen].mean(axis=1)
        parts.append(part.reshape(-1, D.shape[1]))
    return [Drawn(part, MEASURED[REPLICATED], ("replicated, part",)) for part in parts]


def looked_at(make: Callable[[int], Drawn], seed: int) -> dict[str, Any] | None:
    table = make(seed)
    return evidence_on(seed, table) if is_met(seed, **counted_by(table.facts)) else None


def evidence_on(seed: int, table: Drawn) -> dict[str, Any]:
    seen: list[tuple[Gathered, Evidence]] = []

    def looked(samples: np.ndarray, evidence: Evidence, most: int | None = None) -> Evidence:
        """In place of the weighing, which is to be learned: what it would be asked about."""
        seen.append((gather(samples, evidence), evidence))
        return evidence

    with warnings.catch_warnings(), patch.object(estimators.window, "weighed", looked):
        warnings.simplefilter("ignore")
        GMCR(random_state=0, n_jobs=1).fit(table.D)
    one, found = seen[0]
    return kept(seed, table, found.by_rule, one)


def quickly_looked_at(make: Callable[[int], Drawn], seed: int) -> dict[str, Any] | None:
    """The evidence that needs no search: many tables in little time, to learn from and not to judge by."""
    table = make(seed)
    if not is_met(seed, **counted_by(table.facts)):
        return None
    D = table.D[table.D.any(axis=1)]  # as a fit does
    guess = guesses(D, tells_of_counts(D))[0]
    one = gather(D, Evidence(1, 1, 1, "cost", guess.count, guess.count, None, False, white_rank=guess.white))
    first = one.names.index(FIRST_OF_THE_SEARCH)
    sought = [n for n, name in enumerate(one.names) if n >= first and name not in WITHOUT_SEARCH]
    one.values[:, sought] = np.nan
    return kept(seed, table, NOT_SOUGHT, one)


def counted_by(facts: dict[str, Any]) -> dict[str, Any]:
    """What says whether a table is met."""
    return {name: facts[name] for name in ("true", "kinds", "stands_out", "own")}


def kept(seed: int, table: Drawn, rule: int, found: Gathered) -> dict[str, Any]:
    facts = {name: value for name, value in table.facts.items() if name != "D"}
    evidence = {"counts": found.counts, "values": found.values, "names": found.names}
    return {"seed": seed, "rule": rule} | facts | evidence


def looked_at_again(table: dict[str, Any], D: np.ndarray) -> dict[str, Any]:
    """The table with what needs no search gathered anew, where that has changed and the search has not."""
    counts, names = table["counts"], table["names"]
    D = D[D.any(axis=1)]  # as a fit does
    spoken_for = ("beyond the lowest cost", "beyond the singular values")
    by = [counts[table["values"][:, names.index(name)] == 0.0] for name in spoken_for]
    lowest, *_ = *by[0], int(table["rule"])
    X = some(filled(D, 3), int(lowest))
    most = min(last_looked_at(X, max([int(lowest), *by[1]])), len(counts))
    columns = of_the_table(D, X, counts, most)
    for name in (name for name in names if name not in columns):  # what the search said
        columns[name] = table["values"][:, names.index(name)].astype(float)
    return table | {"names": tuple(columns), "values": np.stack(list(columns.values()), axis=1)}


FACTS = "seed", "true", "kinds", "stands_out", "own", "rule"
STEPS, MISSING = 16, -128  # of a byte to half a range of a column, and the byte where there is no value


def saved(path: Path, tables: list[dict[str, Any]], small: bool = False) -> None:
    """All tables in one file of plain arrays: their candidates one under the other.

    small : a byte a value, which is as fine as the net looks, and each table by columns, many of which are others
        moved on by a count: a third of the space
    """
    if len({t["names"] for t in tables}) > 1:
        raise SystemExit(f"{path} has other kinds of evidence than are gathered now; begin a new file.")
    arrays = {name: np.array([t[name] for t in tables]) for name in FACTS}
    arrays["sizes"] = np.array([len(t["counts"]) for t in tables])
    arrays["counts"] = np.concatenate([t["counts"] for t in tables])
    values = np.clip(np.concatenate([t["values"] for t in tables]), -6e4, 6e4).astype(np.float32)
    if small:
        arrays["middle"], arrays["half_range"] = scales(values)
        bytes_ = np.round((values - arrays["middle"]) / arrays["half_range"] * STEPS)
        bytes_ = np.where(np.isnan(bytes_), MISSING, np.clip(bytes_, -127, 127)).astype(np.int8)
        parts = np.split(bytes_, np.cumsum(arrays["sizes"])[:-1])
        arrays["values"] = np.concatenate([part.T.ravel() for part in parts])
    else:
        arrays["values"] = values.astype(np.float16)  # three digits are enough, and half the space
    arrays["names"] = np.array(tables[0]["names"])
    written(path, arrays)


def scales(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The middle and the half range of each column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns that no table has
        low, middle, high = np.nan_to_num(np.nanquantile(values, QUANTILES, axis=0))
    return middle, np.maximum((high - low) / 2, SMALLEST)


def written(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Whole or not at all."""
    temporary = path.with_suffix(".tmp.npz")
    np.savez_compressed(temporary, **arrays)
    temporary.replace(path)


def loaded(path: Path) -> list[dict[str, Any]]:
    with np.load(path, allow_pickle=False) as kept:
        arrays = dict(kept)
    names, sizes = tuple(arrays["names"].tolist()), arrays["sizes"]
    values = arrays["values"]
    if values.dtype == np.int8:
        parts = np.split(values, np.cumsum(sizes * len(names))[:-1])
        values = np.concatenate([part.reshape(len(names), -1).T for part in parts]).astype(np.float32)
        values = np.where(values == MISSING, np.nan, values)
        values = (values / STEPS * arrays["half_range"] + arrays["middle"]).astype(np.float32)
    ends = np.cumsum(sizes)[:-1]
    counts, values = np.split(arrays["counts"], ends), np.split(values, ends)
    return [
        {name: arrays[name][n].item() for name in FACTS}
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
    arguments.add_argument("--small", action="store_true", help="tables of the usual size alone")
    arguments.add_argument("--counts", action="store_true", help="tables of counts instead")
    arguments.add_argument("--few", action="store_true", help="the paper's tables instead, of the usual size")
    arguments.add_argument("--many", action="store_true", help="the paper's tables at its own size instead")
    arguments.add_argument("--dense", action="store_true", help="the same with all components in each sample")
    arguments.add_argument("--quick", action="store_true", help="without what the solver's search says")
    arguments.add_argument("--again", action="store_true", help="gather anew what needs no search")
    arguments.add_argument("--small-file", action="store_true", help="store the file in a third of its space")
    arguments.add_argument("--jobs", type=int, default=1)
    asked = arguments.parse_args()
    given = [one for name in MEASURED for one in measured(name, asked.sets)] if asked.sets is not None else []
    given += parts_of_replicated(asked.sets) if asked.sets is not None else []
    made = {counted: asked.counts, few: asked.few, many: asked.many, dense: asked.dense, small: asked.small}
    make = next((make for make, chosen in made.items() if chosen), drawn)
    if asked.small_file:
        saved(asked.file, loaded(asked.file), small=True)
        return
    if asked.again:
        tables = loaded(asked.file)
        data = [given[t["seed"]][0] for t in tables] if given else (make(t["seed"])[0] for t in tables)
        with ProcessPoolExecutor(asked.jobs) as pool:
            saved(asked.file, list(pool.map(looked_at_again, tables, data, chunksize=CHUNK)))
        return
    if asked.sets is not None:
        with ProcessPoolExecutor(asked.jobs) as pool:
            saved(asked.file, list(pool.map(evidence_on, range(len(given)), given)))
        return
    tables = loaded(asked.file) if asked.file.exists() else []
    done = {table["seed"] for table in tables}
    seeds = [seed for seed in range(*asked.seeds) if seed not in done]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for start in range(0, len(seeds), CHUNK):
            look = quickly_looked_at if asked.quick else looked_at
            found = pool.map(partial(look, make), seeds[start : start + CHUNK], chunksize=CHUNK // 20)
            tables += [table for table in found if table is not None]
            saved(asked.file, tables)
            print(f"{len(tables)} tables", flush=True)


if __name__ == "__main__":
    main()
