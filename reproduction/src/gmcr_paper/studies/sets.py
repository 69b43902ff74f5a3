"""Carbs and NIR, from a folder of the user's or as their authors publish them: gmcr ships no data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gmcr import datasets
from gmcr.errors import FileError, InputError
from gmcr.io.datasets import FOLDER_VARIABLE
from gmcr.validation import FloatArray

ORIGINAL = {"carbs": datasets.CARBS.name, "nir": datasets.NIR.name}
TRUE_COUNT = {"carbs": 3, "nir": 2}
LABEL = {"carbs": "Carbs", "nir": "NIR"}


@dataclass(frozen=True, eq=False)
class RealSet:
    """Samples and what is known of them.

    D : (samples, channels); C : (samples, components) reference concentrations
    S : (components, channels) reference profiles, None where they are not known
    axis : (channels,) positions; labels : names of the references
    signed : whether samples have both signs (derivative spectra)
    """

    D: FloatArray
    C: FloatArray
    S: FloatArray | None
    axis: FloatArray
    labels: tuple[str, ...]
    signed: bool


def load(name: str, folder: Path | None = None) -> RealSet:
    """A set from `folder`, or from the folder that GMCR_DATA names; else from `gmcr.datasets`, which fetches it.

    A folder holds NAME.npz with D, C, S, axis and labels, or the original file, itself or in originals/.
    """
    if name not in TRUE_COUNT:
        raise InputError(f"there is no set {name!r}; there are: {', '.join(TRUE_COUNT)}.")
    if folder is None and os.environ.get(FOLDER_VARIABLE):
        folder = Path(os.environ[FOLDER_VARIABLE])
    if folder is None:
        return _original(name)
    path = folder / f"{name}.npz"
    if path.exists():
        return _arrays(path)
    for place in (folder, folder / "originals"):
        if (place / ORIGINAL[name]).exists():
            with _pointing_at(place):
                return _original(name)
    raise FileError(
        f"{folder} holds neither {path.name} nor {ORIGINAL[name]}; name the folder of the data with --data."
    )


def _arrays(path: Path) -> RealSet:
    with np.load(path, allow_pickle=False) as file:
        D, C, S = file["D"], file["C"], file["S"]
        labels = tuple(str(label) for label in file["labels"])
        return RealSet(D, C, S if S.size else None, file["axis"], labels, bool((D < 0).any()))


def _original(name: str) -> RealSet:
    found = {"carbs": datasets.load_carbs, "nir": datasets.load_nir}[name]()
    return RealSet(found.D, found.C, found.S, found.axis, found.labels, found.signed)


@contextmanager
def _pointing_at(folder: Path) -> Iterator[None]:
    """Within this, `gmcr.io.datasets` reads from the folder."""
    before = os.environ.get(FOLDER_VARIABLE)
    os.environ[FOLDER_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[FOLDER_VARIABLE]
        else:
            os.environ[FOLDER_VARIABLE] = before
