"""Decoding of lazy samples: as in memory, block by block, and nothing is loaded before it is asked for."""

import pickle

import numpy as np
import pytest

from gmcr import GMCR, EBgMCR, decode, make_mixtures
from gmcr.decoder import Decoding
from gmcr.errors import InputError
from gmcr.preprocessing import SNV, Crop, SavitzkyGolay

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
xarray = pytest.importorskip("xarray")

PARTS = (
    "concentrations",
    "supports",
    "residual",
    "misfit",
    "margin",
    "noise",
    "known",
    "confidence",
    "errors",
)
MIX = make_mixtures(n_components=4, n_samples=60, snr_db=22, n_features=30, random_state=0)
NEW = make_mixtures(n_components=4, n_samples=90, snr_db=22, n_features=30, random_state=0).D


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def model():
    return GMCR(n_jobs=1, random_state=0).fit(MIX.D)


def same(out, expected, parts=PARTS):
    for name in parts:
        lazy, own = getattr(out, name), getattr(expected, name)
        assert isinstance(lazy, da.Array), name
        assert lazy.dtype == own.dtype, name
        assert lazy.shape == own.shape, name
        np.testing.assert_allclose(lazy.compute(), own, rtol=1e-8, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("rows", [90, 13, 1, (40, 1, 49)])
def test_blocks_of_any_size(model, rows):
    expected = model.decode(NEW)
    out = model.decode(da.from_array(NEW, chunks=(rows, -1)))
    same(out, expected)
    for lazy, own in zip(out.intervals(0.9), expected.intervals(0.9)):
        np.testing.assert_allclose(lazy.compute(), own, rtol=1e-8)


def test_nothing_is_computed_before_it_is_asked_for(model):
    def refuse(block):
        raise AssertionError("a block was computed")

    D = da.from_array(NEW, chunks=(13, -1)).map_blocks(refuse, dtype=float, meta=np.empty((0, 0)))
    out = model.decode(D)
    C, errors, sure = model.transform(D), out.errors, out.confidence
    assert (C.shape, errors.shape, sure.shape) == ((90, 4), (90, 4), (90,))
    assert "7 blocks, not computed" in repr(out)
    assert "7 blocks" in out._repr_html_()
    with pytest.raises(AssertionError, match="a block was computed"):
        C.compute()


def test_parts_computed_together_are_decoded_once(model):
    seen = []

    def counted(block):
        seen.append(len(block))
        return block

    D = da.from_array(NEW, chunks=(30, -1)).map_blocks(counted, dtype=float, meta=np.empty((0, 0)))
    out = model.decode(D)
    dask.compute(out.concentrations, out.known, out.noise)
    assert seen == [30, 30, 30]


@pytest.mark.parametrize("law", ["poisson", "proportional", 0.05])
def test_laws_and_missing_entries(law):
    D, new = MIX.D.copy(), NEW.copy()
    D[::7, 3] = np.nan
    new[::5, 11] = np.nan
    model = GMCR(n_components=4, noise=law, n_jobs=1).fit(np.maximum(D, 0.0) if law == "poisson" else D)
    out = model.decode(da.from_array(new, chunks=(17, -1)))
    same(out, model.decode(new))


def test_steps_and_noise_that_is_told():
    steps = [Crop(2, 27), SavitzkyGolay(5, 2), SNV()]
    model = GMCR(n_components=4, n_jobs=1, steps=steps, signed="profiles").fit(MIX.D)
    D = da.from_array(NEW, chunks=(17, -1))
    same(model.decode(D), model.decode(NEW))
    sigma = np.linspace(0.01, 0.03, 90)
    by_entry = np.repeat(sigma[:, None], 30, axis=1)
    expected = model.decode(NEW, noise=sigma)
    same(model.decode(D, noise=sigma), expected)
    same(model.decode(D, noise=da.from_array(by_entry, chunks=(30, 10))), expected)
    with pytest.raises(InputError, match="one per sample"):
        model.decode(D, noise=sigma[:5])
    with pytest.raises(InputError, match="changes it"):
        model.decode(D, noise=0.1).concentrations.compute()


def test_amounts_in_units():
    model = GMCR(n_components=4, n_jobs=1).fit(MIX.D)
    model.calibrate({"a": MIX.C[:, 0], "b": MIX.C[:, 1]}, units="g/L")
    expected = model.decode(NEW).amounts
    amounts = model.decode(da.from_array(NEW, chunks=(20, -1))).amounts
    assert (amounts.names, amounts.units) == (expected.names, expected.units)
    for name in ("values", "errors", "detected"):
        np.testing.assert_allclose(getattr(amounts, name).compute(), getattr(expected, name), rtol=1e-8)
    for lazy, own in zip(amounts.intervals(0.8), expected.intervals(0.8)):
        np.testing.assert_allclose(lazy.compute(), own, rtol=1e-8)
    assert "not computed" in repr(amounts)


def test_samples_without_entries_and_empty_blocks(model):
    new = NEW.copy()
    new[:13] = np.nan
    new[40] = np.nan
    D = da.from_array(new, chunks=((13, 0, 27, 1, 49), -1))
    out = model.decode(D)
    C, known, supports, errors = dask.compute(out.concentrations, out.known, out.supports, out.errors)
    gone = np.isnan(new).all(axis=1)
    np.testing.assert_array_equal(np.isnan(C).all(axis=1), gone)
    assert not known[gone].any()
    assert not supports[gone].any()
    np.testing.assert_allclose(C[~gone], model.decode(new[~gone]).concentrations, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(np.isnan(errors).all(axis=1), gone)


def test_an_image_keeps_its_shape(model):
    cube = da.from_array(NEW.reshape(9, 10, 30), chunks=(4, 3, -1))
    out = model.decode(cube)
    assert out.concentrations.chunks == (*cube.chunks[:-1], (4,))
    np.testing.assert_allclose(
        out.concentrations.compute().reshape(90, 4), model.decode(NEW).concentrations, rtol=1e-9, atol=1e-12
    )
    assert out.known.shape == (9, 10)


def test_xarray_keeps_its_coordinates(model):
    coords = {"time": np.arange(90.0), "place": ("time", list("ab") * 45), "nm": np.linspace(400, 500, 30)}
    D = xarray.DataArray(NEW, dims=("time", "nm"), coords=coords)
    C = model.transform(D.chunk({"time": 20}))
    assert isinstance(C.data, da.Array)
    assert C.dims == ("time", "component")
    assert list(C.coords["component"].values) == list(model.decomposition_.names)
    xarray.testing.assert_allclose(C.compute(), model.transform(D))
    image = xarray.DataArray(NEW.reshape(9, 10, 30), dims=("y", "x", "wavelength")).chunk({"y": 3})
    turned = model.transform(image.transpose("wavelength", "y", "x"))
    assert turned.dims == ("y", "x", "component")
    np.testing.assert_allclose(turned.values.reshape(90, 4), C.values, rtol=1e-9, atol=1e-12)


def test_another_axis_is_refused():
    coords = {"nm": np.linspace(400, 500, 30)}
    D = xarray.DataArray(MIX.D, dims=("m", "nm"), coords=coords)
    model = GMCR(n_components=4, n_jobs=1).fit(D)
    with pytest.raises(InputError, match="different axes"):
        model.transform(D.assign_coords(nm=np.linspace(410, 510, 30)).chunk({"m": 20}))


def test_what_cannot_be_used_is_refused_in_a_sentence(model):
    D = da.from_array(NEW, chunks=(30, -1))
    unknown = D[D[:, 0] > D[:, 0].mean()]
    for given, told in [
        (D.rechunk({1: 10}), r"3 chunks along the channels.*D\.rechunk\(\{1: -1\}\)"),
        (unknown, r"not known; call D\.compute_chunk_sizes\(\)"),
        (D.astype(object), r'holds objects; give real numbers, such as D\.astype\("float64"\)'),
        (D.astype(complex), "complex"),
        (D[0], "samples x channels"),
        (D[:0], "empty"),
        (D[:, :20], "20 channels and the model has 30"),
        (dask.delayed(NEW), "must be a dask array"),
        (xarray.Dataset({"D": (("m", "l"), D)}), "must be a dask array"),
    ]:
        with pytest.raises(InputError, match=told):
            model.decode(given)
    with pytest.raises(InputError, match="runs are told"):
        model.decode(D, runs=["a"] * 90)
    with pytest.raises(InputError, match="not estimated from lazy samples"):
        model.decode(D, noise="constant")


def test_what_a_block_cannot_use_is_told_with_its_place(model):
    new = NEW.copy()
    new[35, 4] = np.inf
    with pytest.raises(InputError, match=r"infinite at row 5, column 4 .*counted from 30 on"):
        model.transform(da.from_array(new, chunks=(30, -1))).compute()


def test_everything_else_does_not_load_a_dask_array_in_silence(model):
    D = da.from_array(NEW, chunks=(30, -1))
    for ask in (model.trust, lambda D: decode(D, MIX.S), EBgMCR(pool_size=8).fit):
        with pytest.raises(InputError, match=r"loaded whole here.*D\.compute\(\)"):
            ask(D)


def test_the_pool_is_in_the_graph_once(model):
    """However many blocks: a scheduler that got the pool with each of them would be flooded."""

    def size(rows):
        C = model.decode(da.zeros((5000, 30), chunks=(rows, -1))).concentrations
        return len(pickle.dumps(model._learned)), len(pickle.dumps(dict(C.__dask_graph__())))

    own, few = size(2500)
    _, many = size(25)
    assert few > own / 2
    assert many - few < 200 * 3000  # so much for each block, whatever the model


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers(model, scheduler):
    out = model.decode(da.from_array(NEW, chunks=(45, -1)))
    with dask.config.set(scheduler=scheduler, num_workers=2):
        np.testing.assert_allclose(
            out.concentrations.compute(), model.decode(NEW).concentrations, rtol=1e-9, atol=1e-12
        )


def test_xarray_maps_the_model_over_its_blocks(model):
    D = xarray.DataArray(NEW, dims=("m", "nm")).chunk({"m": 40})
    C = xarray.apply_ufunc(
        model.transform,
        D,
        input_core_dims=[["nm"]],
        output_core_dims=[["component"]],
        dask="parallelized",
        output_dtypes=[float],
        dask_gufunc_kwargs={"output_sizes": {"component": 4}},
    )
    assert isinstance(C.data, da.Array)
    np.testing.assert_allclose(C.values, model.transform(NEW), rtol=1e-9, atol=1e-12)


def test_a_lazy_decoding_is_one(model):
    assert isinstance(model.decode(da.from_array(NEW, chunks=(45, -1))), Decoding)
