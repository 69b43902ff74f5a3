"""One contract for both solvers: whatever is asked of a fitted one, either answers."""

import inspect

import numpy as np
import pandas as pd
import pytest

from gmcr import GMCR, Decomposition, certify, make_mixtures
from gmcr.decoder import Decoding
from gmcr.errors import FileError, InputError
from gmcr.io.table import Table
from gmcr.noise import NoiseLaw

torch = pytest.importorskip("torch")
from gmcr import EBgMCR  # noqa: E402

AXIS = np.linspace(400, 700, 32)


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(n_components=4, n_samples=32, snr_db=30, n_features=32, random_state=0)


@pytest.fixture(scope="module")
def table(mix):
    return Table(mix.D, AXIS, tuple(f"s{m}" for m in range(32)), axis_unit="nm")


def new(solver, **more):
    if solver is GMCR:
        return GMCR(random_state=0, **more)
    return EBgMCR(16, 60, random_state=0, learning_rate="scaled", lowest_band=0.1, **more)


@pytest.fixture(scope="module", params=[GMCR, EBgMCR], ids=["window", "eb"])
def fitted(request, table):
    return new(request.param).fit(table)


def test_what_is_learned(fitted, mix):
    found = fitted.decomposition_
    assert isinstance(found, Decomposition)
    assert fitted.n_components_ == found.n_components
    for own, theirs in (
        (fitted.components_, found.components),
        (fitted.concentrations_, found.concentrations),
        (fitted.supports_, found.supports),
        (fitted.noise_, found.noise),
    ):
        np.testing.assert_array_equal(own, theirs)
    assert isinstance(fitted.noise_law_, NoiseLaw)
    assert found.noise_law == fitted.noise_law_.as_dict()
    assert fitted.n_features_in_ == 32


def test_decode_is_a_decoding(fitted, mix):
    out = fitted.decode(mix.D)
    assert isinstance(out, Decoding)
    np.testing.assert_array_equal(out.concentrations, fitted.transform(mix.D))
    np.testing.assert_allclose(
        out.residual, np.linalg.norm(mix.D - fitted.inverse_transform(out.concentrations), axis=1), rtol=1e-6
    )
    assert out.known.shape == out.confidence.shape == out.noise.shape == (32,)
    assert ((out.confidence >= 0) & (out.confidence <= 1)).all()
    assert out.errors.shape == out.concentrations.shape
    low, high = out.intervals()
    held = out.supports
    assert (low[held] <= out.concentrations[held]).all()
    assert (high[held] >= out.concentrations[held]).all()


def test_what_read_returns_can_be_fitted(fitted, mix, table):
    if isinstance(fitted, GMCR):  # the labels come along
        np.testing.assert_array_equal(fitted.decomposition_.axis, AXIS)
        assert fitted.decomposition_.sample_names == table.sample_names
    names = list(table.sample_names)
    for same in (mix.D, pd.DataFrame(mix.D, index=names, columns=AXIS)):
        again = new(type(fitted)).fit(same)
        np.testing.assert_array_equal(again.concentrations_, fitted.concentrations_)
    np.testing.assert_array_equal(fitted.transform(table), fitted.transform(mix.D))


def test_certify_has_its_arguments_written_out(fitted, mix):
    own, whole = inspect.signature(fitted.certify).parameters, inspect.signature(certify).parameters
    assert set(whole) - set(own) == {"decomposition", "seconds"}
    assert fitted.certify(mix.D, alpha=0.2, noise=mix.sigma, k=4).alpha == 0.2


def test_save_and_load(fitted, mix, tmp_path):
    fitted.save(tmp_path / "model.gmcr")
    again = type(fitted).load(tmp_path / "model.gmcr")
    before, after = fitted.decode(mix.D), again.decode(mix.D)
    for name in ("concentrations", "residual", "misfit", "known", "noise", "confidence", "errors"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name), err_msg=name)
    assert again.get_params().keys() == fitted.get_params().keys()
    assert again.noise_law_ == fitted.noise_law_
    other = EBgMCR if isinstance(fitted, GMCR) else GMCR
    with pytest.raises(FileError, match=f"holds no {other.__name__} model"):
        other.load(tmp_path / "model.gmcr")
    np.testing.assert_array_equal(Decomposition.load(tmp_path / "model.gmcr").components, fitted.components_)


def test_saving_learns_nothing(mix, tmp_path):
    """Confidence is learned when it is first asked for, before or after the model was in a file."""
    model = GMCR().fit(mix.D)
    model.save(tmp_path / "before.gmcr")
    assert model._judge.law is None
    first = model.decode(mix.D).confidence
    model.save(tmp_path / "after.gmcr")
    for name in ("before", "after"):
        again = GMCR.load(tmp_path / f"{name}.gmcr")
        np.testing.assert_array_equal(again.decode(mix.D).confidence, first)
    early = GMCR().fit(mix.D)
    early.learn_confidence()
    assert early._judge.law is not None


@pytest.mark.parametrize("solver", [GMCR, EBgMCR])
def test_the_same_callback(solver, mix):
    counts = []

    def listen(row):
        counts.append((row.count, row.r2, row.usage))
        if len(counts) == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        new(solver, callback=listen).fit(mix.D)
    assert len(counts) == 3


@pytest.mark.parametrize("solver", [GMCR, EBgMCR])
@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_that_is_none(solver, mix, seed):
    with pytest.raises(InputError, match="random_state must be a whole number of at least 0"):
        new(solver).set_params(random_state=seed).fit(mix.D)


def test_bands_come_back(mix, tmp_path):
    model = new(EBgMCR).fit(mix.D)
    model.save(tmp_path / "eb.gmcr")
    again = EBgMCR.load(tmp_path / "eb.gmcr")
    pd.testing.assert_frame_equal(again.history_, model.history_)
    assert [repr(band) for band in again.bands_] == [repr(band) for band in model.bands_]
    np.testing.assert_array_equal(again.select("final").components, model.final_.components)
    np.testing.assert_array_equal(
        again.decode(mix.D, "exact", rule="final").concentrations,
        model.decode(mix.D, "exact", rule="final").concentrations,
    )
    pd.testing.assert_frame_equal(again.anchors(0.1), model.anchors(0.1))
