"""The estimator GMCR: scikit-learn's contract, every option, what must not change the answer, and real data."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from gmcr import GMCR, Decomposition, decode, make_mixtures
from gmcr.errors import FileError, InputError
from gmcr.noise import Constant, Sigma
from gmcr.scoring import compare
from gmcr.storage import read_model, write_model
from interpreter import killed_at
from shared_data import DATA, needs_data


def mixtures(seed=1, **changes):
    """14 components in 84 samples: enough for the many-components way of the solver, and quick."""
    settings = {"n_components": 14, "n_samples": 84, "snr_db": 25, "n_features": 96, "random_state": seed}
    return make_mixtures(**settings | changes)


def few(seed=0, n_components=3, n_samples=30, snr_db=30, **changes):
    """A handful of peak-like components, all of them in every sample."""
    return make_mixtures(
        n_components,
        n_samples,
        snr_db=snr_db,
        n_features=80,
        active=(n_components, n_components),
        profiles="peaks",
        random_state=seed,
        **changes,
    )


def same_pool(first, second, atol=1e-6):
    """Whether two models have the same components in any order: the order of the second in the first."""
    cosines = first.components_ @ second.components_.T
    order = cosines.argmax(axis=1)
    assert first.n_components_ == second.n_components_
    assert sorted(order) == list(range(first.n_components_))
    np.testing.assert_allclose(cosines.max(axis=1), 1.0, atol=atol)
    return order


def assert_found(model, mix, exact=1.0, cosine=0.99):
    compared = compare(model, mix)
    assert model.n_components_ == len(mix.S)
    assert compared.exact >= exact
    assert compared.min_cos >= cosine


@pytest.fixture(scope="module")
def mix():
    return mixtures()


@pytest.fixture(scope="module")
def model(mix):
    return GMCR(random_state=0).fit(mix.D)


# scikit-learn's contract


@pytest.mark.filterwarnings("ignore:no component stands above the noise")
@parametrize_with_checks([GMCR()])
def test_sklearn_contract(estimator, check):
    check(estimator)


def test_signed_contract_of_the_tags():
    assert GMCR(signed=False).__sklearn_tags__().input_tags.positive_only
    assert not GMCR().__sklearn_tags__().input_tags.positive_only
    assert not GMCR(signed=True).__sklearn_tags__().input_tags.positive_only
    assert GMCR().__sklearn_tags__().input_tags.allow_nan


# What comes back


def test_nothing_told_everything_found(model, mix):
    assert_found(model, mix)
    np.testing.assert_allclose(model.noise_, mix.sigma, rtol=0.1)
    assert model.noise_law_.kind == "proportional"
    assert model.count_.count == 14
    assert not model.interrupted_


def test_attributes_are_consistent(model, mix):
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    assert (model.components_ >= 0).all()
    assert (model.concentrations_ >= 0).all()
    np.testing.assert_array_equal(model.supports_, model.concentrations_ != 0)
    assert model.concentrations_.shape == (84, 14)
    assert model.n_features_in_ == 96
    assert model.decomposition_.r2(mix.D) == pytest.approx(model.decomposition_.fit["r2"])
    columns = ["level", "stage", "noise", "count", "r2", "usage", "cost", "chosen"]
    assert list(model.path_.columns) == columns
    chosen = model.path_[model.path_["chosen"]]
    assert len(chosen) == 1
    assert chosen["count"].item() == 14
    assert chosen["r2"].item() == pytest.approx(model.decomposition_.fit["r2"], abs=1e-6)
    assert chosen["usage"].item() == model.decomposition_.usage
    assert "14 components" in str(model.count_)
    assert "14 components in 84 samples" in str(model.decomposition_)


def test_fit_transform_and_transform_and_concentrations_agree(model, mix):
    np.testing.assert_array_equal(model.transform(mix.D), model.concentrations_)
    np.testing.assert_array_equal(GMCR(random_state=0).fit_transform(mix.D), model.concentrations_)


def test_transform_does_not_depend_on_the_batch(model, mix):
    new = mixtures(seed=1, n_samples=200)
    whole = model.transform(new.D)
    alone = np.vstack([model.transform(row[None]) for row in new.D[:20]])
    np.testing.assert_array_equal(alone != 0, whole[:20] != 0)
    np.testing.assert_allclose(alone, whole[:20], rtol=1e-9)
    np.testing.assert_allclose(model.transform(new.D[50:]), whole[50:], rtol=1e-9)


def test_decoding_fresh_samples(model, mix):
    rng = np.random.default_rng(5)
    C = np.where(rng.random((300, 14)) < 0.15, rng.uniform(1, 10, (300, 14)), 0.0)
    C[~C.any(axis=1), 0] = 3.0
    clean = C @ mix.S
    sigma = 10 ** (-25 / 20) * np.sqrt((clean**2).mean(axis=1))
    out = model.decode(clean + sigma[:, None] * rng.standard_normal(clean.shape))
    order = (model.components_ @ mix.S.T).argmax(axis=0)
    assert (out.supports[:, order] == (C > 0)).all(axis=1).mean() > 0.95
    assert out.known.mean() > 0.98
    assert not model.decode(rng.random((20, 96))).known.any()


def test_known_allows_for_the_uncertainty_of_the_pool():
    """Few training samples: the learned profiles are noisy, and that is no stranger's mark."""
    train = mixtures(n_components=4, n_samples=12, snr_db=20, n_features=256, active=(1, 1))
    model = GMCR(n_components=4).fit(train.D)
    rng = np.random.default_rng(0)
    D = np.repeat(train.clean, 40, axis=0)
    D = D + np.repeat(train.sigma, 40)[:, None] * rng.standard_normal(D.shape)
    naive = decode(D, model.components_, model.noise_law_, price=model.usage_price_)
    assert naive.known.mean() < 0.6
    assert model.decode(D).known.mean() > 0.98


