"""The spark margin's interval: against every subset looked at one by one."""

from itertools import combinations

import numpy as np
import pytest

from gmcr import make_mixtures
from gmcr.errors import InputError
from gmcr.theory import spark, spark_search
from gmcr.theory.spark import coherence_bound, joint_subsets, spark_margin, worst_subsets
from gmcr.theory.spark_relaxation import Relaxation
from gmcr.theory.spark_search import find_below


def unit(S):
    return S / np.linalg.norm(S, axis=1)[:, None]


def brute_force(S, size):
    """The margin by the definition: all subsets of at most `size` profiles."""
    S = unit(S)
    sizes = range(1, min(size, len(S)) + 1)
    smallest = [
        np.linalg.svd(S[list(A)].T, compute_uv=False).min() if n <= S.shape[1] else 0.0
        for n in sizes
        for A in combinations(range(len(S)), n)
    ]
    return min(smallest)


def random_pool(rng):
    """Signed, positive, nearly dependent or smooth pools, small enough to enumerate."""
    n_slots, n_channels = rng.integers(2, 10), rng.integers(2, 13)
    S = rng.normal(size=(n_slots, n_channels))
    kind = rng.integers(4)
    if kind == 1:
        S = np.abs(S)
    elif kind == 2:
        S[0] = S[1] + 10.0 ** -rng.integers(1, 9) * S[0]
    elif kind == 3:
        centres = rng.uniform(0, n_channels, n_slots)
        S = np.exp(-0.5 * ((np.arange(n_channels) - centres[:, None]) / 1.5) ** 2)
    return S * rng.uniform(0.1, 10, n_slots)[:, None], int(rng.integers(1, n_slots + 1))


@pytest.mark.parametrize("enumerated", [20_000, 0])
@pytest.mark.parametrize("block", range(5))
def test_interval_holds_the_margin_on_500_pools(monkeypatch, enumerated, block):
    # Once as it is, and once with neither enumeration nor small cases, so that every bound has to hold.
    monkeypatch.setattr(spark, "ENUMERATED", enumerated)
    monkeypatch.setattr(spark_search, "SMALL", 0 if block % 2 else 50)
    rng = np.random.default_rng(block)
    for _ in range(100):
        S, size = random_pool(rng)
        truth = brute_force(S, size)
        margin = spark_margin(S, size, seconds=rng.choice([0.0, 1e-4, 0.1]))
        assert margin.lower - 1e-15 <= truth <= margin.upper + 1e-15
        assert 0 <= margin.lower <= margin.upper
        assert margin.size == min(size, len(S))
        assert len(margin.subset) == margin.size
        assert brute_force(S[list(margin.subset)], margin.size) <= margin.upper + 1e-15
        if margin.exact:
            assert margin.upper - margin.lower < 1e-5


@pytest.mark.parametrize("seed", range(3))
def test_medium_pool_is_exact(seed):
    S = make_mixtures(n_components=24, n_samples=4, n_features=64, random_state=seed).S
    margin = spark_margin(S, 6)
    subsets = np.array(list(combinations(range(24), 6)))
    G = S @ S.T
    truth = np.sqrt(
        min(np.linalg.eigvalsh(G[a[:, :, None], a[:, None, :]]).min() for a in np.array_split(subsets, 40))
    )
    assert margin.exact
    assert margin.lower <= truth <= margin.upper
    assert margin.upper - margin.lower < 1e-9
    assert "exact" in str(margin)


def test_paper_pool_of_256_slots():
    S = make_mixtures(n_components=256, n_samples=8, random_state=0).S
    margin = spark_margin(S, 8, seconds=0.5)
    assert 0.4 < margin.lower < margin.upper < 0.456
    assert not margin.exact
    assert "between" in str(margin)
    assert margin == spark_margin(S, 8, seconds=0.5)


