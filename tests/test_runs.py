"""Runs of samples: from folders, sheets and columns, through the fit to areas, tables and the report."""

import json

import numpy as np
import pandas as pd
import pytest

import gmcr
from gmcr import GMCR
from gmcr.cli.app import main
from gmcr.constraints import Layout, Unimodal
from gmcr.errors import InputError
from gmcr.reporting.collect import collect
from gmcr.reporting.kept import load_contents, save_contents
from gmcr.reporting.section import make_sections

TIMES = np.arange(0.0, 10.0, 0.5)
NAMES = ("blank", "run 2", "run 10")
AXIS = np.arange(400.0, 430.0)


@pytest.fixture(scope="module")
def chromatograms():
    """Three runs of two peaks, the second substance lacking in the first: D by run, C and S."""
    rng = np.random.default_rng(3)
    peaks = np.exp(-0.5 * ((TIMES[:, None] - [3.5, 5.0]) / 0.9) ** 2)
    C = [peaks * sizes for sizes in ([1.0, 0.0], [0.5, 0.8], [0.2, 1.4])]
    S = np.exp(-0.5 * ((AXIS - np.array([[408.0], [419]])) / 5) ** 2)
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    return [c @ S + 1e-3 * rng.normal(size=(20, 30)) for c in C], np.vstack(C), S


def frames(D):
    return {name: pd.DataFrame(d, index=TIMES, columns=AXIS) for name, d in zip(NAMES, D)}


@pytest.fixture
def folder(tmp_path, chromatograms):
    (tmp_path / "csv").mkdir()
    for name, frame in frames(chromatograms[0]).items():
        frame.to_csv(tmp_path / "csv" / f"{name}.csv")
    return tmp_path / "csv"


@pytest.fixture
def workbook(tmp_path, chromatograms):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"who": ["measured on Monday"]}).to_excel(writer, sheet_name="notes", index=False)
        for name, frame in frames(chromatograms[0]).items():
            frame.to_excel(writer, sheet_name=name)
    return path


def options(out):
    return ["-o", str(out), "--components", "2", "--constraint", "unimodal C", "--json"]


# Where runs come from


def test_files_of_a_folder_are_runs(folder, chromatograms):
    table = gmcr.read(folder)
    assert table.runs == tuple(np.repeat(NAMES, 20))  # as a person counts: run 2 before run 10
    np.testing.assert_allclose(table.samples, np.vstack(chromatograms[0]))
    np.testing.assert_array_equal(table.axis, AXIS)
    assert table.sample_names[20] == "run 2 0.0"
    assert any("3 runs: blank (20), run 2 (20), run 10 (20)." in note for note in table.notes)


def test_files_of_one_spectrum_each_are_no_runs(tmp_path):
    for name in "abc":
        np.savetxt(tmp_path / f"{name}.csv", np.column_stack([AXIS, np.sin(AXIS)]), delimiter=",")
    assert gmcr.read(tmp_path).runs is None


def test_sheets_of_a_workbook_are_runs_where_that_is_asked_for(workbook, chromatograms):
    table = gmcr.read(workbook, name="*")
    assert table.runs == tuple(np.repeat(NAMES, 20))
    np.testing.assert_allclose(table.samples, np.vstack(chromatograms[0]))
    assert "The sheet 'notes' has no numbers and was passed over." in table.notes
    one = gmcr.read(workbook, name="run 2")
    assert one.runs is None
    assert one.samples.shape == (20, 30)


def test_columns_of_files_come_along(tmp_path):
    for name in "ab":
        columns = {"sample": [f"{name}0", f"{name}1"], "glucose": [1.5, 2.5]}
        spectra = pd.DataFrame(np.random.default_rng(0).random((2, 5)), columns=[400, 401, 402, 403, 404])
        pd.concat([pd.DataFrame(columns), spectra], axis=1).to_csv(tmp_path / f"{name}.csv", index=False)
    table = gmcr.read(tmp_path)
    assert table.metadata["glucose"] == [1.5, 2.5, 1.5, 2.5]
    assert table.sample_names == ("a a0", "a a1", "b b0", "b b1")


def test_a_damaged_sheet_is_named(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame(np.ones((3, 4))).to_excel(writer, sheet_name="fine", header=False, index=False)
        odd = pd.DataFrame([[1.0, 2.0, 3.0], [1.0, "x", 2.0], [2.0, 1.0, 1.0], [1.0, 4.0, 1.0]])
        odd.to_excel(writer, sheet_name="odd", header=False, index=False)
    with pytest.raises(InputError, match="It is the sheet 'odd'"):
        gmcr.read(path, name="*")


def test_the_shell_knows_runs_from_folders_sheets_and_columns(
    folder, workbook, chromatograms, tmp_path, capsys
):
    columns = pd.DataFrame({"run": np.repeat(NAMES, 20), "minute": np.tile(TIMES, 3)})
    spectra = pd.DataFrame(np.vstack(chromatograms[0]), columns=AXIS)
    pd.concat([columns, spectra], axis=1).to_csv(tmp_path / "long.csv", index=False)
    calls = {
        "folder": [str(folder), "--order", "names"],
        "sheets": [str(workbook), "--sheets", "--order", "names"],
        "column": [str(tmp_path / "long.csv"), "--runs", "run", "--order", "minute"],
    }
    areas = {}
    for name, call in calls.items():
        assert main(["fit", *call, *options(tmp_path / name)]) == 0
        told = json.loads(capsys.readouterr().out)
        assert "areas.csv" in told["written"]
        areas[name] = pd.read_csv(tmp_path / name / "areas.csv", index_col="run")
        assert list(areas[name].index) == list(NAMES)
    for found in areas.values():
        np.testing.assert_allclose(found, areas["folder"], rtol=1e-9)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (
            ["--runs", "batch"],
            "--runs must be a column of DATA, a number, or lengths with commas, not 'batch'",
        ),
        (["--sheets"], "--sheets is for workbooks"),
        (["--order", "batch"], "DATA has no column 'batch'"),
    ],
)
def test_the_shell_says_what_is_wrong(wrong, word, folder, tmp_path, capsys):
    assert main(["fit", str(folder / "run 2.csv"), *wrong, *options(tmp_path / "run")]) != 0
    assert word in capsys.readouterr().err


