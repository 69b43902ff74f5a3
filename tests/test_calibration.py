"""Amounts in units: exact where nothing disturbs, honest where something does; other counts on demand."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal

from gmcr import GMCR, make_mixtures
from gmcr.calibration import calibrate
from gmcr.calibration.coordinates import cleaned_map, plain_map
from gmcr.calibration.pooling import LEAST, MOST, Blocks, Column, _averaged, fit_at, quantile
from gmcr.cli.app import main
from gmcr.constraints import Unimodal
from gmcr.errors import InputError
from gmcr.preprocessing import AverageReplicates

ROTATION = np.array([[1.0, 0.15, 0.05], [0.1, 1.0, 0.2], [0.0, 0.1, 1.0]])  # found profiles mix true ones


def table(seed, n_mixtures=18, replicates=3, noise=0.01, shared=0.01, n_channels=40):
    """Three components in every sample, found as a rotation: samples, found profiles, true amounts, mixtures."""
    random = np.random.default_rng(seed)
    axis = np.linspace(0, 1, n_channels)
    pure = np.exp(-np.square((axis - np.array([0.3, 0.5, 0.65])[:, None]) / 0.15))
    amounts = random.uniform(1, 5, (n_mixtures, 3))
    mixture = np.repeat(np.arange(n_mixtures), replicates)
    drift = np.array([np.ones(n_channels), axis])  # noise that replicates show: an offset and a slope
    D = (amounts * (1 + shared * random.normal(size=amounts.shape)))[mixture] @ pure
    D += 10 * noise * random.normal(size=(len(D), 2)) @ drift + noise * random.normal(size=D.shape)
    found = ROTATION @ pure
    return D, found / np.linalg.norm(found, axis=1, keepdims=True), amounts[mixture], mixture


def calibrated(D, S, amounts, rows, sigma=0.01, **told):
    """A calibration by some of the samples, with what a decoder would say."""
    C = np.maximum(D @ np.linalg.pinv(S), 0.0)
    errors = np.broadcast_to(sigma * np.sqrt(np.diag(np.linalg.inv(S @ S.T))), C.shape)
    known = np.where(rows[:, None], amounts, np.nan)
    return calibrate(D, S, C, np.full(len(D), sigma), errors, known, **told)


# The mathematics


def test_fits_are_those_of_gaussian_regression():
    """Mean, covariance and evidence, against the joint normal law of amounts and coefficients."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(6, 3)), random.normal(size=6)
    noise, ratio, tau = random.uniform(0.1, 0.3, 6), 1.7, np.array([2.0, 0.5, 0.0])
    fits = fit_at(Column(X, y, noise, 0.2), np.array([ratio]), tau[None])
    R = np.diag(0.2 * ratio + noise)
    V = X @ np.diag(tau**2) @ X.T + R
    gain = np.diag(tau**2) @ X.T @ np.linalg.inv(V)
    np.testing.assert_allclose(fits.mean[0], gain @ y, atol=1e-12)
    np.testing.assert_allclose(
        fits.root[0] @ fits.root[0].T, np.diag(tau**2) - gain @ X @ np.diag(tau**2), atol=1e-12
    )
    evidence = multivariate_normal(np.zeros(6), V).logpdf(y) + 3 * np.log(2 * np.pi)
    np.testing.assert_allclose(fits.evidence[0], evidence, atol=1e-10)


def test_strengths_are_averaged_as_an_integral_would():
    random = np.random.default_rng(3)
    X = random.normal(size=(9, 3))
    column = Column(X, X @ [1.0, 0.2, -0.1] + 0.1 * random.normal(size=9), np.full(9, 0.005), 0.01)
    blocks = Blocks((-1, 0, 0))
    strengths, evidence = _averaged((column,), blocks)
    fits = fit_at(column, strengths.ratio, blocks.by_feature(strengths.tau))

    def density(log_tau, share, of=lambda fit: 1.0):
        fit = fit_at(
            column, np.array([share / (1 - share)]), blocks.by_feature(np.array([[np.exp(log_tau)]]))
        )
        return of(fit) * np.exp(fit.evidence[0] - evidence) / (MOST - LEAST)

    box = 1e-4, 1 - 1e-4, LEAST, MOST
    total = dblquad(density, *box, epsabs=1e-3)[0]
    mean = dblquad(lambda *at: density(*at, of=lambda fit: fit.mean[0, 1]), *box, epsabs=1e-3)[0] / total
    assert total == pytest.approx(1.0, abs=0.15)
    assert strengths.weight @ fits.mean[:, 1] == pytest.approx(mean, abs=0.01)


