"""Damaged files of every kind, for as long as one likes: do readers and model loaders raise only gmcr's errors?

    python benchmarks/fuzz.py --minutes 5
    python benchmarks/fuzz.py --minutes 1 --seed 7 --only made.jdx made.0

Valid files are those of the tests: made by other programs, or byte by byte from the formats' specifications. Each
round damages one of them (see tests/mutations.py) and reads it. A file that leads to any other error than gmcr's,
or that takes long where gmcr parses it itself, is kept, and the exit code is 1. Files that packages read cost a
process each, so they come in turn with a hundred of the others; one that hangs there is refused after 30 s.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

import gmcr
from common import as_markdown
from gmcr import GMCR, Decomposition, make_mixtures
from gmcr.errors import GMCRError
from gmcr.io import apart
from gmcr.io.formats import FORMATS, format_of
from gmcr.storage import read_model, write_model
from made_files import write_all
from mutations import changed_arrays, changed_header, damaged

SLOW = 5.0  # seconds that no file of a few kilobytes should need

Task = tuple[str, Callable[[np.random.Generator, Path], Path], Callable[[Path], Any]]  # name, damage, read


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=5.0)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--only", nargs="*", help="names of valid files, such as made.jdx")
    arguments.add_argument("--keep", type=Path, default=Path("fuzz_failures"), help="folder for what failed")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    apart.PATIENCE = 30.0
    with tempfile.TemporaryDirectory() as folder:
        quick, costly = _tasks(Path(folder), options.only)
        counts, failures = _run(quick, costly, options.minutes * 60, options.seed, Path(folder), options.keep)
    counts["all"] = sum(counts.values(), Counter())
    lines = [
        {"file": name} | {outcome: count[outcome] for outcome in ("read", "refused", "failed")}
        for name, count in counts.items()
    ]
    print(as_markdown(lines))
    for failure in failures:
        print(failure)
    return int(bool(failures))


def _tasks(folder: Path, only: list[str] | None) -> tuple[list[Task], list[Task]]:
    """What can be damaged: files that gmcr parses itself and models, and files that packages parse."""
    valid = folder / "valid"
    valid.mkdir()
    files = write_all(valid)
    mix = make_mixtures(n_components=3, n_samples=12, snr_db=30, n_features=24, random_state=0)
    model = GMCR(n_components=3, random_state=0, n_jobs=1).fit(mix.D)
    model.save(valid / "model.gmcr")
    model.decomposition_.save(valid / "decomposition.gmcr")

    def bytes_of(path: Path) -> Callable[[np.random.Generator, Path], Path]:
        content = path.read_bytes()

        def damage(rng: np.random.Generator, target: Path) -> Path:
            (target / path.name).write_bytes(damaged(content, rng))
            return target / path.name

        return damage

    def content_of(path: Path) -> Callable[[np.random.Generator, Path], Path]:
        arrays, header = read_model(path)

        def damage(rng: np.random.Generator, target: Path) -> Path:
            by_header = rng.random() < 0.6
            changed = changed_header(header, rng) if by_header else header
            write_model(target / path.name, arrays if by_header else changed_arrays(arrays, rng), changed)
            return target / path.name

        return damage

    models: list[Task] = []
    for path, load in ((valid / "model.gmcr", GMCR.load), (valid / "decomposition.gmcr", Decomposition.load)):
        models.append((path.name, bytes_of(path), load))
        models.append((f"{path.name} (content)", content_of(path), load))
    tasks: list[Task] = [(path.name, bytes_of(path), gmcr.read) for path in files]
    apart_names = {path.name for path in files if FORMATS[format_of(path)].apart}
    wanted = [task for task in tasks + models if only is None or task[0] in only]
    quick = [task for task in wanted if task[0] not in apart_names]
    return quick, [task for task in wanted if task[0] in apart_names]


def _run(
    quick: list[Task], costly: list[Task], seconds: float, seed: int, folder: Path, keep: Path
) -> tuple[dict[str, Counter[str]], list[str]]:
    rng = np.random.default_rng(seed)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    failures: list[str] = []
    target = folder / "damaged"
    target.mkdir()
    end = monotonic() + seconds
    turn = 0
    while monotonic() < end:
        tasks = [quick[rng.integers(len(quick))] for _ in range(100)] if quick else []
        if costly:
            tasks.append(costly[turn % len(costly)])
            turn += 1
        for name, damage, read in tasks:
            path = damage(rng, target)
            started = monotonic()
            try:
                read(path)
                outcome, reason = "read", ""
            except GMCRError as error:
                outcome, reason = "refused", "" if str(error).strip() else "an empty message"
            except Exception as error:
                outcome, reason = "failed", f"{type(error).__name__}: {error}"
            took = monotonic() - started
            if not reason and took > SLOW and (name, damage, read) not in costly:
                reason = f"{took:.0f} s"
            counts[name]["failed" if reason else outcome] += 1
            if reason and len(failures) < 50:
                keep.mkdir(exist_ok=True)
                kept = keep / f"{len(failures)}-{path.name}"
                kept.write_bytes(path.read_bytes())
                failures.append(f"{kept}: {reason}")
    return dict(sorted(counts.items())), failures


if __name__ == "__main__":
    sys.exit(main())
