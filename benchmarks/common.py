"""What every benchmark is made of: cells, a file of results to resume from, and tables.

A benchmark is a list of cells, each a dictionary of settings that names its `row`, and a function that
measures one cell. Results go to a file of JSON lines, one per cell; a cell that is there already is not
measured again. Tables are Markdown, aligned so that they read well in a terminal too.
"""

from __future__ import annotations

import argparse
import hashlib
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
from typing import Any, TypeVar

import numpy as np
import pandas as pd

import gmcr
from gmcr.threads import n_threads

Cell = dict[str, Any]
Result = dict[str, Any]
T = TypeVar("T")

SEEDS = tuple(range(100, 105))
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
DATA = Path(os.environ.get("GMCR_DATA", "../shared/data"))  # real sets
PACKAGES = ("gmcr", "numpy", "scipy", "numba", "scikit-learn")

sys.path.append(str(ROOT / "tests"))  # made files, decoys and the like, which the tests use too


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


def parser(doc: str, name: str, *, data: bool = False) -> argparse.ArgumentParser:
    """The options that all benchmarks have; `data` for those that read the real sets."""
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
    if data:
        options.add_argument(
            "--data",
            type=Path,
            default=DATA,
            metavar="FOLDER",
            help="the real sets, .npz files ($GMCR_DATA or %(default)s)",
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
        "threads": n_threads(),
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


def best_times(works: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """The shortest of several timings of each, in seconds; in turn, so that all see the same machine."""
    times = [[timed(work)[1] for work in works] for _ in range(repeats)]
    return [min(column) for column in zip(*times)]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What a piece of work returns, and the seconds it took."""
    start = perf_counter()
    done = work()
    return done, perf_counter() - start


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


def shown(value: Any, form: str) -> str:
    """A number in this form, or a dash where there is none."""
    return "–" if pd.isna(value) else form.format(value)


def span(values: Iterable[Any], form: str) -> str:
    """Smallest to largest of the values that there are."""
    there = [value for value in values if not pd.isna(value)]
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
        insert(given.docs, given.name, text)
    if runs.n_missing:
        raise SystemExit(1)


def tell(
    lines: Sequence[dict[str, Any]], met: Sequence[dict[str, Any]], name: str, page: Path | None
) -> None:
    """Print what was judged and what is asked, and put both into a page of the docs."""
    told = [
        {key: shown(value, "{:.3f}") if isinstance(value, float) else value for key, value in line.items()}
        for line in lines
    ]
    text = as_markdown(told) + "\n\n" + as_markdown(met)
    print(text)
    if page is not None:
        insert(page, name, text)


def insert(page: Path, name: str, text: str) -> None:
    """Replace what stands between <!-- name --> and <!-- /name -->."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, opened, rest = page.read_text(encoding="utf-8").partition(first)
    _, closed, after = rest.partition(last)
    if not (opened and closed):
        raise SystemExit(f"{page} has no place for these tables: it needs the lines {first} and {last}")
    page.write_text(f"{before}{first}\n\n{text}\n\n{last}{after}", encoding="utf-8")
