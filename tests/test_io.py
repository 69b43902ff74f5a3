"""Reading tables: what is inferred from a file, what is refused, and that writing reads back."""

from itertools import product

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gmcr
from csv_forms import exported
from gmcr.decomposition import Decomposition
from gmcr.errors import FileError, InputError
from gmcr.io.arrays import read_arrays, write_arrays
from gmcr.io.csv import read_csv, write_csv
from gmcr.io.formats import POOL
from gmcr.io.reading import read_pool, read_table
from gmcr.io.table import Table
from gmcr.io.units import as_unit, unit_in
from gmcr.io.xlsx import read_xlsx, write_xlsx
from shared_data import DATA, needs_data

SETS = ("carbs", "nir", "als2004", "claus_eem", "simdata_uv_noisy")
nan = np.nan
TEN = ",".join(map(str, range(400, 410)))


def read(tmp_path, text, **options):
    path = tmp_path / "table.csv"
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return gmcr.read(path, **options)


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
        (",X400,X401,X402\n1,1,2,4\n2,3,1,2\n", (2, 3), [400, 401, 402], ("1", "2")),  # R's write.csv
        (",0,1,2\n0,1,5,4\n1,3,1,2\n", (2, 3), [0, 1, 2], ("0", "1")),  # pandas' to_csv
        ("name,400 nm,410 nm,420 nm\na,1,2,4\nb,3,1,2\n", (2, 3), [400, 410, 420], ("a", "b")),
        ("s1,s2\n1,2\n3,4\n3,5\n", (2, 3), None, ("s1", "s2")),
        ("ch1,1,2\nch2,3,4\nch3,3,5\n", (2, 3), None, None),
        ("sample,400,401,402,\na,1,2,4,\nb,3,1,2,\n,,,,\n", (2, 3), [400, 401, 402], ("a", "b")),
        ('name,x,y\n"a\nb",1,2\nc,3,4\n', (2, 2), None, ("a\nb", "c")),
        ('"1,5","2,5"\n"3,5","4,25"\n', (2, 2), None, None),
        ("a|1|2\nb|3|4\n", (2, 2), None, ("a", "b")),
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
        (b"\1\0binary", FileError, "holds binary data; export it as CSV"),
        ("1,2,3\n4,5\n6,7,8\n", InputError, "line 2 has 2 columns where 3 are expected; give every line"),
        ("1,2,3\n4,oops,6\n", InputError, "line 2, column 2 is 'oops', which is no number; correct it"),
        ("a,1,x,2\nb,1,2,3\n", InputError, "line 1, column 3 is 'x', which is no number"),
        ("# skipped\n\n1,2\n3,inf\n", InputError, "line 4, column 2 is 'inf'"),
        ("1,1_000\n2,3\n", InputError, "line 1, column 2 is '1_000'"),
        ("a,b,c\n", InputError, "has a header and no data below it"),
        ("nm,a,b,c\n400,1,2\n401,3,4\n402,5,6\n", InputError, "line 1 has 4 columns where 3 are expected"),
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
    (tmp_path / "spectrum.xyz").write_text("1,2")
    with pytest.raises(FileError, match=r"has no extension gmcr reads; give a file ending in .csv"):
        read_table(tmp_path / "spectrum.xyz")
    (tmp_path / "spectrum.7").write_text("1,2")  # OPUS numbers its files so
    with pytest.raises(FileError, match="is no Bruker OPUS file"):
        read_table(tmp_path / "spectrum.7")


@settings(max_examples=50)
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
    np.testing.assert_array_equal(read_table(tmp_path / "a.npz", called=POOL).samples, S)
    np.save(tmp_path / "b.npy", D)
    np.testing.assert_array_equal(read_table(tmp_path / "b.npy").samples, D)
    write_arrays(tmp_path / "c.npz", anything=D, axis=np.arange(5.0))
    table = read_table(tmp_path / "c.npz")
    assert table.axis is None
    assert "does not fit" in table.notes[1]
    write_arrays(
        tmp_path / "d.npz", X=D.T, wavelength=axis, names=np.array(["a", "b", "c"]), sizes=np.arange(2)
    )
    table = read_table(tmp_path / "d.npz")
    np.testing.assert_array_equal(table.samples, D)
    np.testing.assert_array_equal(table.axis, axis)
    assert table.sample_names == ("a", "b", "c")
    assert any("by the length of 'wavelength'" in note for note in table.notes)
    assert read_table(tmp_path / "d.npz", samples_in="rows").samples.shape == (4, 3)
    assert gmcr.read(tmp_path / "a.npz", name="S").samples.shape == (2, 4)
    with pytest.raises(InputError, match="holds no table of numbers named 'T', but D, S, axis"):
        gmcr.read(tmp_path / "a.npz", name="T")


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


