"""What the benchmarks share: a fit scored against the truth, a file of results to resume from, tables.

A benchmark is a list of cells, each a dictionary of settings that names its `row`, and a function that
measures one cell. Results go to a file of JSON lines, one per cell; a cell that is there already is not
measured again. Tables are Markdown, aligned so that they read well in a terminal too.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import version
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment, nnls

import gmcr
from gmcr import GMCR, decode, make_mixtures
from gmcr.mixtures import Mixtures
from gmcr.noise import Poisson
from gmcr.scoring import match
from gmcr.window.pool_update import update_pool

Cell = dict[str, Any]
Result = dict[str, Any]

SEEDS = tuple(range(100, 105))
RESULTS = Path(__file__).parents[1] / "results"
# Small, yet more than the dozen components up to which the solver fits every count in turn.
SMOKE = {"n_components": 16, "n_samples": 64, "n_features": 64, "snr_db": 30}
PACKAGES = ("gmcr", "numpy", "scipy", "numba", "scikit-learn")


# One fit and its score


def mixtures(cell: Cell) -> Mixtures:
    """The synthetic samples of a cell: those of its settings that `make_mixtures` knows."""
    known = inspect.signature(make_mixtures).parameters
    return make_mixtures(**{name: value for name, value in cell.items() if name in known})


def fit(D: np.ndarray, **options: Any) -> tuple[GMCR, float]:
    """A model told nothing but D and these options, and the seconds it took."""
    warm_up()
    start = perf_counter()
    model = GMCR(**{"random_state": 0} | options).fit(D)
    seconds = perf_counter() - start
    if model.interrupted_:  # the best found so far: good for a user, no measurement
        raise KeyboardInterrupt
    return model, seconds


@cache
def warm_up() -> None:
    """Compile, or load, what a fit needs, so that no timing has to pay for it."""
    GMCR(n_components=2).fit(make_mixtures(2, 24, n_features=32, random_state=0).D)


def fit_and_score(mix: Mixtures) -> Result:
    """One default fit against the truth."""
    model, seconds = fit(mix.D)
    return score(mix, model) | {"seconds": seconds}


def score(mix: Mixtures, model: GMCR) -> Result:
    """Found against true.

    count, true_count : components found, and those that occur in the samples: Algorithm 2 can leave a
        component out of every sample, and then nothing can find it
    exact, true_exact : share of samples whose support is right; the second when they are decoded over the
        true pool with the true noise
    min_cos, ls_min_cos : smallest cosine between matched profiles; the second for `least_squares_pool`
    apart_cos_gap : by how much the first falls short of the second over components that no other one always
        accompanies: for those, part of the companion can be moved into the profile and nothing in D tells
    noise_ratio : estimated over true noise, median over samples; nothing where there is no noise
    law : the noise law found
    """
    compared = match(model, mix)
    reference = decode(mix.D, mix.S, noise=true_noise(mix))
    occurs = mix.supports.any(axis=0)
    best_cosines = (least_squares_pool(mix) * mix.S).sum(axis=1)
    apart = occurs & ~always_accompanied(mix.supports)
    found = matched_cosines(model.components_, mix.S)
    noisy = mix.sigma > 0
    return {
        "count": model.n_components_,
        "true_count": int(occurs.sum()),
        "exact": compared.exact,
        "true_exact": share_exact(reference.supports, mix.supports),
        "min_cos": compared.min_cos,
        "ls_min_cos": float(best_cosines[occurs].min()),
        "apart_cos_gap": float((best_cosines[apart].min() - found[apart].min()) if apart.any() else 0.0),
        "noise_ratio": float(np.median(model.noise_[noisy] / mix.sigma[noisy])) if noisy.any() else None,
        "law": model.noise_law_.kind,
    }


def always_accompanied(supports: np.ndarray) -> np.ndarray:
    """Whether some other component is in every sample that holds a component: (components,)."""
    together = supports.T.astype(float) @ supports
    np.fill_diagonal(together, -1.0)
    return together.max(axis=1) >= supports.sum(axis=0)


def share_exact(supports: np.ndarray, true_supports: np.ndarray) -> float:
    """Share of samples whose support is the true one; both (samples, components), in the same order."""
    return float((supports == true_supports).all(axis=1).mean())


def true_noise(mix: Mixtures) -> np.ndarray:
    """Standard deviations the samples were drawn with: (samples,), or per entry for counting noise."""
    if mix.noise != "poisson":
        return mix.sigma
    one_count = float(np.median(mix.sigma**2 / mix.clean.mean(axis=1)))
    return Poisson(one_count).sigma(mix.D, mix.clean).values


def least_squares_pool(mix: Mixtures, n_rounds: int = 5, n_sweeps: int = 20) -> np.ndarray:
    """The pool that non-negative least squares finds when the true supports are known: (N, channels).

    Profiles and concentrations are refitted in turn, from the truth, on the true supports and weighted by the
    true noise; supports never change. No blind method can be asked for better profiles than these.
    """
    sigma = true_noise(mix)
    sigma = np.where(sigma > 0, sigma, 1.0)
    sigma = sigma[:, None] if sigma.ndim == 1 else sigma
    S, _ = update_pool(mix.S, mix.D, mix.C, sigma**-2, n_sweeps=n_sweeps)
    for _ in range(n_rounds):
        C = np.zeros_like(mix.C)
        for m, support in enumerate(mix.supports):
            C[m, support] = nnls((S[support] / sigma[m]).T, mix.D[m] / sigma[m])[0]
        S, _ = update_pool(S, mix.D, C, sigma**-2, n_sweeps=n_sweeps)
    return S


def matched_cosines(found: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Cosine of each known profile with the found one assigned to it, zero where there is none: (known,)."""
    unit_found, unit_known = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (found, known))
    cosines = unit_known @ unit_found.T
    rows, columns = linear_sum_assignment(-cosines)
    best = np.zeros(len(known))
    best[rows] = cosines[rows, columns]
    return best


