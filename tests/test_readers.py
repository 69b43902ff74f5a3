"""Readers of other programs' files: the numbers they hold, and one clear error where they are damaged."""

import re
import struct
import sys
from pathlib import Path

import brukeropus
import jcamp
import numpy as np
import pytest
import renishawWiRE
import scipy.io
import spc_io
from spc_io.high_level import EvenAxis

import gmcr
import made_files as made
from gmcr.errors import FileError, GMCRError, InputError
from gmcr.io import Format, Table, apart
from gmcr.io.formats import FORMATS, format_of
from interpreter import python
from made_files import AXIS, NAMES, D
from shared_data import DATA, ORIGINALS, needs_originals


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A valid file of every kind, by name."""
    return {path.name: path for path in made.write_all(tmp_path_factory.mktemp("files"))}


@pytest.mark.parametrize(
    ("file", "unit", "names"),
    [
        ("made.csv", None, NAMES),
        ("made.npz", None, None),
        ("made.xlsx", None, NAMES),
        ("made.mat", None, NAMES),
        ("made73.mat", None, None),
        ("made.h5", "nm", NAMES),
        ("made.nc", "nm", None),
        ("made.parquet", None, NAMES),
        ("made.rda", None, None),
        ("made.rds", None, ("0", "1", "2", "3")),
        ("made.jdx", "nm", NAMES),
        ("made_multi.spc", "nm", tuple(f"made_multi {i}" for i in range(4))),
        ("series.1", "cm⁻¹", tuple(f"series {i}" for i in range(4))),
    ],
)
def test_a_table_of_every_kind(files, file, unit, names):
    table = gmcr.read(files[file])
    np.testing.assert_array_equal(table.samples, D)
    np.testing.assert_array_equal(table.axis, AXIS)
    assert (table.axis_unit, table.sample_names) == (unit, names)
    assert table.samples.dtype == float
    assert table.notes


# One clear error for each kind of damage


def test_cut_files_and_garbage(files, tmp_path):
    garbage = np.random.default_rng(3).bytes(400)
    for name, path in files.items():
        content = path.read_bytes()
        for kind, damaged in (
            ("cut", content[: len(content) * 2 // 3]),
            ("garbage", garbage),
            ("empty", b""),
        ):
            if kind == "cut" and path.suffix in (".csv", ".txt"):
                continue  # half a table of text may be a table
            if kind == "empty" and FORMATS[format_of(path)].apart:
                continue  # a process each; garbage says as much
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(GMCRError) as caught:
                gmcr.read(tmp_path / name)
            message = str(caught.value)
            assert isinstance(caught.value, FileError | InputError), (name, kind)
            assert str(tmp_path / name) in message, (name, kind, message)
            assert "\n" not in message.strip(), (name, kind, message)
            assert message.endswith("."), (name, kind, message)


# JCAMP-DX


PAPER = [1, 2, 3, 3, 2, 1, 0, -1, -2, -3]  # the ordinates by which the specification compares its forms


@pytest.mark.parametrize(
    "lines",
    [
        ["0 1 2 3 3 2 1 0 -1 -2 -3"],
        ["0, 1, 2, 3, 3, 2", "5, 1, 0, -1, -2, -3"],
        ["0+1+2+3+3+2+1+0-1-2-3"],  # PAC
        ["0A B C C B A @ a b c"],
        ["0ABCCBA@abc"],  # SQZ
        ["0AJJ%jjjjjj", "9c"],  # DIF, with the check at the end
        ["0AJT%jX", "9c"],  # DIFDUP
        ["0AJT%j", "4BjW", "9c"],  # a line after a difference repeats the last ordinate
        ["0ABCTBA@abc"],  # DUP of a squeezed value
        ["0 1.0E+00 2.0 3.0 3.0 2.0", "5 1.0E0 0.0 -1.0 -2.0 -3.0"],
        ["0A$$ a comment", "1BCCBA@abc"],
    ],
)
def test_forms_of_ordinates(tmp_path, lines):
    text = made.jcamp(None, np.arange(10.0), lines=lines, factor=0.5)
    (tmp_path / "a.jdx").write_text(text)
    table = gmcr.read(tmp_path / "a.jdx")
    np.testing.assert_array_equal(table.samples, [np.array(PAPER) * 0.5])
    np.testing.assert_array_equal(table.axis, np.arange(10.0))
    assert table.metadata["YUNITS"] == "ABSORBANCE"


@pytest.mark.parametrize("compact", [False, True])
def test_long_differences(tmp_path, compact):
    """Against an encoder written the other way round: differences of any size, several lines."""
    rng = np.random.default_rng(11)
    values = np.cumsum(rng.integers(-1500, 1500, 200))
    values[50:70] = values[49]
    first = "@ABCDEFGHIabcdefghi"
    step = "%JKLMNOPQRjklmnopqr"

    def coded(number, letters):
        digits = str(abs(int(number)))
        return letters[int(digits[0]) + (9 if number < 0 else 0)] + digits[1:]

    lines = []
    for start in range(0, 200, 40):
        part = values[start : start + 40]
        steps = np.diff(values[max(start - 1, 0) : start + 40])
        head = f"{1000 - 2 * max(start - 1, 0)}" + coded(values[max(start - 1, 0)], first)
        text, index = "", 0
        while index < len(steps):
            run = 1
            while compact and index + run < len(steps) and steps[index + run] == steps[index]:
                run += 1
            text += coded(steps[index], step)
            if run > 1:
                text += "STUVWXYZs"[int(str(run)[0]) - 1] + str(run)[1:]
            index += run
        assert len(part) == 40
        lines.append(head + text)
    lines.append(f"602{coded(values[-1], first)}")
    axis = np.linspace(1000.0, 602.0, 200)
    (tmp_path / "a.jdx").write_text(made.jcamp(None, axis, lines=lines, factor=1.0))
    table = gmcr.read(tmp_path / "a.jdx")
    np.testing.assert_array_equal(table.samples[0], values)
    assert not any("do not agree" in note for note in table.notes)


@pytest.mark.parametrize(
    "lines", [["0 1 2 3 3 2 1 0 -1 -2 -3"], ["0ABCCBA@abc"], ["0AJJ%jjjjjj", "9c"], ["0AJT%jX", "9c"]]
)
def test_forms_as_another_reader_reads_them(tmp_path, lines):
    """jcamp fails on repeats of squeezed values, so those are left out."""
    (tmp_path / "a.jdx").write_text(made.jcamp(None, np.arange(10.0), lines=lines, factor=0.5))
    theirs = jcamp.readfile(str(tmp_path / "a.jdx"))
    ours = gmcr.read(tmp_path / "a.jdx")
    np.testing.assert_array_equal(ours.samples[0], theirs["y"])
    np.testing.assert_array_equal(ours.axis, theirs["x"])


def test_pairs(tmp_path):
    lines = ["400, 1.5; 401.5, 2", "403 -3.25"]
    text = made.jcamp(None, [400.0, 401.5, 403.0], lines=lines, form="XYPOINTS=(XY..XY)", factor=2.0)
    (tmp_path / "a.dx").write_text(text)
    table = gmcr.read(tmp_path / "a.dx")
    np.testing.assert_array_equal(table.samples, [[3, 4, -6.5]])
    np.testing.assert_array_equal(table.axis, [400, 401.5, 403])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0AJT%jX", "9d"], "line 13 begins with -4 where the line before ends in -3; it is damaged"),
        (["0ABCCBA@ab"], "has 9 points where ##NPOINTS says 10; it is damaged or cut short"),
        (["0ABCCBA@abcd"], "has more points than ##NPOINTS says"),
        (["0AZ99999999"], "has more points than ##NPOINTS says"),
        (["0AB<script>"], "line 12 holds '<script>', which is no data"),
    ],
)
def test_damaged_jcamp(tmp_path, lines, message):
    (tmp_path / "a.jdx").write_text(made.jcamp(None, np.arange(10.0), lines=lines, factor=1.0))
    with pytest.raises(FileError, match=message):
        gmcr.read(tmp_path / "a.jdx")


def test_jcamp_that_is_not_read(tmp_path):
    path = tmp_path / "a.jdx"
    for text, message in (
        ("##TITLE=a\n##NTUPLES=NMR\n##END=\n", "holds NTUPLES, which gmcr does not read"),
        ("##TITLE=a\n##END=\n", "holds no spectrum as JCAMP-DX"),
        ("##TITLE=a\n##NPOINTS=1\n##XYDATA=(XYZ)\n##END=\n", r"holds data as '\(XYZ\)'"),
        ("##TITLE=a\n##NPOINTS=2\n##XYDATA=(X++(Y..Y))\n1 2 3\n##END=\n", "does not say ##FIRSTX"),
    ):
        path.write_text(text)
        with pytest.raises(FileError, match=message):
            gmcr.read(path)


# Galactic SPC


@pytest.mark.parametrize("name", list(made.spc_files()))
def test_spc_by_its_specification(files, name):
    table = gmcr.read(files[f"made_{name}.spc"])
    np.testing.assert_array_equal(table.samples, made.spc_files()[name][1])
    np.testing.assert_allclose(table.axis, AXIS, rtol=1e-7)
    assert table.axis_unit == "nm"
    assert table.metadata["ordinate"] == "absorbance"
    if name == "multi":
        assert table.metadata["z"] == [0, 2, 4, 6]
        assert table.metadata["date"] == "2024-05-17 13:45"
        assert table.metadata["comment"] == "made"


@pytest.mark.parametrize("name", ["floats", "short", "multi", "common_axis", "own_axes"])
def test_spc_as_another_reader_reads_it(files, name):
    """spc-io takes a single trace's exponent from the trace, so `fractions` and `short` differ there."""
    with open(files[f"made_{name}.spc"], "rb") as file:
        traces = list(spc_io.low_level.SpcRaw.from_bytes_io(file).subs)
    scale = 2.0**10 if name == "short" else 1.0
    table = gmcr.read(files[f"made_{name}.spc"])
    np.testing.assert_allclose(table.samples, [trace.yarray * scale for trace in traces], rtol=1e-6)


