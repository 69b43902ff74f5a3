"""Negative values: noise, or what was measured."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr import GMCR, make_measured
from gmcr.window.signs import seen_signs


def best_of_rank(D, n):
    U, values, Vt = np.linalg.svd(D, full_matrices=False)
    return (U[:, :n] * values[:n]) @ Vt[:n]


def r_squared(D, fit):
    return 1 - np.square(D - fit).sum() / np.square(D - D.mean(axis=0)).sum()


def derivative(seed, n=3):
    table = make_measured(
        n, 60, 150, seed, purity="pure", profiles="bands", concentrations="lognormal", disturbed=False
    )
    noise = 0.01 * np.abs(np.diff(table.C @ table.S)).max()
    D = np.diff(table.C @ table.S) + noise * np.random.default_rng(seed).standard_normal((60, 149))
    return D, table


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_derivative_spectra_have_signed_profiles_and_amounts_that_are_not(seed):
    D, table = derivative(seed)
    with pytest.warns(UserWarning, match=r"of the values are negative, more than noise explains"):
        model = GMCR(n_components=3).fit(D)
    fit = model.concentrations_ @ model.components_
    assert r_squared(D, fit) > 0.99 * r_squared(D, best_of_rank(D, 3))
    assert model.concentrations_.min() >= 0
    correlations = np.corrcoef(table.C.T, model.concentrations_.T)[:3, 3:]
    assert correlations.max(axis=1).min() > 0.95


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), level=st.floats(0.001, 0.3), width=st.sampled_from([0, 1, 2]))
def test_noise_is_not_taken_for_signs(seed, level, width):
    """However loud it is, and smoothed along channels."""
    assert not seen_signs(noisy(seed, level, width)).matter


@pytest.mark.parametrize("level", [0.5, 0.7])
def test_noise_louder_than_most_is_hardly_ever_taken_for_signs(level):
    """Smoothed over five channels, of which seed 801 at half of the signal is one that was found."""
    taken = [seed for seed in [*range(60), 801] if seen_signs(noisy(seed, level, 2)).matter]
    assert set(taken) <= {801}


def noisy(seed, level, width):
    table = make_measured(random_state=seed, disturbed=False)
    clean = table.C @ table.S
    noise = np.random.default_rng(seed).standard_normal(clean.shape)
    kernel = np.ones(2 * width + 1) / np.sqrt(2 * width + 1)
    return clean + level * clean.std() * np.apply_along_axis(np.convolve, 1, noise, kernel, "same")


def test_opposite_profiles():
    """Two components whose sum is taken off, as centring does: one direction, of both signs."""
    rng = np.random.default_rng(0)
    profile, amounts = rng.standard_normal(50), rng.standard_normal(40)
    D = np.outer(amounts, profile) + 0.01 * rng.standard_normal((40, 50))
    with pytest.warns(UserWarning, match="negative"):
        model = GMCR(n_components=2).fit(D)
    assert r_squared(D, model.concentrations_ @ model.components_) > 0.99


def test_scale_and_order_do_not_matter():
    D, _ = derivative(4)
    here, there = seen_signs(D), seen_signs(1e6 * D[::-1])
    assert (here.entries, here.matter) == (there.entries, there.matter)
    assert here.share == pytest.approx(there.share, rel=1e-6)


def test_missing_values_are_no_signs():
    D, _ = derivative(5)
    D[np.random.default_rng(0).random(D.shape) < 0.1] = np.nan
    assert seen_signs(D).matter


def test_either_can_be_forced():
    D, _ = derivative(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (GMCR(n_components=3, signed="profiles").fit(D).components_ < 0).any()
        model = GMCR(n_components=3, signed=True).fit(D)
    assert model.violations_ == {}
