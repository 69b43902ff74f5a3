"""The decoder against the truth, against brute force, and against itself under changes without meaning."""

import json
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from gmcr import decode, make_mixtures
from gmcr.constraints import Constraints
from gmcr.decoding.batch import decode_arrays
from gmcr.decoding.prices import usage_price
from gmcr.errors import InputError
from gmcr.noise import Poisson, Proportional, Sigma
from gmcr.threads import threads
from interpreter import python

SEEDS = range(100, 110)


# Small problems and an independent reference for them


@cache
def subsets(n_slots, size):
    return np.array(list(combinations(range(n_slots), size)))


def brute_force(x, S, price, *, k_max=None, signed=False):
    """Eq. 3 at unit noise over all supports: the smallest value.

    The optimal support's concentrations are strictly positive, so they are its least-squares fit; supports
    whose fit is not positive can be left out.
    """
    G, b, value = S @ S.T, S @ x, x @ x
    for size in range(1, min(k_max or len(S), len(S), S.shape[1]) + 1):
        if price * size >= value:  # not even a perfect fit would pay for so many
            break
        A = subsets(len(S), size)
        c = np.linalg.solve(G[A[:, :, None], A[:, None, :]], b[A][..., None])[..., 0]
        allowed = np.ones(len(A), dtype=bool) if signed else (c > 0).all(axis=1)
        misfit = x @ x - (c * b[A]).sum(axis=1)
        value = min(value, (misfit[allowed] + price * size).min(initial=np.inf))
    return value


def fit_on(x, S, support):
    """Least-squares concentrations on a support, and their squared misfit."""
    c = np.linalg.lstsq(S[support].T, x, rcond=None)[0]
    return c, np.sum((x - c @ S[support]) ** 2)


def small_problem(rng, *, kind="abs", channels=(12, 64), snr=(10, 40), signed=False):
    """One sample of unit noise over up to 12 components, at most 4 of them in it."""
    n_slots = int(rng.integers(2, 13))
    n_channels = int(rng.integers(channels[0], channels[1] + 1))
    if kind == "peaks":
        # Spread over the axis: where peaks may coincide, single changes reach the optimum less often.
        centres = (np.arange(n_slots) + rng.uniform(0.2, 0.8, n_slots)) / n_slots
        distance = np.linspace(0, 1, n_channels) - centres[:, None]
        S = np.exp(-0.5 * (distance / rng.uniform(0.03, 0.1, (n_slots, 1))) ** 2)
    else:
        S = rng.standard_normal((n_slots, n_channels))
        S = S if signed else np.abs(S)
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    held = rng.choice(n_slots, rng.integers(1, min(4, n_slots) + 1), replace=False)
    x = rng.uniform(1, 10, len(held)) @ S[held]
    x *= np.sqrt(10 ** (rng.uniform(*snr) / 10) / np.mean(x**2))
    return x + rng.standard_normal(n_channels), S


def criterion(out, price):
    return (out.residual / out.noise) ** 2 + price * out.supports.sum(axis=1)


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(n_components=40, n_samples=120, snr_db=25, n_features=96, random_state=1)


# Against the truth


@pytest.mark.parametrize("snr_db", [20, 30])
def test_known_pool_of_256(snr_db):
    """Supports exact on 99.5 % of samples at the default price; concentrations as sure as they should be."""
    exact, errors = [], []
    for seed in SEEDS:
        mix = make_mixtures(n_components=256, n_samples=1024, snr_db=snr_db, random_state=seed)
        out = decode(mix.D, mix.S, noise=mix.sigma)
        right = (out.supports == mix.supports).all(axis=1)
        exact.append(right.mean())
        G = mix.S @ mix.S.T
        for m in np.flatnonzero(right):
            A = np.flatnonzero(mix.supports[m])
            spread = mix.sigma[m] * np.sqrt(np.diag(np.linalg.inv(G[np.ix_(A, A)])))
            errors.append((out.concentrations[m, A] - mix.C[m, A]) / spread)
    error = np.concatenate(errors)
    print(f"{snr_db} dB: exact {np.mean(exact):.4f}, worst seed {min(exact):.4f}; ", end="")
    print(f"standardised error: mean {error.mean():+.4f}, variance {error.var():.4f}")
    assert min(exact) >= 0.995
    assert abs(error.mean()) < 0.05
    assert abs(error.var() - 1) < 0.05


