"""The baselines: what all of them must do, and each against an independent implementation or a known case."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.integrate
import scipy.optimize
import scipy.stats
import sklearn.decomposition
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gmcr import make_mixtures
from gmcr.errors import InputError
from gmcr.rank import estimate_rank
from gmcr_paper.baselines import (
    ARDNMF,
    BASELINES,
    FINDS_COUNT,
    ICA,
    MCRALS,
    NEEDS_COUNT,
    NMF,
    SNPA,
    SPA,
    BayesNMF,
    RankNMF,
    SparseNMF,
    ard_nmf,
    bayes_nmf,
    mcr_als,
    spa,
    sparse_nmf,
)
from gmcr_paper.baselines.nnls import nnls

MAKERS = {
    "NMF": lambda K, **more: NMF(K, **more),
    "NMF mu": lambda K, **more: NMF(K, solver="mu", tol=1e-6, **more),
    "SparseNMF": lambda K, **more: SparseNMF(K, **more),
    "BayesNMF gibbs": lambda K, **more: BayesNMF(K, n_draws=100, n_burn=100, **more),
    "BayesNMF icm": lambda K, **more: BayesNMF(K, method="icm", **more),
    "ICA": lambda K, **more: ICA(K, **more),
    "MCRALS": lambda K, **more: MCRALS(K, **more),
    "MCRALS channels": lambda K, **more: MCRALS(K, init="purest_channels", **more),
    "ARDNMF l1": lambda K, **more: ARDNMF(10, prior="l1", phi=0.03, relative=True, **more),
    "ARDNMF l2": lambda K, **more: ARDNMF(10, prior="l2", phi=0.03, relative=True, **more),
    "ARDNMF cd": lambda K, **more: ARDNMF(10, solver="cd", phi=0.03, relative=True, **more),
    "SPA": lambda K, **more: SPA(K, **more),
    "SNPA": lambda K, **more: SNPA(K, **more),
    "RankNMF": lambda K, **more: RankNMF(**more),
}
every_baseline = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def toy(signed=False, seed=0, noise=0.02):
    """Two components, some samples pure, each with channels of its own: separable both ways."""
    rng = np.random.default_rng(seed)
    axis = np.arange(60)
    peaks = np.exp(-((axis - np.array([[12.0], [40.0]])) ** 2) / np.array([[20.0], [40.0]]))
    S = unit(np.gradient(peaks, axis=1) if signed else peaks)
    C = np.where(rng.random((80, 2)) < 0.6, rng.exponential(3.0, (80, 2)) + 0.5, 0.0)
    clean = C @ S
    return clean + noise * clean.std() * rng.standard_normal(clean.shape), C, S


# What all of them must do


@every_baseline
def test_recovers_two_separable_components(make):
    D, C, S = toy()
    model = make(2).fit(D)
    cosines = S @ model.components_.T
    assert model.n_components_ == 2
    assert cosines.max(axis=1).min() > 0.98
    found = model.concentrations_[:, cosines.argmax(axis=1)]
    assert np.corrcoef(found.ravel(), C.ravel())[0, 1] > 0.98
    assert model.decomposition_.r2(D) > 0.95


@every_baseline
def test_recovers_components_of_both_signs(make):
    D, _, S = toy(signed=True)
    model = make(2, signed=True).fit(D)
    assert np.abs(S @ model.components_.T).max(axis=1).min() > 0.98
    assert (model.components_ < -0.1).any()
    assert model.decomposition_.signed
    if not isinstance(model, ICA):
        assert (model.concentrations_ >= 0).all()
        assert (model.transform(D) >= 0).all()


@every_baseline
def test_learned_attributes(make):
    D, _, _ = toy(noise=0.1)
    model = make(3).fit(D)
    K = model.n_components_
    assert model.components_.shape == (K, 60)
    assert model.concentrations_.shape == (80, K)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    assert (model.components_ >= 0).all()
    assert (model.concentrations_ >= 0).all()
    np.testing.assert_array_equal(model.supports_, model.concentrations_ != 0)
    assert model.n_features_in_ == 60
    residual = D - model.concentrations_ @ model.components_
    free = 60 - model.supports_.sum(axis=1)
    np.testing.assert_allclose(model.noise_, np.sqrt((residual**2).sum(axis=1) / free))
    assert model.decomposition_.settings["estimator"] == type(model).__name__
    assert model.n_iter_ is None or model.n_iter_ > 0
    np.testing.assert_allclose(model.inverse_transform(np.eye(K)), model.components_)
    assert list(model.get_feature_names_out()) == [f"component {k}" for k in range(K)]


@every_baseline
def test_transform_is_nonnegative_least_squares(make):
    D, _, _ = toy(noise=0.1)
    new = toy(seed=1, noise=0.1)[0][:5]
    model = make(2).fit(D)
    expected = [scipy.optimize.nnls(model.components_.T, sample)[0] for sample in new]
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)
    np.testing.assert_allclose(make(2).fit_transform(D), model.transform(D))


@every_baseline
def test_same_seed_same_answer_and_copies(make):
    D, _, _ = toy(noise=0.1)
    model = make(2).fit(D)
    np.testing.assert_array_equal(make(2).fit(D).concentrations_, model.concentrations_)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "components_")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(D), model.transform(D))
    with pytest.raises(NotFittedError):
        copy.transform(D)


@every_baseline
def test_one_component_and_untouched_samples(make):
    rng = np.random.default_rng(0)
    profile = unit(rng.random((1, 30)) + 0.1)
    D = rng.exponential(2.0, (25, 1)) @ profile + 1e-3 * rng.random((25, 30))
    before = D.copy()
    D.setflags(write=False)
    model = make(1).fit(D)
    assert (model.components_ @ profile[0]).max() > 0.999
    np.testing.assert_array_equal(D, before)


@every_baseline
def test_takes_a_data_frame(make):
    D, _, _ = toy()
    frame = pd.DataFrame(D, columns=[f"{x} nm" for x in range(60)])
    model = make(2).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(model.components_, make(2).fit(D).components_)


GOOD = toy()[0]


def changed(row, column, value):
    D = GOOD.copy()
    D[row, column] = value
    return D


@every_baseline
@pytest.mark.parametrize(
    ("D", "message"),
    [
        (changed(3, 7, np.nan), "row 3, column 7.*cannot leave entries out"),
        (changed(3, 7, np.inf), "row 3, column 7"),
        (GOOD[0], "2D array"),
        (GOOD[:0], "0 sample"),
        (GOOD[:, :0], "0 feature"),
        (GOOD[:1], "at least 2"),
        (np.zeros((5, 6)), "zero in every row"),
        (np.ones((5, 6)), "constant"),
        (GOOD + 1j, "[Cc]omplex"),
        ([["a", "b"], ["c", "d"]], "'a' at row 0, column 0"),
        ([[1.0, 2.0], [3.0]], "different lengths"),
        (-GOOD, "signed=True"),
    ],
    ids=[
        "nan",
        "inf",
        "1d",
        "no rows",
        "no columns",
        "one row",
        "zero",
        "constant",
        "complex",
        "text",
        "ragged",
        "neg",
    ],
)
def test_bad_samples(make, D, message):
    with pytest.raises(InputError, match=message):
        make(2).fit(D)


@every_baseline
def test_bad_new_samples(make):
    model = make(2).fit(GOOD)
    with pytest.raises(InputError, match="cannot leave entries out"):
        model.transform(changed(0, 0, np.nan))
    with pytest.raises(ValueError, match="60 features"):
        model.transform(GOOD[:, :50])
    with pytest.raises(InputError, match="components"):
        model.inverse_transform(np.ones((2, 9)))


@pytest.mark.parametrize("method", NEEDS_COUNT.values(), ids=NEEDS_COUNT.keys())
@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2", None])
def test_bad_count(method, count):
    with pytest.raises(InputError, match="n_components must be a whole number"):
        method(count).fit(GOOD)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (NMF(2, solver="als"), "solver"),
        (NMF(2, init="zeros"), "init"),
        (NMF(2, tol=-1), "tol"),
        (NMF(2, max_iter=0), "max_iter"),
        (NMF(2, random_state="x"), "random_state"),
        (SparseNMF(2, sparseness_c=1.5), "sparseness_c"),
        (SparseNMF(2, sparseness_s="high"), "sparseness_s"),
        (BayesNMF(2, method="vb"), "method"),
        (BayesNMF(2, n_draws=0), "n_draws"),
        (BayesNMF(2, rate_c=0), "rate_c"),
        (ICA(2, sources="both"), "sources"),
        (ICA(60), "n_components"),
        (MCRALS(2, init="pca"), "init"),
        (MCRALS(81), "n_components"),
        (ARDNMF(prior="l0"), "prior"),
        (ARDNMF(phi=0), "phi"),
        (ARDNMF(phi=1e9), "phi"),
        (ARDNMF(a=1.5), "a is 1.5"),
        (ARDNMF(max_components=0), "max_components"),
        (RankNMF(rule="guess"), "rule"),
    ],
)
def test_bad_parameters(model, name):
    with pytest.raises(InputError, match=name):
        model.fit(GOOD)


def test_registry_holds_every_baseline():
    assert {*BASELINES.values()} == {type(make(2)) for make in MAKERS.values()}
    assert NEEDS_COUNT.keys() | FINDS_COUNT.keys() == BASELINES.keys()


def test_negative_noise_passes_and_a_wrong_sign_does_not():
    rng = np.random.default_rng(0)
    D, _, _ = toy()
    loud = D + 2.0 * D.std() * rng.standard_normal(D.shape)
    assert np.square(np.minimum(loud, 0)).sum() > 0.05 * np.square(loud).sum()
    assert (NMF(2).fit(loud).components_ >= 0).all()


def test_fewer_components_than_asked_for_is_said():
    D, _, _ = toy(noise=0.0)
    with pytest.warns(UserWarning, match="only 2 were found"):
        assert SPA(4).fit(D).n_components_ == 2


# Non-negative least squares


@pytest.mark.parametrize(("n_slots", "n_channels"), [(1, 5), (12, 40), (30, 40), (9, 6)])
def test_nnls_against_scipy(n_slots, n_channels):
    rng = np.random.default_rng(n_slots)
    S = np.abs(rng.standard_normal((n_slots, n_channels)))
    D = rng.standard_normal((50, n_channels)) + 0.5
    C = nnls(D, S)
    assert (C >= 0).all()
    errors = np.linalg.norm(D - C @ S, axis=1)
    expected = [scipy.optimize.nnls(S.T, sample)[1] for sample in D]
    np.testing.assert_allclose(errors, expected, rtol=1e-9)


def test_nnls_over_profiles_that_depend_on_each_other():
    rng = np.random.default_rng(0)
    S = rng.random((3, 20))
    S = np.vstack([S, S[0], 0.0 * S[1], S[1] + S[2]])
    D = rng.random((30, 20))
    C = nnls(D, S)
    assert (C >= 0).all()
    expected = [scipy.optimize.nnls(S.T, sample)[1] for sample in D]
    np.testing.assert_allclose(np.linalg.norm(D - C @ S, axis=1), expected, rtol=1e-9)


# NMF


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_nmf_is_scikit_learns(solver):
    D = make_mixtures(5, 30, snr_db=25, n_features=50, random_state=0).D
    theirs = sklearn.decomposition.NMF(
        5, solver=solver, init="nndsvda", tol=1e-6, max_iter=3000, random_state=0
    )
    W = theirs.fit_transform(D)
    ours = NMF(5, solver=solver, tol=1e-6, max_iter=3000).fit(D)
    np.testing.assert_allclose(ours.decomposition_.reconstruct(), W @ theirs.components_, atol=1e-10)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.converged_


def test_nmf_says_when_it_did_not_converge():
    assert not NMF(2, max_iter=3).fit(GOOD).converged_


def test_nmf_with_more_components_than_channels():
    D = make_mixtures(9, 60, snr_db=None, n_features=6, random_state=0).D
    assert NMF(9).fit(D).decomposition_.r2(D) > 0.999


def test_sign_splitting_is_nmf_of_the_parts_side_by_side():
    D, _, _ = toy(signed=True)
    parts = np.hstack([np.where(D > 0, D, 0), np.where(D < 0, -D, 0)])
    split, joined = NMF(2).fit(parts), NMF(2, signed=True).fit(D)
    expected = split.decomposition_.reconstruct()
    np.testing.assert_allclose(
        joined.decomposition_.reconstruct(), expected[:, :60] - expected[:, 60:], atol=1e-10
    )


# Sparse NMF


@pytest.mark.parametrize("wanted", [0.0, 0.1, 0.5, 0.8, 0.95, 1.0])
def test_projection_meets_sparseness_norm_and_sign(wanted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 25)) * rng.exponential(3.0, (40, 1))
    X[0] = 2.0  # the middle of its plane: no direction to go
    out = sparse_nmf.project(X, wanted)
    assert (out >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(sparse_nmf.sparseness(out), wanted, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_projection_is_the_closest_point(seed):
    rng = np.random.default_rng(seed)
    x, wanted = rng.standard_normal(5) + 0.5, rng.uniform(0.2, 0.8)
    ours = sparse_nmf.project(x[None], wanted)[0]
    l2 = np.linalg.norm(x)
    l1 = l2 * (np.sqrt(5) - wanted * (np.sqrt(5) - 1))
    constraints = [
        {"type": "eq", "fun": lambda v: v.sum() - l1},
        {"type": "eq", "fun": lambda v: v @ v - l2**2},
    ]
    found = [
        scipy.optimize.minimize(
            lambda v: np.square(v - x).sum(),
            start,
            jac=lambda v: 2 * (v - x),
            bounds=[(0, None)] * 5,
            constraints=constraints,
            options={"ftol": 1e-12, "maxiter": 300},
        )
        for start in rng.random((20, 5)) * l2
    ]
    closest = min(result.fun for result in found if result.success)
    assert np.square(ours - x).sum() <= closest + 1e-6


@pytest.mark.parametrize(("c", "s"), [(0.6, None), (None, 0.5), (0.5, 0.4), (None, None)])
def test_sparse_nmf_holds_its_sparseness(c, s):
    D = make_mixtures(4, 40, snr_db=25, n_features=60, random_state=0).D
    model = SparseNMF(4, sparseness_c=c, sparseness_s=s).fit(D)
    held = model.sparseness_
    if c is None and s is None:
        assert 0 < held["c"] < 1
        c = held["c"]
    assert held == {"c": c, "s": s}
    if c is not None:
        np.testing.assert_allclose(sparse_nmf.sparseness(model.concentrations_.T), c, atol=1e-7)
    if s is not None:
        np.testing.assert_allclose(sparse_nmf.sparseness(model.components_), s, atol=1e-7)


def test_sparse_nmf_error_only_falls():
    rng = np.random.default_rng(0)
    D = rng.random((20, 30))
    C, S = rng.random((20, 3)), rng.random((3, 30))
    fits = [sparse_nmf.sparse_nmf(D, C, S, 0.5, 0.3, n, 1e-12) for n in range(1, 30)]
    errors = np.array([np.square(D - fit.C @ fit.S).sum() for fit in fits])
    assert (np.diff(errors) <= 1e-9).all()
    assert errors[-1] < 0.9 * errors[0]


# Bayesian NMF


@pytest.mark.parametrize("mean", [-3e5, -60.0, -3.0, 0.0, 2.0, 15.0])
def test_rectified_normal_draws(mean):
    sigma = 0.5
    draws = bayes_nmf.draw_rectified(np.full(20_000, mean * sigma), sigma, np.random.default_rng(0))
    assert (draws >= 0).all()
    if mean < -100:  # truncnorm has no digits left there; the tail is an exponential with rate |mean| / sigma
        law = scipy.stats.expon(scale=sigma / -mean)
    else:
        law = scipy.stats.truncnorm(-mean, np.inf, loc=mean * sigma, scale=sigma)
    assert scipy.stats.kstest(draws, law.cdf).pvalue > 0.01


def test_gibbs_draws_follow_the_posterior():
    """One entry, one component, known noise: p(a, b) ∝ exp(−(d − ab)²/2σ² − αa − βb), integrated numerically."""
    d, variance, rates = 2.0, 0.3, (0.7, 1.2)
    rng = np.random.default_rng(0)
    a, b = np.ones((1, 1)), np.ones((1, 1))
    draws = np.empty((8_000, 2))
    for i in range(len(draws)):
        bayes_nmf.draw_factor(a, b * d, b * b, variance, rates[0], rng)
        bayes_nmf.draw_factor(b, a * d, a * a, variance, rates[1], rng)
        draws[i] = a[0, 0], b[0, 0]
    grid = np.linspace(0, 25, 2001)
    A, B = np.meshgrid(grid, grid, indexing="ij")
    density = np.exp(-((d - A * B) ** 2) / (2 * variance) - rates[0] * A - rates[1] * B)

    def expected(f):
        return scipy.integrate.trapezoid(scipy.integrate.trapezoid(f * density, grid), grid)

    total = expected(np.ones_like(A))
    for name, f, drawn in [
        ("a", A, draws[:, 0]),
        ("b", B, draws[:, 1]),
        ("ab", A * B, draws.prod(axis=1)),
        ("a²", A**2, draws[:, 0] ** 2),
    ]:
        assert drawn.mean() == pytest.approx(expected(f) / total, rel=0.06), name


@pytest.mark.parametrize("method", ["gibbs", "icm"])
def test_bayes_nmf_finds_the_noise(method):
    mix = make_mixtures(4, 80, snr_db=20, n_features=100, noise="constant", random_state=0, offset=2.0)
    model = BayesNMF(5, method=method).fit(mix.D)
    # The mode takes no account of the entries fitted away; the mean does.
    spent = 5 * (80 + 100) / mix.D.size if method == "icm" else 0.0
    assert model.noise_variance_ == pytest.approx(mix.sigma[0] ** 2 * (1 - spent), rel=0.05)


def test_icm_climbs_the_posterior_to_its_mode():
    D = make_mixtures(3, 20, snr_db=20, n_features=25, random_state=0).D
    rng = np.random.default_rng(1)
    X, S, rates = rng.random((3, 20)), rng.random((3, 25)), (0.5, 2.0)
    factors, variance, history = bayes_nmf.icm(D, X, S, rates, 20_000, 1e-13)
    assert (np.diff(history) <= 1e-8).all()
    assert factors.converged

    def cost(C, S, variance):
        error = np.square(D - C @ S).sum()
        return bayes_nmf.negative_log_posterior(error, variance, C.T, S, rates, D.size)

    best = cost(factors.C, factors.S, variance)
    assert best == pytest.approx(history[-1])
    for step in (1e-3, -1e-3):
        assert cost(factors.C, factors.S, variance * (1 + step)) > best
        for _ in range(30):
            C, S = factors.C.copy(), factors.S.copy()
            which = C if rng.random() < 0.5 else S
            entry = tuple(rng.integers(which.shape))
            which[entry] = max(which[entry] + step, 0.0)
            assert cost(C, S, variance) >= best - 1e-6


# ICA


def test_ica_recovers_independent_concentrations():
    rng = np.random.default_rng(0)
    S = unit(np.abs(rng.standard_normal((4, 50))))
    C = rng.exponential(2.0, (2000, 4))
    model = ICA(4, sources="concentrations").fit(C @ S)
    assert (S @ model.components_.T).max(axis=1).min() > 0.98


def test_ica_recovers_independent_profiles_of_closed_data():
    rng = np.random.default_rng(0)
    axis = np.arange(300)
    S = unit(sum(np.exp(-((axis - rng.uniform(0, 300, (3, 1))) ** 2) / 30) for _ in range(4)))
    C = rng.dirichlet(np.ones(3), 40)
    D = C @ S + 1e-4 * rng.standard_normal((40, 300))
    model = ICA(3).fit(D)
    assert model.sources_ == "profiles"
    assert (S @ model.components_.T).max(axis=1).min() > 0.95


def test_ica_auto_keeps_the_better_fit():
    D = make_mixtures(6, 60, snr_db=30, n_features=80, random_state=0).D
    r2 = {name: ICA(6, sources=name).fit(D).decomposition_.r2(D) for name in ("concentrations", "profiles")}
    model = ICA(6).fit(D)
    assert model.sources_ == max(r2, key=r2.get)
    assert model.decomposition_.r2(D) == pytest.approx(max(r2.values()))


# MCR-ALS


def test_purest_rows_by_the_determinants_themselves():
    """SIMPLISMA as printed: the weight of a row is the determinant of its dispersion with the rows chosen."""
    rng = np.random.default_rng(0)
    # Rows of very different means, the faintest of which the offset must hold back.
    X = rng.gamma(1.0, size=(15, 12)) * np.geomspace(0.01, 3.0, 15)[:, None] + rng.random((15, 1))
    X[:3] = 1e-3 * rng.gamma(0.1, size=(3, 12))
    mean, spread = X.mean(axis=1), X.std(axis=1)
    offset = mcr_als.PURITY_OFFSET * mean.max()
    scaled = X / np.sqrt(mean**2 + (spread + offset) ** 2)[:, None]
    dispersion = scaled @ scaled.T / X.shape[1]
    chosen = []
    for _ in range(5):
        weights = [np.linalg.det(dispersion[np.ix_([i, *chosen], [i, *chosen])]) for i in range(len(X))]
        purity = np.array(weights) * spread / (mean + offset)
        purity[chosen] = -1
        chosen.append(int(np.argmax(purity)))
    assert mcr_als.purest(X, 5).tolist() == chosen


@pytest.mark.parametrize("init", ["purest_samples", "purest_channels"])
def test_mcr_als_reaches_the_fit_of_nmf(init, capsys):
    D = make_mixtures(6, 48, snr_db=25, n_features=80, random_state=0).D
    model = MCRALS(6, init=init).fit(D)
    assert model.converged_
    assert model.decomposition_.r2(D) == pytest.approx(NMF(6).fit(D).decomposition_.r2(D), abs=2e-4)
    assert capsys.readouterr().out == ""  # pyMCR prints by itself


def test_mcr_als_is_pymcr():
    """The same run with pyMCR's own regressors."""
    from pymcr.constraints import ConstraintNonneg
    from pymcr.mcr import McrAR
    from pymcr.regressors import NNLS

    class Norm:
        def transform(self, S):
            return unit(S)

    D = make_mixtures(4, 20, snr_db=20, n_features=30, random_state=0).D
    start = unit(D[mcr_als.purest(D, 4)])
    theirs = McrAR(
        c_regr=NNLS(),
        st_regr=NNLS(),
        st_constraints=[ConstraintNonneg(), Norm()],
        max_iter=15,
        tol_increase=None,
        tol_n_increase=None,
        tol_n_above_min=None,
    )
    with mcr_als._quiet("pymcr"):
        theirs.fit(D, ST=start)
    ours = mcr_als.mcr_als(D, None, start, 15, 0.0, signed=False)
    np.testing.assert_allclose(ours.C @ ours.S, theirs.D_opt_, atol=1e-8)
    assert not ours.converged


