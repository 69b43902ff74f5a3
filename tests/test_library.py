"""Naming profiles from a spectral library: scores, levels, the assignment, files, and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import gaussian_filter1d
from scipy.signal import savgol_filter

from decoys import decoy_library
from gmcr import GMCR, Decomposition, make_mixtures
from gmcr.errors import FileError, InputError
from gmcr.naming import Library, match, read_library, scores
from shared_data import DATA, needs_data


def peaks(n, channels=400, seed=0):
    return make_mixtures(n, 2, None, channels, random_state=seed, profiles="peaks").S


def named(n):
    return [f"substance {index}" for index in range(n)]


# Scores


def test_scores_equal_plain_ones_over_the_shared_channels():
    rng = np.random.default_rng(0)
    A, B = rng.random((3, 60)) + 5.0, rng.random((4, 60)) * 100
    A[0, :10], B[1, 40:], B[2, rng.random(60) < 0.3] = np.nan, np.nan, np.nan
    r, cosine = scores.correlations(A, B), scores.cosines(A, B)
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            both = ~np.isnan(a) & ~np.isnan(b)
            x, y = a[both], b[both]
            assert r[i, j] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
            assert cosine[i, j] == pytest.approx(x @ y / np.sqrt((x @ x) * (y @ y)), abs=1e-12)


def test_too_few_shared_channels_are_no_comparison():
    A, B = np.random.default_rng(0).random((2, 1, 40))
    B[0, :20] = np.nan  # half of them is enough
    assert not np.isnan(scores.correlations(A, B)).any()
    B[0, 20] = np.nan
    assert np.isnan(scores.correlations(A, B)).all()


def test_derivative_is_savitzky_golays():
    rows = np.random.default_rng(0).random((3, 50))
    expected = savgol_filter(rows, scores.WINDOW, 2, deriv=1, axis=1)
    half = scores.WINDOW // 2
    found = scores.derivative(rows)
    np.testing.assert_allclose(found[:, half:-half], expected[:, half:-half], atol=1e-12)
    assert np.isnan(found[:, :half]).all()
    # Noise of the derivative: against draws.
    noise = np.random.default_rng(1).normal(0, 0.3, (200, 200))
    drawn = np.nanstd(scores.derivative(noise))
    assert scores.derivative_noise(np.array([0.3]))[0] == pytest.approx(drawn, rel=0.02)


def test_reachable_is_what_noise_leaves():
    spectrum, rng = peaks(1)[0], np.random.default_rng(0)
    error = 0.5 * spectrum.std()
    noisy = spectrum + rng.normal(0, error, (400, len(spectrum)))
    reached = [np.corrcoef(row, spectrum)[0, 1] for row in noisy]
    assert scores.reachable(noisy, np.full(400, error)).mean() == pytest.approx(np.mean(reached), abs=0.01)


@pytest.mark.parametrize("width", [0.0, 4.0])
def test_chance_level_is_rarely_passed(width):
    rng = np.random.default_rng(0)
    passed, tries = 0, 300
    for _ in range(tries):
        rows = rng.standard_normal((21, 300))
        rows = gaussian_filter1d(rows, width, axis=1) if width else rows
        best = scores.correlations(rows[:1], rows[1:]).max()
        passed += best > scores.chance_level(rows[:1], rows[1:], 0.05)[0]
    print(f"chance level passed in {passed / tries:.3f} of the draws")
    assert 0.01 < passed / tries < 0.10  # 5 % is asked for; three standard deviations are 4 %


# Names


def test_offset_and_scale_do_not_matter():
    S = peaks(6)
    found = match(7.0 * S[[4, 1]] + 3.0, Library.of(S, named(6)))
    assert found.names == ("substance 4", "substance 1")
    np.testing.assert_allclose(found.table["hqi"], 100.0)
    assert (found.table["cosine"] < 0.99).all()


def test_a_slope_is_no_matter_for_the_derivative():
    S = peaks(6)
    tilted = S[:1] + 40 * S.std() * np.linspace(0, 1, 400)
    library = Library.of(S, named(6))
    assert match(tilted, library).names == (None,)
    assert match(tilted, library, derivative=True).names == ("substance 0",)


def test_present_substances_are_named_and_absent_ones_are_not():
    """A substance of the library's own kind that is not in it passes one time in twenty at most."""
    present = absent = several = 0
    for seed in range(60):
        S = peaks(41, 200, seed)
        error = 0.2 * S.std()
        P = S[[3, 40]] + np.random.default_rng(seed).normal(0, error, (2, 200))
        found = match(P, Library.of(S[:40], named(40)), errors=np.full(2, error))
        present += found.names[0] == "substance 3"
        absent += found.names[1] is not None
        several += found.table["verdict"][0] == "one of several"
    print(f"present {present}/60, absent {absent}/60")
    assert present >= 57
    assert absent <= 6
    assert several <= 3


