"""Files of an imaginary instrument: a first line "LAB1", then a line a sample, its name and its numbers."""

from pathlib import Path

import numpy as np

from gmcr.errors import FileError
from gmcr.io.formats import FORMATS, Format
from gmcr.io.table import Table


def read_lab(path, asked):
    """A table of a .lab file."""
    _, *lines = Path(path).read_text(encoding="utf-8").splitlines()
    try:
        names, *columns = zip(*(line.split() for line in lines), strict=True)
        samples = np.array(columns, dtype=float).T
    except ValueError:
        raise FileError(f"{path} is damaged: a line of it is no name with as many numbers as the others.") from None
    return Table(samples, sample_names=names, notes=("Read as a file of the imaginary instrument.",))


FORMATS.add("imaginary instrument", Format((".lab",), read_lab, mark=b"LAB1"))