def summary(runs: pd.DataFrame) -> dict[str, Any]:
    """The scored runs of one cell as a line of a table. Gaps: positive is worse than the reference."""
    miss = runs["count"] - runs["true_count"]
    return {
        "counts exact": f"{(miss == 0).sum()}/{len(runs)}",
        "largest miss": largest_miss(runs),
        "exact": f"{runs['exact'].mean():.4f}",
        "true pool": f"{runs['true_exact'].mean():.4f}",
        "worst gap": f"{(runs['true_exact'] - runs['exact']).max():+.4f}",
        "min cos": f"{runs['min_cos'].min():.4f}",
        "LS pool": f"{runs['ls_min_cos'].min():.4f}",
        "worst cos gap": f"{cosine_gap(runs):+.4f}",
        "noise / true": span(runs["noise_ratio"], "{:.3f}"),
        "law": ", ".join(sorted(set(runs["law"]))),
        "seconds": f"{runs['seconds'].median():.2f}",
    }


def largest_miss(runs: pd.DataFrame) -> str:
    """The count furthest from the truth, as its difference."""
    miss = runs["count"] - runs["true_count"]
    worst = int(miss.loc[miss.abs().idxmax()])
    return f"{worst:+d}" if worst else "0"


def cosine_gap(runs: pd.DataFrame) -> float:
    """How far the smallest cosine falls short of the least-squares pool's, in the worst run."""
    return float((runs["ls_min_cos"] - runs["min_cos"]).max())


def exact_gap(runs: pd.DataFrame, by: str | list[str]) -> float:
    """How far the mean share of exact supports falls short of the true pool's, in the worst cell."""
    means = runs.groupby(by)[["true_exact", "exact"]].mean()
    return float((means["true_exact"] - means["exact"]).max())


# Cells, records, command line


@dataclass(frozen=True)
class Runs:
    """What is known of the chosen cells: a table, one row per cell measured, and where it comes from.

    n_missing : cells that failed; n_stale : cells that were measured with a source other than the present one
    """

    table: pd.DataFrame
    n_missing: int
    n_stale: int
    provenance: list[str]


def parser(doc: str, name: str) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    options = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    options.set_defaults(name=name)
    options.add_argument("--only", nargs="+", metavar="ROW", help="rows to run; * stands for anything")
    options.add_argument(
        "--seeds", nargs="+", type=int, metavar="SEED", help="seeds instead of the usual ones"
    )
    options.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"JSON lines to add to (results/{name}.jsonl in the repository)",
    )
    options.add_argument(
        "--docs", type=Path, metavar="FILE", help=f"also put the tables there, between <!-- {name} --> marks"
    )
    options.add_argument(
        "--smoke", action="store_true", help="a tiny run in seconds; nothing kept without --out"
    )
    return options


def measure(cells: Iterable[Cell], run: Callable[[Cell], Result], given: argparse.Namespace) -> Runs:
    """Measure the cells asked for that are not in the file yet; a cell that fails is left out and reported."""
    versions()  # now: the source may change while a long run goes on with what it has loaded
    cells = _chosen(list(cells), given.only)
    path = given.out or (None if given.smoke else RESULTS / f"{given.name}.jsonl")
    known = _read(path, given.name)
    for number, cell in enumerate(cells, start=1):
        if _key(cell) in known:
            continue
        try:
            result = run(cell)
        except Exception:
            traceback.print_exc()
            print(f"[{number}/{len(cells)}] {_key(cell)} FAILED", file=sys.stderr)
            continue
        known[_key(cell)] = _write(path, given.name, cell, result)
        print(f"[{number}/{len(cells)}] {_key(cell)} {_key(result)}", file=sys.stderr)
    records = [known[_key(cell)] for cell in cells if _key(cell) in known]
    if not records:
        raise SystemExit("no cell could be measured")
    table = pd.DataFrame([record["cell"] | record["result"] for record in records])
    stale = sum(record["versions"]["source"] != versions()["source"] for record in records)
    provenance = sorted({_provenance(record) for record in records})
    return Runs(table, len(cells) - len(records), stale, provenance)


