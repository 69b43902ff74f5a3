"""One way in for every format: the reader is chosen by the file's extension."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gmcr.errors import FileError, InputError
from gmcr.io.arrays import POOL, SAMPLES, read_arrays
from gmcr.io.csv import read_csv
from gmcr.io.table import Table
from gmcr.noise import KINDS, NoiseLaw
from gmcr.validation import FloatArray

TEXT = (".csv", ".tsv", ".txt", ".dat", ".asc", ".prn")
ARRAYS = (".npy", ".npz")
MODEL = ".gmcr"


@dataclass(frozen=True, eq=False)
class Pool:
    """Profiles to decode with, from a model file or from a table of profiles.

    Attributes
    ----------
    profiles : (slots, channels)
    names : one per slot
    axis : (channels,) position of each channel, where the file tells
    noise : the noise law learned with the profiles, if there is one
    signed : whether concentrations may be negative
    """

    profiles: FloatArray
    names: tuple[str, ...]
    axis: FloatArray | None = None
    noise: NoiseLaw | None = None
    signed: bool = False


def read_table(
    path: str | os.PathLike[str], *, samples_in: str = "auto", names: tuple[str, ...] = SAMPLES
) -> Table:
    """Read samples from a data file.

    Parameters
    ----------
    path : a text table or one of numpy's files
    samples_in : "rows", "columns" or "auto"; for text tables
    names : what the samples may be called in an .npz file
    """
    suffix = Path(path).suffix.lower()
    if suffix in ARRAYS:
        return read_arrays(path, names)
    if suffix in TEXT:
        return read_csv(path, samples_in=samples_in)
    if suffix == MODEL:
        raise FileError(f"{path} is a model file, not a data file; give a table of samples.")
    raise FileError(f"{path} has no extension gmcr reads; give a file ending in {', '.join(TEXT + ARRAYS)}.")


def read_pool(path: str | os.PathLike[str]) -> Pool:
    """Read the profiles of a model file, or a table with one profile per row."""
    if Path(path).suffix.lower() != MODEL:
        table = read_table(path, names=POOL)
        return Pool(table.samples, table.sample_names or _numbered(len(table.samples)), table.axis)
    from gmcr.decomposition import Decomposition

    model = Decomposition.load(path)
    law = model.noise_law or {}
    return Pool(
        model.components,
        model.component_names or _numbered(model.n_components),
        model.axis,
        NoiseLaw(law["kind"], law["level"]) if law.get("kind") in KINDS else None,
        model.signed,
    )


def check_same_axis(pool: Pool, table: Table) -> None:
    """Refuse samples whose channels stand elsewhere than the pool's, where both tell."""
    if pool.axis is None or table.axis is None or len(pool.axis) != len(table.axis):
        return  # a different number of channels is the decoder's to refuse
    off = np.flatnonzero(~np.isclose(pool.axis, table.axis, rtol=1e-6, atol=1e-6 * np.ptp(pool.axis)))
    if off.size:
        first = off[0]
        raise InputError(
            f"the pool and the samples are on different axes (channel {first} at {pool.axis[first]:g} and at "
            f"{table.axis[first]:g}); put both on the same channel axis."
        )


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"component {index}" for index in range(count))
