"""Noise laws: what they say, and whether residuals give them back."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.errors import InputError
from gmcr.noise import (
    LAWS,
    Constant,
    Counts,
    Instrument,
    Poisson,
    Proportional,
    Sigma,
    count_present,
    degrees_of_freedom,
    estimate_noise,
    law_of,
    law_of_replicates,
    leverage,
    root_mean_square,
    whitenings,
)
from gmcr.noise.instrument import _least_squares

KINDS = ("constant", "proportional", "poisson")

LEVELS = {"constant": 0.05, "proportional": 0.08, "poisson": 0.01}


def draw(kind, seed=0, n_samples=400, level=None):
    """Samples with noise under one law, what they are without it, and their concentrations."""
    rng = np.random.default_rng(seed)
    mix = make_mixtures(n_components=12, n_samples=n_samples, snr_db=None, n_features=150, random_state=seed)
    law = LAWS[kind](LEVELS[kind] if level is None else level)
    return law.draw(mix.clean, rng), mix.clean, mix.C, mix.S, law


def fit_known_pool(D, C, S):
    """Least-squares fits of samples on their true supports."""
    fit = np.zeros_like(D)
    for m, support in enumerate(C > 0):
        present = ~np.isnan(D[m])
        c = np.linalg.lstsq(S[support][:, present].T, D[m, present], rcond=None)[0]
        fit[m] = c @ S[support]
    return fit


# What a law says


def test_sigma_of_each_law():
    D = np.array([[3.0, 4.0], [1.0, np.nan]])
    size = [np.sqrt(12.5), 1.0]
    np.testing.assert_allclose(Constant(0.5).sigma(D).values, [0.5, 0.5])
    np.testing.assert_allclose(Proportional(0.1).sigma(D).values, 0.1 * np.array(size))
    fit = np.array([[2.0, 0.0], [1.0, -3.0]])
    expected = np.sqrt(0.01 * np.maximum(fit, 0.01))  # no channel expects less than one count
    np.testing.assert_allclose(Poisson(0.01).sigma(D, fit).values, expected)
    np.testing.assert_allclose(Poisson(0.01).sigma(D).values[0], np.sqrt(0.01 * D[0]))


def test_per_sample_is_the_root_mean_square_over_present_channels():
    D = np.array([[3.0, 4.0], [1.0, np.nan]])
    law = Poisson(0.01)
    np.testing.assert_allclose(law.sigma(D).per_sample(D), np.sqrt([0.01 * 3.5, 0.01]))
    np.testing.assert_allclose(Constant(2.0).sigma(D).per_sample(D), [2.0, 2.0])
    assert [LAWS[kind].per_entry for kind in KINDS] == [False, False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_sigma_is_never_zero(kind):
    D = np.array([[0.0, 0.0], [1.0, 2.0], [1e-200, 0.0]])
    sigma = LAWS[kind](0.0).sigma(D).values
    assert (sigma > 0).all()
    assert (sigma**2 > 0).all()
    assert sigma[1].max() < 1e-5


@pytest.mark.parametrize(("kind", "level"), [("gaussian", 1.0), ("constant", -1.0), ("constant", np.nan)])
def test_a_law_that_cannot_be(kind, level):
    with pytest.raises(InputError, match=r"is not known here|finite and not negative|a number, not nan"):
        law_of({"kind": kind, "level": level})


@pytest.mark.parametrize("kind", KINDS)
def test_a_law_comes_back_from_what_is_stored(kind):
    law = LAWS[kind](2.0)
    assert law.as_dict() == {"kind": kind, "level": 2.0}
    assert law_of(law.as_dict()) == law
    assert kind in law.sentence()
    with pytest.raises(InputError, match="not made of these fields: level, gain"):
        law_of({"kind": kind, "level": 2.0, "gain": 1.0})


@pytest.mark.parametrize("kind", KINDS)
def test_scaled_multiplies_standard_deviations(kind):
    D = np.random.default_rng(0).uniform(100, 200, (5, 20))
    law = LAWS[kind](0.5)
    np.testing.assert_allclose(law.scaled(3.0).sigma(D).values, 3.0 * law.sigma(D).values)


@pytest.mark.parametrize("kind", KINDS)
def test_a_whitened_table_has_white_noise_of_the_law(kind):
    """Noise about a common mean: its standard deviation in the scaled table gives the level back."""
    mean = np.outer(np.linspace(1, 4, 300), np.linspace(2, 6, 80))
    law = LAWS[kind](LEVELS[kind])
    D = law.draw(mean, np.random.default_rng(0))
    values = np.linalg.svd(whitenings(D)[type(law)], compute_uv=False)
    sigma = np.sqrt(np.square(values[1:]).sum() / ((300 - 1) * (80 - 1)))
    np.testing.assert_allclose(law.of_white(sigma).level, law.level, rtol=0.05)


# Standard deviations as one type


def test_sigma_per_sample_and_per_entry_answer_alike():
    D = np.array([[3.0, 4.0, 1.0], [1.0, np.nan, 2.0]])
    one, each = Sigma(np.array([0.5, 2.0])), Sigma(np.array([[0.5] * 3, [2.0] * 3]))
    assert (one.per_entry, each.per_entry) == (False, True)
    assert one.typical == each.typical
    np.testing.assert_allclose(D / one.entries, D / each.entries)
    np.testing.assert_allclose(one.per_sample(D), each.per_sample(D))
    np.testing.assert_allclose(one.where_present(D).values, each.where_present(D).values)
    np.testing.assert_allclose(one.entry_weights(D), each.entry_weights(D))
    np.testing.assert_allclose((one[1:] * 2.0 / 4.0).values, [1.0])
    assert len(one) == len(each) == 2
    assert one.entry_weights().size == 0  # one weight per sample does
    assert one.sigma(D) is one


def test_sigma_given_is_checked():
    D = np.array([[3.0, 4.0], [1.0, np.nan]])
    np.testing.assert_allclose(Sigma.given(0.5, D).values, [0.5, 0.5])
    assert Sigma.given(np.ones((2, 2)), D).per_entry
    assert Sigma.given(0.0, D).values.min() > 0  # never below rounding
    for wrong in (np.ones(3), np.ones((2, 3)), np.zeros((2, 2)), -1.0):
        with pytest.raises(InputError, match="noise"):
            Sigma.given(wrong, D)


@pytest.mark.parametrize("said", [np.nan, np.inf, 1e300, 0.0, -1.0])
def test_noise_that_is_said_of_missing_entries_does_not_matter(said):
    """Infinite noise is a usual word for an entry that is not there; it ended in an error of LAPACK's."""
    rng = np.random.default_rng(0)
    sigma = 0.01 * np.exp(rng.normal(0, 0.5, (16, 24)))
    made = make_measured(3, 16, 24, 1, disturbed=False)
    D = made.C @ made.S / made.D.max() + sigma * rng.standard_normal(sigma.shape)
    missing = rng.random(D.shape) < 0.1
    D[missing] = np.nan
    other = np.where(missing, said, sigma)
    np.testing.assert_array_equal(Sigma.given(other, D).values, Sigma.given(sigma, D).values)
    models = [GMCR(n_components=3, signed=False).fit(D, noise=noise) for noise in (sigma, other)]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)