# ARD-NMF


@pytest.mark.parametrize("prior", ["l1", "l2"])
def test_ard_update_minimises_a_majoriser(prior):
    rng = np.random.default_rng(0)
    Y, d, weight = rng.random((15, 3)), rng.random((15, 1)), rng.random(3)
    at = rng.random((3, 1)) + 0.1
    gram, products = Y.T @ Y, Y.T @ d

    def objective(x):
        return np.square(d - Y @ x).sum() / 2 + weight @ ard_nmf.penalty(x, prior)

    def majoriser(k, x):
        """The terms of entry k: Y'Y by a diagonal, a linear penalty by a square, both equal at `at`."""
        square = (gram @ at)[k, 0] * x**2 / (2 * at[k, 0]) - products[k, 0] * x
        start = at[k, 0]
        return square + weight[k] * (x**2 / (2 * start) + start / 2 if prior == "l1" else x**2 / 2)

    rest = objective(at) - sum(majoriser(k, at[k, 0]) for k in range(3))
    for x in rng.exponential(1.0, (50, 3, 1)):
        assert rest + sum(majoriser(k, x[k, 0]) for k in range(3)) >= objective(x) - 1e-12
    expected = [
        scipy.optimize.minimize_scalar(lambda x, k=k: majoriser(k, x), bounds=(0, 50), method="bounded",
                                       options={"xatol": 1e-10}).x
        for k in range(3)
    ]  # fmt: skip
    x = at.copy()
    ard_nmf.majorise(x, products, gram, weight, prior)
    np.testing.assert_allclose(x.ravel(), expected, rtol=1e-5)


