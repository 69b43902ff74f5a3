"""Isolating pairs, their levels and groups that never separate: against plain loops over samples."""

from itertools import combinations

import numpy as np
import pytest

from gmcr import make_mixtures
from gmcr.errors import InputError
from gmcr.theory import pairs
from gmcr.theory.pairs import diverse_pairs, isolating_pairs, most_diverse, never_separated


def random_supports(rng, n_samples=12, n_slots=6):
    return rng.random((n_samples, n_slots)) < rng.uniform(0.1, 0.7)


def meets_alone(supports, m, n):
    both = np.flatnonzero(supports[m] & supports[n])
    return int(both[0]) if len(both) == 1 else None


def level_by_hand(C, m):
    held = np.flatnonzero(C[m])
    same = [n for n in range(len(C)) if ((C[n] != 0) == (C[m] != 0)).all()]
    values = [np.linalg.svd(C[np.ix_(A, held)])[1][-1] for A in combinations(same, len(held))]
    return max(values, default=0.0)


@pytest.mark.parametrize("pure", [False, True])
def test_pairs_against_all_pairs_of_samples(pure):
    rng = np.random.default_rng(0)
    for _ in range(150):
        supports = random_supports(rng)
        found = isolating_pairs(supports, pure=pure)
        expected = np.zeros(supports.shape[1], dtype=bool)
        distinct = [set() for _ in expected]
        for m in range(len(supports)):
            for n in range(m + (not pure), len(supports)):
                i = meets_alone(supports, m, n)
                if i is not None:
                    expected[i] = True
                    distinct[i].add(frozenset([supports[m].tobytes(), supports[n].tobytes()]))
        np.testing.assert_array_equal(found.isolated, expected)
        np.testing.assert_array_equal(found.count, [len(kinds) for kinds in distinct])
        np.testing.assert_array_equal(found.active, supports.any(axis=0))
        for i, (m, n) in enumerate(found.example):
            assert (m >= 0) == expected[i]
            if m >= 0:
                assert meets_alone(supports, m, n) == i
                assert pure or m != n


def test_blocks_do_not_matter(monkeypatch):
    supports = random_supports(np.random.default_rng(3), 60, 9)
    whole = isolating_pairs(supports)
    monkeypatch.setattr(pairs, "BLOCK", 7)
    np.testing.assert_array_equal(isolating_pairs(supports).count, whole.count)


def test_levels_against_all_choices_of_samples():
    rng = np.random.default_rng(1)
    for _ in range(60):
        patterns = random_supports(rng, 4, 5)
        C = np.where(patterns[rng.integers(0, 4, 14)], rng.uniform(1, 10, (14, 5)), 0.0)
        held, samples = pairs._distinct(C != 0)
        levels = np.empty(len(C))
        for rows, level in zip(samples, pairs._levels(C, held, samples)):
            levels[rows] = level
        for m in range(len(C)):
            if C[m].any():
                assert levels[m] == pytest.approx(level_by_hand(C, m), abs=1e-12)
            else:
                assert np.isinf(levels[m])
        found = diverse_pairs(C)
        for i in range(5):
            both = [
                min(levels[m], levels[n])
                for m, n in combinations(range(14), 2)
                if meets_alone(C != 0, m, n) == i
            ]
            assert found.level[i] == pytest.approx(max(both, default=0.0))
            if both:
                assert min(levels[found.example[i]]) == pytest.approx(found.level[i])


def test_large_groups_get_a_valid_and_good_level(monkeypatch):
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.uniform(1, 10, (16, 3))
        exact = most_diverse(rows)
        with monkeypatch.context() as patch:
            patch.setattr(pairs, "ENUMERATED", 0)
            searched = most_diverse(rows)
        assert searched <= exact + 1e-12
        assert searched >= 0.7 * exact


@pytest.mark.parametrize(("n", "ceiling"), [(16, 5.4), (32, 8.6), (64, 19.4)])
def test_ceilings_of_the_paper(n, ceiling):
    # Table of per-sample support recovery: five seeds of theirs, twenty of ours.
    served = []
    for seed in range(20):
        mix = make_mixtures(n_components=n, n_samples=4 * n, n_features=n, random_state=seed)
        found = diverse_pairs(mix.C)
        served.append(found.served.sum())
        assert found.isolated.mean() > 0.9
    spread = np.std(served) / np.sqrt(5)
    assert abs(np.mean(served) - ceiling) < 3 * spread


def test_groups():
    def supports(*rows):
        held = np.zeros((len(rows), 5), dtype=bool)
        for m, row in enumerate(rows):
            held[m, list(row)] = True
        return held

    # 0 and 1 always together; 2 and 3 apart; 4 nowhere.
    assert never_separated(supports([0, 1], [0, 1, 2], [2], [3, 2], [3])) == [(0, 1)]
    # A solvent, 0, in every sample: isolated itself, but nothing else is free of it.
    assert never_separated(supports([0, 1], [0, 2], [0, 3])) == [(0, 1), (0, 2), (0, 3)]
    # 0 has nothing that is always there, yet any two samples with it share a second component.
    assert (0,) in never_separated(supports([0, 1, 2], [0, 1, 3], [0, 2, 3]))
    # A pure sample separates, even a single one.
    assert never_separated(supports([0], [1, 2])) == [(1, 2)]
    assert never_separated(np.eye(4, dtype=bool)) == []
    # The paper's caution: each of three is isolated by a plain pair, none by one that is served.
    triangle = supports([0, 1], [0, 2], [1, 2])
    assert never_separated(triangle) == []
    assert not diverse_pairs(triangle * 1.0).served.any()


def test_groups_by_definition():
    rng = np.random.default_rng(5)
    for _ in range(100):
        held = random_supports(rng, 6, 6)
        isolated = isolating_pairs(held, pure=True).isolated
        expected = {
            tuple(np.flatnonzero(held[held[:, i]].all(axis=0)).tolist())
            for i in range(6)
            if held[:, i].any() and not isolated[i]
        }
        assert never_separated(held) == sorted(expected)


@pytest.mark.parametrize("bad", [np.ones(3), np.zeros((0, 3)), [[np.nan, 1.0]]])
def test_tables_are_checked(bad):
    with pytest.raises(InputError, match="supports must be a complete table"):
        isolating_pairs(bad)
    with pytest.raises(InputError, match="C must be a complete table"):
        diverse_pairs(bad)
