"""Checkpoints: a run that was ended, whenever and however, goes on to the answer it would have had."""

import os
import signal
import struct
import time
import warnings

import numpy as np
import pytest

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.errors import FileError, InputError
from gmcr.noise import Sigma
from gmcr.window import checkpoint as checkpoints
from gmcr.window.checkpoint import Checkpoint, remembering
from gmcr.window.problem import State
from gmcr.window.remembering import digest, pack, remembered, unpack


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.checkpoint"


def assert_same(model, other):
    """To the last bit, the whole way there included."""
    np.testing.assert_array_equal(model.components_, other.components_)
    np.testing.assert_array_equal(model.concentrations_, other.concentrations_)
    assert model.path_.equals(other.path_)
    assert model.count_ == other.count_
    assert model.noise_law_ == other.noise_law_


# Runs that were killed

FEW_OF_MANY = make_mixtures(8, 40, snr_db=25, n_features=48, random_state=3).D
OF_A_FEW = make_measured(3, 24, 40, random_state=5, disturbed=["shift", "spikes"]).D
RUNS = {
    "few of many": ({}, FEW_OF_MANY),
    "all of a few": ({}, OF_A_FEW),
    "in a band": ({"r2_band": (0.9, 1.0)}, OF_A_FEW),
    "asked for": ({"n_components": 4, "n_starts": 2}, OF_A_FEW),
}


@pytest.mark.parametrize("name", RUNS)
def test_killed_at_random_moments(name, file):
    """A fit goes through two kills, each at a moment of its own, before it is let to its end."""
    options, D = RUNS[name]
    GMCR(**options).fit(D)  # which compiles
    started = time.process_time()
    whole = GMCR(**options).fit(D)
    seconds = time.process_time() - started
    rng = np.random.default_rng(len(name))
    for _ in range(2):
        killed_after(rng.uniform(0.1, 1.0) * seconds, GMCR(**options), D, file)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        resumed = GMCR(**options).fit(D, checkpoint=file)
    assert_same(resumed, whole)
    assert not file.exists()


