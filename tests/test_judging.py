"""The law of the noise that a fit is judged by."""

import numpy as np
import pytest

from gmcr import GMCR, make_measured
from gmcr.noise import Counts, Instrument
from gmcr.window.judging import _by_projection, _expected, _projected, tells_of_counts

MEMBERS = {
    "a": (1e-2, 0, 0),
    "g": (0, 1e-3, 0),
    "b": (0, 0, 0.05),
    "ag": (1e-2, 1e-3, 0),
    "ab": (1e-2, 0, 0.05),
    "gb": (0, 1e-3, 0.05),
    "agb": (1e-2, 1e-3, 0.05),
}


def table(law, seed):
    """Samples of three components whose signal spans two decades and more."""
    return make_measured(3, 80, 100, seed, law=law, profiles="bands", disturbed=False)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("noise", ["auto", "instrument"])
def test_members_of_the_family_are_found(member, noise):
    law = Instrument(*MEMBERS[member])
    made = table(law, 0)
    model = GMCR(n_components=3, noise=noise).fit(made.D)
    fit = model.concentrations_ @ model.components_
    found = np.broadcast_to(model.noise_law_.sigma(made.D, fit).entries, made.D.shape)
    true = law.sigma(made.D, made.C @ made.S).entries
    assert np.median(np.abs(found / true - 1)) < 0.1


def test_entries_without_noise_do_not_refuse_a_law():
    """Noise of 5 % of the signal, of which many entries have next to none: profiles are off by more there."""
    kinds = {"profiles": ("peaks", "bands", "sticks", "mixed"), "concentrations": "design"}
    made = make_measured(3, 80, 100, 138, law=Instrument(0, 0, 0.05), disturbed=False, **kinds)
    found = GMCR(n_components=3).fit(made.D).noise_law_
    assert (found.kind, found.level, found.gain) == ("instrument", 0, 0)
    assert found.slope == pytest.approx(0.05, rel=0.05)


@pytest.mark.parametrize("member", ["g", "b", "gb"])
def test_a_fit_of_zero_is_no_level(member):
    """Where noise is larger than the signal, a signal whose fit is zero has noise all the same."""
    made = make_measured(3, 80, 100, 138, law=Instrument(*MEMBERS[member]), disturbed=False)
    assert GMCR(n_components=3, noise="instrument").fit(made.D).noise_law_.level == 0


def test_the_expected_signal_is_the_mean_of_what_is_not_negative():
    fit, error = np.array([-30.0, -1.0, 0.0, 0.5, 40.0]), 0.7
    grid = np.linspace(0, 60, 600_001)
    weight = np.exp(-0.5 * ((grid - fit[1:, None]) / error) ** 2)
    mean = (weight * grid).sum(axis=1) / weight.sum(axis=1)
    found = _expected(fit, Instrument(error), np.zeros(5))
    np.testing.assert_allclose(found[1:], mean, rtol=1e-3)
    assert 0 < found[0] < found[1]


def test_scale_scales_the_law():
    made = table(Instrument(*MEMBERS["agb"]), 1)
    here, there = (GMCR(n_components=3, noise="instrument").fit(f * made.D).noise_law_ for f in (1.0, 1e4))
    assert there.level == pytest.approx(1e4 * here.level, rel=1e-6)
    assert there.gain == pytest.approx(1e4 * here.gain, rel=1e-6)
    assert there.slope == pytest.approx(here.slope, rel=1e-6)


def test_counts_that_vary_beyond_chance():
    """Negative binomial counts: μ + μ²/α."""
    rng = np.random.default_rng(0)
    mean = 300 * rng.dirichlet(np.ones(4), 150) @ rng.dirichlet(np.full(60, 0.5), 4) * 60
    alpha = 25.0
    D = rng.poisson(rng.gamma(alpha, mean / alpha)).astype(float)
    law = GMCR(n_components=4).fit(D).noise_law_
    assert law.kind == "counts"
    assert law.slope == pytest.approx(alpha**-0.5, rel=0.15)


def test_misfit_is_not_believed_to_be_noise():
    """A peak that moves leaves what grows with the signal, which plain least squares follows."""
    x = np.linspace(0, 1, 120)
    at = np.linspace(0.4, 0.6, 40)[:, None]
    D = np.exp(-0.5 * ((x - at) / 0.03) ** 2) + 1e-4 * np.random.default_rng(0).standard_normal((40, 120))
    assert _by_projection(D, 2, Instrument) is None
    settled = np.exp(-0.5 * ((x - 0.5) / 0.03) ** 2) * at + 1e-3 * np.random.default_rng(0).random((40, 120))
    assert _by_projection(settled, 1, Instrument) is not None


