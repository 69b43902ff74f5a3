"""Fits on workers that are processes, which die, and on a scheduler that goes away."""

import os
import signal
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import large
from gmcr import GMCR
from gmcr.errors import GMCRError

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from gmcr.large.running import working_on  # noqa: E402

D = large.mixed(1).D
N_BLOCKS = 6


def struck(block, log, when, victim):
    """A block; the second of the table ends a process when it is loaded for the so-many-th time."""
    if len(block) and block[0, 0] == D[100, 0]:
        with open(log, "a") as file:
            file.write("loaded\n")
        if len(Path(log).read_text().splitlines()) == when:
            with open(log, "a") as file:
                file.write(f"killed {victim or os.getpid()}\n")
            os.kill(victim or os.getpid(), signal.SIGKILL)
    return block


def blocks(log, when, victim=None):
    lazy = da.from_array(D, chunks=(100, -1))
    return lazy.map_blocks(partial(struck, log=log, when=when, victim=victim), dtype=float, meta=lazy._meta)


def fit(lazy, **told):
    with large.low_bounds(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return GMCR(n_components=3, n_jobs=1, random_state=0).fit(lazy, **told)


@pytest.fixture(scope="module")
def expected():
    with dask.config.set(scheduler="synchronous"):
        model = fit(da.from_array(D, chunks=-1))
        model.learned = dask.compute(model.concentrations_, model.supports_)
    return model


def started(*arguments, until):
    """A process of dask's, once it has said that it is there; and the word after `until`."""
    command = [sys.executable, "-u", "-m", *arguments]
    folder = os.path.dirname(__file__)  # where workers find this module
    environment = os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    for line in process.stdout:
        if until in line:
            return process, line.split(until)[1].split()[0].rstrip(",'\"")
    raise AssertionError(f"{arguments} ended")


@pytest.fixture
def cluster(tmp_path):
    """The scheduler and its address; two workers, which are started anew when they die."""
    here = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler, address = started(
        "distributed.cli.dask_scheduler", "--port", "0", *here, until="Scheduler at:"
    )
    worker, _ = started(
        "distributed.cli.dask_worker", address, "--nworkers", "2", "--nthreads", "1", *here,
        "--local-directory", str(tmp_path), until="Starting established connection to",
    )  # fmt: skip
    yield scheduler, address
    for process in (worker, scheduler):
        process.terminate()
        process.wait(60)
        process.stdout.close()


def test_a_worker_that_dies_changes_nothing(cluster, expected, tmp_path):
    """One in each of the first three passes."""
    with working_on(None, cluster[1]):
        for when in (1, 2, 3):
            log = tmp_path / f"log {when}"
            lazy = fit(blocks(str(log), when))
            lines = log.read_text().splitlines()
            assert lines[: when + 1] == ["loaded"] * when + [lines[when]]
            assert lines[when].startswith("killed ")
            assert len(lines) == lazy.of_all_["passes"] + 2  # once more, for the one that was lost
            np.testing.assert_allclose(lazy.components_, expected.components_, rtol=1e-8, atol=1e-8)
        C, supports = dask.compute(lazy.concentrations_, lazy.supports_)
    np.testing.assert_allclose(C, expected.learned[0], rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(supports, expected.learned[1])


def test_a_scheduler_that_goes_away_is_a_sentence(cluster, expected, tmp_path):
    scheduler, address = cluster
    saved, log = tmp_path / "fit.checkpoint", str(tmp_path / "log")
    with working_on(None, address), pytest.raises(GMCRError, match="the scheduler went away"):
        fit(blocks(log, 2, scheduler.pid), checkpoint=saved)
    assert Path(log).read_text().splitlines()[2] == f"killed {scheduler.pid}"
    assert saved.exists()
    with dask.config.set(scheduler="synchronous"):
        again = fit(da.from_array(D, chunks=(100, -1)), checkpoint=saved)
    assert again.resumed_
    assert not saved.exists()
    np.testing.assert_allclose(again.components_, expected.components_, rtol=1e-8, atol=1e-8)


def test_a_scheduler_that_is_not_there_is_a_sentence():
    told = r"no scheduler answers at tcp://127\.0\.0\.1:1 "
    with pytest.raises(GMCRError, match=told), working_on(2, "tcp://127.0.0.1:1"):
        raise AssertionError("connected")
