"""Damaged files of every kind, for as long as one likes: do readers and model loaders raise only gmcr's errors?

    python benchmarks/fuzz.py --minutes 5
    python benchmarks/fuzz.py --minutes 1 --seed 7 --only made.jdx made.0

Valid files are those of the tests: made by other programs, or byte by byte from the formats' specifications.
Each round damages one of them (see tests/mutations.py) and reads it; with a model, all is done that can be done
with one. A file that leads to any other error than gmcr's, or that takes long where gmcr parses it itself, is
kept, and the exit code is 1. Every other damage knows how the file is built. Files that packages read cost a
forked process each, so they come in turn with a hundred of the others; --inputs goes by number instead: so many
for each format that gmcr parses and for model files, a tenth of that for each other format (20,000 is what is
asked of a release, and takes hours).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

import gmcr
from common import as_markdown
from forked import forked, read_as_apart
from gmcr.errors import FileError, GMCRError
from gmcr.io.formats import FORMATS, format_of
from gmcr.storage import read_model, write_model
from made_files import write_all
from model_files import LEARNED, use, write_models
from mutations import altered, changed_arrays, changed_header, damaged

SLOW = 5.0  # seconds that no file of a few kilobytes should need

Task = tuple[str, Callable[[np.random.Generator, Path], Path], Callable[[Path], Any]]  # name, damage, read


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=5.0)
    arguments.add_argument("--inputs", type=int, help="damaged files of each kind, instead of minutes")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--only", nargs="*", help="names of valid files, such as made.jdx")
    arguments.add_argument("--keep", type=Path, default=Path("fuzz_failures"), help="folder for what failed")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        quick, costly = _tasks(Path(folder), options.only)
        seconds = options.minutes * 60 if options.inputs is None else None
        turns = None if options.inputs is None else _by_number(quick, costly, options.inputs)
        counts, failures = _run(quick, costly, seconds, turns, options.seed, Path(folder), options.keep)
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
    models = valid / "models"
    models.mkdir()
    samples = write_models(models)

    def bytes_of(path: Path) -> Callable[[np.random.Generator, Path], Path]:
        content = path.read_bytes()

        def damage(rng: np.random.Generator, target: Path) -> Path:
            change = altered if rng.random() < 0.5 else damaged
            (target / path.name).write_bytes(change(content, rng))
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

    def used(name: str) -> Callable[[Path], Any]:
        """All that is done with a model; every fiftieth time its report too, where that is quick."""
        turn = count()
        return lambda path: use(path, samples[name], folder, whole=name in LEARNED and next(turn) % 50 == 0)

    stored: list[Task] = []
    for name in samples:
        stored.append((name, bytes_of(models / name), used(name)))
        stored.append((f"{name} (content)", content_of(models / name), used(name)))
    apart_names = {path.name for path in files if FORMATS[format_of(path)].apart}
    tasks: list[Task] = [
        (path.name, bytes_of(path), _read_forked if path.name in apart_names else gmcr.read) for path in files
    ]
    wanted = [task for task in tasks + stored if only is None or task[0] in only]
    quick = [task for task in wanted if task[0] not in apart_names]
    return quick, [task for task in wanted if task[0] in apart_names]


def _read_forked(path: Path) -> None:
    """Read in a forked process with limits; a crash there is what `read_apart` turns into an error."""
    error = forked(read_as_apart, path).error
    if error is not None and "it ended with status" not in str(error):
        raise error
    if error is not None:
        raise FileError(str(error))


def _by_number(quick: list[Task], costly: list[Task], inputs: int) -> Iterator[list[Task]]:
    """Each kind of file as often as asked: those of one format share its number."""
    kinds: dict[str, list[Task]] = defaultdict(list)
    for task in quick + costly:
        kinds["model" if ".gmcr" in task[0] else Path(task[0]).suffix].append(task)
    for tasks in kinds.values():
        number = inputs if tasks[0] in quick else inputs // 10
        yield [tasks[turn % len(tasks)] for turn in range(number)]


def _by_time(quick: list[Task], costly: list[Task], seconds: float, rng: Any) -> Iterator[list[Task]]:
    end, turn = monotonic() + seconds, 0
    while monotonic() < end:
        tasks = [quick[rng.integers(len(quick))] for _ in range(100)] if quick else []
        if costly:
            tasks.append(costly[turn % len(costly)])
            turn += 1
        yield tasks


def _run(
    quick: list[Task],
    costly: list[Task],
    seconds: float | None,
    turns: Iterator[list[Task]] | None,
    seed: int,
    folder: Path,
    keep: Path,
) -> tuple[dict[str, Counter[str]], list[str]]:
    rng = np.random.default_rng(seed)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    failures: list[str] = []
    target = folder / "damaged"
    target.mkdir()
    for tasks in _by_time(quick, costly, seconds or 0.0, rng) if turns is None else turns:
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