def test_quantiles_of_a_mixture():
    random = np.random.default_rng(0)
    means, spread, weight = np.array([[0.0], [3.0]]), np.array([[1.0], [4.0]]), np.array([0.3, 0.7])
    which = random.random(200_000) < 0.3
    drawn = np.where(which, random.normal(0, 1, 200_000), random.normal(3, 2, 200_000))
    for level in (0.025, 0.5, 0.975):
        assert quantile(means, spread, weight, level)[0] == pytest.approx(np.quantile(drawn, level), abs=0.03)


def test_replicates_tell_noise_as_generalised_least_squares_would():
    D, S, _, mixture = table(0, n_mixtures=60, replicates=6, shared=0.0)
    T, W = cleaned_map(D, S, mixture)
    np.testing.assert_allclose(S @ T, np.eye(3), atol=1e-8)
    axis = np.linspace(0, 1, D.shape[1])
    drift = np.array([np.ones_like(axis), axis])
    V = 0.01**2 * (np.eye(len(axis)) + 100 * drift.T @ drift)
    best = np.linalg.inv(S @ np.linalg.solve(V, S.T))  # covariance, the noise's known
    plain = plain_map(S).T @ V @ plain_map(S)
    true = T.T @ V @ T
    assert (np.diag(true) < 1.3 * np.diag(best)).all()
    assert (np.diag(plain) > 3 * np.diag(best)).all()
    np.testing.assert_allclose(np.diag(W), np.diag(true), rtol=0.3)  # and it knows how good it is


# Amounts


def test_exact_without_noise():
    D, S, amounts, mixture = table(1, noise=0.0, shared=0.0)
    found = calibrated(D, S, amounts, mixture < 6, sigma=1e-9)
    np.testing.assert_allclose(found.predicted, amounts, rtol=1e-4)
    np.testing.assert_allclose(found.rmsep, 0.0, atol=1e-3)


def test_one_component_and_a_known_slope():
    random = np.random.default_rng(0)
    S = np.ones((1, 9)) / 3
    C = random.uniform(1, 2, (12, 1))
    known = np.where(np.arange(12)[:, None] < 6, 7 * C, np.nan)
    found = calibrate(C @ S, S, C, np.full(12, 1e-6), np.full((12, 1), 1e-6), known, units="g/L")
    assert found.slopes[0] == pytest.approx(7.0, rel=1e-4)
    np.testing.assert_allclose(found.predicted, 7 * C, rtol=1e-4)
    assert "g/L" in str(found)


@pytest.mark.parametrize("named", [True, False])
def test_intervals_cover_as_often_as_they_say(named):
    """Six of eighteen mixtures known, samples predicted one by one: 95 % intervals, over a dozen tables."""
    covered = []
    for seed in range(100, 112):
        D, S, amounts, mixture = table(seed)
        found = calibrated(D, S, amounts, mixture < 6, replicates=mixture if named else None)
        inside = (found.low <= amounts) & (amounts <= found.high)
        covered.append(inside[mixture >= 6].mean())
    assert 0.90 <= np.mean(covered) <= 0.99


def test_replicates_that_share_an_error_do_not_make_it_smaller():
    """With amounts prepared 5 % off, a hundred replicates of six mixtures tell no more than six."""
    D, S, amounts, mixture = table(5, n_mixtures=12, replicates=20, noise=0.001, shared=0.05)
    found = calibrated(D, S, amounts, mixture < 6)
    assert (found.deviation > 0.02 * amounts.mean()).all()
    assert ((found.high - found.low).mean(axis=0) > 0.08 * amounts.mean()).all()


def test_a_rotation_is_undone_where_a_slope_per_component_is_biased():
    D, S, amounts, mixture = table(2)
    found = calibrated(D, S, amounts, mixture < 8, replicates=mixture)
    F = D @ np.linalg.pinv(S)
    rows, new = mixture < 8, mixture >= 8
    slopes = (F[rows] * amounts[rows]).sum(axis=0) / np.square(F[rows]).sum(axis=0)
    by_slope = np.abs(F[new] * slopes - amounts[new]).mean()
    assert np.abs(found.predicted[new] - amounts[new]).mean() < 0.3 * by_slope


