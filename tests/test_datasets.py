"""Data sets: read from their original files, checked by their checksums, equal to what was taken from them."""

from pathlib import Path

import numpy as np
import pytest

import gmcr
from gmcr import datasets
from gmcr.errors import FileError
from shared_data import DATA, ORIGINALS


@pytest.fixture
def originals(monkeypatch):
    if not ORIGINALS.exists():
        pytest.skip("../shared/data/originals is not here; GMCR_DATA could not point at it")
    monkeypatch.setenv("GMCR_DATA", str(ORIGINALS))


def known(name):
    with np.load(DATA / f"{name}.npz") as file:
        return dict(file)


def test_carbs(originals):
    carbs, truth = gmcr.io.datasets.load_carbs(), known("carbs")
    for name in ("D", "C", "S", "axis"):
        np.testing.assert_array_equal(getattr(carbs, name), truth[name])
    assert carbs.labels == ("fructose", "lactose", "ribose") == tuple(truth["labels"])
    assert carbs.axis_unit == "cm⁻¹"
    assert not carbs.signed
    residual = carbs.D - carbs.C @ carbs.S
    assert np.abs(residual).max() < 0.05 * np.abs(carbs.D).max()
    assert "Engelsen" in carbs.citation
    assert "21 samples x 1401 channels (1600 to 200 cm⁻¹); known: fructose, lactose, ribose" in repr(carbs)


def test_nir(originals):
    nir, truth = datasets.load_nir(), known("nir")
    for name in ("D", "axis"):
        np.testing.assert_array_equal(getattr(nir, name), truth[name])
    np.testing.assert_allclose(nir.C, truth["C"])
    assert nir.S is None
    assert nir.labels == ("glucose", "ethanol") == tuple(truth["labels"])
    assert nir.signed
    assert "10.1016/j.aca.2008.10.069" in nir.citation
    assert len(nir.sample_names) == 166


def test_another_file_of_that_name_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("GMCR_DATA", str(tmp_path))
    with pytest.raises(FileError, match=r"carbs.RData does not exist"):
        datasets.load_carbs()
    (tmp_path / "carbs.RData").write_bytes(b"something else")
    with pytest.raises(FileError, match=r"is not the original carbs.RData: its checksum differs"):
        datasets.load_carbs()


def test_fetching_goes_through_the_addresses_and_the_cache(monkeypatch, tmp_path, originals):
    """With a stand-in for the network: the first address fails, the second has other bytes."""
    import pooch

    monkeypatch.delenv("GMCR_DATA")
    content = (ORIGINALS / "carbs.RData").read_bytes()
    asked = []

    def download(url, output_file, pooch, **_):
        asked.append(url)
        if len(asked) == 1:
            raise OSError("no network")
        Path(output_file).write_bytes(content if len(asked) == 3 else b"other")

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    monkeypatch.setattr(pooch.core, "choose_downloader", lambda url, progressbar=False: download)
    assert datasets.load_carbs().D.shape == (21, 1401)
    assert asked == list(datasets.CARBS.addresses)
    assert datasets.load_carbs().D.shape == (21, 1401)
    assert len(asked) == 3  # the second time it is there
    (tmp_path / "gmcr" / "carbs.RData").unlink()
    monkeypatch.setattr(pooch.core, "choose_downloader", lambda url, progressbar=False: _unreachable)
    with pytest.raises(FileError, match=r"carbs.RData could not be fetched .*let GMCR_DATA name its folder"):
        datasets.load_carbs()


def _unreachable(url, output_file, pooch, **_):
    raise OSError("no network")
