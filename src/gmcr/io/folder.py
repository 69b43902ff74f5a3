"""A folder of single-spectrum files: one sample each, on one axis."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gmcr.errors import GMCRError
from gmcr.io.opening import FilePath
from gmcr.io.spectra import Spectrum, join
from gmcr.io.table import Table


def read_folder(path: FilePath, files: Sequence[Path], read_file: Callable[[Path], Table]) -> Table:
    """Read files of a folder, in the order of their names (numbers in them count as numbers).

    Parameters
    ----------
    path : the folder, for messages
    files : which of its files
    read_file : reads one of them
    """
    files = sorted(files, key=_natural)
    notes = [f"{len(files)} files were read: {files[0].name} to {files[-1].name}."]
    others = sum(1 for entry in Path(path).iterdir() if entry.name[0] != ".") - len(files)
    if others:
        notes.append(f"{others} other files or folders in it were passed over.")
    spectra: list[Spectrum] = []
    for file in files:
        try:
            table = read_file(file)
        except GMCRError as error:
            told = f"{error} (It is one of {len(files)} files; move it out to do without it.)"
            raise type(error)(told) from error
        names = [file.stem] if len(table.samples) == 1 else [f"{file.stem} {n}" for n in _names(table)]
        facts = {key: value for key, value in table.metadata.items() if not isinstance(value, list)}
        spectra += [
            Spectrum(values, table.axis, name, table.axis_unit, facts)
            for name, values in zip(names, np.asarray(table.samples))
        ]
    return join(path, spectra, notes)


def _names(table: Table) -> list[str]:
    return list(table.sample_names or map(str, range(len(table.samples))))


def _natural(file: Path) -> list[str | int]:
    """A key by which scan2 comes before scan10."""
    parts = re.split(r"([0-9]+)", file.name + "\0")
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]