def test_price_is_the_lower_end_of_the_window():
    assert usage_price(256, 1024, 0.05) == pytest.approx(2 * np.log(6 * 256 * 1024 / 0.05))
    with pytest.raises(InputError, match="alpha must lie between 0 and 1, not 1"):
        usage_price(4, 4, alpha=1)


@pytest.mark.parametrize("noise", ["proportional", "constant", "poisson"])
def test_estimates_the_noise_it_is_not_told(noise):
    mix = make_mixtures(n_components=64, n_samples=256, snr_db=25, noise=noise, random_state=3)
    out = decode(mix.D, mix.S)
    ratio = out.noise / mix.sigma
    assert np.abs(ratio - 1).max() < 0.1
    assert (out.supports == mix.supports).all(axis=1).mean() > 0.98
    named = decode(mix.D, mix.S, noise=noise)
    np.testing.assert_allclose(named.noise, out.noise, rtol=0.02)


def test_estimates_the_noise_of_signed_data():
    mix = make_mixtures(n_components=30, n_samples=120, snr_db=20, signed=True, random_state=0)
    assert np.abs(decode(mix.D, mix.S).noise / mix.sigma - 1).max() < 0.1
    assert np.abs(decode(mix.D, mix.S, signed=True).noise / mix.sigma - 1).max() < 0.1


@pytest.mark.parametrize("noise", [None, 0.0, "constant", Proportional(0.0)])
def test_data_without_noise(noise):
    mix = make_mixtures(n_components=40, n_samples=80, snr_db=None, n_features=96, random_state=2)
    out = decode(mix.D, mix.S, noise=noise)
    np.testing.assert_array_equal(out.supports, mix.supports)
    np.testing.assert_allclose(out.concentrations, mix.C, rtol=1e-6, atol=1e-8)
    assert out.known.all()
    assert (out.noise > 0).all()


def test_known_is_rarely_wrong_and_finds_strangers():
    mix = make_mixtures(n_components=101, n_samples=4000, snr_db=20, random_state=7)
    stranger = mix.supports[:, -1]
    out = decode(mix.D, mix.S[:-1], noise=mix.sigma)
    false_flags = 1 - out.known[~stranger].mean()
    found = 1 - out.known[stranger].mean()
    print(f"known: {false_flags:.4f} of the explained samples flagged, {found:.4f} of the strangers")
    assert false_flags <= 0.01
    assert found >= 0.95


def test_known_with_noise_per_entry_and_missing_entries():
    rng = np.random.default_rng(0)
    mix = make_mixtures(n_components=20, n_samples=2000, snr_db=None, n_features=64, random_state=0)
    sigma = 0.05 * rng.uniform(0.5, 2, mix.D.shape)
    D = mix.clean + sigma * rng.standard_normal(mix.D.shape)
    D[rng.random(D.shape) < 0.2] = np.nan
    for weights in (None, rng.uniform(0.5, 2, 64)):
        out = decode(D, mix.S, noise=sigma, weights=weights)
        assert 0.98 < out.known.mean() <= 1


# Against brute force


@pytest.mark.parametrize(("kind", "target"), [("abs", 0.99), ("peaks", 0.99)])
def test_objective_equals_brute_force(kind, target):
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(1000):
        x, S = small_problem(rng, kind=kind)
        price = usage_price(len(S), 1)
        out = decode(x[None], S, noise=1.0)
        gaps.append(criterion(out, price)[0] - brute_force(x, S, price))
    gaps = np.array(gaps)
    equal = np.mean(gaps < 1e-6)
    print(f"{kind}: equal to brute force in {equal:.3f}, largest gap {max(gaps.max(), 0):.2f} noise units")
    assert gaps.min() > -1e-6, "brute force was beaten: one of the two is wrong"
    assert equal >= target


