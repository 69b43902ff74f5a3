"""`RunFolder`: what a run folder holds, and how its files are written as one and read."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, GMCRError, InputError
from gmcr.estimators.window import GMCR
from gmcr.files import Staged, as_bytes, awaited, changed_together, finish, write_whole
from gmcr.io.arrays import write_arrays
from gmcr.io.csv import unescaped, write_csv
from gmcr.io.opening import read_bytes
from gmcr.io.reading import MODEL
from gmcr.io.table import Table
from gmcr.preprocessing import Chain
from gmcr.reporting.collect import collect
from gmcr.reporting.contents import Contents, LibraryMatch
from gmcr.reporting.files import draw_figures, figure_names
from gmcr.reporting.kept import load_contents, save_contents
from gmcr.reporting.page import render
from gmcr.runs.tables import TABLES, summary, tables_of
from gmcr.runs.workbook import WORKBOOK, rename_in_tables, write_workbook
from gmcr.storage import read_model

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR  # needs torch

MANIFEST = "manifest.json"  # the names of all files that belong to the run
RUN_MODEL = "model.gmcr"
SUMMARY = "summary.txt"
REPORT = "report.html"
FACTS = "report.gmcr"  # what the report shows beside the model, to make it anew without the data
FIGURES = "figures"
MAPS = "maps.npz"
NAMES = "matches.csv"  # of the components
CHECKPOINT = "checkpoint.gmcr"  # what the window solver has found out so far
TRAINING = "training"  # the state of the paper's solver
OWN = (
    RUN_MODEL,
    SUMMARY,
    REPORT,
    FACTS,
    MAPS,
    NAMES,
    WORKBOOK,
    *TABLES,
)  # a run's, whether a manifest says so or not
OF_A_RUN = re.compile(rf"report_\d+\.html|{FIGURES}/[^/]+\.(svg|png)")  # beside OWN, if a manifest lists it
OF_THE_FIT = ("source", "warnings", "reproduce")  # facts that only who fitted can tell


class RunFolder:
    """A run in a folder: where its files are, and how they are written and read.

    The files of a run change as one: whenever a process that writes them is killed, the folder holds the run that
    was there or the new one. Other files in the folder are left alone. What is read is of one run: if another
    process changes it meanwhile, that is an error, and what was made of the old run is not put beside the new.

    path : the folder; name : of the model file in it
    """

    def __init__(self, path: Path, name: str = RUN_MODEL) -> None:
        finish(path)
        self.path = path
        self.model = path / name
        self.report = path / REPORT
        self.names = path / NAMES
        self.checkpoint = path / CHECKPOINT
        self.training = path / TRAINING
        self._facts = path / FACTS
        self._seen = self._state()

    @classmethod
    def at(cls, path: Path) -> RunFolder:
        """The run at a path: a run folder, or a model file by itself or in its run folder."""
        if not path.is_dir():
            return cls(path.parent, path.name)
        run = cls(path)
        if not run.model.exists():
            raise InputError(f"{path} is no run folder: there is no {RUN_MODEL} in it.")
        return run

    # Writing

    def taken(self) -> str:
        """A file of a finished run that is in the folder, or nothing; a run that was ended early can go on."""
        names = [] if self.checkpoint.exists() else [RUN_MODEL, *TABLES, SUMMARY, REPORT]
        return next((name for name in names if (self.path / name).exists()), "")

    def begin_anew(self) -> None:
        """Let no run go on from what an earlier one has left."""
        self.checkpoint.unlink(missing_ok=True)
        rmtree(self.training, ignore_errors=True)

    @contextmanager
    def made(self) -> Iterator[None]:
        """The folder, made if need be; if what is done within fails, one that is new and empty goes again."""
        existed = self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.path} could not be made: {error.strerror or error}.") from error
        try:
            yield
        except BaseException:
            if not existed:
                with suppress(OSError):  # holds a checkpoint
                    self.path.rmdir()
            raise

    def write(
        self,
        model: GMCR | EBgMCR,
        table: Table,
        *,
        source: str,
        warned: Sequence[str] = (),
        reproduce: dict[str, str] | None = None,
        fixed: Sequence[str] = (),
    ) -> tuple[list[str], Contents]:
        """Write a fitted run in place of any that is there; the names of the files, and what the report shows.

        table : the samples that were fitted; source : the name of their file
        warned : what the solver warned of; reproduce : what it takes to do it again
        fixed : names of the components whose profiles were known
        """
        found = model.decomposition_
        if isinstance(model, GMCR):
            with suppress(GMCRError, np.linalg.LinAlgError, KeyboardInterrupt):  # the report tells
                model.learn_confidence()
        contents = collect(
            found,
            table,
            model=model,
            decoding=getattr(model, "decoding_", None),
            source=source,
            warned=warned,
            reproduce=reproduce,
            names=_told_apart({j: LibraryMatch(name, "fixed", "", None) for j, name in enumerate(fixed)}),
        )
        after, pages = model.prepared(table), _pages(contents)
        with self._changed(anew=True) as staged:
            if fixed:
                rows = ((j, name, "fixed") for j, name in enumerate(fixed))
                write_csv(staged.path / NAMES, ["component", "name", "verdict"], rows)
            for name, (header, lines) in tables_of(model, after).items():
                write_csv(staged.path / name, header, lines)
            write_workbook(staged.path)
            if after.pixels is not None:
                write_arrays(
                    staged.path / MAPS, concentrations=np.asarray(after.refold(found.concentrations))
                )
            write_whole(staged.path / SUMMARY, as_bytes(summary(model, table, source, warned)))
            (model if isinstance(model, GMCR) else found).save(staged.path / RUN_MODEL)
            _write_report(contents, pages, staged.path)
            if not getattr(model, "interrupted_", False):
                staged.removed.add(CHECKPOINT)
            written = {name.split("/")[0] for name in staged.names()}
        figures = [FIGURES] if FIGURES in written else []  # none without matplotlib
        return [*sorted(written - {FIGURES}, key=_order), *figures], contents

    def report_at(self, count: int | None) -> Path:
        """Where the report goes: that of the run, or of another count."""
        return self.report if count is None else self.report.with_name(f"report_{count}.html")

    def write_report(self, contents: Contents, count: int | None = None) -> None:
        """The report, its figures, and the facts to make it anew; or the page alone, of another count."""
        pages = _pages(contents)
        with self._changed() as staged:
            if count is not None:
                write_whole(staged.path / self.report_at(count).name, pages[REPORT])
                return
            self._stage_report(contents, pages, staged)

    def _stage_report(self, contents: Contents, pages: dict[str, bytes], staged: Staged) -> None:
        """The report in place of the one that is there; figures that it has no more go."""
        _write_report(contents, pages, staged.path)
        staged.removed |= {name for name in self._belonging() if name.startswith(f"{FIGURES}/")}

    def write_names(self, table: pd.DataFrame) -> None:
        """The names of the components, as `matches` reads them."""
        with self._changed() as staged:
            write_csv(staged.path / NAMES, list(table.columns), table.itertuples(index=False))

    def rename(self, names: Mapping[Any, str]) -> tuple[str, ...]:
        """Give components other names, by number or by the name they have, in everything the folder holds."""
        model, before = self.estimator(), self.solution()
        found = before.renamed(names)
        new = {old: name for old, name in zip(before.names, found.names) if old != name}
        # A given name is above one from a library.
        matches = {j: match for j, match in self.matches().items() if found.names[j] not in new.values()}
        contents = None
        if self._facts.exists():
            contents = replace(load_contents(self._facts, found), names=_told_apart(matches))
        pages = {} if contents is None else _pages(contents)
        with self._changed() as staged:
            (found if model is None else model.rename(found.names)).save(staged.path / self.model.name)
            rename_in_tables(self.path, staged.path, new)
            if self.names.exists():
                kept = ((j, one.name, one.verdict, one.hit, one.score) for j, one in matches.items())
                write_csv(staged.path / NAMES, ["component", "name", "verdict", "hit", "hqi"], kept)
            if contents is not None:
                self._stage_report(contents, pages, staged)
        return found.names

    @contextmanager
    def _changed(self, *, anew: bool = False) -> Iterator[Staged]:
        """The run's files, changed as one; anew : whether none of those of the run before stays."""
        with changed_together(self.path) as staged:
            if not anew:
                self._check_unchanged()
            yield staged
            before, new = self._belonging(), set(staged.names())
            if anew:
                staged.removed |= before
            files = sorted((before - staged.removed) | new | {MANIFEST})
            told = {"format": "gmcr run", "format_version": 1, "files": files}
            write_whole(staged.path / MANIFEST, json.dumps(told, indent=1).encode())
        self._seen = self._state()

    def _belonging(self) -> set[str]:
        """The names of the files in the folder that are the run's; older runs have no manifest.

        A manifest may be a stranger's: only what a run can have written is the run's.
        """
        figures = {f"{FIGURES}/{name}" for name in figure_names()}
        try:
            has_one = os.path.lexists(self.path / MANIFEST)
            told = json.loads(read_bytes(self.path / MANIFEST))["files"] if has_one else figures
            elsewhere = (self.path / FIGURES).is_symlink()
            listed = {
                name for name in told if name in figures or (OF_A_RUN.fullmatch(name) and not elsewhere)
            }
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise FileError(f"{self.path / MANIFEST} is damaged; remove it, it is written anew.") from error
        return {name for name in (*OWN, *listed) if (self.path / name).is_file()}

    def _state(self) -> tuple[Any, ...]:
        """What tells one run in the folder from the next; whether one is about to take the place of another."""
        files = [_stamp(self.path / name) for name in (MANIFEST, self.model.name)]
        return (*files, MANIFEST in awaited(self.path))

    def _check_unchanged(self) -> None:
        if self._state() != self._seen:
            raise FileError(f"the run in {self.path} was changed by another process meanwhile; try again.")

    # Reading

    def solution(self) -> Decomposition:
        """What was found."""
        found = Decomposition.load(self.model)
        self._check_unchanged()
        return found

    def chain(self) -> Chain:
        """The steps that samples go through before they meet the run's profiles."""
        stored = read_model(self.model)[1].get("steps") if self.model.suffix.lower() == MODEL else None
        self._check_unchanged()
        return Chain() if stored is None else Chain.of_dict(stored)

    def estimator(self) -> GMCR | None:
        """The window solver's estimator, if the model file holds one."""
        if self.model.suffix.lower() != MODEL or read_model(self.model)[1]["kind"] != GMCR.__name__:
            return None
        model = GMCR.load(self.model)
        self._check_unchanged()
        return model

    def contents(self, table: Table | None = None, source: str = "") -> Contents:
        """What there is to report: collected anew from the samples, else as kept, else what the model tells."""
        found, names = self.solution(), self.matches()
        if table is None and self._facts.exists():
            kept = load_contents(self._facts, found)
            self._check_unchanged()
            return replace(kept, names=names)
        source = source or self.path.name or self.model.name
        contents = collect(found, table, model=self.estimator(), source=source, names=names)
        with suppress(FileError):
            before = load_contents(self._facts, found)
            contents = replace(contents, **{name: getattr(before, name) for name in OF_THE_FIT})
        return contents

    def at_count(self, count: int, table: Table | None, source: str) -> Contents:
        """What there is to report at another count, fitted when it is asked for."""
        model = self.estimator()
        if model is None:
            raise InputError(f"{self.model} holds no GMCR model, which alone can be had at another count.")
        if table is None:
            raise InputError(
                f"{count} components are fitted to the samples that were unmixed, which a run does not hold; "
                f"give them: gmcr report {self.path} DATA --components {count}."
            )
        other = model.at(count, table)
        decoding = getattr(other, "decoding_", None)
        return collect(other.decomposition_, table, model=other, decoding=decoding, source=source)

    def matches(self) -> dict[int, LibraryMatch]:
        """What the table of names says about the components, by number; no two names are the same."""
        try:
            with open(self.names, encoding="utf-8", newline="") as file:
                found = {int(row["component"]): _match(row) for row in csv.DictReader(file)}
        except FileNotFoundError:
            found = {}
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise FileError(f"{self.names} is damaged; gmcr match writes it anew.") from error
        self._check_unchanged()
        return _told_apart(found)


