"""HDF5 files, and those that are HDF5 within: NetCDF-4 and MATLAB's 7.3; read by h5py, apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.errors import FileError
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.limits import COPIES, check_room
from gmcr.io.opening import FilePath, text_of
from gmcr.io.table import Table
from gmcr.io.variables import Variable, last, table_of


def read_hdf5(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Samples from the datasets of an HDF5 file; dimension scales are axes, and fill values missing entries.

    A dataset may be asked for with its groups; other tables are then not loaded.
    """
    import h5py

    found: dict[str, Any] = {}  # datasets that may matter

    def visit(key: str, item: Any) -> FileError | None:
        if not isinstance(item, h5py.Dataset):
            return None
        if item.external or item.is_virtual:
            return _reaches_out(path, key, "has its values in" if item.external else "is put together from")
        if not item.shape or key.startswith("#refs#"):
            return None
        wanted = asked.name in (None, key, last(key))
        numbers = item.dtype.kind in "fiucb" and (wanted or item.ndim < 2)
        if numbers or (h5py.check_string_dtype(item.dtype) is not None and item.ndim == 1):
            found[key] = item
        return None

    with h5py.File(path, "r") as file:
        refuse_links(path, file)
        if (error := file.visititems(visit)) is not None:  # an error must not pass through HDF5's own code
            raise error
        sizes = (item.size * max(item.dtype.itemsize, 8) for item in found.values())
        check_room(path, COPIES * sum(sizes), asked)
        variables = [
            _numbers(key, item)
            if item.dtype.kind in "fiucb"
            else Variable(key, np.array(item.asstr(errors="replace")[()], dtype=str))
            for key, item in found.items()
        ]
        matlab = any("MATLAB_class" in file[variable.name].attrs for variable in variables)
    notes = ["MATLAB's arrays are stored transposed in this file and were turned."] if matlab else []
    if matlab:
        variables = [Variable(v.name, v.values.T, v.dims[::-1], v.unit) for v in variables]
    return table_of(path, variables, asked, notes)


def refuse_links(path: FilePath, file: Any) -> None:
    """Refuse a file with a link to another one, also where nothing would follow it."""
    from h5py import h5l

    def visit(key: bytes, link: Any) -> bytes | None:
        return None if link.type in (h5l.TYPE_HARD, h5l.TYPE_SOFT) else key

    if (key := file.id.links.visit(visit, info=True)) is not None:
        raise _reaches_out(path, key.decode("utf-8", "replace"), "links to")


def _reaches_out(path: FilePath, key: str, how: str) -> FileError:
    return FileError(
        f"{path} {key!r:.60} {how} other files, which could be any of yours; copy the values into one file."
    )


def _numbers(name: str, dataset: Any) -> Variable:
    values = dataset[()]
    fill = dataset.attrs.get("_FillValue")
    if fill is not None and values.dtype.kind in "fiu":
        values = np.where(values == np.asarray(fill).ravel()[0], np.nan, values)
    for key, operation in (("scale_factor", np.multiply), ("add_offset", np.add)):  # NetCDF's packed numbers
        if key in dataset.attrs:
            values = operation(values, float(np.asarray(dataset.attrs[key]).ravel()[0]))
    unit = dataset.attrs.get("units", dataset.attrs.get("unit"))
    # A dimension has the name of its scale, which is a dataset too, else its label.
    scales = [dimension[0].name.lstrip("/") if len(dimension) else "" for dimension in dataset.dims]
    dims = tuple(scale or dimension.label for scale, dimension in zip(scales, dataset.dims))
    return Variable(name, values, dims, text_of(unit))


FORMATS.add("HDF5", Format(
    (".h5", ".hdf5", ".hdf", ".he5", ".nxs"), read_hdf5, takes=("samples_in", "name"),
    mark=rb"\x89HDF\r\n\x1a\n|MATLAB 7\.3", package="h5py", extra="readers",
))  # fmt: skip
