"""The worked toy of the paper (lines 5851 to 5975), beyond what examples/toy.py checks, which tests run too."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from gmcr import Decomposition
from gmcr.theory.ambiguity import feasible_bands

TOY = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "toy.py"))
S, C, D, member = (TOY[name] for name in ("S", "C", "D", "member"))


@pytest.mark.parametrize("a", [1.0, 2.5, 5.0])
@pytest.mark.parametrize("noise", [0.0, None])
def test_the_family_is_found_from_any_member(a, noise):
    out = feasible_bands(D[1:], Decomposition(*member(a)), noise=noise, c_min=1.0)
    assert not out.closed
    np.testing.assert_allclose(out.bands[1].concentrations[:, 1], [1.0, 5.0], atol=1e-4)
    np.testing.assert_allclose(out.bands[0].profiles, [S[0], member(1.0)[0][0]], atol=1e-4)


def test_without_c_min_the_family_reaches_zero():
    out = feasible_bands(D[1:], Decomposition(S, C[1:]), noise=0.0)
    np.testing.assert_allclose(out.bands[1].concentrations[:, 1], [0.0, 5.0], atol=1e-4)


def test_one_more_proportion_leaves_a_single_point():
    out = feasible_bands(D, Decomposition(S, C), c_min=1.0)
    assert out.closed
    for band in out.bands:
        assert band.min == pytest.approx(band.max)
        np.testing.assert_allclose(band.concentrations, [C[:, band.component]] * 2)
