"""Runs of lazy samples: model files, and `gmcr fit` of files that are read in parts."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import large
from gmcr import GMCR
from gmcr.cli.app import main
from gmcr.cli.lazily import InParts

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
zarr = pytest.importorskip("zarr")

from gmcr.large import running, stores  # noqa: E402
from gmcr.large.reading import read_lazily  # noqa: E402

D = large.mixed(3, n_samples=600).D
TOLD = {"n_components": 3, "n_jobs": 1, "random_state": 0}


@pytest.fixture
def cube(tmp_path):
    group = zarr.create_group(tmp_path / "cube.zarr")
    group.create_array("cube", data=D.reshape(20, 30, 24), chunks=(4, 9, 24))
    group.create_array("wavelength", data=np.linspace(400, 500, 24))
    return tmp_path / "cube.zarr"


@pytest.fixture
def small_blocks(monkeypatch):
    """Of 4 x 30 pixels, whatever is asked for."""
    monkeypatch.setattr(running, "block_size", lambda memory, workers, most: 24 * 8 * 150)
    with large.low_bounds():
        yield


def fit(cube, *more):
    return main(["fit", str(cube), "-o", str(cube.parent / "run"), "--components", "3", "--jobs", "1", *more])


def test_a_model_file_holds_the_pool_and_not_the_samples(tmp_path):
    with large.low_bounds(), dask.config.set(scheduler="synchronous"):
        model = GMCR(**TOLD).fit(da.from_array(D.reshape(20, 30, 24), chunks=(5, 30, -1)))
    model.save(tmp_path / "lazy.gmcr")
    again = GMCR.load(tmp_path / "lazy.gmcr")
    assert again.of_all_ == model.of_all_
    assert again.of_all_["shape"] == [20, 30]
    np.testing.assert_array_equal(again.components_, model.components_)
    expected = model.decode(D[:50])
    out = again.decode(D[:50])
    np.testing.assert_array_equal(out.concentrations, expected.concentrations)
    np.testing.assert_array_equal(out.confidence, expected.confidence)
    lazy = again.transform(da.from_array(D[:50], chunks=(20, -1)))
    np.testing.assert_allclose(lazy.compute(), expected.concentrations, rtol=1e-9, atol=1e-12)


def test_the_shell_writes_maps_of_all_and_shows_some(cube, small_blocks, monkeypatch, capsys):
    monkeypatch.setattr("gmcr.estimators.lazily.MOST_SHOWN", 200)
    before = listening()
    assert fit(cube, "--memory", "1GB", "--workers", "2", "--json") == 0
    assert listening() == before
    told = json.loads(capsys.readouterr().out)
    assert told["of_all"]["shape"] == [20, 30]
    assert told["of_all"]["samples"] == 600
    assert told["of_all"]["passes"] > 1
    assert "maps.zarr" in told["written"]
    assert "It is read in 5 blocks" in " ".join(told["notes"])
    run = cube.parent / "run"
    model, maps = GMCR.load(run / "model.gmcr"), zarr.open_group(run / "maps.zarr", mode="r")
    assert model.of_all_["concentrations"] == "maps.zarr"
    assert maps.attrs["components"] == list(model.decomposition_.names)
    expected = model.decode(D)
    np.testing.assert_allclose(
        maps["concentrations"][...].reshape(600, 3), expected.concentrations, rtol=1e-8, atol=1e-10
    )
    np.testing.assert_array_equal(maps["known"][...].ravel(), expected.known)
    shown = (run / "concentrations.csv").read_text().splitlines()
    assert len(shown) == 201 - 50  # 10 x 15 pixels, with a header
    assert "spread evenly over all" in (run / "summary.txt").read_text()
    np.testing.assert_allclose(model.decomposition_.axis, np.linspace(400, 500, 24))


def listening():
    """Sockets of this process that wait for others."""
    own = {os.readlink(entry.path) for entry in os.scandir("/proc/self/fd") if entry.is_symlink()}
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and f"socket:[{parts[9]}]" in own:
                found.add(parts[1])
    return found


@pytest.mark.parametrize("n_reads", [3, 7, 12])
def test_a_fit_that_is_killed_goes_on_from_the_last_pass(n_reads, cube, monkeypatch):
    """Killed in the first pass, in the second and in the third, of five blocks each."""
    monkeypatch.setattr("gmcr.estimators.lazily.MOST_SHOWN", 50)
    saved, reads, ask = cube.parent / "fit.checkpoint", [], stores.Part.__getitem__

    def counted(part, asked):
        reads.append(asked)
        if len(reads) > most:
            os.kill(os.getpid(), signal.SIGKILL)
        return ask(part, asked)

    monkeypatch.setattr(stores.Part, "__getitem__", counted)

    def again(checkpoint=saved):
        with large.low_bounds(), dask.config.set(scheduler="synchronous"):
            return GMCR(**TOLD).fit(read_lazily(cube, block=24 * 8 * 150), checkpoint=checkpoint)

    most, child = n_reads, os.fork()
    if child == 0:
        again()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    most = np.inf
    model, n_after = again(), len(reads)
    own = again(None)
    np.testing.assert_array_equal(model.components_, own.components_)
    assert own.of_all_["passes"] >= 3
    done = n_reads // 5
    assert n_after == 5 * (own.of_all_["passes"] - done)
    assert model.resumed_ == (done > 0)
    assert not saved.exists()


def test_what_parts_go_without_is_a_wrong_call(cube, capsys):
    assert fit(cube, "--average") == 2
    assert "is read in parts" in capsys.readouterr().err
    assert fit(cube, "--memory", "10MB") == 2
    assert "workers need" in capsys.readouterr().err
    assert fit(cube, "--scheduler", "tcp://127.0.0.1:1") == 1
    assert "no scheduler answers" in capsys.readouterr().err


def test_which_files_are_read_in_parts(cube, tmp_path):
    np.save(tmp_path / "D.npy", D)
    (tmp_path / "D.csv").write_text("1,2\n")
    assert InParts().are_asked_for(cube)
    assert not InParts().are_asked_for(tmp_path)
    assert not InParts().are_asked_for(tmp_path / "D.npy")
    assert InParts(memory="200k").are_asked_for(tmp_path / "D.npy")  # 115 kB, three times over
    assert not InParts(memory="200k").are_asked_for(tmp_path / "D.csv")
    assert InParts(workers=1).are_asked_for(tmp_path / "D.npy")
    assert InParts(scheduler="tcp://127.0.0.1:1").are_asked_for(tmp_path / "D.npy")
