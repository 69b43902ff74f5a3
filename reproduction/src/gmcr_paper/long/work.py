"""Training one run in a folder of its own, and the worker that takes one run after the other."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

from gmcr.validation import FloatArray
from gmcr_paper.long.plan import REAL, LongRun
from gmcr_paper.results import machine, versions
from gmcr_paper.studies.energy import LOWEST as LOWEST_SYNTHETIC
from gmcr_paper.studies.real import LOWEST as LOWEST_REAL
from gmcr_paper.studies.sets import load
from gmcr_paper.studies.synthetic import mixtures

LOG, MADE, DONE, LOCK = "log.csv", "made.json", "done.json", "lock"
COLUMNS = {
    "epoch": "{:d}",
    "nmse": "{:.3e}",
    "r2": "{:.5f}",
    "count": "{:d}",
    "usage": "{:d}",
    "single_users": "{:d}",
    "mean_energy": "{:.4f}",
    "usage_weight": "{:.3e}",
    "temperature": "{:.2f}",
    "smallest_margin": "{:.1e}",
}
SECONDS = "seconds"  # the log's last column: processor seconds so far, over all sittings


def samples(run: LongRun, data: Path | None) -> FloatArray:
    """The data of a run; data : folder of the real sets."""
    if run.settings["study"] == REAL:
        return load(run.settings["set"], data).D
    return mixtures(run.settings).D


def estimator(run: LongRun, folder: Path, D: FloatArray, epochs: int | None = None, **more: Any) -> Any:
    """EB-gMCR as the run has it; where the folder holds its state, fitting goes on from there."""
    from gmcr.eb.settings import Settings
    from gmcr.estimators.eb import EBgMCR

    real = run.settings["study"] == REAL
    return EBgMCR(
        run.settings["pool"],
        epochs or run.settings["epochs"],
        device="cpu",
        random_state=run.settings["seed"],
        signed=bool((D < 0).any()),
        lowest_band=LOWEST_REAL if real else LOWEST_SYNTHETIC,
        usage=run.usage,
        folder=folder,
        save_every=run.save_every,
        settings=replace(Settings(), **run.constants),
        **more,
    )


def work(runs: Sequence[LongRun], states: Path, data: Path | None) -> None:
    """Do the runs that are neither finished nor in another worker's hands, one after the other."""
    import torch

    torch.set_num_threads(1)
    for run in runs:
        folder = states / run.name
        with claimed(folder) as mine:
            if mine and not (folder / DONE).exists():
                train(run, folder, data)


def train(run: LongRun, folder: Path, data: Path | None) -> None:
    """Train to the end, from where the folder's state stands."""
    D = samples(run, data)
    made = {"versions": versions(), "machine": machine()}
    (folder / MADE).write_text(json.dumps(made) + "\n", encoding="utf-8")
    with (folder / LOG).open("a+", encoding="utf-8") as log:
        before: dict[str, float] = {}

        def tell(row: Any) -> None:
            if not before:
                before["seconds"], before["clock"] = _rewind(log, int(row.epoch)), process_time()
            if int(row.epoch) % run.log_every == 0:
                seconds = before["seconds"] + process_time() - before["clock"]
                cells = [form.format(getattr(row, name)) for name, form in COLUMNS.items()]
                log.write(",".join([*cells, f"{seconds:.0f}"]) + "\n")
                log.flush()

        model = estimator(run, folder, D, callback=tell).fit(D)
    if model.n_epochs_ < run.settings["epochs"] and not model.terminated_:
        raise KeyboardInterrupt  # the state is saved, and the run is not finished
    done = {"epochs": model.n_epochs_, "terminated": bool(model.terminated_)}
    (folder / DONE).write_text(json.dumps(done) + "\n", encoding="utf-8")


def _rewind(log: Any, epoch: int) -> float:
    """Leave the log's lines before this epoch, from which the run goes on; the seconds they tell of."""
    log.seek(0)
    lines = [line for line in log.read().splitlines()[1:] if line.count(",") == len(COLUMNS)]
    kept = [line for line in lines if int(line.split(",")[0]) < epoch]
    log.seek(0)
    log.truncate()
    log.write("\n".join([",".join([*COLUMNS, SECONDS]), *kept]) + "\n")
    return float(kept[-1].split(",")[-1]) if kept else 0.0


@contextmanager
def claimed(folder: Path) -> Iterator[bool]:
    """Within this, no other worker has the folder; whether it could be had. A worker that dies lets go."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
