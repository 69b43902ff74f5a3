"""Files that hold more than memory: what arrays they have, and a part of one of them when it is asked for.

A `Part` holds a place and no open file, so that it goes to any thread or process; each reading opens the file and
closes it. Files come from strangers: of NPY, numbers alone are mapped; HDF5 that reaches other files is refused;
and so is zarr of a codec that is not known here, since there is one that unpickles.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gmcr.errors import FileError, InputError
from gmcr.io.hdf5 import refuse_links
from gmcr.io.opening import text_of
from gmcr.io.variables import Variable

ZARR = ".zarr"
MARKS = ("zarr.json", ".zarray", ".zgroup")  # of a folder that is zarr
# What turns bytes into numbers and back, and nothing else; a codec that is not among these may do anything.
CODECS = {
    "bytes", "blosc", "zstd", "gzip", "zlib", "lz4", "lzma", "bz2", "crc32c", "crc32", "adler32", "fletcher32",
    "sharding_indexed", "transpose", "shuffle", "delta", "fixedscaleoffset", "packbits", "quantize", "bitround",
    "astype", "vlen-utf8", "vlen-bytes",
}  # fmt: skip
PACKED = ("_FillValue", "scale_factor", "add_offset")
SMALL = 1_000_000  # entries of an array beside the samples, which is read at once: an axis, a mask


@dataclass(frozen=True)
class Part:
    """An array in a file, the channels last; of it no more is read than was asked for, or whole native chunks.

    stored : its shape in the file;  kind : of its numbers there;  channels : which dimension there holds them
    native : how the file cuts it up
    fill, scale, offset : of numbers that are packed, as NetCDF's are; `fill` is a missing entry
    """

    path: str
    name: str
    stored: tuple[int, ...]
    kind: str
    native: tuple[int, ...]
    channels: int = -1
    fill: float | None = None
    scale: float = 1.0
    offset: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self._turned(self.stored)

    @property
    def chunks(self) -> tuple[int, ...]:
        """How the file cuts it up, the channels last."""
        return self._turned(self.native)

    @property
    def ndim(self) -> int:
        return len(self.stored)

    @property
    def size(self) -> int:
        return int(np.prod(self.stored, dtype=np.int64))

    @property
    def dtype(self) -> np.dtype[Any]:
        packed = self.fill is not None or self.scale != 1.0 or self.offset != 0.0
        return np.dtype(np.float64) if packed else np.dtype(self.kind)

    def __getitem__(self, part: Any) -> NDArray[Any]:
        slices = list(part) if isinstance(part, tuple) else [part]
        slices += [slice(None)] * (self.ndim - len(slices))
        where = self.channels % self.ndim
        slices.insert(where, slices.pop())
        values = np.moveaxis(self._read(tuple(slices)), where, -1)
        if self.dtype.kind == "f" and self.dtype != np.dtype(self.kind):
            gone = np.zeros(values.shape, bool) if self.fill is None else values == self.fill
            values = np.where(gone, np.nan, values * self.scale + self.offset)
        return np.ascontiguousarray(values)

    def _read(self, part: tuple[Any, ...]) -> NDArray[Any]:
        raise NotImplementedError

    def _turned(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        where = self.channels % self.ndim
        return (*sizes[:where], *sizes[where + 1 :], sizes[where])


class NpyPart(Part):
    def _read(self, part: tuple[Any, ...]) -> NDArray[Any]:
        return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[part])


class Hdf5Part(Part):
    def _read(self, part: tuple[Any, ...]) -> NDArray[Any]:
        import h5py

        with h5py.File(self.path, "r") as file:
            return np.asarray(file[self.name][part])


class ZarrPart(Part):
    def _read(self, part: tuple[Any, ...]) -> NDArray[Any]:
        import zarr

        return np.asarray(zarr.open_array(Path(self.path) / self.name, mode="r")[part])


@dataclass(frozen=True)
class ParquetPart(Part):
    """Columns of a Parquet file; columns : their names, ends : rows up to the end of each row group."""

    columns: tuple[str, ...] = ()
    ends: tuple[int, ...] = ()

    def _read(self, part: tuple[Any, ...]) -> NDArray[Any]:
        import pyarrow.parquet as parquet

        start, stop, _ = part[0].indices(self.stored[0])
        groups = [
            group
            for group, end in enumerate(self.ends)
            if end > start and (self.ends[group - 1] if group else 0) < stop
        ]
        if not groups:
            return np.zeros((0, len(self.columns)))
        first = self.ends[groups[0] - 1] if groups[0] else 0
        with parquet.ParquetFile(self.path) as file:
            table = file.read_row_groups(groups, columns=list(self.columns), use_threads=False)
        rows = slice(start - first, stop - first)
        return np.column_stack([table[name].to_numpy()[rows].astype(float) for name in self.columns])


# What is in a file


def arrays_of(path: Path) -> list[Variable]:
    """The arrays of a file, those that may hold samples as a `Part`, smaller ones as they are."""
    if is_zarr(path):
        return list(_of_zarr(path))
    mark = path.open("rb").read(8)
    if mark.startswith(npy.MAGIC_PREFIX):
        return [_of_npy(path)]
    if mark.startswith(b"\x89HDF"):
        return list(_of_hdf5(path))
    if mark.startswith(b"PAR1"):
        return [_of_parquet(path)]
    raise InputError(
        f"{path} cannot be read in parts; those that can are zarr, HDF5, NPY and Parquet files: save it as one."
    )


def is_zarr(path: Path) -> bool:
    """Whether a folder is zarr's."""
    return path.is_dir() and any((path / mark).is_file() for mark in MARKS)


