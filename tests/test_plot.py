"""Plots from Python: what is drawn is what was found, on the Axes that came; and results show in a notebook."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gmcr import GMCR, Decomposition, make_mixtures, unfold
from gmcr.errors import InputError
from gmcr.io.table import Table
from gmcr.noise import degrees_of_freedom
from gmcr.preprocessing import Crop
from gmcr.reporting.colours import NO_PIXEL, colour_of, shades
from gmcr.theory.ambiguity import feasible_bands

pytest.importorskip("matplotlib", reason="matplotlib draws the plots")
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgba

from gmcr import plot


@pytest.fixture(autouse=True)
def _closed():
    plt.close("all")  # what others left open
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(4, 24, snr_db=25, n_features=60, active=(1, 2), profiles="peaks", random_state=101)


@pytest.fixture(scope="module")
def model(mix):
    axis = np.linspace(1600.0, 1010.0, 60)
    return GMCR(random_state=0).fit(Table(mix.D, axis, tuple(f"s{m}" for m in range(24)), axis_unit="cm⁻¹"))


@pytest.fixture(scope="module")
def dense():
    """Two components in all samples: what they look like is open."""
    rng = np.random.default_rng(102)
    x = np.linspace(-1, 1, 40)
    S = np.stack([np.exp(-((x - at) ** 2) / 0.3) for at in (-0.3, 0.3)])
    C = rng.uniform(1, 3, (15, 2))
    found = Decomposition.from_factors(C, S, noise=1e-3)
    return found, C @ S


@pytest.fixture(scope="module")
def three():
    """Three components in all samples, and their plane."""
    rng = np.random.default_rng(103)
    x = np.linspace(-1, 1, 40)
    S = np.stack([np.exp(-((x - at) ** 2) / 0.3) + 0.05 for at in (-0.6, 0.0, 0.6)])
    C = rng.uniform(0.3, 3, (15, 3))
    found = Decomposition.from_factors(C, S, noise=1e-3, component_names=("a", "b", "c"))
    return feasible_bands(C @ S, found)


def pixels_of(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


# Axes


def test_axes_come_back_and_new_ones_are_made(model, mix, dense):
    _, ax = plt.subplots()
    single = {
        "profiles": lambda ax: plot.profiles(model, ax=ax),
        "concentrations": lambda ax: plot.concentrations(model, ax=ax),
        "count": lambda ax: plot.count(model, ax=ax),
        "residuals": lambda ax: plot.residuals(model, mix.D, ax=ax),
        "sample": lambda ax: plot.sample(model, mix.D, 0, ax=ax),
        "bands": lambda ax: plot.bands(*dense, ax=ax),
        "plane": lambda ax: plot.plane(*dense, ax=ax),
    }
    assert {*single, "maps", "steps"} == set(plot.__all__)
    for name, draw in single.items():
        figures = len(plt.get_fignums())
        assert draw(ax) is ax, name
        assert len(plt.get_fignums()) == figures, name
        assert draw(None) is not ax, name
        assert len(plt.get_fignums()) == figures + 1, name
        with pytest.raises(InputError, match="ax must be one matplotlib Axes, not a list"):
            draw([ax])


def test_several_pictures_take_an_array_or_the_place_of_one(model):
    figure, axes = plt.subplots(2, 2)
    assert plot.maps(model, (4, 6), ax=axes).tolist() == axes.ravel().tolist()
    assert len(plot.maps(model, (4, 6), components=[2], ax=axes)) == 1
    figure, (left, right) = plt.subplots(1, 2)
    inside = plot.maps(model, (4, 6), ax=right)
    figure.canvas.draw()
    place = right.get_position()
    for panel in inside:
        assert panel.get_position().x0 >= place.x0 - 1e-9
        assert panel.get_position().x1 <= place.x1 + 1e-9
    assert len(left.images) == 0
    with pytest.raises(InputError, match="ax has 2 Axes where 4 are needed"):
        plot.maps(model, (4, 6), ax=[left, right])
    with pytest.raises(InputError, match=r"as plt.subplots\(\) makes them"):
        plot.maps(model, (4, 6), ax=figure.add_axes((0, 0, 1, 1)))
    with pytest.raises(InputError, match="array of them, not a str"):
        plot.maps(model, (4, 6), ax="here")


def test_what_is_no_solution_is_refused(mix):
    for thing in (GMCR(), mix.D):
        with pytest.raises(InputError, match="a Decomposition or a fitted model"):
            plot.profiles(thing)


# Profiles


def test_profiles_are_drawn_whole_with_errors(model):
    ax = plot.profiles(model)
    assert len(ax.lines) == model.n_components_
    for line, profile in zip(ax.lines, model.components_):
        np.testing.assert_array_equal(line.get_ydata(), profile)
        np.testing.assert_array_equal(line.get_xdata(), model.decomposition_.axis)
    assert ax.xaxis_inverted()  # wavenumbers fall
    assert len(ax.collections) == model.n_components_  # standard errors, and no bands without samples
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"component {j}" for j in range(4)]


def test_many_channels_are_not_thinned():
    S = np.random.default_rng(0).uniform(size=(2, 5000))
    ax = plot.profiles(Decomposition.from_factors(np.ones((3, 2)), S), components=[1])
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_ydata(), S[1] / np.linalg.norm(S[1]))


def test_profiles_have_the_bands_that_were_found(dense):
    found, D = dense
    bands = feasible_bands(D, found)
    assert not bands.closed
    for ax in (plot.profiles(found, D), plot.profiles(found, bands=bands)):
        pale = [area for area in ax.collections if area.get_alpha() == 0.14]
        assert len(pale) == 2
        for area, band in zip(pale, bands.bands):
            high = area.get_paths()[0].vertices[:, 1].max()
            assert high == pytest.approx(band.profiles.max())


def test_bands_that_take_too_long_are_warned_of():
    rng = np.random.default_rng(0)
    C, S = rng.uniform(1, 2, (20, 3)), rng.uniform(0.1, 1, (3, 40))  # held by all samples: a search is needed
    found, D = Decomposition.from_factors(C, S, noise=0.01), C @ S
    with pytest.warns(UserWarning, match="without bands: not finished within 0 s; seconds= gives more time"):
        ax = plot.profiles(found, D, seconds=0.0)
    assert len(ax.lines) == 3
    with pytest.raises(InputError, match="the bands were not finished within 0 s"):
        plot.bands(found, D, seconds=0.0)


def test_the_unit_of_a_table_is_told(dense):
    found, D = dense
    ax = plot.profiles(replace(found, axis=np.arange(40.0)), Table(D, np.arange(40.0), axis_unit="nm"))
    assert ax.get_xlabel() == "wavelength (nm)"


def test_names_are_shown_as_they_stand():
    found = Decomposition.from_factors(
        np.ones((3, 2)), np.eye(2, 5), component_names=("$x^2$ and $y$", "\x1bb")
    )
    ax = plot.profiles(found)
    ax.figure.canvas.draw()  # a formula that cannot be read would raise here
    assert [line.get_label() for line in ax.lines] == [r"\$x^2\$ and \$y\$", "�b"]


def test_components_that_are_not_there_are_refused(model):
    with pytest.raises(InputError, match="components must pick from 4 components, numbered from 0"):
        plot.profiles(model, components=[7])


# Concentrations and maps


def test_lines_follow_the_order_of_each_run(model):
    order = np.tile(np.arange(12.0)[::-1], 2)
    ax = plot.concentrations(model, order, runs=["x"] * 12 + ["y"] * 12, label="time (min)")
    assert ax.get_xlabel() == "time (min)"
    for j, line in enumerate(ax.lines):
        at, drawn = line.get_xdata(), line.get_ydata()
        assert np.isnan(at[12])
        np.testing.assert_array_equal(at[:12], np.arange(12.0))
        np.testing.assert_array_equal(drawn[:12], model.concentrations_[11::-1, j])
        np.testing.assert_array_equal(drawn[13:], model.concentrations_[:11:-1, j])
    assert len(ax.collections) == 4  # standard errors
    bare = plot.concentrations(model, kind="lines", components=[1])
    (line,) = bare.lines
    np.testing.assert_array_equal(line.get_ydata(), model.concentrations_[:, 1])
    assert bare.get_xlabel() == "sample"
    with pytest.raises(InputError, match='kind must be "lines" or "heat"'):
        plot.concentrations(model, kind="bars")
    with pytest.raises(InputError, match="order must have 24 numbers"):
        plot.concentrations(model, order=[1, 2])


def test_heat_holds_the_numbers_and_white_is_none(model):
    figure, ax = plt.subplots(figsize=(4, 4), dpi=100)
    assert plot.concentrations(model, components=[0, 2], ax=ax) is ax
    picture = ax.images[0]
    C = model.concentrations_[:, [0, 2]]
    np.testing.assert_array_equal(picture.get_array(), C)
    drawn = picture.to_rgba(picture.get_array(), bytes=True)[..., :3]
    assert (drawn[C == 0] == 255).all()
    assert not (drawn[C > 0] == 255).all(axis=-1).any()
    np.testing.assert_allclose(drawn[C > 0], shades(C / C.max())[C > 0], atol=3)
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"s{m}" for m in range(24)]
    assert len(figure.axes) == 2  # with its scale
    box = ax.get_window_extent()
    seen = pixels_of(figure)[:, :, :3][::-1][int(box.y0) + 1 : int(box.y1), int(box.x0) + 1 : int(box.x1)]
    row, column = np.unravel_index(C.argmax(), C.shape)
    y, x = (
        int((1 - (row + 0.5) / len(C)) * seen.shape[0]),
        int((column + 0.5) / 2 * seen.shape[1]),
    )
    np.testing.assert_allclose(seen[y, x], shades(np.ones(1))[0], atol=3)  # on the paper, too


def test_small_amounts_are_not_white():
    C = np.array([[1e-9, 1.0], [0.0, 1.0]])
    figure, ax = plt.subplots()
    plot.concentrations(Decomposition(np.eye(2, 3), C), ax=ax)
    box = ax.get_window_extent()
    seen = pixels_of(figure)[::-1]
    left, top, bottom = int(box.x0 + box.width / 4), int(box.y1 - 9), int(box.y0 + 9)
    assert (seen[bottom, left, :3] == 255).all()
    assert (seen[top, left, :3] != 255).any()


def test_negative_amounts_have_shades_of_their_own():
    C = np.array([[-2.0, 1.0], [0.0, 2.0]])
    ax = plot.concentrations(Decomposition(np.eye(2, 3), C, signed=True))
    drawn = ax.images[0].to_rgba(C, bytes=True)[..., :3]
    np.testing.assert_allclose(drawn, shades(C / 2), atol=3)


def test_maps_stand_where_the_pixels_were(mix):
    cube = np.full((5, 6, 60), np.nan)
    cube.reshape(30, 60)[3:27] = mix.D
    D, pixels = unfold(cube)
    found = Decomposition(mix.S, mix.C)
    for image in (pixels, Table(D, pixels=pixels)):
        panels = plot.maps(found, image, components=[3, 1])
        for panel, j in zip(panels, (3, 1)):
            drawn = np.ma.filled(panel.images[0].get_array(), np.nan)
            np.testing.assert_array_equal(drawn, pixels.refold(mix.C[:, j]))
            assert panel.get_title().startswith(f"component {j}, to ")
    grey = panels[0].images[0].cmap.get_bad()
    np.testing.assert_allclose(grey, to_rgba(NO_PIXEL))
    with pytest.raises(InputError, match="image has 4 x 5 pixels, 20 of them samples, and the solution 24"):
        plot.maps(found, (4, 5))
    with pytest.raises(InputError, match="was not read from an image"):
        plot.maps(found, Table(D))
    with pytest.raises(InputError, match=r"or \(rows, columns\)"):
        plot.maps(found, "square")


# Count


def test_count_draws_probabilities_costs_and_halves(model):
    chances = model.count_.probabilities
    ax = plot.count(model)
    line = ax.lines[0]
    drawn = dict(zip(line.get_xdata(), line.get_ydata()))
    assert drawn == {k: p for k, p in chances.items() if k in drawn}
    assert model.n_components_ in drawn
    assert all(float(tick).is_integer() for tick in ax.get_xticks())
    costs = plot.count(model, kind="costs").lines[0]
    assert costs.get_ydata().min() == 1.0
    if len(model.count_.reproducibility) > 1:
        halves = plot.count(model, kind="halves").lines[0]
        assert dict(zip(halves.get_xdata(), halves.get_ydata())) == model.count_.reproducibility
    with pytest.raises(InputError, match="no probabilities by count"):
        plot.count(model.decomposition_)
    with pytest.raises(InputError, match='kind must be "probabilities" or "costs" or "halves"'):
        plot.count(model, kind="all")


# Residuals


def test_residuals_of_samples_are_those_of_the_fit(model, mix):
    ax = plot.residuals(model, mix.D)
    shown = [line for line in ax.lines if line.get_marker() == "o"]
    at = np.concatenate([line.get_xdata() for line in shown]).astype(int)
    ratio = np.concatenate([line.get_ydata() for line in shown])
    assert sorted(at) == list(range(24))
    left = mix.D - model.decomposition_.reconstruct()
    dof = degrees_of_freedom(mix.D, model.concentrations_, model.components_, 1.0 / model.noise_**2)
    expected = np.sqrt(np.sum(left**2, axis=1) / dof) / model.noise_
    np.testing.assert_allclose(ratio, expected[at], rtol=1e-6)
    with pytest.raises(InputError, match="not the samples that were unmixed"):
        plot.residuals(model, 1.5 * mix.D)


def test_residuals_of_entries_are_in_units_of_noise():
    mix = make_mixtures(3, 30, snr_db=20, n_features=50, random_state=104)
    found = Decomposition(mix.S, mix.C, noise=mix.sigma)
    D = mix.D.copy()
    D[3, 7] = np.nan
    drawn = plot.residuals(found, D, kind="entries").images[0].get_array()
    expected = (mix.D - mix.C @ mix.S) / mix.sigma[:, None]
    seen = np.ma.filled(drawn, np.nan)
    assert np.isnan(seen[3, 7])
    seen[3, 7] = expected[3, 7]
    np.testing.assert_allclose(seen, expected)
    with pytest.raises(InputError, match='kind must be "samples" or "entries"'):
        plot.residuals(found, D, kind="all")


def test_a_sample_is_measured_fitted_and_left(model, mix):
    for which in (5, "s5", -19):
        measured, fit, rest = plot.sample(model, mix.D, which).lines
        np.testing.assert_array_equal(measured.get_ydata(), mix.D[5])
        np.testing.assert_allclose(measured.get_ydata() - fit.get_ydata(), rest.get_ydata())
    with pytest.raises(InputError, match="which must be a sample's number, 0 to 23, or its name, not 's99'"):
        plot.sample(model, mix.D, "s99")


# Ambiguity


def test_bands_reach_from_the_least_to_the_largest_share(dense):
    found, D = dense
    bands = feasible_bands(D, found)
    ax = plot.bands(bands)
    spans = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    np.testing.assert_allclose(spans, [[band.min, band.max] for band in bands.bands])
    points = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(points, [band.share for band in bands.bands])
    with pytest.raises(InputError, match="D is needed"):
        plot.bands(found)


def test_bands_without_an_end_and_without_numbers(dense):
    found, D = dense
    bands = feasible_bands(D, found)
    open_, unknown = replace(bands.bands[0], max=np.inf), replace(bands.bands[1], min=np.nan, max=np.nan)
    ax = plot.bands(replace(bands, bands=(open_, unknown)))
    ax.figure.canvas.draw()
    assert np.isfinite(ax.get_xlim()).all()
    assert [len(line.get_xdata()) for line in ax.lines] == [1, 2, 1]


def test_the_plane_of_two_is_a_rectangle_about_the_solution(dense):
    found, D = dense
    (pair,) = feasible_bands(D, found).planes
    ax = plot.plane(found, D)
    corners = ax.patches[0].get_xy()
    assert (corners[:, 0].min(), corners[:, 0].max()) == pytest.approx(pair.a)
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx(pair.b)
    assert ax.lines[0].get_xydata().tolist() == [[0.0, 0.0]]


def test_the_plane_of_three_holds_polygons_regions_and_the_solution(three):
    ambiguity = three
    (area,) = ambiguity.planes
    ax = plot.plane(ambiguity)
    outer, inner, *points = ax.lines
    np.testing.assert_allclose(outer.get_xydata()[:-1], area.outer)
    np.testing.assert_allclose(inner.get_xydata()[:-1], area.inner)
    assert [point.get_label() for point in points] == ["a", "b", "c"]
    np.testing.assert_allclose([point.get_xydata()[0] for point in points], area.points)
    colours = [to_rgba(point.get_color()) for point in points]
    assert colours == [to_rgba(colour_of(j)) for j in range(3)]
    assert len(ax.collections) == sum(mask.any() for mask in area.masks) > 0
    with pytest.raises(InputError, match="which must be from 0 to 0, not 1"):
        plot.plane(ambiguity, which=1)
    with pytest.raises(InputError, match="no plane to draw"):
        plot.plane(replace(ambiguity, planes=()))


# Steps


def test_steps_are_drawn_before_and_after(mix):
    axis = np.linspace(400.0, 990.0, 60)
    table = Table(mix.D, axis, axis_unit="nm")
    model = GMCR(4, steps=[Crop(450, 900)], random_state=0).fit(table)
    before, after = plot.steps(model, table, samples=[2, 7])
    kept = (axis >= 450) & (axis <= 900)
    for line, m in zip(before.lines, (2, 7)):
        np.testing.assert_array_equal(line.get_ydata(), mix.D[m])
    for line, m in zip(after.lines, (2, 7)):
        np.testing.assert_array_equal(line.get_xdata(), axis[kept])
        np.testing.assert_array_equal(line.get_ydata(), mix.D[m, kept])
    assert before.get_xlabel() == "wavelength (nm)"
    assert len(plot.steps(model, table)[0].lines) == 4
    drawn = plot.sample(model, table, 2).lines[0]
    np.testing.assert_array_equal(drawn.get_ydata(), mix.D[2, kept])  # other plots are after the steps
    with pytest.raises(InputError, match="samples must pick from 24"):
        plot.steps(model, table, samples=[24])
    with pytest.raises(InputError, match="no steps before unmixing"):
        plot.steps(model.decomposition_, table)


# Without matplotlib, and in a notebook

WITHOUT = """
import sys
sys.modules["matplotlib"] = None
import gmcr
from gmcr.cli.app import main
try:
    gmcr.plot