def test_an_array_that_claims_more_than_the_file_holds(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2, 3))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "b.npy").write_bytes(content.replace(b"(2, 3)", b"(2, 9999999999)".ljust(6)))
    (tmp_path / "c.npy").write_bytes(content[:-8])
    for name in ("b.npy", "c.npy"):
        with pytest.raises(FileError, match="is damaged or not a numpy file"):
            read_table(tmp_path / name)


# The same numbers, however a set is exported


@needs_data
@pytest.mark.parametrize("name", SETS)
def test_five_sets_read_the_same_in_every_form(tmp_path, name):
    with np.load(DATA / f"{name}.npz") as file:
        D, axis = file["D"], file["axis"]
    names = tuple(f"s{index}" for index in range(len(D)))
    for columns, comma, has_names, has_axis in product((False, True), repeat=4):
        form = {"columns": columns, "comma": comma, "has_names": has_names, "has_axis": has_axis}
        text = exported(D, axis, names, **form)
        bare = not (has_names or has_axis)  # nothing but numbers: the samples are taken to be in rows
        table = read(tmp_path, text, samples_in="columns" if bare and columns else "auto")
        np.testing.assert_array_equal(table.samples, D, err_msg=str(form))
        if has_axis:
            np.testing.assert_array_equal(table.axis, axis)
        assert table.sample_names == (names if has_names else None), form
        said = f"Samples are in {'columns' if columns else 'rows'}"
        assert any(note.startswith(said) for note in table.notes), form
    assert any(
        "by custom, since nothing in the file says" in note for note in read(tmp_path, "1,2\n3,5").notes
    )


# What instruments write around tables, and what is beside the channels


def test_text_around_a_table(tmp_path):
    spectrum = "\n".join(f"{400 + 0.5 * i + 0.01 * i * i:.3f}\t{(7 * i) % 11}" for i in range(30))
    head = "Data from FLAME\n\nDate: Mon May 06\nIntegration time\t100\n>>>>>Begin Spectral Data<<<<<\n"
    table = read(tmp_path, head + spectrum + "\n>>>>>End Spectral Data<<<<<\n")
    assert table.samples.tolist() == [[(7 * i) % 11 for i in range(30)]]
    assert table.axis[0] == 400
    assert "The 4 lines above the table were left out." in table.notes
    assert "The line below the table was left out." in table.notes
    table = read(tmp_path, "# by hand\nmade today\nnm,one,two\n400,1,2\n401,3,4\n402,5,7\n")
    assert table.samples.tolist() == [[1, 3, 5], [2, 4, 7]]
    assert table.sample_names == ("one", "two")
    assert table.axis_unit == "nm"
    assert table.notes[:1] == ("1 comment line left out.",)


def test_the_header_among_several_lines_of_text(tmp_path):
    body = "\n".join(f"{400 + i},{i},{i * i},1" for i in range(6))
    for head in ("Made by,me,on,monday\nnm,a,b,c\n", "nm,a,b,c\nclass,x,y,x\n"):
        table = read(tmp_path, head + body)
        assert table.samples.tolist() == [[0, 1, 2, 3, 4, 5], [0, 1, 4, 9, 16, 25], [1] * 6]
        assert table.sample_names == ("a", "b", "c")
    assert table.metadata == {"class": ["x", "y", "x"]}


def test_what_is_no_channel_is_metadata(tmp_path):
    text = "sample,class,glucose,400,401,402\na,x,1.5,1,2,4\nb,y,2.5,3,1,2\n"
    table = read(tmp_path, text)
    assert table.samples.tolist() == [[1, 2, 4], [3, 1, 2]]
    assert table.metadata == {"class": ["x", "y"], "glucose": [1.5, 2.5]}
    turned = "\n".join(",".join(row) for row in zip(*(line.split(",") for line in text.splitlines())))
    again = read(tmp_path, turned.replace("sample", "nm"))
    assert again.samples.tolist() == table.samples.tolist()
    assert again.metadata == table.metadata
    assert again.sample_names == ("a", "b")


