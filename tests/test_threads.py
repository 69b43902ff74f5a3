"""Threads and processes: however many call at once, all get the same numbers, and nothing dies or hangs."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import gmcr.threads
from gmcr import GMCR, decode, make_mixtures
from gmcr.confidence.supports import support_posterior
from gmcr.errors import InputError
from gmcr.threads import OneBlasThread, deal, n_threads, threads
from gmcr.window.pool_confidence import Judge

HERE = Path(__file__).parent
CROWDS = {"in_threads", "in_forked", "forked_meanwhile", "in_spawned", "in_loky", "nested"}


@pytest.fixture(autouse=True)
def three_threads(monkeypatch):
    """Three threads to be had, on whatever machine."""
    monkeypatch.setattr(gmcr.threads, "_available", lambda: 3)
    monkeypatch.setattr(gmcr.threads, "_helpers", None)


# Crowds


@pytest.mark.parametrize("layer", ["omp", "workqueue", "tbb"])
def test_crowds(layer):
    """See `crowd.py`; in a process of its own, so that its death would be a failure here and not the end."""
    libraries = [f"{sys.prefix}/lib", os.environ.get("LD_LIBRARY_PATH", "")]  # where the wheel puts tbb's
    given = {
        "NUMBA_THREADING_LAYER": layer,
        "NUMBA_NUM_THREADS": "3",
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, libraries)),
    }
    run = subprocess.run(
        [sys.executable, "-c", "import crowd; crowd.main()"],
        cwd=HERE,
        env=os.environ | given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    if found["layer"] is None:
        pytest.skip(f"numba has no {layer} here")
    assert found == {"layer": layer} | dict.fromkeys(CROWDS, 0)


def test_a_shared_model_is_never_half_learned(monkeypatch):
    """A second thread asks for confidences while the first is still learning what they need."""
    mix = make_mixtures(3, 60, snr_db=14, n_features=32, active=(1, 2), random_state=0)
    model = GMCR(n_components=3, random_state=0).fit(mix.D)
    alone = deepcopy(model).decode(mix.D).confidence
    rehearsed, answers = Judge._rehearsed, []

    def meanwhile(judge):
        monkeypatch.setattr(Judge, "_rehearsed", rehearsed)
        with ThreadPoolExecutor(1) as pool:
            answers.append(pool.submit(lambda: model.decode(mix.D).confidence).result())
        return rehearsed(judge)

    monkeypatch.setattr(Judge, "_rehearsed", meanwhile)
    answers.append(model.decode(mix.D).confidence)
    assert len(answers) == 2
    for answer in answers:
        np.testing.assert_array_equal(answer, alone)


# Numbers


def everything(n_jobs):
    mix = make_mixtures(16, 600, snr_db=15, n_features=48, active=(1, 3), random_state=0)
    D = mix.D.copy()
    D[::4, 5] = np.nan
    with threads(n_jobs):
        assert n_threads() == n_jobs
        out = decode(D, mix.S)
        judged = support_posterior(D, mix.S, out.concentrations, mix.sigma, learned=True, presence=True)
        model = GMCR(n_components=4, n_jobs=n_jobs, random_state=0).fit(mix.D[:40])
        return (
            out.concentrations, out.margin, out.misfit, out.noise, out.known, out.errors, out.confidence,
            judged.confidence, judged.presence, judged.law.heights, judged.law.odds,
            model.components_, model.concentrations_, model.noise_,
        )  # fmt: skip


def test_same_numbers_whatever_the_number_of_threads():
    one = everything(1)
    assert gmcr.threads._helpers is None
    for n_jobs in (2, 3):
        for alone, several in zip(one, everything(n_jobs)):
            np.testing.assert_array_equal(alone, several)
    assert gmcr.threads._helpers is not None


def test_number_of_threads():
    assert n_threads() == 3
    for n_jobs, expected in ((1, 1), (2, 2), (7, 3), (-1, 3), (-2, 2), (-9, 1), (np.int64(2), 2)):
        with threads(n_jobs):
            assert n_threads() == expected
            with threads():
                assert n_threads() == expected
            with ThreadPoolExecutor(1) as pool:  # a limit is that of the thread which set it
                assert pool.submit(n_threads).result() == 3
    assert n_threads() == 3
    with pytest.raises(InputError, match="n_jobs must be a number of threads"), threads(0):
        pass


# Work


@pytest.mark.parametrize("n", [0, 1, 2, 5, 1000])
@pytest.mark.parametrize("least", [1, 4, 2000])
def test_every_part_is_done_once(n, least):
    done = np.zeros(n, dtype=int)
    sizes = []

    def count(by, start, stop):
        sizes.append(stop - start)
        done[start:stop] += by

    deal(count, n, least, 2)
    assert (done == 2).all()
    assert min(sizes) >= min(least, n)


@pytest.mark.parametrize("in_helper", [True, False])
def test_errors_reach_the_caller(in_helper):
    both_at_work = threading.Barrier(2)

    def fail(start, stop):
        both_at_work.wait(10)
        helping = threading.current_thread() is not threading.main_thread()
        if helping is in_helper:
            raise IndexError("of the work, not of dealing it out")

    with threads(2), pytest.raises(IndexError, match="of the work"):
        deal(fail, 2, 1)


def test_an_interrupt_leaves_nobody_at_work():
    begun, ended = threading.Event(), threading.Event()
    parts = []

    def work(start, stop):
        parts.append(start)
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        ended.wait(0.2)
        ended.set()

    with threads(2), pytest.raises(KeyboardInterrupt):
        deal(work, 1000, 1)
    assert ended.is_set()
    assert len(parts) == 2


def test_where_no_thread_can_be_had_the_caller_does_it_all(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    done = np.zeros(100, dtype=int)
    deal(lambda start, stop: done.__setitem__(slice(start, stop), 1), 100, 1)
    assert done.all()
    assert gmcr.threads._helpers is None  # nothing is queued that nobody would ever do


def test_work_that_was_queued_before_no_thread_could_be_had_is_waited_for(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    deal(lambda start, stop: None, 2, 1)  # has one thread started
    begun, parts, done = threading.Event(), [], []
    gmcr.threads._helpers.submit(begun.wait, 5)
    monkeypatch.setattr(threading.Thread, "start", refuse)

    def work(start, stop):
        parts.append(threading.current_thread())
        begun.set()
        time.sleep(0.05 if parts[-1] is threading.main_thread() else 0.2)
        done.append(start)

    deal(work, 8, 1)
    assert len(done) == len(parts) == 8
    assert len(set(parts)) == 2


def test_threads_that_outlive_the_main_one():
    """When the main thread has ended no thread can be started any more; those that run may still call."""
    code = (
        "import threading, time; from gmcr import decode, make_mixtures;"
        "mix = make_mixtures(16, 600, n_features=48, random_state=0);"
        "late = lambda: (time.sleep(0.5), print(decode(mix.D, mix.S, noise=mix.sigma).concentrations.shape));"
        "threading.Thread(target=late).start()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_NUM_THREADS": "3"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (run.stdout, run.stderr) == ("(600, 16)\n", "")


# BLAS


class Shared:
    """A library with one limit for the process."""

    num_threads = 4

    def set_num_threads(self, number):
        self.num_threads = number


class Own(threading.local):
    """A library with a limit for each thread."""

    num_threads = 4
    set_num_threads = Shared.set_num_threads

    __hash__ = object.__hash__


@pytest.mark.parametrize("library", [Shared, Own])
@pytest.mark.parametrize("first_out", [0, 1])
def test_blas_is_held_until_the_last_has_left(library, first_out):
    blas = OneBlasThread([library := library()])
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two:

        def seen(pool):
            return pool.submit(lambda: library.num_threads).result()

        for pool in (one, two):
            pool.submit(blas.__enter__).result()
        one.submit(blas.__enter__).result()
        one.submit(blas.__exit__).result()
        assert (seen(one), seen(two)) == (1, 1)
        first, last = (one, two) if first_out == 0 else (two, one)
        first.submit(blas.__exit__).result()
        assert seen(last) == 1
        assert seen(first) == (1 if isinstance(library, Shared) else 4)
        last.submit(blas.__exit__).result()
        assert (seen(one), seen(two)) == (4, 4)


def test_threads_that_help_hold_their_own_blas():
    blas = OneBlasThread([shared := Shared(), own := Own()])
    with blas:
        pass
    with ThreadPoolExecutor(1, initializer=blas.hold_own) as pool:
        assert pool.submit(lambda: (shared.num_threads, own.num_threads)).result() == (4, 1)


def test_a_forked_process_is_not_held_by_threads_that_stayed_behind():
    blas = OneBlasThread([library := Shared()])
    with ThreadPoolExecutor(1) as pool:
        pool.submit(blas.__enter__).result()
        with blas:
            blas.forget_others()
            assert library.num_threads == 1
        assert library.num_threads == 4


def test_the_real_blas_after_calls_that_overlap():
    libraries = gmcr.threads._blas._libraries
    if not libraries:
        pytest.skip("threadpoolctl finds no BLAS here")
    before = [library.num_threads for library in libraries]
    mix = make_mixtures(8, 40, n_features=48, random_state=0)
    try:
        for library in libraries:
            assert gmcr.threads._set(library, 2)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: decode(mix.D, mix.S, noise=mix.sigma), range(40)))
        assert [library.num_threads for library in libraries] == [2] * len(libraries)
    finally:
        for library, number in zip(libraries, before):
            gmcr.threads._set(library, number)