def test_counts_that_vary_by_sample_keep_the_factors_of_channels():
    """A law that had learned both was used without its factors."""
    rng = np.random.default_rng(0)
    factors = np.array([0.5] * 30 + [np.sqrt(1.75)] * 30)
    mean = rng.uniform(500, 5000, (40, 60))
    slopes = np.where(np.arange(40) < 10, 0.4, 0.05)[:, None]
    sigma = np.sqrt(mean + np.square(slopes * mean)) * factors
    D = mean + sigma * rng.standard_normal(mean.shape)
    law = Counts(slope=float(np.sqrt(np.mean(slopes**2))), channels=tuple(factors), spread=1.6)
    found = law.sigma(D, mean).values / sigma
    np.testing.assert_allclose(np.median(found[:, :30]), np.median(found[:, 30:]), rtol=0.01)
    np.testing.assert_allclose(np.median(found), 1.0, rtol=0.1)
    with pytest.raises(InputError, match="factors of 60 channels, but samples have 50"):
        law.sigma(D[:, :50], mean[:, :50])


# Replicates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_replicates_tell_the_law(kind, gaps):
    random = np.random.default_rng(3)
    mix = make_mixtures(n_components=12, n_samples=60, snr_db=None, n_features=150, random_state=3)
    mean = np.repeat(mix.clean, 3, axis=0)
    D = LAWS[kind](LEVELS[kind]).draw(mean, random)
    D[random.random(D.shape) < gaps] = np.nan
    labels = np.repeat(np.arange(60), 3)
    order = random.permutation(180)
    law = law_of_replicates(D[order], labels[order])
    assert law.kind == kind
    np.testing.assert_allclose(law.level, LEVELS[kind], rtol=0.1)
    assert law_of_replicates(D, labels, "constant").kind == "constant"
    others = np.vstack([100.0 * D[:2] + 1.0, D])  # measured once each, so that they tell nothing
    for alone in (None, np.nan):
        assert law_of_replicates(others, [alone, alone, *labels.tolist()]) == law_of_replicates(D, labels)


