"""A model with steps: it takes samples as they were measured, wherever they come in, and says what it did."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from gmcr import GMCR
from gmcr.errors import FileError, InputError
from gmcr.io.table import Table
from gmcr.naming import Library, match
from gmcr.noise import Constant
from gmcr.preprocessing import (
    SNV,
    AverageReplicates,
    Background,
    Baseline,
    Crop,
    Cut,
    Despike,
    Normalise,
    SavitzkyGolay,
    SubtractBlank,
)
from gmcr.reporting.collect import collect
from gmcr.reporting.kept import load_contents, save_contents
from gmcr.reporting.section import make_sections
from gmcr.storage import read_model
from shared_data import DATA, needs_data

pytest.importorskip("pybaselines")

AXIS = np.linspace(2000.0, 300.0, 171)
PEAKS = ((700, 1100, 1500), (800, 1250), (600, 950, 1400))
PLACE = np.linspace(-1, 1, len(AXIS))
INSIDE = (AXIS >= 400) & (AXIS <= 1800)
NAMES = tuple(f"s{m}" for m in range(24))


def profiles():
    found = [sum(np.exp(-(((AXIS - peak) / 30) ** 2)) for peak in peaks) for peaks in PEAKS]
    return np.array([one / np.linalg.norm(one) for one in found])


def amounts(seed=0):
    rng = np.random.default_rng(seed)
    C = rng.uniform(1, 5, (24, 3)) * (rng.uniform(size=(24, 3)) < 0.6)
    C[:3] = np.diag([3.0, 3.0, 3.0])
    return C


def drift(seed=1, size=0.3):
    return np.random.default_rng(seed).uniform(-size, size, (24, 3)) @ np.stack([PLACE**k for k in range(3)])


def noise(seed=2, size=0.01):
    return size * np.random.default_rng(seed).standard_normal((24, len(AXIS)))


def table(D):
    return Table(D, AXIS, NAMES, axis_unit="cm⁻¹")


@pytest.fixture(scope="module")
def samples():
    """With a drift, spikes, and something at the end of the axis that is no part of the mixtures."""
    D = amounts() @ profiles() + drift() + noise()
    D[:, AXIS > 1850] += np.random.default_rng(3).uniform(0, 5, (24, 1))
    for m, channel in ((0, 40), (7, 90), (7, 91), (15, 120)):
        D[m, channel] += 4.0
    return D


STEPS = [Crop(400, 1800), Despike(), Baseline("asls", {"lam": 1e5, "p": 0.001})]


@pytest.fixture(scope="module")
def model(samples):
    return GMCR(3, steps=STEPS, random_state=0).fit(table(samples))


def cosines(found, true=None):
    true = profiles()[:, INSIDE] if true is None else true
    unit = true / np.linalg.norm(true, axis=1, keepdims=True)
    return (found @ unit.T).max(axis=0)


def test_the_answer_is_that_of_samples_without_what_the_steps_remove(model):
    assert model.n_components_ == 3
    assert cosines(model.components_).min() > 0.98
    assert model.components_.shape == (3, INSIDE.sum())
    np.testing.assert_array_equal(model.decomposition_.axis, AXIS[INSIDE])
    assert model.decomposition_.sample_names == NAMES
    assert model.n_features_in_ == len(AXIS)


def test_it_is_the_same_as_doing_the_steps_first(model, samples):
    frame = pd.DataFrame(samples, columns=AXIS, index=NAMES)
    pipeline = make_pipeline(*(clone(step) for step in STEPS), GMCR(3, random_state=0)).fit(frame)
    np.testing.assert_array_equal(pipeline[-1].components_, model.components_)
    np.testing.assert_array_equal(pipeline.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(pipeline[-1].decomposition_.axis, model.decomposition_.axis)


def test_new_samples_come_as_they_were_measured(model, samples):
    new = amounts(7) @ profiles() + drift(8) + noise(9)
    out = model.decode(pd.DataFrame(new, columns=AXIS))
    order = (model.components_ @ profiles()[:, INSIDE].T).argmax(axis=0)
    scale = np.linalg.norm(profiles()[:, INSIDE], axis=1)
    np.testing.assert_allclose(out.concentrations[:, order], amounts(7) * scale, atol=0.6)
    for wrong, message in (
        (new[:, INSIDE], "141 channels and the model has 171"),
        (pd.DataFrame(new, columns=AXIS + 3), "different axes"),
    ):
        with pytest.raises(InputError, match=message):
            model.decode(wrong)
    alone = np.vstack([model.decode(row[None]).concentrations for row in samples[:8]])
    np.testing.assert_allclose(alone, model.decode(samples).concentrations[:8], atol=1e-9)
    np.testing.assert_allclose(alone, model.concentrations_[:8], atol=1e-9)


def test_a_file_holds_the_steps(model, samples, tmp_path):
    model.save(tmp_path / "run.gmcr")
    again = GMCR.load(tmp_path / "run.gmcr")
    assert again.chain_.did == model.chain_.did
    assert [type(step) for step in again.steps] == [type(step) for step in STEPS]
    assert again.n_features_in_ == len(AXIS)
    before, after = model.decode(samples), again.decode(table(samples))
    for name in ("concentrations", "residual", "known", "noise", "errors"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name), err_msg=name)
    assert again.certify(samples).verdict == model.certify(samples).verdict
    kinds = [step["kind"] for step in read_model(tmp_path / "run.gmcr")[1]["steps"]["steps"]]
    assert kinds == ["crop", "despike", "baseline"]


def test_a_model_without_steps_has_none_in_its_file(tmp_path):
    plain = GMCR(random_state=0).fit(amounts() @ profiles() + noise())
    plain.save(tmp_path / "plain.gmcr")
    assert "steps" not in read_model(tmp_path / "plain.gmcr")[1]
    assert not GMCR.load(tmp_path / "plain.gmcr").chain_


def test_a_file_that_names_an_unknown_step_is_one_sentence(model, tmp_path, monkeypatch):
    model.save(tmp_path / "run.gmcr")
    monkeypatch.delitem(__import__("gmcr.preprocessing", fromlist=["STEPS"]).STEPS._things, "despike")
    with pytest.raises(FileError, match="needs what is not installed: the step 'despike' is not known here"):
        GMCR.load(tmp_path / "run.gmcr")


def test_a_library_goes_through_the_same_steps(model):
    """Spectra on another axis, with a baseline of their own, which would name nothing as they are."""
    own = np.linspace(250.0, 2100.0, 400)
    spectra = np.array([np.interp(own, AXIS[::-1], one[::-1]) for one in profiles()])
    spectra += 0.5 + own / 4000.0
    names = match(model, Library.of(spectra, ["a", "b", "c"], axis=own))
    order = (model.components_ @ profiles()[:, INSIDE].T).argmax(axis=1)
    assert names.names == tuple("abc"[j] for j in order)
    assert "put through the same steps: cropped" in " ".join(names.notes)
    assert "spikes" not in " ".join(names.notes)
    shelf = Library.of(spectra, ["a", "b", "c"], axis=own).after(model.chain_)
    assert shelf.on_axis(AXIS[INSIDE]).shape == (3, INSIDE.sum())


def test_the_report_says_what_was_done_with_pictures(model, samples, tmp_path):
    contents = collect(model.decomposition_, table(samples), model=model, seconds=1.0)
    assert contents.steps == model.chain_.did
    assert "4 spikes" not in contents.steps[0]
    assert "3 spikes, 4 entries, in 3 of 24 samples" in contents.steps[1]
    save_contents(contents, tmp_path / "facts.gmcr")
    kept = load_contents(tmp_path / "facts.gmcr", model.decomposition_)
    for one in (contents, kept):
        (section,) = [made for made in make_sections(one) if made.name == "steps"]
        charts = section.charts
        assert {*charts} == {"steps-before", "steps-after"}
        assert len(charts["steps-before"].series) == 4
        shown = charts["steps-before"].series[0]
        np.testing.assert_array_equal(shown.x, AXIS)
        np.testing.assert_array_equal(shown.y, samples[0])
        after = charts["steps-after"].series[0]
        assert after.y.max() < 2.0  # without its spike
    model.report(table(samples), tmp_path / "report.html", source="made")
    assert "Baseline asls" in (tmp_path / "report.html").read_text()


def test_parameters_are_left_alone_and_can_be_cloned(model):
    assert not hasattr(model.steps[2], "n_features_in_")
    assert not hasattr(model.steps[1], "lines_")
    again = clone(model)
    assert again.steps is not model.steps
    assert [one.get_params() for one in again.steps] == [one.get_params() for one in STEPS]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steps": "asls"}, "steps must be a list of steps"),
        ({"steps": ["asls"]}, "steps holds a str, which is no step"),
        ({"steps": [Normalise("area")], "noise": 0.01}, "the step normalise changes it"),
        ({"steps": [SNV()], "noise": Constant(0.1)}, "the step snv changes it"),
        ({"steps": [AverageReplicates()]}, "AverageReplicates needs to know which samples are one"),
        ({"steps": [AverageReplicates(), AverageReplicates()]}, "AverageReplicates twice"),
        ({"background": -1}, "background must be a whole number of at least 0"),
        ({"background": 1, "steps": [Background(1)]}, "give one of them"),
        ({"steps": [Crop(5000, 6000)]}, r"Crop\(5000, 6000\) leaves no channel of an axis from 2000 to 300"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message, samples):
    with pytest.raises(InputError, match=message):
        GMCR(**given).fit(table(samples))


def test_a_step_from_elsewhere_is_pointed_to_a_pipeline(samples):
    from sklearn.preprocessing import StandardScaler

    with pytest.raises(InputError, match=r"steps holds a StandardScaler.*in a Pipeline"):
        GMCR(steps=[StandardScaler()]).fit(samples)


def test_noise_that_is_told_goes_through_the_steps():
    D = amounts() @ profiles() + noise()
    sizes = np.abs(D).sum(axis=1)
    told = GMCR(steps=[Normalise("area")]).fit(D, noise=np.full(24, 0.01))
    np.testing.assert_allclose(told.noise_, 0.01 / sizes, rtol=1e-6)
    np.testing.assert_allclose(told.decode(D, noise=np.full(24, 0.01)).noise, 0.01 / sizes, rtol=1e-6)
    by_entry = GMCR(steps=[Crop(20, 120)]).fit(D, noise=np.full(D.shape, 0.01))
    np.testing.assert_allclose(by_entry.noise_, 0.01)


def test_known_profiles_go_through_the_steps():
    D = amounts() @ profiles() + drift() + noise()
    model = GMCR(fixed_components=profiles()[:2], steps=[Crop(400, 1800)], background=3).fit(table(D))
    assert model.n_fixed_ == 2
    assert model.n_components_ == 3
    assert cosines(model.components_[:2], profiles()[:2, INSIDE]).min() > 0.99


def test_known_profiles_that_steps_make_negative_are_told():
    D = amounts() @ profiles() + noise()
    known = profiles()[:1] + 0.3 * np.cos(np.linspace(0, 9, profiles().shape[1]))[None] ** 2
    steps = [Baseline("polynomial", {"poly_order": 2})]
    with pytest.warns(UserWarning, match="negative in places, which was taken for zero .* of profile 0"):
        model = GMCR(fixed_components=known, steps=steps, n_components=3, signed=False).fit(table(D))
    assert (model.components_[0] >= 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = GMCR(fixed_components=known, steps=steps, n_components=3, signed="profiles").fit(table(D))
    assert (kept.components_[0] < 0).any()


def test_replicates_are_averaged_and_hand_over_their_spread():
    D = np.repeat(amounts() @ profiles(), 5, axis=0)
    rng = np.random.default_rng(0)
    D = D + 0.1 * rng.standard_normal(D.shape)
    labels = np.repeat(NAMES, 5)
    model = GMCR(steps=[AverageReplicates()], random_state=0).fit(D, replicates=labels)
    assert model.n_components_ == 3
    assert model.decomposition_.sample_names == NAMES
    assert model.concentrations_.shape == (24, 3)
    np.testing.assert_allclose(model.noise_, 0.1 / np.sqrt(5), rtol=0.05)
    # New samples are single measurements, of as much noise as one has.
    out = model.decode(D[:10])
    np.testing.assert_allclose(out.noise, 0.1, rtol=0.1)
    assert out.known.all()
    assert model.certify(D).verdict
    assert "120 measurements became 24 samples" in model.chain_.did[0]


# Background


def test_a_background_is_no_component_and_makes_no_difference():
    clean = amounts() @ profiles() + noise()
    first = GMCR(background=3, random_state=0).fit(clean)
    other = GMCR(background=3, random_state=0).fit(clean + drift(size=1.0))
    for model in (first, other):
        assert model.n_components_ == 3
        assert cosines(model.components_, profiles()).min() > 0.99
        assert model.noise_.mean() == pytest.approx(0.01, rel=0.1)
    np.testing.assert_allclose(other.components_, first.components_, atol=1e-3)
    new = amounts(5) @ profiles() + noise(6)
    np.testing.assert_allclose(other.transform(new + drift(7)), other.transform(new), atol=1e-6)


def test_a_background_of_data_with_both_signs():
    D = amounts() @ np.diff(profiles(), axis=1, prepend=0) + noise(size=0.001)
    model = GMCR(background=2, signed="profiles", random_state=0).fit(D + drift()[:, :1])
    assert model.n_components_ == 3


# The shell


def test_the_shell(run, samples, tmp_path):
    table(samples).write(tmp_path / "data.csv")
    Table(profiles() + 0.2, AXIS, ("a", "b", "c")).write(tmp_path / "library.csv")
    Table(np.zeros((2, len(AXIS))), AXIS).write(tmp_path / "blank.csv")
    folder, data = tmp_path / "run", tmp_path / "data.csv"
    options = [
        "--range",
        "1800:400",
        "--drop",
        "1000:1020",
        "--drop",
        "500:510",
        "--despike",
        "--baseline",
        "asls:lam=1e5,p=0.001,common",
    ]
    code, out, err = run(
        "fit", data, "-o", folder, *options, "--blank", tmp_path / "blank.csv", "--components", "3", "--json"
    )
    assert code == 0, err
    told = json.loads(out)
    assert told["components"] == 3
    assert [text.split(".")[0].split(" ")[0] for text in told["steps"]] == [
        "A", "Spikes", "Cropped", "The", "The", "Baseline",
    ]  # fmt: skip
    report = (folder / "report.html").read_text()
    assert "--drop 1000:1020 --drop 500:510" in report
    assert "3 spikes, 4 entries" in report
    assert "3 spikes, 4 entries" in (folder / "summary.txt").read_text()
    assert (folder / "figures" / "steps.svg").exists()
    left = INSIDE & ~((AXIS >= 1000) & (AXIS <= 1020)) & ~((AXIS >= 500) & (AXIS <= 510))
    assert pd.read_csv(folder / "profiles.csv", index_col=0).shape == (3, left.sum())
    code, out, err = run("decode", folder, data, "--json", "--no-confidence")
    assert code == 0, err
    assert "Step: spikes" in err + out
    found = GMCR.load(folder / "model.gmcr").concentrations_
    decoded = json.loads(out)["samples"]
    for row, sample in zip(found, decoded):
        np.testing.assert_allclose(sorted(sample["concentrations"].values()), sorted(row[row > 0]), rtol=1e-9)
    for command in (
        ("certify", folder, data),
        ("match", folder, tmp_path / "library.csv"),
        ("report", folder, data),
    ):
        code, out, err = run(*command)
        assert code == 0, err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--range", "400"], "--range must be LOW:HIGH"),
        (["--drop", "a:b"], "--drop must be LOW:HIGH"),
        (["--baseline", "asls:lam=high"], "--baseline must be METHOD"),
        (["--background", "2", "--solver", "eb"], "are for --solver window"),
    ],
)
def test_wrong_calls(run, samples, tmp_path, options, message):
    table(samples).write(tmp_path / "data.csv")
    code, _, err = run("fit", tmp_path / "data.csv", "-o", tmp_path / "run", *options)
    assert code == 2
    assert message in " ".join(err.split())


def test_the_shell_averages_samples_of_one_name(run, tmp_path):
    D = np.repeat(amounts() @ profiles(), 2, axis=0)
    D = D + 0.02 * np.random.default_rng(0).standard_normal(D.shape)
    Table(D, AXIS, tuple(np.repeat(NAMES, 2))).write(tmp_path / "data.csv")
    options = ["--average", "--smooth", "5", "--normalise", "area", "--json"]
    code, out, err = run("fit", tmp_path / "data.csv", "-o", tmp_path / "run", *options)
    assert code == 0, err
    assert json.loads(out)["samples"] == 24
    code, out, err = run("certify", tmp_path / "run", tmp_path / "data.csv", "--json")
    assert code == 0, err


def test_the_shell_tells_the_noise_from_replicates(run, tmp_path):
    D = np.repeat(amounts() @ profiles(), 2, axis=0)
    D = D + 0.02 * np.random.default_rng(0).standard_normal(D.shape)
    names = tuple(np.repeat(NAMES, 2))
    model = GMCR(random_state=0).fit(D, replicates=names)
    Table(D, AXIS, names).write(tmp_path / "names.csv")
    own = tuple(f"s{n}" for n in range(len(D)))
    frame = pd.DataFrame(D, columns=AXIS, index=pd.Index(own, name="sample"))
    frame.insert(0, "thing", names)
    frame.to_csv(tmp_path / "column.csv")
    for by, file in (("names", "names.csv"), ("thing", "column.csv")):
        where = tmp_path / "data" / by
        code, out, err = run("fit", tmp_path / file, "-o", where, "--replicates", by, "--json")
        assert code == 0, err
        found = json.loads(out)
        assert (found["samples"], found["components"]) == (48, model.n_components_)
        assert found["noise_law"]["level"] == pytest.approx(model.noise_law_.level)
    code, out, err = run(
        "fit", tmp_path / "column.csv", "-o", where, "--replicates", "thing", "--average", "--force", "--json"
    )
    assert code == 0, err
    assert json.loads(out)["samples"] == 24
    for told, message in ((["names"], "names no sample twice"), (["other"], "no column 'other'")):
        code, _, err = run("fit", tmp_path / "column.csv", "-o", tmp_path / "no", "--replicates", *told)
        assert code in (1, 2)
        assert message in " ".join(err.split())


# Real data, and others' transformers


@needs_data
@pytest.mark.parametrize("way", ["steps", "background"])
def test_carbs_with_a_drift_and_spikes(way):
    import sys
    from pathlib import Path

    sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
    from steps import run_one

    found = run_one(DATA, way, 1000)
    assert found["count"] == 3
    assert found["same"] > 0.99


def test_chemotools_in_a_pipeline(samples):
    """The recipe of docs/steps.md: chemotools' transformers first, with names that carry the axis."""
    baseline = pytest.importorskip("chemotools.baseline")
    frame = pd.DataFrame(samples[:, INSIDE], columns=[f"{place:g}" for place in AXIS[INSIDE]], index=NAMES)
    first = baseline.PolynomialCorrection(order=2).set_output(transform="pandas")
    pipeline = make_pipeline(Despike(fill="line"), first, GMCR(random_state=0, signed="profiles")).fit(frame)
    model = pipeline[-1]
    np.testing.assert_array_equal(model.decomposition_.axis, AXIS[INSIDE])
    assert model.n_components_ == 3
    assert pipeline.transform(frame).shape == (24, 3)
    # The same polynomials as a background that keeps both signs.
    own = GMCR(steps=[Despike(fill="line")], background=3, signed="profiles", random_state=0).fit(frame)
    assert np.abs(np.abs(model.components_ @ own.components_.T).max(axis=1) - 1.0).max() < 1e-3


def test_ours_in_a_pipeline_with_a_cut(samples):
    frame = pd.DataFrame(samples, columns=AXIS)
    steps = make_pipeline(
        Crop(400, 1800), Cut(1000, 1020), Despike(), SavitzkyGolay(7, 2, 1), SubtractBlank(0.0)
    )
    out = steps.fit_transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert out.shape == (24, INSIDE.sum() - 3)
