"""What all samples hold, written as zarr, block by block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da

from gmcr.decoder import Decoding
from gmcr.errors import GMCRError
from gmcr.large.reductions import client_in_use

WRITTEN = ("concentrations", "noise", "known")


def write_zarr(out: Decoding, folder: Path, names: tuple[str, ...]) -> None:
    """Concentrations, noise and whether it is known of every sample, to a new zarr folder.

    out : lazily decoded;  names : of components

    Each block is read and decoded once, and written by the task that decoded it.
    """
    import zarr

    group = zarr.create_group(folder)
    group.attrs["components"] = list(names)
    sources = [_even(getattr(out, name)) for name in WRITTEN]
    targets: Any = [
        group.create_array(name, shape=one.shape, chunks=one.chunksize, dtype=one.dtype)
        for name, one in zip(WRITTEN, sources)
    ]
    try:
        da.store(sources, targets, lock=False)
    except GMCRError:
        raise
    except Exception as error:
        client = client_in_use()
        gone = "the scheduler went away" if client is not None and client.status != "running" else ""
        said = gone or f"{type(error).__name__}: {error}"
        raise GMCRError(f"concentrations could not be written ({said:.300}); do the same again.") from error


def _even(array: Any) -> Any:
    """In blocks of one size, each of which is a chunk of its own: no two tasks write to the same."""
    sizes = array.chunksize
    even = all(set(along[:-1]) <= {size} for along, size in zip(array.chunks, sizes))
    return array if even else array.rechunk(sizes)
