"""Files that are made to do harm: each refused in a sentence, in seconds, with no more memory than allowed."""

import zipfile

import h5py  # packages that parse files are imported once, and not in each forked process
import numpy as np
import openpyxl  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pytest
import rdata  # noqa: F401
import scipy.io  # noqa: F401

import gmcr
import hostile
from forked import forked, read_as_apart
from gmcr.errors import FileError, GMCRError, InputError
from gmcr.io import limits
from gmcr.io.formats import NOTHING, Asked
from made_files import D

MOST_SECONDS, MOST_MEGABYTES = 10, 500


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return hostile.write_all(tmp_path_factory.mktemp("hostile"))


def shape_of(path):
    return read_as_apart(path).samples.shape


def test_hostile_files_are_refused(files):
    """Seconds are those of the processor, which a busy machine does not change."""
    assert len(files) >= 60
    for name, path in files.items():
        outcome = forked(shape_of, path)
        assert isinstance(outcome.error, GMCRError), (name, outcome)
        message = str(outcome.error)
        assert str(path) in message, (name, message)
        assert message.endswith("."), (name, message)
        assert "\n" not in message, (name, message)
        assert outcome.seconds < MOST_SECONDS, (name, outcome)
        assert outcome.megabytes < MOST_MEGABYTES, (name, outcome)


@pytest.mark.parametrize("name", ["outside_values.h5", "virtual.mat", "sparse.h5"])
def test_the_same_in_a_process_of_its_own(files, name):
    with pytest.raises(FileError, match=r"other files|would take"):
        gmcr.read(files[name])


def test_a_link_within_the_file_is_followed_as_before(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/D"] = D
        file["same"] = h5py.SoftLink("/group/D")
    np.testing.assert_array_equal(gmcr.read(tmp_path / "a.h5").samples, D)


# The limit


def test_memory_can_be_allowed_and_denied(tmp_path, run):
    zeros = np.zeros((1 << 9, 1 << 10))
    zeros[0] = 1
    np.savez_compressed(tmp_path / "a.npz", D=zeros)
    assert gmcr.read(tmp_path / "a.npz").samples.shape == zeros.shape
    with pytest.raises(FileError, match=r"would take .* where 1.05 MB are allowed; .* memory=\"5M\""):
        gmcr.read(tmp_path / "a.npz", memory="1M")
    assert gmcr.read(tmp_path / "a.npz", memory="13M").samples.shape == zeros.shape
    code, _, err = run("info", tmp_path / "a.npz", "--memory", "1M")
    assert (code, "allow more with" in err) == (1, True)
    code, _, err = run("info", tmp_path / "a.npz", "--memory", "much")
    assert (code, 'memory must be a size such as "2G"' in err) == (2, True)


@pytest.mark.parametrize(
    ("given", "size"),
    [("2G", 2 << 30), ("500 MB", 500 << 20), ("1.5k", 1536), (4096, 4096), (1e6, 10**6), ("3TiB", 3 << 40)],
)
def test_sizes_of_memory(given, size):
    assert limits.as_memory(given) == size


@pytest.mark.parametrize("given", ["", "G", -1, 0, "1X", float("nan"), float("inf"), "9" * 30 + "T"])
def test_what_is_no_size(given):
    with pytest.raises(InputError, match="memory must be a size"):
        limits.as_memory(given)


def test_the_limit_goes_with_the_file_up_to_a_share_of_what_is_free(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_bytes(bytes(10_000))
    assert limits.room(tmp_path / "a.csv", NOTHING) >= limits.FREELY + 10_000
    assert limits.room(tmp_path, NOTHING) == limits.room(
        tmp_path / "a.csv", NOTHING
    )  # a folder: all its files
    assert limits.room(tmp_path / "a.csv", Asked(memory=77)) == 77
    monkeypatch.setattr(limits, "free_memory", lambda: 1000)
    assert limits.room(tmp_path / "a.csv", NOTHING) == 500
    with open(tmp_path / "holes.csv", "wb") as file:
        file.truncate(1 << 40)
    assert limits.held(tmp_path / "holes.csv") < 10_000


def test_archives_as_programs_write_them_do_not_overlap(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"array {n}": D for n in range(20)})
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("ä.npy", b"")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        limits.check_archive(tmp_path / "a.npz", archive, NOTHING)