def test_noise_is_not_held_against_a_profile():
    S = peaks(30)
    error = 0.9 * S[0].std()
    P = S[:1] + np.random.default_rng(0).normal(0, error, (1, 400))
    library = Library.of(S, named(30))
    told, untold = match(P, library, errors=[error]), match(P, library)
    assert told.table["level"][0] < untold.table["level"][0]
    assert told.names == ("substance 0",)


def test_no_name_is_given_twice():
    S = peaks(5)
    rng = np.random.default_rng(0)
    P = np.vstack([S[2] + rng.normal(0, 0.002, 400), S[2], S[0]])
    found = match(P, Library.of(S, named(5)))
    assert found.names == (None, "substance 2", "substance 0")
    twice = Library.of(np.vstack([S, S[2]]), [*named(5), "Substance 2"])  # measured twice
    assert match(P, twice).names[2] == "substance 0"
    assert sorted(str(name).casefold() for name in match(P, twice).names[:2]) == ["none", "substance 2"]
    assert set(match(P[1:], twice).table["verdict"]) == {"named"}


def test_spectra_that_are_hardly_different_are_one_of_several():
    S = peaks(20)
    alike = np.vstack([S, 0.999 * S[0] + 0.001 * S[1]])
    error = 0.1 * S.std()
    P = S[:1] + np.random.default_rng(0).normal(0, error, (1, 400))
    found = match(P, Library.of(alike, named(21)), errors=[error])
    assert found.table["verdict"][0] == "one of several"
    assert found.names[0] in ("substance 0", "substance 20")


# Axes


def test_spectra_on_another_axis_are_interpolated():
    S, axis = peaks(6), np.linspace(1600.0, 200.0, 400)  # falls, as Raman files do
    fine = np.linspace(150.0, 1500.0, 900)
    spectra = np.array([np.interp(fine, axis[::-1], row[::-1]) for row in S])
    found = match(S[[5, 0]], Library.of(spectra, named(6), fine), axis=axis)
    assert found.names == ("substance 5", "substance 0")
    assert "interpolated" in found.notes[0]
    library = Library.of(S[:, ::-1], named(6), axis[::-1])
    np.testing.assert_array_equal(library.on_axis(axis), S)
    assert match(S[[5, 0]], library, axis=axis).notes == ()


def test_a_shift_within_the_tolerance_is_found_and_told():
    S, axis = peaks(6), np.arange(400.0) * 2
    library = Library.of(S, named(6), axis + 2)  # one channel further on
    found = match(S[:1], library, axis=axis)
    assert found.names == ("substance 0",)
    assert found.table["hqi"][0] == pytest.approx(100.0, abs=1e-6)
    assert found.table["shift"][0] == 2.0
    far = Library.of(S, named(6), axis + 24)
    assert match(S[:1], far, axis=axis).names == (None,)
    assert match(S[:1], far, axis=axis, shift=24).names == ("substance 0",)
    for shift in (-1.0, np.nan, 200.0):
        with pytest.raises(InputError, match="shift must be a length along the axis"):
            match(S[:1], far, axis=axis, shift=shift)


def test_spectra_that_cannot_be_compared_are_left_out():
    S, axis = peaks(4), np.arange(400.0)
    flat = np.vstack([S, np.full(400, 7.3)])
    found = match(S[:1], Library.of(flat, [*named(4), "blank"], axis), axis=axis)
    assert found.names == ("substance 0",)
    assert "1 spectra are constant and were left out, 'blank' among them." in found.notes
    with pytest.raises(InputError, match="no spectrum of the library can be compared"):
        match(S[:1], Library.of(S, named(4), axis + 1000), axis=axis)
    with pytest.raises(InputError, match="the library has 400 channels where 100 are needed"):
        match(S[:1, :100], Library.of(S, named(4), axis))


# Carbs: the acceptance


@needs_data
def test_carbs_are_named_and_a_missing_one_is_not():
    data = np.load(DATA / "carbs.npz")
    model = GMCR(random_state=0).fit(pd.DataFrame(data["D"], columns=data["axis"]))
    truth = np.corrcoef(model.components_, data["S"])[:3, 3:].argmax(axis=1)
    labels = [str(label) for label in data["labels"][truth]]
    for seed in range(3):
        assert list(match(model, decoy_library(data, seed)).names) == labels
        for label in labels:
            found = match(model, decoy_library(data, seed, label)).names
            assert found == tuple(None if name == label else name for name in labels)


# Files


