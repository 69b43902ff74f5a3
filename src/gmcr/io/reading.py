"""One way in for every format, for samples and for pools."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gmcr.errors import FileError, GMCRError, InputError
from gmcr.io.apart import read_apart, read_here
from gmcr.io.formats import FORMATS, POOL, SAMPLES, Asked, format_of
from gmcr.io.limits import as_memory, check_size
from gmcr.io.marks import allowed_by
from gmcr.io.opening import FilePath, check_exists, need
from gmcr.io.several import put_together
from gmcr.io.table import Table
from gmcr.validation import BoolArray, FloatArray, as_counted, check_finite

if TYPE_CHECKING:
    from gmcr.noise import NoiseLaw

MODEL = ".gmcr"


@dataclass(frozen=True, eq=False)
class Pool:
    """Profiles to decode with, from a model file or from a table of profiles."""

    profiles: FloatArray  # (slots, channels)
    names: tuple[str, ...]  # one per slot
    axis: FloatArray | None = None  # (channels,) position of each channel, where the file tells
    noise: NoiseLaw | None = None  # the law learned with the profiles, if there is one
    signed: bool = False  # whether concentrations may be negative
    channels: tuple[str, ...] | None = None  # a label per channel, where the file names them


def read(
    path: FilePath,
    samples_in: str = "auto",
    *,
    name: str | None = None,
    channel_axis: int | None = None,
    memory: float | str | None = None,
) -> Table:
    """Read samples from a data file or a folder of spectra; what had to be inferred is told in its notes.

    Parameters
    ----------
    path : a file of any kind that docs/formats.md lists, or a folder of files, which are put on one axis; where
        they hold several samples each, each is a run
    samples_in : "rows", "columns" or "auto", which goes by the axis, by sizes and by names
    name : the array, data frame, sheet or kind of spectrum to take from a file that holds several; "*" for all
        sheets of a workbook, each a run
    channel_axis : dimension of a cube that holds its channels, counted from 0; else it is inferred
    memory : most that reading may take, in bytes or as a text such as "4G"; by default 256 MB and a hundred times
        the size of the file, at most half of the memory that is free

    Returns
    -------
    Table : samples, axis, axis_unit, sample_names, channels, metadata, notes, runs; of a cube, also pixels

    Examples
    --------
    >>> import gmcr
    >>> table = gmcr.read("mixtures.csv")  # doctest: +SKIP
    >>> model = gmcr.GMCR().fit(table.samples)  # doctest: +SKIP
    >>> maps = table.refold(model.concentrations_)  # doctest: +SKIP
    """
    return _read(path, Asked(samples_in, SAMPLES, name, channel_axis, memory=as_memory(memory)))


def read_table(
    path: FilePath,
    *,
    samples_in: str = "auto",
    called: tuple[str, ...] = SAMPLES,
    name: str | None = None,
    memory: float | str | None = None,
) -> Table:
    """`read`, for samples that may be called any of `called`."""
    return _read(path, Asked(samples_in, called, name, memory=as_memory(memory)))


def _read(path: FilePath, asked: Asked) -> Table:
    if Path(path).is_dir():
        table = _read_folder(Path(path), asked)
    else:
        table = _read_file(check_exists(path), asked)
    check_finite(table.samples, os.fspath(path))
    return table.with_data()


def _read_file(path: Path, asked: Asked) -> Table:
    if path.suffix.lower() == MODEL:
        raise FileError(f"{path} is a model file, not a data file; give a table of samples.")
    name = format_of(path)
    if name is None:
        known = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
        raise FileError(f"{path} has no extension gmcr reads; give a file ending in {known}.")
    form = FORMATS[name]
    if asked.name is not None and "name" not in form.takes:
        raise InputError(f"{path} holds one table, so the name {asked.name!r} is of no use; leave it out.")
    need(form.package, form.extra, path)
    if not form.apart:
        check_size(path, asked)
    table = (read_apart if form.apart else read_here)(path, name, asked)
    if asked.samples_in == "columns" and "samples_in" not in form.takes:
        note = "The file itself says what a sample is; samples_in was left aside."
        table = replace(table, notes=(*table.notes, note))
    return table


def _read_folder(folder: Path, asked: Asked) -> Table:
    """The files of the format that most of them have, in the order of their names, on one axis."""
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.name[0] != ".")
    except OSError as error:
        raise FileError(f"{folder} could not be read: {error.strerror or error}.") from error
    formats = {file: format_of(file) for file in entries if file.is_file() and file.suffix.lower() != MODEL}
    counts = Counter(name for name in formats.values() if name is not None)
    if not counts:
        raise FileError(f"{folder} holds no data file; give a folder of spectra, or a file.")
    ((most, _),) = counts.most_common(1)
    files = sorted(
        (file for file, name in formats.items() if name == most), key=lambda file: as_counted(file.name)
    )
    notes = [f"{len(files)} files were read: {files[0].name} to {files[-1].name}."]
    if others := len(entries) - len(files):
        notes.append(f"{others} other files or folders in it were passed over.")
    tables: dict[str, Table] = {}
    for file in files:
        try:
            tables[file.stem if file.stem not in tables else file.name] = _read_file(file, asked)
        except GMCRError as error:
            told = f"{error} (It is one of {len(files)} files; move it out to do without it.)"
            raise type(error)(told) from error
    return put_together(folder, tables, notes, asked)


def read_pool(path: FilePath) -> Pool:
    """Read the profiles of a model file, or a table of profiles."""
    if Path(path).suffix.lower() != MODEL:
        table = read_table(path, called=POOL)
        names = table.sample_names or numbered(len(table.samples))
        return Pool(table.samples, names, table.axis, channels=table.channels)
    # With them come pandas and numba, which reading a table does without.
    from gmcr.decomposition import Decomposition
    from gmcr.noise import LAWS, law_of

    model = Decomposition.load(path)
    law = model.noise_law or {}
    return Pool(
        model.components,
        model.component_names or numbered(model.n_components),
        model.axis,
        law_of(law) if law.get("kind") in LAWS else None,
        model.signed_amounts,
        model.channels,
    )


def read_allowed(path: FilePath, samples: Sequence[str], components: Sequence[str]) -> BoolArray:
    """Which components each sample may hold, from a table of marks that names both: (samples, components)."""
    return allowed_by(_read(path, Asked(marks=True)), samples, components, os.fspath(path))


def numbered(count: int) -> tuple[str, ...]:
    """What components without a name are called."""
    return tuple(f"component {index}" for index in range(count))