def test_inverse_transform(model, mix):
    back = model.inverse_transform(model.transform(mix.D))
    np.testing.assert_allclose(back, model.decomposition_.reconstruct())
    with pytest.raises(InputError, match="C has 3 columns and the model has 14 components"):
        model.inverse_transform(np.ones((2, 3)))


def test_all_components_in_every_sample():
    mix = few()
    model = GMCR().fit(mix.D)
    assert model.n_components_ == 3
    assert compare(model, mix).min_cos > 0.9  # no pure samples and no absences: profiles are free to rotate


def test_small_counts():
    mix = mixtures(n_components=8, n_samples=40, n_features=64)
    assert_found(GMCR().fit(mix.D), mix)


def test_noise_free_data():
    mix = mixtures(snr_db=None)
    model = GMCR().fit(mix.D)
    assert_found(model, mix, cosine=0.9999)
    np.testing.assert_allclose(model.inverse_transform(model.concentrations_), mix.D, atol=1e-3)


def test_data_without_structure_give_hardly_any_component():
    D = np.abs(np.random.default_rng(0).standard_normal((30, 40)))
    assert GMCR().fit(D).n_components_ <= 2


# Options


def test_n_components(mix, model):
    asked = GMCR(n_components=14).fit(mix.D)
    same_pool(asked, model, atol=1e-3)
    assert asked.count_.decided_by == "you"
    fewer = GMCR(n_components=10).fit(mix.D)
    assert fewer.n_components_ == 10