def test_spc_as_another_program_writes_it(tmp_path):
    even = spc_io.SPC(xarray=EvenAxis(400.0, 416.0, 9), xtype="XNMETR")
    own = spc_io.SPC(xtype="XNMETR")
    for index, row in enumerate(D):
        even.add_subfile(yarray=row, z=float(index), w=0.0)
        own.add_subfile(xarray=AXIS + 0.5 * index, yarray=row, z=float(index), w=0.0)
    (tmp_path / "even.spc").write_bytes(even.to_spc_raw().to_bytes())
    table = gmcr.read(tmp_path / "even.spc")
    np.testing.assert_array_equal(table.samples, D)
    np.testing.assert_array_equal(table.axis, AXIS)
    (tmp_path / "own.spc").write_bytes(own.to_spc_raw().to_bytes())
    table = gmcr.read(tmp_path / "own.spc")
    np.testing.assert_array_equal(table.axis, AXIS[1:])  # what all traces cover
    for index, row in enumerate(D):
        np.testing.assert_allclose(
            table.samples[index], np.interp(AXIS[1:], AXIS + 0.5 * index, row), rtol=1e-6
        )
    assert any("3 of 4 spectra were interpolated" in note for note in table.notes)


# Bruker OPUS


def test_opus(files):
    table = gmcr.read(files["made.0"])
    np.testing.assert_array_equal(table.samples, D[:1])  # halves, times the file's own factor
    np.testing.assert_array_equal(table.axis, AXIS)
    assert (table.axis_unit, table.sample_names) == ("cm⁻¹", ("one",))
    assert table.metadata["CNM"] == "operator"
    assert "The absorbance of the file was taken." in table.notes
    np.testing.assert_array_equal(gmcr.read(files["made.0"], name="sample spectrum").samples, D[1:2])
    np.testing.assert_array_equal(gmcr.read(files["made.0"], name="reference spectrum").samples, D[2:3])
    with pytest.raises(
        InputError, match="holds no 'Raman', but sample spectrum, reference spectrum, absorbance"
    ):
        gmcr.read(files["made.0"], name="Raman")


