"""The files of a run in a folder: its state, from which it goes on as if nothing had been, and its checkpoints.

A checkpoint is in a file of its own, named by band and epoch, and written once; the state names those that belong
to it. Every file is written whole or not at all, the state last, so that a run may be killed at any moment.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gmcr.eb.checkpoints import Checkpoint
from gmcr.eb.log import FolderLog
from gmcr.eb.settings import Settings
from gmcr.errors import FileError

if TYPE_CHECKING:
    from gmcr.eb.training import Run

STATE_FILE = "state.pt"
CHECKPOINTS = "band-*.pt"
REACHED = ("epoch", "usage_weight", "slot_weight", "ended")  # what a run has come to, beside its networks
TOLD = (
    "epoch",
    "entered",
    "oscillated",
    "energy_sum",
)  # what the termination rule has seen, beside the last epochs


def save(run: Run, X: Tensor, log: FolderLog) -> None:
    """Write the run's whole state: checkpoints that are new, then the state, then remove what nothing names."""
    folder = log.folder
    files = {band: _file(band, kept) for band, kept in run.bands.kept.items()}
    for band, kept in run.bands.kept.items():
        if not (folder / files[band]).exists():
            _write(kept.tensors, folder / files[band])
    state = _given(run, X) | {name: getattr(run, name) for name in REACHED}
    state |= {
        "model": run.model.state_dict(),
        "optimiser": run.optimiser.state_dict(),
        "random": run.random.get_state(),
        "order": run.order.get_state(),
        "termination": {name: getattr(run.termination, name) for name in TOLD},
        "recent": list(run.termination.recent),
        "bands": {band: kept.facts() | {"file": files[band]} for band, kept in run.bands.kept.items()},
        "place": log.place(),
    }
    _write(state, folder / STATE_FILE)
    _remove_others(folder, set(files.values()))


def resume(run: Run, X: Tensor, log: FolderLog) -> None:
    """Put a run at its beginning into the state that its folder holds for the same data and settings, if any."""
    folder, path = log.folder, log.folder / STATE_FILE
    if not path.exists():
        log.back_to(0, 0)
        _remove_others(folder, set())
        return
    try:
        state = _read(path)
        state["settings"] = Settings(**(state["settings"] | {"betas": tuple(state["settings"]["betas"])}))
        given = _given(run, X) | {"settings": run.settings}
        same = all(state[name] == value for name, value in given.items())
    except Exception as error:
        raise FileError(
            f"{path} is not the state of a run ({type(error).__name__}); remove it to start anew."
        ) from error
    if not same:
        raise FileError(f"{path} belongs to a run with other data or settings; choose another folder.")
    for name in REACHED:
        setattr(run, name, state.get(name, getattr(run, name)))
    run.model.load_state_dict(state["model"])
    run.optimiser.load_state_dict(state["optimiser"])
    run.random.set_state(state["random"])
    run.order.set_state(state["order"])
    for name, value in state["termination"].items():
        setattr(run.termination, name, value)
    run.termination.recent.clear()
    run.termination.recent.extend(state["recent"])
    for band, facts in state["bands"].items():
        tensors = _checkpoint(folder / facts.pop("file"))
        run.bands.kept[band] = Checkpoint(**facts, tensors=tensors)
    log.back_to(state["place"], run.epoch)


def _file(band: int, kept: Checkpoint) -> str:
    return f"band-{band}-{kept.epoch}.pt"


def _checkpoint(path: Path) -> dict[str, Tensor]:
    try:
        return _read(path)
    except Exception as error:
        raise FileError(f"{path} is not a checkpoint of this run ({type(error).__name__}).") from error


def _read(path: Path) -> dict[str, Any]:
    return torch.load(path, map_location="cpu", weights_only=True)


def _write(content: dict[str, Any], path: Path) -> None:
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        torch.save(content, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _remove_others(folder: Path, names: set[str]) -> None:
    for path in folder.glob(CHECKPOINTS):
        if path.name not in names:
            path.unlink()


def _given(run: Run, X: Tensor) -> dict[str, Any]:
    """What a run is given; of the data, enough to tell whether they are the same."""
    values = X.detach().double().cpu()
    weights = torch.linspace(1.0, 2.0, values.numel(), dtype=torch.float64)
    return {
        "data": [*map(float, values.shape), float(values.sum()), float(values.flatten() @ weights)],
        "settings": asdict(run.settings),
        "pool_size": run.model.n_slots,
        "signed": run.model.signed,
        "usage_schedule": run.usage_schedule,
        "lowest_band": run.bands.lowest,
    }
