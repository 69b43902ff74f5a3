"""Reading: which way samples run in tables as instruments and people write them, and other forms of tables."""

import numpy as np
import pytest
from openpyxl import Workbook

import gmcr
from layouts import LAYOUTS, numbers

ASKED = 'could be either: samples_in="rows" or "columns"'


def read(tmp_path, text, **options):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return gmcr.read(path, **options)


def line(table):
    (told,) = (note for note in table.notes if note.startswith("Samples are in"))
    return told


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_orientation(tmp_path, layout, columns):
    table = read(tmp_path, layout.text(columns))
    asked = ASKED in line(table)
    assert asked == layout.unclear
    right = table.samples.shape == numbers().shape and np.array_equal(table.samples, numbers())
    assert right or asked
    told = read(tmp_path, layout.text(columns), samples_in="columns" if columns else "rows")
    assert np.array_equal(told.samples, numbers())
    assert "as told" in line(told)
    if asked:
        return
    here, there = ("columns", "rows") if columns else ("rows", "columns")
    assert line(table).startswith(f"Samples are in {here}: 9 x 26 (samples x channels), by ")
    assert line(table).endswith(f'; samples_in="{there}" turns it round.')
    if columns and layout.unit:
        assert table.axis_unit == layout.unit


def test_as_many_layouts_as_were_asked_for_and_few_of_them_unclear():
    assert len({layout.text(columns) for layout in LAYOUTS for columns in (False, True)}) >= 2 * 40
    assert sum(layout.unclear for layout in LAYOUTS) <= len(LAYOUTS) / 10


def test_times_are_kept_to_order_samples_by(tmp_path):
    layout = next(layout for layout in LAYOUTS if layout.name == "kinetics in minutes")
    table = read(tmp_path, layout.text(False))
    assert table.metadata == {"Time (min)": [0.5 * m for m in range(9)]}
    assert table.axis_unit is None  # minutes are not the unit of the channels


def test_chromatograms_have_times_for_channels(tmp_path):
    D = numbers()
    head = "Time (min)," + ",".join(f"sample {m}" for m in range(9)) + "\n"
    rows = "\n".join(f"{0.1 * i:.1f}," + ",".join(map(str, D[:, i])) for i in range(26))
    table = read(tmp_path, head + rows)
    assert np.array_equal(table.samples, D)
    assert table.axis_unit == "min"
    named = read(tmp_path, head.replace("sample ", "mead") + rows)
    assert ASKED in line(named)


def test_a_corner_that_speaks_of_the_row_beside_it(tmp_path):
    D = numbers()
    head = "Wavelength (nm)," + ",".join(str(400 + 10 * i) for i in range(26)) + "\n"
    rows = "\n".join(f"{0.5 * m}," + ",".join(map(str, row)) for m, row in enumerate(D))  # times from 0
    table = read(tmp_path, head + rows)
    assert np.array_equal(table.samples, D)
    assert table.axis_unit == "nm"


# X, Y, X, Y

HEAD = "one,,two,,three,\n" + ",".join(["Wavelength (nm),Abs"] * 3) + "\n"


def pairs(D, axes):
    return "\n".join(
        ",".join(f"{axis[i]},{values[i]}" if i < len(axis) else "," for axis, values in zip(axes, D))
        for i in range(max(map(len, axes)))
    )


@pytest.mark.parametrize(("head", "names"), [
    (HEAD, ("one", "two", "three")),
    ("X,Y1,X,Y2,X,Y3\n", ("Y1", "Y2", "Y3")),
    ("", ("spectrum 1", "spectrum 2", "spectrum 3")),
])  # fmt: skip
@pytest.mark.parametrize("across", [False, True])
def test_positions_beside_every_spectrum(tmp_path, head, names, across):
    D = numbers(3, 12)
    text = head + pairs(D, [np.arange(800, 776, -2)] * 3)
    if across:
        text = "\n".join(map(",".join, zip(*(row.split(",") for row in text.splitlines()))))
    table = read(tmp_path, text)
    assert np.array_equal(table.samples, D)
    assert table.axis.tolist() == list(range(800, 776, -2))
    assert table.sample_names == names
    assert table.axis_unit == ("nm" if head == HEAD else None)


def test_positions_that_differ_and_what_stands_below(tmp_path):
    x = np.linspace(0, 1, 12)
    axes = [400 + 22 * x, 400 + 22 * x[:-2], 401 + 22 * x]
    D = [axis / 100 for axis in axes]  # a straight line, which interpolation keeps
    text = HEAD.replace("\n", ",\n") + pairs(D, axes).replace("\n", ",\n") + ",\n\none\nTaken,on,Monday\n"
    table = read(tmp_path, text)
    assert table.sample_names == ("one", "two", "three")
    np.testing.assert_allclose(table.samples, np.tile(table.axis / 100, (3, 1)))
    assert any("interpolated" in note for note in table.notes)


