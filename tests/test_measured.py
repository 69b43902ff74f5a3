"""Tables that behave like measured ones, and the noise of instruments."""

import numpy as np
import pytest

from gmcr import make_measured
from gmcr.errors import InputError
from gmcr.mixtures.disturbances import DISTURBANCES
from gmcr.mixtures.measured import CONCENTRATIONS, PROFILES
from gmcr.noise import Instrument, law_of


def shares(made):
    parts = made.C * made.S.sum(axis=1)
    return parts / parts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("profiles", PROFILES)
@pytest.mark.parametrize("concentrations", CONCENTRATIONS)
def test_every_kind(profiles, concentrations):
    made = make_measured(3, 30, 40, random_state=1, profiles=profiles, concentrations=concentrations)
    assert made.D.shape == (30, 40)
    assert made.C.shape == (30, 3)
    assert made.S.shape == (3, 40)
    assert (made.C >= 0).all()
    assert (made.S >= 0).all()
    assert np.isfinite(made.D).all()
    np.testing.assert_allclose(np.linalg.norm(made.S, axis=1), 1.0)
    assert profiles in repr(made)
    assert concentrations in repr(made)


def test_the_seed_says_all():
    np.testing.assert_array_equal(make_measured(random_state=7).D, make_measured(random_state=7).D)
    assert 2 <= len(make_measured(random_state=8).S) <= 6


def test_without_disturbance_what_is_left_is_the_noise():
    made = make_measured(3, 200, 60, random_state=2, law=Instrument(0.01), disturbed=False)
    left = made.D - made.C @ made.S
    assert left.std() == pytest.approx(0.01, rel=0.03)


@pytest.mark.parametrize("name", DISTURBANCES)
def test_each_disturbance_alone(name):
    seen = []
    for seed in range(60):
        made = make_measured(3, 20, 30, random_state=seed, disturbed=[name], law=Instrument(1e-4))
        plain = make_measured(3, 20, 30, random_state=seed, disturbed=False, law=Instrument(1e-4))
        assert set(made.kinds) <= {"profiles", "concentrations", name}
        assert made.sigma.shape == made.D.shape
        np.testing.assert_array_equal(made.S, plain.S)
        assert np.isfinite(made.D).all()
        seen.append(name in made.kinds)
        if name in ("closure", "wide range"):  # of the amounts: the model still holds
            np.testing.assert_allclose(made.D, made.C @ made.S, atol=1e-3)
        elif seen[-1] and name == "counting":
            np.testing.assert_array_equal(made.D, np.round(made.D))
            np.testing.assert_allclose(made.C, made.C.max() / plain.C.max() * plain.C)
            assert made.D.max() == pytest.approx(made.kinds[name], abs=6 * made.sigma.max())
        elif seen[-1] and name not in (
            "correlated noise",
            "correlated samples",
            "heavy tails",
            "channel noise",
        ):
            np.testing.assert_array_equal(made.C, plain.C)
            # Clipped where nothing is negative, or nothing is below the threshold.
            nothing = made.kinds[name] == 0.0 and made.D.min() >= 0
            nothing |= name == "threshold" and plain.D.min() >= made.kinds[name] * plain.D.max()
            assert nothing or np.abs(made.D - plain.D).max() > 0
    assert 0 < sum(seen) < 60


def test_one_component_and_many():
    for kind in CONCENTRATIONS:
        assert make_measured(1, 10, 20, random_state=0, concentrations=kind).S.shape == (1, 20)
    assert make_measured(100, n_features=60, random_state=0, concentrations="few").S.shape == (100, 60)


@pytest.mark.parametrize("seed", range(10))
def test_purity(seed):
    assert shares(make_measured(4, 60, 40, random_state=seed, purity="pure")).max(axis=0).min() >= 0.98
    assert shares(make_measured(4, 60, 40, random_state=seed, purity=0.7)).max() <= 0.7 + 1e-9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"profiles": "lines"}, "profiles must be one of 'peaks', 'bands'"),
        ({"concentrations": "flat"}, "concentrations must be one of 'lognormal'"),
        ({"concentrations": ()}, "concentrations must be one of"),
        ({"disturbed": ["rain"]}, "disturbed must be True, False or some of 'shift'"),
        ({"disturbed": "shift"}, "disturbed must be"),
        ({"purity": 0.1}, "purity must be"),
        ({"purity": "clean"}, "purity must be"),
        ({"n_components": 0}, "n_components must be"),
    ],
)
def test_wrong_calls(wrong, message):
    with pytest.raises(InputError, match=message):
        make_measured(**({"n_components": 3} | wrong), random_state=0)


# The law of an instrument

MEMBERS = {
    "dark": (0.01, 0.0, 0.0),
    "counts": (0.0, 1e-3, 0.0),
    "relative": (0.0, 0.0, 0.05),
    "dark and counts": (0.01, 1e-3, 0.0),
    "dark and relative": (0.01, 0.0, 0.05),
    "all": (0.005, 3e-4, 0.05),
}


@pytest.mark.parametrize("member", MEMBERS)
def test_noise_of_entries_is_found(member):
    """From residuals about the truth, whose degrees of freedom are all entries."""
    law, errors = Instrument(*MEMBERS[member]), []
    for seed in range(10):
        made = make_measured(
            3, 80, 60, random_state=seed, law=law, disturbed=False, concentrations="lognormal"
        )
        fit = made.C @ made.S
        found = Instrument.estimate(made.D, fit, made.D - fit, np.full(80, 60.0))
        sigma = [one.sigma(made.D, fit).entries for one in (found, law)]
        errors.append(np.median(np.abs(sigma[0] / np.maximum(sigma[1], 1e-12) - 1)))
    assert np.quantile(errors, 0.9) < 0.1


def test_terms_that_are_not_there_are_not_named():
    made = make_measured(3, 80, 100, random_state=0, law=Instrument(0.01), disturbed=False)
    fit = made.C @ made.S
    found = Instrument.estimate(made.D, fit, made.D - fit, np.full(80, 100.0))
    assert found.gain == 0
    assert found.slope == 0
    assert found.sentence() == f"instrument, {found.level:.3g} everywhere"


def test_samples_that_are_not_explained_do_not_count():
    made = make_measured(3, 80, 100, random_state=0, law=Instrument(0.01), disturbed=False)
    fit = made.C @ made.S
    strange = made.D.copy()
    strange[:6] += 1.0
    found = Instrument.estimate(strange, fit, strange - fit, np.full(80, 100.0))
    assert found.sigma(fit, fit).typical == pytest.approx(0.01, rel=0.1)


def test_scaled_stored_and_drawn():
    law = Instrument(0.1, 0.01, 0.05)
    mean = np.linspace(0, 5, 200)[None]
    np.testing.assert_allclose(law.scaled(3).sigma(mean, mean).values, 3 * law.sigma(mean, mean).values)
    assert law_of(law.as_dict()) == law
    drawn = law.draw(np.repeat(mean, 4000, axis=0), np.random.default_rng(0))
    np.testing.assert_allclose(drawn.std(axis=0), law.sigma(mean, mean).values[0], rtol=0.06)
