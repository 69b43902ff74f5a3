"""What missed components put into a learned pool, taken out again."""

import numpy as np

from gmcr import make_mixtures
from gmcr.confidence.completion import completed_pool, expected_concentrations


def missed(mix, share=0.5, seed=0):
    """Least squares on supports of which the weaker half of the selections in every sample is missing."""
    rng = np.random.default_rng(seed)
    median = np.median(mix.C[mix.supports])
    weak = mix.supports & (median > mix.C) & (rng.random(mix.C.shape) < share)
    weak &= mix.supports.sum(axis=1, keepdims=True) > 1
    held = mix.supports & ~weak
    C = np.where(held, mix.C, 0.0)
    S = np.linalg.lstsq(C / mix.sigma[:, None], mix.D / mix.sigma[:, None], rcond=None)[0]
    S = np.maximum(S, 0.0)
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    for m, support in enumerate(held):
        C[m, support] = np.linalg.lstsq(S[support].T, mix.D[m], rcond=None)[0]
    return S, np.maximum(C, 0.0), weak


def test_the_completed_pool_is_closer_to_the_truth():
    mix = make_mixtures(12, 200, 25, random_state=0)
    S, C, weak = missed(mix)
    presence = ((C != 0) | weak).astype(float)
    completed = completed_pool(mix.D, S, C, mix.sigma, presence, 1.0)
    unit = completed / np.linalg.norm(completed, axis=1, keepdims=True)
    before, after = (1 - (pool * mix.S).sum(axis=1).mean() for pool in (S, unit))
    assert after < 0.7 * before


def test_nothing_changes_where_nothing_is_missed():
    mix = make_mixtures(8, 60, 30, random_state=1)
    expected = expected_concentrations(mix.D, mix.S, mix.C, mix.supports.astype(float), 1.0)
    np.testing.assert_array_equal(expected, mix.C)


def test_a_surely_missed_component_gets_its_least_squares_amount():
    mix = make_mixtures(8, 60, None, active=(2, 4), random_state=2)
    rows = np.arange(60)
    weakest = np.where(mix.supports, mix.C, np.inf).argmin(axis=1)
    presence = mix.supports.astype(float)
    C = mix.C.copy()
    C[rows, weakest] = 0.0
    for m in rows:
        support = C[m] != 0
        C[m, support] = np.linalg.lstsq(mix.S[support].T, mix.D[m], rcond=None)[0]
    expected = expected_concentrations(mix.D, mix.S, C, presence, 0.0)
    np.testing.assert_allclose(expected, mix.C, atol=1e-8)
