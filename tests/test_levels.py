"""Noise that is known to differ between samples and channels, evened out before least squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from gmcr import GMCR, make_measured
from gmcr.noise import Instrument, Sigma
from gmcr.window.levels import MOST, Levels


def mean_cosine(S, true):
    S, true = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (S, true))
    cosines = S @ true.T
    return cosines[linear_sum_assignment(-cosines)].mean()


@given(st.integers(0, 1000), st.integers(2, 12), st.integers(2, 12))
def test_noise_that_is_a_product_is_the_same_everywhere_once_evened(seed, n_samples, n_channels):
    rng = np.random.default_rng(seed)
    sigma = np.outer(np.exp(rng.uniform(-1, 1, n_samples)), np.exp(rng.uniform(-1, 1, n_channels)))
    levels = Levels.of(Sigma(sigma))
    evened = levels.evened(sigma)
    np.testing.assert_allclose(evened, evened[0, 0], rtol=1e-6)
    np.testing.assert_allclose(levels.sigma(evened[0, 0], sigma.shape).entries, sigma, rtol=1e-6)


def test_a_pool_goes_there_and_back():
    rng = np.random.default_rng(0)
    levels = Levels(np.exp(rng.uniform(-1, 1, 5)), np.exp(rng.uniform(-1, 1, 7)))
    S = rng.random((3, 7))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    np.testing.assert_allclose(levels.pool(levels.evened_pool(S)), S)
    X, pool = levels.evened(rng.random((5, 3)) @ S), levels.evened_pool(S)
    np.testing.assert_allclose(X, X @ np.linalg.pinv(pool) @ pool, atol=1e-12)


def test_noise_that_is_alike_changes_nothing_and_no_sample_gets_all_the_weight():
    X = np.random.default_rng(0).random((4, 6))
    assert Levels.of(Sigma(np.full(4, 0.3))).evened(X) is X
    levels = Levels.of(Sigma(np.array([1e-9, 1.0, 1.0, 1e9])))
    np.testing.assert_allclose(levels.samples, [1 / MOST, 1, 1, MOST])


def test_overdispersed_counts_weigh_by_their_noise():
    """Without weights least squares follows the noise of the largest counts."""
    cosines = []
    for seed in range(4):
        made = make_measured(3, 80, 100, seed, disturbed=False)
        mean = made.C @ made.S
        mean *= 3000.0 / mean.max()
        rng = np.random.default_rng(seed)
        D = rng.poisson(rng.gamma(20.0, np.maximum(mean, 1e-12) / 20.0)).astype(float)
        models = [GMCR(n_components=3, noise=noise).fit(D) for noise in ("counts", "constant")]
        cosines.append([mean_cosine(model.components_, made.S) for model in models])
    by_law, plain = np.mean(cosines, axis=0)
    assert by_law > plain


def test_noise_given_per_entry_weighs_where_samples_hold_everything():
    """Channels with thirty times the noise must not decide, once that is known."""
    made = make_measured(3, 60, 80, 5, disturbed=False, concentrations="design")
    sigma = np.full(made.D.shape, 1e-3 * made.D.max())
    sigma[:, :20] *= 30
    D = made.C @ made.S + sigma * np.random.default_rng(0).standard_normal(sigma.shape)
    models = [
        GMCR(n_components=3, signed=False).fit(np.maximum(D, 0), noise=noise) for noise in (sigma, None)
    ]
    known, unknown = (mean_cosine(model.components_[:, 20:], made.S[:, 20:]) for model in models)
    assert known > unknown


def test_a_channel_that_is_said_to_have_no_noise_does_not_decide():
    made = make_measured(3, 40, 80, 1, disturbed=False, law=Instrument(0.01))
    sigma = np.full(made.D.shape, 0.01)
    sigma[:, 5] = 1e-12
    laws = Instrument(0.01), Instrument(0.01, channels=(1e-9, *[1.0] * 79))
    told = [GMCR(3).fit(made.D, noise=noise) for noise in (sigma, *laws)]
    assert min(mean_cosine(model.components_, made.S) for model in told) > 0.98


def test_entries_that_are_said_to_tell_nothing_do_not_decide():
    """Next to all samples have one, and those without had all the weight in the starts."""
    made = make_measured(3, 24, 40, 1, disturbed=False, law=Instrument(0.01))
    rng = np.random.default_rng(1)
    sigma = np.full(made.D.shape, 0.01)
    sigma[rng.random(sigma.shape) < 0.1] = 1e7
    levels = Levels.of_given(Sigma(sigma))
    assert np.ptp(np.log(levels.samples)) < np.log(MOST)
    assert np.ptp(np.log(levels.channels)) < np.log(MOST)
    missing = np.where(sigma > 1, np.nan, made.D)
    told, gone = (GMCR(3).fit(D, noise=noise) for D, noise in ((made.D, sigma), (missing, 0.01)))
    cosines = [mean_cosine(model.components_, made.S) for model in (told, gone)]
    assert cosines[0] > cosines[1] - 0.005


@pytest.mark.parametrize("seed", [0, 4])
def test_singular_values_are_those_under_the_noise_given(seed):
    """Under no usual law are they white: 14 and 17 stood out, and blind another answer came than told."""
    made, rng = make_measured(3, 40, 50, seed, disturbed=False), np.random.default_rng(seed)
    sigma = 0.01 * np.exp(rng.normal(0, 0.5, 40))
    D = made.C @ made.S + sigma[:, None] * rng.standard_normal(made.D.shape)
    blind, told = (GMCR(n, random_state=0).fit(D, noise=sigma) for n in ("auto", 3))
    assert (blind.count_.by_rank, blind.n_components_) == (3, 3)
    np.testing.assert_allclose(blind.components_, told.components_, atol=1e-9)
    np.testing.assert_allclose(blind.concentrations_, told.concentrations_, atol=1e-9)


def test_channels_that_noise_swamps():
    """Slots that nobody holds were to be merged for what their samples have in common."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        sigma = np.full((50, 90), 0.02)
        sigma[:, ::2] = 1e3
        D = np.ones((50, 90)) * rng.uniform(0.5, 2, (50, 1)) + sigma * rng.normal(size=sigma.shape)
    assert GMCR().fit(D).n_components_ >= 1
