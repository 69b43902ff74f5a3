"""`RunFolder`: what a run folder holds. Nothing else knows its files by name; commands and the app ask here."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import numpy as np

from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, GMCRError, InputError
from gmcr.estimators.window import GMCR
from gmcr.io.arrays import write_arrays
from gmcr.io.csv import unescaped, write_csv
from gmcr.io.reading import MODEL
from gmcr.io.table import Table
from gmcr.preprocessing import Chain
from gmcr.reporting.collect import collect
from gmcr.reporting.contents import Contents, LibraryMatch
from gmcr.reporting.files import write_figures
from gmcr.reporting.kept import load_contents, save_contents
from gmcr.reporting.page import write_report
from gmcr.run_tables import (
    AMOUNTS,
    TABLES,
    WORKBOOK,
    common_tables,
    own_tables,
    rename_in_tables,
    write_workbook,
)
from gmcr.storage import read_model, write_whole

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR  # needs torch

RUN_MODEL = "model.gmcr"  # written last, so that with it the run is complete
SUMMARY = "summary.txt"
REPORT = "report.html"
FACTS = "report.gmcr"  # what the report shows beside the model, to make it anew without the data
FIGURES = "figures"
MAPS = "maps.npz"
NAMES = "matches.csv"  # of the components
CHECKPOINT = "checkpoint.gmcr"  # the best so far, while the window solver runs
TRAINING = "training"  # the state of the paper's solver
OF_THE_FIT = ("source", "warnings", "reproduce")  # facts that only who fitted can tell


class RunFolder:
    """A run in a folder: where its files are, and how they are written and read.

    path : the folder; name : of the model file in it
    """

    def __init__(self, path: Path, name: str = RUN_MODEL) -> None:
        self.path = path
        self.model = path / name
        self.report = path / REPORT
        self.names = path / NAMES
        self.checkpoint = path / CHECKPOINT
        self.training = path / TRAINING
        self._facts = path / FACTS

    @classmethod
    def at(cls, path: Path) -> RunFolder:
        """The run at a path: a run folder, or a model file by itself or in its run folder."""
        if not path.is_dir():
            return cls(path.parent, path.name)
        if not (path / RUN_MODEL).exists():
            raise InputError(f"{path} is no run folder: there is no {RUN_MODEL} in it.")
        return cls(path)

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
        """Write a fitted run, each file whole or not at all; the names of the files, and what the report shows.

        table : the samples that were fitted; source : the name of their file
        warned : what the solver warned of; reproduce : what it takes to do it again
        fixed : names of the components whose profiles were known
        """
        found, raw = model.decomposition_, table
        table = model.prepared(raw)
        for name in (RUN_MODEL, REPORT, FACTS, MAPS, NAMES, AMOUNTS, WORKBOOK):  # none of another run stays
            (self.path / name).unlink(missing_ok=True)
        written = []
        if fixed:
            rows = ((j, name, "fixed") for j, name in enumerate(fixed))
            write_csv(self.names, ["component", "name", "verdict"], rows)
            written.append(NAMES)
        for name, (header, rows) in (common_tables(found, table) | own_tables(model, table)).items():
            write_csv(self.path / name, header, rows)
            written.append(name)
        write_workbook(self.path, [name for name in written if name != NAMES])
        written.append(WORKBOOK)
        if table.pixels is not None:
            write_arrays(self.path / MAPS, concentrations=np.asarray(table.refold(found.concentrations)))
            written.append(MAPS)
        bands = [] if isinstance(model, GMCR) else [repr(band) for band in model.bands_]
        known = getattr(model, "calibration_", None)
        amounts = [] if known is None else ["", str(known)]
        found_in_short = in_short(model), *bands, *amounts, "", str(found), ""
        summary = [source, *raw.notes, *model.chain_.did, *warned, "", *found_in_short]
        write_whole(self.path / SUMMARY, "\n".join(summary).encode())
        if isinstance(model, GMCR):
            with suppress(GMCRError, np.linalg.LinAlgError, KeyboardInterrupt):  # the report tells
                model.learn_confidence()
        (model if isinstance(model, GMCR) else found).save(self.model)
        contents = collect(
            found,
            raw,
            model=model,
            decoding=getattr(model, "decoding_", None),
            source=source,
            warned=warned,
            reproduce=reproduce,
            names=self.matches(),
        )
        return [*written, SUMMARY, RUN_MODEL, *self.write_report(contents)], contents

    def write_report(self, contents: Contents) -> list[str]:
        """The report, its figures, and the facts to make it anew; returns the names of the files."""
        save_contents(contents, self._facts)
        write_report(contents, self.report)
        write_figures(contents, self.path / FIGURES)
        return [FACTS, FIGURES, REPORT]

    def rename(self, names: Mapping[Any, str]) -> tuple[str, ...]:
        """Give components other names, by number or by the name they have, in everything the folder holds."""
        model = self.estimator()
        before = self.solution()
        found = before.renamed(names)
        new = {old: name for old, name in zip(before.names, found.names) if old != name}
        (found if model is None else model.rename(found.names)).save(self.model)
        rename_in_tables(self.path, new)
        matches = {j: match for j, match in self.matches().items() if found.names[j] not in new.values()}
        if self.names.exists():  # a given name is above one from a library
            kept = ((j, one.name, one.verdict, one.hit, one.score) for j, one in matches.items())
            write_csv(self.names, ["component", "name", "verdict", "hit", "hqi"], kept)
        if self._facts.exists():
            self.write_report(self.contents())
        return found.names

    # Reading

    def solution(self) -> Decomposition:
        """What was found."""
        return Decomposition.load(self.model)

    def chain(self) -> Chain:
        """The steps that samples go through before they meet the run's profiles."""
        stored = read_model(self.model)[1].get("steps") if self.model.suffix.lower() == MODEL else None
        return Chain() if stored is None else Chain.of_dict(stored)

    def estimator(self) -> GMCR | None:
        """The window solver's estimator, if the model file holds one."""
        if self.model.suffix.lower() != MODEL or read_model(self.model)[1]["kind"] != GMCR.__name__:
            return None
        return GMCR.load(self.model)

    def contents(self, table: Table | None = None, source: str = "") -> Contents:
        """What there is to report: collected anew from the samples, else as kept, else what the model tells."""
        found, names = self.solution(), self.matches()
        if table is None and self._facts.exists():
            return replace(load_contents(self._facts, found), names=names)
        source = source or self.path.name or self.model.name
        contents = collect(found, table, model=self.estimator(), source=source, names=names)
        with suppress(FileError):
            before = load_contents(self._facts, found)
            contents = replace(contents, **{name: getattr(before, name) for name in OF_THE_FIT})
        return contents

    def at_count(self, count: int, table: Table | None, source: str) -> tuple[Contents, Path]:
        """What there is to report at another count, fitted when it is asked for, and where its report goes."""
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
        contents = collect(other.decomposition_, table, model=other, decoding=decoding, source=source)
        return contents, self.report.with_name(f"report_{count}.html")

    def matches(self) -> dict[int, LibraryMatch]:
        """What the table of names says about the components, by number; no two names are the same."""
        try:
            with open(self.names, encoding="utf-8", newline="") as file:
                found = {int(row["component"]): _match(row) for row in csv.DictReader(file)}
        except FileNotFoundError:
            return {}
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise FileError(f"{self.names} is damaged; gmcr match writes it anew.") from error
        given = [match.name for match in found.values() if match.name]
        twice = {name for name in given if given.count(name) > 1}
        return {
            j: replace(match, name=f"{match.name} ({j})") if match.name in twice else match
            for j, match in found.items()
        }