def _stamp(path: Path) -> tuple[int, int] | None:
    """What tells a file from one that was put in its place; None if there is none that can be read."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _pages(contents: Contents) -> dict[str, bytes]:
    """The report's page and figures, by the names of their files."""
    drawn = {f"{FIGURES}/{name}": content for name, content in draw_figures(contents).items()}
    return {REPORT: as_bytes(render(contents))} | drawn


def _write_report(contents: Contents, pages: dict[str, bytes], folder: Path) -> None:
    """What was drawn, and the facts to make it anew."""
    save_contents(contents, folder / FACTS)
    for name, content in pages.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_whole(folder / name, content)


def _order(name: str) -> int:
    """Where a file stands in what is told: tables, summary, model, report."""
    order = [NAMES, *TABLES, WORKBOOK, MAPS, SUMMARY, RUN_MODEL, FACTS, REPORT]
    return order.index(name) if name in order else len(order)


def _told_apart(found: dict[int, LibraryMatch]) -> dict[int, LibraryMatch]:
    """No two names are the same."""
    given = [match.name for match in found.values() if match.name]
    twice = {name for name in given if given.count(name) > 1}
    return {
        j: replace(match, name=f"{match.name} ({j})") if match.name in twice else match
        for j, match in found.items()
    }


def _match(row: dict[str, str]) -> LibraryMatch:
    score = float(row["hqi"]) if row.get("hqi") else None
    return LibraryMatch(
        unescaped(row["name"]), row.get("verdict") or "", unescaped(row.get("hit") or ""), score
    )