def test_replicates_that_are_no_measurements_of_one_thing_are_doubted():
    made = make_mixtures(3, 20, snr_db=40, n_features=30, active=(3, 3), random_state=0)
    with pytest.warns(UserWarning, match="replicates differ by .* times what 3 directions leave over"):
        GMCR(n_components=3).fit(made.D, replicates=np.zeros(20))
    again = np.repeat(made.D, 2, axis=0)
    again += 1e-3 * again.std() * np.random.default_rng(0).standard_normal(again.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GMCR(n_components=3).fit(again, replicates=np.repeat(np.arange(20), 2))


def test_n_components_beyond_what_is_there_warns():
    mix = mixtures(n_components=14, n_samples=20, snr_db=None, active=(1, 1))
    with pytest.warns(UserWarning, match="18 components were asked for, but only"):
        model = GMCR(n_components=18).fit(mix.D)
    assert model.n_components_ < 18


def test_max_components(mix):
    assert GMCR(max_components=9).fit(mix.D).n_components_ <= 9


def test_fixed_components(mix):
    fixed = 3.0 * mix.S[[5, 2]]
    model = GMCR(fixed_components=fixed).fit(mix.D)
    np.testing.assert_allclose(model.components_[:2], mix.S[[5, 2]], atol=1e-12)
    assert_found(model, mix)


def test_fixed_components_that_are_not_there_stay(mix):
    stranger = np.zeros((1, 96))
    stranger[0, :5] = 1.0
    model = GMCR(fixed_components=stranger).fit(mix.D)
    np.testing.assert_allclose(model.components_[0, :5], 1 / np.sqrt(5))
    assert model.n_components_ == 15


def test_signed():
    mix = mixtures(signed=True)
    model = GMCR(signed=True).fit(mix.D)
    assert model.n_components_ == 14
    # Without non-negativity a blend of two profiles fits nearly as well; a few may stay blended.
    assert np.count_nonzero(compare(model, mix).cosines > 0.98) >= 11
    assert (model.components_ < 0).any()
    assert model.decomposition_.signed


def test_profiles_of_both_signs_are_noticed():
    mix = mixtures(signed=True)
    with pytest.warns(
        UserWarning, match=r"5\d% of the values are negative, more .*: profiles may be negative"
    ):
        model = GMCR().fit(mix.D)
    assert model.n_components_ == 14
    assert np.count_nonzero(compare(model, mix).cosines > 0.98) >= 12
    assert (model.concentrations_ >= 0).all()
    assert model.violations_ == {"non-negative": 0.0}
    assert model.decomposition_.signed
    assert not model.decomposition_.signed_amounts
    np.testing.assert_array_equal(model.transform(mix.D), model.concentrations_)


def test_negative_values_are_refused_where_nothing_may_be_unless_they_are_noise():
    mix = mixtures(signed=True)
    with pytest.raises(InputError, match=r"Negative values in data: .* more than noise .* pass signed=True"):
        GMCR(signed=False).fit(mix.D)
    with pytest.raises(InputError, match='signed must be True, False, "profiles" or "auto"'):
        GMCR(signed="both").fit(mix.D)
    loud = mixtures()
    rng = np.random.default_rng(0)
    D = loud.clean + 2 * loud.clean.std() * rng.standard_normal(loud.D.shape)
    assert np.square(np.minimum(D, 0)).sum() > 0.05 * np.square(D).sum()
    assert GMCR(n_components=5).fit(D).n_components_ <= 5


@pytest.mark.parametrize(("kind", "settings"), [("constant", {}), ("poisson", {"counts": 3000.0})])
def test_noise_laws_are_found(kind, settings):
    mix = mixtures(noise=kind, offset=0.0, **settings)
    model = GMCR().fit(mix.D)
    assert model.noise_law_.kind == kind
    assert_found(model, mix, exact=0.97, cosine=0.98)
    assert np.median(model.noise_ / mix.sigma) == pytest.approx(1.0, abs=0.1)


def test_noise_law_is_taken_as_told(mix):
    assert GMCR(noise="constant", n_components=14).fit(mix.D).noise_law_.kind == "constant"


def test_a_number_as_noise():
    mix = mixtures(noise="constant")
    level = float(mix.sigma[0])
    model = GMCR(noise=level).fit(mix.D)
    assert model.noise_law_ == Constant(level)
    np.testing.assert_allclose(model.noise_, level)
    assert_found(model, mix, exact=0.97)


def test_replicates_are_what_is_fitted(mix):
    """A copy is no second measurement, and a sample of no weight tells nothing."""
    twice = np.repeat(np.arange(42), 2)
    D = mix.D[twice * 2] + 0.02 * np.random.default_rng(0).standard_normal(mix.D.shape)
    law = GMCR(n_components=1).fit(D, replicates=twice).noise_law_
    copied = GMCR(n_components=1).fit(np.vstack([D, D]), replicates=[*twice, *twice]).noise_law_
    assert copied == law
    more = np.vstack([D, D + np.random.default_rng(1).standard_normal(D.shape)])
    weight = np.repeat([1.0, 0.0], 84)
    assert GMCR(n_components=1).fit(more, replicates=[*twice, *twice], sample_weight=weight).noise_law_ == law


def test_noise_per_sample_and_per_entry(mix):
    model = GMCR().fit(mix.D, noise=mix.sigma)
    np.testing.assert_array_equal(model.noise_, mix.sigma)
    assert_found(model, mix)
    np.testing.assert_array_equal(model.decode(mix.D, noise=mix.sigma).concentrations, model.concentrations_)
    per_entry = GMCR().fit(mix.D, noise=np.repeat(mix.sigma[:, None], 96, axis=1))
    same_pool(per_entry, model)


def test_missing_entries(mix):
    D = mix.D.copy()
    D[np.random.default_rng(0).random(D.shape) < 0.1] = np.nan
    model = GMCR().fit(D)
    assert_found(model, mix, exact=0.98)
    assert np.isfinite(model.transform(D)).all()


def test_empty_samples_are_left_out_and_hold_nothing(mix, model):
    D = np.vstack([np.zeros(96), mix.D, np.zeros(96)])
    with_empty = GMCR().fit(D)
    same_pool(with_empty, model)
    assert not with_empty.supports_[[0, -1]].any()
    assert with_empty.supports_[1:-1].any(axis=1).all()


def test_sample_weight_is_repetition(mix):
    weight = np.random.default_rng(0).integers(0, 4, len(mix.D))
    weighted = GMCR().fit(mix.D, sample_weight=weight)
    repeated = GMCR().fit(np.repeat(mix.D, weight, axis=0))
    np.testing.assert_array_equal(weighted.components_, repeated.components_)
    np.testing.assert_array_equal(weighted.transform(mix.D), repeated.transform(mix.D))
    assert weighted.concentrations_.shape == (84, 14)


def test_n_starts(mix, model):
    more = GMCR(n_starts=3, random_state=3).fit(mix.D)
    assert len(more.path_) > len(model.path_)
    same_pool(more, model, atol=1e-3)


def test_k_max(mix):
    model = GMCR(k_max=2, n_components=14).fit(mix.D)
    assert model.supports_.sum(axis=1).max() == 2


def test_closure():
    mix = mixtures(n_components=5, closure=True, snr_db=40)
    model = GMCR(n_components=5, closure=True).fit(mix.D)
    np.testing.assert_allclose(model.fractions_.sum(axis=1), 1.0)
    order = (model.components_ @ mix.S.T).argmax(axis=0)
    truth = mix.C / mix.C.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.fractions_[:, order], truth, atol=0.02)
    np.testing.assert_array_equal(model.fractions(mix.D), model.fractions_)
    empty = model.fractions(np.vstack([mix.D[:1], np.zeros((1, 96))]))
    assert np.isnan(empty[1]).all()