def test_opus_as_another_reader_reads_it(files):
    theirs = brukeropus.read_opus(str(files["made.0"]))
    np.testing.assert_allclose(theirs.a.y, gmcr.read(files["made.0"]).samples[0])
    np.testing.assert_allclose(theirs.a.x, AXIS)
    np.testing.assert_allclose(theirs.sm.y, D[1])
    np.testing.assert_allclose(brukeropus.read_opus(str(files["series.1"])).a.y, D)


def test_opus_with_a_negative_size_ends(files, tmp_path):
    content = files["made.0"].read_bytes()
    at = content.rindex(b"NPT\0") + 6
    (tmp_path / "a.0").write_bytes(content[:at] + struct.pack("<h", -4) + content[at + 2 :])
    with pytest.raises(FileError, match="is damaged or no Bruker OPUS file: it is cut short"):
        gmcr.read(tmp_path / "a.0")


# Renishaw WDF


def test_wdf(files, tmp_path):
    table = gmcr.read(files["made.wdf"])
    assert table.shape == (2, 2)
    np.testing.assert_array_equal(table.refold(table.samples)[0], D[:2])
    np.testing.assert_array_equal(
        table.refold(table.samples)[1], D[[3, 2]]
    )  # that row was measured backwards
    assert table.axis_unit == "cm⁻¹"
    assert table.metadata["laser"] == "532 nm"
    (tmp_path / "series.wdf").write_bytes(made.wdf(D, AXIS, capacity=6))
    table = gmcr.read(tmp_path / "series.wdf")
    np.testing.assert_array_equal(table.samples, D)
    assert table.pixels is None
    assert "The measurement was ended early: 4 of 6 spectra." in table.notes