@pytest.mark.parametrize(
    ("heading", "unit"),
    [("Wavelength (nm)", "nm"), ("Raman shift / cm-1", "cm⁻¹"), ("wavenumber [1/cm]", "cm⁻¹"), ("m/z", "m/z"),
     ("x", None), ("s", None), ("sample", None), ("Energy/eV", "eV"), ("wavelength_nm", "nm")],
)  # fmt: skip
def test_units_in_headings(heading, unit):
    assert unit_in(heading) == unit


def test_units_as_files_spell_them():
    assert [as_unit(text) for text in ("1/CM", "NANOMETERS", "MICROMETERS", "HZ")] == [
        "cm⁻¹",
        "nm",
        "µm",
        "Hz",
    ]
    assert [as_unit(text) for text in ("ARBITRARY UNITS", "", "furlong")] == [None, None, "furlong"]


# Tables out


TABLE = Table(
    np.array([[1.0, -2.5e-300, nan], [0.1 + 0.2, 1e300, 3.0]]),
    np.array([400.5, 401.0, 1e5]),
    ("=1+1", "#2"),
    axis_unit="cm⁻¹",
)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_table_is_written_with_names_axis_and_unit(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    TABLE.write(path)
    back = read_table(path)
    np.testing.assert_array_equal(back.samples, TABLE.samples)
    np.testing.assert_array_equal(back.axis, TABLE.axis)
    assert (back.sample_names, back.axis_unit) == (TABLE.sample_names, TABLE.axis_unit)
    with pytest.raises(InputError, match=r"must end in .csv or .xlsx"):
        TABLE.write(tmp_path / "table.doc")


DANGEROUS = ("=1+1", "+x", "-x", "@y", "\tz", "'=q", "''+q", "#c", "%d", '"quoted", and more', "a\nb", "-")


def test_text_in_csv_neither_runs_nor_changes(tmp_path):
    write_csv(tmp_path / "t.csv", ["sample", 1.5, 2.5], [[name, -1.0, 2] for name in DANGEROUS])
    shown = pd.read_csv(tmp_path / "t.csv")
    for name, cell in zip(DANGEROUS, shown["sample"].fillna("-")):
        assert not cell.startswith(("=", "+", "@", "\t", "\r")), name
        assert not cell.startswith("-") or cell == "-", name
    assert shown["1.5"].tolist() == [-1.0] * len(DANGEROUS)  # negative numbers stay numbers
    assert read_csv(tmp_path / "t.csv").sample_names == tuple(name.strip() for name in DANGEROUS)


def test_text_in_xlsx_is_no_formula(tmp_path):
    write_xlsx(
        tmp_path / "t.xlsx", ["sample", 1.5, -2.5], [[name, -1.0, True] for name in (*DANGEROUS, "\x01")]
    )
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    cells = [row[0] for row in sheet.iter_rows(min_row=2)]
    assert [cell.value for cell in cells] == [*DANGEROUS, "\ufffd"]
    assert {cell.data_type for cell in cells} == {"s"}
    assert all(cell.quotePrefix for cell in cells)
    assert {type(row[1].value) for row in sheet.iter_rows(min_row=2)} <= {int, float}


def test_sheets(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "empty"
    sheet = book.create_sheet("spectra")
    rows = [
        ["made in the lab"],
        [],
        [None, "nm", "one", "two"],
        *([None, 400 + i, i, i * i] for i in range(4)),
    ]
    for row in rows:
        sheet.append(row)
    book.create_sheet("other").append([1, 2])
    book.save(tmp_path / "book.xlsx")
    table = read_table(tmp_path / "book.xlsx")
    assert table.samples.tolist() == [[0, 1, 2, 3], [0, 1, 4, 9]]
    assert (table.sample_names, table.axis_unit, table.axis.tolist()) == (
        ("one", "two"),
        "nm",
        [400, 401, 402, 403],
    )
    assert table.notes[0] == "The sheet 'spectra' was taken, one of 3; name=\"*\" takes all, each a run."
    assert gmcr.read(tmp_path / "book.xlsx", name="other").samples.tolist() == [[1, 2]]
    with pytest.raises(InputError, match="has no sheet 'none', but empty, spectra, other"):
        gmcr.read(tmp_path / "book.xlsx", name="none")
    sheet["D5"] = "oops"
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(InputError, match=r"book.xlsx cell D5 is 'oops', which is no number"):
        read_xlsx(tmp_path / "book.xlsx")
    sheet["D5"] = "=1+1"  # as openpyxl writes it, without a value
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(
        InputError, match="cell D5 is a formula without a stored value; save the workbook once"
    ):
        read_xlsx(tmp_path / "book.xlsx")


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
