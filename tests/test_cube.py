"""Cubes: unfolding and refolding, masks, dimension names, and a known picture that comes back as it was."""

import tracemalloc

import h5py
import numpy as np
import pytest
import scipy.io
import xarray

import gmcr
from gmcr import GMCR, unfold
from gmcr.errors import InputError

PICTURE = """
    111....
    1.1.22.
    1112..2
    ....22.
    33333..
"""


def picture():
    """Amounts of three components, (5, 7, 3): each stands where its digit does."""
    rows = PICTURE.split()
    maps = np.array([[[float(cell == digit) for digit in "123"] for cell in row] for row in rows])
    maps[..., 0] *= np.linspace(2, 5, 7)  # brighter to the right
    maps[..., 1] *= np.linspace(6, 3, 5)[:, None]  # darker downwards
    maps[..., 2] *= 4
    maps[2, 1, 1] = 3.0  # a pixel that holds two
    return maps


def profiles(channels=48):
    x = np.arange(channels)
    return np.array(
        [np.exp(-0.5 * ((x - centre) / width) ** 2) for centre, width in ((10, 3), (20, 4), (34, 5))]
    )


def make_cube(seed=0, repeats=3):
    maps = np.kron(picture(), np.ones((repeats, repeats, 1)))
    noise = np.random.default_rng(seed).normal(0, 0.02, (*maps.shape[:2], 48))
    return maps, maps @ profiles() + noise


def test_maps_land_on_the_right_pixels():
    maps, cube = make_cube()
    cube[4, 5] = np.nan  # a dead pixel
    mask = np.zeros(cube.shape[:2], dtype=bool)
    mask[:, -2:] = True
    D, pixels = unfold(cube, mask)
    model = GMCR(random_state=0, n_jobs=1).fit(D)
    assert model.n_components_ == 3
    found = pixels.refold(model.concentrations_)
    left_out = mask | np.isnan(cube).any(axis=-1)
    assert np.isnan(found[left_out]).all()
    assert not np.isnan(found[~left_out]).any()
    order = [int(np.argmax(model.components_ @ profile)) for profile in profiles()]
    assert sorted(order) == [0, 1, 2]
    truth = maps * np.linalg.norm(profiles(), axis=1)
    np.testing.assert_allclose(found[~left_out][:, order], truth[~left_out], atol=0.25)
    np.testing.assert_array_equal(found[~left_out][:, order] > 0, truth[~left_out] > 0)
    np.testing.assert_array_equal(pixels.refold(model.supports_)[~left_out] > 0, found[~left_out] > 0)


@pytest.mark.parametrize("shape", [(4, 5, 6), (2, 3, 4, 5), (1, 1, 3)])
@pytest.mark.parametrize("channels", [0, 1, -1])
def test_refold_undoes_unfold(shape, channels):
    cube = np.random.default_rng(1).random(shape)
    D, pixels = unfold(cube, channel_axis=channels)
    np.testing.assert_array_equal(pixels.refold(D), np.moveaxis(cube, channels, -1))
    np.testing.assert_array_equal(pixels.refold(D[:, 0]), np.moveaxis(cube, channels, -1)[..., 0])
    assert pixels.shape == np.moveaxis(cube, channels, -1).shape[:-1]
    assert pixels.names[-1] == "(" + ", ".join(str(size - 1) for size in pixels.shape) + ")"


def test_masked_arrays():
    cube = np.ma.masked_array(np.arange(24.0).reshape(2, 3, 4), mask=False)
    cube[0, 1] = np.ma.masked  # a pixel
    cube[1, 2, 3] = np.ma.masked  # an entry
    D, pixels = unfold(cube)
    assert D.shape == (5, 4)
    assert np.isnan(D[-1]).tolist() == [False, False, False, True]
    assert pixels.kept.tolist() == [[True, False, True], [True, True, True]]
    assert not np.isnan(cube.data).any()  # the caller's array is as it was


