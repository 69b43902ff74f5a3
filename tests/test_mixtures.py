"""make_mixtures draws what Algorithm 2 says, and each option does what its name says."""

import dataclasses

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from gmcr.errors import InputError
from gmcr.mixtures.generative import CLAMP, _direction_rows, make_mixtures

SMALLEST_P = 1e-3  # a seeded test of a distribution fails below this


@pytest.fixture(scope="module")
def large():
    return make_mixtures(n_components=24, n_samples=4000, snr_db=20, n_features=128, random_state=7)


# Algorithm 2


def test_shapes_and_defaults():
    mix = make_mixtures(16, 64, random_state=0)
    assert mix.D.shape == (64, 512)
    assert mix.C.shape == mix.supports.shape == (64, 16)
    assert mix.S.shape == (16, 512)
    assert mix.sigma.shape == (64,)
    assert mix.clean.shape == mix.D.shape
    assert mix.noise == "proportional"
    assert "64 samples x 512 channels, 16 components" in repr(mix)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mix.D = None


def test_clean_is_concentrations_times_profiles(large):
    np.testing.assert_allclose(large.clean, large.C @ large.S)
    np.testing.assert_array_equal(large.supports, large.C > 0)


def test_active_counts_are_uniform(large):
    counts = np.bincount(large.supports.sum(axis=1), minlength=5)
    assert counts[0] == 0
    assert counts.size == 5
    assert scipy.stats.chisquare(counts[1:]).pvalue > SMALLEST_P


def test_supports_are_uniform_over_components_and_pairs():
    supports = make_mixtures(6, 30_000, None, 8, active=(2, 2), random_state=3).supports
    together = supports.T.astype(float) @ supports
    assert scipy.stats.chisquare(np.diag(together)).pvalue > SMALLEST_P
    assert scipy.stats.chisquare(together[np.triu_indices(6, 1)]).pvalue > SMALLEST_P


def test_concentrations_are_uniform(large):
    present = large.C[large.supports]
    assert present.min() >= 1
    assert present.max() < 10
    assert scipy.stats.kstest(present, "uniform", args=(1, 9)).pvalue > SMALLEST_P


def test_profiles_have_unit_norm_and_are_not_negative(large):
    np.testing.assert_allclose(np.linalg.norm(large.S, axis=1), 1, rtol=1e-12)
    assert (large.S >= 0).all()


def test_profiles_come_from_orthonormal_rows():
    rows = _direction_rows(np.random.default_rng(1), 20, 64)
    np.testing.assert_allclose(rows @ rows.T, np.eye(20), atol=1e-12)
    drawn = make_mixtures(20, 3, n_features=64, random_state=1).S
    np.testing.assert_allclose(drawn, np.abs(rows), rtol=1e-12)


def test_orthonormal_rows_are_uniform_in_direction():
    rng = np.random.default_rng(2)
    first = np.array([_direction_rows(rng, 3, 3)[2, 0] for _ in range(3000)])
    assert scipy.stats.kstest(first, "uniform", args=(-1, 2)).pvalue > SMALLEST_P  # Archimedes: on a sphere


def test_more_components_than_channels_gives_independent_gaussian_rows():
    S = make_mixtures(4000, 2, n_features=3, random_state=0).S
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1)
    assert (S >= 0).all()
    for entry in S.T:
        assert scipy.stats.kstest(entry, "uniform").pvalue > SMALLEST_P


def test_noise_has_the_stated_ratio_to_each_sample(large):
    power = (large.clean**2).mean(axis=1)
    np.testing.assert_allclose(large.sigma, np.sqrt(power / 100))
    untouched = large.D > CLAMP
    z = ((large.D - large.clean) / large.sigma[:, None])[untouched & (large.clean > 5 * large.sigma[:, None])]
    assert scipy.stats.kstest(z[:50_000], "norm").pvalue > SMALLEST_P


@pytest.mark.parametrize("snr_db", [5.0, 20.0, 40.0])
def test_realised_snr_without_clamp(snr_db):
    mix = make_mixtures(8, 200, snr_db, 400, signed=True, random_state=0)
    realised = 10 * np.log10((mix.clean**2).sum(axis=1) / ((mix.D - mix.clean) ** 2).sum(axis=1))
    assert abs(realised.mean() - snr_db) < 0.1
    assert np.abs(realised - snr_db).max() < 1.5


def test_noise_falls_on_nonzero_entries_only():
    S = np.zeros((2, 40))
    S[0, :10] = S[1, 10:25] = 1.0
    mix = make_mixtures(2, 100, 10, active=(1, 2), profiles=S, random_state=0)
    zero = mix.clean == 0
    assert zero.any()
    assert (mix.D[zero] == CLAMP).all()
    present = ~zero
    assert (mix.D[present] != mix.clean[present]).all()
    power = (mix.clean**2).sum(axis=1) / present.sum(axis=1)  # the mean over nonzero entries, not all
    np.testing.assert_allclose(mix.sigma, np.sqrt(power / 10))