@pytest.mark.parametrize(
    "options", [{"k_max": 1}, {"k_max": 2}, {"signed": True}, {"signed": True, "k_max": 2}]
)
def test_objective_under_options_equals_brute_force(options):
    rng = np.random.default_rng(1)
    equal = []
    for _ in range(100):
        x, S = small_problem(rng, signed=options.get("signed", False), channels=(24, 64))
        out = decode(x[None], S, noise=1.0, price=12.0, **options)
        assert out.supports.sum() <= options.get("k_max", len(S))
        equal.append(criterion(out, 12.0)[0] - brute_force(x, S, 12.0, **options) < 1e-6)
    assert np.mean(equal) >= 0.98


def test_margin_is_the_best_single_change():
    rng = np.random.default_rng(2)
    for _ in range(150):
        x, S = small_problem(rng, kind=rng.choice(["abs", "peaks"]), snr=(0, 30))
        price = 8.0
        out = decode(x[None], S, noise=1.0, price=price)
        A = set(np.flatnonzero(out.supports[0]))
        others = set(range(len(S))) - A
        changed = (
            [A - {i} for i in A] + [A | {j} for j in others] + [A - {i} | {j} for i in A for j in others]
        )
        rises = []
        for support in map(sorted, changed):
            c, misfit = fit_on(x, S, support)
            if (c > 0).all():
                rises.append(misfit + price * len(support) - criterion(out, price)[0])
        assert out.margin[0] == pytest.approx(min(rises, default=np.inf), rel=1e-6, abs=1e-6)


def test_without_a_price_it_is_nnls():
    rng = np.random.default_rng(3)
    for _ in range(100):
        x, S = small_problem(rng)
        out = decode(x[None], S, noise=1.0, price=0.0)
        c, residual = nnls(S.T, x)
        np.testing.assert_allclose(out.concentrations[0], c, atol=1e-8 * np.abs(c).max())
        assert out.residual[0] == pytest.approx(residual, rel=1e-8)


# What every answer must satisfy


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["abs", "peaks"]),
    price=st.sampled_from([0.0, 1.0, 20.0]),
    gaps=st.sampled_from([0.0, 0.3]),
)
def test_fits_are_optimal_and_positive(seed, kind, price, gaps):
    """KKT on the support, to 1e-8 of the sample, and strictly positive concentrations."""
    rng = np.random.default_rng(seed)
    x, S = small_problem(rng, kind=kind)
    x[rng.random(len(x)) < gaps] = np.nan
    present = ~np.isnan(x)
    if not present.any():
        return
    out = decode(x[None], S, noise=1.0, price=price)
    A, c = out.supports[0], out.concentrations[0]
    residual = x[present] - c @ S[:, present]
    assert (c[A] > 0).all()
    assert np.abs(S[A][:, present] @ residual).max(initial=0) <= 1e-8 * np.linalg.norm(x[present])
    assert out.residual[0] == pytest.approx(
        np.linalg.norm(residual), rel=1e-6, abs=1e-7 * np.linalg.norm(x[present])
    )
    assert out.margin[0] >= 0
    assert np.isfinite(out.concentrations).all()


def test_kkt_at_full_size():
    mix = make_mixtures(n_components=256, n_samples=500, snr_db=20, random_state=0)
    out = decode(mix.D, mix.S, noise=mix.sigma)
    gradient = (mix.D - out.concentrations @ mix.S) @ mix.S.T / np.linalg.norm(mix.D, axis=1)[:, None]
    assert np.abs(gradient[out.supports]).max() < 1e-8
    assert (out.concentrations[out.supports] > 0).all()


def test_residual_norms(mix):
    rng = np.random.default_rng(0)
    D = mix.D.copy()
    D[rng.random(D.shape) < 0.1] = np.nan
    for options in ({}, {"weights": rng.uniform(0.5, 2, D.shape[1])}, {"noise": np.full(D.shape, 0.1)}):
        out = decode(D, mix.S, **({"noise": mix.sigma} | options))
        expected = np.sqrt(np.nansum((D - out.concentrations @ mix.S) ** 2, axis=1))
        np.testing.assert_allclose(out.residual, expected, rtol=1e-6)


