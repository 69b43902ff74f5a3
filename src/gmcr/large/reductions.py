"""Passes over lazy samples: what each block tells, added up by dask on whatever scheduler is in use.

The samples of a block are loaded and looked at in one task, so that a worker holds one block at a time; what
blocks tell is added up in a tree, and comes to the client by groups of blocks. A group that fails is done again,
block by block: what fails twice ends the fit with a sentence, and what the passes before it found stays in the
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, TypeVar

import dask
import numpy as np
from dask.base import get_scheduler, tokenize

from gmcr.errors import GMCRError
from gmcr.large.arrays import LazySamples, rows_of
from gmcr.large.progress import shown
from gmcr.threads import threads
from gmcr.window.tallies import Block, Told

T = TypeVar("T", bound=Told)

TOGETHER = 8  # tellings that are added up in one task
PER_WORKER = 4  # blocks of a group for each thread that works: what is done again if one of them fails


@dataclass(frozen=True, eq=False)
class LazyRows:
    """Lazy samples as a fit goes over them.

    n_jobs : threads of a block;  verbose : whether progress is shown
    """

    samples: LazySamples
    n_jobs: int = 1
    verbose: bool = False

    @property
    def n_rows(self) -> int:
        return self.samples.n_rows

    def over(self, what: str, task: Callable[[Block], T]) -> T:
        """What a task tells of all blocks, added up; what : the pass is called."""
        parts = self._parts(task)
        size = PER_WORKER * n_workers()
        groups = [parts[first : first + size] for first in range(0, len(parts), size)]
        total, n_done = None, 0
        with shown(what, len(parts), self.verbose) as advance:
            for group, told in _each(groups):
                own = self._again(group, what, told) if isinstance(told, BaseException) else told
                total = own if total is None else total + own
                n_done += len(group)
                advance(n_done)
        assert total is not None
        return total

    def _parts(self, task: Callable[[Block], T]) -> list[Any]:
        """What each block tells, delayed."""
        data = self.samples.data
        told = data.map_blocks(
            _told,
            # In the graph once, however many blocks there are.
            task=dask.delayed(task, name=f"gmcr-task-{tokenize(object())}", traverse=False),
            shape=self.samples.shape,
            n_jobs=self.n_jobs,
            dtype=object,
            chunks=tuple((1,) * n for n in data.numblocks),
            meta=np.empty((0,) * data.ndim, dtype=object),
        )
        return list(told.to_delayed(optimize_graph=True).ravel())

    def _again(self, group: list[Any], what: str, error: BaseException) -> Any:
        """What the blocks of a group tell that has failed, one by one."""
        total: Any = None
        for part in group:
            self._end_if_hopeless(what, error)
            try:
                (told,) = dask.compute(part)
            except Exception as again:
                self._end_if_hopeless(what, again)
                starts = [sum(sizes[:n]) for sizes, n in zip(self.samples.data.chunks, part.key[1:-1])]
                place = ", ".join(map(str, starts))
                said = f"{type(again).__name__}: {again}"
                raise GMCRError(
                    f"{what} ended: the block that begins at sample ({place}) failed twice ({said:.300}); what "
                    "the passes before it found is in the checkpoint, if there is one."
                ) from again
            total = told.flat[0] if total is None else total + told.flat[0]
        return total

    def _end_if_hopeless(self, what: str, error: BaseException) -> None:
        """Raise what no second try would mend."""
        if isinstance(error, GMCRError):
            raise error
        client = client_in_use()
        lost = isinstance(error, CancelledError)  # nobody else cancels
        if client is not None and (lost or client.status != "running"):
            raise GMCRError(
                f"{what} ended: the scheduler went away; what the passes before it found is in the checkpoint, "
                "if there is one: do the same again with a scheduler that is there."
            ) from error


def client_in_use() -> Any:
    """The client of the cluster that dask would compute on here, if it is one."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


def n_workers() -> int:
    """Threads or processes that dask would compute on here."""
    client = client_in_use()
    if client is not None:
        return max(sum(client.nthreads().values()), 1)
    if dask.config.get("scheduler", None) in ("synchronous", "sync", "single-threaded"):
        return 1
    return int(dask.config.get("num_workers", None) or dask.system.CPU_COUNT)


def _each(groups: list[list[Any]]) -> Iterator[tuple[list[Any], Any]]:
    """Each group with what it tells, or the error that it met, in the order in which they are done."""
    client = client_in_use()
    if client is None:
        for group in groups:
            try:
                yield group, dask.compute(_summed(group))[0]
            except Exception as error:
                yield group, error
        return
    from distributed import as_completed

    futures = dict(zip(client.compute([_summed(group) for group in groups]), groups))
    try:
        for future in as_completed(list(futures)):
            try:
                told = future.result()
            except Exception as error:
                told = error
            yield futures[future], told
            future.release()
    finally:
        if client.status == "running":
            client.cancel(list(futures))


def _summed(parts: list[Any]) -> Any:
    """The tellings of blocks, added up in a tree."""
    while True:
        parts = [
            dask.delayed(_added)(parts[first : first + TOGETHER]) for first in range(0, len(parts), TOGETHER)
        ]
        if len(parts) == 1:
            return parts[0]


def _added(told: list[Any]) -> Any:
    first, *others = (one.flat[0] if isinstance(one, np.ndarray) else one for one in told)
    return sum(others, first)


def _told(
    block: Any, task: Callable[[Block], Any], shape: tuple[int, ...], n_jobs: int, block_info: Any = None
) -> Any:
    """What the samples of a block tell, in an array of one object."""
    rows, kept = rows_of(block, checked=False)
    where = [np.arange(start, stop) for start, stop in block_info[0]["array-location"][:-1]]
    places = np.ravel_multi_index(np.meshgrid(*where, indexing="ij"), shape).ravel()
    with threads(n_jobs):
        told = task(Block(rows, places[kept], len(kept)))
    out = np.empty((1,) * block.ndim, dtype=object)
    out.flat[0] = told
    return out