def test_closure_where_it_makes_no_sense(mix, model):
    with pytest.raises(InputError, match="closure makes no sense with signed=True"):
        GMCR(closure=True, signed=True).fit(mix.D)
    with pytest.warns(UserWarning, match="may not obey closure"):
        GMCR(closure=True, n_components=14).fit(mix.D)
    with pytest.raises(InputError, match="fractions need a model fitted with closure=True"):
        model.fractions(mix.D)


def test_warm_start(mix, model):
    warm = GMCR().fit(mix.D, warm_start=model.decomposition_)
    same_pool(warm, model, atol=1e-3)
    same_pool(GMCR().fit(mix.D, warm_start=3.0 * model.components_), model, atol=1e-3)
    with pytest.raises(InputError, match="warm_start has 90 channels and the samples have 96"):
        GMCR().fit(mix.D, warm_start=Decomposition(np.eye(2, 90), np.ones((3, 2))))


def test_r2_band(mix, model):
    middle = model.path_["r2"].iloc[1]
    band = (middle - 0.003, middle + 0.003)
    banded = GMCR(r2_band=band).fit(mix.D)
    row = banded.path_[banded.path_["chosen"]].iloc[0]
    assert band[0] <= row["r2"] <= band[1]
    inside = banded.path_[banded.path_["r2"].between(*band)]
    assert row["cost"] == inside["cost"].min()
    assert banded.n_components_ == row["count"]
    assert banded.decomposition_.fit["r2"] == pytest.approx(row["r2"], abs=1e-3)
    assert banded.count_.decided_by == "you"
    with pytest.raises(InputError, match=r"no solution of the path has R² within 0.2 to 0.3; the path goes"):
        GMCR(r2_band=(0.2, 0.3)).fit(mix.D)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1, not 0"),
        ({"n_components": "many"}, "n_components must be a whole number"),
        ({"n_components": True}, "n_components must be a whole number"),
        ({"max_components": 1.5}, "max_components must be a whole number"),
        ({"n_components": 5, "max_components": 3}, "n_components is 5, above max_components, 3"),
        ({"k_max": 0}, "k_max must be a whole number"),
        ({"n_starts": 0}, "n_starts must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads"),
        (
            {"noise": "pink"},
            "noise must be auto, constant, proportional, poisson, instrument, counts, a number or a law",
        ),
        ({"noise": [1.0, 2.0]}, "noise known per sample goes to fit"),
        ({"noise": -1.0}, "noise level must be finite and not negative"),
        ({"noise": 1e200}, r"below 1e150, not 1e\+200"),
        ({"callback": 3}, "callback must be a function, not 3"),
        ({"r2_band": 0.9}, "r2_band must be"),
        ({"r2_band": ("a", "b")}, "r2_band must be"),
        ({"r2_band": (0.9, 1.0), "n_components": 3}, "r2_band chooses the solution, and so does"),
        ({"fixed_components": np.ones((2, 5))}, "fixed_components has 5 channels and the samples have 96"),
        ({"fixed_components": -np.eye(1, 96)}, "fixed_components has negative values"),
        ({"fixed_components": np.eye(3, 96), "n_components": 2}, "but there are 3 fixed_components"),
    ],
)
def test_wrong_parameters_are_named(mix, parameters, message):
    with pytest.raises(InputError, match=message):
        GMCR(**parameters).fit(mix.D)