# Missing entries, noise per entry, weights, prices


def test_missing_entries_decode_as_if_cut_away(mix):
    rng = np.random.default_rng(0)
    D = mix.D[:40].copy()
    D[rng.random(D.shape) < 0.3] = np.nan
    out = decode(D, mix.S, noise=mix.sigma[:40], price=25.0)
    for m, x in enumerate(D):
        present = ~np.isnan(x)
        cut = decode(x[None, present], mix.S[:, present], noise=mix.sigma[m], price=25.0)
        np.testing.assert_allclose(out.concentrations[m], cut.concentrations[0], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(out.residual[m], cut.residual[0], rtol=1e-7)
        np.testing.assert_allclose(out.margin[m], cut.margin[0], rtol=1e-6)
        assert out.known[m] == cut.known[0]


def test_a_profile_that_lives_in_missing_channels_is_not_held():
    S = np.eye(3, 6)
    D = np.array([[np.nan, 2.0, 0, 0, 0, 0], [1.0, 2.0, 0, 0, 0, 0]])
    out = decode(D, S, noise=0.1)
    np.testing.assert_allclose(out.concentrations, [[0, 2, 0], [1, 2, 0]], atol=1e-12)


def test_noise_per_entry_is_whitening(mix):
    rng = np.random.default_rng(0)
    sigma = rng.uniform(0.05, 0.2, mix.D[:30].shape)
    out = decode(mix.D[:30], mix.S, noise=sigma, price=20.0)
    for m in range(30):
        white = decode(mix.D[m : m + 1] / sigma[m], mix.S / sigma[m], noise=1.0, price=20.0)
        np.testing.assert_allclose(out.concentrations[m], white.concentrations[0], rtol=1e-8, atol=1e-9)
        assert out.margin[m] == pytest.approx(white.margin[0], rel=1e-6)
        assert out.known[m] == white.known[0]
    np.testing.assert_allclose(out.noise, np.sqrt(np.mean(sigma**2, axis=1)))


def test_equal_noise_on_every_entry_is_noise_per_sample(mix):
    one = decode(mix.D, mix.S, noise=mix.sigma)
    each = decode(mix.D, mix.S, noise=np.repeat(mix.sigma[:, None], mix.D.shape[1], axis=1))
    np.testing.assert_allclose(each.concentrations, one.concentrations, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(each.known, one.known)


def test_weights_scale_the_columns(mix):
    weights = np.random.default_rng(0).uniform(0, 2, mix.D.shape[1])
    root = np.sqrt(weights)
    out = decode(mix.D, mix.S, noise=mix.sigma, weights=weights)
    scaled = decode(mix.D * root, mix.S * root, noise=mix.sigma)
    np.testing.assert_allclose(out.concentrations, scaled.concentrations, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(out.margin, scaled.margin, rtol=1e-5, atol=1e-6)
    per_entry = decode(mix.D, mix.S, noise=mix.sigma, weights=np.tile(weights, (len(mix.D), 1)))
    np.testing.assert_array_equal(per_entry.concentrations, out.concentrations)


def test_zero_weight_is_missing(mix):
    weights = np.ones(mix.D.shape[1])
    weights[::3] = 0
    D = mix.D.copy()
    D[:, ::3] = np.nan
    out, cut = decode(mix.D, mix.S, noise=mix.sigma, weights=weights), decode(D, mix.S, noise=mix.sigma)
    np.testing.assert_allclose(out.concentrations, cut.concentrations, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(out.residual, cut.residual, rtol=1e-6)
    np.testing.assert_array_equal(out.known, cut.known)


def test_prices_per_sample(mix):
    prices = np.random.default_rng(0).choice([1.0, 20.0, 500.0], len(mix.D))
    out = decode(mix.D, mix.S, noise=mix.sigma, price=prices)
    for price in np.unique(prices):
        chosen = prices == price
        alone = decode(mix.D[chosen], mix.S, noise=mix.sigma[chosen], price=price)
        np.testing.assert_allclose(out.concentrations[chosen], alone.concentrations, rtol=1e-10, atol=1e-12)


def test_alpha_sets_the_default_price(mix):
    out = decode(mix.D, mix.S, noise=mix.sigma, alpha=1e-6)
    priced = decode(mix.D, mix.S, noise=mix.sigma, price=usage_price(len(mix.S), len(mix.D), 1e-6))
    np.testing.assert_array_equal(out.concentrations, priced.concentrations)


def test_a_higher_price_never_selects_better_fits(mix):
    """Over a sequence of prices the misfit rises and the usage falls, summed over samples."""
    runs = [decode(mix.D, mix.S, noise=mix.sigma, price=price) for price in (1, 5, 25, 125, 625, 1e9)]
    usage = [out.supports.sum() for out in runs]
    misfit = [np.sum((out.residual / out.noise) ** 2) for out in runs]
    assert usage == sorted(usage, reverse=True)
    assert misfit == sorted(misfit)
    assert usage[-1] == 0


def test_signed_concentrations():
    rng = np.random.default_rng(0)
    S = rng.standard_normal((20, 80))
    C = np.where(rng.random((50, 20)) < 0.15, rng.choice([-1, 1], (50, 20)) * rng.uniform(1, 5, (50, 20)), 0)
    D = C @ S + 0.05 * rng.standard_normal((50, 80))
    out = decode(D, S, noise=0.05, signed=True)
    np.testing.assert_array_equal(out.supports, C != 0)
    np.testing.assert_allclose(out.concentrations, C, atol=0.05)
    assert (decode(D, S, noise=0.05).concentrations >= 0).all()


def test_a_noise_law_is_applied_to_each_sample(mix):
    law = Proportional(0.06)
    out = decode(mix.D, mix.S, noise=law)
    np.testing.assert_allclose(out.noise, 0.06 * np.sqrt(np.mean(mix.D**2, axis=1)))
    assert decode(mix.D, mix.S, noise=Poisson(0.01)).noise.shape == (len(mix.D),)


# Changes that must not matter


def assert_same(out, other, rows=slice(None), columns=slice(None), scale=1.0):
    np.testing.assert_array_equal(other.supports, out.supports[rows][:, columns])
    np.testing.assert_allclose(other.concentrations, scale * out.concentrations[rows][:, columns], rtol=1e-8)
    np.testing.assert_allclose(other.margin, out.margin[rows], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(other.known, out.known[rows])


@pytest.mark.parametrize("gaps", [0.0, 0.2])
class TestMetamorphic:
    @pytest.fixture
    def case(self, mix, gaps):
        rng = np.random.default_rng(5)
        D = np.where(rng.random(mix.D.shape) < gaps, np.nan, mix.D)
        return D, mix.S, mix.sigma, decode(D, mix.S, noise=mix.sigma), rng

    def test_order_of_samples(self, case):
        D, S, sigma, out, rng = case
        order = rng.permutation(len(D))
        assert_same(out, decode(D[order], S, noise=sigma[order]), rows=order)

    def test_order_of_slots(self, case):
        D, S, sigma, out, rng = case
        order = rng.permutation(len(S))
        assert_same(out, decode(D, S[order], noise=sigma), columns=order)

    def test_order_of_channels(self, case):
        D, S, sigma, out, rng = case
        order = rng.permutation(D.shape[1])
        assert_same(out, decode(D[:, order], S[:, order], noise=sigma))

    @pytest.mark.parametrize("scale", [1e-9, 1e9])
    def test_unit_of_the_data(self, case, scale):
        D, S, sigma, out, _ = case
        scaled = decode(scale * D, S, noise=scale * sigma)
        assert_same(out, scaled, scale=scale)
        np.testing.assert_allclose(scaled.residual, scale * out.residual, rtol=1e-6)

    def test_scale_of_the_profiles(self, case):
        D, S, sigma, out, rng = case
        scale = 10 ** rng.uniform(-6, 6, len(S))
        assert_same(out, decode(D, S * scale[:, None], noise=sigma), scale=1 / scale)

    def test_samples_decode_alone_as_together(self, case):
        D, S, sigma, out, _ = case
        price = usage_price(len(S), len(D))
        for rows in ([3], [3, 3, 7]):
            assert_same(out, decode(D[rows], S, noise=sigma[rows], price=price), rows=rows)

    def test_idle_slots(self, case):
        """Slots orthogonal to everything change nothing but the default price."""
        D, S, sigma, out, _ = case
        wide = np.hstack([D, np.zeros((len(D), 2))])
        pool = np.vstack([np.hstack([S, np.zeros((len(S), 2))]), np.eye(2, wide.shape[1], S.shape[1])])
        price = usage_price(len(S), len(D))
        other = decode(wide, pool, noise=sigma, price=price)
        np.testing.assert_allclose(other.concentrations[:, :-2], out.concentrations, rtol=1e-8)
        assert not other.supports[:, -2:].any()


def test_twins_in_the_pool_share_nothing(mix):
    """With every profile twice, one of each pair is taken, and the margin says that it could be the other."""
    out = decode(mix.D, mix.S, noise=mix.sigma, price=25.0)
    twice = decode(mix.D, np.vstack([mix.S, mix.S]), noise=mix.sigma, price=25.0)
    halves = np.split(twice.concentrations, 2, axis=1)
    np.testing.assert_allclose(halves[0] + halves[1], out.concentrations, rtol=1e-6)
    assert not ((halves[0] > 0) & (halves[1] > 0)).any()
    assert twice.margin.max() < 1e-6


def test_samples_of_zeros_hold_nothing(mix):
    D = np.vstack([mix.D[:5], np.zeros((2, mix.D.shape[1]))])
    D[-1, 0] = np.nan
    for noise in (None, 0.0, 0.1):
        out = decode(D, mix.S, noise=noise)
        assert not out.supports[-2:].any()
        assert out.known[-2:].all()
        assert out.supports[:5].any(axis=1).all()


def test_the_input_is_left_alone(mix):
    D, S = mix.D.copy(), mix.S.copy()
    D[0, 0] = np.nan
    before = D.copy(), S.copy()
    decode(D, S, noise=mix.sigma, weights=np.ones(D.shape[1]))
    decode(D, S)
    np.testing.assert_array_equal(D, before[0])
    np.testing.assert_array_equal(S, before[1])


@pytest.mark.parametrize("missing", [False, True])
def test_products_that_are_known_change_nothing(missing):
    mix = make_mixtures(12, 40, 25, 60, random_state=100)
    D = mix.D.copy()
    if missing:
        D[::3, 5] = np.nan
    prices = np.full(len(D), usage_price(len(mix.S), 60))
    known = np.nan_to_num(D) @ mix.S.T
    plain = decode_arrays(D, mix.S, Sigma(mix.sigma), prices, Constraints())
    again = decode_arrays(D, mix.S, Sigma(mix.sigma), prices, Constraints(), products=known)
    for one, other in zip(plain, again):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_starting_supports_do_not_change_easy_answers(mix):
    """From any starting support, twins and too many slots included, the same optimum is reached."""
    rng = np.random.default_rng(0)
    prices = np.full(len(mix.D), 25.0)
    C, _, misfit = decode_arrays(mix.D, mix.S, Sigma(mix.sigma), prices, Constraints())
    started, _, _ = decode_arrays(
        mix.D, mix.S, Sigma(mix.sigma), prices, Constraints(), start=rng.random(C.shape) < 0.2
    )
    assert np.mean((C > 0) == (started > 0)) > 0.999
    pool = np.vstack([mix.S, mix.S])
    twins, _, misfit_twins = decode_arrays(
        mix.D, pool, Sigma(mix.sigma), prices, Constraints(), start=np.ones((len(C), len(pool)), dtype=bool)
    )
    assert np.isfinite(twins).all()
    np.testing.assert_allclose(misfit_twins, misfit, rtol=0.2)


def test_decoding_in_parts_does_not_matter(mix, monkeypatch):
    """Complete and incomplete samples mixed, decoded all at once and seven at a time."""
    rng = np.random.default_rng(0)
    D = mix.D.copy()
    D[rng.random(len(D)) < 0.4, 3] = np.nan
    whole = decode(D, mix.S, noise=mix.sigma)
    monkeypatch.setattr("gmcr.decoding.batch.CHUNK", 7)
    assert_same(whole, decode(D, mix.S, noise=mix.sigma))


def test_number_of_threads_does_not_matter(mix):
    with threads(1):
        one = decode(mix.D, mix.S)
    with threads(2):
        two = decode(mix.D, mix.S)
    for name in ("concentrations", "residual", "margin", "known", "noise"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_works_without_compilation(mix):
    script = """
        import json, sys, numpy as np
        from gmcr import decode
        data = json.load(sys.stdin)
        D, S = np.array(data["D"], dtype=float), np.array(data["S"])
        runs = [decode(D, S, noise=data["noise"], signed=signed) for signed in (False, True)]
        print(json.dumps([out.concentrations.tolist() for out in runs]))
    """
    D, S = mix.D[:4].copy(), mix.S[:6]
    D[0, ::5] = np.nan
    data = json.dumps({"D": D.tolist(), "S": S.tolist(), "noise": 0.2})
    found = json.loads(python(script, given=data, NUMBA_DISABLE_JIT="1"))
    for signed, concentrations in zip((False, True), found):
        compiled = decode(D, S, noise=0.2, signed=signed).concentrations
        np.testing.assert_allclose(concentrations, compiled, rtol=1e-9, atol=1e-12)


# Which components a sample may hold


def test_allowed_components_are_those_of_a_smaller_pool():
    mix = make_mixtures(n_components=6, n_samples=30, snr_db=25, n_features=40, random_state=0)
    allowed = np.ones((30, 6), dtype=bool)
    allowed[:10, 2:] = False
    allowed[10:20, :3] = False
    out = decode(mix.D, mix.S, noise=mix.sigma, allowed=allowed, price=20.0)
    assert not out.supports[~allowed].any()
    for rows, slots in (
        (slice(0, 10), slice(0, 2)),
        (slice(10, 20), slice(3, 6)),
        (slice(20, 30), slice(0, 6)),
    ):
        alone = decode(mix.D[rows], mix.S[slots], noise=mix.sigma[rows], price=20.0)
        np.testing.assert_allclose(out.concentrations[rows, slots], alone.concentrations)
        np.testing.assert_allclose(out.misfit[rows], alone.misfit)
        np.testing.assert_array_equal(out.known[rows], alone.known)


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (np.ones((3, 2)), "allowed must be True or False for each of 4 samples and 2 components"),
        (np.full((4, 2), 0.5), "allowed must be True or False"),
        ([[1, 1], [0, 0], [1, 1], [1, 1]], "allowed leaves sample 1 no component"),
    ],
)
def test_wrong_masks(allowed, message):
    with pytest.raises(InputError, match=message):
        decode(np.ones((4, 3)), np.eye(3)[:2] + 0.1, noise=0.1, allowed=allowed)


def test_counts_are_decoded_at_their_own_noise():
    """Whole numbers are counts; what they vary beyond chance is in how they are judged, not in what they hold."""
    rng = np.random.default_rng(0)
    S = rng.dirichlet(np.full(96, 0.3), 8)
    C = np.where(rng.random((120, 8)) < 0.35, rng.lognormal(7, 1, (120, 8)), 0.0)
    C[~C.any(axis=1), 0] = 1000.0
    mean = C @ S
    for dispersion in (1e-9, 0.03):
        D = rng.poisson(rng.gamma(1 / dispersion, mean * dispersion)).astype(float)
        out = decode(D, S)
        held = C >= 50
        assert (out.supports & held).sum() >= 0.95 * held.sum()
        assert out.known.mean() > 0.9
        assert (out.supports & (C == 0)).mean() < 0.1
