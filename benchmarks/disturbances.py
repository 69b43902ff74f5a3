"""How often disturbances of a table are found, by kind and strength, and how often there is a false alarm.

    python benchmarks/disturbances.py --tables 100 --seed 1000

Tables behave like measured ones, undisturbed but for one thing. Strength 1 is where the best test that knows the
place, the shape, the noise and what the components span would find it half of the time at a level of 0.001: where
what is not explained by the components is 3.09 standard deviations long. A hot channel reads too much by the same
in every sample; where amounts sum to one that is a component's own, no test can tell, and the table is left out.
A dead channel reads zero; a clipped table stops at its so-and-so largest reading: both have no strength.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from common import as_markdown
from gmcr import find_disturbances, make_measured

LIMIT = 3.09  # standard deviations, the quantile of a normal at 0.999
STRENGTHS = (1.0, 2.0, 3.0, 5.0, 10.0)
TOLD = 0.1  # of an offset, that amounts must leave unexplained
KINDS = ("hot channel", "spike", "foreign sample", "shifted axis")


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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--tables", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1000)
    arguments.add_argument("--kinds", nargs="*", default=KINDS)
    options = arguments.parse_args()
    alarms, sure = 0, defaultdict(list)
    hits = {kind: {strength: [] for strength in STRENGTHS} for kind in options.kinds}
    for seed in range(options.seed, options.seed + options.tables):
        table, rng = make_measured(random_state=seed, disturbed=False), np.random.default_rng(seed)
        if clean := find_disturbances(table.D):
            alarms += 1
            print(f"false alarm, seed {seed}: {clean[0].sentence()} {table!r}", flush=True)
        for name, found in exact(table, rng).items():
            sure[name].append(found)
        for kind in options.kinds:
            ones = np.ones(len(table.D))
            if kind == "hot channel" and free(ones, table.C.T, ones) < TOLD * np.linalg.norm(ones):
                continue
            for strength in STRENGTHS:
                D, (m, j) = disturbed(kind, strength, table, np.random.default_rng(rng.integers(2**32)))
                hits[kind][strength].append(
                    any(
                        one.kind == kind and one.sample == m and (j is None or one.channel == j)
                        for one in find_disturbances(D)
                    )
                )
    print(f"clean tables with an alarm: {alarms} of {options.tables}")
    rows = [
        {"kind": kind, "tables": len(found[1.0])}
        | {f"{s:g} x": f"{np.mean(n):.0%}" for s, n in found.items()}
        for kind, found in hits.items()
    ]
    print(as_markdown(rows))
    print(as_markdown([{"kind": name, "found": f"{np.mean(all_):.0%}"} for name, all_ in sure.items()]))


if __name__ == "__main__":
    main()
