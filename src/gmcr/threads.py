"""Threads: compiled code runs on several, matrix products on one, so that the two do not fight.

Compiled functions are plain ones that let go of the interpreter and do a part of the work; `deal` hands the parts
out over threads of our own. Numba's threads will not do: with GNU OpenMP a forked process dies at its first call,
with numba's work queue any process in which two threads call at once. Web servers, joblib and Dask do both.

Two pools of threads, each waiting busily for its next turn, take the cores from each other; the solver alternates
between them many times a second, which made it five times slower on two threads than on one. So BLAS is held to
one thread here, and large products are dealt out as well (`product`).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeVar

import numba
import numpy as np
import scipy.linalg  # noqa: F401  its BLAS is what compiled products use: loaded, so that it is found below
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from threadpoolctl import ThreadpoolController

from gmcr.errors import InputError
from gmcr.validation import FloatArray

T = TypeVar("T")

BLOCK = 256  # rows of a product that one thread does at a time
PARTS = 8  # that each thread does of a piece of work, about: few calls, and little to wait for at the end

_wanted: ContextVar[int | None] = ContextVar("gmcr_threads", default=None)
_lock = threading.RLock()  # of what all threads share; held during a fork, so that the child finds it whole
_helpers: ThreadPoolExecutor | None = None


@contextmanager
def threads(n_jobs: int | None = None) -> Iterator[None]:
    """Within this, compiled code runs on so many threads: -1 is all of them, None as many as before."""
    before, available = _wanted.get(), _available()
    if n_jobs is None:
        wanted = before
    elif isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of threads, -1 for all, or None, not {n_jobs!r}.")
    else:
        wanted = max(int(n_jobs) if n_jobs > 0 else available + 1 + int(n_jobs), 1)
    _wanted.set(wanted)
    try:
        with _blas:
            yield
    finally:
        _wanted.set(before)


def n_threads() -> int:
    """Number of threads that compiled code runs on here."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return 1  # what is not compiled does not let go of the interpreter
    return min(_wanted.get() or _available(), _available())


def _available() -> int:
    """NUMBA_NUM_THREADS where the environment has it, else the cores that this process may use."""
    return numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


# Work


