"""Damaged and odd files of every kind: do readers and model loaders raise only gmcr's errors, and in time?

    python benchmarks/fuzz.py
    python benchmarks/fuzz.py --only 'Galactic SPC' 'model files' --seeds 100 101

A seed is 500 files of a format that gmcr parses itself, or model files, or 50 of a format that a package parses:
with the usual 40 seeds 20,000 and 2,000 of each. A third are valid files of the tests with bytes damaged, a third
are altered by what is known of how they are built (tests/mutations.py), and a third are whole but hold what
nobody expects (tests/odd_files.py). With a model, all is done that can be done with one. A file that leads to any
other error than gmcr's, or takes longer than a file of a few kilobytes may, is kept in `--keep`. Files that
packages read are read in forked processes, which may crash: that is an error of gmcr's for the user.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gmcr
from common import Cell, Result, check, measure, parser, report
from forked import forked, read_as_apart
from gmcr.errors import FileError, GMCRError
from gmcr.io.formats import FORMATS, format_of
from gmcr.storage import read_model, write_model
from made_files import write_all
from model_files import LEARNED, use, write_models
from mutations import altered, changed_arrays, changed_header, damaged
from odd_files import odd_file

MODELS = "model files"
OWN, APART = 500, 50  # files of a seed
SEEDS = 40
ASKED = {True: 20_000, False: 2_000}  # of each kind, by whether gmcr parses it
SECONDS, OF_MODELS = 5.0, 60.0  # of the processor, that a file of a few kilobytes may take
REPORTS = 50  # uses of a model, of which one also makes a report

Rng = np.random.Generator


class TooSlow(Exception):
    pass


def is_own(row: str) -> bool:
    return row == MODELS or not FORMATS[row].apart


class Files:
    """Valid files in a folder, and one for what becomes of them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.target = folder, folder / "changed"
        valid, models = folder / "valid", folder / "models"
        for made in (valid, models, self.target):
            made.mkdir()
        self.valid = write_all(valid)
        self.samples = write_models(models)
        self.stored = {
            name: ((models / name).read_bytes(), *read_model(models / name)) for name in self.samples
        }

    def changed(self, row: str, turn: int, rng: Rng) -> Path:
        """A file of this format that nobody should be surprised to see refused."""
        if turn % 3 == 2:
            return odd_file(row, self.target, rng)
        of_format = [path for path in self.valid if format_of(path) == row]
        path = of_format[rng.integers(len(of_format))]
        change = altered if turn % 3 else damaged
        (self.target / path.name).write_bytes(change(path.read_bytes(), rng))
        return self.target / path.name

    def changed_model(self, turn: int, rng: Rng) -> Path:
        """A model file: its bytes, which its checksum tells, or its content under a checksum that holds."""
        name = list(self.samples)[rng.integers(len(self.samples))]
        content, arrays, header = self.stored[name]
        path = self.target / name
        if turn % 5 == 0:
            path.write_bytes((altered if rng.random() < 0.5 else damaged)(content, rng))
            return path
        if rng.random() < 0.6:
            header = changed_header(header, rng)
        if rng.random() < 0.5:
            arrays = changed_arrays(arrays, rng)
        write_model(path, arrays, header)
        return path

    def use_model(self, path: Path, turn: int) -> None:
        whole = path.name in LEARNED and turn % REPORTS == 0
        use(path, self.samples[path.name], self.folder, whole=whole)


def run_with(files: Files, keep: Path, share: float) -> Callable[[Cell], Result]:
    def run(cell: Cell) -> Result:
        row, seed = cell["row"], cell["seed"]
        rng = np.random.default_rng([seed, *row.encode()])
        counts: Counter[str] = Counter()
        why = []
        for turn in range(max(6, int(share * (OWN if is_own(row) else APART)))):
            path = files.changed_model(turn, rng) if row == MODELS else files.changed(row, turn, rng)
            outcome, reason = outcome_of(row, path, files, turn)
            counts[outcome] += 1
            if outcome == "failed":
                keep.mkdir(exist_ok=True)
                kept = keep / f"{seed}-{turn}-{path.name}"
                kept.write_bytes(path.read_bytes())
                why.append(f"{kept.name}: {reason}")
                print(kept, reason, file=sys.stderr)
        return (
            {"files": sum(counts.values())}
            | {of: counts[of] for of in ("read", "refused", "failed")}
            | {"why": why}
        )

    return run


def outcome_of(row: str, path: Path, files: Files, turn: int) -> tuple[str, str]:
    """read, refused or failed, and why it failed."""
    if row == MODELS:
        call, seconds = partial(files.use_model, path, turn), OF_MODELS
    else:
        call, seconds = partial(gmcr.read if is_own(row) else read_forked, path), SECONDS
    try:
        limited(call, seconds)
    except GMCRError as error:
        return ("refused", "") if str(error).strip() else ("failed", "an empty message")
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"[:200]
    return "read", ""


def limited(call: Callable[[], Any], seconds: float) -> None:
    """The call, ended once it has had so many seconds of the processor."""

    def end(*_: object) -> None:
        raise TooSlow(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        call()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def read_forked(path: Path) -> None:
    """Read in a forked process with limits; a crash there is what `read_apart` turns into an error."""
    error = forked(read_as_apart, path).error
    if error is not None:
        raise FileError(str(error)) if "it ended with status" in str(error) else error


def main() -> None:
    arguments = parser(__doc__ or "", "fuzz")
    arguments.add_argument("--keep", type=Path, default=Path("fuzz_failures"), help="folder for what failed")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    seeds = given.seeds or range(1 if given.smoke else SEEDS)
    # All kinds of a seed in turn, so that a run that is ended early has seen them all.
    cells = [{"row": row, "seed": seed} for seed in seeds for row in (*FORMATS, MODELS)]
    with tempfile.TemporaryDirectory() as folder:
        runs = measure(cells, run_with(Files(Path(folder)), given.keep, 0.02 if given.smoke else 1.0), given)
    counted = ("files", "read", "refused", "failed")
    lines = [
        {"kind": row, "parsed by": "gmcr" if is_own(row) else FORMATS[row].package}
        | {of: int(group[of].sum()) for of in counted}
        for row, group in runs.table.groupby("row", sort=False)
    ]
    met = [
        check(f"{line['kind']}: files", line["files"], ">=", ASKED[is_own(line["kind"])], "{:d}")
        for line in lines
    ] + [
        check(
            "other errors than gmcr's, and files that took too long",
            runs.table["failed"].sum(),
            "<=",
            0,
            "{:d}",
        )
    ]
    report([lines, met], runs, given)


if __name__ == "__main__":
    main()