def test_margins_known_in_closed_form():
    assert spark_margin(np.eye(5), 4).lower == pytest.approx(1, abs=1e-12)
    # Equal overlaps ρ: the smallest eigenvalue is 1 − ρ, whatever the number of profiles.
    G = np.full((40, 40), 0.3) + 0.7 * np.eye(40)
    margin = spark_margin(np.linalg.cholesky(G), 8)
    assert margin.exact
    assert margin.upper == pytest.approx(np.sqrt(0.7), abs=1e-10)
    twins = np.vstack([np.eye(30), np.eye(30)[3]])
    assert spark_margin(twins, 6).subset[-1] == 30
    assert spark_margin(twins, 6).upper < 1e-6
    assert spark_margin(np.random.default_rng(0).normal(size=(50, 5)), 6).upper == 0
    assert spark_margin(np.random.default_rng(0).normal(size=(50, 5)), 1).lower == pytest.approx(1)
    assert spark_margin([[3.0, 4.0]], 8).size == 1


def test_search_agrees_with_enumeration(monkeypatch):
    monkeypatch.setattr(spark_search, "SMALL", 0)
    rng = np.random.default_rng(1)
    for _ in range(150):
        n, size = rng.integers(4, 10), rng.integers(2, 5)
        S = unit(rng.normal(size=(n, 8)) + rng.choice([0, 1.5]))
        truth = brute_force(S, size) ** 2
        for level, expected in ((truth - 1e-9, "none"), (truth + 1e-9, "found")):
            answer, subset, work = find_below(S @ S.T, size, level, 1e9)
            assert answer == expected
            assert work <= 1e9
            if subset:
                assert len(set(subset)) == len(subset) <= size
                assert np.linalg.eigvalsh((S @ S.T)[np.ix_(subset, subset)])[0] <= level + 1e-12
    assert find_below(np.eye(60), 8, 0.5, 0.0)[0] in ("none", "unfinished")
    assert find_below(np.eye(4), 2, 1.5, 1e6)[0] == "found"


def test_bounds_lie_below_every_subset():
    rng = np.random.default_rng(2)
    for _ in range(200):
        S, size = random_pool(rng)
        S = unit(S)
        truth = brute_force(S, size) ** 2
        G = S @ S.T
        assert coherence_bound(G, size) <= truth + 1e-12
        assert Relaxation(G, size).run(int(rng.integers(1, 40))) <= truth + 1e-12


def test_relaxation_is_tight_for_the_whole_pool():
    S = unit(np.random.default_rng(0).normal(size=(12, 20)))
    assert Relaxation(S @ S.T, 12).run(400) == pytest.approx(np.linalg.eigvalsh(S @ S.T)[0], abs=1e-3)


def test_supports_are_looked_at():
    supports = np.zeros((3, 6), dtype=bool)
    supports[0, [0, 1]] = supports[1, [1, 2]] = supports[2, [4, 5]] = True
    unions = {tuple(sorted(row)) for row in joint_subsets(supports, 4)}
    assert {(0, 1, 4, 5), (1, 2, 4, 5)} <= unions
    S = np.random.default_rng(0).normal(size=(40, 30))
    with_supports = spark_margin(S, 8, supports=np.random.default_rng(1).random((20, 40)) < 0.1, seconds=0)
    assert with_supports.upper <= spark_margin(S, 8, seconds=0).upper
    with pytest.raises(InputError, match="supports must be samples x 40 slots"):
        spark_margin(S, 8, supports=supports)


def test_worst_subsets_finds_a_hidden_dependence():
    rng = np.random.default_rng(0)
    S = unit(rng.normal(size=(100, 60)))
    S[77] = S[[3, 14, 15]].sum(axis=0) + 0.01 * S[77]
    S = unit(S)
    worst = worst_subsets(S, 6, rng)
    values = np.linalg.svd(S[worst], compute_uv=False)[:, -1]
    assert {3, 14, 15, 77} <= set(worst[values.argmin()].tolist())


@pytest.mark.parametrize("size", [0, 2.5, True])
def test_size_must_be_a_count(size):
    with pytest.raises(InputError, match="size must be a whole number"):
        spark_margin(np.eye(3), size)


def test_seconds_must_not_be_negative():
    with pytest.raises(InputError, match="seconds must not be negative"):
        spark_margin(np.eye(3), 2, seconds=-1)