def test_wrong_input_is_named(mix):
    for D, message in [
        (mix.D[:1], "D has 1 sample"),
        (np.repeat(mix.D[:1], 5, axis=0), "D has 1 sample"),
        (np.ones((4, 5)), "D is constant"),
        (np.zeros((4, 5)), "D is zero in every row and column"),
        (np.where(np.eye(84, 96) > 0, np.inf, mix.D), "D is infinite at row 0, column 0"),
    ]:
        with pytest.raises(InputError, match=message):
            GMCR().fit(D)
    for arguments, message in [
        ({"noise": np.ones(3)}, "noise must be one number or 84"),
        ({"noise": np.ones((3, 3))}, "one per entry"),
        ({"noise": [[1.0], [1.0, 2.0]]}, "noise has rows of different lengths"),
        ({"noise": Sigma(np.ones(3))}, r"noise must be for samples of shape \(84, 96\), not \(3,\)"),
        ({"replicates": [[1], [1, 2]]}, "replicates must be a list of labels"),
        ({"replicates": np.array([b"\xff"] * 84)}, "replicates must be a list of labels"),
        ({"sample_weight": -np.ones(84)}, "sample_weight is -1.0 for sample 0"),
        ({"sample_weight": np.ones(3)}, "sample_weight must have 84 entries"),
        ({"sample_weight": np.zeros(84)}, "sample_weight is zero for every sample"),
    ]:
        with pytest.raises(InputError, match=message):
            GMCR().fit(mix.D, **arguments)
    with pytest.raises(NotFittedError):
        GMCR().transform(mix.D)


# Progress, interruption, checkpoints


def test_callback_sees_every_row(mix):
    rows = []
    model = GMCR(callback=rows.append).fit(mix.D)
    assert [row.cost for row in rows] == list(model.path_["cost"])
    assert rows[-1].count == 14


def test_interrupted_fit_returns_the_best_so_far(mix):
    def stop(row):
        if row.stage == "descent" and stop.settled:
            raise KeyboardInterrupt
        stop.settled |= row.stage == "settling"

    stop.settled = False
    with pytest.warns(UserWarning, match="interrupted"):
        model = GMCR(callback=stop).fit(mix.D)
    assert model.interrupted_
    assert model.n_components_ == 14
    assert model.path_["chosen"].sum() == 1


def test_interruption_at_the_first_level_returns_that_level(mix):
    def stop(row):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = GMCR(callback=stop).fit(mix.D)
    assert model.interrupted_
    assert model.n_components_ >= 1