def test_a_blank_where_there_is_one_and_none_where_there_is_none():
    D, S, amounts, mixture = table(4, noise=0.002, shared=0.002)
    without = calibrated(D, S, amounts, mixture < 12)
    with_blank = calibrated(D, S, amounts + [0.5, 0.5, 0.5], mixture < 12)
    assert (without.blank_odds < 0.5).all()
    assert (np.abs(without.blanks) < 0.05).all()
    assert (with_blank.blank_odds > 0.9).all()
    np.testing.assert_allclose(with_blank.blanks, 0.5, atol=0.15)


def test_other_units_give_other_numbers_of_the_same_amounts():
    D, S, amounts, mixture = table(6)
    grams, milligrams = (calibrated(D, S, scale * amounts, mixture < 6) for scale in (1, 1000))
    for name in ("predicted", "low", "high", "slopes", "rmsec", "rmsep", "detection", "quantification"):
        np.testing.assert_allclose(
            getattr(milligrams, name), 1000 * getattr(grams, name), rtol=1e-5, atol=1e-8
        )


def test_samples_in_another_order_get_the_same_amounts():
    D, S, amounts, mixture = table(7)
    order = np.random.default_rng(0).permutation(len(D))
    one = calibrated(D, S, amounts, mixture < 6, replicates=mixture)
    other = calibrated(D[order], S, amounts[order], (mixture < 6)[order], replicates=mixture[order])
    np.testing.assert_allclose(other.predicted, one.predicted[order], rtol=1e-5)
    np.testing.assert_allclose(other.high, one.high[order], rtol=1e-4)


def test_slopes_that_differ_between_runs():
    D, S, amounts, mixture = table(8, n_mixtures=24, noise=0.002, shared=0.005)
    run = np.array(["a", "b", "c"])[mixture % 3]
    effect = 1 + 0.1 * (mixture % 3 - 1)[:, None]
    rows = mixture < 12
    plain = calibrated(D, S, amounts * effect, rows)
    by_run = calibrated(D, S, amounts * effect, rows, runs=run)
    off = [np.abs(one.predicted - amounts * effect)[~rows].mean() for one in (plain, by_run)]
    assert off[1] < 0.4 * off[0]
    F = np.maximum(D @ np.linalg.pinv(S), 0.0)
    known, new = (by_run.amounts(D, F, np.full(len(D), 0.01), runs) for runs in (run, np.full(len(D), "new")))
    assert (new.errors > known.errors).all()  # a run not seen is as unsure as runs differ
    with pytest.raises(InputError, match="runs differ between replicates"):
        calibrated(D, S, amounts, rows, replicates=mixture, runs=np.arange(len(D)))


def test_standards_may_be_measured_anew_in_each_run():
    """The same known amounts in two runs: two mixtures, each with its run's slope."""
    D, S, amounts, mixture = table(8, n_mixtures=24, noise=0.002, shared=0.005)
    run = np.arange(len(D)) % 2
    D = D * (1 + 0.2 * run[:, None])
    rows = mixture < 12
    found = calibrated(D, S, amounts, rows, runs=run)
    assert found.runs == ("0", "1")
    np.testing.assert_allclose(found.predicted[~rows], amounts[~rows], atol=0.05 * amounts.max())


def test_which_component_is_which():
    D, S, amounts, _ = table(9)
    known = pd.DataFrame(amounts, columns=["x", "y", "z"])[["z", "x"]]
    C = D @ np.linalg.pinv(S)
    errors = np.full(C.shape, 0.01)
    found = calibrate(D, S, C, np.full(len(D), 0.01), errors, known)
    assert found.names == ("z", "x")
    assert found.components == (2, 0)
    told = calibrate(D, S, C, np.full(len(D), 0.01), errors, known, components={"z": 1})
    assert told.components == (1, 0)
    same = pd.DataFrame({"x": amounts.sum(axis=1), "y": amounts.sum(axis=1)})
    with pytest.raises(InputError, match="does not tell which component is"):
        calibrate(D, S, C, np.full(len(D), 0.01), errors, same)
    with pytest.raises(InputError, match="components must give"):
        calibrate(D, S, C, np.full(len(D), 0.01), errors, known, components={"w": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda known: known[:-1], "known must have shape"),
        (lambda known: np.hstack([known, known]), "known must have shape"),
        (lambda known: -known, "not negative"),
        (lambda known: 0 * known, "no amount above zero"),
        (lambda known: np.where(np.arange(len(known))[:, None] < 3, known, np.nan), "at least 2"),
        (lambda known: pd.DataFrame(known, columns=["a", "a", "b"]), "each component once"),
        (lambda known: np.full(known.shape, "much"), "known"),
    ],
)
def test_wrong_amounts_are_refused(change, message):
    D, S, amounts, _ = table(0)
    C = D @ np.linalg.pinv(S)
    with pytest.raises(InputError, match=message):
        calibrate(D, S, C, np.ones(len(D)), np.ones(C.shape), change(amounts))