def test_clamp():
    mix = make_mixtures(4, 200, 0.0, 64, random_state=0)
    assert mix.D.min() == CLAMP
    assert make_mixtures(4, 200, 0.0, 64, signed=True, random_state=0).D.min() < 0


def test_active_is_cut_to_the_number_of_components():
    assert make_mixtures(2, 200, n_features=8, random_state=0).supports.sum(axis=1).max() == 2


# Options


def test_without_noise():
    mix = make_mixtures(5, 20, None, 32, random_state=0)
    np.testing.assert_array_equal(mix.D, np.maximum(mix.clean, CLAMP))
    assert not mix.sigma.any()
    assert mix.noise is None


def test_peaks_are_smooth_and_positive():
    S = make_mixtures(50, 2, profiles="peaks", random_state=0).S
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1)
    assert (S > 0).all()
    steps = np.abs(np.diff(S, axis=1)).max(axis=1) / S.max(axis=1)
    assert steps.max() < 0.3  # a Gaussian of width 3 climbs at most exp(-1/2)/3 of its height a channel


def test_peak_count_and_shape_follow_the_arguments():
    one = {"profiles": "peaks", "peaks": (1, 1), "width": (6.0, 6.0), "random_state": 4}
    gauss = make_mixtures(200, 1, **one).S
    lorentz = make_mixtures(200, 1, peak_shape="lorentzian", **one).S
    axis = np.arange(512)
    for S, width_at_half in ((gauss, 2 * np.sqrt(2 * np.log(2)) * 6), (lorentz, 12)):
        inside = np.abs(S.argmax(axis=1) - 256) < 150
        half = S.max(axis=1, keepdims=True) / 2
        above_half = (half < S)[inside]
        assert np.abs(above_half.sum(axis=1) - width_at_half).max() <= 1
        for row in above_half[:20]:
            assert np.ptp(axis[row]) + 1 == row.sum()  # one peak, in one piece
    assert np.median(lorentz.min(axis=1)) > 100 * np.median(gauss.min(axis=1))  # Lorentzian tails are long


def test_bands_overlap_more_than_peaks():
    def mean_cosine(kind):
        S = make_mixtures(30, 1, profiles=kind, random_state=0).S
        return (S @ S.T)[np.triu_indices(30, 1)].mean()

    assert mean_cosine("bands") > 0.35 > mean_cosine("peaks")


def test_given_profiles_are_scaled_to_unit_norm():
    S = np.random.default_rng(0).random((3, 17)) * 9
    mix = make_mixtures(3, 10, profiles=S, random_state=0)
    np.testing.assert_allclose(mix.S, S / np.linalg.norm(S, axis=1, keepdims=True))
    assert mix.D.shape == (10, 17)


def test_constant_noise_is_the_same_for_all_and_set_at_the_median_sample():
    mix = make_mixtures(8, 501, 25, 300, noise="constant", offset=20.0, random_state=0)
    assert np.unique(mix.sigma).size == 1
    power = (mix.clean**2).mean(axis=1)
    np.testing.assert_allclose(mix.sigma[0] ** 2, np.median(power) / 10**2.5)
    spread = (mix.D - mix.clean).std(axis=1)
    assert np.abs(spread / mix.sigma - 1).max() < 0.2
    assert abs(np.corrcoef(spread, power)[0, 1]) < 0.2


def test_poisson_noise_has_the_stated_counts_and_variance():
    mix = make_mixtures(6, 400, noise="poisson", counts=50.0, n_features=200, random_state=0)
    scale = 50 / mix.clean.mean()
    counts = mix.D[mix.D > CLAMP] * scale
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
    assert abs((mix.D * scale).mean() - 50) < 0.5
    z = (mix.D - mix.clean) * np.sqrt(scale / mix.clean)
    assert abs((z**2).mean() - 1) < 0.02
    realised = np.sqrt(((mix.D - mix.clean) ** 2).mean(axis=1))
    assert abs((realised / mix.sigma).mean() - 1) < 0.02


def test_offset_is_added_to_every_entry():
    mix = make_mixtures(3, 10, None, 20, offset=2.5, random_state=0)
    np.testing.assert_allclose(mix.clean, mix.C @ mix.S + 2.5)


@pytest.mark.parametrize("profiles", ["orthonormal", "peaks", "bands"])
def test_signed_profiles_have_both_signs(profiles):
    mix = make_mixtures(12, 30, None, 64, profiles=profiles, signed=True, random_state=0)
    assert (mix.S < 0).any()
    assert (mix.S > 0).any()
    assert (mix.C >= 0).all()
    np.testing.assert_array_equal(mix.D, mix.clean)


def test_closure():
    mix = make_mixtures(5, 50, closure=True, n_features=16, random_state=0)
    np.testing.assert_allclose(mix.C.sum(axis=1), 1)


def test_occurrence_is_kept_and_may_hold_an_empty_sample():
    occurrence = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])
    mix = make_mixtures(3, 4, n_features=16, occurrence=occurrence, closure=True, random_state=0)
    np.testing.assert_array_equal(mix.supports, occurrence.astype(bool))
    assert (mix.D[1] == CLAMP).all()
    assert mix.sigma[1] == 0
    constant = make_mixtures(3, 4, n_features=16, occurrence=occurrence, noise="constant", random_state=0)
    assert (constant.sigma > 0).all()


