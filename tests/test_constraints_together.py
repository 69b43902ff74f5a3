"""Constraints that hold at the same time: as good as an independent solver's fit, or refused in a sentence."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

from gmcr import GMCR
from gmcr.constrained.alternating import alternate
from gmcr.constrained.finish import Table, factors, finish
from gmcr.constrained.kinetics import kinetic_fit
from gmcr.constraints import (
    Calibration,
    Closure,
    Constraints,
    Equal,
    Kinetic,
    Layout,
    Monotonic,
    Presence,
    ReferenceProfile,
    Selectivity,
    Smooth,
    Trilinear,
    Unimodal,
    ZeroRegion,
    constraint_of,
    constraint_of_words,
)
from gmcr.errors import InputError


def closed_table(seed, n=6, k=2, d=10, noise=0.15):
    """Fractions of k components over n samples, profiles, and their noisy mixtures."""
    rng = np.random.default_rng(seed)
    S = rng.random((k, d))
    C = np.exp(-(((np.linspace(0, 1, n)[:, None] - np.linspace(0, 1, k)) / 0.4) ** 2))
    C /= C.sum(axis=1, keepdims=True)
    return C @ S + noise * rng.normal(size=(n, d)), C, S


def best_concentrations(D, S, constraints, layout):
    """The fit's concentrations for given profiles, brought to an end."""
    of_C, _ = factors(Table(D, np.ones(len(D)), layout), constraints, len(S))
    C = of_C.obeying(np.full((len(D), len(S)), 1.0 / len(S)))
    for _ in range(600):
        C = of_C.improved(C, D @ S.T, S @ S.T)
    return of_C.obeying(C)


def by_programme(D, S, rises, total=None, fixed=None):
    """The least squares of a general solver; rises : (samples − 1, components) of +1 and −1."""
    n, k = len(D), len(S)
    step = np.eye(n)[1:] - np.eye(n)[:-1]
    A = np.vstack([np.kron(step, np.eye(k)[j]) * rises[:, [j]] for j in range(k)])
    limits = [scipy.optimize.LinearConstraint(A, 0, np.inf)]
    if total is not None:
        limits.append(scipy.optimize.LinearConstraint(np.kron(np.eye(n), np.ones(k)), total, total))

    def cost(x):
        R = x.reshape(n, k) @ S - D
        return (R**2).sum(), 2 * (R @ S.T).ravel()

    found = scipy.optimize.minimize(
        cost,
        np.full(n * k, 0.5),
        jac=True,
        bounds=[(0, None)] * (n * k),
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 300},
    )
    return found.fun


def in_order(n, runs=None):
    return Layout.of(runs, np.arange(n), n)


@pytest.mark.parametrize("seed", range(3))
def test_closure_and_unimodal_against_all_places_of_the_tops(seed):
    D, _, S = closed_table(seed)
    told = Constraints.of([Closure(), Unimodal("C")])
    C = best_concentrations(D, S, told, in_order(6))
    assert max(told.violations(C, S, in_order(6)).values()) < 1e-9
    ways = [np.where(np.arange(5) < top, 1.0, -1.0) for top in range(6)]
    least = min(by_programme(D, S, np.column_stack(pair), 1.0) for pair in product(ways, repeat=2))
    assert least * (1 - 1e-6) <= ((D - C @ S) ** 2).sum() <= 1.01 * least


@pytest.mark.parametrize("seed", range(2))
def test_closure_and_monotonic_against_a_quadratic_programme(seed):
    """One uses another up: the commonest pair of constraints on reactions."""
    D, _, S = closed_table(seed, n=9, k=3)
    down, up = Monotonic("C", "down", components=0), Monotonic("C", "up", components=2)
    told = Constraints.of([Closure(), down, up])
    C = best_concentrations(D, S, told, in_order(9))
    assert max(told.violations(C, S, in_order(9)).values()) < 1e-9
    rises = np.zeros((8, 3))
    rises[:, 0], rises[:, 2] = -1, 1
    assert ((D - C @ S) ** 2).sum() == pytest.approx(by_programme(D, S, rises, 1.0), rel=1e-4)


def test_closure_and_unimodal_through_the_estimator():
    D, C, _ = closed_table(4, n=30, k=3, d=40, noise=0.01)
    model = GMCR(n_components=3, constraints=[Closure(), Unimodal("C")]).fit(D, order=np.arange(30))
    assert max(model.violations_.values()) <= 1e-9
    assert_allclose(model.fractions_.sum(axis=1), 1.0)
    for column in model.concentrations_.T:
        top = int(np.argmax(column))
        assert np.diff(column[: top + 1]).min(initial=0) >= -1e-9
        assert np.diff(column[top:]).max(initial=0) <= 1e-9
    along = np.corrcoef(model.fractions_.T, C.T)[:3, 3:]
    assert along[scipy.optimize.linear_sum_assignment(-along)].min() > 0.97


