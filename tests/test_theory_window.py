"""The window and the noise levels: against formulas written out, least squares and simulated noise."""

import numpy as np
import pytest
from scipy.special import gammaincc
from scipy.stats import chi2

from gmcr import make_mixtures
from gmcr.errors import InputError
from gmcr.theory.window import (
    chi_square_quantile,
    gaussian_levels,
    inverse_gram_diagonals,
    log_binomial,
    net_levels,
    price_window,
)


def test_window_by_hand():
    L = np.sqrt(2 * np.log(6 * 16 * 64 / 0.05))
    window = price_window(1.0, 0.5, 0.01, 16, 64)
    assert window.low == pytest.approx(L**2)
    assert window.high == pytest.approx((0.5 / 0.01 - L) ** 2)
    assert window.is_open
    assert window.missing_db == 0
    assert "open" in str(window)


def test_closed_window_says_what_is_missing():
    closed = price_window(1.0, 0.5, 0.1, 16, 64)
    assert not closed.is_open
    assert f"{closed.missing_db:.1f} dB" in str(closed)
    # The missing decibel and a little more open it; a little less do not.
    for extra, is_open in ((0.01, True), (-0.01, False)):
        sigma = 0.1 * 10 ** (-(closed.missing_db + extra) / 20)
        assert price_window(1.0, 0.5, sigma, 16, 64).is_open == is_open


def test_window_at_the_edges():
    assert price_window(1.0, 0.5, 0.0, 16, 64).high == np.inf
    never = price_window(1.0, 0.0, 0.1, 16, 64)
    assert never.missing_db == np.inf
    assert str(never) == "window closed: no SNR would open it"
    assert price_window(1.0, 0.5, [0.001, 0.01], 16, 64) == price_window(1.0, 0.5, 0.01, 16, 64)
    with pytest.raises(InputError, match="c_min must be finite and not negative"):
        price_window(-1.0, 0.5, 0.1, 16, 64)
    with pytest.raises(InputError, match="alpha must lie between 0 and 1"):
        price_window(1.0, 0.5, 0.1, 16, 64, alpha=2)


def least_squares_rise(C, S, sigma, m, i):
    """Removing i from sample m: how much worse the best fit of its noiseless sample gets, signs free."""
    others = np.flatnonzero((C[m] != 0) & (np.arange(C.shape[1]) != i))
    x = C[m] @ S
    fit = S[others].T @ np.linalg.lstsq(S[others].T, x, rcond=None)[0] if others.size else 0.0
    return np.sum((x - fit) ** 2) / sigma[m] ** 2


def removal_costs(C, S, sigma):
    """What removing a component costs a sample in noise units, by the diagonals: (samples, slots)."""
    return C**2 / inverse_gram_diagonals(S, C != 0) / np.square(sigma)[:, None]


def test_removal_costs_against_least_squares():
    rng = np.random.default_rng(0)
    mix = make_mixtures(n_components=9, n_samples=60, n_features=30, active=(1, 5), random_state=0)
    S = mix.S * rng.uniform(0.2, 5, 9)[:, None]
    costs = removal_costs(mix.C, S, mix.sigma)
    np.testing.assert_array_equal(np.isnan(costs), ~mix.supports)
    for m, i in np.argwhere(mix.supports):
        assert costs[m, i] == pytest.approx(least_squares_rise(mix.C, S, mix.sigma, m, i), rel=1e-8)


