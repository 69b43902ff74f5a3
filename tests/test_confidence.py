"""Confidence in supports, its calibration, and standard errors."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from gmcr import GMCR, decode, make_mixtures
from gmcr.confidence.averages import add_shares, average, log_joint_average
from gmcr.confidence.pool_errors import least_squares_covariance, pool_errors
from gmcr.confidence.standard_errors import concentration_errors, interval, profile_errors
from gmcr.confidence.support_law import SupportLaw, log_symmetric
from gmcr.confidence.supports import support_posterior
from gmcr.confidence.uncut import cut_moments, uncut
from gmcr.decoding.prices import usage_price
from gmcr.errors import InputError
from gmcr.scoring import compare
from gmcr.window.pool_confidence import are_training_samples
from interpreter import python
from reliability import calibration, expected_calibration_error

LAW = SupportLaw(np.array([0.5, 2.0, 5.0]), np.array([0.2, 0.7 / 3]), np.array([0.1, 0.5, 0.4]), np.ones(5))


def support_confidence(*problem, **options):
    return support_posterior(*problem, **options).confidence


def density(c, law=LAW):
    place = np.searchsorted(law.edges, c, side="right") - 1
    inside = (place >= 0) & (place < len(law.heights))
    return np.where(inside, law.heights[np.clip(place, 0, len(law.heights) - 1)], 0.0)


def exact_posterior(x, S, sigma, law=LAW):
    """Posterior of every support of up to two slots, by quadrature over the concentrations."""
    grid = np.linspace(law.edges[0], law.edges[-1], 601)
    step = grid[1] - grid[0]
    p = density(grid, law)
    weights = {}
    for n in range(3):
        supports = list(itertools.combinations(range(len(S)), n))
        total = sum(np.prod(law.odds[list(A)]) for A in supports)
        for A in supports:
            b, G = S[list(A)] @ x, S[list(A)] @ S[list(A)].T
            if n == 0:
                value = 1.0
            elif n == 1:
                value = np.sum(p * np.exp((b[0] * grid - 0.5 * G[0, 0] * grid**2) / sigma**2)) * step
            else:
                u, v = grid[:, None], grid
                fit = b[0] * u + b[1] * v - 0.5 * (G[0, 0] * u**2 + G[1, 1] * v**2) - G[0, 1] * u * v
                value = np.sum(p[:, None] * p * np.exp(fit / sigma**2)) * step**2
            weights[A] = law.sizes[n] * np.prod(law.odds[list(A)]) / total * value
    whole = sum(weights.values())
    return {A: weight / whole for A, weight in weights.items()}


def small_problem(seed, n_samples=40):
    rng = np.random.default_rng(seed)
    S = np.abs(rng.standard_normal((5, 12)))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    supports = np.zeros((n_samples, 5), dtype=bool)
    for row in supports:
        row[rng.choice(5, rng.choice(3, p=LAW.sizes), replace=False)] = True
    C = np.where(supports, rng.uniform(0.5, 5.0, supports.shape), 0.0)
    D = C @ S + 0.25 * rng.standard_normal((n_samples, 12))
    return D, S, decode(D, S, noise=0.25, price=usage_price(5, n_samples)).concentrations


class TestPosterior:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_agrees_with_quadrature_over_all_supports(self, seed):
        D, S, C = small_problem(seed)
        found = support_posterior(D, S, C, 0.25, law=LAW, presence=True)
        for m, x in enumerate(D):
            exact = exact_posterior(x, S, 0.25)
            returned = tuple(np.flatnonzero(C[m]))
            assert found.confidence[m] == pytest.approx(exact.get(returned, 0.0), abs=0.03)
            assert found.highest[m] == pytest.approx(max(exact.values()), abs=0.03)
            held = [sum(weight for A, weight in exact.items() if j in A) for j in range(5)]
            np.testing.assert_allclose(found.presence[m], held, atol=0.03)

    def test_odds_of_slots_count(self):
        D, S, C = small_problem(3, n_samples=10)
        law = SupportLaw(LAW.edges, LAW.heights, LAW.sizes, np.array([1.0, 5.0, 0.2, 1.0, 1.0]))
        found = support_posterior(D, S, C, 0.25, law=law).highest
        exact = [max(exact_posterior(x, S, 0.25, law).values()) for x in D]
        np.testing.assert_allclose(found, exact, atol=0.03)

    def test_noise_per_entry_and_gaps_use_the_entries_there_are(self):
        D, S, C = small_problem(4, n_samples=12)
        once = support_confidence(D, S, C, 0.25, law=LAW)
        per_entry = support_confidence(D, S, C, np.full(D.shape, 0.25), law=LAW)
        np.testing.assert_allclose(once, per_entry, atol=1e-9)
        gaps = D.copy()
        gaps[::2, 3] = np.nan
        kept = np.delete(np.arange(12), 3)
        short = support_confidence(
            D[::2, kept], S[:, kept], C[::2], 0.25, law=LAW
        )  # the law is of unit-norm concentrations
        assert np.abs(support_confidence(gaps, S, C, 0.25, law=LAW)[::2] - short).max() < 0.25
        np.testing.assert_allclose(support_confidence(gaps, S, C, 0.25, law=LAW)[1::2], once[1::2], atol=1e-9)

    def test_scale_of_profiles_does_not_matter(self):
        D, S, C = small_problem(5)
        scale = np.array([1.0, 2.0, 0.5, 3.0, 1.0])
        np.testing.assert_allclose(
            support_confidence(D, S * scale[:, None], C / scale, 0.25),
            support_confidence(D, S, C, 0.25),
            atol=1e-9,
        )

    def test_a_missed_weak_component_makes_it_doubtful(self):
        _, S, _ = small_problem(6)
        x = 3.0 * S[0] + 1.2 * S[1]
        only = np.array([[3.9, 0.0, 0.0, 0.0, 0.0]])
        assert support_confidence(x[None], S, only, 0.1, law=LAW)[0] < 0.05

    def test_supports_wrong_in_number_and_q(self):
        D, S, C = small_problem(7)
        found = support_posterior(D, S, C, 0.25, law=LAW)
        assert found.expected_wrong == pytest.approx(np.sum(1 - found.confidence))
        assert found.q == pytest.approx(np.mean(1 - found.highest))
        assert (found.highest >= found.confidence - 1e-12).all()

    def test_signed_concentrations(self):
        rng = np.random.default_rng(0)
        S = rng.standard_normal((5, 12))
        C = np.zeros((30, 5))
        C[np.arange(30), rng.integers(0, 5, 30)] = rng.choice([-3.0, 3.0], 30)
        D = C @ S + 0.1 * rng.standard_normal((30, 12))
        assert support_confidence(D, S, C, 0.1, signed=True).min() > 0.9

    def test_empty_supports(self):
        D, S, _ = small_problem(8)
        found = support_posterior(D, S, np.zeros((len(D), 5)), 0.25, law=LAW)
        empty = [exact_posterior(x, S, 0.25)[()] for x in D]
        np.testing.assert_allclose(found.confidence, empty, atol=0.03)

    def test_without_compilation(self):
        code = """
            import sys
            sys.path.insert(0, sys.argv[1])
            from test_confidence import LAW, small_problem, support_confidence
            D, S, C = small_problem(9, 6)
            print(support_confidence(D, S, C, 0.25, law=LAW).tolist())
        """
        plain = json.loads(python(code, Path(__file__).parent, NUMBA_DISABLE_JIT="1"))
        D, S, C = small_problem(9, 6)
        np.testing.assert_allclose(plain, support_confidence(D, S, C, 0.25, law=LAW), atol=1e-9)

    def test_input_is_checked(self):
        D, S, C = small_problem(0, 4)
        with pytest.raises(InputError, match="C must have shape"):
            support_confidence(D, S, C[:, :3], 0.25)
        with pytest.raises(InputError, match="pool_covariance must have shape"):
            support_confidence(D, S, C, 0.25, pool_covariance=np.eye(3))
        with pytest.raises(InputError, match="pool_covariance is needed"):
            support_confidence(D, S, C, 0.25, learned=[True, False, False, False])


class TestLaw:
    def test_average_and_moments(self):
        for c, s in ((1.0, 0.4), (-1.0, 0.6), (4.9, 1.0)):
            mean = quad(
                lambda t, c=c, s=s: density(t) * norm.pdf(t, c, s), 0.5, 5.0, points=[2.0], limit=200
            )[0]
            assert average(c, s, LAW.edges, LAW.heights) == pytest.approx(mean, rel=1e-6)
        counts = np.zeros(2)
        add_shares(2.0, 1.9, 0.3, LAW.edges, LAW.heights, counts)
        assert counts.sum() == pytest.approx(2.0)

    def test_joint_average_of_competing_concentrations(self):
        mean, cov = np.array([0.6, 0.7, 3.0]), np.full((3, 3), -0.03) + np.diag([0.13, 0.13, 0.13])
        draws = np.random.default_rng(0).multivariate_normal(mean, cov, 400_000)
        brute = np.log(density(draws).prod(axis=1).mean())
        work = np.zeros(3, bool), np.zeros(3), np.zeros(3)
        got = log_joint_average(
            3,
            mean.copy(),
            cov.copy(),
            LAW.edges,
            LAW.heights,
            np.log(LAW.heights.max()),
            False,
            -np.inf,
            work,
        )
        assert got == pytest.approx(brute, abs=0.03)
        apart = sum(np.log(average(m, np.sqrt(0.1), LAW.edges, LAW.heights)) for m in mean)
        assert abs(got - brute) < abs(apart - brute)

    def test_symmetric_polynomials(self):
        odds = np.array([0.5, 2.0, 3.0, 1.0])
        brute = [sum(np.prod(A) for A in itertools.combinations(odds, k)) for k in range(5)]
        np.testing.assert_allclose(np.exp(log_symmetric(np.log(odds), 4)), brute)

    def test_allows_for_what_the_decoder_misses(self):
        mix = make_mixtures(32, 1500, snr_db=8, n_features=256, active=(2, 4), random_state=0)
        out = decode(mix.D, mix.S)
        law = support_posterior(mix.D, mix.S, out.concentrations, out.noise).law
        sizes = np.arange(len(law.sizes))
        returned = out.supports.sum(axis=1).mean()
        assert abs(law.sizes @ sizes - 3.0) < 0.5 * abs(returned - 3.0)
        assert np.sum(law.heights * np.diff(law.edges)) == pytest.approx(1.0)

    def test_rare_components_have_small_odds(self):
        often = np.random.default_rng(0).random((500, 6)) < np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.02])
        mix = make_mixtures(6, 500, snr_db=30, n_features=64, random_state=0, occurrence=often)
        law = support_posterior(mix.D, mix.S, mix.C, mix.sigma).law
        assert law.odds[5] < 0.2 * law.odds[:5].min()


class TestCut:
    def test_moments(self):
        draws = np.random.default_rng(0).standard_normal(400_000)
        for height in (-0.5, 0.0, 1.5):
            cut = np.maximum(height + draws, 0)
            excess, variance = cut_moments(np.array(height))
            assert excess == pytest.approx(cut.mean() - height, abs=0.005)
            assert variance == pytest.approx(cut.var(), abs=0.005)

    def test_only_samples_that_are_cut_change(self):
        mix = make_mixtures(4, 6, snr_db=5, n_features=256, active=(1, 2), random_state=0)
        D = np.vstack([mix.D, mix.D + np.linspace(0, 1e-3, 256)])
        sigma = np.tile(mix.sigma, 2)
        changed = (uncut(D, mix.S, np.vstack([mix.C] * 2), sigma)[0] != D).any(axis=1)
        assert changed[:6].all()
        assert not changed[6:].any()


class TestCalibration:
    def test_table(self):
        table = calibration([0.05, 0.95, 0.95, 1.0], [False, True, True, False])
        assert table["bin"].tolist() == [0, 9]
        assert table["n"].tolist() == [1, 3]
        assert table["observed"].tolist() == pytest.approx([0.0, 2 / 3])
        assert ((table["low"] <= table["observed"]) & (table["observed"] <= table["high"])).all()
        error = expected_calibration_error([0.05, 0.95, 0.95, 1.0], [False, True, True, False])
        assert error == pytest.approx((0.05 + 3 * (2.9 / 3 - 2 / 3)) / 4)

    def test_holds_over_a_known_pool(self):
        stated, right = [], []
        for snr in (8, 10, 12, 15, 20, 30):
            mix = make_mixtures(32, 700, snr_db=snr, random_state=200 + snr)
            out = decode(mix.D, mix.S)
            stated.append(out.confidence)
            right.append((out.supports == mix.supports).all(axis=1))
        stated, right = np.concatenate(stated), np.concatenate(right)
        assert expected_calibration_error(stated, right) <= 0.02
        table = calibration(stated, right)
        near = (table["stated"] - table["observed"]).abs() <= 0.05
        assert (near | ((table["low"] <= table["stated"]) & (table["stated"] <= table["high"]))).all()

    def test_holds_over_learned_pools(self):
        stated, right = [], []
        for snr in (10, 15, 25):
            mix = make_mixtures(16, 128, snr_db=snr, random_state=300 + snr)
            model = GMCR(random_state=0).fit(mix.D)
            slots = compare(model, mix).assignment
            fresh = make_mixtures(16, 600, snr_db=snr, random_state=400 + snr, profiles=mix.S)
            for one in (mix, fresh):
                out = model.decode(one.D)
                stated.append(out.confidence)
                right.append((out.supports[:, slots] == one.supports).all(axis=1))
        stated, right = np.concatenate(stated), np.concatenate(right)
        assert expected_calibration_error(stated, right) <= 0.03


@pytest.fixture(scope="module")
def learned():
    """Samples, and a model of them."""
    mix = make_mixtures(8, 64, snr_db=12, n_features=128, random_state=0)
    return mix, GMCR(random_state=0).fit(mix.D)


class TestLearnedPool:
    def test_own_share_is_that_of_a_refit_without_the_sample(self):
        rng = np.random.default_rng(0)
        C = np.where(rng.random((40, 5)) < 0.5, rng.uniform(1, 5, (40, 5)), 0.0)
        D = C @ np.abs(rng.standard_normal((5, 12))) + 0.1 * rng.standard_normal((40, 12))
        sigma = np.full(40, 0.1)
        V = least_squares_covariance(C, sigma)
        S = V @ C.T @ D / 0.01
        pool = pool_errors(S, V, signed=True)
        own, own_r, along = pool.own_shares(D, S, C, np.zeros((0, 0)), sigma**2)
        for m in (0, 7):
            others = np.arange(40) != m
            refit = np.linalg.lstsq(C[others], D[others], rcond=None)[0]
            np.testing.assert_allclose(S - np.outer(own[m], D[m] - C[m] @ S), refit, atol=1e-9)
            np.testing.assert_allclose(S @ D[m] - own[m] * along[m], refit @ D[m], atol=1e-8)
            np.testing.assert_allclose(own_r[m], S @ (D[m] - C[m] @ S), atol=1e-9)

    def test_decoding_says_it_row_by_row(self, learned):
        mix, model = learned
        fresh = make_mixtures(8, 50, snr_db=12, n_features=128, random_state=1, profiles=mix.S)
        all_at_once = model.decode(fresh.D).confidence
        assert ((all_at_once >= 0) & (all_at_once <= 1)).all()
        np.testing.assert_allclose(model.decode(fresh.D[7:9]).confidence, all_at_once[7:9], atol=1e-6)

    def test_training_samples_are_recognised(self, learned):
        mix, model = learned
        fresh = make_mixtures(8, 64, snr_db=12, n_features=128, random_state=1, profiles=mix.S)
        seen = are_training_samples(
            model.decode(np.vstack([fresh.D, mix.D[::2]])).concentrations, model.concentrations_
        )
        assert not seen[:64].any()
        assert seen[64:].all()

    def test_a_decoding_can_be_pickled_before_and_after(self):
        mix = make_mixtures(6, 20, snr_db=20, n_features=64, random_state=0)
        out = decode(mix.D, mix.S)
        again = pickle.loads(pickle.dumps(out))
        np.testing.assert_array_equal(again.confidence, out.confidence)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(out)).confidence, out.confidence)

    def test_a_saved_model_says_the_same(self, learned, tmp_path):
        mix, model = learned
        model.save(tmp_path / "run.gmcr")
        loaded = GMCR.load(tmp_path / "run.gmcr")
        np.testing.assert_array_equal(loaded.decode(mix.D).confidence, model.decode(mix.D).confidence)

    def test_counting_noise_and_gaps(self):
        mix = make_mixtures(8, 96, n_features=128, noise="poisson", counts=300, random_state=0)
        D = mix.D.copy()
        D[::5, 10:20] = np.nan
        model = GMCR(noise="poisson", random_state=0).fit(D)
        assert model.decode(D).confidence.mean() > 0.9


class TestPresence:
    def test_of_a_slot_that_noise_filled(self):
        mix = make_mixtures(8, 200, snr_db=20, n_features=128, random_state=0)
        spare = np.abs(np.random.default_rng(0).standard_normal(128))
        S = np.vstack([mix.S, spare / np.linalg.norm(spare)])
        out = decode(mix.D, S)
        found = support_posterior(mix.D, S, out.concentrations, out.noise, presence=True)
        present = 1 - np.prod(1 - found.presence, axis=0)  # in any sample at all
        assert (present[:8] > 0.999).all()
        assert present[8] < 0.5


class TestStandardErrors:
    def test_are_those_of_least_squares(self):
        mix = make_mixtures(6, 30, snr_db=20, n_features=64, random_state=0)
        errors = concentration_errors(mix.S, mix.C, mix.sigma)
        for m, support in enumerate(mix.supports):
            G = mix.S[support] @ mix.S[support].T
            np.testing.assert_allclose(
                errors[m, support], mix.sigma[m] * np.sqrt(np.diag(np.linalg.inv(G))), rtol=1e-6
            )
        assert (errors[~mix.supports] == 0).all()

    def test_per_entry_and_missing(self):
        mix = make_mixtures(6, 30, snr_db=20, n_features=64, random_state=0)
        sigma = np.tile(mix.sigma[:, None], 64)
        np.testing.assert_allclose(
            concentration_errors(mix.S, mix.C, sigma),
            concentration_errors(mix.S, mix.C, mix.sigma),
            rtol=1e-6,
        )
        sigma[0, :32] = np.nan
        G = mix.S[mix.supports[0]][:, 32:] @ mix.S[mix.supports[0]][:, 32:].T
        np.testing.assert_allclose(
            concentration_errors(mix.S, mix.C, sigma)[0, mix.supports[0]],
            mix.sigma[0] * np.sqrt(np.diag(np.linalg.inv(G))),
            rtol=1e-6,
        )

    def test_profiles(self):
        mix = make_mixtures(6, 60, snr_db=20, n_features=32, random_state=0)
        errors = profile_errors(mix.C, mix.sigma)
        V = np.linalg.inv((mix.C / mix.sigma[:, None] ** 2).T @ mix.C)
        np.testing.assert_allclose(errors, np.sqrt(np.diag(V)))
        per_entry = profile_errors(mix.C, np.tile(mix.sigma[:, None], 32))
        np.testing.assert_allclose(per_entry, np.tile(errors[:, None], 32))
        unused = np.column_stack([mix.C, np.zeros(60)])
        assert profile_errors(unused, mix.sigma)[6] == np.inf
        assert profile_errors(mix.C, mix.sigma, n_fixed=2)[:2].tolist() == [0, 0]

    def test_dependent_profiles_have_no_finite_error(self):
        S = np.vstack([np.eye(1, 4), np.eye(1, 4)])
        assert np.isinf(concentration_errors(S, np.ones((1, 2)), 0.1)).all()

    def test_intervals_cover(self):
        mix = make_mixtures(32, 1500, snr_db=15, n_features=256, random_state=500)
        out = decode(mix.D, mix.S)
        low, high = interval(out.concentrations, concentration_errors(mix.S, out.concentrations, out.noise))
        right = (out.supports == mix.supports).all(axis=1)
        assert 0.93 <= ((low <= mix.C) & (high >= mix.C))[mix.supports & right[:, None]].mean() <= 0.97

    def test_intervals_cover_over_a_learned_pool(self):
        mix = make_mixtures(16, 128, snr_db=15, random_state=501)
        model = GMCR(random_state=0).fit(mix.D)
        slots = compare(model, mix).assignment
        errors = concentration_errors(model.components_, model.concentrations_, model.noise_, learned=True)
        low, high = (end[:, slots] for end in interval(model.concentrations_, errors))
        right = (model.supports_[:, slots] == mix.supports).all(axis=1)
        assert 0.90 <= ((low <= mix.C) & (high >= mix.C))[mix.supports & right[:, None]].mean() <= 0.98

    def test_interval_of_a_value_held_at_zero_is_one_sided(self):
        low, high = interval([0.0, 1.0, 5.0], [1.0, 1.0, 1.0])
        np.testing.assert_allclose(low, [0.0, 0.0, 5.0 - norm.ppf(0.975)])
        np.testing.assert_allclose(high, [norm.ppf(0.95), 1.0 + norm.ppf(0.975), 5.0 + norm.ppf(0.975)])
        assert interval([-1.0], [1.0], signed=True)[0][0] < -1

    def test_input_is_checked(self):
        with pytest.raises(InputError, match="level must lie"):
            interval([1.0], [1.0], 1.5)
        with pytest.raises(InputError, match="they must be as many"):
            concentration_errors(np.eye(3), np.ones((2, 2)), 0.1)
        with pytest.raises(InputError, match="noise must be positive"):
            concentration_errors(np.eye(3), np.ones((2, 3)), [0.1, 0.1, 0.1])