def deal(kernel: Callable[..., Any], n: int, least: int, *arguments: Any) -> None:
    """kernel(*arguments, start, stop) for parts that make up range(n), each of `least` or more, on all threads.

    This thread works as well, and waits for none that has not begun: so calls may come from several threads at
    once and from within each other, and where no thread can be had, this one does everything.
    """
    n_parts = max(1, min(PARTS * n_threads(), n // least))
    cuts = [part * n // n_parts for part in range(n_parts + 1)]
    left = deque(pairwise(cuts))

    def work() -> None:
        try:
            while (part := _take(left)) is not None:
                kernel(*arguments, *part)
        finally:  # empty by now, unless something went wrong: then nobody begins another part
            left.clear()

    helpers: list[Future[None]] = []
    try:
        for _ in range(min(n_threads(), n_parts) - 1):
            if not _call_helper(work, helpers):
                break
        work()
    finally:  # also when interrupted: nobody writes into arrays that the caller has back
        left.clear()
        running = [helper for helper in helpers if not helper.cancel()]
        for helper in running:
            helper.exception()
    for helper in running:
        helper.result()


def _take(left: deque[tuple[int, int]]) -> tuple[int, int] | None:
    """The next part, or None where all are taken; of several threads, each gets its own."""
    try:
        return left.popleft()
    except IndexError:
        return None


def _call_helper(work: Callable[[], None], helpers: list[Future[None]]) -> bool:
    """Have the next thread that is free help with this work; whether there is one."""
    global _helpers
    done: Future[None] = Future()  # our own: what fails to start a thread has queued the work all the same
    helpers.append(done)

    def help_out() -> None:
        if done.set_running_or_notify_cancel():
            try:
                work()
                done.set_result(None)
            except BaseException as error:
                done.set_exception(error)

    try:
        with _lock, _blas:  # so that it is known which limits each of them has to set
            if _helpers is None:
                _helpers = ThreadPoolExecutor(max(_available() - 1, 1), "gmcr", _blas.hold_own)
            _helpers.submit(help_out)
    except RuntimeError:  # no thread can be started, as when the interpreter is about to end
        _helpers = None
        return False
    return True


def product(X: FloatArray, S: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """X S', written to `out` where there is one: (samples, slots)."""
    out = np.empty((len(X), len(S))) if out is None else out
    # Blocks of a fixed size, so that the answer does not depend on the number of threads.
    deal(_product, -(-len(X) // BLOCK), 1, np.ascontiguousarray(X), np.ascontiguousarray(S), out)
    return out


@njit(cache=True, nogil=True)
def _product(X, S, out, start, stop):
    for block in range(start, stop):
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, len(X)))
        np.dot(X[rows], S.T, out[rows])


def kept(owner: object, name: str, compute: Callable[[], T]) -> T:
    """compute(), kept by its owner under this name from the first time on.

    For `functools.cached_property`, which in Python 3.11 has one lock for all objects: others wait while one
    computes, and a process that is forked meanwhile waits forever.
    """
    have = vars(owner)
    return have[name] if name in have else have.setdefault(name, compute())


# BLAS


class OneBlasThread:
    """Holds BLAS to one thread for all who are inside, in whatever order they come and go.

    Most libraries have one limit for the process: it is set when the first thread enters, and lifted when the
    last one leaves. Some (MKL, OpenBLAS over OpenMP) have one for each thread, which that thread sets and lifts.
    """

    def __init__(self, libraries: list[Any]) -> None:
        self._libraries = libraries
        self._is_own: dict[Any, bool] = {}  # by library: whether each thread has a limit of its own
        self._shared: dict[Any, int] = {}  # what limits were before the first thread came
        self._n_inside = 0  # threads
        self._mine = _Mine()

    def __enter__(self) -> None:
        with _lock:
            self._mine.depth += 1
            if self._mine.depth > 1:
                return
            self._n_inside += 1
            for library in self._libraries:
                before = library.num_threads
                if before > 1 and _set(library, 1):
                    limits = self._mine.before if self._has_own(library) else self._shared
                    limits.setdefault(library, before)

    def __exit__(self, *exception: object) -> None:
        with _lock:
            self._mine.depth -= 1
            if self._mine.depth > 0:
                return
            self._n_inside -= 1
            _restore(self._mine.before)
            if self._n_inside == 0:
                _restore(self._shared)

    def hold_own(self) -> None:
        """In a thread of ours, for as long as it lives: libraries in which each thread has its own limit."""
        for library in self._libraries:
            if self._is_own.get(library):
                library.set_num_threads(1)

    def forget_others(self) -> None:
        """In a forked process, which has the calling thread only."""
        self._n_inside = min(self._mine.depth, 1)
        if self._n_inside == 0:
            _restore(self._shared)

    def _has_own(self, library: Any) -> bool:
        """Whether another thread does not see the limit that this one has just set."""
        if library not in self._is_own:
            seen: list[int] = []
            other = threading.Thread(target=lambda: seen.append(library.num_threads))
            with suppress(RuntimeError):  # the interpreter is about to end
                other.start()
                other.join()
            self._is_own[library] = bool(seen) and seen[0] > 1
        return self._is_own[library]


class _Mine(threading.local):
    """What a thread has entered, and the limits that it had before."""

    def __init__(self) -> None:
        self.depth = 0
        self.before: dict[Any, int] = {}


def _set(library: Any, number: int) -> bool:
    """Set a limit; whether that was allowed: threadpoolctl lets one thread do it at a time."""
    library.set_num_threads(number)
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread()
    return library.num_threads == number


def _restore(before: dict[Any, int]) -> None:
    while before:
        _set(*before.popitem())


_blas = OneBlasThread(ThreadpoolController().select(user_api="blas").lib_controllers)


# Forks


def _before_fork() -> None:
    """Wait until nobody compiles or changes what is kept here: the child could not end what they began."""
    global_compiler_lock.acquire()
    _lock.acquire()


def _after_fork() -> None:
    _lock.release()
    global_compiler_lock.release()


def _after_fork_in_child() -> None:
    global _helpers
    _helpers = None  # threads stay behind
    _blas.forget_others()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
