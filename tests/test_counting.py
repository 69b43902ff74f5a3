"""The count as a distribution: the evidence, what was learned from it, and what is said."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.counting import gather, weighed
from gmcr.counting.distribution import smallest_range, spread
from gmcr.counting.forest import Forest, stored_forest
from gmcr.counting.numbers import cheap_numbers
from gmcr.window.evidence import Evidence


def evidence(count=3, **facts):
    return Evidence(count, count, count, "cost", count, count, count, True, by_rule=count, **facts)


@pytest.fixture(scope="module")
def made():
    return make_measured(3, 60, 80, random_state=1, concentrations="lognormal", disturbed=False)


@pytest.fixture(scope="module")
def model(made):
    return GMCR(random_state=0).fit(made.D)


# The distribution


@given(odds=st.lists(st.floats(-20, 20), min_size=1, max_size=12))
def test_a_distribution_is_one(odds):
    chances = spread(np.arange(1, len(odds) + 1), np.array(odds))
    assert sum(chances.values()) == pytest.approx(1.0)
    assert min(chances.values()) >= 0


def test_the_chance_to_stop_given_that_a_count_is_reached():
    chances = spread(np.array([1, 2, 3]), np.log([1 / 3, 1.0, 1e12]))  # stops with 1/4, 1/2, all but surely
    assert list(chances.values()) == pytest.approx([0.25, 0.375, 0.375])


@settings(max_examples=100)
@given(weights=st.lists(st.floats(0.001, 1), min_size=1, max_size=7), mass=st.floats(0.05, 0.99))
def test_the_smallest_range_against_all_ranges(weights, mass):
    chances = {k: w / sum(weights) for k, w in enumerate(weights, 2)}
    low, high = smallest_range(chances, mass)
    assert sum(p for k, p in chances.items() if low <= k <= high) >= mass - 1e-9
    for a, b in [*combinations(chances, 2), *((k, k) for k in chances)]:
        if b - a < high - low:
            assert sum(p for k, p in chances.items() if a <= k <= b) < mass + 1e-9


# What was learned


def test_a_tree_by_hand():
    """One split on the second column at 0.5, NaN to the right; then log-odds of 2 + 3 times the leaf."""
    forest = Forest(
        names=np.array(["a", "b"]),
        roots=np.array([0]),
        column=np.array([1, 0, 0]),
        threshold=np.array([0.5, 0.0, 0.0]),
        missing_left=np.array([False, False, False]),
        left=np.array([1, 1, 2]),
        right=np.array([2, 1, 2]),
        value=np.array([0.0, -1.0, 4.0]),
        depth=np.array(2),
        offset=np.array(2.0),
        slope=np.array(3.0),
    )
    values = np.array([[9.0, 0.5], [9.0, 0.6], [0.0, np.nan]])
    np.testing.assert_allclose(forest.log_odds(values), [-1.0, 14.0, 14.0])


def test_what_is_stored_is_plain_and_fits_what_is_gathered(made):
    forest, found = stored_forest(), gather(made.D, evidence())
    assert set(forest.names.tolist()) == set(found.names)
    leaves = forest.left == np.arange(len(forest.left))
    assert (forest.right[leaves] == np.flatnonzero(leaves)).all()
    assert forest.column.max() < len(forest.names)
    assert all(np.asarray(value).dtype != object for value in forest.as_arrays().values())


# The evidence


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
def test_numbers_do_not_know_the_unit(made, factor):
    plain, scaled = cheap_numbers(made.D, 8), cheap_numbers(factor * made.D, 8)
    for name, values in plain.items():
        np.testing.assert_allclose(scaled[name], values, rtol=1e-5, atol=1e-6, err_msg=name)


def test_candidates_around_what_the_solver_found_beyond_those_looked_at(made):
    found = gather(made.D, replace(evidence(), by_cost=50))
    assert found.counts[-7:].tolist() == [47, 48, 49, 50, 51, 52, 53]
    assert found.counts[0] == 1
    assert np.isnan(found.values[-1, found.names.index("plain: gap")])
    assert found.values[-1, found.names.index("count")] == 53


# What is said


def test_what_is_said_of_a_clear_count(model):
    assert model.count_.count == model.n_components_ == 3
    assert sum(model.count_.probabilities.values()) == pytest.approx(1.0)
    assert model.count_.low <= 3 <= model.count_.high
    assert model.count_.firm == (model.count_.probabilities[3] >= 0.95)
    assert "sure" in str(model.count_)
    assert "all evidence agrees" not in str(model.count_)


def test_it_is_stored(model, tmp_path):
    model.save(tmp_path / "model.gmcr")
    assert GMCR.load(tmp_path / "model.gmcr").count_ == model.count_


def test_a_count_that_was_asked_for_is_not_weighed(made):
    told = GMCR(n_components=2, random_state=0).fit(made.D).count_
    assert (told.count, told.decided_by, told.probabilities, told.firm) == (2, "you", {}, False)


def test_no_more_than_are_allowed(made):
    found = weighed(made.D, evidence(2), most=2)
    assert set(found.probabilities) == {1, 2}
    assert "not allowed" in found.caution  # there are three
    assert not found.firm
    assert weighed(made.D, replace(evidence(2), decided_by="you")).probabilities == {}
    model = GMCR(max_components=1, random_state=0).fit(made.D)
    assert (model.n_components_, model.count_.firm) == (1, False)


def test_given_profiles_are_not_weighed(made):
    foreign = np.vstack([made.S[:1], np.random.default_rng(0).random((2, 80))])
    found = GMCR(fixed_components=foreign, random_state=0).fit(made.D)
    assert found.n_components_ == 5  # three, and two that are not there
    assert (found.count_.probabilities, found.count_.firm) == ({}, False)
    assert "given" in str(found.count_)


@pytest.mark.parametrize("shape", [(3, 80), (60, 3)])
def test_too_small_to_be_firm(made, shape):
    channels = np.linspace(0, 79, shape[1]).astype(int)
    found = GMCR(random_state=0).fit(made.D[: shape[0], channels]).count_
    assert (found.firm, "too few" in found.caution) == (False, True)


def test_an_interrupted_fit_is_not_firm(made):
    def stop(row):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        found = GMCR(callback=stop, random_state=0).fit(made.D).count_
    assert (found.firm, "interrupted" in str(found)) == (False, True)


def test_five_samples_are_never_firm():
    made = make_measured(2, 5, 60, random_state=0, disturbed=False)
    found = GMCR(random_state=0).fit(made.D).count_
    assert not found.firm
    assert "too few" in str(found)


@pytest.mark.parametrize("factor", [1.0001, 1e5])
def test_the_unit_does_not_change_the_count(made, model, factor):
    again = GMCR(random_state=0).fit(factor * made.D).count_
    assert again.count == model.count_.count
    assert again.probabilities[3] == pytest.approx(model.count_.probabilities[3], abs=1e-3)


def test_few_of_many():
    mix = make_mixtures(20, 120, 25, n_features=100, random_state=3)
    found = GMCR(random_state=0).fit(mix.D).count_
    assert found.count == 20
    assert max(found.probabilities, key=lambda k: found.probabilities[k]) == 20