# Seeds


@pytest.mark.parametrize(
    "options",
    [{}, {"profiles": "peaks"}, {"profiles": "bands"}, {"noise": "poisson"}, {"noise": "constant"}],
    ids=str,
)
def test_same_seed_same_mixtures(options):
    first, second = (make_mixtures(6, 30, n_features=40, random_state=5, **options) for _ in range(2))
    other = make_mixtures(6, 30, n_features=40, random_state=6, **options)
    for name in ("D", "C", "S", "sigma", "supports", "clean"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert not np.array_equal(first.D, other.D)


def test_same_seed_at_another_noise_level_gives_the_same_mixtures():
    quiet, loud = (make_mixtures(6, 30, snr, 40, random_state=5) for snr in (40, 10))
    np.testing.assert_array_equal(quiet.clean, loud.clean)


def test_generator_advances_and_none_is_fresh():
    rng = np.random.default_rng(0)
    first, second = (make_mixtures(3, 5, n_features=9, random_state=rng) for _ in range(2))
    assert not np.array_equal(first.D, second.D)
    np.testing.assert_array_equal(first.D, make_mixtures(3, 5, n_features=9, random_state=0).D)
    assert not np.array_equal(make_mixtures(3, 5).D, make_mixtures(3, 5).D)


# Any argument within bounds


@settings(max_examples=60)
@given(
    n_components=st.integers(1, 12),
    n_samples=st.integers(1, 15),
    n_features=st.integers(1, 20),
    snr_db=st.none() | st.floats(-20, 60),
    profiles=st.sampled_from(["orthonormal", "peaks", "bands"]),
    noise=st.sampled_from(["proportional", "constant", "poisson"]),
    fewest=st.integers(1, 3),
    extra=st.integers(0, 3),
    closure=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_what_always_holds(
    n_components, n_samples, n_features, snr_db, profiles, noise, fewest, extra, closure, seed
):
    fewest = min(fewest, n_components)
    mix = make_mixtures(
        n_components,
        n_samples,
        snr_db,
        n_features,
        active=(fewest, fewest + extra),
        random_state=seed,
        profiles=profiles,
        noise=noise,
        closure=closure,
    )
    assert mix.D.shape == (n_samples, n_features)
    assert np.isfinite(mix.D).all()
    assert (mix.D >= CLAMP).all()
    np.testing.assert_allclose(np.linalg.norm(mix.S, axis=1), 1)
    np.testing.assert_array_equal(mix.supports, mix.C > 0)
    size = mix.supports.sum(axis=1)
    assert size.min() >= fewest
    assert size.max() <= min(fewest + extra, n_components)
    assert (mix.sigma >= 0).all()


# Bad arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components must be a whole number"),
        ({"n_samples": -3}, "n_samples must be a whole number"),
        ({"n_features": 0}, "n_features must be a whole number"),
        ({"snr_db": "high"}, "snr_db must be a finite number"),
        ({"snr_db": np.nan}, "snr_db must be a finite number"),
        ({"active": (0, 2)}, "active must be two whole numbers with 1 <= low <= high"),
        ({"active": (3, 2)}, "active must be two whole numbers"),
        ({"active": (1.5, 2)}, "active must be two whole numbers"),
        ({"active": 3}, "active must be two whole numbers"),
        ({"active": (5, 6)}, "at least 5 components a sample, but n_components is 4"),
        ({"concentration": (-1, 2)}, "concentration must be two numbers"),
        ({"concentration": (0, 0)}, "concentration must be two numbers"),
        ({"concentration": (1, np.inf)}, "concentration must be two numbers"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"profiles": "spikes"}, "profiles must be one of 'orthonormal', 'peaks', 'bands' or an array"),
        ({"profiles": np.ones((3, 5))}, "profiles has 3 rows, but n_components is 4"),
        ({"profiles": -np.ones((4, 5))}, "negative at row 0, column 0; pass signed=True"),
        ({"profiles": np.zeros((4, 5))}, "row 0 is zero in every column"),
        ({"noise": "pink"}, "noise must be one of"),
        ({"noise": "poisson", "signed": True}, "cannot go with signed=True"),
        ({"counts": 0}, "counts must be a positive number"),
        ({"offset": np.inf}, "offset must be a finite number"),
        ({"offset": -1.0}, "offset is -1"),
        ({"occurrence": np.ones((2, 2))}, "occurrence must have shape"),
        ({"occurrence": np.full((6, 4), 0.5)}, "occurrence must hold only True and False"),
        ({"profiles": "peaks", "peaks": (0, 3)}, "peaks must be two whole numbers"),
        ({"profiles": "peaks", "width": (0.1, 3)}, "width must be two numbers with 0.5 <= low"),
        ({"profiles": "peaks", "peak_shape": "voigt"}, "peak_shape must be one of"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments, message):
    with pytest.raises(InputError) as error:
        make_mixtures(**({"n_components": 4, "n_samples": 6} | arguments))
    assert message in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