def test_removal_costs_of_dependent_profiles():
    S = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    C = np.array([[1.0, 1, 1, 1], [2, 0, 0, 3], [0, 0, 0, 0]])
    costs = removal_costs(C, S, np.ones(3))
    # The first three replace each other; the fourth stands alone.
    np.testing.assert_allclose(costs[0], [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(costs[1], [4, np.nan, np.nan, 9])
    assert np.isnan(costs[2]).all()


def test_supports_of_many_components():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(40, 60))
    supports = rng.random((30, 40)) < 0.7
    diagonals = inverse_gram_diagonals(S, supports)
    for m in range(30):
        J = np.flatnonzero(supports[m])
        np.testing.assert_allclose(diagonals[m, J], np.linalg.inv(S[J] @ S[J].T).diagonal(), rtol=1e-8)


def test_distances_of_each_sample_are_above_the_margin():
    mix = make_mixtures(n_components=12, n_samples=80, n_features=100, snr_db=40, random_state=0)
    least = np.sqrt(np.nanmin(removal_costs(mix.C, mix.S, mix.sigma), axis=1))
    s_min = np.linalg.svd(mix.S, compute_uv=False)[-1]
    assert (least >= mix.C[mix.supports].min() * s_min / mix.sigma - 1e-9).all()


@pytest.mark.parametrize("dof", [1, 2, 8, 9, 512])
def test_quantiles_far_out(dof):
    for log_tail in (-1.0, -50.0, -600.0):
        assert chi_square_quantile(dof, log_tail) == pytest.approx(chi2.isf(np.exp(log_tail), dof))
    last = 0.0
    for log_tail in (-689.0, -691.0, -800.0, -1e4, -1e6):
        x = chi_square_quantile(dof, log_tail)
        assert last < x <= dof + 2 * np.sqrt(-dof * log_tail) - 2 * log_tail
        last = x
    # Where both ways work they agree, and the bound is on the safe side.
    near, beyond = chi_square_quantile(dof, -689.99), chi_square_quantile(dof, -690.01)
    assert near <= beyond <= near * 1.01
    if dof >= 2:
        assert np.log(gammaincc(dof / 2, beyond / 2)) <= -690.01


def test_levels_by_hand():
    d, n, m, k, alpha = 512, 16, 64, 4, 0.05
    subsets = sum(np.exp(log_binomial(n, r)) for r in range(9))
    assert subsets == pytest.approx(39203)
    net = net_levels(0.1, d, n, m, k, alpha)
    assert net.norm == pytest.approx(0.2 * np.sqrt(2 * (d * np.log(5) + np.log(2 * m / alpha))))
    assert net.projected == pytest.approx(
        0.2 * np.sqrt(2 * (2 * k * np.log(5) + np.log(2 * m * subsets / alpha)))
    )
    exact = gaussian_levels(0.1, d, n, m, k, alpha)
    assert exact.norm == pytest.approx(0.1 * np.sqrt(chi2.isf(alpha / (2 * m), d)))
    assert exact.projected == pytest.approx(0.1 * np.sqrt(chi2.isf(alpha / (2 * m * 12870), 8)))
    assert exact.norm < net.norm / 2
    assert exact.projected < net.projected / 1.5


def test_levels_of_few_slots_and_of_huge_pools():
    few = gaussian_levels(1.0, 100, 3, 10, 4)
    assert few.projected == pytest.approx(np.sqrt(chi2.isf(0.05 / 20, 3)))
    full = gaussian_levels(1.0, 6, 50, 10, 4)
    assert full.projected == full.norm
    huge = gaussian_levels(np.array([1.0, 2.0]), 5000, 100_000, 10**6, 100)
    assert np.isfinite(huge.projected).all()
    assert huge.projected[1] == 2 * huge.projected[0]
    assert huge.projected[0] <= huge.norm[0]
    assert np.isfinite(net_levels(1.0, 5000, 100_000, 10**6, 100).projected)


@pytest.mark.parametrize("levels", [net_levels, gaussian_levels])
def test_noise_event_holds_often_enough(levels):
    rng = np.random.default_rng(0)
    alpha, runs, n_samples, d, n, k = 0.2, 400, 5, 10, 6, 1
    S = rng.normal(size=(n, d))
    found = levels(0.3, d, n, n_samples, k, alpha)
    noise = 0.3 * rng.normal(size=(runs, n_samples, d))
    bases = [np.linalg.qr(S[[i, j]].T)[0] for i in range(n) for j in range(i)]
    projected = np.max([np.linalg.norm(noise @ Q, axis=-1) for Q in bases], axis=0)
    fails = (np.linalg.norm(noise, axis=-1) > found.norm) | (projected > found.projected)
    assert fails.any(axis=1).mean() <= alpha


def test_arguments_are_checked():
    with pytest.raises(InputError, match="k and n_samples must be at least 1"):
        net_levels(1.0, 10, 5, 0, 1)
    with pytest.raises(InputError, match="alpha must lie between 0 and 1"):
        gaussian_levels(1.0, 10, 5, 10, 1, alpha=0)
    with pytest.raises(InputError, match="sigma must be finite"):
        net_levels(np.nan, 10, 5, 1, 1)