@pytest.mark.parametrize("solver", ["mm", "cd"])
@pytest.mark.parametrize("prior", ["l1", "l2"])
def test_ard_objective_only_falls_and_is_what_it_says(prior, solver):
    D = make_mixtures(3, 20, snr_db=20, n_features=25, random_state=0).D
    C, S = ard_nmf.random_start(D, 8, 0)
    phi, a, b = 0.01, 4.0, 0.3
    factors, relevance, bound, history = ard_nmf.ard_nmf(
        D, C, S, prior=prior, phi=phi, a=a, b=b, solver=solver, max_iter=400, tol=1e-12
    )
    assert (np.diff(history) <= 1e-8 * np.abs(history[:-1])).all()
    c = (45 if prior == "l1" else 22.5) + a + 1
    f = ard_nmf.penalty(factors.C.T, prior) + ard_nmf.penalty(factors.S, prior)
    terms = (f + b) / relevance + c * np.log(relevance)
    n_gone = 8 - len(relevance)
    expected = np.square(D - factors.C @ factors.S).sum() / (2 * phi) + terms.sum()
    expected += n_gone * (c + c * np.log(bound))
    assert history[-1] + 8 * c == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(relevance, (f + b) / c)
    assert (relevance >= bound).all()


@pytest.mark.parametrize("prior", ["l1", "l2"])
def test_ard_prior_scale_matches_the_mean(prior):
    """E[C S] = K E[c | λ] E[s | λ] with λ inverse gamma(a, b): E[λ²] or, half-normal, 2/π E[λ]."""
    a, K, mean = 6.0, 7, 0.4
    b = ard_nmf.prior_scale(mean, a, K, prior)
    law = scipy.stats.invgamma(a, scale=b)
    moment = law.moment(2) if prior == "l1" else 2 / np.pi * law.mean()
    assert K * moment == pytest.approx(mean)


