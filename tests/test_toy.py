"""The worked toy of the paper: every number of lines 5851 to 5975, and the example that prints them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from gmcr import Decomposition, decode
from gmcr.theory.ambiguity import feasible_bands

EXAMPLE = Path(__file__).parents[1] / "examples" / "toy.py"
S = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.8, 0.6]])
C = np.array([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])
D = C @ S


def margin(*profiles):
    return np.linalg.svd(np.array(profiles), compute_uv=False)[-1]


def family(a):
    r = D[2] - a * S[1]
    return r / np.linalg.norm(r), np.linalg.norm(r)


def test_the_example_runs(capsys):
    spec = importlib.util.spec_from_file_location("toy", EXAMPLE)
    toy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy)
    toy.main()
    assert "Every number agrees" in capsys.readouterr().out


def test_usages_are_2_3_and_4():
    assert np.count_nonzero(C) == 4
    assert np.count_nonzero(C[1:]) == 3
    merged = D[2] / np.linalg.norm(D[2])
    two = np.array([[0.0, 5.0], [np.sqrt(50), 0.0]])
    np.testing.assert_allclose(two @ np.array([merged, S[1]]), D[1:])
    assert np.count_nonzero(two) == 2


def test_margins():
    merged = D[2] / np.linalg.norm(D[2])
    assert margin(*S) == pytest.approx(1.0)
    assert margin(merged, S[1]) == pytest.approx(0.54, abs=0.005)
    assert margin(*S, merged) == pytest.approx(0.0, abs=1e-12)
    margins = [margin(family(a)[0], S[1]) for a in np.linspace(1, 5, 101)]
    assert min(margins) == margins[0]
    assert 0.6 <= margins[0] < 0.65


def test_the_member_at_two_and_a_half():
    profile, size = family(2.5)
    np.testing.assert_allclose(profile, [0.54, 0.72, 0.36, 0.27], atol=0.005)
    assert size == pytest.approx(5.59, abs=0.005)


def test_penalties_choose_wrong_members():
    a = np.linspace(1, 5, 4001)
    size = np.array([family(value)[1] for value in a])
    assert a[np.argmin(5 + size + a)] == 1.0
    assert a[np.argmin(25 + size**2 + a**2)] == pytest.approx(2.5)
    np.testing.assert_allclose(25 + size**2 + a**2, 75 - 10 * a + 2 * a**2)


@pytest.mark.parametrize("a", [1.0, 2.5, 4.9])
def test_the_family_cannot_hold_the_first_sample(a):
    profile, size = family(a)
    weights = np.linalg.lstsq(np.array([profile, S[1]]).T, D[0], rcond=None)[0]
    np.testing.assert_allclose(weights, [size, -(5 - a)])
    assert weights[1] < 0


def test_reuse():
    out = decode(np.array([10 * S[0], 10 * S[1]]), S, noise=1e-6)
    np.testing.assert_array_equal(out.supports, np.eye(2, dtype=bool))
    np.testing.assert_allclose(out.concentrations, 10 * np.eye(2))


@pytest.mark.parametrize("a", [1.0, 2.5, 5.0])
@pytest.mark.parametrize("noise", [0.0, None])
def test_the_family_is_found_from_any_member(a, noise):
    profile, size = family(a)
    found = Decomposition([profile, S[1]], [[0.0, 5.0], [size, a]])
    out = feasible_bands(D[1:], found, noise=noise, c_min=1.0)
    assert not out.closed
    np.testing.assert_allclose(out.bands[1].concentrations[:, 1], [1.0, 5.0], atol=1e-4)
    np.testing.assert_allclose(out.bands[0].profiles, [S[0], family(1.0)[0]], atol=1e-4)


def test_without_c_min_the_family_reaches_zero():
    out = feasible_bands(D[1:], Decomposition(S, C[1:]), noise=0.0)
    np.testing.assert_allclose(out.bands[1].concentrations[:, 1], [0.0, 5.0], atol=1e-4)


def test_one_more_proportion_leaves_a_single_point():
    out = feasible_bands(D, Decomposition(S, C), c_min=1.0)
    assert out.closed
    for band in out.bands:
        assert band.min == pytest.approx(band.max)
        np.testing.assert_allclose(band.concentrations, [C[:, band.component]] * 2)