def test_xarray():
    cube = xarray.DataArray(
        np.random.default_rng(2).random((6, 4, 5)),
        dims=("wavelength", "y", "x"),
        coords={"wavelength": np.arange(6.0), "y": [10, 20, 30, 40], "x": np.arange(5) / 2},
    )
    D, pixels = unfold(cube)
    np.testing.assert_array_equal(D, cube.transpose("y", "x", "wavelength").values.reshape(20, 6))
    maps = pixels.refold(D[:, :2])
    assert maps.dims == ("y", "x", "component")
    np.testing.assert_array_equal(maps.sel(y=30, x=1.5), cube.sel(y=30, x=1.5)[:2])
    assert pixels.refold(D[:, 0]).dims == ("y", "x")
    assert unfold(cube, channel_axis="x")[0].shape == (24, 5)
    with pytest.raises(
        InputError, match=r"channel_axis 'z' is no dimension of the cube; it has \('wavelength'"
    ):
        unfold(cube, channel_axis="z")


def test_cubes_that_cannot_be_used():
    cube = np.ones((2, 3, 4))
    for call, message in (
        (lambda: unfold(np.ones((2, 3))), r"cube must be \(y, x, channels\)"),
        (lambda: unfold(np.ones((2, 0, 3))), r"cube must be \(y, x, channels\)"),
        (lambda: unfold(cube, channel_axis=3), "channel_axis 3 is no dimension of the cube; it has 3"),
        (lambda: unfold(cube, np.ones((2, 3))), r"mask must be bool and of shape \(2, 3\)"),
        (lambda: unfold(cube, np.ones((2, 3), dtype=bool)), "cube has no pixel left"),
        (lambda: unfold(cube)[1].refold(np.ones(5)), r"values must have 6 rows, one per sample"),
    ):
        with pytest.raises(InputError, match=message):
            call()


# Cubes in files


def test_cubes_in_files(tmp_path):
    cube = np.random.default_rng(3).random((4, 5, 6))
    axis = np.linspace(400, 450, 6)
    mask = np.zeros((4, 5), dtype=bool)
    mask[1, 2] = True
    np.savez(tmp_path / "a.npz", cube=cube, wavelength=axis, mask=mask)
    scipy.io.savemat(tmp_path / "a.mat", {"cube": np.moveaxis(cube, -1, 0), "wavelength": axis, "mask": mask})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, values in (("y", np.arange(4.0)), ("x", np.arange(5.0)), ("wavelength", axis)):
            file[name] = values
            file[name].make_scale(name)
        file["data"] = cube.transpose(2, 0, 1)
        file["mask"] = mask
        for dimension, name in enumerate(("wavelength", "y", "x")):
            file["data"].dims[dimension].attach_scale(file[name])
    for name in ("a.npz", "a.mat", "a.h5"):
        table = gmcr.read(tmp_path / name)
        maps = table.refold(table.samples)
        np.testing.assert_array_equal(maps[~mask], cube[~mask], err_msg=name)
        assert np.isnan(maps[mask]).all()
        np.testing.assert_array_equal(table.axis, axis)
        assert table.shape == (4, 5)
        assert table.sample_names[7] == "(1, 3)"
        assert "1 pixels are masked or empty and were left out." in table.notes
    np.save(tmp_path / "b.npy", cube)
    assert gmcr.read(tmp_path / "b.npy").samples.shape == (20, 6)
    assert gmcr.read(tmp_path / "b.npy", channel_axis=0).shape == (5, 6)


def test_a_large_cube_costs_little_more_than_its_array(tmp_path):
    """Reading, unfolding and refolding 200 x 200 x 256 stay within the array plus 1 GB by far."""
    np.save(tmp_path / "a.npy", np.ones((200, 200, 256), dtype=np.float32))
    tracemalloc.start()
    try:
        table = gmcr.read(tmp_path / "a.npy")
        maps = table.refold(table.samples[:, :8])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert table.samples.shape == (40_000, 256)
    assert maps.shape == (200, 200, 8)
    assert peak < 3 * table.samples.nbytes