@pytest.mark.parametrize(
    ("snr_db", "solver", "low", "high"),
    [(20, "mm", 13, 19), (30, "mm", 24, 51), (30, "cd", 15, 18)],
)
def test_ard_count_at_the_true_noise_variance(snr_db, solver, low, high):
    """The paper's finding at N = 16 (Table e2): about N at 20 dB, two to three times N at 30 dB.

    The latter is a run that has not ended: the same objective minimised further counts N.
    """
    mix = make_mixtures(16, 64, snr_db=snr_db, random_state=0)
    max_iter = {"mm": 3000, "cd": 1000}[solver]
    model = ARDNMF(phi=float(np.mean(mix.sigma**2)), solver=solver, max_iter=max_iter).fit(mix.D)
    assert low <= model.n_components_ <= high
    assert model.n_components_ == (model.relevance_ > 1.001 * model.relevance_bound_).sum()
    assert len(model.relevance_) == 64


def test_ard_counts_one_or_two_at_the_default_phi():
    mix = make_mixtures(16, 64, snr_db=30, random_state=0)
    assert ARDNMF(phi=1.0, relative=True, prior="l1").fit(mix.D).n_components_ in (1, 2)


def test_ard_takes_the_noise_from_the_data():
    mix = make_mixtures(12, 60, snr_db=20, n_features=100, random_state=0)
    model = ARDNMF(max_iter=10).fit(mix.D)
    assert model.phi_ == pytest.approx(np.mean(mix.sigma**2), rel=0.25)