def test_a_map_that_was_ended_early(tmp_path):
    places = np.array([[0.0, 0.0], [-1.0, 0.0], [-2.0, 0.0], [0.0, 2.0]])
    (tmp_path / "a.wdf").write_bytes(made.wdf(D, AXIS, places, (0.0, 0.0, -1.0, 2.0, 3, 2), capacity=6))
    table = gmcr.read(tmp_path / "a.wdf")
    maps = table.refold(table.samples)
    np.testing.assert_array_equal(maps[0], D[:3])
    np.testing.assert_array_equal(maps[1, 0], D[3])
    assert np.isnan(maps[1, 1:]).all()
    (tmp_path / "b.wdf").write_bytes(made.wdf(D, AXIS, places + 0.4, (0.0, 0.0, -1.0, 2.0, 3, 2), capacity=6))
    table = gmcr.read(tmp_path / "b.wdf")
    assert table.pixels is None
    assert "on no grid" in table.notes[-1]


def test_wdf_as_another_reader_reads_it(files, tmp_path):
    places = np.array([[10.0, 5.0], [12.0, 5.0], [10.0, 8.0], [12.0, 8.0]])
    (tmp_path / "a.wdf").write_bytes(made.wdf(D, AXIS, places, (10.0, 5.0, 2.0, 3.0, 2, 2)))
    theirs = renishawWiRE.WDFReader(str(tmp_path / "a.wdf"))
    table = gmcr.read(tmp_path / "a.wdf")
    np.testing.assert_array_equal(theirs.spectra, table.refold(table.samples))
    np.testing.assert_array_equal(theirs.xdata, table.axis)
    theirs.close()


def test_wdf_with_an_empty_block_ends(files, tmp_path):
    content = bytearray(files["made.wdf"].read_bytes())
    struct.pack_into("<Q", content, 512 + 8, 0)
    (tmp_path / "a.wdf").write_bytes(content)
    with pytest.raises(FileError, match="is damaged or no Renishaw WDF file: a block has 0 bytes"):
        gmcr.read(tmp_path / "a.wdf")


# Arrays by name


