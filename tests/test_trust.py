"""Whether an answer may be used: its numbers, the words, and what is stored."""

import json
from dataclasses import replace
from html import escape

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gmcr import GMCR, make_measured
from gmcr.trust import Numbers, Trust, numbers_of
from gmcr.trust.checks import CARE, CHECKS, DONT, USE, WORDS, weakest, word
from gmcr.trust.learned import Judge, Learned, of_all, stored
from gmcr.trust.verdict import TOGETHER, together, words_of


@pytest.fixture(scope="module")
def made():
    return make_measured(3, 60, 80, random_state=2, purity="pure", profiles="peaks", disturbed=False)


@pytest.fixture(scope="module")
def model(made):
    return GMCR(random_state=0).fit(made.D)


@pytest.fixture(scope="module")
def trust(model, made):
    return model.trust(made.D)


# The words


def test_a_number_against_its_limits():
    limits = np.array([2.0, 1.0])
    assert [word(value, limits) for value in (3.0, 2.0, 1.5, 1.0, 0.5)] == [USE, USE, CARE, CARE, DONT]
    assert word(np.nan, limits) == USE  # what is not there says nothing against


def test_the_weakest_decides():
    assert weakest([USE, CARE, USE]) == CARE
    assert weakest([USE, DONT, CARE]) == DONT
    assert weakest([]) == USE


def test_all_numbers_together():
    words = np.array([0.6, 0.7])
    assert together(np.array([0.8, 0.1, 0.1]), words) == USE
    assert together(np.array([0.5, 0.3, 0.2]), words) == CARE
    assert together(np.array([0.1, 0.1, 0.8]), words) == DONT


def made_up_judge(names, seen=3, members=2):
    rng = np.random.default_rng(0)
    n = len(names)
    return Judge(
        np.array(names),
        rng.normal(size=n),
        rng.uniform(0.5, 2, n),
        rng.normal(size=(members, 2 * n, seen)),
        rng.normal(size=(members, seen)),
        rng.normal(size=(members, seen, 3)),
        rng.normal(size=(members, 3)),
        np.array(0.8),
    )


def test_a_judge_against_its_sums_by_hand():
    judge = made_up_judge(["a", "b"])
    numbers = {"b": np.array([0.3, -9.0, np.nan]), "a": 1.5}
    found = judge.chances(numbers)
    for row, b in enumerate([0.3, -9.0, np.nan]):
        scaled = np.clip((np.array([1.5, b]) - judge.middle) / judge.half_range, -3, 3)
        seen = np.concatenate([np.nan_to_num(scaled), [0.0, float(np.isnan(b))]])
        logs = np.zeros(3)
        for own, bias, last, last_bias in zip(judge.own, judge.own_bias, judge.last, judge.last_bias):
            scores = np.maximum(seen @ own + bias, 0) @ last + last_bias
            logs += (scores - np.log(np.exp(scores).sum())) / 2
        assert_allclose(found[row], np.exp(0.8 * logs) / np.exp(0.8 * logs).sum())


def test_a_check_that_fails_by_itself_heads_the_answer(trust, model, made):
    """Whatever all numbers together say, the verdict is never better than any check."""
    table = numbers_of(model.answer(made.D)).table | {"supports sure": np.nan}
    learned = stored()
    sure = np.array([1.0, 0.0, 0.0])
    best = words_of(Numbers(table, {}, None), sure, learned)
    for number, name in (("probability of the count", "count"), ("left over rank", "fit")):
        worse = {"probability of the count": 0.3, "left over rank": 50.0}[number]
        said = words_of(Numbers(table | {number: worse}, {}, None), sure, learned)
        assert WORDS.index(said) >= max(WORDS.index(best), WORDS.index(CARE)), name


# The numbers


@pytest.mark.parametrize("factor", [1e-5, 3.0, 1e6])
def test_numbers_do_not_know_the_unit(model, made, factor):
    answer = model.answer(made.D)
    scaled = replace(answer, D=factor * answer.D, C=factor * answer.C)
    plain, other = numbers_of(answer), numbers_of(scaled)
    for name, value in plain.table.items():
        assert_allclose(other.table[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
    for name, values in plain.components.items():
        assert_allclose(other.components[name], values, rtol=1e-4, atol=1e-5, err_msg=name)


def test_a_component_too_many_is_seen(model, made):
    """The same samples with a fourth component: it could look different, or does not come back."""
    right, wrong = model.trust(made.D), model.at(4).trust(made.D)
    assert WORDS.index(wrong.verdict) > WORDS.index(right.verdict)
    assert wrong.wrong > right.wrong


# What is said


def test_a_clear_answer_may_be_used(trust):
    assert trust.verdict == USE
    assert trust.right > 0.5
    assert trust.sentence.startswith("Use it: of simulated answers like this one")
    assert [*trust.checks["name"]] == [*(check.name for check in CHECKS), TOGETHER]
    assert trust.alternatives.shape == (3, 80)


def test_the_verdict_is_the_weakest_check(trust, model, made):
    for one in (trust, model.at(4).trust(made.D)):
        assert one.verdict == weakest(one.checks["verdict"].tolist())


@pytest.mark.parametrize("n_samples", [2, 3])
def test_so_few_samples_cannot_tell_a_count(n_samples):
    D = make_measured(2, n_samples, 60, random_state=n_samples, disturbed=False).D
    model = GMCR(random_state=0).fit(D)
    assert (model.count_.low, model.count_.high) == (1, n_samples)
    trust = model.trust(D)
    assert trust.verdict != USE
    assert "count" in trust.decided_by
    assert "are too few to be sure of a count" in str(trust)
    assert (
        GMCR(n_components=1).fit(D).trust(D).checks["verdict"][0] == USE
    )  # a count that was told is no guess


def test_noise_is_not_to_be_used():
    rng = np.random.default_rng(0)
    D = np.abs(rng.normal(1.0, 0.5, (40, 30)))
    assert GMCR(random_state=0).fit(D).trust(D).verdict == DONT
    assert GMCR(3, random_state=0).fit(D).trust(D).verdict != USE


def test_it_is_told_again_from_plain_types(trust):
    kept = json.loads(json.dumps(trust.as_dict()))
    again = Trust.of_dict(kept, trust.alternatives)
    assert str(again) == str(trust)
    assert again.rate == trust.rate
    assert escape(trust.sentence) in trust._repr_html_()


def test_what_is_stored_is_plain_and_fits_the_numbers(model, made):
    numbers = numbers_of(model.answer(made.D))
    learned = stored()
    of_components = of_all(learned.of_components(numbers))
    assert set(learned.answer.names.tolist()) == set(numbers.table) | set(of_components)
    assert set(learned.component.names.tolist()) == set(numbers.table) | set(numbers.components)
    arrays = learned.as_arrays()
    assert all(np.asarray(value).dtype != object for value in arrays.values())
    again = Learned.of_arrays(arrays)
    np.testing.assert_array_equal(again.of_answer(numbers), learned.of_answer(numbers))
    assert learned.limits.shape == (len(CHECKS), 2)
    assert_allclose(learned.rates.sum(axis=1), 1.0)
