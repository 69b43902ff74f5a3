"""What runs have come to, finished or not: records and small logs from the folders of their states."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from gmcr.eb.checkpoints import Bands, Checkpoint
from gmcr.eb.log import HISTORY_FILE, MARGINS_FILE
from gmcr.eb.states import STATE_FILE
from gmcr_paper.long.plan import REAL, LongRun
from gmcr_paper.long.work import DONE, LOG, MADE, SECONDS, estimator
from gmcr_paper.results import LONG, Record, Results
from gmcr_paper.running import Outcome
from gmcr_paper.studies.energy import energy_result
from gmcr_paper.studies.real import energy_outcome
from gmcr_paper.studies.sets import load
from gmcr_paper.studies.synthetic import mixtures

LOOKS, LEAST = (
    75,
    200,
)  # how often, over the plan's epochs, the course is told; epochs between two looks at least


def standing(runs: Sequence[LongRun], states: Path) -> list[str]:
    """Where every run stands, a line each."""
    return [f"{run.name:28} {_stands(run, states / run.name)}" for run in runs]


def _stands(run: LongRun, folder: Path) -> str:
    line = last_line(folder)
    if not line:
        return "not begun"
    end = " (finished)" if (folder / DONE).exists() else ""
    return (
        f"epoch {line['epoch']} of {run.settings['epochs']}{end}, {line['count']} components, "
        f"usage {line['usage']}, R² {line['r2']}, energy {line['mean_energy']}, "
        f"{float(line[SECONDS]) / 3600:.2f} hours of one core"
    )


def last_line(folder: Path) -> dict[str, str]:
    """The last whole line of a run's log, by column; empty where there is none."""
    if not (folder / LOG).exists():
        return {}
    names, *lines = [line.split(",") for line in (folder / LOG).read_text(encoding="utf-8").splitlines()] or [
        []
    ]
    whole = [line for line in lines if len(line) == len(names)]
    return dict(zip(names, whole[-1])) if whole else {}


def collect(runs: Sequence[LongRun], states: Path, results: Path, data: Path | None) -> Iterator[str]:
    """Keep a record and the log of every run that has a state; a line for each."""
    kept = Results(results)
    for run in runs:
        folder = states / run.name
        if not (folder / STATE_FILE).exists():
            yield f"{run.name}: no state yet"
            continue
        record, outcome = _read(run, folder, data)
        kept.put(run.name, record, outcome.arrays)
        shutil.copyfile(folder / LOG, results / LONG / f"{run.name}.csv")
        yield f"{run.name}: {_stands(run, folder)}"


def _read(run: LongRun, folder: Path, data: Path | None) -> tuple[Record, Outcome]:
    seed = run.settings["seed"]
    with snapshot(folder) as (copy, epochs):
        if run.settings["study"] == REAL:
            known = load(run.settings["set"], data)
            model = estimator(run, copy, known.D, epochs).fit(known.D)
            outcome = energy_outcome(model, known, seed)
        else:
            mix = mixtures(run.settings)
            model = estimator(run, copy, mix.D, epochs).fit(mix.D)
            outcome = Outcome(energy_result(model, mix))
    seconds = float(last_line(folder)[SECONDS])
    result = outcome.result | {
        "fit_seconds": seconds,
        "finished": (folder / DONE).exists(),
        "course": course(model.history_, model.lowest_band, max(LEAST, run.settings["epochs"] // LOOKS)),
    }
    made = json.loads((folder / MADE).read_text(encoding="utf-8"))
    return Record(run.settings, result, seconds, versions=made["versions"], machine=made["machine"]), outcome


@contextmanager
def snapshot(folder: Path) -> Iterator[tuple[Path, int]]:
    """Within this, a copy of a run's files as its last state has them, and its epochs.

    The run may go on meanwhile: files that are never changed in place are linked, the others copied.
    """
    with TemporaryDirectory(dir=folder.parent, prefix=".snapshot-") as name:
        copy = Path(name)
        os.link(folder / STATE_FILE, copy / STATE_FILE)
        state = torch.load(copy / STATE_FILE, map_location="cpu", weights_only=True, mmap=True)
        for checkpoint in state["bands"].values():
            os.link(folder / checkpoint["file"], copy / checkpoint["file"])
        for file in (HISTORY_FILE, MARGINS_FILE):
            shutil.copyfile(folder / file, copy / file)
        yield copy, int(state["epoch"])


def course(history: Any, lowest: float, every: int) -> list[dict[str, Any]]:
    """How the run went, every so many epochs: where it stood, and the fewest components of each band so far."""
    bands, looks = Bands(lowest), []
    for row in history.itertuples():
        if bands.wants(row.r2, row.count):
            bands.keep(Checkpoint(row.epoch, row.count, row.r2, row.usage))
        if (row.epoch + 1) % every == 0 or row.epoch + 1 == len(history):
            fewest = {f"{bands.edges(band)[0]:g}": kept.count for band, kept in sorted(bands.kept.items())}
            stood = {name: getattr(row, name) for name in ("count", "usage", "r2", "mean_energy")}
            looks.append({"epoch": row.epoch + 1, "fewest": fewest} | stood)
    return looks