def test_verbose_writes_nothing_where_there_is_no_terminal(mix, capfd):
    GMCR(n_components=14, verbose=1).fit(mix.D)
    assert capfd.readouterr() == ("", "")


def test_checkpoint_is_removed_when_the_fit_completes(mix, tmp_path, model):
    seen = []
    file = tmp_path / "run.checkpoint"
    saved = GMCR(callback=lambda row: seen.append(file.exists())).fit(mix.D, checkpoint=file)
    assert set(seen) == {True}
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(saved.components_, model.components_)


def test_checkpoint_of_another_run_is_refused(mix, tmp_path):
    file = tmp_path / "run.checkpoint"
    _interrupted(mix.D, file)
    for changed in (GMCR(k_max=3), GMCR(noise="constant")):
        with pytest.raises(InputError, match="was written by a run on other data, with other options"):
            changed.fit(mix.D, checkpoint=file)
    with pytest.raises(InputError, match="other data"):
        GMCR().fit(mix.D[1:], checkpoint=file)
    assert file.exists()


def test_interrupted_fit_goes_on_from_its_checkpoint(mix, tmp_path, model):
    file = tmp_path / "run.checkpoint"
    _interrupted(mix.D, file)
    rows = []
    with pytest.warns(UserWarning, match="went on from the checkpoint of a run that was ended"):
        resumed = GMCR(callback=rows.append).fit(mix.D[::-1], checkpoint=file)  # in another order
    assert (resumed.resumed_, model.resumed_, resumed.interrupted_) == (True, False, False)
    assert [row.cost for row in rows] == list(model.path_["cost"])
    np.testing.assert_array_equal(resumed.components_, model.components_)
    np.testing.assert_array_equal(resumed.concentrations_[::-1], model.concentrations_)
    assert resumed.count_ == model.count_
    assert not file.exists()


def _interrupted(D, file):
    def stop(row):
        if stop.settled:
            raise KeyboardInterrupt
        stop.settled = row.stage == "settling"

    stop.settled = False
    with pytest.warns(UserWarning, match="interrupted"):
        GMCR(callback=stop).fit(D, checkpoint=file)
    assert file.exists()


def test_killed_run_resumes(tmp_path, mix, model):
    """A real kill, in the middle of the work."""
    script = """
        import sys
        from gmcr import GMCR, make_mixtures
        mix = make_mixtures(14, 84, snr_db=25, n_features=96, random_state=1)
        GMCR(callback=lambda row: pause()).fit(mix.D, checkpoint=sys.argv[1])
    """
    file = tmp_path / "run.checkpoint"
    killed_at(4, script, file)
    assert [path.name for path in tmp_path.iterdir()] == ["run.checkpoint"]
    np.testing.assert_array_equal(GMCR().fit(mix.D, checkpoint=file).components_, model.components_)
    assert not file.exists()


# What must not change the answer


def test_permuting_samples_permutes_the_answer(mix, model):
    order = np.random.default_rng(0).permutation(len(mix.D))
    permuted = GMCR(random_state=0).fit(mix.D[order])
    np.testing.assert_array_equal(permuted.components_, model.components_)
    np.testing.assert_allclose(permuted.concentrations_, model.concentrations_[order], rtol=1e-9)


def test_permuting_channels_permutes_the_profiles(mix, model):
    order = np.random.default_rng(0).permutation(96)
    permuted = GMCR(random_state=0).fit(mix.D[:, order])
    slots = (permuted.components_ @ model.components_[:, order].T).argmax(axis=1)
    np.testing.assert_allclose(permuted.components_, model.components_[slots][:, order], atol=1e-4)
    np.testing.assert_allclose(permuted.concentrations_, model.concentrations_[:, slots], atol=1e-3)


@pytest.mark.parametrize("factor", [1000.0, 1e-4])
def test_scaling_the_data_scales_concentrations_only(mix, model, factor):
    scaled = GMCR(random_state=0).fit(factor * mix.D)
    slots = same_pool(scaled, model)
    np.testing.assert_allclose(scaled.components_, model.components_[slots], atol=1e-4)
    np.testing.assert_allclose(scaled.concentrations_ / factor, model.concentrations_[:, slots], atol=1e-3)