def known_as(path: Path) -> str:
    """What tells a file or a folder from another one, and from itself before it was changed."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    told = [file.stat() for file in files if file.is_file()]
    newest = max((one.st_mtime_ns for one in told), default=0)
    return f"{path.resolve()} {len(told)} {sum(one.st_size for one in told)} {newest}"


def _of_npy(path: Path) -> Variable:
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileError(f"{path} is damaged or not a numpy file of plain numbers: {error}.") from error
    part: Any = NpyPart(str(path), "", values.shape, values.dtype.str, (1,) * values.ndim)
    return Variable("", part)


def _of_hdf5(path: Path) -> Iterator[Variable]:
    import h5py

    found: list[tuple[str, Any]] = []
    with h5py.File(path, "r") as file:
        refuse_links(path, file)
        file.visititems(
            lambda key, item: found.append((key, item)) if isinstance(item, h5py.Dataset) else None
        )
        for key, item in found:
            if item.external or item.is_virtual:
                told = f"{path} {key!r:.60} has its values in other files"
                raise FileError(f"{told}; copy the values into one file.")
            if item.dtype.kind not in "fiub" or not item.shape:
                continue
            scales = [dimension[0].name.lstrip("/") if len(dimension) else "" for dimension in item.dims]
            dims = tuple(scale or dimension.label for scale, dimension in zip(scales, item.dims))
            unit = text_of(item.attrs.get("units", item.attrs.get("unit")))
            attributes = {
                name: np.asarray(item.attrs[name]).ravel()[0] for name in PACKED if name in item.attrs
            }
            if "MATLAB_class" in item.attrs:
                raise InputError(
                    f"{path} is MATLAB's, whose arrays are turned; save it as zarr, HDF5 or NPY."
                )
            chunks = item.chunks or (1,) * item.ndim
            part = Hdf5Part(str(path), key, item.shape, item.dtype.str, chunks, -1, *_packing(attributes))
            values: Any = item[()] if item.ndim < 2 and item.size <= SMALL else part
            yield Variable(key, values, dims, unit)


def _of_zarr(path: Path) -> Iterator[Variable]:
    import zarr

    for folder in _arrays_in(path):
        array = zarr.open_array(folder, mode="r")
        if array.dtype.kind not in "fiub" or not array.shape:
            continue
        told: dict[str, Any] = array.attrs.asdict()
        dims = getattr(array.metadata, "dimension_names", None) or told.get("_ARRAY_DIMENSIONS", ())
        unit = text_of(told.get("units", told.get("unit")))
        name = folder.relative_to(path).as_posix()
        cut = array.shards or array.chunks
        part = ZarrPart(str(path), name, array.shape, array.dtype.str, cut, -1, *_packing(told))
        values: Any = array[...] if array.ndim < 2 and array.size <= SMALL else part
        yield Variable("" if name == "." else name, values, tuple(one or "" for one in dims), unit)


def _arrays_in(path: Path) -> list[Path]:
    """The folders of a zarr folder that hold an array, whose codecs are known."""
    found = []
    for mark in sorted([*path.rglob("zarr.json"), *path.rglob(".zarray")]):
        try:
            told = json.loads(mark.read_bytes())
            is_array = mark.name == ".zarray" or told["node_type"] == "array"
            codecs = set(_codecs(told)) if is_array else set()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileError(f"{mark} is damaged or no zarr: {error}.") from error
        if not codecs <= CODECS:
            unknown = ", ".join(sorted(map(repr, codecs - CODECS)))
            raise FileError(
                f"{path} has values coded by {unknown}, which gmcr does not decode: a codec may run code; store "
                "them anew with zarr's own, such as zstd."
            )
        if is_array:
            found.append(mark.parent)
    return found


def _codecs(told: dict[str, Any]) -> Iterator[str]:
    """The names of all codecs of an array, of either version, and of those within shards."""
    waiting = [*told.get("codecs", []), told.get("compressor"), *(told.get("filters") or [])]
    while waiting:
        one = waiting.pop()
        if one is None:
            continue
        name = one if isinstance(one, str) else one.get("name", one.get("id"))
        yield str(name).lower().removeprefix("numcodecs.")
        if not isinstance(one, str):
            inner = one.get("configuration") or {}
            waiting += [*(inner.get("codecs") or []), *(inner.get("index_codecs") or [])]


def _of_parquet(path: Path) -> Variable:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        schema, told = file.schema_arrow, file.metadata
        sizes = [told.row_group(group).num_rows for group in range(told.num_row_groups)]
    index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    numeric = [
        field.name
        for field in schema
        if (pa.types.is_floating(field.type) or pa.types.is_integer(field.type)) and field.name not in index
    ]
    shape, ends = (sum(sizes), len(numeric)), tuple(np.cumsum(sizes).tolist())
    part = ParquetPart(
        str(path), "", shape, "<f8", (max(sizes, default=1), len(numeric)), columns=tuple(numeric), ends=ends
    )
    values: Any = part
    return Variable("", values, labels=(None, numeric))


def _packing(attributes: dict[str, Any]) -> tuple[float | None, float, float]:
    """What stands for a missing entry, and scale and offset of packed numbers, as NetCDF has them."""
    fill = attributes.get("_FillValue")
    scale, offset = (
        float(attributes.get(name, usual)) for name, usual in (("scale_factor", 1), ("add_offset", 0))
    )
    return None if fill is None else float(fill), scale, offset
