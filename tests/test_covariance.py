"""Errors in which all channels are off together, as replicates show them."""

import numpy as np
import pytest

from gmcr import GMCR, make_measured
from gmcr.noise import ErrorCovariance, Instrument
from gmcr.rank import noise_edge

CHANNELS = 80
X = np.linspace(-1, 1, CHANNELS)
OWN = np.exp(0.3 * np.sin(9 * X))
MODES = np.array([3 * np.exp(-(X**2)), 2 * X])


def errors(n, seed, size=1.0):
    rng = np.random.default_rng(seed)
    return size * (rng.standard_normal((n, CHANNELS)) * np.sqrt(OWN) + rng.standard_normal((n, 2)) @ MODES)


def replicated(seed, things=20, times=5, size=0.01):
    """Things measured several times each with errors as above, what they are made of, and their labels."""
    law, kinds = Instrument(1e-9), {"profiles": "bands", "concentrations": "lognormal"}
    made = make_measured(3, things, CHANNELS, seed, law=law, disturbed=False, **kinds)
    which = np.repeat(np.arange(things), times)
    return made.D[which] + errors(things * times, seed, size), made, which


@pytest.mark.parametrize(("n", "off"), [(60, 0.25), (400, 0.12)])
def test_modes_come_back(n, off):
    true = np.diag(OWN) + MODES.T @ MODES
    found = ErrorCovariance.of_errors(errors(n, 1), n)
    assert len(found.modes) == 2
    covariance = np.diag(found.own) + found.modes.T @ found.modes
    assert np.linalg.norm(covariance - true) < 2 * off * np.linalg.norm(true)
    S = np.abs(np.random.default_rng(0).standard_normal((3, CHANNELS)))
    plain = np.trace(true) / CHANNELS * np.square(S).sum()
    assert found.inflation(S) == pytest.approx(np.trace(S @ true @ S.T) / plain, rel=off)
    assert found.length == pytest.approx(CHANNELS * np.trace(true @ true) / np.trace(true) ** 2, rel=2 * off)
    fresh = np.linalg.svd(found.whitened(errors(n, 2)), compute_uv=False)
    assert fresh[0] < 1.2 * noise_edge(max(n, CHANNELS), min(n, CHANNELS))
    assert "2 ways" in found.sentence()


def test_white_errors_have_no_modes():
    rng = np.random.default_rng(0)
    counts = [
        len(ErrorCovariance.of_errors(rng.standard_normal((n, 40)), n).modes) for n in (10, 30, 100) * 20
    ]
    assert sum(counts) <= 3
    found = ErrorCovariance.of_errors(rng.standard_normal((200, 40)), 200)
    assert found.sentence() == ""
    assert found.length == pytest.approx(1.0, rel=0.05)


def test_replicates_tell_the_rank_that_singular_values_do_not():
    D, _, which = replicated(3)
    plain, told = GMCR(random_state=0).fit(D), GMCR(random_state=0).fit(D, replicates=which)
    assert plain.count_.by_rank > 3
    assert told.count_.by_rank == 3
    assert isinstance(told.noise_correlation_, ErrorCovariance)


def test_errors_of_amounts_know_of_the_modes():
    inside = []
    for seed in range(6):
        D, made, which = replicated(seed, size=0.004)
        model = GMCR(n_components=3, fixed_components=made.S, random_state=0).fit(D, replicates=which)
        off = np.abs(model.concentrations_ - made.C[which])[model.supports_]
        inside.append((off < 2 * model.decoding_.errors[model.supports_]).mean())
    assert np.mean(inside) > 0.85


def test_a_file_keeps_them(tmp_path):
    D, _, which = replicated(1)
    model = GMCR(n_components=3, random_state=0).fit(D, replicates=which)
    model.save(tmp_path / "m.gmcr")
    again = GMCR.load(tmp_path / "m.gmcr")
    for name in ("own", "modes", "excess"):
        np.testing.assert_array_equal(
            getattr(again.noise_correlation_, name), getattr(model.noise_correlation_, name)
        )
    np.testing.assert_allclose(again.decode(D).errors, model.decode(D).errors)
