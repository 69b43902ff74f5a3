"""NetCDF files of the classic format (version 3); later ones are HDF5."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.limits import check_entries
from gmcr.io.opening import FilePath, text_of
from gmcr.io.table import Table
from gmcr.io.variables import Variable, table_of


def read_netcdf(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Samples from the variables of a NetCDF file; coordinates are axes, and fill values are missing entries."""
    from scipy.io import netcdf_file

    with netcdf_file(path, "r", mmap=True, maskandscale=True) as file:  # mapped: nothing is loaded yet
        check_entries(path, sum(math.prod(variable.shape) for variable in file.variables.values()), asked)
        variables = [_variable(key, variable) for key, variable in file.variables.items() if variable.shape]
    return table_of(path, variables, asked)


def _variable(name: str, variable: Any) -> Variable:
    values = variable[:]
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan) if values.dtype.kind in "fiu" else values.data
    if values.dtype.kind == "S" and values.ndim == 2:  # characters, a text per row
        values = np.array([b"".join(row).rstrip(b"\0 ").decode("utf-8", "replace") for row in values])
    native = np.array(values, dtype=values.dtype.newbyteorder("="))
    unit = text_of(getattr(variable, "units", None))
    return Variable(name, native, tuple(map(str, variable.dimensions)), unit)


FORMATS.add("NetCDF", Format(
    (".nc", ".cdf"), read_netcdf, takes=("samples_in", "name"), mark=rb"CDF[\x01\x02]", package="scipy",
))  # fmt: skip