def test_a_projection_with_equal_weights_is_that_of_the_singular_vectors():
    rng = np.random.default_rng(3)
    D = rng.random((30, 3)) @ rng.random((3, 20)) + 0.01 * rng.standard_normal((30, 20))
    U, values, Vt = np.linalg.svd(D, full_matrices=False)
    fit, _, left = _projected(D, Vt[:3], np.ones_like(D))
    np.testing.assert_allclose(fit, (U[:, :3] * values[:3]) @ Vt[:3], atol=1e-9)
    expected = np.outer(1 - (U[:, :3] ** 2).sum(axis=1), 1 - (Vt[:3] ** 2).sum(axis=0))
    np.testing.assert_allclose(left, np.maximum(expected, 0.05), atol=1e-6)


def test_counts_alone_are_counts():
    rng = np.random.default_rng(1)
    mean = 200 * rng.dirichlet(np.ones(3), 100) @ rng.dirichlet(np.ones(50), 3) * 50
    assert GMCR(n_components=3).fit(rng.poisson(mean).astype(float)).noise_law_ == Counts()


def overdispersed(seed, alpha):
    rng = np.random.default_rng(seed)
    S, C = rng.dirichlet(np.full(60, 0.3), 4), rng.lognormal(0, 0.8, (120, 4))
    mean = 2000 * C @ S
    return rng.poisson(mean * rng.gamma(alpha, 1 / alpha, mean.shape)).astype(float)


def test_readings_of_a_converter_are_no_counts():
    assert tells_of_counts(overdispersed(0, 20))
    assert not tells_of_counts(overdispersed(0, 20) + 0.5)
    rng = np.random.default_rng(1)
    mean = 1e4 * rng.lognormal(0, 1, (60, 3)) @ rng.random((3, 50))
    assert not tells_of_counts(np.round(mean + 3 * rng.standard_normal((60, 50))))


def test_counts_are_searched_under_their_own_law():
    found = GMCR(random_state=0).fit(overdispersed(3, 20))
    assert found.n_components_ == found.count_.by_rank == 4  # Poisson's law alone sees 10 and more
    assert found.noise_law_.slope == pytest.approx(20**-0.5, rel=0.15)


def test_a_few_large_counts_tell_how_much_all_vary():
    """Most counts are too small to vary beyond chance; those that are not must not pass for errors."""
    rng = np.random.default_rng(0)
    mean = np.exp(rng.uniform(-3, 2, (300, 60)))
    mean[:6] *= 3000.0
    D = rng.poisson(rng.gamma(25.0, mean / 25.0)).astype(float)
    law = Counts.estimate(D, mean, D - mean, np.full(len(D), D.shape[1], dtype=float))
    assert law.slope == pytest.approx(0.2, rel=0.15)


def signatures(seed, n=12, n_flat=4, n_samples=250, n_channels=80):
    """Overlapping profiles of counts, some flat and common."""
    rng = np.random.default_rng(seed)
    S = rng.dirichlet(np.full(n_channels, 0.3), n)
    S[:n_flat] = rng.dirichlet(np.full(n_channels, 3.0), n_flat)
    often = np.r_[np.full(n_flat, 0.9), np.full(n - n_flat, 0.3)]
    C = rng.lognormal(0, 1, (n_samples, n)) * (rng.random((n_samples, n)) < often)
    C[np.arange(n_samples), rng.integers(0, n, n_samples)] += 1.0
    mean = 3000.0 * rng.lognormal(0, 1, (n_samples, 1)) * (C / C.sum(axis=1, keepdims=True)) @ S
    return rng.poisson(rng.gamma(50.0, mean / 50.0)).astype(float), S


@pytest.mark.parametrize("seed", [0, 1])
def test_overlapping_profiles_of_counts_come_back(seed):
    """At λ, the price of the search before, the worst of them came back with a cosine of 0.97 and 0.95."""
    D, S = signatures(seed)
    model = GMCR(random_state=0).fit(D)
    cosines = model.components_ @ (S / np.linalg.norm(S, axis=1, keepdims=True)).T
    assert model.n_components_ == len(S)
    assert cosines.max(axis=0).min() > 0.975
    # Searched at a lower price, but what samples are said to hold is told at λ.
    assert model.usage_price_ > 2 * np.log(D.shape[1])


def test_channels_that_differ_in_noise_have_a_factor_each():
    made = table(Instrument(*MEMBERS["a"]), 0)
    factors = np.exp(np.random.default_rng(0).uniform(-0.7, 0.7, made.D.shape[1]))
    law = Instrument(1e-2, channels=tuple(factors))
    D = law.draw(made.C @ made.S, np.random.default_rng(1))
    found = GMCR(n_components=3).fit(D).noise_law_
    assert np.corrcoef(found.channels, factors)[0, 1] > 0.97
    assert np.mean(np.square(found.channels)) == pytest.approx(1)
    assert GMCR(n_components=3).fit(made.D).noise_law_.kind != "instrument"  # where they do not, none has


def test_channels_in_which_a_component_is_missing_are_not_noisier():
    """One component too few leaves most where that one is; the law must not take it for noise there."""
    made = make_measured(4, 80, 100, 3, law=Instrument(1e-3), profiles="peaks", disturbed=False)
    found = GMCR(n_components=3).fit(made.D).noise_law_
    assert not getattr(found, "channels", ())
