"""How differently profiles could look and fit as well."""

import numpy as np
import pytest

from gmcr import make_measured
from gmcr.noise import Instrument
from gmcr.window.spread import spread_of_pool


def table(purity, seed, **settings):
    kinds = {"profiles": "bands", "concentrations": "dirichlet", "disturbed": False, "law": Instrument(1e-4)}
    return make_measured(3, 60, 50, random_state=seed, purity=purity, **kinds | settings)


@pytest.mark.parametrize("seed", range(4))
def test_pure_samples_leave_less_open_than_mixed_ones(seed):
    pure, mixed = (table(purity, seed) for purity in ("pure", 0.5))
    ones = np.ones(60)
    known, open_ = (spread_of_pool(made.D, made.S, ones).cosines for made in (pure, mixed))
    assert known.mean() > open_.mean()


def test_what_is_drawn_fits_as_well_and_is_as_far_as_said():
    made = table(0.5, 1)
    spread = spread_of_pool(made.D, made.S, np.ones(60))
    for j, other in enumerate(spread.farthest):
        S = np.vstack([made.S, other])
        left = other - np.linalg.lstsq(made.S.T, other, rcond=None)[0] @ made.S
        assert np.linalg.norm(left) < 0.05  # in the space of the profiles, but for noise
        assert S[j] @ other <= spread.cosines[j]
    assert (spread.farthest >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(spread.farthest, axis=1), 1.0)


def test_scale_and_order_change_nothing_and_known_profiles_stay():
    made = table(0.6, 2)
    plain = spread_of_pool(made.D, made.S, np.ones(60))
    scaled = spread_of_pool(1e6 * made.D, made.S, np.ones(60))
    np.testing.assert_allclose(scaled.cosines, plain.cosines, atol=1e-3)
    known = spread_of_pool(made.D, made.S, np.ones(60), n_fixed=1)
    assert known.cosines[0] == pytest.approx(1.0)


def test_none_where_the_data_do_not_span_the_pool():
    made = table("any", 0)
    assert spread_of_pool(made.D[:3], made.S, np.ones(3)) is None
    assert spread_of_pool(made.D, np.vstack([made.S, made.S[:1]]), np.ones(60)) is None
