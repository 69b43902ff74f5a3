"""How well a decomposition fits: against sums written out, with and without missing entries."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from gmcr.decomposition import Decomposition
from gmcr.errors import InputError

S = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
C = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.5], [4.0, 0.0]])


def noisy(missing=False):
    D = C @ S + np.random.default_rng(0).normal(scale=0.1, size=(4, 3))
    if missing:
        D[1, 2] = np.nan
    return D


def test_fit_measures_by_hand():
    D, found = noisy(), Decomposition(S, C)
    error = np.sum((D - C @ S) ** 2)
    assert found.r2(D) == pytest.approx(1 - error / np.sum((D - D.mean(axis=0)) ** 2))
    assert found.r2(D) == pytest.approx(r2_score(D, C @ S, multioutput="variance_weighted"))
    assert found.nmse(D) == pytest.approx(error / np.sum(D**2))
    assert found.lack_of_fit(D) == pytest.approx(100 * np.sqrt(error / np.sum(D**2)))


def test_fit_measures_leave_missing_entries_out():
    D, found = noisy(missing=True), Decomposition(S, C)
    present = ~np.isnan(D)
    error = np.sum((D - C @ S)[present] ** 2)
    assert found.r2(D) == pytest.approx(1 - error / np.sum((D - np.nanmean(D, axis=0))[present] ** 2))
    assert found.nmse(D) == pytest.approx(error / np.sum(D[present] ** 2))
    D[:, 0] = np.nan
    assert np.isfinite(found.r2(D))


def test_fit_measures_of_perfect_and_degenerate_data():
    found = Decomposition(S, C)
    assert found.r2(C @ S) == 1
    assert found.lack_of_fit(C @ S) == 0
    assert np.isnan(found.nmse(np.zeros((4, 3))))
    assert np.isnan(found.r2(np.ones((4, 3))))
    with pytest.raises(InputError, match=r"D has shape \(3, 3\)"):
        found.r2(np.ones((3, 3)))
