"""Samples that are larger than memory: when `gmcr fit` reads a file in parts, and on what it works then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gmcr.cli.console import in_shell, wrong_call
from gmcr.cli.options import SamplesIn, option
from gmcr.errors import GMCRError

if TYPE_CHECKING:
    from gmcr.io.table import Table
    from gmcr.large.arrays import LazySamples

WORKERS = "Read the file in parts, on so many workers: zarr, HDF5, NPY or Parquet."
SCHEDULER = "The same on the Dask cluster whose scheduler has this address, such as tcp://10.0.0.1:8786."
Workers = Annotated[int | None, option(WORKERS, default="all cores, if need be", least=1)]
Scheduler = Annotated[str | None, option(SCHEDULER, default=False)]
MARKS = (b"\x93NUMPY", b"\x89HDF", b"PAR1")
HEAD = 4  # samples that tell what the others are like


@dataclass(frozen=True)
class InParts:
    """How samples that are read in parts are worked on: --workers, --scheduler and --memory."""

    workers: int | None = None
    scheduler: str | None = None
    memory: str | None = None

    def are_asked_for(self, data: Path) -> bool:
        """Whether DATA is read in parts: as zarr always is, as was asked for, or since it is too large."""
        if self.workers is not None or self.scheduler is not None:
            return True
        if data.is_dir():
            return any((data / mark).is_file() for mark in ("zarr.json", ".zarray", ".zgroup"))
        from gmcr.io.formats import Asked
        from gmcr.io.limits import COPIES, as_memory, held, room
        from gmcr.io.opening import read_bytes

        if not read_bytes(data, 8).startswith(MARKS):
            return False
        with wrong_call():
            asked = Asked(memory=as_memory(self.memory))
        return COPIES * held(data) > room(data, asked)

    def samples_of(self, data: Path, samples_in: SamplesIn) -> LazySamples:
        if any(find_spec(package) is None for package in ("dask", "zarr")):
            raise GMCRError(f"{data} is read in parts with dask; install it with: pip install 'gmcr[large]'.")
        from gmcr.io.limits import as_memory
        from gmcr.large.reading import BLOCK, read_lazily
        from gmcr.large.running import block_size

        with wrong_call():
            memory = as_memory(self.memory)
            block = BLOCK if memory is None else block_size(memory, self.n_workers, BLOCK)
        samples = read_lazily(data, samples_in.value, block=block)
        return replace(samples, notes=tuple(map(in_shell, samples.notes)))

    @property
    def n_workers(self) -> int:
        return self.workers or os.cpu_count() or 1

    @contextmanager
    def at_work(self, samples: LazySamples | None) -> Iterator[None]:
        """Within this, samples in parts are worked on as was asked for; with none there is nothing to do."""
        if samples is None:
            yield
            return
        from gmcr.large.running import working_on

        with working_on(self.n_workers, self.scheduler):
            yield


def head_of(samples: LazySamples) -> Table:
    """The first few samples, for options that go by axis and names of the channels."""
    from gmcr.io.table import Table

    rows = samples.data[(slice(0, 1),) * (samples.data.ndim - 2) + (slice(0, HEAD),)]
    values = rows.compute().reshape(-1, samples.n_channels).astype(float)
    return Table(
        values, samples.axis, notes=samples.notes, axis_unit=samples.axis_unit, channels=samples.channels
    )
