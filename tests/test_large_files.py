"""Files that are read in parts: zarr, HDF5, NPY and Parquet, and what none of them may do."""

import json
import pickle
from importlib.metadata import requires, version

import numpy as np
import pytest
from packaging.requirements import Requirement

import large
from gmcr import GMCR, read
from gmcr.errors import FileError, InputError

dask = pytest.importorskip("dask")
zarr = pytest.importorskip("zarr")
h5py = pytest.importorskip("h5py")
parquet = pytest.importorskip("pyarrow.parquet")

import pandas as pd  # noqa: E402

from gmcr.large.reading import read_lazily  # noqa: E402
from gmcr.large.stores import Part  # noqa: E402

D = large.mixed(1, n_samples=300).D
AXIS = np.linspace(400.0, 500.0, 24)


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def as_npy(path, table):
    np.save(path / "data.npy", table)
    return path / "data.npy"


def as_hdf5(path, table):
    with h5py.File(path / "data.h5", "w") as file:
        file.create_dataset("D", data=table, chunks=(40, 24), compression="gzip")
        file["wavelength"] = AXIS
        file["wavelength"].attrs["units"] = "nm"
    return path / "data.h5"


def as_zarr(path, table, version=3):
    group = zarr.create_group(path / "data.zarr", zarr_format=version)
    group.create_array("D", data=table, chunks=(40, *(24,) * (table.ndim - 1)))
    axis = group.create_array("wavelength", data=AXIS)
    axis.attrs["units"] = "nm"
    return path / "data.zarr"


def as_zarr_2(path, table):
    return as_zarr(path, table, 2)


def as_parquet(path, table):
    frame = pd.DataFrame(table, columns=[f"{nm:g}" for nm in AXIS])
    frame.to_parquet(path / "data.parquet", row_group_size=70)
    return path / "data.parquet"


KINDS = [as_npy, as_hdf5, as_zarr, as_zarr_2, as_parquet]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_holds_the_same(kind, tmp_path):
    path = kind(tmp_path, D)
    samples = read_lazily(path, block=24 * 8 * 100)
    assert samples.data.npartitions > 2
    assert samples.data.chunks[1] == (24,)
    np.testing.assert_array_equal(samples.data.compute(), D)
    if kind is not as_npy:
        np.testing.assert_allclose(samples.axis, np.round(AXIS, 4), atol=1e-3)
    assert "not loaded" in repr(samples)
    if path.is_file():
        np.testing.assert_array_equal(read(path, "rows").samples, D)


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_is_read_than_is_asked_for(kind, tmp_path, monkeypatch):
    """Not the whole to make the graph, and not the first block alone to fit."""
    path = kind(tmp_path, D)
    reads = []
    ask = Part.__getitem__

    def counted(part, asked):
        out = ask(part, asked)
        reads.append(len(out))
        return out

    monkeypatch.setattr(Part, "__getitem__", counted)
    samples = read_lazily(path, block=24 * 8 * 100)
    assert not reads
    np.testing.assert_array_equal(samples.data[250:].compute(), D[250:])
    assert sum(reads) <= 150
    reads.clear()
    with large.low_bounds():
        model = GMCR(n_components=3, n_jobs=1).fit(samples)
    assert sum(reads) == 300 * model.of_all_["passes"]