def test_unimodal_and_selectivity_against_sums_of_steps():
    D, _, S = closed_table(5, n=9)
    alone = Selectivity("C", (0, 2), 0)
    told = Constraints.of([Unimodal("C"), alone, ReferenceProfile(S)])
    table = Table(D, np.ones(9), in_order(9))
    of_C, of_S = factors(table, told, 2)
    fit = alternate(D, table.weight, (np.ones((9, 2)), S), of_C, of_S)
    assert max(told.violations(fit.concentrations, fit.profiles, in_order(9)).values()) < 1e-12

    def basis(top, begin):
        B = np.zeros((9, 9))
        B[:top, :top] = np.tril(np.ones((top, top)))
        B[top:, top:] = np.triu(np.ones((9 - top, 9 - top)))
        return B[:, (B[:begin] == 0).all(axis=0)] if begin else B

    least = min(
        scipy.optimize.nnls(
            np.hstack([np.kron(basis(a, 0), S[0][:, None]), np.kron(basis(b, 3), S[1][:, None])]), D.ravel()
        )[1]
        ** 2
        for a, b in product(range(10), repeat=2)
    )
    assert least * (1 - 1e-9) <= fit.left <= 1.01 * least


def test_equal_runs_with_one_maximum_are_fitted_as_their_mean():
    rng = np.random.default_rng(6)
    S = rng.random((2, 8))
    D = rng.random((14, 2)) @ S + 0.1 * rng.normal(size=(14, 8))
    layout = Layout.of(np.repeat(["a", "b"], 7), np.tile(np.arange(7), 2), 14)
    both = Constraints.of([Equal(), Unimodal("C"), ReferenceProfile(S)])
    table = Table(D, np.ones(14), layout)
    fit = alternate(D, table.weight, (np.ones((14, 2)), S), *factors(table, both, 2))
    assert max(both.violations(fit.concentrations, fit.profiles, layout).values()) < 1e-12
    mean = (D[:7] + D[7:]) / 2
    alone = Constraints.of([Unimodal("C"), ReferenceProfile(S)])
    of_mean = Table(mean, np.ones(7), in_order(7))
    other = alternate(mean, np.ones(7), (np.ones((7, 2)), S), *factors(of_mean, alone, 2))
    assert_allclose(fit.concentrations[:7], other.concentrations, atol=1e-4)


# What must be there


def present(seed=0):
    """A component that is hardly there in some samples."""
    rng = np.random.default_rng(seed)
    C, S = rng.random((20, 2)) + 0.2, rng.random((2, 15))
    C[:5, 1] = 0.0
    return C @ S + 0.05 * rng.normal(size=(20, 15)), S / np.linalg.norm(S, axis=1, keepdims=True)


def test_what_must_be_there_is_there():
    D, _ = present()
    table = np.full((20, 2), np.nan)
    table[:5, 1] = 1
    plain = GMCR(
        n_components=2, constraints=[Presence(np.where(np.arange(40).reshape(20, 2) == 39, 0, np.nan))]
    )
    lacking = plain.fit(D).concentrations_
    model = GMCR(n_components=2, constraints=[Presence(table, least=0.01)]).fit(D)
    assert model.violations_["presence"] <= 1e-9
    most = model.concentrations_.max(axis=0)
    which = int(np.argmin(lacking[:5].mean(axis=0) / lacking.max(axis=0)))
    assert (lacking[:5, which] < 0.01 * lacking[:, which].max()).any()  # where it was not asked for
    assert (model.concentrations_[:5, 1] >= 0.01 * most[1] * (1 - 1e-9)).all()
    assert Presence(table, least=0.01).violation(np.eye(20, 2), np.eye(2, 15)) == pytest.approx(0.01)


def test_what_must_be_there_against_a_general_solver():
    """Its least squares are those of the convex problem that it is."""
    D, S = present(1)
    told = Constraints.of([Presence(np.where(np.arange(40).reshape(20, 2) % 2 == 1, 1, np.nan), least=0.2)])
    table = Table(D, np.ones(20), Layout())
    of_C, _ = factors(table, told, 2)
    C = of_C.obeying(np.ones((20, 2)))
    for _ in range(300):
        C = of_C.improved(C, D @ S.T, S @ S.T)
    pairs = np.array([np.eye(20)[i] - 0.2 * np.eye(20)[k] for i in range(20) for k in range(20)])
    limit = np.kron(pairs, [0.0, 1.0])

    def cost(x):
        R = x.reshape(20, 2) @ S - D
        return (R**2).sum(), 2 * (R @ S.T).ravel()

    other = scipy.optimize.minimize(
        cost,
        C.ravel(),
        jac=True,
        bounds=[(0, None)] * 40,
        constraints=[scipy.optimize.LinearConstraint(limit, 0, np.inf)],
        method="SLSQP",
        options={"maxiter": 300},
    )
    assert ((D - C @ S) ** 2).sum() <= 1.01 * other.fun


