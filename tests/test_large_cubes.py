"""The lazy cube whose truth is known."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

from gmcr.large.cubes import make_cube  # noqa: E402


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def test_what_a_cube_holds():
    cube = make_cube((48, 80), 32, snr_db=20.0, random_state=3)
    data, C = dask.compute(cube.data, cube.C)
    assert data.shape == (48, 80, 32)
    assert C.shape == (48, 80, 9)
    np.testing.assert_allclose(np.linalg.norm(cube.S, axis=1), 1.0)
    left = data - C @ cube.S
    assert left.std() == pytest.approx(cube.noise, rel=0.01)
    assert np.mean(np.square(C @ cube.S)) == pytest.approx(100.0 * cube.noise**2, rel=0.1)
    held = C > 0
    assert held[..., -1].mean() == pytest.approx(1 / 40, abs=5 * np.sqrt(1 / 40 / 3840))
    assert (held[..., :-1].sum(axis=2) >= 1).all()  # the regions cover the image
    for j in range(8):
        alone = held[..., j] & (held[..., :-1].sum(axis=2) == 1)
        assert 0.02 < alone.mean() < 0.125
    assert C[held].min() >= 1.0
    assert C.max() <= 10.0


def test_a_pixel_does_not_depend_on_blocks():
    one, other = make_cube((20, 12), 8, lines=3), make_cube((20, 12), 8, lines=20)
    assert one.data.npartitions == 7
    np.testing.assert_array_equal(one.data.compute(), other.data.compute())
    np.testing.assert_array_equal(one.data[5:9].compute(), other.data.compute()[5:9])
    assert (make_cube((20, 12), 8, random_state=1).data.compute() != other.data.compute()).all()


def test_nothing_is_made_before_it_is_asked_for():
    cube = make_cube((10_000, 1000))
    assert cube.data.nbytes > 1e10
    assert np.isfinite(cube.noise)