def test_a_table_of_even_width_is_no_table_of_pairs(tmp_path):
    rows = "\n".join(f"{i},{i % 3},{2 * i + 1},{i % 2}" for i in range(8))
    assert read(tmp_path, "a,b,c,d\n" + rows, samples_in="rows").samples.shape[0] == 8


# Images

M, AXIS = numbers(6, 12), [str(500 + 3 * i) for i in range(12)]
PLACES = [(x, y) for y in (0, 1.5) for x in (0, 1.5, 3)]
ORDER = [3, 0, 5, 1, 4, 2]


@pytest.mark.parametrize("head", ["x,y", "X (µm),Y (µm)", "pos_x,pos_y", "col,row", "y,x", ","])
def test_positions_of_pixels(tmp_path, head):
    places = [place[::-1] for place in PLACES] if head == "y,x" else PLACES
    rows = [",".join(map(str, (*places[m], *M[m]))) for m in ORDER]
    table = read(tmp_path, "\n".join([f"{head},{','.join(AXIS)}", *rows]))
    assert table.shape == (2, 3)
    assert np.array_equal(table.samples, M)
    assert np.array_equal(table.refold(M[:, 0]), M[:, 0].reshape(2, 3))
    assert table.axis_unit is None
    assert table.pixels.coords["x"].tolist() == [0, 1.5, 3]


def test_an_image_with_a_pixel_short_and_points_that_make_none(tmp_path):
    rows = [",".join(map(str, (*PLACES[m], *M[m]))) for m in range(5)]
    table = read(tmp_path, "\n".join([f"x,y,{','.join(AXIS)}", *rows]))
    assert np.isnan(table.refold(M[:5, 0])[1, 2])
    scattered = [",".join(map(str, (m, 7.5 * m % 4, *M[m]))) for m in range(6)]
    table = read(tmp_path, "\n".join([f"x,y,{','.join(AXIS)}", *scattered]))
    assert table.pixels is None
    assert table.samples.shape == (6, 12)


def test_long_tables(tmp_path):
    rows = [f"{x}\t{y}\t{at}\t{v}" for (x, y), row in zip(PLACES, M) for at, v in zip(AXIS, row)]
    for head in ("#X\t\t#Y\t\t#Wave\t\t#Intensity\n", "x\ty\twave\tintensity\n"):
        table = read(tmp_path, head + "\n".join(rows))
        assert np.array_equal(table.samples, M)
        assert table.axis.tolist() == [float(at) for at in AXIS]
    assert table.shape == (2, 3)
    tidy = "\n".join(f"mead {m},{at},{v}" for m, row in enumerate(M) for at, v in zip(AXIS, row))
    table = read(tmp_path, "sample,wavelength (nm),abs\n" + tidy)
    assert np.array_equal(table.samples, M)
    assert table.sample_names == tuple(f"mead {m}" for m in range(6))
    assert table.axis_unit == "nm"


# Sheets, and what has no data


def test_a_sheet_a_run_with_units_below_the_header(tmp_path):
    book = Workbook()
    book.remove(book.active)
    for run in range(2):
        sheet = book.create_sheet(f"run {run}")
        sheet.append(["Time", *range(400, 526, 5)])
        sheet.append(["min", *["AU"] * 26])
        for m, row in enumerate(numbers() + run):
            sheet.append([0.5 * m, *row.tolist()])
    book.save(tmp_path / "runs.xlsx")
    table = gmcr.read(tmp_path / "runs.xlsx", name="*")
    np.testing.assert_allclose(table.samples, np.vstack([numbers(), numbers() + 1]))
    assert table.runs == ("run 0",) * 9 + ("run 1",) * 9
    assert table.metadata["Time (min)"] == [0.5 * m for m in range(9)] * 2
    first = gmcr.read(tmp_path / "runs.xlsx")
    assert any('name="*" takes all' in note for note in first.notes)


def test_a_sample_without_data_is_left_out(tmp_path):
    text = "sample,time,400,401,402\na,1,1,2,4\nb,2,,,\nc,3,3,1,2\n"
    table = read(tmp_path, text)
    assert table.samples.tolist() == [[1, 2, 4], [3, 1, 2]]
    assert table.sample_names == ("a", "c")
    assert table.metadata == {"time": [1, 3]}
    assert "1 without data left out: 'b'." in table.notes