def test_threads_do_not_change_the_answer(mix):
    one, two = (GMCR(n_jobs=n).fit(mix.D) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.concentrations_, two.concentrations_)


def test_a_copy_of_a_sample_changes_little(mix, model):
    more = GMCR(random_state=0).fit(np.vstack([mix.D, mix.D[:1]]))
    same_pool(more, model, atol=1e-2)
    np.testing.assert_array_equal(more.supports_[0], more.supports_[-1])


def test_same_seed_same_answer(mix):
    first, second = (GMCR(n_starts=2, random_state=7).fit(mix.D) for _ in range(2))
    np.testing.assert_array_equal(first.components_, second.components_)
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        assert GMCR(n_starts=2, random_state=state).fit(mix.D).n_components_ == 14


# Tables, pipelines, copies and files


def test_dataframe_gives_axis_and_names(mix):
    axis, names = np.linspace(400, 700, 96), [f"mixture {m}" for m in range(84)]
    model = GMCR(n_components=14).fit(pd.DataFrame(mix.D, names, axis))
    np.testing.assert_array_equal(model.decomposition_.axis, axis)
    assert model.decomposition_.sample_names == tuple(names)
    shifted = pd.DataFrame(mix.D, names, axis + 5)
    with pytest.raises(InputError, match="channel 0 at 400 and at 405"):
        model.transform(shifted)
    model.transform(mix.D)
    plain = GMCR(n_components=14).fit(pd.DataFrame(mix.D))
    assert plain.decomposition_.axis is None
    assert plain.decomposition_.sample_names is None


def test_column_names_are_checked(mix):
    table = pd.DataFrame(mix.D, columns=[f"{400 + l}" for l in range(96)])
    model = GMCR(n_components=14).fit(table)
    assert list(model.feature_names_in_) == list(table.columns)
    np.testing.assert_array_equal(model.decomposition_.axis, 400.0 + np.arange(96))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(table[table.columns[::-1]])


def test_set_output_pandas(mix):
    table = pd.DataFrame(mix.D, index=[f"m{m}" for m in range(84)])
    model = GMCR(n_components=14).set_output(transform="pandas").fit(table)
    out = model.transform(table)
    assert list(out.columns) == [f"component {j}" for j in range(14)]
    assert list(out.index) == list(table.index)
    np.testing.assert_array_equal(out.to_numpy(), model.concentrations_)


def test_pipeline(mix):
    steps = make_pipeline(FunctionTransformer(np.asarray), GMCR(n_components=14))
    C = steps.fit_transform(mix.D)
    np.testing.assert_array_equal(C, steps.transform(mix.D))
    assert steps.inverse_transform(C).shape == mix.D.shape


def test_clone_and_pickle(model, mix):
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(mix.D), model.concentrations_)


def test_save_and_load(tmp_path, mix):
    axis = np.linspace(400, 700, 96)
    settings = {"fixed_components": mix.S[:2], "closure": True, "k_max": 4, "random_state": 3}
    with pytest.warns(UserWarning, match="closure"):
        model = GMCR(**settings, n_components=14).fit(pd.DataFrame(mix.D, columns=axis))
    model.save(tmp_path / "run.gmcr")
    loaded = GMCR.load(tmp_path / "run.gmcr")
    new = mixtures(seed=2).D
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    np.testing.assert_array_equal(loaded.decode(new).known, model.decode(new).known)
    np.testing.assert_array_equal(loaded.fractions_, model.fractions_)
    np.testing.assert_array_equal(loaded.concentrations_, model.concentrations_)
    np.testing.assert_array_equal(loaded.fixed_components, mix.S[:2])
    pd.testing.assert_frame_equal(loaded.path_, model.path_)
    assert loaded.count_ == model.count_
    assert loaded.noise_law_ == model.noise_law_
    assert loaded.n_features_in_ == 96
    assert (loaded.k_max, loaded.random_state, loaded.n_components) == (4, 3, 14)
    assert "14 components" in str(Decomposition.load(tmp_path / "run.gmcr"))