def test_library_from_a_table_and_from_a_folder(tmp_path):
    S, axis = peaks(3), np.linspace(400.0, 700.0, 400)
    pd.DataFrame(S, ["alpha", "=beta()", "gamma"], axis).to_csv(tmp_path / "library.csv")
    library = read_library(tmp_path / "library.csv")
    assert library.names == ("alpha", "=beta()", "gamma")
    np.testing.assert_allclose(library.on_axis(axis), S)
    folder = tmp_path / "spectra"
    folder.mkdir()
    for name, row in zip("abc", S):
        np.savetxt(folder / f"{name}.csv", np.column_stack([axis, row]), delimiter=",")
    (folder / "README.txt").write_text("These are spectra.")
    spectra = read_library(folder)
    assert spectra.names == ("a", "b", "c")
    np.testing.assert_allclose(spectra.on_axis(axis), S, atol=1e-12)
    assert any("README.txt was left out" in note for note in spectra.notes)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="holds no spectrum"):
        read_library(tmp_path / "empty")


def test_picking_by_name():
    library = Library.of(peaks(3), ["alpha", "Beta", "beta"])
    assert library.pick(["Beta", "ALPHA"]).names == ("Beta", "alpha")
    np.testing.assert_array_equal(library.pick(["beta"]).blocks[0].spectra, peaks(3)[2:])
    with pytest.raises(InputError, match="no spectra named 'delta'; it holds alpha, Beta, beta"):
        library.pick(["delta"])
    with pytest.raises(InputError, match="2 spectra named 'BETA'"):
        library.pick(["BETA"])


# Commands


@pytest.fixture
def files(tmp_path):
    """A data set of five substances, its run's stand-in, and a library on another axis that lacks one of them."""
    mix = make_mixtures(5, 60, 30, 200, random_state=0, profiles="peaks")
    axis = np.linspace(400.0, 700.0, 200)
    (tmp_path / "run").mkdir()
    found = Decomposition(mix.S[[3, 0, 2, 1, 4]], mix.C[:, [3, 0, 2, 1, 4]], noise=mix.sigma, axis=axis)
    found.save(tmp_path / "run" / "model.gmcr")
    pd.DataFrame(mix.D, [f"m{i}" for i in range(60)], axis).to_csv(tmp_path / "mix.csv")
    fine = np.linspace(390.0, 710.0, 500)
    everyone = np.vstack([mix.S[:4], peaks(10, 200, 9)])
    names = ["alpha", "=beta", "<b>", "delta", *named(10)]
    table = [np.interp(fine, axis, row) for row in everyone]
    pd.DataFrame(table, names, fine).to_csv(tmp_path / "library.csv")
    return tmp_path, mix


def test_match_command(run, files):
    folder, _ = files
    code, out, _ = run("match", folder / "run", folder / "library.csv")
    assert code == 0
    assert "none of these" in out
    assert "HQI = 100 r²" in out
    written = pd.read_csv(folder / "run" / "matches.csv", keep_default_na=False)
    assert list(written["component"]) == [0, 1, 2, 3, 4]
    assert list(written["name"]) == ["delta", "alpha", "<b>", "'=beta", ""]
    assert list(written["verdict"]) == ["named"] * 4 + ["none of these"]
    told = json.loads(run("match", folder / "run", folder / "library.csv", "--top", 3, "--json")[1])
    assert [row["name"] for row in told["components"]] == ["delta", "alpha", "<b>", "=beta", None]
    assert [hit["rank"] for hit in told["components"][0]["hits"]] == [1, 2, 3]
    code, _, err = run("match", folder / "run", folder / "nothing.csv")
    assert code == 2
    assert "nothing.csv" in err


def test_matches_are_escaped_in_html():
    S = peaks(3)
    page = match(S, Library.of(S, ["<script>alert(1)</script>", "b", "c"]))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_fit_with_fixed_profiles_by_name(run, files):
    folder, mix = files
    library = ["--fixed", folder / "library.csv", "--fixed-names"]
    code, _, err = run("fit", folder / "mix.csv", "-o", folder / "fit", *library, "delta, ALPHA")
    assert code == 0
    assert "Component 0 is fixed: delta." in err
    assert "interpolated onto the axis of the samples" in err
    model = GMCR.load(folder / "fit" / "model.gmcr")
    assert min(model.components_[0] @ mix.S[3], model.components_[1] @ mix.S[0]) > 0.999
    assert model.n_components_ == 5
    names = pd.read_csv(folder / "fit" / "matches.csv")
    assert list(names["name"]) == ["delta", "alpha"]
    told = json.loads(run("decode", folder / "fit", folder / "mix.csv", "--no-confidence", "--json")[1])
    assert told["components"] == ["delta", "alpha", "component 2", "component 3", "component 4"]
    assert run("fit", folder / "mix.csv", "-o", folder / "fit", "--components", 5, "--force")[0] == 0
    assert not (folder / "fit" / "matches.csv").exists()  # a run that replaces it must not keep its names
    code, _, err = run("fit", folder / "mix.csv", "-o", folder / "other", *library, "omega")
    assert code == 1
    assert "no spectra named 'omega'" in err
    assert run("fit", folder / "mix.csv", "-o", folder / "other", "--fixed-names", "alpha")[0] == 2