def test_presence_by_run():
    time = np.arange(15.0)
    peaks = np.exp(-0.5 * ((time[:, None] - [5, 8]) / 1.5) ** 2)
    S = np.exp(-0.5 * ((np.arange(20.0) - np.array([[6.0], [12]])) / 4) ** 2)
    rng = np.random.default_rng(7)
    D = np.vstack([peaks * [1, 0], peaks * [0.5, 1]]) @ S + 1e-3 * rng.normal(size=(30, 20))
    runs, order = np.repeat(["blank", "sample"], 15), np.tile(time, 2)
    one = Presence(runs={"blank": (1, 0), "sample": (np.nan, 1)})
    assert constraint_of(one.as_dict()) == one
    assert constraint_of_words("presence blank 1 0") == Presence(runs={"blank": (1, 0)})
    assert constraint_of_words("presence run 2 ? 0") == Presence(runs={"run 2": (np.nan, 0)})
    model = GMCR(constraints=[one, Unimodal("C")]).fit(D, runs=runs, order=order)
    assert model.n_components_ == 2
    assert (model.concentrations_[:15, 1] == 0).all()
    assert model.violations_["presence"] == 0
    cosines = model.components_ @ (S / np.linalg.norm(S, axis=1, keepdims=True)).T
    assert np.diag(cosines).min() > 0.999  # the blank tells which is which
    with pytest.raises(InputError, match="presence speaks of runs; give fit runs="):
        GMCR(constraints=[one]).fit(D)
    with pytest.raises(InputError, match="presence speaks of the run 'other', and runs are blank, sample"):
        GMCR(constraints=[Presence(runs={"other": (1, 0)})]).fit(D, runs=runs)
    both = [Presence(runs={"blank": (1, 1)}), ZeroRegion("C", (runs == "blank").tolist(), components=1)]
    with pytest.raises(InputError, match="presence asks for component 1 in sample 0 or others"):
        GMCR(constraints=both).fit(D, runs=runs)


# Known amounts during the fit


def quantities(seed=8, noise=0.01):
    rng = np.random.default_rng(seed)
    S = np.exp(-0.5 * ((np.arange(40.0) - np.array([[12.0], [18], [27]])) / 6) ** 2)
    C = rng.uniform(0.5, 4, (25, 3))
    return C @ S + noise * rng.normal(size=(25, 40)), C, S


def test_calibration_against_least_squares_over_slopes_and_amounts():
    """For given profiles it is one linear problem: a slope, and what is not known."""
    D, C, S = quantities(noise=0.3)
    known = np.where(np.arange(25) < 6, C[:, 0], np.nan)
    told = Constraints.of([Calibration({"glucose": known}), ReferenceProfile(S[[1, 2]])])
    of_C, _ = factors(Table(D, np.ones(25), Layout()), Constraints.of([Calibration({"glucose": known})]), 3)
    X = of_C.obeying(np.ones((25, 3)))
    for _ in range(500):
        X = of_C.improved(X, D @ S.T, S @ S.T)
    columns = [np.kron(np.nan_to_num(known)[:, None], S[0][:, None])]
    columns += [np.kron(np.eye(25)[:, [m]], S[0][:, None]) for m in range(6, 25)]
    columns += [np.kron(np.eye(25), s[:, None]) for s in S[1:]]
    least = scipy.optimize.nnls(np.hstack(columns), D.ravel())[1] ** 2
    assert ((D - X @ S) ** 2).sum() == pytest.approx(least, rel=1e-4)
    assert Calibration({"glucose": known}).violation(X, S) < 1e-12
    free = np.array([scipy.optimize.nnls(S.T, x)[0] for x in D])
    assert Calibration({"glucose": known}).violation(free, S) > 0.01
    assert told.find(Calibration).violation(C, S) < 1e-12


def test_known_amounts_close_what_is_open():
    """Where samples hold everything, known amounts of a few make all amounts right."""
    D, C, _ = quantities()
    known = pd.DataFrame({"glucose": C[:, 2], "lactose": C[:, 0]})
    known[5:] = np.nan
    plain = GMCR(n_components=3).fit(D)
    model = GMCR(n_components=3, constraints=[Calibration(known, units="g/L")]).fit(D)
    assert model.violations_["calibration"] < 1e-9
    assert model.calibration_.names == ("glucose", "lactose")
    assert model.calibration_.components == (0, 1)
    others = np.arange(25) >= 5
    along = [np.corrcoef(model.concentrations_[others, j], C[others, k])[0, 1] for j, k in enumerate((2, 0))]
    assert min(along) > 0.9995
    loose = np.abs(np.corrcoef(plain.concentrations_[others].T, C[others].T)[:3, 3:][:, [2, 0]]).max(axis=0)
    assert loose.min() < min(along)  # nothing else told them
    off = np.abs(model.decoding_.amounts.values - C[:, [2, 0]])[others]
    assert np.median(off) < 0.02
    assert model.decode(D).left_out == ("calibration",)


