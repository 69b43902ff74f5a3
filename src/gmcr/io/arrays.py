"""numpy's own files, .npy and .npz; nothing in them is executed."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gmcr.errors import FileError
from gmcr.files import write_whole
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.limits import check_archive, check_size
from gmcr.io.opening import FilePath, check_exists
from gmcr.io.table import Table
from gmcr.io.variables import Variable, table_of


def read_arrays(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Samples from an .npy or .npz file; `axis` beside them is the axis."""
    return table_of(path, [Variable(key, array) for key, array in _load(path, asked).items()], asked)


def _load(path: FilePath, asked: Asked) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file by name, or of an .npy file under the name ""."""
    file = check_exists(path)
    try:
        with open(file, "rb") as opened:
            if opened.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
                opened.seek(0)
                check_size(path, asked)
                return {"": _array(opened, file.stat().st_size)}
            opened.seek(0)
            with zipfile.ZipFile(opened) as archive:
                check_archive(path, archive, asked)
                arrays = {}
                for entry in archive.infolist():
                    with archive.open(entry) as member:
                        name = entry.filename.removesuffix(".npy")
                        arrays[name] = _array(cast(BinaryIO, member), entry.file_size)
                return arrays
    except FileError:
        raise
    except Exception as error:  # of numpy, zipfile, zlib and tokenize, each with kinds of its own
        raise FileError(f"{path} is damaged or not a numpy file of plain numbers: {error}.") from error


def write_arrays(path: FilePath, **arrays: NDArray[Any]) -> None:
    """Write an .npz file, whole or not at all."""
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    write_whole(path, content.getvalue())


def _array(file: BinaryIO, size: int) -> NDArray[Any]:
    """An array in numpy's format; one that claims more entries than the file has bytes is refused unread."""
    start = file.tell()
    version = npy.read_magic(file)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = readers.get(version, npy.read_array_header_2_0)(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if math.prod(shape) * dtype.itemsize > size - (file.tell() - start):
        raise ValueError("it is cut short")
    file.seek(start)
    return npy.read_array(file, allow_pickle=False)


FORMATS.add("NumPy", Format(
    (".npy", ".npz"), read_arrays, takes=("samples_in", "name"), mark=rb"\x93NUMPY|PK\x03\x04", apart=False,
))  # fmt: skip