except ImportError as error:
    print(error)
sys.exit(main(["fit", sys.argv[1], "-o", sys.argv[2], "--components", "2"]))
"""


def test_without_matplotlib_one_line_says_so(tmp_path):
    mix = make_mixtures(2, 12, snr_db=30, n_features=24, random_state=105)
    pd.DataFrame(mix.D, columns=np.arange(400.0, 424.0)).to_csv(tmp_path / "mix.csv")
    command = [sys.executable, "-c", WITHOUT, tmp_path / "mix.csv", tmp_path / "run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "gmcr.plot needs matplotlib; install it with: pip install 'gmcr[plot]'" in done.stdout
    told = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("Figure files")]
    assert told == [
        "Figure files need matplotlib: pip install 'gmcr[plot]'. The report holds the same charts."
    ]
    assert "figures" not in done.stdout.split("Wrote")[1]
    assert not (tmp_path / "run" / "figures").exists()
    assert "<section" in (tmp_path / "run" / "report.html").read_text()


SHOWN = {  # cells whose last line shows a result, and words of its HTML
    "model": ("GMCR", "4 components"),
    "model.decomposition_": ("4 components",),
    "model.count_": ("4 components",),
    "model.decode(mix.D)": ("24 samples",),
    "model.certify(mix.D)": ("<table",),
    "gmcr.estimate_rank(mix.D)": ("<table",),
    "feasible_bands(mix.D, model.decomposition_)": ("Could it look different",),
}
DRAWN = (
    "gmcr.plot.profiles(model, mix.D)",
    "gmcr.plot.concentrations(model)",
    "gmcr.plot.maps(model, (4, 6));",
)
FIRST = """
import gmcr
from gmcr.theory.ambiguity import feasible_bands
mix = gmcr.make_mixtures(4, 24, snr_db=25, n_features=60, active=(1, 2), profiles="peaks", random_state=101)
model = gmcr.GMCR(random_state=0).fit(mix.D)
"""


def test_results_show_themselves_in_a_notebook(tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the notebook's own puts plots below their cell
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs the notebook")
    pytest.importorskip("ipykernel", reason="the notebook runs in it")
    from nbformat.v4 import new_code_cell, new_notebook

    cells = [FIRST, *SHOWN, *DRAWN]
    book = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = {cell.source: cell.outputs for cell in book.cells}
    for source, words in SHOWN.items():
        (shown,) = [one.data for one in outputs[source] if one.output_type == "execute_result"]
        for word in words:
            assert word in shown["text/html"], source
        assert "Traceback" not in shown["text/plain"]
    for source in DRAWN:
        pictures = [one.data["image/png"] for one in outputs[source] if "image/png" in one.get("data", {})]
        assert len(pictures) == 1, source
        assert len(pictures[0]) > 5_000, source