def test_calibration_with_a_blank():
    C = quantities(9)[1]
    known = np.where(np.arange(25)[:, None] < 8, C[:, :1], np.nan)
    one = Calibration(known, offset=True)
    shifted = C.copy()
    shifted[:, 0] += 0.7
    assert one.violation(shifted, np.eye(3)) < 1e-12
    assert Calibration(known).violation(shifted, np.eye(3)) > 0.05
    assert constraint_of(one.as_dict()) == one


@pytest.mark.parametrize(
    ("known", "word"),
    [
        (None, "known of Calibration must be amounts"),
        ([[1.0], [np.nan], [np.nan]], "tells 1 amount"),
        ([[1.0], [1.0], [np.nan]], "tells 2 amount"),
        ([[1.0], [-1.0], [2.0]], "not negative"),
    ],
)
def test_calibration_says_what_is_wrong(known, word):
    with pytest.raises(InputError, match=word):
        Calibration(known)


# Reactions beside what is known of profiles


def reaction(noise=1e-3):
    rng = np.random.default_rng(10)
    times = np.linspace(0.0, 30.0, 40)
    S = np.exp(-0.5 * ((np.arange(25.0) - np.array([[5.0], [11], [19]])) / 4) ** 2)
    C = Kinetic("A > B > C").concentrations(np.array([0.3, 0.06]), times)
    return C @ S + noise * rng.normal(size=(40, 25)), times, S


def test_reactions_beside_a_known_profile():
    D, times, S = reaction()
    told = [Kinetic("A > B > C"), ReferenceProfile(S[0])]
    model = GMCR(constraints=told).fit(D, order=times)
    assert_allclose(model.rates_.values, [0.3, 0.06], rtol=0.02)
    assert model.violations_["reference profile"] < 1e-9
    wrong = np.roll(S[0], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = GMCR(constraints=[Kinetic("A > B > C"), ReferenceProfile(wrong)]).fit(D, order=times)
    assert_allclose(other.components_[0], wrong / np.linalg.norm(wrong), atol=1e-12)


def test_reactions_beside_profiles_that_are_zero_somewhere_against_bounded_least_squares():
    D, times, _ = reaction(0.05)
    zero = ZeroRegion("S", (15, 24), components=0)
    one = Kinetic("A > B > C", times=times, rates=[0.3, 0.06])
    fit = kinetic_fit(D, Layout(), Constraints.of([one, zero]), one)
    C = one.concentrations(np.array([0.3, 0.06]), times)
    upper = np.full((3, 25), np.inf)
    upper[0, 15:] = 1e-12
    least = sum(2 * scipy.optimize.lsq_linear(C, x, (0, high)).cost for x, high in zip(D.T, upper.T))
    assert fit.left == pytest.approx(least, rel=1e-6)
    assert (fit.S[0, 15:] == 0).all()


# What cannot be

LANDSCAPE = Trilinear(np.repeat([0, 1], 6), np.tile(np.arange(6), 2))


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ([Unimodal("C"), Smooth("C")], "unimodal C and smooth C cannot shape the same component together"),
        (
            [Equal(), Trilinear(np.repeat([0, 1], 6), np.tile(np.arange(6), 2))],
            "equal and trilinear cannot shape",
        ),
        (
            [Closure(), Trilinear(np.repeat([0, 1], 6), np.tile(np.arange(6), 2))],
            "closure and trilinear cannot hold",
        ),
        (
            [Kinetic("A > B"), Unimodal("C")],
            "kinetic settles all concentrations, and unimodal C speaks of them too",
        ),
        ([Kinetic("A > B"), Closure()], "kinetic settles all concentrations, and closure speaks of them too"),
    ],
)
def test_what_cannot_hold_together_is_refused(given, word):
    D = np.random.default_rng(0).random((12, 9))
    layout = Layout.of(np.repeat([0, 1], 6), np.tile(np.arange(6), 2), 12)
    told = Constraints.of(given)
    S = np.random.default_rng(1).random((2, 9))
    kinetic = told.find(Kinetic)
    with pytest.raises(InputError, match=word):
        kinetic_fit(D, layout, told, kinetic) if kinetic else finish(Table(D, np.ones(12), layout), told, S)
