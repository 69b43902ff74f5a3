"""How often disturbances of a table are found, by kind and strength, and how often there is a false alarm.

    python benchmarks/disturbances.py --tables 100 --seed 1000

Tables behave like measured ones, undisturbed but for one thing. Strength 1 is where the best test that knows the
place, the shape, the noise and what the components span would find it half of the time at a level of 0.001: where
what is not explained by the components is 3.09 standard deviations long. A hot channel reads too much by the same
in every sample; where amounts sum to one that is a component's own, no test can tell, and the table is left out.
A jump is a band that all samples have from one on; its limit is that of a test that knows neither amounts nor
profiles, it counts as found within a tenth of the samples, and only tables whose amounts have no order are asked.
A dead channel reads zero; a clipped table stops at its so-and-so largest reading: both have no strength.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from time import perf_counter

import numpy as np

from common import as_markdown
from gmcr import find_disturbances, make_measured

LIMIT = 3.09  # standard deviations, the quantile of a normal at 0.999
STRENGTHS = (1.0, 2.0, 3.0, 5.0, 10.0)
TOLD = 0.1  # of an offset, that amounts must leave unexplained
KINDS = ("hot channel", "spike", "foreign sample", "shifted axis", "jump")
UNORDERED = ("lognormal", "dirichlet", "few", "design")
FEWEST = 16  # samples for a jump


def free(shape: np.ndarray, directions: np.ndarray, sigma: np.ndarray) -> float:
    """Length in standard deviations of what of a shape the directions (n, entries) do not explain."""
    Q = np.linalg.qr((directions / sigma).T)[0]
    white = shape / sigma
    return float(np.linalg.norm(white - Q @ (Q.T @ white)))


def disturbed(
    kind: str, strength: float, table: object, rng: np.random.Generator
) -> tuple[np.ndarray, tuple]:
    """The table with one disturbance, so many times its limit, and where it is: (sample, channel)."""
    D, clean = table.D.copy(), table.C @ table.S
    sigma = np.broadcast_to(table.sigma, D.shape)
    m, j, d = int(rng.integers(len(D))), int(rng.integers(D.shape[1])), D.shape[1]
    if kind == "hot channel":
        size = strength * LIMIT / free(np.ones(len(D)), table.C.T, sigma[:, j])
        D[:, j] += size
        return D, (None, j)
    if kind == "spike":
        D[m, j] += strength * LIMIT / free(np.eye(d)[j], table.S, sigma[m])
        return D, (m, j)
    if kind == "foreign sample":
        width = max(d * rng.uniform(0.02, 0.1), 1.5)
        shape = np.exp(-0.5 * ((np.arange(d) - rng.uniform(0, d - 1)) / width) ** 2)
    else:
        shape = -np.gradient(clean[m])
    D[m] += strength * LIMIT / max(free(shape, table.S, sigma[m]), 1e-12) * shape
    return D, (m, None)


def exact(table: object, rng: np.random.Generator) -> dict[str, bool]:
    """Whether what has no strength is found: a dead channel, and readings clipped at the n-th largest."""
    dead, j = table.D.copy(), int(rng.integers(table.D.shape[1]))
    dead[:, j] = 0.0
    found = {
        "dead channel": any(
            one.kind == "dead channel" and one.channel == j for one in find_disturbances(dead)
        )
    }
    for n in (3, 10, 30):
        clipped = np.minimum(table.D, np.partition(table.D.ravel(), -n)[-n])
        hits = {one.sample for one in find_disturbances(clipped) if one.kind == "clipped"}
        found[f"clipped at the {n} largest"] = hits == set(
            np.flatnonzero((clipped == clipped.max()).any(axis=1))
        )
    return found


def jump(table: object, strength: float, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """The table with a band on top of all samples from one on, so many times its limit, and from which."""
    (m, d), sigma = table.D.shape, np.broadcast_to(table.sigma, table.D.shape)
    start, width = int(rng.integers(m // 4, 3 * m // 4 + 1)), max(d * rng.uniform(0.02, 0.1), 1.5)
    shape = np.exp(-0.5 * ((np.arange(d) - rng.uniform(0, d - 1)) / width) ** 2)
    on_top = np.outer(np.arange(m) >= start, shape)
    amounts, profiles = np.linalg.qr(table.C)[0], np.linalg.qr(table.S.T)[0]
    left = on_top - amounts @ (amounts.T @ on_top)
    left = left - (left @ profiles) @ profiles.T
    return table.D + strength * LIMIT / max(float(np.linalg.norm(left / sigma)), 1e-12) * on_top, start


def is_found(kind: str, strength: float, table: object, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether it is found by its name where it is, and whether it is told at all there."""
    if kind == "jump":
        D, start = jump(table, strength, rng)
        near = max(1, len(D) // 10)
        hit = any(one.kind == kind and abs(one.sample - start) <= near for one in find_disturbances(D))
        return hit, hit
    D, (m, j) = disturbed(kind, strength, table, rng)
    there = [
        one
        for one in find_disturbances(D)
        if one.sample == m and (j is None or one.channel is None or one.channel == j)
    ]
    return any(one.kind == kind for one in there), bool(there)


def can_be_told(kind: str, table: object) -> bool:
    """A hot channel is a component's own where amounts sum to one; a jump is where amounts go with the order."""
    ones = np.ones(len(table.D))
    if kind == "hot channel":
        return free(ones, table.C.T, ones) >= TOLD * np.linalg.norm(ones)
    return kind != "jump" or (table.kinds["concentrations"] in UNORDERED and len(table.D) >= FEWEST)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--tables", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1000)
    arguments.add_argument("--minutes", type=float, default=np.inf, help="begin no table after so many")
    arguments.add_argument("--kinds", nargs="*", default=KINDS)
    options = arguments.parse_args()
    alarms, masked, done, sure, began = 0, 0, 0, defaultdict(list), perf_counter()
    hits = {kind: {strength: [] for strength in STRENGTHS} for kind in options.kinds}
    for seed in range(options.seed, options.seed + options.tables):
        if perf_counter() - began > 60.0 * options.minutes:
            break
        done += 1
        table, rng = make_measured(random_state=seed, disturbed=False), np.random.default_rng(seed)
        if clean := find_disturbances(table.D):
            alarms, masked = alarms + 1, masked + any(one.masked for one in clean)
            print(f"false alarm, seed {seed}: {clean[0].sentence()} {table!r}", flush=True)
        for name, found in exact(table, rng).items():
            sure[name].append(found)
        for kind in options.kinds:
            if not can_be_told(kind, table):
                continue
            for strength in STRENGTHS:
                found = is_found(kind, strength, table, np.random.default_rng(rng.integers(2**32)))
                hits[kind][strength].append(found)
                if strength >= 3.0 and not found[0]:
                    print(f"missed, seed {seed}: {kind} {strength:g} {table!r} {found}", flush=True)
    print(f"clean tables with an alarm: {alarms} of {done}; with one that is masked: {masked}")
    for title, which in (("found by name", 0), ("told at its place", 1)):
        rows = [
            {title: kind, "tables": len(found[1.0])}
            | {f"{s:g} x": f"{np.mean([one[which] for one in n]):.0%}" for s, n in found.items()}
            for kind, found in hits.items()
        ]
        print(as_markdown(rows))
    print(as_markdown([{"kind": name, "found": f"{np.mean(all_):.0%}"} for name, all_ in sure.items()]))


if __name__ == "__main__":
    main()
