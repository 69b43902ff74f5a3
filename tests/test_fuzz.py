"""A short fuzzing of every reader and of the model loaders: damaged files end in gmcr's own errors and no other.

benchmarks/fuzz.py does the same with a hundred times as many.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gmcr
import made_files as made
from forked import forked, read_as_apart
from gmcr import GMCR, Decomposition
from gmcr.errors import GMCRError
from gmcr.io.formats import FORMATS, format_of
from gmcr.storage import read_model, write_model
from model_files import LEARNED, use, write_models
from mutations import altered, changed_arrays, changed_header, damaged
from odd_files import odd_file

short = settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return made.write_all(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of model files that hold all that one may hold, and the samples that go with each."""
    folder = tmp_path_factory.mktemp("models")
    return folder, write_models(folder)


def check(call, *arguments):
    """Run; the only way to fail is by one of gmcr's errors, with a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(*arguments)
        except GMCRError as error:
            assert str(error).strip()  # noqa: PT017
            assert "no text file:" not in str(error)  # noqa: PT017  # any text is one: that is a mistake of ours
            return None


def check_table(path):
    table = check(gmcr.read, path)
    if table is not None:
        assert table.samples.ndim == 2
        assert 0 not in table.samples.shape
        assert not np.isinf(table.samples).any()
        assert table.axis is None or table.axis.shape == table.samples.shape[1:]
        assert table.sample_names is None or len(table.sample_names) == len(table.samples)
        assert table.pixels is None or int(table.pixels.kept.sum()) == len(table.samples)


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if not form.apart])
def test_damaged_files_of_every_kind(files, tmp_path, name):
    """300 of each format that gmcr parses itself: bytes damaged, fields altered, or odd from the beginning."""
    rng = np.random.default_rng(len(name))
    valid = [path for path in files if format_of(path) == name]
    for turn in range(300):
        check_table(changed(name, valid, turn, tmp_path, rng))


def changed(name, valid, turn, folder, rng):
    if turn % 3 == 2:
        return odd_file(name, folder, rng)
    path = valid[turn // 3 % len(valid)]
    (folder / path.name).write_bytes((altered if turn % 3 else damaged)(path.read_bytes(), rng))
    return folder / path.name


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.apart])
def test_damaged_files_that_packages_read(files, tmp_path, name):
    """20 of each other format, in forked processes: they may crash, which read_apart turns into an error too."""
    rng = np.random.default_rng(len(name))
    valid = [path for path in files if format_of(path) == name]
    for turn in range(20):
        outcome = forked(read_as_apart, changed(name, valid, turn, tmp_path, rng))
        crashed = "it ended with status" in str(outcome.error)
        assert outcome.error is None or crashed or isinstance(outcome.error, GMCRError), (turn, outcome)


@short
@given(
    content=st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode)),
    index=st.integers(0, 99),
)
def test_garbage_under_any_name(tmp_path, content, index):
    suffixes = (".csv", ".txt", ".npy", ".npz", ".jdx", ".spc", ".0", ".wdf", ".gmcr", ".xyz")
    path = tmp_path / f"a{suffixes[index % len(suffixes)]}"
    path.write_bytes(content)
    check_table(path)
    check(Decomposition.load, path)


CELLS = ["1", "2.5", "-3,5", "nan", "", "a", "400", "401", "x y", '"', "=1", "1e400", "s1"]


@short
@given(
    text=st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=5), max_size=8),
    delimiter=st.sampled_from([",", ";", "\t", " ", "|"]),
)
def test_tables_of_any_text(tmp_path, text, delimiter):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(delimiter.join(row) for row in text))
    check_table(path)


def test_model_files_that_are_whole(models, tmp_path):
    folder, samples = models
    for name, D in samples.items():
        use(folder / name, D, tmp_path, whole=name in LEARNED)


def test_damaged_model_files(models, tmp_path):
    """300 files, of which hardly any gets past the checksum."""
    folder, samples = models
    rng = np.random.default_rng(0)
    for turn in range(300):
        name = list(samples)[turn % len(samples)]
        (tmp_path / name).write_bytes(damaged((folder / name).read_bytes(), rng))
        check(GMCR.load if "decomposition" not in name else Decomposition.load, tmp_path / name)


def test_model_files_whose_checksum_holds_but_whose_content_does_not(models, tmp_path):
    """200 files: refused when loaded, or else all that is done with a model works."""
    folder, samples = models
    stored = {name: read_model(folder / name) for name in samples}
    rng = np.random.default_rng(0)
    for turn in range(200):
        name = list(samples)[turn % len(samples)]
        arrays, header = stored[name]
        if rng.random() < 0.6:
            header = changed_header(header, rng)
        else:
            arrays = changed_arrays(arrays, rng)
        write_model(tmp_path / name, arrays, header)
        check(partial(use, whole=False), tmp_path / name, samples[name], tmp_path)