def test_a_file_from_before_confidence_still_loads(tmp_path, model, mix):
    model.save(tmp_path / "new.gmcr")
    arrays, header = read_model(tmp_path / "new.gmcr")
    kept = {
        name: array for name, array in arrays.items() if not name.startswith("law_") and name != "uncut_pool"
    }
    write_model(tmp_path / "old.gmcr", kept, header)
    old = GMCR.load(tmp_path / "old.gmcr")
    np.testing.assert_array_equal(old.transform(mix.D), model.transform(mix.D))
    confidence = old.decode(mix.D[:10]).confidence
    assert ((confidence >= 0) & (confidence <= 1)).all()


@pytest.mark.parametrize("evidence", [None, 7, "x", [1, 2]])
def test_a_file_with_nonsense_for_evidence_is_refused(tmp_path, model, evidence):
    model.save(tmp_path / "run.gmcr")
    arrays, header = read_model(tmp_path / "run.gmcr")
    write_model(tmp_path / "bad.gmcr", arrays, header | {"evidence": evidence})
    with pytest.raises(FileError, match="not valid"):
        GMCR.load(tmp_path / "bad.gmcr")


def test_the_model_certifies_its_answer(model, mix):
    certificate = model.certify(mix.D)
    assert certificate.verdict in ("consistent", "unsupported")
    assert "noise" in certificate.read_off


def test_save_keeps_the_column_names_and_drops_what_a_file_cannot_hold(tmp_path, mix):
    table = pd.DataFrame(mix.D, columns=[f"c{l}" for l in range(96)])
    model = GMCR(n_components=14, random_state=np.random.RandomState(0), callback=lambda row: None)
    model.fit(table).save(tmp_path / "run.gmcr")
    loaded = GMCR.load(tmp_path / "run.gmcr")
    assert list(loaded.feature_names_in_) == list(table.columns)
    assert (loaded.callback, loaded.random_state) == (None, None)


def test_load_refuses_other_files(tmp_path, model):
    model.decomposition_.save(tmp_path / "plain.gmcr")
    with pytest.raises(FileError, match="holds no GMCR model; it is a model file of kind 'decomposition'"):
        GMCR.load(tmp_path / "plain.gmcr")
    with pytest.raises(FileError, match="does not exist"):
        GMCR.load(tmp_path / "nowhere.gmcr")


# Real data, with default settings


@needs_data
@pytest.mark.parametrize(
    ("name", "count"), [("carbs", 3), ("als2004", 4), ("claus_eem", 3), ("simdata_uv_noisy", 3)]
)
def test_real_data(name, count):
    data = np.load(DATA / f"{name}.npz")
    model = GMCR().fit(data["D"])
    assert model.n_components_ == count
    if name == "carbs":
        S = data["S"] / np.linalg.norm(data["S"], axis=1, keepdims=True)
        assert (S @ model.components_.T).max(axis=1).min() > 0.95


@pytest.mark.parametrize(
    ("columns", "theirs"),
    [
        (
            lambda names: [f"other {name}" for name in names],
            "Feature names unseen at fit time:\n- other ch 0\n",
        ),
        (lambda names: names[:-1], "Feature names seen at fit time, yet now missing:\n- ch 95\n"),
        (lambda names: names[::-1], "Feature names must be in the same order as they were in fit.\n"),
    ],
)
def test_other_column_names_are_refused_in_scikit_learns_words_and_ours(mix, columns, theirs):
    names = [f"ch {channel}" for channel in range(mix.D.shape[1])]
    model = GMCR(n_components=4, random_state=0).fit(pd.DataFrame(mix.D, columns=names))
    with pytest.raises(ValueError) as caught:
        model.transform(pd.DataFrame(mix.D[:, : len(columns(names))], columns=columns(names)))
    assert isinstance(caught.value, InputError)
    message = str(caught.value)
    assert f"The feature names should match those that were passed during fit.\n{theirs}" in message
    assert "give the same ones in the same order" in message


def test_another_width_is_refused_in_scikit_learns_words_and_ours(mix):
    model = GMCR(n_components=4, random_state=0).fit(mix.D)
    width = mix.D.shape[1]
    theirs = f"X has {width - 1} features, but GMCR is expecting {width} features as input"
    with pytest.raises(InputError, match=rf"put both on the same channel axis \({theirs}"):
        model.transform(mix.D[:, 1:])
