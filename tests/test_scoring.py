"""Matching against the truth: each column on a case made by hand, and what must not depend on the slots."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError
from gmcr.scoring import compare

S = np.eye(3, 5)
C = np.array([[1.0, 0, 0], [0, 2, 3], [4, 0, 5], [0, 6, 0]])  # usage 6
TRUTH = (S, C)


def random_supports(n_components, n_samples, seed):
    """Supports of one to four components, as in Algorithm 2."""
    rng = np.random.default_rng(seed)
    supports = np.zeros((n_samples, n_components), dtype=bool)
    for row in supports:
        row[rng.choice(n_components, rng.integers(1, 5), replace=False)] = True
    return supports


def test_the_truth_matches_itself():
    result = compare(TRUTH, TRUTH)
    np.testing.assert_array_equal(result.assignment, [0, 1, 2])
    np.testing.assert_array_equal(result.cosines, [1, 1, 1])
    assert result.unmatched.size == 0
    row = result.as_row()
    assert {type(value) for value in row.values()} == {int, float}
    assert row == {
        "count": 3,
        "true_count": 3,
        "usage_ratio": 1,
        "exact": 1,
        "no_miss": 1,
        "min_cos": 1,
        "misses": 0,
    }


def test_the_assignment_is_the_best_in_total():
    # Each true profile is closest to slot 0; only one can have it, and giving it to the first costs less.
    true = np.array([[1.0, 0.0], [0.8, 0.6]])
    found = np.array([[0.96, 0.28], [0.6, 0.8]])
    result = compare((found, np.ones((2, 2))), (true, np.ones((2, 2))))
    np.testing.assert_array_equal(result.assignment, [0, 1])
    np.testing.assert_allclose(result.cosines, [0.96, 0.96])


def test_permuted_and_scaled_slots():
    order, scale = [2, 0, 1], np.array([10.0, 0.1, 3.0])
    result = compare((S[order] * scale[:, None], C[:, order] / scale), TRUTH)
    np.testing.assert_array_equal(result.assignment, [1, 2, 0])
    assert result.exact == 1


def test_min_cos():
    found = S.copy()
    found[1, 3:] = [0.75, 0]  # (0, 1, 0, .75): cosine 0.8
    result = compare((found, C), TRUTH)
    np.testing.assert_allclose(result.cosines, [1, 0.8, 1])
    assert result.min_cos == pytest.approx(0.8)


def test_slots_never_used_take_no_part():
    # An exact copy of profile 1 that no sample uses must not be matched in place of the slot in use.
    worn = np.array([0, 0.8, 0, 0.6, 0])
    found = np.vstack([S[0], S[1], S[2], worn])
    result = compare((found, C[:, [0, 1, 2, 1]] * [1, 0, 1, 1]), TRUTH)
    np.testing.assert_array_equal(result.assignment, [0, 3, 2])
    assert result.count == 3
    assert result.unmatched.size == 0
    assert result.exact == 1


def test_more_slots_than_components():
    # A fourth slot, used by samples 0 and 3: those are not exact, though they miss nothing.
    found = np.eye(4, 5), np.column_stack([C, [0.2, 0, 0, 0.4]])
    result = compare(found, TRUTH)
    assert result.count == 4
    np.testing.assert_array_equal(result.unmatched, [3])
    assert result.usage_ratio == pytest.approx(8 / 6)
    assert result.exact == 0.5
    assert result.no_miss == 1
    assert result.misses == 0


def test_fewer_slots_than_components():
    # Without component 2, samples 1 and 2 cannot be right.
    result = compare((S[:2], C[:, :2]), TRUTH)
    np.testing.assert_array_equal(result.assignment, [0, 1, -1])
    np.testing.assert_array_equal(np.isnan(result.cosines), [False, False, True])
    assert result.misses == 1
    assert result.min_cos == 1
    assert result.exact == 0.5
    assert result.no_miss == 0.5
    assert result.usage_ratio == pytest.approx(4 / 6)


def test_no_slot_in_use():
    result = compare((S, np.zeros_like(C)), TRUTH)
    assert result.count == 0
    assert result.misses == 3
    assert np.isnan(result.min_cos)
    assert result.exact == result.no_miss == result.usage_ratio == 0


def test_exact_and_no_miss_differ_in_extra_and_missing_selections():
    found = C.copy()
    found[0, 1] = 0.7  # one too many: no longer exact, still no miss
    found[2, 0] = 0  # one too few: neither
    result = compare((S, found), TRUTH)
    assert result.exact == 0.5
    assert result.no_miss == 0.75
    assert result.usage_ratio == 1


def test_components_that_no_sample_holds_are_not_missed():
    true = C.copy()
    true[:, 2] = 0
    result = compare((S[:2], true[:, :2]), (S, true))
    assert result.misses == 0
    assert result.true_count == 2
    assert result.exact == 1


def test_signs_are_free_only_when_concentrations_have_both():
    turned = [1, 1, -1]
    signed = C * [[1], [-1], [1], [1]]
    result = compare((S * np.transpose([turned]), signed * turned), (S, signed))
    assert result.min_cos == 1
    assert result.exact == 1
    assert compare((S * np.transpose([turned]), C), TRUTH).min_cos == -1


def test_what_match_accepts():
    found = Decomposition(S, C)
    mixtures = SimpleNamespace(S=S, C=C)
    model = SimpleNamespace(components_=S, concentrations_=C)
    for mine in (found, mixtures, model, TRUTH):
        assert compare(mine, found).exact == 1


@pytest.mark.parametrize(
    ("found", "truth", "message"),
    [
        (S, TRUTH, "found must be a Decomposition or a pair"),
        ((S[:, :4], C), TRUTH, "found has 4 channels and truth has 5"),
        ((S, C[:3]), TRUTH, "found has 3 samples and truth has 4"),
        ((S, C[:, :2]), TRUTH, r"shape \(samples, 3\)"),
        ((S, C * np.nan), TRUTH, "found cannot be matched: C is missing a value at row 0"),
        (TRUTH, (S, 0 * C), "truth holds no component"),
    ],
)
def test_refuses(found, truth, message):
    with pytest.raises(InputError, match=message):
        compare(found, truth)


@given(seed=st.integers(0, 2**32 - 1), n_slots=st.integers(1, 8))
@settings(max_examples=60)
def test_the_order_of_slots_does_not_matter(seed, n_slots):
    rng = np.random.default_rng(seed)
    true = rng.random((5, 12)), rng.random((20, 5)) * random_supports(5, 20, seed)
    found_S, found_C = (
        rng.random((n_slots, 12)),
        rng.random((20, n_slots)) * (rng.random((20, n_slots)) < 0.3),
    )
    order = rng.permutation(n_slots)
    one, other = compare((found_S, found_C), true), compare((found_S[order], found_C[:, order]), true)
    np.testing.assert_allclose(list(one.as_row().values()), list(other.as_row().values()))
    np.testing.assert_allclose(one.cosines, other.cosines)
    matched = other.assignment >= 0
    np.testing.assert_array_equal(one.assignment[matched], order[other.assignment[matched]])
    assert set(one.unmatched) == set(order[other.unmatched])
    assert one.misses == max(0, one.true_count - one.count)
    assert one.exact <= one.no_miss