def killed_after(seconds, model, D, file):
    """A fit in a forked process that is killed once it has had so many seconds of the processor."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # whose signal kills
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(D, checkpoint=Checkpoint(file))
        os._exit(0)
    os.waitpid(child, 0)


def test_it_keeps_what_took_long(file):
    """The second time, all of it is there: a run that was as good as done has next to nothing to do."""
    with Checkpoint(file) as saved:
        model = GMCR().fit(OF_A_FEW, checkpoint=saved)
    kept = file.stat().st_size
    with Checkpoint(file) as saved, pytest.warns(UserWarning, match="went on from the checkpoint"):
        again = GMCR().fit(OF_A_FEW, checkpoint=saved)
    assert kept > 10_000
    assert file.stat().st_size == pytest.approx(
        kept, rel=0.2
    )  # what was quick was computed, and may be kept now
    assert_same(again, model)
    assert (model.resumed_, again.resumed_) == (False, True)


def test_a_model_file_tells_that_it_was_resumed(file, tmp_path):
    with Checkpoint(file) as saved:
        GMCR(n_components=2).fit(OF_A_FEW, checkpoint=saved)
    with pytest.warns(UserWarning, match="went on"):
        model = GMCR(n_components=2).fit(OF_A_FEW, checkpoint=file)
    model.save(tmp_path / "model.gmcr")
    assert GMCR.load(tmp_path / "model.gmcr").resumed_


def test_a_fit_that_is_refused_leaves_no_checkpoint(file):
    with pytest.raises(InputError, match="no solution of the path has R²"):
        GMCR(r2_band=(0.1, 0.11)).fit(OF_A_FEW, checkpoint=file)
    assert not file.exists()
    with pytest.raises(InputError, match="constant"):
        GMCR().fit(np.ones((5, 5)), checkpoint=file)
    assert not file.exists()


# The file


@remembered
def slowly(a, b=1.0):
    slowly.calls += 1
    time.sleep(0.01)
    return {"sum": a + b, "same": [a, None, "text", True], 3: (1, 2.5)}


@pytest.fixture(autouse=True)
def _calls():
    slowly.calls = 0


def computed(file, run="run", n=3):
    """How many of so many results had to be computed; checked."""
    slowly.calls = 0
    with remembering(file) as saved:
        saved.is_of(run)
        for k in range(n):
            a = np.arange(4.0) + k
            out = slowly(a, b=2.0)
            np.testing.assert_array_equal(out["sum"], a + 2.0)
            assert out["same"][0] is a
            assert out["same"][1:] == [None, "text", True]
            assert out[3] == (1, 2.5)
    return slowly.calls


def test_results_are_kept(file):
    assert computed(file) == 3
    assert computed(file) == 0
    assert computed(file, n=5) == 2
    slowly(np.arange(4.0), b=2.0)  # with no checkpoint in use it is called
    assert slowly.calls == 3


def test_a_record_that_is_not_whole_is_computed_again(file):
    computed(file)
    whole = file.read_bytes()
    for length in range(0, len(whole), 37):
        file.write_bytes(whole[:length])
        assert 0 <= computed(file) <= 3
        assert computed(file) == 0
        assert len(file.read_bytes()) == pytest.approx(len(whole), abs=40)
    for place in range(len(checkpoints.MARK) + 8, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        assert 0 < computed(file) <= 3


def test_other_files_are_refused_and_left_alone(file, tmp_path):
    file.write_bytes(b"mine")
    with pytest.raises(FileError, match="is no checkpoint of this version"):
        Checkpoint(file)
    assert file.read_bytes() == b"mine"
    with pytest.raises(FileError, match="is not a file"):
        Checkpoint(tmp_path)
    with pytest.raises(FileError, match="could not be written"):
        Checkpoint(tmp_path / "none" / "a")
    GMCR(n_components=2).fit(OF_A_FEW).save(file)
    with pytest.raises(FileError, match="is no checkpoint of this version"):
        GMCR().fit(OF_A_FEW, checkpoint=file)


def test_another_run_is_refused(file):
    computed(file)
    with pytest.raises(InputError, match="was written by a run on other data"):
        computed(file, "another")
    assert computed(file) == 0


def test_nonsense_whose_checksum_holds_is_refused(file):
    computed(file, n=1)
    content = file.read_bytes()
    texts = content.rindex(b'{"__metadata__"')
    changed = content[texts:].replace(b'\\"sum\\"', b'\\"sux\\"').replace(b'\\"array\\"', b'\\"arrax\\"')
    payload = content[texts - 8 : texts] + changed
    start = texts - 8 - checkpoints.HEAD.size
    checksum = checkpoints.hashlib.sha256(payload).digest()
    file.write_bytes(content[:start] + checkpoints.HEAD.pack(len(payload), checksum) + payload)
    with pytest.raises(FileError, match="is damaged; remove it"):
        computed(file)
    payload = struct.pack("<Q", 3) + b"[1]"
    checksum = checkpoints.hashlib.sha256(payload).digest()
    file.write_bytes(checkpoints.MARK + checkpoints.HEAD.pack(len(payload), checksum) + payload)
    with pytest.raises(FileError, match="is damaged; remove it"):
        computed(file)


def test_one_run_at_a_time(file):
    with Checkpoint(file), pytest.raises(FileError, match="is in use by another run"):
        Checkpoint(file)


def test_a_full_disk_is_one_sentence_and_hides_nothing(file, monkeypatch):
    computed(file)

    class Full(checkpoints.FileIO):
        def write(self, content):
            super().write(content[: len(content) // 2])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "FileIO", Full)
    with pytest.raises(FileError, match="could not be written: No space left"):
        computed(file, n=4)
    monkeypatch.undo()
    assert computed(file) == 0


def test_no_more_is_kept_than_there_is_room_for(file, monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST", 500.0)
    assert computed(file) == 3
    assert 0 < computed(file) < 3
    monkeypatch.setattr(checkpoints, "RATE", 0.0)  # nothing is worth it
    file.unlink()
    assert computed(file) == computed(file) == 3


# Results as JSON and arrays


def test_parts_of_what_was_given_come_back_as_themselves():
    rng = np.random.default_rng(0)
    sigma = Sigma(rng.random(3))
    before = State(rng.random((2, 4)), rng.random((3, 2)), sigma, rng.random(3), np.zeros((3, 2)))
    after = State(rng.random((2, 4)), before.C, sigma, rng.random(3), np.zeros((3, 2)))
    arrays = {}
    stored = pack([after, before, Sigma(sigma.values)], (before,), arrays)
    found, same, other = unpack(stored, (before,), arrays.__getitem__)
    assert same is before
    assert found.sigma is sigma
    assert found.C is before.C
    assert other is not sigma
    assert other.values is sigma.values
    np.testing.assert_array_equal(found.S, after.S)
    assert len(arrays) == 3  # S, misfit, and the zeros


def test_digests_tell_values_apart():
    different = [
        1, 1.0, True, "1", None, [1], {"a": 1}, np.array([1]), np.array([1.0]), np.array([[1.0]]),
        np.array([-0.0]), np.array([0.0]), Sigma(np.ones(2)), [Sigma(np.ones(2))], [1, [2]], [[1], 2],
    ]  # fmt: skip
    assert len({digest(value) for value in different}) == len(different)
    assert digest(Sigma(np.ones(2))) == digest(Sigma(np.ones(2)))
    assert digest(np.ones((4, 4))[::2]) == digest(np.ones((2, 4)))
    with pytest.raises(TypeError):
        digest(object())
