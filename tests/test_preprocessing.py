"""Steps before unmixing, each by itself: against independent references, and what every step must keep."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter1d
from scipy.signal import savgol_filter
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import check_estimator

from gmcr.disturbances import Undisturbed
from gmcr.errors import InputError, NotInstalled
from gmcr.noise import Constant
from gmcr.preprocessing import (
    MSC,
    SNV,
    STEPS,
    AverageReplicates,
    Background,
    Baseline,
    Chain,
    Crop,
    Cut,
    Despike,
    Normalise,
    SavitzkyGolay,
    Step,
    SubtractBlank,
    step_of,
)

pybaselines = pytest.importorskip("pybaselines")

AXIS = np.linspace(1800.0, 400.0, 141)  # falls, in steps of 10
STEPS_TO_TRY = [
    Crop(500, 1700),
    Cut(1000, 1100),
    Baseline("asls"),
    Baseline("asls", common=True),
    Despike(),
    SavitzkyGolay(7, 2, 1),
    SNV(),
    MSC(),
    Normalise("maximum"),
    SubtractBlank(0.5),
    AverageReplicates(),
    Background(2),
]
NAMES = [type(step).__name__ + " in common" * getattr(step, "common", False) for step in STEPS_TO_TRY]


def mixtures(n_samples=12, seed=0, noise=0.01):
    """Samples of three components with peaks: (samples, channels), concentrations and profiles."""
    rng = np.random.default_rng(seed)
    profiles = np.stack(
        [sum(np.exp(-(((AXIS - rng.uniform(500, 1700)) / 25) ** 2)) for _ in range(4)) for _ in range(3)]
    )
    C = rng.uniform(0, 1, (n_samples, 3)) * (rng.uniform(size=(n_samples, 3)) < 0.7)
    C[:3] = np.eye(3)[:n_samples]
    return C @ profiles + noise * rng.standard_normal((n_samples, len(AXIS))), C, profiles


@pytest.fixture
def frame():
    return pd.DataFrame(mixtures()[0], columns=AXIS, index=[f"s{m}" for m in range(12)])


@pytest.mark.parametrize("step", STEPS_TO_TRY, ids=NAMES)
def test_every_step_keeps_the_axis_of_a_frame_and_its_names(step, frame):
    out = clone(step).fit(frame).transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.index) == list(frame.index)
    assert set(out.columns) <= set(frame.columns)
    plain = clone(step).fit(frame).transform(frame.to_numpy())
    np.testing.assert_array_equal(plain, out.to_numpy())
    with pytest.raises(InputError, match="different axes"):
        clone(step).fit(frame).transform(frame.set_axis(AXIS + 5, axis=1))


@pytest.mark.parametrize("step", STEPS_TO_TRY, ids=NAMES)
def test_what_is_missing_stays_missing_and_nothing_else_goes(step, frame):
    holes = np.random.default_rng(1).uniform(size=frame.shape) < 0.03
    holes[0, :4] = True
    step = clone(step).fit(frame.mask(holes))
    out = step.transform(frame.mask(holes))
    kept = [list(frame.columns).index(column) for column in out.columns]
    np.testing.assert_array_equal(np.isnan(out.to_numpy()), holes[:, kept])


@pytest.mark.parametrize("step", STEPS_TO_TRY, ids=NAMES)
def test_a_sample_does_not_depend_on_those_beside_it(step, frame):
    step = clone(step).fit(frame)
    whole = step.transform(frame).to_numpy()
    alone = np.vstack([step.transform(frame.iloc[[m]]) for m in range(len(frame))])
    np.testing.assert_allclose(alone, whole, rtol=1e-9, atol=1e-12)
    order = np.random.default_rng(0).permutation(len(frame))
    np.testing.assert_allclose(step.transform(frame.iloc[order]), whole[order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", STEPS_TO_TRY, ids=NAMES)
def test_a_file_holds_the_step_and_what_it_learned(step, frame):
    X = frame.to_numpy()
    chain, after, _ = Chain.learned([step], X, AXIS, replicates=list(frame.index))
    again = Chain.of_dict(json.loads(json.dumps(chain.as_dict())))
    assert [type(one) for one in again.steps] == [type(step)]
    np.testing.assert_array_equal(again.apply(X), chain.apply(X))
    np.testing.assert_array_equal(again.axis_after, chain.axis_after)
    assert after.shape[1] == len(chain.axis_after)
    assert again.did == chain.did
    assert step.sentence()[:20].lower() in chain.did[0].lower()


@pytest.mark.parametrize("step", [*STEPS_TO_TRY, Crop(), Cut()], ids=[*NAMES, "open Crop", "open Cut"])
def test_scikit_learns_contract(step):
    step = {
        "Crop": Crop(),
        "Cut": Cut(),
        "SavitzkyGolay": SavitzkyGolay(3, 1),
        "Background": Background(1),
    }.get(type(step).__name__, step)
    results = check_estimator(step, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    # Some of its tables have fewer channels than some steps need, which say so.
    few = r"needs more than 2 channels|there are only [12] channels|could not be found for sample"
    assert {name for name, error in failed.items() if not re.search(few, str(error))} == set()
    assert len(results) - len(failed) > 30


def test_every_step_is_registered_by_its_kind():
    built_in = {type(step).kind: type(step) for step in STEPS_TO_TRY}
    assert dict(STEPS.items()) == built_in | {"undisturbed": Undisturbed}  # of what is found, not chosen
    with pytest.raises(NotInstalled, match="the step 'warp' is not known here"):
        step_of({"kind": "warp"})
    with pytest.raises(InputError, match="a crop step is not made of these fields"):
        step_of({"kind": "crop", "from": 3})


# Ranges


@given(st.floats(300, 1900), st.floats(300, 1900), st.booleans())
def test_crop_keeps_what_cut_leaves_out(low, high, rising):
    axis = AXIS[::-1] if rising else AXIS
    inside = (axis >= min(low, high)) & (axis <= max(low, high))
    for step, mask in ((Crop(low, high), inside), (Cut(low, high), ~inside)):
        if mask.any():
            np.testing.assert_array_equal(step.kept(axis), np.flatnonzero(mask))
        else:
            with pytest.raises(InputError, match=r"leaves no channel of an axis from .* in channel numbers"):
                step.kept(axis)


def test_ranges_without_an_axis_are_channel_numbers():
    X = np.arange(20.0).reshape(2, 10)
    np.testing.assert_array_equal(Crop(3, 5).fit_transform(X), X[:, 3:6])
    np.testing.assert_array_equal(Crop(high=2).fit_transform(X), X[:, :3])
    np.testing.assert_array_equal(Cut(8, 1).fit_transform(X), X[:, [0, 9]])
    assert Crop(3, 5).fit(X).get_feature_names_out().tolist() == ["x3", "x4", "x5"]
    with pytest.raises(InputError, match="low of Crop must be a number"):
        Crop("400").fit(X)


# Baselines


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("asls", None),
        ("asls", {"lam": 1e4, "p": 0.001}),
        ("arpls", None),
        ("airpls", None),
        ("snip", {"max_half_window": 8}),
        ("imodpoly", {"poly_order": 2}),
    ],
)
def test_baselines_are_those_of_pybaselines(method, options, frame):
    out = Baseline(method, options).fit_transform(frame)
    fitter = pybaselines.Baseline(AXIS[::-1])
    for sample, row in zip(frame.to_numpy(), out.to_numpy()):
        base = getattr(fitter, method)(sample[::-1], **(options or {}))[0]
        np.testing.assert_allclose(row, sample - base[::-1], rtol=1e-9, atol=1e-12)
    if method != "snip":  # which stays below the samples
        assert (out < 0).to_numpy().any()  # nothing is clipped


@pytest.mark.parametrize("method", ["asls", "arpls", "airpls"])
def test_baselines_in_common_are_collaborative_penalised_least_squares(method, frame):
    out = Baseline(method, {"lam": 1e4}, common=True).fit_transform(frame)
    samples = frame.to_numpy()[:, ::-1]
    asked = {"method": method, "method_kwargs": {"lam": 1e4}}
    base = pybaselines.Baseline(AXIS[::-1]).collab_pls(samples, **asked)[0]
    np.testing.assert_allclose(out.to_numpy()[:, ::-1], samples - base, rtol=1e-9, atol=1e-12)


def test_mixtures_stay_mixtures_where_baselines_are_in_common():
    D, C, S = mixtures(noise=0.0)
    ranks = {}
    for common in (False, True):
        step = Baseline("asls", {"lam": 1e3}, common=common).fit(D)
        ranks[common] = np.linalg.matrix_rank(step.transform(D), tol=1e-6)
    assert ranks[True] == 3 < ranks[False]
    np.testing.assert_allclose(step.transform(C @ S), C @ step.transform(S), atol=1e-9)


def test_what_is_missing_weighs_nothing_in_a_baseline_in_common(frame):
    step = Baseline("asls", {"lam": 1e4}, common=True).fit(frame)
    spoilt = frame.copy()
    spoilt.iloc[3, 70:72] = np.nan
    np.testing.assert_allclose(step.transform(spoilt), step.transform(frame).where(spoilt.notna()), atol=0.02)


def test_polynomial_is_a_method_too(frame):
    pd.testing.assert_frame_equal(
        Baseline("polynomial").fit_transform(frame), Baseline("imodpoly").fit_transform(frame)
    )


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Baseline("nonsense"), "pybaselines has no method 'nonsense'; take asls"),
        (Baseline("_setup_whittaker"), "pybaselines has no method"),
        (Baseline(3), "method of Baseline must be the name"),
        (Baseline("asls", {"lambda": 3}), "the baseline asls has no option 'lambda'; choose from lam, p"),
        (Baseline("asls", {"lam": -1}), "could not be found for sample 0"),
        (Baseline("snip", common=True), "the baseline snip has no weights that samples could have in common"),
        (Baseline("asls", common=1), "common of Baseline must be True or False"),
        (SavitzkyGolay(4), "needs an odd window"),
        (SavitzkyGolay(5, 2, 3), "derivative <= order < window"),
        (SavitzkyGolay(201), "window of SavitzkyGolay is 201, but from 1800 to 400 there are only 141"),
        (Normalise("height"), "by of Normalise must be one of area, maximum, norm"),
        (MSC([1.0, 2.0]), "reference of MSC must have 141 values"),
        (SubtractBlank([1.0, 2.0]), r"blank has shape \(2,\) and the samples have 141 channels"),
        (SubtractBlank([np.nan] * 141), "blank is missing a value"),
        (Despike(fill="zero"), "fill of Despike must be missing or line"),
        (Despike(threshold=-1), "threshold must be positive"),
        (Background(0), "background must be a whole number of at least 1"),
        (Background(200), "background=200 needs more than 201 channels"),
    ],
)
def test_what_makes_no_sense_is_refused(step, message, frame):
    with pytest.raises(InputError, match=message):
        step.fit_transform(frame)


# Savitzky and Golay


def test_derivatives_are_per_unit_of_the_axis_and_pieces_go_by_themselves():
    X = (AXIS / 100) ** 2 + np.zeros((2, 1))
    frame = pd.DataFrame(X, columns=AXIS)
    slope = SavitzkyGolay(5, 2, 1).fit_transform(frame)
    np.testing.assert_allclose(slope.iloc[0], 2 * AXIS / 100**2, rtol=1e-9)  # the axis falls
    gone = make_pipeline(Cut(900, 1200), SavitzkyGolay(5, 2, 2)).fit_transform(frame)
    np.testing.assert_allclose(gone, 2 / 100**2, rtol=1e-6)
    rng = np.random.default_rng(0)
    noisy = pd.DataFrame(rng.standard_normal((3, 141)), columns=AXIS)
    left, right = (AXIS > 1200), (AXIS < 900)
    out = make_pipeline(Cut(900, 1200), SavitzkyGolay(7, 2)).fit_transform(noisy).to_numpy()
    apart = [savgol_filter(noisy.to_numpy()[:, part], 7, 2) for part in (left, right)]
    np.testing.assert_allclose(out, np.hstack(apart))


def test_noise_after_filters_and_scales():
    """What a step says of the noise is what it does to noise."""
    rng = np.random.default_rng(0)
    clean = np.tile(1.0 + mixtures(1)[0][0], (4000, 1))
    noisy = clean + 0.05 * rng.standard_normal(clean.shape)
    sigma = np.full((1, len(AXIS)), 0.05)
    for step in (
        SavitzkyGolay(7, 2),
        SavitzkyGolay(7, 2, 1),
        SNV(),
        Normalise("area"),
        Normalise("norm"),
        Crop(500, 900),
    ):
        chain, after, _ = Chain.learned([step], noisy, AXIS)
        told = chain.spread(sigma, clean[:1])[0]
        inner = slice(5, -5)  # at the ends local polynomials weigh otherwise
        np.testing.assert_allclose(after.std(axis=0)[inner], told[inner], rtol=0.1)
    for n in (1, 3):
        chain, after, _ = Chain.learned([Background(n, lifted=False)], noisy, AXIS)
        expected = np.sqrt(np.square(after - chain.apply(clean[:1])).sum() / after.size)
        assert chain.spread(sigma, clean[:1]).mean() == pytest.approx(expected, rel=1e-2)


# Scaling


def test_scalings_are_those_of_others(frame):
    X = frame.to_numpy()
    about = X - X.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(SNV().fit_transform(X), about / X.std(axis=1, ddof=1, keepdims=True))
    for by, norm in (("area", "l1"), ("maximum", "max"), ("norm", "l2")):
        np.testing.assert_allclose(Normalise(by).fit_transform(X), normalize(X, norm), rtol=1e-12)
    out = MSC().fit_transform(X)
    reference = X.mean(axis=0)
    for sample, row in zip(X, out):
        slope, offset = np.polyfit(reference, sample, 1)
        np.testing.assert_allclose(row, (sample - offset) / slope, atol=1e-9)


def test_msc_takes_offset_and_scale_of_the_reference_away_and_leaves_strangers():
    reference = mixtures(1)[0][0]
    X = np.array([3.0 + 2.0 * reference, -1.0 + 0.5 * reference])
    np.testing.assert_allclose(MSC(reference).fit_transform(X), [reference, reference], atol=1e-12)
    with pytest.warns(UserWarning, match=r"1 sample\(s\), the first is 1, do not go with MSC's reference"):
        out = MSC(reference).fit_transform([reference, -reference])
    np.testing.assert_array_equal(out[1], -reference)


def test_a_sample_of_nothing_stays_one():
    X = np.zeros((2, 8))
    X[1] = 3.0
    np.testing.assert_array_equal(Normalise("area").fit_transform(X)[0], X[0])
    np.testing.assert_array_equal(SNV().fit_transform(X), np.zeros((2, 8)))


def test_a_blank_of_several_measurements_is_their_mean(frame):
    blanks = np.random.default_rng(0).random((3, 141))
    out = SubtractBlank(blanks).fit_transform(frame)
    np.testing.assert_allclose(out, frame - blanks.mean(axis=0))


# Replicates


def test_replicates_are_averaged_and_tell_the_noise():
    rng = np.random.default_rng(0)
    truth = mixtures(10, noise=0.0)[0]
    labels = np.repeat([f"mixture {m}" for m in range(10)], 4)[:-3]
    X = np.repeat(truth, 4, axis=0)[:-3] + 0.1 * rng.standard_normal((37, 141))
    order = rng.permutation(37)
    frame = pd.DataFrame(X, index=labels, columns=AXIS).iloc[order]
    step = AverageReplicates(noise="constant").fit(frame)
    out = step.transform(frame)
    expected = frame.groupby(level=0).mean()
    pd.testing.assert_frame_equal(out.loc[expected.index], expected)
    assert out.index.tolist() == list(dict.fromkeys(frame.index))
    assert step.noise_law_.level == pytest.approx(0.1, rel=0.05)
    sigma = step.noise_of_means(out.to_numpy())
    np.testing.assert_allclose(sigma[:, 0], step.noise_law_.level / np.sqrt(step.counts_))
    same = AverageReplicates(labels=frame.index).fit_transform(frame.to_numpy())
    np.testing.assert_allclose(same, out)
    assert AverageReplicates().fit(truth).noise_law_ is None
    assert isinstance(AverageReplicates(noise="constant").fit(frame).noise_law_, Constant)


def test_what_has_no_label_is_by_itself():
    X = np.arange(12.0).reshape(4, 3)
    out = AverageReplicates(labels=["a", None, "a", np.nan]).fit_transform(X)
    np.testing.assert_array_equal(out, [X[[0, 2]].mean(axis=0), X[1], X[3]])


# Spikes


def test_spikes_are_found_wherever_they_are_and_nothing_else():
    X = mixtures(20, seed=3)[0]
    spikes = np.zeros(X.shape, dtype=bool)
    places = [(0, 0, 1), (1, 139, 2), (2, 70, 2), (3, 20, 1), (3, 24, 2), (4, 90, 1), (5, 90, 2), (6, 55, 3)]
    for m, first, width in places:
        spikes[m, first : first + width] = True
    loud = X + 2.0 * spikes
    np.testing.assert_array_equal(np.isnan(Despike().fit_transform(loud)), spikes)
    assert not np.isnan(Despike().fit_transform(X)).any()
    line = Despike(fill="line").fit_transform(loud)
    assert np.abs(line - X)[spikes].max() < 0.5
    np.testing.assert_array_equal(line[~spikes], loud[~spikes])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_spikes_do_not_depend_on_the_unit(scale):
    X = mixtures(20, seed=3)[0]
    X[4, 33] += 3.0
    found = np.isnan(Despike().fit_transform(scale * X))
    assert np.argwhere(found).tolist() == [[4, 33]]


@pytest.mark.parametrize("holders", [3, 8, 20])
def test_narrow_peaks_of_several_samples_are_no_spikes(holders):
    """One channel wide, as lines of a mass spectrum are; in amounts that differ tenfold."""
    rng = np.random.default_rng(holders)
    X = 0.01 * rng.standard_normal((20, 141))
    X[:holders, 60] += rng.uniform(0.5, 5.0, holders)
    X[:holders, 100:102] += rng.uniform(0.5, 5.0, (holders, 1))
    assert not np.isnan(Despike().fit_transform(X)).any()
    X[3, 30] += 1.0
    assert np.argwhere(np.isnan(Despike().fit_transform(X))).tolist() == [[3, 30]]


def test_broad_peaks_and_loud_noise_are_no_spikes():
    rng = np.random.default_rng(0)
    broad = gaussian_filter1d(rng.exponential(size=(1, 400)), 4, axis=1) * 100
    assert not np.isnan(Despike().fit_transform(broad)).any()  # one sample alone
    counts = rng.poisson(np.tile(broad, (15, 1))).astype(float)
    assert not np.isnan(Despike().fit_transform(counts)).any()


def test_a_new_sample_is_compared_with_what_training_samples_showed():
    X = mixtures(20, seed=3)[0]
    X[:, 60] += np.linspace(0.5, 1.5, 20)  # a narrow peak of all
    step = Despike().fit(X)
    new = 3.0 * X[[5]]
    new[0, 100] += 2.0
    assert np.argwhere(np.isnan(step.transform(new))).tolist() == [[0, 100]]


# Background


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_whatever_the_background_is_it_is_gone(n):
    X, C, profiles = mixtures(25)
    rng = np.random.default_rng(0)
    place = np.linspace(-1, 1, 141)
    drift = rng.standard_normal((25, n)) @ np.stack([place**k for k in range(n)])
    step = Background(n).fit(X + drift)
    out = step.transform(X + drift)
    np.testing.assert_allclose(out, Background(n).fit(X).transform(X), atol=1e-3)
    again = rng.standard_normal((25, n)) @ np.stack([place**k for k in range(n)])
    np.testing.assert_allclose(step.transform(X + again), out, atol=1e-8)  # of new samples too
    # Three profiles are still what spans them, and mixtures are not negative but for noise.
    values = np.linalg.svd(out, compute_uv=False)
    assert values[2] > 10 * values[3]
    assert out.min() > -0.1
    # What is left of the smooth part of a profile that touches zero is next to nothing.
    found = np.linalg.lstsq(C, out, rcond=None)[0]
    cosines = (
        (found * profiles).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(profiles, axis=1)
    )
    assert cosines.min() > 0.97


def test_a_background_of_data_with_both_signs_is_projected_out():
    X = mixtures(25)[0]
    place = np.linspace(-1, 1, 141)
    Q = np.linalg.qr(np.stack([np.ones(141), place], axis=1))[0]
    out = Background(2, lifted=False).fit_transform(X)
    np.testing.assert_allclose(out, X - X @ Q @ Q.T, atol=1e-12)


# Chains


def test_a_chain_says_what_was_done_and_keeps_the_axis():
    X = mixtures()[0]
    steps = [Crop(1500, 600), Cut(900, 950), Baseline("asls"), SavitzkyGolay(5, 2, 1)]
    chain, after, sigma = Chain.learned(steps, X, AXIS)
    inside = (AXIS >= 600) & (AXIS <= 1500) & ~((AXIS >= 900) & (AXIS <= 950))
    np.testing.assert_array_equal(chain.axis_after, AXIS[inside])
    np.testing.assert_array_equal(chain.apply(X), after)
    assert sigma is None
    assert [len(told) > 20 for told in chain.did] == [True] * 4
    assert "91 of 141 channels are left" in chain.did[0]
    assert "below zero since, and were left so" in chain.did[2]
    assert not hasattr(steps[2], "n_features_in_")  # the caller's own are left alone
    pipeline = make_pipeline(*(clone(step) for step in steps)).fit(pd.DataFrame(X, columns=AXIS))
    np.testing.assert_allclose(pipeline.transform(pd.DataFrame(X, columns=AXIS)), after)


def test_a_step_that_leaves_nothing_is_named():
    with pytest.raises(InputError, match=r"crop leaves 1 channel\(s\)"):
        Chain.learned([Crop(400, 400)], mixtures()[0], AXIS)
    X = mixtures()[0]
    X[2, AXIS >= 1000] = np.nan
    with pytest.raises(InputError, match="crop leaves nothing of sample 2"):
        Chain.learned([Crop(1000, 1800)], X, AXIS)


def test_a_step_of_somebody_else_needs_a_kind_of_its_own():
    class Nothing(Step):
        kind = "nothing"

        def apply(self, X, axis):
            return X

        def sentence(self):
            return "nothing done"

    with pytest.raises(InputError, match="must be a class with kind = 'other'"):
        STEPS.add("other", Nothing)
    X = mixtures()[0]
    np.testing.assert_array_equal(Nothing().fit_transform(X), X)