def in_short(model: GMCR | EBgMCR) -> str:
    """What came out, in a few lines."""
    if isinstance(model, GMCR):
        found, law = model.decomposition_, model.noise_law_
        return (
            f"{model.count_}\nNoise: {law.sentence()}{model.noise_correlation_.sentence()}. "
            f"R² {found.fit['r2']:.6f}. "
            f"{found.usage} selections in {found.n_samples} samples."
            + ("" if model.rates_ is None else f"\nRate constants:\n{model.rates_}")
        )
    end = "ended by the termination rule" if model.terminated_ else "not ended by the termination rule"
    last = model.history_.iloc[-1]
    text = (
        f"{model.n_epochs_} epochs, {end}; final state: {last['count']:.0f} components, R² {last['r2']:.4f}, "
        f"{last['usage']:.0f} selections, {last['single_users']:.0f} slots used by one sample."
    )
    if not model.bands_:
        return f"{text} No band of R² was entered; the final state is what was written."
    return f"{text} Written: the checkpoint with the fewest components, {model.n_components_}."


def _match(row: dict[str, str]) -> LibraryMatch:
    score = float(row["hqi"]) if row.get("hqi") else None
    return LibraryMatch(
        unescaped(row["name"]), row.get("verdict") or "", unescaped(row.get("hit") or ""), score
    )
