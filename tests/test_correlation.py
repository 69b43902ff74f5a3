"""Noise that is correlated along the channels."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

from gmcr import GMCR, make_measured
from gmcr.noise import Correlation


def smoothed(rng, shape, width):
    """Noise of variance one, each entry the mean of `width` neighbours."""
    white = rng.standard_normal((shape[0], shape[1] + width - 1))
    return np.lib.stride_tricks.sliding_window_view(white, width, axis=1).sum(axis=2) / np.sqrt(width)


def covariance(width, n):
    return toeplitz(np.maximum(1 - np.arange(n) / width, 0))


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_effective_degrees_of_freedom_against_the_trace(width):
    along = tuple(1 - np.arange(1, width) / width)
    Sigma = covariance(width, 60)
    assert Correlation(along).degrees_of_freedom(60.0) == pytest.approx(
        np.trace(Sigma) ** 2 / (Sigma**2).sum()
    )
    assert Correlation(along).length == pytest.approx(width)
    S = np.random.default_rng(0).random((3, 60))
    S /= np.linalg.norm(S, axis=1)[:, None]
    assert Correlation(along).inflation(S) == pytest.approx(np.trace(S @ Sigma @ S.T) / 3)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_found_from_a_fit(width):
    made = make_measured(3, 80, 120, 100 + width, purity="pure", profiles="bands", disturbed=False)
    clean = made.C @ made.S
    noise = smoothed(np.random.default_rng(width), clean.shape, width)
    model = GMCR(n_components=3).fit(clean + 0.02 * clean.std() * noise)
    Sigma = covariance(width, 120)
    found = model.noise_correlation_.degrees_of_freedom(120.0)
    assert found == pytest.approx(np.trace(Sigma) ** 2 / (Sigma**2).sum(), rel=0.15)
    assert model.decoding_.known.mean() > 0.95


def test_white_noise_changes_nothing(tmp_path):
    made = make_measured(3, 60, 80, 0, disturbed=False)
    D = made.C @ made.S + 0.01 * np.random.default_rng(0).standard_normal((60, 80))
    model = GMCR(n_components=3).fit(D)
    assert model.noise_correlation_ == Correlation()
    assert model.noise_correlation_.sentence() == ""


def test_correlated_noise_is_kept_with_the_model_and_makes_amounts_less_certain(tmp_path):
    made = make_measured(3, 60, 80, 1, purity="pure", profiles="bands", disturbed=False)
    clean = made.C @ made.S
    rng = np.random.default_rng(0)
    loud = 0.02 * clean.std()
    white = GMCR(n_components=3).fit(clean + loud * rng.standard_normal(clean.shape))
    model = GMCR(n_components=3).fit(clean + loud * smoothed(rng, clean.shape, 5))
    ratio = np.nanmedian(model.decoding_.errors / white.decoding_.errors)
    assert 1.5 < ratio < 3  # the root of five channels' worth
    model.save(tmp_path / "model.gmcr")
    again = GMCR.load(tmp_path / "model.gmcr")
    assert again.noise_correlation_ == model.noise_correlation_
    D = clean + loud * smoothed(rng, clean.shape, 5)
    np.testing.assert_array_equal(again.decode(D).known, model.decode(D).known)
