"""Where passes run: on threads of this process, or on a cluster that is there.

A scheduler of Dask's that listens runs whatever reaches it, and one that is started in this process opens a port
for its own pages even where its dashboard is off. So none is started here: the threads of this process, which
listen to nobody, do the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import dask

from gmcr.errors import GMCRError, InputError

CONNECTING = 10.0  # seconds
ASIDE = (
    192 << 20
)  # bytes that samples drawn and shown, and what is reckoned with them, take beside all blocks
PER_WORKER = 6  # times a block that a worker holds: as stored, as numbers, and what decoding makes of a part
LEAST_BLOCK = 1 << 20


@contextmanager
def working_on(workers: int | None = None, scheduler: str | None = None) -> Iterator[None]:
    """Within this, dask computes on so many threads of this process, or on the cluster at an address."""
    if scheduler is None:
        with dask.config.set(scheduler="threads", num_workers=workers):
            yield
        return
    if find_spec("distributed") is None:
        raise GMCRError("a scheduler needs distributed; install it with: pip install 'gmcr[large]'.")
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECTING)
    except (OSError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise GMCRError(f"no scheduler answers at {scheduler} ({said:.200}); start one there.") from error
    with client:
        yield


def block_size(memory: float, workers: int, most: float) -> float:
    """Bytes of a block, at most `most`, with which so many workers take no more than `memory` bytes."""
    own = (memory - ASIDE) / (PER_WORKER * workers)
    if own < LEAST_BLOCK:
        least = (ASIDE + PER_WORKER * workers * LEAST_BLOCK) >> 20
        raise InputError(
            f"{workers} workers need {least + 1}M of memory at least; allow more, or fewer workers."
        )
    return min(own, most)