def test_matlab_files_with_structures_and_texts(tmp_path):
    inner = {"X": D.T, "wavelength": AXIS[:, None], "info": "text"}
    scipy.io.savemat(tmp_path / "a.mat", {"run": inner, "flag": 1.0}, do_compression=True)
    table = gmcr.read(tmp_path / "a.mat")
    np.testing.assert_array_equal(table.samples, D)
    np.testing.assert_array_equal(table.axis, AXIS)
    assert "The array 'run/X' was taken: 9 x 4." in table.notes
    scipy.io.savemat(tmp_path / "b.mat", {"first": D, "second": D})
    with pytest.raises(InputError, match="holds no table named D or X or samples or data, but first, second"):
        gmcr.read(tmp_path / "b.mat")
    np.testing.assert_array_equal(gmcr.read(tmp_path / "b.mat", name="second").samples, D)
    scipy.io.savemat(tmp_path / "c.mat", {"y": D[0], "x": AXIS})
    table = gmcr.read(tmp_path / "c.mat")
    np.testing.assert_array_equal(table.samples, D[:1])
    np.testing.assert_array_equal(table.axis, AXIS)


def test_netcdf_4(files):
    table = gmcr.read(files["made4.nc"])
    expected = D.copy()
    expected[3, 8] = np.nan  # the fill value
    np.testing.assert_array_equal(table.samples, expected)
    np.testing.assert_array_equal(table.axis, AXIS)
    assert table.axis_unit == "nm"


def test_parquet_with_samples_in_columns(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"wavelength (nm)": AXIS} | dict(zip(NAMES, D)))
    frame.to_parquet(tmp_path / "a.parquet")
    table = gmcr.read(tmp_path / "a.parquet")
    np.testing.assert_array_equal(table.samples, D)
    np.testing.assert_array_equal(table.axis, AXIS)
    assert (table.axis_unit, table.sample_names) == ("nm", NAMES)
    frame = pd.DataFrame(D, columns=[f"{x:g}" for x in AXIS])
    frame.insert(0, "class", ["a", "b", "a", "b"])
    frame.insert(0, "name", NAMES)
    frame.to_parquet(tmp_path / "b.parquet")
    table = gmcr.read(tmp_path / "b.parquet")
    np.testing.assert_array_equal(table.samples, D)
    assert table.sample_names == NAMES
    assert table.metadata == {"class": ["a", "b", "a", "b"]}


@needs_originals
def test_r_files_as_their_authors_publish_them():
    table = gmcr.read(ORIGINALS / "carbs.RData")
    with np.load(DATA / "carbs.npz") as file:
        np.testing.assert_array_equal(table.samples, file["D"])
        np.testing.assert_array_equal(table.axis, file["axis"])
    assert "The array 'carbs/D' was taken: 21 x 1401." in table.notes
    with pytest.raises(InputError, match="holds the tables NIR/xNIR, NIR/yGlcEtOH; say the name of one"):
        gmcr.read(ORIGINALS / "NIR.rda")
    table = gmcr.read(ORIGINALS / "NIR.rda", name="xNIR")
    with np.load(DATA / "nir.npz") as file:
        np.testing.assert_array_equal(table.samples, file["D"])
        np.testing.assert_array_equal(table.axis, file["axis"])
    assert table.sample_names[:2] == ("R1 zaM 1", "R1 zaMt 2")


# Folders


def test_a_folder_of_spectra(tmp_path):
    for index in (1, 2, 10):
        text = "\n".join(f"{x:g},{y}" for x, y in zip(AXIS, D[index % 4]))
        (tmp_path / f"scan{index}.csv").write_text(f"nm,{index}\n{text}\n")
    (tmp_path / "readme.md").write_text("no spectrum")
    table = gmcr.read(tmp_path)
    np.testing.assert_array_equal(table.samples, D[[1, 2, 2]])
    assert table.sample_names == ("scan1", "scan2", "scan10")
    assert table.axis_unit == "nm"
    assert not any("interpolated" in note for note in table.notes)
    assert "1 other files or folders in it were passed over." in table.notes


