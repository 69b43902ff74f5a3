"""Constraints: what they change, how far arrays are from obeying, and that the estimator honours them."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmcr import GMCR, make_mixtures
from gmcr.constraints import (
    CONSTRAINTS,
    AtMost,
    Closure,
    Constraint,
    Constraints,
    Layout,
    NonNegative,
    ReferenceProfile,
    constraint_of,
)
from gmcr.errors import FileError, InputError
from gmcr.naming import Library, match
from gmcr.reporting.collect import collect
from gmcr.storage import read_model, write_model
from gmcr.window.distinct_samples import distinct_samples
from gmcr.window.search import Options, prepare


@dataclass(frozen=True, eq=False)
class ZeroAt(Constraint):
    """No component has anything in one channel."""

    channel: int

    kind = "zero at"
    stages: ClassVar[frozenset] = frozenset({"pool"})

    def apply(self, C, S, layout):
        changed = S.copy()
        changed[:, self.channel] = 0.0
        return C, changed

    def violation(self, C, S, layout=None):
        return float(np.abs(S[:, self.channel]).max())


@dataclass(frozen=True, eq=False)
class Rising(Constraint):
    """No concentration falls within a run."""

    kind = "rising"
    stages: ClassVar[frozenset] = frozenset({"answer"})
    couples: ClassVar[bool] = True
    by_run: ClassVar[bool] = True

    def apply(self, C, S, layout):
        changed = C.copy()
        for rows in layout.series(len(C)):
            changed[rows] = np.maximum.accumulate(C[rows], axis=0)
        return changed, S

    def violation(self, C, S, layout=None):
        falls = [np.diff(C[rows], axis=0).min(initial=0.0) for rows in layout.series(len(C))]
        return float(-min(falls, default=0.0))


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(n_components=5, n_samples=40, snr_db=30, n_features=48, random_state=0)


# What each says


def test_violation_is_zero_exactly_where_the_constraint_is_met(mix):
    C, S = mix.C, mix.S
    assert NonNegative().violation(C, S) == 0
    assert NonNegative().violation(-C, S) == NonNegative().violation(C, -S) == 1
    most = int((C > 0).sum(axis=1).max())
    assert AtMost(most).violation(C, S) == 0
    assert AtMost(most - 1).violation(C, S) == 1
    assert ReferenceProfile(3.0 * S[:2]).violation(C, S) < 1e-12
    assert ReferenceProfile(S[1]).violation(C, S) > 0.01
    assert ReferenceProfile(S).violation(C, S[:2]) == np.inf
    fractions = C / C.sum(axis=1, keepdims=True)
    assert Closure().violation(fractions, S) < 1e-12
    assert Closure(100.0).violation(100.0 * fractions, S) < 1e-12
    assert Closure().violation(1.5 * fractions, S) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "one", [NonNegative(), AtMost(3), Closure(100.0), ReferenceProfile(np.eye(2, 5) + 0.1)]
)
def test_a_constraint_comes_back_from_what_is_stored(one):
    again = constraint_of(one.as_dict())
    assert type(again) is type(one)
    assert again == one
    assert hash(again) == hash(one)
    assert one.sentence()
    assert one.kind in CONSTRAINTS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AtMost(0), "k of AtMost must be a whole number"),
        (lambda: Closure(-1.0), "positive number"),
        (lambda: ReferenceProfile(np.zeros((1, 4))), "^profiles of ReferenceProfile row 0 is zero"),
        (lambda: constraint_of({"kind": "unheard of"}), "not known here"),
        (lambda: constraint_of({"kind": "closure", "sum": 1.0}), "not made of these fields: sum"),
        (lambda: Constraints.of([AtMost(2)], k_max=3), r"given twice \(k_max stands for one too\)"),
        (lambda: GMCR(signed=True, constraints=NonNegative()).fit(np.eye(4)), "that NonNegative.* forbids"),
        (
            lambda: GMCR(constraints=ReferenceProfile(np.eye(2, 5))).fit(np.eye(4)),
            "^profiles of R.* 5 channels",
        ),
        (lambda: GMCR(constraints=3).fit(np.eye(4)), "objects of gmcr.constraints, not 3"),
        (lambda: Constraints.of(["non-negative"]), "objects of gmcr.constraints"),
        (lambda: Closure("a"), "closure must be a number, not 'a'"),
        (lambda: Closure(np.ones(2)), "closure must be a number"),
        (lambda: Closure(np.nan), "closure must be a number, not nan"),
        (lambda: ReferenceProfile([[1, 2], [3]]), "rows of different lengths"),
        (lambda: Layout.of([[1], [1, 2]], None, 2), "runs must be a list of labels"),
        (lambda: Layout.of(np.array([b"\xff", b"a"]), None, 2), "runs must be a list of labels"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("unit", [1.0, 2.0**700, 2.0**-700])
def test_profiles_come_back_to_the_last_digit_whatever_their_unit(unit):
    for row in np.random.default_rng(0).random((100, 30)):
        one = ReferenceProfile(row * unit)
        assert constraint_of(one.as_dict()) == one
        np.testing.assert_allclose(one.profiles[0], row / np.linalg.norm(row), rtol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        one.profiles[0, 0] = 9.0


def test_a_limit_beyond_all_counts_limits_nothing(mix):
    assert AtMost(10**30).violation(mix.C, mix.S) == 0


@dataclass(frozen=True, eq=False)
class Strange(Constraint):
    """One that gives what it is told to."""

    given: object
    told: object = 0.0

    kind = "strange"
    stages: ClassVar[frozenset] = frozenset({"pool", "answer"})

    def apply(self, C, S, layout):
        return (C, self.given) if C is None else (self.given, S)

    def violation(self, C, S, layout=None):
        return self.told


@pytest.mark.parametrize("given", [np.full((40, 5), np.nan), np.ones((3, 5)), "x", 1j, [[1], [1, 2]]])
def test_what_a_constraint_gives_is_looked_at(mix, given):
    strange = Constraints.of([Strange(given)])
    with pytest.raises(InputError, match="what the constraint strange gives"):
        strange.on_answer(mix.C, mix.S, Layout())
    with pytest.raises(InputError, match="the constraint strange"):
        strange.on_pool(mix.S, np.ones(5), np.arange(5))
    for told in ("x", None, np.ones(2), np.nan):
        with pytest.raises(InputError, match="the violation of strange must be a number"):
            Constraints.of([Strange(0, told=told)]).violations(mix.C, mix.S, Layout())


def test_together():
    both = Constraints.of([ReferenceProfile(np.eye(2, 4))], k_max=3)
    assert (both.signed, both.n_fixed, both.k_max) == (False, 2, 3)
    assert (both.most(10, 4), both.most(2, 4), Constraints().most(10, 4)) == (3, 2, 4)
    signed = Constraints.of(signed=True)
    assert signed.signed
    np.testing.assert_array_equal(signed.positive(np.array([-1.0, 1.0])), [-1, 1])
    np.testing.assert_array_equal(both.positive(np.array([-1.0, 1.0])), [0, 1])


# Runs and order


@given(st.permutations(range(6)))
def test_series_follow_the_order_wherever_samples_stand(order):
    layout = Layout.of(["b", "a", "b", "a", "b", "a"], [2, 30, 1, 10, 3, 20], 6)
    assert [rows.tolist() for rows in layout.series(6)] == [[3, 5, 1], [2, 0, 4]]
    order = np.array(order)
    moved = layout[order]
    assert [order[rows].tolist() for rows in moved.series(6)] == [[3, 5, 1], [2, 0, 4]]


def test_no_order_is_taken_for_granted():
    assert Layout().is_open
    assert Layout().series(5) == []
    assert Layout.of(["a"] * 5, None, 5).series(5) == []


def test_layouts_that_cannot_be():
    for runs, order, message in (
        (["a"], None, "runs must have 3 labels"),
        (None, [1.0, 2.0], r"order must have 3 numbers, one per sample, but has shape \(2,\)"),
        (None, [1.0, np.nan, 2.0], "order is missing a value at entry 1; NaN is no place in a run"),
        (None, [1.0, np.inf, 2.0], "order is infinite at entry 1"),
        (None, ["a", "b", "c"], "order must be numbers, such as times, and not text"),
        (None, [1, 1, 2], "two samples of a run at the same place"),
        (["a", "b", "a"], [1, 1, 1], "two samples of a run at the same place"),
    ):
        with pytest.raises(InputError, match=message):
            Layout.of(runs, order, 3)


def test_runs_and_order_survive_copies_and_sorting(mix):
    """Copies of a sample at other places of a run are samples of their own, and find their places again."""
    D = np.vstack([mix.D, mix.D[:3]])
    order = np.random.default_rng(0).permutation(len(D)).astype(float)
    layout = Layout.of(None, order, len(D))
    rows, repeats = distinct_samples(D, np.ones(len(D)), None, layout)
    assert len(rows) == len(D)
    assert (repeats == 1).all()
    assert len(distinct_samples(D, np.ones(len(D)))[0]) == len(mix.D)
    problem = prepare(D[rows], Options(layout=layout[rows]), None, None).problem
    np.testing.assert_array_equal(problem.layout.order, order[rows])
    np.testing.assert_array_equal(problem.rows(np.arange(5)).layout.order, order[rows[:5]])
    (series,) = problem.layout.series(len(rows))
    np.testing.assert_array_equal(problem.D[series], D[np.argsort(order)])


# Through the estimator


def test_parameters_and_constraints_are_the_same_thing(mix):
    by_parameter = GMCR(k_max=3, fixed_components=mix.S[:2]).fit(mix.D)
    by_constraint = GMCR(constraints=[AtMost(3), ReferenceProfile(mix.S[:2])]).fit(mix.D)
    np.testing.assert_array_equal(by_parameter.concentrations_, by_constraint.concentrations_)
    assert set(by_constraint.violations_) == {"non-negative", "at most", "reference profile"}
    assert max(by_constraint.violations_.values()) < 1e-9
    assert by_parameter.n_fixed_ == by_constraint.n_fixed_ == 2
    library = Library.of(mix.S, list("abcde"))
    reports = [collect(model.decomposition_, model=model) for model in (by_parameter, by_constraint)]
    matches = [match(model, library).table for model in (by_parameter, by_constraint)]
    np.testing.assert_array_equal(*(report.profile_errors for report in reports))
    assert (reports[1].profile_errors[:2] == 0).all()
    assert matches[0].equals(matches[1])


def test_closure_to_any_total(mix):
    closed = make_mixtures(5, 60, 40, n_features=48, closure=True, random_state=1)
    model = GMCR(constraints=[Closure(100.0, when="answer")]).fit(closed.D)
    np.testing.assert_allclose(model.fractions_.sum(axis=1), 100.0)
    np.testing.assert_allclose(model.fractions(closed.D), model.fractions_)
    assert model.violations_["closure"] < 1e-9
    assert not any(np.signbit(value) for value in model.violations_.values())
    with pytest.warns(UserWarning, match="of a sample sum to 100 only within"):
        GMCR(constraints=Closure(100.0, when="answer")).fit(mix.D)


def test_a_constraint_on_the_pool(mix):
    model = GMCR(constraints=[ZeroAt(7)]).fit(mix.D)
    assert model.violations_["zero at"] == 0
    assert (model.components_[:, 7] == 0).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    plain = GMCR().fit(mix.D)
    assert model.n_components_ == plain.n_components_
    assert (plain.components_[:, 7] > 0).any()


def test_a_constraint_on_the_answer_goes_by_run_and_order(mix):
    runs, order = np.repeat(["a", "b"], 20), np.random.default_rng(1).permutation(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GMCR(constraints=[Rising()]).fit(mix.D, runs=runs, order=order)
    assert model.violations_["rising"] == 0
    for run in ("a", "b"):
        rows = np.flatnonzero(runs == run)
        rows = rows[np.argsort(order[rows])]
        assert (np.diff(model.concentrations_[rows], axis=0) >= 0).all()
    again = GMCR(constraints=[Rising()]).fit(mix.D[::-1], runs=runs[::-1], order=order[::-1])
    np.testing.assert_allclose(again.concentrations_[::-1], model.concentrations_)


def test_what_is_violated_is_told(mix):
    with pytest.raises(InputError, match=r"violates the constraint unmet, by 0\.5"):
        GMCR(constraints=[Unmet()]).fit(mix.D)


@dataclass(frozen=True, eq=False)
class Unmet(Constraint):
    """One that nothing meets."""

    kind = "unmet"
    stages: ClassVar[frozenset] = frozenset()

    def violation(self, C, S, layout=None):
        return 0.5


def test_constraints_are_saved_with_the_model(mix, tmp_path):
    model = GMCR(constraints=[AtMost(3), ReferenceProfile(mix.S[:1])]).fit(mix.D)
    model.save(tmp_path / "run.gmcr")
    again = GMCR.load(tmp_path / "run.gmcr")
    assert again.constraints == model.constraints
    assert again.violations_ == model.violations_
    np.testing.assert_array_equal(again.transform(mix.D), model.transform(mix.D))
    arrays, header = read_model(tmp_path / "run.gmcr")
    del header["constraints"], arrays["reference"]  # as files were before
    write_model(tmp_path / "old.gmcr", arrays, header)
    assert set(GMCR.load(tmp_path / "old.gmcr")._constraints.given) == set(model._constraints.given)


def test_a_file_holds_the_constraints_of_the_fit(mix, tmp_path):
    """Parameters that were changed since belong to the next fit."""
    closed = make_mixtures(5, 60, 40, n_features=48, closure=True, random_state=1)
    model = GMCR(closure=True, fixed_components=closed.S[:1]).fit(closed.D)
    held = model.transform(closed.D)
    assert (held != 0).sum(axis=1).max() > 1
    changed = {"closure": False, "k_max": 1, "fixed_components": None, "constraints": AtMost(1)}
    model.set_params(**changed).save(tmp_path / "run.gmcr")
    again = GMCR.load(tmp_path / "run.gmcr")
    np.testing.assert_array_equal(again.transform(closed.D), held)
    np.testing.assert_array_equal(again.fractions(closed.D), model.fractions_)
    assert again.n_fixed_ == model.n_fixed_ == 1
    arrays, header = read_model(tmp_path / "run.gmcr")
    write_model(tmp_path / "bad.gmcr", arrays, header | {"constraints": []})
    with pytest.raises(FileError, match="fitted with closure=True"):
        GMCR.load(tmp_path / "bad.gmcr")


def test_what_can_be_gone_through_once_is_refused(mix):
    with pytest.raises(InputError, match="constraints must be a list of objects of"):
        GMCR(constraints=iter([AtMost(2)])).fit(mix.D)


def test_a_refit_that_is_refused_changes_nothing(mix):
    model = GMCR(n_components=5).fit(mix.D)
    before = vars(model).copy()
    with pytest.raises(InputError, match="replicates"):
        model.set_params(k_max=1).fit(mix.D[:, :20], replicates=[1])
    assert vars(model) == before | {"k_max": 1}


def test_training_samples_are_known_again_where_the_answer_was_changed(mix, tmp_path):
    """What a constraint does to the answer in the end does not make samples strangers."""
    CONSTRAINTS.add(Rising.kind, Rising)
    try:
        plain = GMCR(n_components=5).fit(mix.D)
        model = GMCR(n_components=5, constraints=[Rising()]).fit(mix.D, order=np.arange(40))
        assert (model.concentrations_ != plain.concentrations_).any()
        model.save(tmp_path / "run.gmcr")
        for one in (model, GMCR.load(tmp_path / "run.gmcr")):
            np.testing.assert_array_equal(one.decode(mix.D).errors, plain.decode(mix.D).errors)
    finally:
        del CONSTRAINTS._things[Rising.kind]


@dataclass(frozen=True, eq=False)
class Seen(Constraint):
    """Remembers the size of the concentrations that it is asked about."""

    kind = "seen"
    stages: ClassVar[frozenset] = frozenset()
    sizes: ClassVar[list] = []

    def violation(self, C, S, layout=None):
        self.sizes.append(float(C.max()))
        return 0.0


def test_fractions_are_for_closure_alone():
    closed = make_mixtures(5, 60, 40, n_features=48, closure=True, random_state=1)
    model = GMCR(closure=True, constraints=[Seen()]).fit(closed.D)
    assert Seen.sizes == [model.concentrations_.max()]
    assert Seen.sizes != [model.fractions_.max()]
    assert model.violations_["closure"] < 1e-9


def test_a_missing_constraint_is_one_sentence(mix, tmp_path):
    CONSTRAINTS.add(ZeroAt.kind, ZeroAt)
    try:
        GMCR(constraints=[ZeroAt(7)]).fit(mix.D).save(tmp_path / "run.gmcr")
        assert GMCR.load(tmp_path / "run.gmcr").constraints == [ZeroAt(7)]
    finally:
        del CONSTRAINTS._things[ZeroAt.kind]  # as if its package were gone
    with pytest.raises(OSError, match="the constraint 'zero at' is not known here; install the package"):
        GMCR.load(tmp_path / "run.gmcr")
