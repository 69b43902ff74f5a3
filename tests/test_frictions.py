"""Small things between a user and an answer: what goes in as it is, and names that are the same everywhere."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

import gmcr
from gmcr import GMCR
from gmcr.cli.app import main
from gmcr.errors import InputError

xarray = pytest.importorskip("xarray")
NAMES = tuple(f"mead {m}" for m in range(24))
AXIS = 400.0 + 2 * np.arange(40)


@pytest.fixture(scope="module")
def mix():
    return gmcr.make_mixtures(n_components=3, n_samples=24, snr_db=30, n_features=40, random_state=0)


@pytest.fixture(scope="module")
def frame(mix):
    return pd.DataFrame(mix.D, NAMES, AXIS)


@pytest.fixture(scope="module")
def model(frame):
    return GMCR(n_components=3, random_state=0).fit(frame)


def test_a_file_is_read_and_fitted(tmp_path, frame, model):
    gmcr.io.Table(frame.to_numpy(), AXIS, NAMES, axis_unit="nm").write(tmp_path / "mix.csv")
    table = gmcr.read(tmp_path / "mix.csv")
    pd.testing.assert_frame_equal(table.frame(), frame, check_names=False)
    assert table.frame().columns.name == "nm"
    again = GMCR(n_components=3, random_state=0).fit(table)
    assert np.array_equal(again.components_, model.components_)
    assert again.decomposition_.sample_names == NAMES


def test_an_xarray_keeps_its_coordinates(mix, frame, model):
    coords = {"time": 0.5 * np.arange(24), "wavelength": AXIS, "vial": ("time", list(NAMES))}
    D = xarray.DataArray(mix.D, dims=("time", "wavelength"), coords=coords)
    found = GMCR(n_components=3, random_state=0).fit(D)
    assert np.array_equal(found.decomposition_.axis, AXIS)
    assert found.decomposition_.sample_names[1] == "0.5"
    C = found.transform(D)
    assert C.dims == ("time", "component")
    assert C.vial.values.tolist() == list(NAMES)
    assert C.sel(time=0.5, component="component 1").item() == found.decode(D).concentrations[1, 1]
    with pytest.raises(InputError, match="different axes"):
        found.transform(D.assign_coords(wavelength=AXIS + 7))


def test_names_of_known_profiles_stay(mix, frame):
    known = pd.DataFrame(mix.S[:2], ["glucose", "lactose"], AXIS)
    found = GMCR(n_components=3, fixed_components=known, random_state=0).fit(frame)
    assert found.decomposition_.names == ("glucose", "lactose", "component 2")
    out = found.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == ["glucose", "lactose", "component 2"]


def test_a_warm_start_from_spectra(mix, frame, model):
    spectra = pd.DataFrame(7.0 * mix.S, ["a", "b", "c"], AXIS)
    for start in (spectra, 7.0 * mix.S, model.decomposition_):
        found = GMCR(n_components=3, random_state=0).fit(frame, warm_start=start)
        assert found.n_components_ == 3
    with pytest.raises(InputError, match="warm_start has 39 channels and the samples have 40"):
        GMCR(random_state=0).fit(frame, warm_start=mix.S[:, 1:])


def test_score_is_the_share_of_variance_explained(frame, model):
    D = frame.to_numpy()
    rest = D - model.transform(frame) @ model.components_
    assert model.score(frame) == pytest.approx(1 - (rest**2).sum() / ((D - D.mean(axis=0)) ** 2).sum())


def test_renaming(tmp_path, frame):
    model = GMCR(n_components=3, random_state=0).fit(frame)
    assert model.rename({2: "lactose"}).rename({"component 0": "glucose"}) is model
    assert list(model.get_feature_names_out()) == ["glucose", "component 1", "lactose"]
    model.save(tmp_path / "model.gmcr")
    assert GMCR.load(tmp_path / "model.gmcr").decomposition_.names == ("glucose", "component 1", "lactose")
    for wrong, told in (({3: "x"}, "no component 3"), ({1: "lactose"}, "distinct"), (["a"], "3 entries")):
        with pytest.raises(InputError, match=told):
            model.rename(wrong)


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_many_files_names_workbooks_and_what_differs(tmp_path, monkeypatch, frame, capsys):
    monkeypatch.chdir(tmp_path)
    for name, some in (("monday", frame), ("tuesday", frame.iloc[::-1])):
        some.to_csv(f"{name}.csv")
    assert main(["fit", "monday.csv", "tuesday.csv", "-o", "runs", "--components", "3"]) == 0
    assert main(["name", "runs/monday", "2=lactose"]) == 0
    named = ["component 0", "component 1", "lactose"]
    assert [row[0] for row in rows("runs/monday/profiles.csv")[1:]] == named
    for file in ("concentrations.csv", "supports.csv"):
        assert rows(f"runs/monday/{file}")[0] == ["sample", *named]
    book = load_workbook("runs/monday/run.xlsx")
    assert book.sheetnames == ["profiles", "concentrations", "supports", "path"]
    sheet = list(book["concentrations"].values)
    assert list(sheet[0]) == ["sample", *named]
    model = GMCR.load("runs/monday/model.gmcr")
    assert np.array_equal([row[1:] for row in sheet[1:]], model.concentrations_)
    page = (tmp_path / "runs/monday/report.html").read_text(encoding="utf-8")
    assert "lactose" in page
    header = page[page.index("<header>") : page.index("</header>")]
    assert "Samples are in rows: 24 x 40" in header
    assert "--samples-in columns turns it round" in header
    assert "component 2" not in page
    capsys.readouterr()
    assert main(["compare", "runs/monday", "runs/tuesday", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["components"] == [3, 3]
    assert {pair["component"] for pair in told["pairs"]} == set(named)
    assert min(pair["cosine"] for pair in told["pairs"]) > 0.999
    assert main(["compare", "runs/monday", "runs/tuesday"]) == 0
    assert main(["name", "runs/monday", "9=x"]) == 2
    assert main(["name", "runs/monday", "lactose"]) == 2


def test_one_file_that_fails_does_not_stop_the_others(tmp_path, monkeypatch, frame, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("a,b\n1,x\n2,3\n")
    frame.to_csv("good.csv")
    assert main(["fit", "bad.csv", "good.csv", "-o", "runs", "--components", "3"]) == 1
    assert "1 of 2 files could not be unmixed: bad.csv." in capsys.readouterr().err
    assert (tmp_path / "runs/good/report.html").exists()