# Areas


@pytest.fixture(scope="module")
def model(chromatograms):
    D = np.vstack(chromatograms[0])
    fitted = GMCR(n_components=2, constraints=[Unimodal("C")])
    return fitted.fit(D, runs=np.repeat(NAMES, 20), order=np.tile(TIMES, 3)), D


def test_areas_are_those_under_the_curves(model, chromatograms):
    found, _ = model
    true = np.array([np.trapezoid(c, TIMES, axis=0) for c in np.split(chromatograms[1], 3)])
    order = np.argmax(found.components_ @ chromatograms[2].T, axis=0)
    np.testing.assert_allclose(found.areas_.to_numpy()[:, order], true, atol=0.02 * true.max())
    assert list(found.areas_.index) == list(NAMES)
    assert list(found.areas_.columns) == ["component 0", "component 1"]


def test_areas_do_not_go_by_where_rows_stand(model):
    found, D = model
    moved = np.random.default_rng(0).permutation(60)
    again = GMCR(n_components=2, constraints=[Unimodal("C")])
    again.fit(D[moved], runs=np.repeat(NAMES, 20)[moved], order=np.tile(TIMES, 3)[moved])
    np.testing.assert_allclose(again.areas_.loc[list(NAMES)], found.areas_, rtol=1e-4, atol=1e-6)


def test_sums_without_an_order_nothing_without_runs_and_no_area_of_one_sample():
    C = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(Layout.of(["b", "a", "b", "b"], None, 4).areas(C), [[2, 3], [10, 13]])
    areas = Layout.of(["b", "a", "b", "b"], [0.0, 5, 2, 1], 4).areas(C)  # b in order: rows 0, 3, 2
    np.testing.assert_array_equal(areas[1], np.trapezoid(C[[0, 3, 2]], axis=0))
    assert np.isnan(areas[0]).all()
    rng = np.random.default_rng(0)
    assert GMCR(n_components=1).fit(np.outer(rng.random(5) + 1, rng.random(9))).areas_ is None


def test_runs_and_order_are_kept_with_the_model(model, tmp_path):
    found, _ = model
    found.save(tmp_path / "run.gmcr")
    loaded = GMCR.load(tmp_path / "run.gmcr")
    pd.testing.assert_frame_equal(loaded.areas_, found.areas_)
    assert loaded.layout_.labels == found.layout_.labels


def test_another_count_of_a_model_from_a_file_keeps_runs_and_order(model, tmp_path):
    found, D = model
    found.save(tmp_path / "run.gmcr")
    one = GMCR.load(tmp_path / "run.gmcr").at(1, D)
    assert one.violations_["unimodal C"] == 0
    np.testing.assert_array_equal(one.layout_.order, found.layout_.order)
    np.testing.assert_allclose(one.areas_, found.at(1).areas_)


def test_a_table_brings_its_runs(folder):
    table = gmcr.read(folder)
    found = GMCR(n_components=2).fit(table)
    assert list(found.areas_.index) == list(NAMES)


def test_rows_are_counted_in_their_run(folder, tmp_path, capsys):
    """So that runs can be compared place by place."""
    options = ["--components", "2", "--order", "rows", "--constraint", "equal", "--json"]
    assert main(["fit", str(folder), "-o", str(tmp_path / "run"), *options]) == 0
    told = json.loads(capsys.readouterr().out)
    assert any("may not obey" in warning for warning in told["warnings"])  # these do not repeat each other
    areas = pd.read_csv(tmp_path / "run" / "areas.csv", index_col="run").to_numpy()
    np.testing.assert_allclose(areas, areas[[0, 0, 0]])


# The report


def test_the_report_shows_each_run(model, tmp_path):
    found, D = model
    contents = collect(found.decomposition_, D, model=found)
    save_contents(contents, tmp_path / "facts.gmcr")
    for one in (contents, load_contents(tmp_path / "facts.gmcr", found.decomposition_)):
        (section,) = [made for made in make_sections(one) if made.name == "runs"]
        (row,) = section.rows
        assert [chart.title for chart in row.charts] == list(NAMES)
        rows = np.flatnonzero(np.repeat(NAMES, 20) == "run 10")
        first = row.charts[2].series[0]
        np.testing.assert_array_equal(first.x, TIMES)
        np.testing.assert_array_equal(first.y, found.concentrations_[rows, one.by_signal[0]])
    page = tmp_path / "report.html"
    found.report(D, page)
    assert "areas.csv" in page.read_text(encoding="utf-8")


def test_a_report_without_runs_has_no_such_section():
    mix = gmcr.make_mixtures(n_components=2, n_samples=12, n_features=20, random_state=0)
    contents = collect(GMCR(n_components=2).fit(mix.D).decomposition_, mix.D)
    assert "runs" not in [made.name for made in make_sections(contents)]
