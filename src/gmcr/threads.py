"""Threads: compiled code runs on several, matrix products on one, so that the two do not fight.

Two pools of threads, each waiting busily for its next turn, take the cores from each other; the solver alternates
between them many times a second, which made it five times slower on two threads than on one. So BLAS is held to
one thread here, and large products are dealt out by the compiled code itself (`product`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import numpy as np
from numba import njit, prange
from threadpoolctl import threadpool_limits

from gmcr.errors import InputError
from gmcr.validation import FloatArray

BLOCK = 256  # rows of a product that one thread does at a time


@contextmanager
def threads(n_jobs: int | None = None) -> Iterator[None]:
    """Within this, compiled code runs on so many threads: -1 is all of them, None as many as before."""
    before, available = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if n_jobs is None:
        wanted = before
    elif isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of threads, -1 for all, or None, not {n_jobs!r}.")
    else:
        wanted = int(n_jobs) if n_jobs > 0 else available + 1 + int(n_jobs)
    numba.set_num_threads(min(max(wanted, 1), available))
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        numba.set_num_threads(before)


def product(X: FloatArray, S: FloatArray, out: FloatArray) -> FloatArray:
    """X S', written to `out`: (samples, slots)."""
    _product(np.ascontiguousarray(X), np.ascontiguousarray(S), out)
    return out


@njit(cache=True, parallel=True)
def _product(X, S, out):
    # Blocks of a fixed size, so that the answer does not depend on the number of threads.
    for block in prange((len(X) + BLOCK - 1) // BLOCK):
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, len(X)))
        np.dot(X[rows], S.T, out[rows])
