"""Reading tables: what is inferred from a file, what is refused, and that writing reads back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, InputError
from gmcr.io.arrays import POOL, read_arrays, write_arrays
from gmcr.io.csv import read_csv, write_csv
from gmcr.io.reading import read_pool, read_table

nan = np.nan
TEN = ",".join(map(str, range(400, 410)))


def read(tmp_path, text, **options):
    path = tmp_path / "table.csv"
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return read_csv(path, **options)


# Text tables: how they are written, and how they are laid out


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("1,2,3\n4,5,7\n", [[1, 2, 3], [4, 5, 7]]),
        ("1, 2.5, -3e2\n4, 5, 7", [[1, 2.5, -300], [4, 5, 7]]),
        ("1;2;3\r\n4;5;7\r\n", [[1, 2, 3], [4, 5, 7]]),
        ("1,5;2,25\n4;5,75\n", [[1.5, 2.25], [4, 5.75]]),
        ("1,5\t2\n4\t5,75\n", [[1.5, 2], [4, 5.75]]),
        ("1 2   3\n 4 5 7\n", [[1, 2, 3], [4, 5, 7]]),
        ("1,5 2,5\n3,5 4\n", [[1.5, 2.5], [3.5, 4]]),
        ("1.0D-2,2\n1,.5\n", [[0.01, 2], [1, 0.5]]),
        ("# made by hand\n\n1,2\n# and on\n3,5\n", [[1, 2], [3, 5]]),
        ("1,,3\nNA,5,nan\n", [[1, nan, 3], [nan, 5, nan]]),
        ('"1","2"\n"3","5"\n', [[1, 2], [3, 5]]),
        ("5\n6\n", [[5], [6]]),
        (b"\xef\xbb\xbf1,2\n3,5\n", [[1, 2], [3, 5]]),
        ("1,2\n3,5\n".encode("utf-16"), [[1, 2], [3, 5]]),
    ],
)
def test_ways_of_writing(tmp_path, text, samples):
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.samples, samples)
    assert table.axis is None
    assert table.sample_names is None


@pytest.mark.parametrize(
    ("text", "shape", "axis", "names"),
    [
        ("sample,400,401,402\na,1,2,4\nb,3,1,2\n", (2, 3), [400, 401, 402], ("a", "b")),
        (",400,410,450\na,1,2,4\nb,3,1,2\n", (2, 3), [400, 410, 450], ("a", "b")),
        ("400,410,450\na,1,2,4\nb,3,1,2\n", (2, 3), [400, 410, 450], ("a", "b")),
        ("a,1,2,4\nb,3,1,2\n", (2, 3), None, ("a", "b")),
        ("a,1,2,4\n", (1, 3), None, ("a",)),
        ("x1,x2,x3\n1,2,4\n3,1,2\n", (2, 3), None, None),
        (",ch1,ch2\n0,1,2\n1,3,4\n2,3,5\n", (3, 2), None, ("0", "1", "2")),
        ("id,ch1,ch2\n7,1,2\n8,3,4\n9,3,5\n", (3, 2), None, ("7", "8", "9")),
        ("wavelength,s1,s2\n400,1,2\n401,3,4\n403,3,5\n", (2, 3), [400, 401, 403], ("s1", "s2")),
        ("nm;s1;s2\n400,5;1;2\n400;3;4\n399;3;5\n", (2, 3), [400.5, 400, 399], ("s1", "s2")),
        ("time,400,401,402\n.5,1,5,2\n1.,3,3,3\n2,1,2,1\n", (3, 3), [400, 401, 402], (".5", "1.", "2")),
        (f"{TEN}\n" + "3,1,4,1,5,9,2,6,5,3\n" * 2, (2, 10), list(range(400, 410)), None),
        ("\n".join(f"{400 + i},{i % 3},{i % 2}" for i in range(10)), (2, 10), list(range(400, 410)), None),
        ("name,a,b\n'=x,1,2\n'-y,3,4\n", (2, 2), None, ("=x", "-y")),
        ("smooth,1.1,1.3,1.9,3.2,5\nrise,1,2,3,4,6\n", (2, 5), None, ("smooth", "rise")),
        ("energy\n5\n6\n", (2, 1), None, None),
    ],
)
def test_ways_of_laying_out(tmp_path, text, shape, axis, names):
    table = read(tmp_path, text)
    assert table.samples.shape == shape
    np.testing.assert_array_equal(table.axis, axis)
    assert table.sample_names == names
    assert any("Samples are in" in note for note in table.notes)


def test_orientation_can_be_told(tmp_path):
    text = "wavelength,s1,s2\n400,1,2\n401,3,4\n403,3,5\n"
    assert read(tmp_path, text).samples.tolist() == [[1, 3, 3], [2, 4, 5]]
    told = read(tmp_path, text, samples_in="rows")
    assert told.samples.tolist() == [[1, 2], [3, 4], [3, 5]]
    assert told.sample_names == ("400", "401", "403")
    with pytest.raises(InputError, match='samples_in must be "auto", "rows" or "columns", not \'sideways\''):
        read(tmp_path, text, samples_in="sideways")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", FileError, "is empty; give a table"),
        ("# only this\n", FileError, "is empty"),
        (b"PK\x03\x04\0\0binary", FileError, "holds binary data; export it as CSV"),
        ("1,2,3\n4,5\n6,7,8\n", InputError, "line 2 has 2 columns where 3 are expected; give every line"),
        ("1,2,3\n4,oops,6\n", InputError, "line 2, column 2 is 'oops', which is no number; correct it"),
        ("a,1,x,2\nb,1,2,3\n", InputError, "line 1, column 3 is 'x', which is no number"),
        ("# skipped\n\n1,2\n3,inf\n", InputError, "line 4, column 2 is 'inf'"),
        ("1,1_000\n2,3\n", InputError, "line 1, column 2 is '1_000'"),
        ("a,b,c\n", InputError, "has a header and no data below it"),
        ("<html><body>no</body></html>\n<p>data</p>\n", InputError, "which is no number"),
    ],
)
def test_text_that_is_no_table(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path):
    for reader in (read_csv, read_arrays, read_table):
        with pytest.raises(FileError, match=r"nowhere.* (could not be read|does not exist|has no extension)"):
            reader(tmp_path / ("nowhere.npz" if reader is read_arrays else "nowhere.csv"))
    with pytest.raises(FileError, match=r"has no extension gmcr reads; give a file ending in .csv"):
        read_table(tmp_path / "spectrum.xyz")


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(
        st.lists(st.one_of(st.floats(allow_nan=True, allow_infinity=False)), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    names=st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1),
        min_size=5,
        max_size=5,
    ),
)
def test_what_is_written_reads_back(tmp_path_factory, values, names):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    names = [f"n{name}" if name[0] in "#'" else name for name in names[: len(values)]]
    write_csv(path, ["sample", 1.5, 2.5, 4.0], [[name, *row] for name, row in zip(names, values)])
    table = read_csv(path)
    np.testing.assert_array_equal(table.samples, values)
    np.testing.assert_array_equal(table.axis, [1.5, 2.5, 4])
    assert table.sample_names == tuple(names)
    assert len(list(path.parent.iterdir())) == 1


def test_cells_that_would_run_are_written_as_text(tmp_path):
    path = tmp_path / "out.csv"
    write_csv(path, ["=1+1", "-2", "+x", "@y"], [["-1e5", "-", -1.5, True]])
    assert path.read_text() == "'=1+1,-2,'+x,'@y\n-1e5,'-,-1.5,true\n"


# numpy's files


def test_arrays(tmp_path):
    D, S, axis = np.eye(3, 4), np.ones((2, 4)), np.arange(4.0)
    write_arrays(tmp_path / "a.npz", D=D, S=S, axis=axis)
    table = read_table(tmp_path / "a.npz")
    np.testing.assert_array_equal(table.samples, D)
    np.testing.assert_array_equal(table.axis, axis)
    np.testing.assert_array_equal(read_arrays(tmp_path / "a.npz", POOL).samples, S)
    np.save(tmp_path / "b.npy", D)
    np.testing.assert_array_equal(read_table(tmp_path / "b.npy").samples, D)
    write_arrays(tmp_path / "c.npz", anything=D, axis=np.arange(3.0))
    table = read_table(tmp_path / "c.npz")
    assert table.axis is None
    assert "does not fit" in table.notes[1]


def test_arrays_that_cannot_be_read(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    np.save(tmp_path / "trap.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "trap.npz", D=np.array([[Trap()]], dtype=object))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "trap.npz").read_bytes()[:50])
    (tmp_path / "text.npy").write_text("1,2,3")
    for name in ("trap.npy", "trap.npz", "cut.npz", "text.npy"):
        with pytest.raises(FileError, match="is damaged or not a numpy file of plain numbers"):
            read_table(tmp_path / name)
    write_arrays(tmp_path / "two.npz", a=np.eye(2), b=np.eye(2))
    with pytest.raises(InputError, match="holds no table named D or X or samples or data, but a, b; save"):
        read_table(tmp_path / "two.npz")


# Pools


def test_pools(tmp_path):
    S = np.eye(2, 3)
    write_csv(tmp_path / "pool.csv", ["name", 1, 2, 4], [["water", *S[0]], ["oil", *S[1]]])
    pool = read_pool(tmp_path / "pool.csv")
    assert pool.names == ("water", "oil")
    np.testing.assert_array_equal(pool.profiles, S)
    law = {"kind": "poisson", "level": 0.5}
    Decomposition(S, -np.ones((1, 2)), noise_law=law, signed=True).save(tmp_path / "pool.gmcr")
    pool = read_pool(tmp_path / "pool.gmcr")
    assert pool.names == ("component 0", "component 1")
    assert (pool.noise.kind, pool.noise.level, pool.signed) == ("poisson", 0.5, True)
    with pytest.raises(FileError, match="is a model file, not a data file"):
        read_table(tmp_path / "pool.gmcr")
