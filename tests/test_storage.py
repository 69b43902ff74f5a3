"""Model files: exact round trips, written whole or not at all, one clear sentence for what is not one."""

import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr import storage
from gmcr.errors import FileError, InputError
from gmcr.storage import as_json, pack_table, read_model, unpack_table, write_model

ARRAYS = {"small": np.array([[0.1, -0.0], [np.nan, 1e-310]]), "flags": np.array([True, False])}
HEADER = {
    "kind": "test",
    "name": 'é "quoted" \\ \u2028',
    "none": None,
    "third": 1 / 3,
    "list": [1, "a", True],
}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.gmcr"
    write_model(path, ARRAYS, HEADER)
    return path


def assert_refused(path, words="gmcr"):
    """One sentence that names the file and holds `words`."""
    with pytest.raises(FileError, match=words) as caught:
        read_model(path)
    message = str(caught.value)
    assert str(path) in message
    assert message.endswith(".")
    assert "\n" not in message


def rewrite(path, **texts):
    """The model file again with other texts in its metadata, as another program or version might write it."""
    with storage.safe_open(path, framework="numpy") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    metadata |= texts
    path.write_bytes(safetensors.numpy.save(tensors, {k: v for k, v in metadata.items() if v is not None}))


def test_round_trip_is_exact(model):
    arrays, header = read_model(model)
    assert header == HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
def test_every_shape_and_type(tmp_path, shape, dtype):
    array = np.ones(shape, dtype=dtype)
    write_model(tmp_path / "m.gmcr", {"a": array}, {"kind": "test"})
    back = read_model(tmp_path / "m.gmcr")[0]["a"]
    assert back.dtype == array.dtype
    assert back.shape == shape
    np.testing.assert_array_equal(back, array)


def test_memory_layout_does_not_matter(tmp_path):
    array = np.arange(24.0).reshape(4, 6)
    views = {"fortran": np.asfortranarray(array), "strided": array[::2, ::-1], "big": array.astype(">f8")}
    write_model(tmp_path / "m.gmcr", views, {"kind": "test"})
    back = read_model(tmp_path / "m.gmcr")[0]
    for name, view in views.items():
        np.testing.assert_array_equal(back[name], view)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(content=json_values)
@settings(max_examples=50)
def test_any_json_header_round_trips(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("json") / "m.gmcr"
    write_model(path, {}, {"kind": "test", "content": content})
    assert read_model(path)[1]["content"] == content


def test_as_json_turns_numpy_into_plain_types():
    plain = as_json(
        {"a": np.float64(0.1), "b": np.int32(2), "c": np.bool_(True), "d": np.arange(2), "e": (1,)}, "x"
    )
    assert plain == {"a": 0.1, "b": 2, "c": True, "d": [0, 1], "e": [1]}
    assert [type(value) for value in plain.values()] == [float, int, bool, list, list]


@pytest.mark.parametrize("value", [{1: "int key"}, {1, 2}, object(), 1j, b"bytes"])
def test_as_json_refuses_what_would_not_read_back(value):
    with pytest.raises(InputError, match=r"settings\['it'\] is .* cannot hold"):
        as_json({"it": value}, "settings")


def test_write_refuses_arrays_of_text_and_headers_without_kind(tmp_path):
    with pytest.raises(InputError, match=r"'a' holds .* real numbers"):
        write_model(tmp_path / "m.gmcr", {"a": np.array(["text"])}, {"kind": "test"})
    with pytest.raises(InputError, match="kind"):
        write_model(tmp_path / "m.gmcr", {}, {})
    assert list(tmp_path.iterdir()) == []


def test_write_refuses_a_header_too_long_to_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_MAX_METADATA", 1000)
    with pytest.raises(InputError, match="header"):
        write_model(tmp_path / "m.gmcr", {}, {"kind": "test", "long": "x" * 1000})


def test_table_round_trip():
    table = pd.DataFrame(
        {
            "level": [0.1, np.nan],
            "count": [3, 4],
            "chosen": [True, False],
            "note": ["<b>", None],
            "µ": [1, "a"],
        }
    )
    arrays, columns = pack_table(table, "path")
    pd.testing.assert_frame_equal(unpack_table(arrays, columns), table)
    assert sorted(arrays) == ["path.0", "path.1", "path.2"]


def test_table_refuses_unclear_columns():
    with pytest.raises(InputError, match="column names"):
        pack_table(pd.DataFrame({0: [1]}), "path")
    with pytest.raises(InputError, match=r"path\['when'\]"):
        pack_table(pd.DataFrame({"when": [pd.Timestamp(0)]}), "path")


# Damaged, foreign and future files


def test_every_flipped_bit_is_found_or_harmless(model):
    content = model.read_bytes()
    copy = model.with_name("flipped.gmcr")
    undetected = 0
    for position in range(len(content)):
        for bit in range(8):
            flipped = bytearray(content)
            flipped[position] ^= 1 << bit
            copy.write_bytes(flipped)
            try:
                arrays, header = read_model(copy)
            except FileError:
                continue
            undetected += 1
            assert header == HEADER
            assert all(arrays[name].tobytes() == array.tobytes() for name, array in ARRAYS.items())
    assert undetected < 8  # such as a letter's case in an escaped character of the JSON


def test_every_truncation_is_found(model):
    content = model.read_bytes()
    copy = model.with_name("short.gmcr")
    for length in range(len(content)):
        copy.write_bytes(content[:length])
        assert_refused(copy, "not a gmcr model file")
    copy.write_bytes(content + b"\0")
    assert_refused(copy)


class Trap:
    """Unpickling this writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_is_refused_and_not_executed(tmp_path):
    path, proof = tmp_path / "m.gmcr", tmp_path / "executed"
    path.write_bytes(pickle.dumps(Trap(proof)))
    assert_refused(path, "not a gmcr model file")
    assert not proof.exists()


@given(content=st.binary(max_size=200))
@settings(max_examples=100)
def test_random_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("random") / "m.gmcr"
    path.write_bytes(content)
    assert_refused(path, "not a gmcr model file")


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "m.gmcr"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "text")
    assert_refused(path, "not a gmcr model file")
    path.write_bytes(safetensors.numpy.save({"a": np.ones(2)}))
    assert_refused(path, "not a gmcr model file")
    path.write_bytes(safetensors.numpy.save({"a": np.ones(2)}, {"format": "pt"}))
    assert_refused(path, "not a gmcr model file")
    assert_refused(tmp_path, "not a file")
    assert_refused(tmp_path / "missing.gmcr", "does not exist")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert_refused(tmp_path / "pipe", "not a file")


def test_newer_and_nonsense_versions(model):
    rewrite(model, format_version="2")
    assert_refused(model, "format version 2 .* up to 1; upgrade gmcr")
    rewrite(model, format_version="one")
    assert_refused(model, "not a gmcr model file")


def test_a_changed_header_is_refused(model):
    rewrite(model, header='{"kind": "forged"}')
    assert_refused(model, "damaged.*checksum")
    rewrite(model, sha256=None)
    assert_refused(model, "damaged.*checksum")


@pytest.mark.parametrize("header", ["[]", "{}", '{"kind": 1}', "no json", "[" * 100_000])
def test_a_header_without_kind_is_refused(model, header):
    arrays, _ = read_model(model)
    texts = {"format": "gmcr", "format_version": "1", "header": header}
    rewrite(model, **texts, sha256=storage._checksum(arrays, texts))
    assert_refused(model, "header")