@pytest.mark.parametrize("kind", KINDS)
def test_fits_from_files_are_those_in_memory(kind, tmp_path):
    samples = read_lazily(kind(tmp_path, D), block=24 * 8 * 100)
    lazy, own = GMCR(n_components=3, n_jobs=1).fit(samples), GMCR(n_components=3, n_jobs=1).fit(D)
    np.testing.assert_array_equal(lazy.components_, own.components_)
    np.testing.assert_allclose(lazy.concentrations_.compute(), own.concentrations_, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(lazy.decode(samples).supports.compute(), own.supports_)


def test_a_cube_with_its_channels_first(tmp_path):
    cube = np.moveaxis(D.reshape(15, 20, 24), -1, 0)
    group = zarr.create_group(tmp_path / "cube.zarr")
    group.create_array("cube", data=cube, chunks=(24, 4, 5), dimension_names=("wavelength", "y", "x"))
    group.create_array("wavelength", data=AXIS, dimension_names=("wavelength",))
    samples = read_lazily(tmp_path / "cube.zarr", block=24 * 8 * 50)
    assert samples.shape == (15, 20)
    assert samples.data.npartitions > 3
    assert all(size % 4 == 0 for size in samples.data.chunks[0][:-1])  # whole chunks of the file
    np.testing.assert_array_equal(samples.data.compute(), D.reshape(15, 20, 24))
    np.testing.assert_allclose(samples.axis, AXIS)


def test_packed_numbers_are_unpacked(tmp_path):
    with h5py.File(tmp_path / "packed.h5", "w") as file:
        values = np.arange(24, dtype="i2").reshape(4, 6)
        file["D"] = values
        file["D"].attrs.update({"scale_factor": 0.5, "add_offset": 10.0, "_FillValue": np.int16(7)})
    told = values * 0.5 + 10.0
    told[1, 1] = np.nan
    np.testing.assert_array_equal(read_lazily(tmp_path / "packed.h5").data.compute(), told)


def test_gaps_of_parquet_are_missing_entries(tmp_path):
    frame = pd.DataFrame(D[:50], columns=[f"{nm:g}" for nm in AXIS])
    frame.iloc[3, 4] = np.nan
    frame.to_parquet(tmp_path / "gaps.parquet", row_group_size=20)
    found = read_lazily(tmp_path / "gaps.parquet").data.compute()
    assert np.isnan(found[3, 4])
    assert np.isnan(found).sum() == 1


# What is refused


class Opened:
    """Says where it was unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("codec", ["pickle", "numcodecs.pickle", "my_lab"])
def test_a_codec_that_may_run_code_is_refused(codec, version, tmp_path):
    path, mark = as_zarr(tmp_path, D, version), tmp_path / "ran"
    told = path / "D" / (".zarray" if version == 2 else "zarr.json")
    stored = json.loads(told.read_text())
    if version == 2:
        stored["filters"], stored["dtype"] = [{"id": codec}], "|O"
    else:
        stored["codecs"] = [{"name": codec, "configuration": {}}]
    told.write_text(json.dumps(stored))
    for chunk in [one for one in (path / "D").rglob("*") if one.is_file() and one != told]:
        chunk.write_bytes(pickle.dumps(Opened(mark)))
    with pytest.raises(FileError, match=f"coded by .*{codec.removeprefix('numcodecs.')}.*may run code"):
        read_lazily(path)
    assert not mark.exists()


def test_a_codec_within_shards_is_seen(tmp_path):
    group = zarr.create_group(tmp_path / "data.zarr")
    group.create_array("D", data=D, chunks=(10, 24), shards=(100, 24))
    samples = read_lazily(tmp_path / "data.zarr", block=5000)
    assert samples.data.chunks[0] == (100, 100, 100)
    np.testing.assert_array_equal(samples.data.compute(), D)
    told = tmp_path / "data.zarr" / "D" / "zarr.json"
    stored = json.loads(told.read_text())
    stored["codecs"][0]["configuration"]["codecs"].append({"name": "pickle"})
    told.write_text(json.dumps(stored))
    with pytest.raises(FileError, match="coded by 'pickle'"):
        read_lazily(tmp_path / "data.zarr")


def test_zarr_is_at_least_the_version_that_is_asked_for():
    (asked,) = {one for one in map(Requirement, requires("gmcr")) if one.name == "zarr"}
    assert asked.specifier.contains(version("zarr"))
    assert not asked.specifier.contains("3.0.0")
    assert not asked.specifier.contains("2.18.0")


def test_what_cannot_be_read_in_parts_is_a_sentence(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([Opened(tmp_path / "ran")] * 4, dtype=object))
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    (tmp_path / "cut.npy").write_bytes(as_npy(tmp_path, D).read_bytes()[:5000])
    (tmp_path / "no.zarr").mkdir()
    (tmp_path / "bad.zarr").mkdir()
    (tmp_path / "bad.zarr" / "zarr.json").write_text("{")
    np.save(tmp_path / "one.npy", D[0])
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["D"] = h5py.ExternalLink("other.h5", "D")
    for name, told in [
        ("objects.npy", "plain numbers"),
        ("text.csv", "cannot be read in parts"),
        ("cut.npy", "damaged"),
        ("no.zarr", "is not a file"),
        ("bad.zarr", "damaged"),
        ("one.npy", "samples x channels"),
        ("link.h5", "link"),
        ("gone.npy", "does not exist"),
    ]:
        with pytest.raises((FileError, InputError), match=told):
            read_lazily(tmp_path / name)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(InputError, match="samples in columns"):
        read_lazily(tmp_path / "data.npy", "columns")


def test_pieces_larger_than_a_block_are_told(tmp_path):
    zarr.create_group(tmp_path / "one.zarr").create_array("D", data=D, chunks=D.shape)
    assert read_lazily(tmp_path / "one.zarr", block=D.nbytes / 10).data.npartitions == 1
    with pytest.raises(FileError, match=r"stored in pieces of .*smaller chunks"):
        read_lazily(tmp_path / "one.zarr", block=D.nbytes / 100)


def test_a_file_that_changed_is_another_table(tmp_path):
    path = as_npy(tmp_path, D)
    one = read_lazily(path)
    assert read_lazily(path).data.name == one.data.name
    np.save(path, D[:200])
    assert read_lazily(path).data.name != one.data.name