def _chosen(cells: list[Cell], only: Sequence[str] | None) -> list[Cell]:
    chosen = [cell for cell in cells if not only or any(fnmatch(cell["row"], pattern) for pattern in only)]
    if not chosen:
        rows = dict.fromkeys(cell["row"] for cell in cells)
        raise SystemExit(f"--only {' '.join(only or ())} names no row; there are: {', '.join(rows)}")
    return chosen


def _key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _read(path: Path | None, name: str) -> dict[str, dict[str, Any]]:
    """The records of this benchmark by cell, the last one where there are several."""
    if path is None or not path.exists():
        return {}
    records = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # the line that was being written when a run was killed
        if record["benchmark"] == name:
            records[_key(record["cell"])] = record
    return records


def _write(path: Path | None, name: str, cell: Cell, result: Result) -> dict[str, Any]:
    plain = {key: _plain(value) for key, value in result.items()}
    record = {"benchmark": name, "cell": cell, "result": plain, "versions": versions(), "machine": machine()}
    line = json.dumps(record)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        torn = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * torn + line + "\n")
    return json.loads(line)


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and isnan(value) else value


@cache
def versions() -> dict[str, str]:
    """Versions of what computes, and a digest of gmcr's source, since its version does not change daily."""
    folder = Path(gmcr.__file__).parent
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(folder.rglob("*.py"))))
    found = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **found, "source": digest.hexdigest()[:8]}


def machine() -> dict[str, Any]:
    """The class of machine: cores, threads in use, memory, and how busy it is with this and other work."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "cores": os.cpu_count(),
        "threads": numba.get_num_threads(),
        "memory_gb": round(pages / 2**30),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def _provenance(record: dict[str, Any]) -> str:
    of, on = record["versions"], record["machine"]
    packages = ", ".join(f"{name} {of[name]}" for name in ("python", *PACKAGES[1:]))
    return (
        f"gmcr {of['gmcr']} (source {of['source']}), {packages}; "
        f"{on['cores']} cores, {on['threads']} threads, {on['memory_gb']} GB."
    )


# Tables


def check(what: str, value: float, sign: str, target: float, form: str = "{:.4f}") -> dict[str, str]:
    """A line of the acceptance table: what was measured, what was asked for, and whether that is met."""
    met = value <= target if sign == "<=" else value >= target
    return {
        "acceptance": what,
        "measured": form.format(value),
        "asked": f"{sign} {target:g}",
        "met": "yes" if met else "NO",
    }


def span(values: Iterable[Any], form: str) -> str:
    """Smallest to largest of the values that there are."""
    there = [value for value in values if value is not None and not pd.isna(value)]
    ends = dict.fromkeys(form.format(end) for end in (min(there), max(there))) if there else ["–"]
    return "–".join(ends)


def as_markdown(lines: Sequence[dict[str, Any]]) -> str:
    """Lines with the same keys as a Markdown table, aligned."""
    text = [list(lines[0]), *([str(value) for value in line.values()] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*text)]
    rows = ["| " + " | ".join(word.ljust(width) for word, width in zip(row, widths)) + " |" for row in text]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([rows[0], rule, *rows[1:]])


def report(tables: Sequence[Sequence[dict[str, Any]]], runs: Runs, given: argparse.Namespace) -> None:
    """Print the tables and where they come from; with --docs, put them there as well."""
    parts = [as_markdown(lines) for lines in tables if lines]
    parts += [f"Measured with {line}" for line in runs.provenance]
    if len(runs.provenance) > 1:
        parts.append("Not all cells were measured with the same code on the same class of machine.")
    if runs.n_stale:
        parts.append(f"{runs.n_stale} cells were measured with another source than the present one.")
    if runs.n_missing:
        parts.append(f"{runs.n_missing} cells failed and are not in these tables.")
    text = "\n\n".join(parts)
    print(text)
    if given.docs is not None:
        _insert(given.docs, given.name, text)
    if runs.n_missing:
        raise SystemExit(1)


def _insert(page: Path, name: str, text: str) -> None:
    """Replace what stands between <!-- name --> and <!-- /name -->."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, opened, rest = page.read_text(encoding="utf-8").partition(first)
    _, closed, after = rest.partition(last)
    if not (opened and closed):
        raise SystemExit(f"{page} has no place for these tables: it needs the lines {first} and {last}")
    page.write_text(f"{before}{first}\n\n{text}\n\n{last}{after}", encoding="utf-8")
