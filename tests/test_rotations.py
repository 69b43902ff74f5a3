"""The middle of all pools that fit equally well, and when it is taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.window.dense_fit import filled, near_pools, starting_pools
from gmcr.window.first_guess import unit_rows
from gmcr.window.regime import _hedged
from gmcr.window.rotations import PRIOR_SAMPLES, TOLERANCE, middle_pool


def unit(S):
    return S / np.linalg.norm(S, axis=1, keepdims=True)


def cosines(found, known):
    return (unit(known) @ unit(found).T).max(axis=1)


def middle(D, k):
    return middle_pool(D, np.ones(len(D)), starting_pools(np.maximum(D, 0.0), k))


def table(seed=0, k=3, **settings):
    return make_measured(k, 60, 50, random_state=seed, profiles="bands", disturbed=False, **settings)


def test_pure_samples_and_channels_leave_nothing_to_choose():
    rng = np.random.default_rng(0)
    S = np.hstack([np.eye(3), rng.uniform(0.1, 1, (3, 30))])
    C = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), 40)])
    assert cosines(middle(C @ S, 3), S).min() > 0.99999


def test_two_components_against_an_integral_on_a_grid():
    """s1 + a s2 and s2 + b s1 over a grid of all a and b, weighted by the same density, give the same mean."""
    rng = np.random.default_rng(3)
    x = np.linspace(0, 1, 40)
    S = unit(np.exp(-0.5 * ((x - np.array([[0.4], [0.6]])) / 0.12) ** 2) + 0.02)
    C = rng.uniform(0.2, 1.0, (30, 2))
    D = C @ S + 1e-4 * rng.standard_normal((30, 40))
    U, values, Vt = np.linalg.svd(D, full_matrices=False)
    variance = TOLERANCE * (values[2] / (np.sqrt(30) + np.sqrt(40))) ** 2
    span = Vt[:2].T @ Vt[:2]
    base, logs, pools = unit(S @ span), [], []
    for a in np.linspace(-0.95, 1.5, 250):
        for b in np.linspace(-0.95, 1.5, 250):
            if abs(1 - a * b) < 1e-3:
                continue
            T = np.array([[1, a], [b, 1]])
            pool = unit(T @ base)
            amounts = (U[:, :2] * values[:2]) @ Vt[:2] @ np.linalg.pinv(pool)
            noise = np.sqrt(variance * np.diag(np.linalg.inv(pool @ pool.T)))
            spread = variance * np.diag(np.linalg.inv(amounts.T @ amounts))
            low = np.minimum(amounts / noise, 0.0) ** 2
            below = (np.minimum(pool, 0.0) ** 2).sum(axis=1) / spread
            prior = PRIOR_SAMPLES / 30 * np.log(np.maximum(amounts, 0.0) + noise).sum()
            # The scale of a profile is free, so a pool has one amount per component too many: they are compared
            # at unit norm. The volume of a cell of the grid is that of the two shears, up to their product.
            logs.append(-0.5 * low.sum() - 0.5 * below.sum() - prior - 2 * np.log(abs(1 - a * b)))
            pools.append(pool)
    weights = np.exp(np.array(logs) - np.max(logs))
    mean = unit(np.einsum("n,nij->ij", weights, np.array(pools)))
    found = cosines(middle(D, 2), mean).min()
    assert found > 0.999
    assert cosines(starting_pools(D, 2)[0], mean).min() < found - 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_nearer_to_the_truth_than_where_it_starts(seed):
    made = table(seed, purity=0.7, concentrations="dirichlet")
    starts = starting_pools(np.maximum(made.D, 0.0), 3)
    found = cosines(middle_pool(made.D, np.ones(60), starts), made.S).mean()
    assert found > np.mean([cosines(S, made.S).mean() for S in starts])


def test_the_order_of_samples_and_their_scale_do_not_matter():
    made = table(1)
    found = middle(made.D, 3)
    np.testing.assert_allclose(middle(8.0 * made.D, 3), found, atol=1e-9)
    shuffled = np.random.default_rng(0).permutation(60)
    assert cosines(middle(made.D[shuffled], 3), found).min() > 1 - 1e-3
    assert cosines(middle(3.1 * made.D, 3), found).min() > 1 - 1e-3
    relabelled = np.random.default_rng(1).permutation(50)
    assert cosines(middle(made.D[:, relabelled], 3), found[:, relabelled]).min() > 1 - 1e-3


def test_a_sample_that_counts_twice_is_two_samples():
    made = table(2)
    repeats = np.ones(60)
    repeats[:20] = 2.0
    starts = starting_pools(np.maximum(made.D, 0.0), 3)
    twice = middle_pool(made.D, repeats, starts)
    copied = np.vstack([made.D, made.D[:20]])
    assert cosines(twice, middle_pool(copied, np.ones(80), starts)).min() > 1 - 1e-3


def test_known_profiles_stay():
    made = table(3)
    starts = [np.vstack([made.S[:1], S[1:]]) for S in starting_pools(np.maximum(made.D, 0.0), 3)]
    found = middle_pool(made.D, np.ones(60), starts, n_fixed=1)
    np.testing.assert_array_equal(found[0], starts[0][0])
    assert cosines(found, made.S).min() > 0.9


def test_more_slots_than_the_data_span_give_the_start():
    D = np.outer(np.arange(1.0, 9.0), np.ones(6))
    starts = [np.abs(np.random.default_rng(0).standard_normal((3, 6)))]
    assert middle_pool(D, np.ones(8), starts) is starts[0]


def test_where_the_data_do_not_settle_the_space_the_starts_are_averaged():
    rng = np.random.default_rng(0)
    D = rng.random((20, 2)) @ rng.random((2, 12)) + 0.05 * rng.random((20, 12))  # two, and noise
    first = unit_rows(rng.random((3, 12)))
    other = unit_rows(first + 0.1 * rng.random((3, 12)))
    S = middle_pool(D, np.ones(20), [first, other[[2, 0, 1]]])
    np.testing.assert_allclose(S, unit_rows(first + other))
    np.testing.assert_array_equal(middle_pool(D, np.ones(20), [first, other], n_fixed=1)[0], first[0])


@given(st.integers(0, 2**31), st.integers(2, 4))
@settings(max_examples=15)
def test_a_pool_is_unit_and_not_negative(seed, k):
    made = make_measured(k, 20, 25, random_state=seed)
    S = middle(made.D, k)
    assert (S >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1.0)


def test_gaps_are_filled_as_the_rest_has_it():
    made = table(4, law=None)
    gaps = np.random.default_rng(0).random(made.D.shape) < 0.1
    full = filled(np.where(gaps, np.nan, made.D), 3)
    np.testing.assert_array_equal(full[~gaps], made.D[~gaps])
    assert np.abs(full - made.D)[gaps].max() < 0.1 * made.D.max()


# When it is taken


def test_told_and_found_are_the_same():
    made = table(5, concentrations="lognormal")
    blind = GMCR(random_state=0).fit(made.D)
    told = GMCR(n_components=blind.n_components_, random_state=0).fit(made.D)
    np.testing.assert_allclose(told.components_, blind.components_, atol=1e-6)
    np.testing.assert_allclose(told.concentrations_, blind.concentrations_, atol=1e-6)


def test_few_of_many_keep_their_supports():
    mix = make_mixtures(8, 60, snr_db=30, n_features=80, random_state=0)
    model = GMCR(n_components=8).fit(mix.D)
    order = (model.components_ @ mix.S.T).argmax(axis=0)
    np.testing.assert_array_equal(model.supports_[:, order], mix.supports)


def test_noise_that_goes_with_the_signal_does_not_bend_profiles():
    """A relative term is misfit more often than noise: profiles are fitted without weights from residuals."""
    made = table(6, purity="pure")
    model = GMCR(n_components=3).fit(made.D)
    assert cosines(model.components_, made.S).min() > 0.98
    told = GMCR(n_components=3, noise="poisson").fit(np.maximum(made.D, 0.0))
    assert cosines(told.components_, model.components_).min() > 0.995


def test_many_slots_that_hardly_differ_leave_no_empty_profile():
    """Chains of many slots need not agree, and their mean may point nowhere."""
    made = make_measured(20, 60, 40, 0, concentrations="lognormal", disturbed=False)
    pools = starting_pools(made.D, 20)
    assert all((np.linalg.norm(S, axis=1) > 0.99).all() for S in pools)
    assert (np.linalg.norm(middle_pool(made.D, np.ones(60), pools), axis=1) > 0.99).all()


def test_a_hedge_is_nothing_where_pools_agree_and_half_where_they_share_nothing():
    S = np.eye(4)[:3]
    np.testing.assert_allclose(_hedged(S, S[[2, 0, 1]]), S, atol=1e-12)  # in another order of slots
    np.testing.assert_allclose(
        _hedged(S, np.array([S[0], S[1], np.eye(4)[3]]))[2], np.eye(4)[2:].sum(axis=0) / np.sqrt(2)
    )
    near = unit(S + 0.01 * np.eye(4)[3])
    assert (1 - (_hedged(S, near) * S).sum(axis=1)).max() < 1e-9
    foreign = np.vstack([S[:1], np.eye(4)[3], S[1]])
    np.testing.assert_array_equal(_hedged(S, foreign, n_fixed=1)[0], S[0])  # which is known


def test_near_pools_keep_pure_samples():
    rng = np.random.default_rng(0)
    S = unit(rng.uniform(0.1, 1, (3, 40)))
    C = np.vstack([2 * np.eye(3), rng.dirichlet(np.ones(3), 40)])
    for pool in near_pools(C @ S, 3)[:2]:
        assert cosines(pool, S).min() > 1 - 1e-12
    assert min(cosines(pool, S).min() for pool in starting_pools(C @ S, 3)) < 1 - 1e-4  # which move on
