"""Constraints through the estimator and the shell: honoured in what is returned, or a clear word."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

from gmcr import GMCR, make_mixtures
from gmcr.cli.app import main
from gmcr.constraints import (
    CONSTRAINTS,
    Closure,
    Equal,
    FixedValues,
    Kinetic,
    Layout,
    Monotonic,
    NonNegative,
    Presence,
    ReferenceProfile,
    Selectivity,
    Smooth,
    Trilinear,
    Unimodal,
    ZeroRegion,
    constraint_of,
    constraint_of_words,
)
from gmcr.errors import InputError
from gmcr.storage import read_model, write_model

TIMES = np.tile(np.arange(20.0), 2)
RUNS = np.repeat(["first", "second"], 20)


@pytest.fixture(scope="module")
def table():
    """Two chromatograms with three peaks, D, C and S."""
    rng = np.random.default_rng(0)
    peaks = np.exp(-0.5 * ((np.arange(20.0)[:, None] - [6, 9, 13]) / 1.8) ** 2)
    C = np.vstack([peaks * [1, 0.6, 0.8], peaks * [0.5, 1, 0.3]])
    S = np.exp(-0.5 * ((np.arange(30.0) - np.array([[6.0], [14], [23]])) / 4) ** 2) + 0.05
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    return C @ S + 2e-3 * rng.normal(size=(40, 30)), C, S


@pytest.fixture(scope="module")
def unimodal(table):
    return GMCR(n_components=3, constraints=[Unimodal("C")]).fit(table[0], runs=RUNS, order=TIMES)


def test_what_is_returned_obeys(unimodal, table):
    assert unimodal.violations_ == {"non-negative": 0.0, "unimodal C": 0.0}
    for run in ("first", "second"):
        for c in unimodal.concentrations_[run == RUNS].T:
            top = int(np.argmax(c))
            assert (np.diff(c[: top + 1]) >= 0).all()
            assert (np.diff(c[top:]) <= 0).all()
    cosines = unimodal.components_ @ table[2].T
    assert cosines[linear_sum_assignment(-cosines)].min() > 0.99
    assert unimodal.decomposition_.fit["r2"] > 0.999


def test_new_samples_are_decoded_without_what_couples_samples(unimodal, table, tmp_path):
    D = table[0]
    out = unimodal.decode(D[:3])
    assert out.left_out == unimodal.decoding_.left_out == ("unimodal C",)
    np.testing.assert_allclose(out.concentrations, unimodal.transform(D)[:3])
    again = GMCR(n_components=3, constraints=Unimodal("C"))
    np.testing.assert_array_equal(again.fit_transform(D, runs=RUNS, order=TIMES), unimodal.concentrations_)
    assert GMCR(n_components=3).fit(D).decode(D).left_out == ()
    unimodal.save(tmp_path / "run.gmcr")
    loaded = GMCR.load(tmp_path / "run.gmcr")
    assert loaded.constraints == [Unimodal("C")]
    assert loaded.decode(D).left_out == ("unimodal C",)
    np.testing.assert_array_equal(loaded.concentrations_, unimodal.concentrations_)
    assert loaded.violations_ == unimodal.violations_


def test_permuted_samples_are_the_same_problem(unimodal, table):
    moved = np.random.default_rng(1).permutation(40)
    again = GMCR(n_components=3, constraints=[Unimodal("C")])
    again.fit(table[0][moved], runs=RUNS[moved], order=TIMES[moved])
    np.testing.assert_allclose(again.concentrations_, unimodal.concentrations_[moved], atol=2e-3)
    np.testing.assert_allclose(again.components_, unimodal.components_, atol=2e-3)


def test_the_unit_of_the_data_changes_only_the_unit_of_the_answer(unimodal, table):
    again = GMCR(n_components=3, constraints=[Unimodal("C")]).fit(1000 * table[0], runs=RUNS, order=TIMES)
    np.testing.assert_allclose(again.concentrations_, 1000 * unimodal.concentrations_, rtol=1e-3, atol=1.0)


ALL = [
    (Unimodal("S"), {}),
    (Unimodal("C", 1.05), {"runs": RUNS, "order": TIMES}),
    (ZeroRegion("C", (0, 1)), {"order": TIMES, "runs": RUNS}),
    (Smooth("S", 3), {}),
    (Presence(np.where(np.arange(120).reshape(40, 3) == 0, 0, np.nan)), {}),
    (Selectivity("S", (28, 29), 2), {}),
]


@pytest.mark.filterwarnings("ignore:the constraints")
@pytest.mark.parametrize(("one", "more"), ALL, ids=lambda one: one.kind if hasattr(one, "kind") else "")
def test_each_is_honoured_and_comes_back_from_a_file(one, more, table, tmp_path):
    model = GMCR(n_components=3, constraints=one).fit(table[0], **more)
    layout = Layout.of(more.get("runs"), more.get("order"), 40)
    assert one.violation(model.concentrations_, model.components_, layout) < 1e-9
    assert (
        one.violation(
            table[1] + 0.1 * np.sin(np.arange(120)).reshape(40, 3) ** 2,
            table[2] + 0.05 * np.cos(np.arange(90) * 2).reshape(3, 30) ** 2,
            layout,
        )
        > 1e-3
    )
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    model.save(tmp_path / "run.gmcr")
    assert GMCR.load(tmp_path / "run.gmcr").constraints in (one, [one])
    assert constraint_of(json.loads(json.dumps(one.as_dict()))) == one
    assert one.sentence()


def test_trilinear_runs_have_the_same_peaks(table):
    """Of chromatograms, slices are runs and the mode is time."""
    D = table[0]
    model = GMCR(n_components=3, constraints=Trilinear(RUNS, TIMES)).fit(D)
    assert model.violations_["trilinear"] < 1e-9
    first, second = model.concentrations_[:20], model.concentrations_[20:]
    ratios = np.linalg.norm(second, axis=0) / np.linalg.norm(first, axis=0)
    np.testing.assert_allclose(np.sort(ratios), np.sort([0.5, 1 / 0.6, 0.3 / 0.8]), rtol=0.05)
    assert model.decoding_.left_out == ("trilinear",)
    told = GMCR(n_components=3, constraints=Trilinear()).fit(D, runs=RUNS, order=TIMES)
    np.testing.assert_allclose(told.concentrations_, model.concentrations_, rtol=1e-9, atol=1e-12)


def test_closure_in_the_fit_gives_fractions(tmp_path):
    mix = make_mixtures(4, 60, 40, n_features=48, closure=True, random_state=1)
    model = GMCR(n_components=4, constraints=[Closure(100.0)]).fit(mix.D)
    np.testing.assert_allclose(model.fractions_.sum(axis=1), 100.0)
    np.testing.assert_allclose(model.fractions_, model.concentrations_ * model.closure_scales_, atol=1e-9)
    np.testing.assert_allclose(model.fractions(mix.D), model.fractions_, atol=5.0)
    cosines = model.components_ @ mix.S.T
    order = linear_sum_assignment(-cosines)[1]
    np.testing.assert_allclose(model.fractions_ / 100, mix.C[:, order], atol=0.06)
    assert model.violations_["closure"] < 1e-9
    some = GMCR(n_components=4, constraints=[Closure(1.0, (0, 1))]).fit(mix.D)
    held = some.fractions_[:, :2].sum(axis=1)
    np.testing.assert_allclose(held, 1.0)
    model.save(tmp_path / "run.gmcr")
    np.testing.assert_array_equal(GMCR.load(tmp_path / "run.gmcr").fractions_, model.fractions_)


def test_closure_of_files_from_before_was_of_the_answer(tmp_path):
    mix = make_mixtures(4, 60, 40, n_features=48, closure=True, random_state=1)
    model = GMCR(n_components=4, closure=True).fit(mix.D)
    model.save(tmp_path / "run.gmcr")
    arrays, header = read_model(tmp_path / "run.gmcr")
    (stored,) = (one for one in header["constraints"] if one["kind"] == "closure")
    assert stored.pop("when") == "answer"
    del stored["components"], header["rates"]
    write_model(tmp_path / "old.gmcr", arrays, header)
    again = GMCR.load(tmp_path / "old.gmcr")
    assert again._constraints.find(Closure) == Closure(when="answer")
    assert again.rates_ is None
    np.testing.assert_array_equal(again.fractions_, model.fractions_)


def test_supports_stay_where_samples_hold_few_of_many():
    mix = make_mixtures(
        n_components=12, n_samples=90, snr_db=35, n_features=64, active=(1, 3), random_state=0
    )
    plain = GMCR(n_components=12).fit(mix.D)
    where = np.arange(64) == 5
    with pytest.warns(UserWarning, match="these samples may not obey them"):
        model = GMCR(n_components=12, constraints=ZeroRegion("S", where)).fit(mix.D)
    assert (model.components_[:, 5] == 0).all()
    assert (model.supports_ <= plain.supports_).all()
    assert model.supports_.mean() > 0.9 * plain.supports_.mean()


def reaction():
    times = np.linspace(0.1, 40, 60)
    C = Kinetic("A > B > C").concentrations(np.array([0.3, 0.03]), times)
    S = np.exp(-0.5 * ((np.arange(40.0) - np.array([[9.0], [20], [31]])) / 6) ** 2) + 0.05
    return C @ S + 1e-3 * np.random.default_rng(0).normal(size=(60, 40)), times


def test_kinetics_tell_the_count_and_the_rates(tmp_path):
    D, times = reaction()
    model = GMCR(constraints=Kinetic("A > B > C")).fit(D, order=times)
    assert model.n_components_ == 3
    np.testing.assert_allclose(model.rates_.values, [0.3, 0.03], rtol=0.01)
    assert model.violations_["kinetic"] < 1e-9
    assert model.decoding_.left_out == ("kinetic",)
    model.save(tmp_path / "run.gmcr")
    again = GMCR.load(tmp_path / "run.gmcr")
    assert str(again.rates_) == str(model.rates_)
    np.testing.assert_array_equal(again.rates_.intervals(), model.rates_.intervals())


def ask(*constraints, n_components=3, **more):
    return lambda table: GMCR(n_components=n_components, constraints=list(constraints)).fit(table[0], **more)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (ask(Unimodal("C")), "unimodal C goes by the order of samples; give fit order="),
        (ask(Unimodal("C"), runs=RUNS), "give fit order="),
        (ask(ZeroRegion("C", (0, 3))), "zero C goes by the order of samples"),
        (ask(Equal(), order=TIMES, runs=None), "two samples of a run at the same place"),
        (ask(Equal(), order=np.arange(40)), "equal compares runs place by place; give fit runs= and order="),
        (
            ask(Equal(), order=np.arange(40), runs=RUNS),
            "equal needs the same places of the order in every run",
        ),
        (ask(ZeroRegion("S", (900, 950))), "where of zero S is 900 to 950, not in 0 to 29"),
        (ask(ZeroRegion("S", [True, False])), "where of zero S has 2 entries for 30 channels"),
        (ask(Unimodal("S"), Smooth("S")), "unimodal S and smooth S cannot shape the same component together"),
        (ask(Selectivity("S", (0, 3), 3)), "selectivity S speaks of component 3, and there are 3"),
        (
            ask(Selectivity("S", (0, 3), 1), n_components="auto"),
            "selectivity S speaks of component 1 before the count is known; give n_components, or",
        ),
        (ask(Presence(np.zeros((40, 2)))), "n_components is 3, and the constraints speak of 2"),
        (
            ask(Presence(np.ones((20, 3)))),
            "presence knows of 20 samples × 3 components, and there are 40 × 3",
        ),
        (ask(Presence(np.ones((40, 3))), Kinetic("A > B"), n_components="auto"), "presence 3, kinetic 2"),
        (
            ask(FixedValues("C", np.full((40, 3), 0.5)), ZeroRegion("C", np.arange(40) == 3)),
            "no concentrations of component 0 can obey",
        ),
        (
            ask(Unimodal("C"), order=np.arange(40), sample_weight=np.arange(40) + 1.0),
            "unimodal C binds samples to each other; fit without sample_weight",
        ),
        (ask(Trilinear()), "trilinear compares slices place by place; give fit runs= and order="),
        (ask(Trilinear(RUNS[:3], TIMES[:3])), "Trilinear speaks of 3 samples, and there are 40"),
        (ask(ZeroRegion("S", np.full(30, True), components=1)), "nothing is left of component 1"),
        (ask(Closure(1.0), ZeroRegion("C", np.arange(40) == 4)), "what sample 4 may hold cannot sum to 1"),
        (
            ask(
                Presence(np.where(np.arange(120).reshape(40, 3) < 3, 1, np.nan)),
                ZeroRegion("C", np.arange(40) < 2),
            ),
            "presence asks for component 0 in sample 0, where another constraint has none of it",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_where_it_cannot_be_there_is_a_clear_word(call, message, table):
    if "violates" in message:
        table = (np.vstack([np.zeros((1, 30)), table[0][1:]]), None, None)
    with pytest.raises(InputError, match=message):
        call(table)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Unimodal("D"), 'of in Unimodal must be "C" or "S"'),
        (lambda: Unimodal("C", 0.5), "tolerance of Unimodal must be a factor of 1 or more"),
        (lambda: Unimodal("C", components=()), "components of Unimodal must be numbers"),
        (lambda: Unimodal("C", components=-1), "components of Unimodal must be a whole number"),
        (lambda: Monotonic("C", "sideways"), 'direction of Monotonic must be "up" or "down"'),
        (lambda: Smooth("S", 0.1), "width of Smooth must be a number of places"),
        (lambda: ZeroRegion("S", (5, 3)), "where of ZeroRegion must be"),
        (lambda: Presence([[2, 1]]), "samples of Presence must be 1, 0, or NaN"),
        (lambda: FixedValues("C", [[np.nan]]), "values of FixedValues must be a table of numbers"),
        (lambda: Trilinear([1, 1], [1, 1]), "two samples at the same place of a slice"),
        (lambda: Trilinear([1, 1], [1]), "2 slices and 1 modes"),
        (lambda: Trilinear(None, [1]), "slices of Trilinear must be a list of labels"),
        (lambda: Closure(1.0, when="never"), 'when of Closure must be "fit" or "answer"'),
        (lambda: Closure(1.0, (0,), "answer"), 'Closure of some components needs when="fit"'),
        (lambda: Selectivity("C", (0, 1), components=1), "give component= and not components="),
    ],
)
def test_what_cannot_be_said(make, message):
    with pytest.raises(InputError, match=message):
        make()


# In words


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("unimodal C", Unimodal("C")),
        ("unimodal S 1.1", Unimodal("S", 1.1)),
        ("monotonic C down", Monotonic("C", "down")),
        ("closure 1", Closure(1.0)),
        ("zero S 400:450", ZeroRegion("S", (400, 450))),
        ("zero S 400:450 1 2", ZeroRegion("S", (400, 450), components=(1, 2))),
        ("selectivity C 0:3 1", Selectivity("C", (0, 3), 1)),
        ("smooth S 7", Smooth("S", 7.0)),
        ("equal", Equal()),
        ("trilinear", Trilinear()),
        ("kinetic A > B > C", Kinetic("A > B > C")),
        ("non-negative", NonNegative()),
        ("non-negative C", NonNegative(False)),
    ],
)
def test_constraints_in_words(text, one):
    assert constraint_of_words(text) == one
    assert one.kind in CONSTRAINTS


@pytest.mark.parametrize(
    "text", ["unimodel C", "unimodal", "unimodal C x", "zero S 3", "presence", "closure a", "trilinear C", ""]
)
def test_words_that_are_none(text):
    with pytest.raises(InputError, match=r"no constraint|cannot be read|takes|must be"):
        constraint_of_words(text)


def test_the_shell(table, tmp_path, capsys):
    D = table[0]
    data = tmp_path / "runs.csv"
    pd.DataFrame(D, index=[f"{time:g}" for time in TIMES], columns=np.arange(30) + 400).to_csv(data)
    options = ["--components", "3", "--constraint", "unimodal C", "--order", "rows", "--runs", "2", "--json"]
    assert main(["fit", str(data), "-o", str(tmp_path / "run"), *options]) == 0
    capsys.readouterr()
    model = GMCR.load(tmp_path / "run" / "model.gmcr")
    assert model.violations_ == {"non-negative": 0.0, "unimodal C": 0.0}
    assert model.constraints == [Unimodal("C")]
    assert "--constraint" in (tmp_path / "run" / "report.html").read_text()
    for wrong in (
        ["--solver", "eb"],
        ["--order", "names"],
        ["--runs", "7"],
        ["--constraint", "unimodal Q"],
        ["--runs", "x"],
    ):
        assert main(["fit", str(data), "-o", str(tmp_path / "other"), *options[:4], *wrong]) in (1, 2)
        assert "Traceback" not in capsys.readouterr().err


def test_rates_in_the_shell(tmp_path, capsys):
    D, times = reaction()
    pd.DataFrame(D, index=times).to_csv(tmp_path / "reaction.csv", index_label="time / min")
    told = ["--constraint", "kinetic A > B > C", "--order", "names"]
    assert main(["fit", str(tmp_path / "reaction.csv"), "-o", str(tmp_path / "run"), *told]) == 0
    assert "Rate constants:" in capsys.readouterr().out
    rates = pd.read_csv(tmp_path / "run" / "rates.csv")
    assert list(rates["step"]) == ["A > B", "B > C"]
    np.testing.assert_allclose(rates["rate"], [0.3, 0.03], rtol=0.01)
    assert (rates["low"] < rates["rate"]).all()


def test_a_reference_with_a_weight(table, tmp_path):
    D, _, S = table
    wrong = np.roll(S[1], 2)
    one = ReferenceProfile(wrong, weight=2.0)
    model = GMCR(n_components=3, constraints=[one]).fit(D)
    plain = GMCR(n_components=3).fit(D)
    assert (plain.components_ @ one.profiles[0]).max() < model.components_[0] @ one.profiles[0] < 1 - 1e-6
    assert model.n_fixed_ == 0
    model.save(tmp_path / "run.gmcr")
    again = GMCR.load(tmp_path / "run.gmcr")
    assert again.constraints == [one]
    assert again._constraints.find(ReferenceProfile) == one
    with pytest.raises(InputError, match="weight of ReferenceProfile must be a positive number"):
        ReferenceProfile(S[0], weight=-1.0)


def test_a_reference_names_its_component(table):
    """What is known of a component by its profile can be said before the count is."""
    D, _, S = table
    one = ZeroRegion("C", (17, 19), components=0)
    model = GMCR(constraints=[ReferenceProfile(S[0]), one]).fit(D, runs=RUNS, order=TIMES)
    np.testing.assert_allclose(model.components_[0], S[0], atol=1e-12)
    assert (model.concentrations_[TIMES >= 17, 0] == 0).all()
    assert model.violations_["reference profile"] < 1e-9