def test_wrong_units_and_replicates_are_refused():
    D, S, amounts, mixture = table(0)
    with pytest.raises(InputError, match="units must be"):
        calibrated(D, S, amounts, mixture < 6, units={"glucose": "g/L"})
    with pytest.raises(InputError, match="known differs between replicates"):
        calibrated(D, S, amounts, mixture < 6, replicates=mixture // 2)
    with pytest.raises(InputError, match="replicates must have"):
        calibrated(D, S, amounts, mixture < 6, replicates=mixture[:-1])


# The estimator


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(n_components=3, n_samples=30, snr_db=30, n_features=40, random_state=2)


@pytest.fixture(scope="module")
def model(mix):
    return GMCR(random_state=0).fit(mix.D)


@pytest.fixture(scope="module")
def known(mix):
    amounts = pd.DataFrame(mix.C * [2.0, 0.5, 1.0], columns=["glucose", "lactose", "salt"])
    amounts.iloc[12:] = np.nan
    return amounts


def test_a_model_predicts_new_samples_in_units(mix, model, known, tmp_path):
    model.calibrate(known, units={"glucose": "g/L"})
    new = model.decode(mix.D[12:])
    true = (mix.C * [2.0, 0.5, 1.0])[12:]
    low, high = new.amounts.intervals()
    assert ((low <= true) & (true <= high)).mean() > 0.9
    assert np.abs(new.amounts.values - true).max() < 0.1 * true.max()
    assert list(new.amounts.table().columns[:3]) == [
        "glucose (g/L)",
        "glucose (g/L) low",
        "glucose (g/L) high",
    ]
    np.testing.assert_allclose(model.decoding_.amounts.values[12:], new.amounts.values, rtol=0.02, atol=0.05)
    model.save(tmp_path / "model.gmcr")
    again = GMCR.load(tmp_path / "model.gmcr")
    np.testing.assert_allclose(again.decode(mix.D[12:]).amounts.values, new.amounts.values, rtol=1e-12)
    np.testing.assert_allclose(again.decode(mix.D[12:]).amounts.intervals(), (low, high), rtol=1e-9)
    assert str(again.calibration_) == str(model.calibration_)
    with pytest.raises(InputError, match="does not hold"):
        again.calibrate(known)
    with pytest.raises(InputError, match="not calibrated with runs"):
        model.decode(mix.D, runs=np.zeros(30))
    anew = again.calibrate(known, mix.D)
    np.testing.assert_allclose(anew.slopes, model.calibration_.slopes, rtol=0.05)


def test_amounts_of_replicates_that_were_averaged(tmp_path):
    """Told once for each measurement, or once for each mean: the same; and what differs is refused."""
    rng = np.random.default_rng(0)
    S = np.exp(-0.5 * ((np.arange(30.0) - np.array([[8.0], [20]])) / 4) ** 2)
    C = rng.uniform(1, 5, (12, 2))
    C[:2, 1] = C[2:4, 0] = 0
    mixture = np.repeat(np.arange(12), 3)
    D = (C @ S)[mixture] + 0.01 * rng.standard_normal((36, 30))
    amounts = pd.DataFrame({"glucose": np.where(np.arange(12) < 6, C[:, 0], np.nan)})
    batch = np.where(np.arange(12) % 2 == 0, "a", "b")
    model = GMCR(2, random_state=0, steps=AverageReplicates()).fit(D, replicates=mixture, runs=batch[mixture])
    assert model.concentrations_.shape == (12, 2)
    assert list(model.areas_.index) == ["a", "b"]
    model.save(tmp_path / "run.gmcr")
    one = GMCR.load(tmp_path / "run.gmcr").at(1, D)  # a file keeps which samples were averaged
    np.testing.assert_allclose(one.areas_, model.at(1).areas_)
    each = model.calibrate(amounts.iloc[mixture], runs=batch[mixture])
    once = model.calibrate(amounts, runs=batch)
    np.testing.assert_array_equal(each.predicted, once.predicted)
    assert each.names == once.names == ("glucose",)
    np.testing.assert_allclose(each.predicted[6:, 0], C[6:, 0], rtol=0.1)
    plain = model.calibrate(amounts.to_numpy()[mixture].tolist())
    assert plain.names == ("known 0",)
    some = amounts.iloc[mixture].to_numpy()[:, 0].copy()
    some[[1, 2]] = np.nan  # the other measurements of the first mixture say nothing
    np.testing.assert_array_equal(model.calibrate(some).predicted, plain.predicted)
    some[1] = 9.0
    with pytest.raises(InputError, match="known differs between the replicates of '0'"):
        model.calibrate(some)


def test_a_new_fit_forgets_amounts(mix, known):
    model = GMCR(n_components=2, random_state=0).fit(mix.D)
    with pytest.raises(InputError, match="calibrated model"):
        _ = model.decode(mix.D).amounts
    model.calibrate(known[["glucose", "salt"]], components={"glucose": 0, "salt": 1})
    assert model.decode(mix.D).amounts.values.shape == (30, 2)
    assert model.fit(mix.D).calibration_ is None


@pytest.mark.parametrize("told", [None, 3])
def test_another_count_is_what_a_fit_told_it_finds(mix, told):
    model = GMCR(n_components=told or "auto", random_state=0, noise="constant").fit(mix.D)
    other, direct = model.at(2), GMCR(n_components=2, random_state=0, noise="constant").fit(mix.D)
    for name in ("components_", "concentrations_", "supports_", "noise_"):
        np.testing.assert_allclose(getattr(other, name), getattr(direct, name), atol=1e-6)
    np.testing.assert_allclose(other.decoding_.confidence, direct.decoding_.confidence, atol=1e-6)
    assert other.count_.count == 2
    assert model.at(2) is other
    assert (model.at(3) is model) == (told == 3)


def test_another_count_of_a_loaded_model_needs_the_samples(mix, tmp_path):
    model = GMCR(random_state=0).fit(mix.D, noise=np.full(30, 0.05))
    model.save(tmp_path / "model.gmcr")
    with pytest.raises(InputError, match=r"given to fit \(noise\)"):
        GMCR.load(tmp_path / "model.gmcr").at(2, mix.D)
    np.testing.assert_allclose(
        model.at(2).components_,
        GMCR(n_components=2, random_state=0).fit(mix.D, noise=np.full(30, 0.05)).components_,
    )
    GMCR(random_state=0).fit(mix.D).save(tmp_path / "model.gmcr")
    again = GMCR.load(tmp_path / "model.gmcr")
    with pytest.raises(InputError, match="needs the samples that were fitted"):
        again.at(2)
    with pytest.raises(InputError, match="must be the samples that were fitted"):
        again.at(2, mix.D[::-1])
    direct = GMCR(n_components=2, random_state=0).fit(mix.D)
    np.testing.assert_allclose(again.at(2, mix.D).components_, direct.components_, atol=1e-6)
    with pytest.raises(InputError, match="n_components"):
        again.at(0, mix.D)


def test_another_count_of_a_loaded_model_goes_by_its_runs_and_order(tmp_path):
    time = np.arange(20.0)
    peaks = np.exp(-0.5 * ((time[:, None] - [6, 9, 13]) / 2.0) ** 2)
    C = np.vstack([peaks * [1.0, 0.6, 0.8], peaks * [0.5, 1.0, 0.3]])
    S = np.exp(-0.5 * ((np.arange(40.0) - np.array([[10.0], [20], [30]])) / 7) ** 2)
    D = C @ S + 2e-3 * np.random.default_rng(0).normal(size=(40, 40))
    told = {"runs": np.repeat(["b", "a"], 20), "order": np.tile(time, 2)}
    GMCR(n_components=3, constraints=Unimodal("C")).fit(D, **told).save(tmp_path / "model.gmcr")
    other = GMCR.load(tmp_path / "model.gmcr").at(2, D)
    direct = GMCR(n_components=2, constraints=Unimodal("C")).fit(D, **told)
    np.testing.assert_allclose(other.concentrations_, direct.concentrations_, atol=1e-9)
    np.testing.assert_allclose(other.areas_, direct.areas_, atol=1e-9)
    names = [f"sample {m // 2}" for m in range(40)]
    GMCR(n_components=2).fit(D, replicates=names).save(tmp_path / "model.gmcr")
    with pytest.raises(InputError, match=r"given to fit \(replicates\)"):
        GMCR.load(tmp_path / "model.gmcr").at(3, D)


# The shell


def test_slopes_of_runs_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    S = np.exp(-0.5 * ((np.arange(30.0) - np.array([[8.0], [20]])) / 4) ** 2)
    C, run = rng.uniform(1, 5, (24, 2)), np.arange(24) % 2
    C[:4, 1] = C[4:8, 0] = 0
    amounts = C * (1 + 0.4 * run[:, None])
    frame = pd.DataFrame(C @ S + 0.01 * rng.standard_normal((24, 30)), columns=400 + 5 * np.arange(30))
    frame.insert(0, "batch", np.array(["a", "b"])[run])
    frame.insert(0, "salt", np.where(np.arange(24) < 12, amounts[:, 0], np.nan))
    frame.insert(0, "sample", [f"s{m}" for m in range(24)])
    frame.to_csv("mix.csv", index=False)
    frame.drop(columns="salt")[12:].to_csv("new.csv", index=False)
    options = ["fit", "mix.csv", "-o", "run", "--components", "2", "--known", "salt=g/L", "--known-by-run"]
    assert main(options) == 2
    assert "--known-by-run needs --known, and runs" in " ".join(capsys.readouterr().err.split())
    assert main([*options, "--runs", "batch"]) == 0
    assert "Slopes may differ between 2 runs" in capsys.readouterr().out
    assert main(["decode", "run", "new.csv", "--runs", "batch", "-o", "by_run.csv"]) == 0
    assert main(["decode", "run", "new.csv", "-o", "not_told.csv"]) == 0
    by_run, not_told = (pd.read_csv(f"{name}.csv") for name in ("by_run", "not_told"))
    np.testing.assert_allclose(by_run["salt (g/L)"], amounts[12:, 0], rtol=0.1)
    wide = [(one["salt (g/L) high"] - one["salt (g/L) low"]).median() for one in (by_run, not_told)]
    assert wide[1] > 3 * wide[0]  # a run that is not known is as unsure as runs differ
    capsys.readouterr()
    np.save("pool.npy", S)
    assert main(["decode", "pool.npy", "new.csv", "--runs", "batch"]) == 2
    assert "fitted with --known-by-run" in " ".join(capsys.readouterr().err.split())


def test_amounts_from_the_shell(mix, known, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(mix.D, columns=[400 + 5 * j for j in range(40)])
    frame.insert(0, "salt", known["salt"])
    frame.insert(0, "glucose", known["glucose"])
    frame.insert(0, "sample", [f"s{m}" for m in range(30)])
    frame.to_csv("mix.csv", index=False)
    frame.drop(columns=["glucose", "salt"])[12:].to_csv("new.csv", index=False)
    assert main(["fit", "mix.csv", "-o", "run", "--known", "glucose=g/L, salt=mmol/L"]) == 0
    assert "RMSEP" in capsys.readouterr().out
    amounts = pd.read_csv("run/amounts.csv")
    assert list(amounts.columns[:4]) == ["sample", "glucose (g/L)", "glucose (g/L) low", "glucose (g/L) high"]
    np.testing.assert_allclose(amounts["glucose (g/L)"][12:], 2 * mix.C[12:, 0], rtol=0.1, atol=0.5)
    page = (tmp_path / "run" / "report.html").read_text()
    assert 'id="amounts"' in page
    assert "mixture left out" in page
    assert main(["decode", "run", "new.csv", "-o", "new_amounts.csv"]) == 0
    new = pd.read_csv("new_amounts.csv")
    np.testing.assert_allclose(new["salt (mmol/L)"], amounts["salt (mmol/L)"][12:], rtol=0.02, atol=0.1)
    assert main(["decode", "run", "new.csv"]) == 0
    assert "mmol/L" in capsys.readouterr().out
    assert main(["report", "run"]) == 0  # from what was kept
    assert 'id="amounts"' in (tmp_path / "run" / "report.html").read_text()
    assert main(["report", "run", "--components", "2"]) != 0
    assert "give them" in " ".join(capsys.readouterr().err.split())
    assert main(["report", "run", "mix.csv", "--components", "2"]) == 0
    assert (tmp_path / "run" / "report_2.html").exists()
    assert main(["fit", "mix.csv", "-o", "other", "--known", "sugar=g/L"]) != 0
    assert "no column 'sugar'" in capsys.readouterr().err
