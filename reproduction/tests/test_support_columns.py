"""The support columns that only the paper asks: on cases made by hand and against their definitions."""

import numpy as np
import pytest

from gmcr.decomposition import Decomposition
from gmcr_paper.support_columns import has_isolating_pair, support_columns

S = np.eye(3, 5)
C = np.array([[1.0, 0, 0], [0, 2, 3], [4, 0, 5], [0, 6, 0]])  # usage 6
TRUTH = Decomposition(S, C)


def test_the_truth_matches_itself():
    row = support_columns(TRUTH, TRUTH)
    assert {type(value) for value in row.values()} == {int, float}
    assert np.isnan(row["spurious"])
    assert row["isolating_pairs"] == row["isolating_pairs_ceiling"] == 0
    assert row["usage_ratio_above"] == row["exact_above"] == 1


def test_what_a_slot_too_many_adds():
    # A fourth slot, used by samples 0 and 3, below the floor in both.
    found = Decomposition(np.eye(4, 5), np.column_stack([C, [0.2, 0, 0, 0.4]]))
    row = support_columns(found, TRUTH)
    assert row["usage_ratio_above"] == row["exact_above"] == 1
    assert row["spurious"] == pytest.approx(0.3)


def test_floor_drops_small_selections_right_or_wrong():
    true, found = C.copy(), C.copy()
    true[0, 0] = found[0, 0] = 0.5  # true, but not above the floor
    found[3, 0] = 0.1  # spurious, and below it
    found, true = Decomposition(S, found), Decomposition(S, true)
    row = support_columns(found, true)
    assert row["usage_ratio"] == pytest.approx(7 / 6)
    assert row["usage_ratio_above"] == pytest.approx(5 / 6)
    assert row["exact"] == 0.75
    assert row["exact_above"] == 0.75
    assert support_columns(found, true, floor=0.2)["exact_above"] == 1


# Isolating pairs


def random_supports(n_components, n_samples, seed):
    """Supports of one to four components, as in Algorithm 2."""
    rng = np.random.default_rng(seed)
    supports = np.zeros((n_samples, n_components), dtype=bool)
    for row in supports:
        row[rng.choice(n_components, rng.integers(1, 5), replace=False)] = True
    return supports


def supports_of(n_components, *sets):
    supports = np.zeros((len(sets), n_components), dtype=bool)
    for row, members in zip(supports, sets):
        row[list(members)] = True
    return supports


@pytest.mark.parametrize(
    ("sets", "components"),
    [
        ([{0, 1}, {0, 1}, {0, 2}, {0, 2}], {0}),  # each pair occurs twice, as it has two members
        ([{0, 1}, {0, 1}, {0, 2}], set()),  # the second occurs once only
        ([{0}, {0, 1}, {0, 1}], {0}),  # a pure sample needs to occur once
        ([{0}, {0}], {0}),  # two pure samples meet in their component
        ([{0}], set()),  # one sample is no pair
        ([{0, 1, 2}] * 3 + [{0, 1, 3}] * 3, set()),  # they meet in two
        ([{0, 1, 2}] * 3 + [{2, 3, 4}] * 3 + [{4, 5}] * 2, {2, 4}),
        ([{0, 1}, {0, 1}, {2, 3}, {2, 3}], set()),  # they do not meet
        ([set(), set()], set()),
    ],
)
def test_isolating_pairs_by_hand(sets, components):
    supports = supports_of(6, *sets)
    assert set(np.flatnonzero(has_isolating_pair(supports))) == components


def by_definition(supports):
    """Conjecture R over all pairs of samples, one after the other."""
    rows = [frozenset(np.flatnonzero(row)) for row in supports]
    spanned = [rows.count(row) >= len(row) for row in rows]
    pairs = ((m, n) for m in range(len(rows)) for n in range(m))
    met = (rows[m] & rows[n] for m, n in pairs if spanned[m] and spanned[n])
    return set().union(*(common for common in met if len(common) == 1))


@pytest.mark.parametrize("block", [3, 1024])
def test_isolating_pairs_follow_the_definition(monkeypatch, block):
    monkeypatch.setattr("gmcr_paper.support_columns.BLOCK", block)
    for seed in range(20):
        supports = random_supports(9, 80, seed)
        assert set(np.flatnonzero(has_isolating_pair(supports))) == by_definition(supports)


@pytest.mark.parametrize(("n_components", "ceiling"), [(16, 5.4), (32, 8.6), (64, 19.4)])
def test_ceilings_of_the_paper(n_components, ceiling):
    counts = [
        has_isolating_pair(random_supports(n_components, 4 * n_components, seed)).sum() for seed in range(40)
    ]
    assert np.mean(counts) == pytest.approx(ceiling, abs=1.2)


def test_isolating_pairs_found_and_ceiling():
    # Two pure samples each of components 0 and 1. A fourth slot joins one of component 1's in the found
    # supports, which ends its pair; that slot has a pair of its own, but it is no true component's.
    true = supports_of(3, {0}, {0}, {1}, {1}, {2}, {0, 2}).astype(float)
    found = np.column_stack([true, [0, 0, 0, 1, 0, 0]])
    found = np.vstack([found, [0, 0, 0, 1], [0, 0, 0, 1]])
    true = np.vstack([true, [0, 0, 1], [0, 0, 1]])
    row = support_columns(Decomposition(np.eye(4, 5), found), Decomposition(S, true))
    assert row["isolating_pairs_ceiling"] == 3
    assert set(np.flatnonzero(has_isolating_pair(found > 0))) == {0, 3}
    assert row["isolating_pairs"] == 1