def test_spectra_on_different_axes(tmp_path):
    line = lambda x: 3.0 * x - 7.0  # noqa: E731  # linear interpolation is exact on it
    for name, axis in (
        ("a", AXIS),
        ("b", AXIS[::-1]),
        ("c", np.linspace(402.5, 430.0, 40)),
        ("d", AXIS + 1e-6),
    ):
        text = "\n".join(f"{x!r},{line(x)!r}" for x in axis.tolist())
        (tmp_path / f"{name}.txt").write_text(f"wavelength,y\n{text}\n")
    table = gmcr.read(tmp_path)
    np.testing.assert_array_equal(table.axis, AXIS[2:])
    np.testing.assert_allclose(table.samples, np.tile(line(AXIS[2:]), (4, 1)), rtol=1e-6)
    assert "1 spectra run the other way and were turned round." in table.notes
    assert any(
        "1 of 4 spectra were interpolated onto that of the first, from 404 to 416" in n for n in table.notes
    )
    (tmp_path / "e.txt").write_text("nm,y\n900,1\n901,2\n902,3\n")
    with pytest.raises(InputError, match="holds spectra whose axes have no range in common"):
        gmcr.read(tmp_path)
    (tmp_path / "e.txt").write_text("nm,y\n400,1\n401,oops\n402,3\n")
    with pytest.raises(InputError, match=r"e.txt line 3, column 2 is 'oops'.*It is one of 5 files"):
        gmcr.read(tmp_path)


def test_folders_that_hold_no_spectra(tmp_path):
    with pytest.raises(FileError, match="holds no data file"):
        gmcr.read(tmp_path)


# Safety


def test_missing_packages_are_named(files, monkeypatch):
    for file, package in (("made.h5", "h5py"), ("made.xlsx", "openpyxl"), ("made.parquet", "pyarrow"),
                          ("made.rda", "rdata")):  # fmt: skip
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(FileError, match=rf"needs {package} to be read; .*pip install 'gmcr\[readers\]'"):
            gmcr.read(files[file])


def test_a_reader_that_hangs_or_crashes_is_an_error(files, monkeypatch, tmp_path):
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(apart.sys, "executable", str(hanging))
    monkeypatch.setattr(apart, "PATIENCE", 0.1)
    with pytest.raises(FileError, match=r"made.h5 was not read in 0 s; it is damaged or too large"):
        gmcr.read(files["made.h5"])
    monkeypatch.undo()
    monkeypatch.setattr(apart.sys, "executable", "/bin/false")
    with pytest.raises(FileError, match="is damaged or no HDF5 file: reading it ended without a word"):
        gmcr.read(files["made.h5"])