@pytest.mark.parametrize("level", ["a", None, [1, 2], 1j])
def test_a_level_is_a_number(level):
    with pytest.raises(InputError, match="the noise level must be a number, not"):
        LAWS["constant"](level)


def test_replicates_that_cannot_be():
    D = np.ones((4, 3))
    for labels in ([1, 2, 3, 4], [None] * 4, [np.nan] * 4, [None, np.nan, "a", "None"]):
        with pytest.raises(InputError, match="no sample twice"):
            law_of_replicates(D, labels)
    with pytest.raises(InputError, match="4 labels"):
        law_of_replicates(D, [1, 1])


def test_root_mean_square_and_present_entries():
    D = np.array([[1.0, 2.0, 2.0], [np.nan, 3.0, 4.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(root_mean_square(D), [np.sqrt(3), np.sqrt(12.5), 0])
    np.testing.assert_array_equal(count_present(D), [3, 2, 3])


# Levels and laws from residuals


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_level_from_residuals_of_a_known_pool(kind, gaps):
    D, _, C, S, law = draw(kind)
    D[np.random.default_rng(1).random(D.shape) < gaps] = np.nan
    found = estimate_noise(D, fit_known_pool(D, C, S), degrees_of_freedom(D, C), kind)
    print(f"{kind}, {gaps:.0%} missing: level {found.level / law.level:.4f} of the true one")
    assert found.level == pytest.approx(law.level, rel=0.02 if kind != "poisson" else 0.04)


def test_degrees_of_freedom_matter_with_few_channels():
    """Four of eight degrees of freedom are spent; without the correction the level would be 30 % low."""
    rng = np.random.default_rng(0)
    S = rng.standard_normal((4, 8))
    C = rng.uniform(1, 5, (3000, 4))
    D = C @ S + 0.1 * rng.standard_normal((3000, 8))
    fit = fit_known_pool(D, C, S)
    assert estimate_noise(D, fit, degrees_of_freedom(D, C), "constant").level == pytest.approx(0.1, rel=0.02)


def test_level_when_the_pool_was_learned_from_the_samples():
    """Residuals of an unconstrained fit of both factors: the leverage correction gives the level back."""
    rng = np.random.default_rng(0)
    C, S = rng.standard_normal((60, 10)), rng.standard_normal((10, 80))
    D = C @ S + 0.1 * rng.standard_normal((60, 80))
    U, values, Vt = np.linalg.svd(D, full_matrices=False)
    learned, pool = U[:, :10] * values[:10], Vt[:10]
    dof = degrees_of_freedom(D, learned, pool)
    assert estimate_noise(D, learned @ pool, dof, "constant").level == pytest.approx(0.1, rel=0.03)
    ignored = estimate_noise(D, learned @ pool, degrees_of_freedom(D, learned), "constant").level
    assert ignored < 0.095


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_auto_picks_the_right_law(kind, seed):
    D, _, C, S, law = draw(kind, seed)
    found = estimate_noise(D, fit_known_pool(D, C, S), degrees_of_freedom(D, C))
    assert found.kind == kind
    assert found.level == pytest.approx(law.level, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fifth_of_unexplained_samples_changes_little(kind):
    D, _, C, S, law = draw(kind)
    rng = np.random.default_rng(2)
    lost = rng.random(len(D)) < 0.2
    stranger = np.abs(rng.standard_normal(D.shape[1])) / np.sqrt(D.shape[1])
    D[lost] += rng.uniform(1, 10, (lost.sum(), 1)) * stranger
    fit = fit_known_pool(D, C, S)
    dof = degrees_of_freedom(D, C)
    assert estimate_noise(D, fit, dof, kind).level == pytest.approx(law.level, rel=0.05)
    assert estimate_noise(D, fit, dof).kind == kind


@pytest.mark.parametrize("kind", [*KINDS, "auto"])
def test_no_residual_is_no_noise(kind):
    _, clean, C, _, _ = draw("constant")
    assert estimate_noise(clean, clean, degrees_of_freedom(clean, C), kind).level == 0
    zeros = np.zeros((3, 4))
    assert estimate_noise(zeros, zeros, np.full(3, 4.0), kind).level == 0


def test_counting_noise_is_not_considered_where_fits_are_negative():
    D, clean, C, _, _ = draw("poisson")
    found = estimate_noise(D - 5, clean - 5, degrees_of_freedom(D, C))
    assert found.kind in ("constant", "proportional")


def test_unknown_law():
    D, clean, C, _, _ = draw("constant")
    with pytest.raises(InputError, match="the noise law 'pink' is not known here"):
        estimate_noise(D, clean, degrees_of_freedom(D, C), "pink")


# Leverage and degrees of freedom


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n_slots=st.integers(1, 8), weighted=st.booleans())
def test_leverage_is_the_diagonal_of_the_hat_matrix(seed, n_slots, weighted):
    rng = np.random.default_rng(seed)
    C = rng.uniform(0, 3, (20, n_slots)) * (rng.random((20, n_slots)) < 0.5)
    weights = rng.uniform(0.2, 5, 20) if weighted else None
    h = leverage(C, weights)
    scaled = C * np.sqrt(1 if weights is None else weights[:, None])
    np.testing.assert_allclose(h, np.diag(scaled @ np.linalg.pinv(scaled)), atol=1e-9)
    assert h.sum() == pytest.approx(np.linalg.matrix_rank(scaled))
    assert ((h >= 0) & (h <= 1)).all()


def test_leverage_of_dependent_and_idle_slots():
    C = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    h = leverage(C)
    assert h.sum() == pytest.approx(1)
    assert h[2] == 0
    np.testing.assert_allclose(leverage(10 * C), h)


def test_degrees_of_freedom():
    D = np.ones((4, 10))
    D[1, :3] = np.nan
    C = np.array([[1.0, 0, 0], [1, 2, 0], [0, 0, 0], [1, 1, 1]])
    np.testing.assert_allclose(degrees_of_freedom(D, C), [9, 5, 10, 7])
    S = np.ones((3, 10))
    present = np.array([10, 7, 10, 10])
    np.testing.assert_allclose(
        degrees_of_freedom(D, C, S), np.maximum(present - [1, 2, 0, 3] - present * leverage(C), 1)
    )
    S[:, :5] = 0  # held at zero: not free, not spent
    np.testing.assert_allclose(
        degrees_of_freedom(D, C, S), np.maximum(present - [1, 2, 0, 3] - 0.5 * present * leverage(C), 1)
    )


def test_degrees_of_freedom_over_all_samples():
    """Complete data and a learned pool: all entries, less those of both factors."""
    rng = np.random.default_rng(0)
    C, S = rng.standard_normal((30, 4)), rng.standard_normal((4, 50))
    total = degrees_of_freedom(np.ones((30, 50)), C, S).sum()
    assert total == pytest.approx(30 * 50 - 30 * 4 - 50 * 4)


def test_degrees_of_freedom_never_run_out():
    assert degrees_of_freedom(np.ones((2, 3)), np.ones((2, 5))).min() == 1


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 3))
def test_terms_of_an_instrument_by_least_squares_as_scipy_has_them(seed, n):
    rng = np.random.default_rng(seed)
    terms = rng.uniform(0, 1, 30)[:, None] ** np.arange(float(n))
    values, weights = terms @ rng.normal(size=n) + rng.normal(size=30), 10 ** rng.uniform(-2, 2, 30)
    found = _least_squares(terms, values, weights)
    root = np.sqrt(weights)
    known = nnls(terms * root[:, None], values * root)[0] if n else np.zeros(0)
    np.testing.assert_allclose(found, known, atol=1e-8)


@pytest.mark.parametrize("alike", [True, False])
def test_counts_that_vary_more_in_some_samples(alike):
    rng = np.random.default_rng(3)
    alpha = np.full((100, 1), 10.0) if alike else np.exp(rng.uniform(np.log(5), np.log(200), (100, 1)))
    mean = rng.lognormal(0, 1, (100, 4)) @ rng.dirichlet(np.full(96, 0.3), 4) * 3000
    D = rng.poisson(mean * rng.gamma(alpha, 1 / alpha, mean.shape)).astype(float)
    law = Counts.estimate(D, mean, D - mean, np.full(100, 96.0))
    assert (law.spread > 0) is not alike
    assert ("some samples" in law.sentence()) is not alike
    variance = np.square(law.sigma(D, mean).entries)
    true = mean + np.square(mean) / alpha
    strong = mean > 30
    off = np.abs(np.log(variance / true))[strong]
    assert np.median(off) < (0.15 if alike else 0.35)
    if not alike:  # closer to the truth than one overdispersion for all
        common = np.square(replace(law, spread=0.0).sigma(D, mean).entries)
        assert np.median(off) < 0.7 * np.median(np.abs(np.log(common / true))[strong])
    assert law_of(law.as_dict()) == law
    rows = [3, 50]  # a sample's own noise does not hang on the others
    np.testing.assert_array_equal(law.sigma(D[rows], mean[rows]).entries, law.sigma(D, mean).entries[rows])


def test_factors_of_channels_are_kept_in_files_and_for_as_many_channels():
    law = Instrument(0.1, channels=(0.5, 1.0, 2.0))
    again = law_of(json.loads(json.dumps(law.as_dict())))
    assert again == law
    D = np.ones((2, 3))
    np.testing.assert_allclose(law.sigma(D).entries, [[0.05, 0.1, 0.2]] * 2)
    np.testing.assert_allclose(law.scaled(3.0).sigma(D).entries, 3 * law.sigma(D).entries)
    with pytest.raises(InputError, match="factors of 3 channels, but samples have 4"):
        law.sigma(np.ones((2, 4)))
    with pytest.raises(InputError, match="the noise channels must be a list of numbers"):
        Instrument(0.1, channels=2.0)
    with pytest.raises(InputError, match="the noise channels must be finite and not negative"):
        Instrument(0.1, channels=[1.0, -1.0])


def test_noise_that_is_given_is_a_number_and_none_decides_alone():
    D = np.random.default_rng(0).random((6, 5)) + 1
    for bad in (0.0, np.inf, 1e160, -1.0):
        sigma = np.full(D.shape, 0.1)
        sigma[2, 3] = bad
        with pytest.raises(InputError, match="row 2, column 3, but must be positive and at most 1e"):
            Sigma.given(sigma, D)
    with pytest.raises(InputError, match="noise must be at most 1e"):
        Sigma.given(np.full(6, 1e160), D)
    sigma = np.full(D.shape, 0.1)
    sigma[:, 0] = 1e-300
    assert Sigma.given(sigma, D).bounded().values.min() == pytest.approx(Sigma.given(sigma, D).values.min())
    wide = np.full((6, 40), 0.1)
    wide[:, 0] = 1e-12
    np.testing.assert_allclose(Sigma(wide).bounded().values[:, 0], 0.01)