# Successive projection


def separable(seed, n_components=5, n_samples=30, n_channels=20, noise=0.01):
    rng = np.random.default_rng(seed)
    S = rng.random((n_components, n_channels))
    C = rng.dirichlet(np.ones(n_components), n_samples)
    pure = rng.choice(n_samples, n_components, replace=False)
    C[pure] = np.eye(n_components)
    D = C @ S
    return D / D.sum(axis=1, keepdims=True) + noise * rng.random(D.shape) / n_channels, set(pure.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_spa_against_the_projections_written_out(seed):
    D, pure = separable(seed)
    model = SPA(5).fit(D)
    assert model.indices_.tolist() == written_out(D, 5)
    assert set(model.indices_.tolist()) == pure
    np.testing.assert_allclose(model.components_, unit(D[model.indices_]))
    # Without pure samples every choice is a close one.
    anything = np.random.default_rng(seed).gamma(0.5, size=(40, 20))
    assert SPA(12).fit(anything).indices_.tolist() == written_out(anything, 12)


def written_out(D, count):
    X = D / D.sum(axis=1, keepdims=True)
    chosen = []
    for _ in range(count):
        norms = []
        for sample in X:
            left = sample
            if chosen:
                weights = np.linalg.lstsq(X[chosen].T, sample, rcond=None)[0]
                left = sample - weights @ X[chosen]
            norms.append(left @ left)
        chosen.append(int(np.argmax(norms)))
    return chosen


@pytest.mark.parametrize("seed", range(3))
def test_snpa_against_the_hull_distances_written_out(seed):
    D, pure = separable(seed, n_components=4, n_samples=12, n_channels=8)
    X = D / D.sum(axis=1, keepdims=True)
    chosen = []
    for _ in range(4):
        distances = [hull_distance(sample, X[chosen]) for sample in X]
        chosen.append(int(np.argmax(distances)))
    model = SNPA(4).fit(D)
    assert model.indices_.tolist() == chosen
    assert set(chosen) == pure


def hull_distance(x, vertices):
    """Distance from the hull of the vertices and zero, by a general solver."""
    if not len(vertices):
        return np.linalg.norm(x)
    scale = 100.0  # SLSQP's tolerance is absolute
    K = len(vertices)
    result = scipy.optimize.minimize(
        lambda h: np.square(scale * (x - h @ vertices)).sum(),
        np.full(K, 0.5 / K),
        jac=lambda h: -2 * scale**2 * vertices @ (x - h @ vertices),
        bounds=[(0, None)] * K,
        constraints=[{"type": "ineq", "fun": lambda h: 1 - h.sum(), "jac": lambda h: -np.ones(K)}],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert spa.distance_from_hull(x, vertices) == pytest.approx(np.sqrt(result.fun) / scale, abs=1e-5)
    return np.sqrt(result.fun) / scale


def test_snpa_finds_more_components_than_channels():
    """Four pure samples on three channels: corners of a square, all mixtures inside it."""
    corners = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.5, 0.05, 0.45], [0.05, 0.5, 0.45]])
    rng = np.random.default_rng(0)
    D = np.vstack([rng.dirichlet(np.full(4, 2.0), 40) @ corners, corners])
    assert sorted(SNPA(4).fit(D).indices_) == [40, 41, 42, 43]
    with pytest.warns(UserWarning, match="only 3"):
        SPA(4).fit(D)


# A rank rule, then NMF


@pytest.mark.parametrize("rule", ["consensus", "marchenko-pastur", "malinowski"])
def test_rank_nmf_is_the_rule_then_nmf(rule):
    D = make_mixtures(8, 24, snr_db=5, n_features=80, random_state=0).D  # loud: the rules disagree
    report = estimate_rank(D)
    assert not report.agree
    count = report.count if rule == "consensus" else report.counts[rule, report.scaling]
    model = RankNMF(rule).fit(D)
    assert model.n_components_ == count
    np.testing.assert_array_equal(model.components_, NMF(count).fit(D).components_)


def test_rank_nmf_counts_before_it_splits_signs():
    D = make_mixtures(4, 60, snr_db=30, n_features=80, signed=True, random_state=0).D
    assert RankNMF(signed=True).fit(D).n_components_ == estimate_rank(D).count == 4