def test_modules_beside_the_data_are_not_run(files, tmp_path):
    """A stranger's folder may hold a numpy.py; reading his file from within it must not run that."""
    for name in ("numpy", "h5py", "json"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\nraise SystemExit(3)\n")
    (tmp_path / "a.h5").write_bytes(files["made.h5"].read_bytes())
    code = "import gmcr; print(gmcr.read('a.h5').samples.shape)"
    assert python(code, cwd=tmp_path).strip() == "(4, 9)"
    assert not (tmp_path / "ran").exists()


def test_every_format_is_told_by_its_content(files, tmp_path):
    """A file with the wrong extension is read for what it is, where its format marks itself."""
    formats = {
        "made.npy": "NumPy", "made.xlsx": "XLSX", "made.mat": "MATLAB", "made73.mat": "HDF5", "made.h5": "HDF5",
        "made.nc": "NetCDF", "made4.nc": "HDF5", "made.parquet": "Parquet", "made.jdx": "JCAMP-DX",
        "made.0": "Bruker OPUS", "made.wdf": "Renishaw WDF", "made.npz": "NumPy",
    }  # fmt: skip
    for name, form in formats.items():
        (tmp_path / "a.bin").write_bytes(files[name].read_bytes())
        assert format_of(tmp_path / "a.bin") == form, name
    (tmp_path / "a.bin").write_bytes(files["made.xlsx"].read_bytes())
    np.testing.assert_array_equal(gmcr.read(tmp_path / "a.bin").samples, D)


def test_the_documentation_lists_every_format():
    page = (Path(__file__).parents[1] / "docs" / "formats.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in page.splitlines() if "| ." in line]
    shown = [(name, tuple(re.findall(r"\.\w+", suffixes.lower())), by) for name, suffixes, _, by in rows]
    assert shown == [(name, form.suffixes, form.package or "gmcr") for name, form in FORMATS.items()]


@pytest.fixture
def add():
    """A format for the time of a test, read here and not apart."""
    yield lambda name, suffix, read, **more: FORMATS.add(name, Format((suffix,), read, apart=False, **more))
    FORMATS._forget(f"the module {__name__}")


def test_a_format_that_is_added(add, tmp_path):
    add("plain", ".plain", lambda path, asked: Table([[1, 2]], notes=("read",)))
    add("marked", ".txt", lambda path, asked: Table([[3]]), mark=b"MARK.", package="nowhere_to_be_found")
    add("archive", ".arc", lambda path, asked: Table([[4]]), mark=rb"PK")
    (tmp_path / "a.plain").write_text("")
    table = gmcr.read(tmp_path / "a.plain", samples_in="columns")
    assert table.samples.tolist() == [[1, 2]]
    assert table.samples.dtype == float
    assert table.notes == ("read", "The file itself says what a sample is; samples_in was left aside.")
    with pytest.raises(InputError, match="holds one table, so the name 'D' is of no use"):
        gmcr.read(tmp_path / "a.plain", name="D")
    (tmp_path / "a.txt").write_text("1 2\n3 5\n")
    assert format_of(tmp_path / "a.txt") == "text"  # what was there first has the extension
    (tmp_path / "a.txt").write_text("MARK\n")
    with pytest.raises(FileError, match=r"needs nowhere_to_be_found .*pip install nowhere_to_be_found"):
        gmcr.read(tmp_path / "a.txt")
    for name, form in (("a.arc", "archive"), ("a.npz", "NumPy"), ("a.bin", "NumPy"), ("a.xlsx", "XLSX")):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
        assert format_of(tmp_path / name) == form


def test_formats_that_could_not_be_told_are_refused():
    for suffixes in ((), ".lab", (".LAB",), ("lab",), (".",), ("",)):
        with pytest.raises(InputError, match=r"suffixes must be a tuple such as \('.csv',\), not"):
            Format(suffixes, gmcr.read)
    for mark in ("LAB", rb"(LAB"):
        with pytest.raises((TypeError, re.error)):
            Format((".lab",), gmcr.read, mark=mark)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda path, asked: [[1, 2]], "the reader of odd files gave no Table but"),
        (lambda path, asked: {}["a"], "is damaged or no odd file: 'a'"),
        (lambda path, asked: Table([1, 2]), r"samples of shape \(2,\) do not go with"),
        (
            lambda path, asked: Table([[1, 2]], [1.0]),
            "1 names, 1 pixels and 1 positions; a table has a row per",
        ),
        (lambda path, asked: Table([[1, 2]], None, ("a", "b")), "do not go with 2 names"),
        (lambda path, asked: Table([[1, np.inf]]), "is infinite at row 0, column 1"),
    ],
)
def test_a_format_whose_reader_is_wrong(add, tmp_path, read, message):
    add("odd", ".odd", read)
    (tmp_path / "a.odd").write_text("")
    with pytest.raises(GMCRError, match=message):
        gmcr.read(tmp_path / "a.odd")


def test_reading_a_table_imports_no_package_of_another_format(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,5\n")
    code = "import sys, gmcr; gmcr.read('a.csv'); print(sorted(set(sys.modules) & set(sys.argv[1:])))"
    heavy = ["h5py", "openpyxl", "pyarrow", "rdata", "pandas", "numba", "scipy.io", "xarray"]
    assert python(code, *heavy, cwd=tmp_path).strip() == "[]"


def test_infinite_numbers_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(InputError, match=r"a.npy is infinite at row 0, column 1"):
        gmcr.read(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.array([[1.0, 2j], [2.0, 3.0]]))
    with pytest.raises(InputError, match="is complex"):
        gmcr.read(tmp_path / "b.npy")
    (tmp_path / "c.csv").write_text("1,2\n3,1e999\n")
    with pytest.raises(InputError, match=r"c.csv line 2, column 2 is '1e999', which is no number"):
        gmcr.read(tmp_path / "c.csv")


def test_names_are_only_for_files_that_hold_several_tables(files):
    with pytest.raises(InputError, match="holds one table, so the name 'D' is of no use"):
        gmcr.read(files["made.csv"], name="D")
    with pytest.raises(InputError, match="samples_in must be"):
        gmcr.read(files["made.h5"], "sideways")
