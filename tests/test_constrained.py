"""Fits under constraints: as good as an independent solver's, and obeying all the time."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from sklearn.isotonic import IsotonicRegression

from gmcr.constrained.alternating import alternate
from gmcr.constrained.finish import Table, factors, finish
from gmcr.constrained.kinetics import kinetic_fit
from gmcr.constrained.middle import middle_of
from gmcr.constraints import (
    Closure,
    Constraints,
    Equal,
    FixedValues,
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
)
from gmcr.constraints.isotonic import nearest_falling, nearest_rising, nearest_unimodal
from gmcr.constraints.reactions import over_time, read_reactions
from gmcr.constraints.smooth import basis
from gmcr.errors import InputError
from shared_data import DATA, needs_data

ANY = np.inf


def small(seed, n=12, d=15, k=2, noise=0.05):
    """Samples, concentrations and profiles of a small table."""
    rng = np.random.default_rng(seed)
    C, S = rng.random((n, k)), rng.random((k, d))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    return C @ S + noise * rng.normal(size=(n, d)), C, S


def fitted(D, constraints, S, layout=None, start=None):
    """A fit from the profiles S alone."""
    table = Table(D, np.ones(len(D)), layout or Layout())
    of_C, of_S = factors(table, constraints, len(S))
    C = np.linalg.lstsq(S.T, np.nan_to_num(D).T, rcond=None)[0].T if start is None else start
    return alternate(D, table.weight, (C, S), of_C, of_S)


def in_order(n, runs=None):
    return Layout.of(runs, np.arange(n), n)


# Series


numbers = st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=25).map(
    lambda x: np.array(x, dtype=float)
)


@settings(max_examples=40, deadline=None)
@given(numbers)
def test_rising_and_falling_series_are_isotonic_regression(y):
    free = np.full(len(y), ANY)
    places = np.arange(len(y))
    assert_allclose(nearest_rising(y, -free, free), IsotonicRegression().fit_transform(places, y), atol=1e-9)
    down = IsotonicRegression(increasing=False).fit_transform(places, y)
    assert_allclose(nearest_falling(y, -free, free), down, atol=1e-9)
    bounded = IsotonicRegression(y_min=0.0, y_max=2.0).fit_transform(places, y)
    assert_allclose(nearest_rising(y, 0 * free.clip(0, 1), 2 * np.ones(len(y))), bounded, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(numbers)
def test_the_top_of_a_unimodal_series_is_the_best_of_all(y):
    free, n = np.full(len(y), ANY), len(y)

    def pieces(top):
        up = IsotonicRegression().fit_transform(np.arange(top), y[:top]) if top else []
        down = (
            IsotonicRegression(increasing=False).fit_transform(np.arange(n - top), y[top:]) if top < n else []
        )
        return np.concatenate([up, down])

    best = min(((pieces(top) - y) ** 2).sum() for top in range(n + 1))
    found = nearest_unimodal(y, -free, free)
    assert ((found - y) ** 2).sum() == pytest.approx(best, abs=1e-8)
    top = int(np.argmax(found))
    assert (np.diff(found[: top + 1]) >= 0).all()
    assert (np.diff(found[top:]) <= 0).all()


@pytest.mark.parametrize("seed", range(30))
def test_series_within_bounds_and_a_tolerance_against_a_quadratic_programme(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    y, lower = rng.normal(size=n), rng.normal(size=n) - 1.2
    upper, tolerance = lower + 2 * rng.exponential(size=n), 1 + 0.3 * rng.random()
    rise = np.eye(n)[:-1] - tolerance * np.eye(n, k=1)[:-1]
    found = nearest_rising(y, lower, upper, tolerance)
    other = scipy.optimize.minimize(
        lambda x: ((x - y) ** 2).sum(),
        np.clip(y, lower, upper),
        jac=lambda x: 2 * (x - y),
        bounds=list(zip(lower, upper)),
        constraints=[scipy.optimize.LinearConstraint(rise, -np.inf, 0)],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    if np.isnan(found).any():
        assert not other.success or (rise @ other.x).max() > 1e-7
    else:
        assert (rise @ found).max() < 1e-12
        assert ((found - y) ** 2).sum() == pytest.approx(other.fun, abs=1e-6)


# The fit against independent solvers


def steps_up(n):
    """Rising series that are not negative are sums of these: (places, steps)."""
    return np.tril(np.ones((n, n)))


def unimodal_basis(n, top):
    """The same for series that rise over the first `top` places and fall over the others."""
    B = np.zeros((n, n))
    B[:top, :top] = steps_up(top)
    B[top:, top:] = steps_up(n - top).T
    return B


def by_nnls(D, S, bases):
    """Squares left where column j of C is bases[j] times something not negative."""
    A = np.hstack([np.kron(B, s[:, None]) for B, s in zip(bases, S)])
    return scipy.optimize.nnls(A, D.ravel())[1] ** 2


@pytest.mark.parametrize("seed", range(3))
def test_unimodal_against_all_places_of_the_tops(seed):
    D, _, S = small(seed, n=9, noise=0.2)
    told = Constraints.of([Unimodal("C"), ReferenceProfile(S)])
    fit = fitted(D, told, S, in_order(9))
    least = min(
        by_nnls(D, S, [unimodal_basis(9, a), unimodal_basis(9, b)]) for a, b in product(range(10), repeat=2)
    )
    assert least * (1 - 1e-9) <= fit.left <= 1.01 * least
    assert max(told.violations(fit.concentrations, fit.profiles, in_order(9)).values()) < 1e-12
    ended = np.maximum(np.linalg.lstsq(S.T, D.T, rcond=None)[0].T, 0)
    projected = factors(Table(D, np.ones(9), in_order(9)), told, 2)[0].obeying(ended)
    assert ((D - projected @ S) ** 2).sum() > 1.01 * least  # a projection at the end does not pass


@pytest.mark.parametrize("direction", ["up", "down"])
def test_monotonic_against_sums_of_steps(direction):
    D, _, S = small(1, noise=0.2)
    told = Constraints.of([Monotonic("C", direction), ReferenceProfile(S)])
    fit = fitted(D, told, S, in_order(12))
    B = steps_up(12) if direction == "up" else steps_up(12).T
    assert fit.left == pytest.approx(by_nnls(D, S, [B, B]), rel=1e-4)
    assert Monotonic("C", direction).violation(fit.C, fit.S, in_order(12)) == 0


def test_runs_are_shaped_one_by_one():
    D, _, S = small(2, noise=0.2)
    runs = np.repeat([0, 1], 6)
    told = Constraints.of([Monotonic("C"), ReferenceProfile(S)])
    fit = fitted(D, told, S, in_order(12, runs))
    B = np.kron(np.eye(2), steps_up(6))
    assert fit.left == pytest.approx(by_nnls(D, S, [B, B]), rel=1e-4)


BOUNDS = [
    ZeroRegion("C", (2, 5)),
    ZeroRegion("C", np.arange(12) % 3 == 0, components=1),
    Selectivity("C", (0, 3), 1),
    Presence(np.where(np.arange(24).reshape(12, 2) % 5 == 0, 0, np.nan)),
    FixedValues("C", np.where(np.arange(24).reshape(12, 2) % 7 == 0, 0.4, np.nan)),
]


@pytest.mark.parametrize("one", BOUNDS, ids=lambda one: one.kind)
def test_bounds_against_bounded_least_squares(one):
    D, _, S = small(3)
    fit = fitted(D, Constraints.of([one, ReferenceProfile(S)]), S, in_order(12))
    lower, upper = one.bounds((12, 2), in_order(12))
    lower, upper = np.maximum(lower, 0), np.maximum(upper, lower + 1e-9)
    S = fit.S  # whose norm is as the fit has it, where values are given
    least = sum(
        2 * scipy.optimize.lsq_linear(S.T, x, (low, high)).cost for x, low, high in zip(D, lower, upper)
    )
    assert fit.left == pytest.approx(least, rel=1e-4)
    assert one.violation(fit.concentrations, fit.profiles, in_order(12)) < 1e-12


@pytest.mark.parametrize(
    "one", [ZeroRegion("S", (0, 4)), Selectivity("S", (3, 5), 0)], ids=lambda one: one.kind
)
def test_both_factors_against_a_general_solver(one):
    """Not only given profiles: of all C and S that obey, nearly the best."""
    D, C, S = small(4, noise=0.1)
    fit = fitted(D, Constraints.of([one]), S)
    upper = one.bounds((15, 2), Layout())[1].T
    n = C.size

    def squares(x):
        C, S = x[:n].reshape(12, 2), x[n:].reshape(2, 15)
        R = C @ S - D
        return (R**2).sum(), 2 * np.concatenate([(R @ S.T).ravel(), (C.T @ R).ravel()])

    bounds = [(0, None)] * n + [(0, None if high > 0 else 0) for high in upper.ravel()]
    rng = np.random.default_rng(0)
    starts = [np.concatenate([C.ravel(), S.ravel()]), *(rng.random(n + S.size) for _ in range(5))]
    least = min(
        scipy.optimize.minimize(squares, start, jac=True, bounds=bounds, options={"maxiter": 5000}).fun
        for start in starts
    )
    assert fit.left <= 1.01 * least
    assert one.violation(fit.C, fit.S) == 0


@pytest.mark.parametrize("members", [None, (0, 2)])
def test_closure_against_a_quadratic_programme(members):
    D, _, S = small(5, k=3)
    one = Closure(2.0, members)
    table = Table(D, np.ones(12), Layout())
    of_C, _ = factors(table, Constraints.of([one]), 3)
    C = of_C.improved(of_C.obeying(np.ones((12, 3))), D @ S.T, S @ S.T)
    assert one.violation(C, S) < 1e-12
    summed = one.speaks_of(3).astype(float)
    for x, c in zip(D, C):
        other = scipy.optimize.minimize(
            lambda c, x=x: ((x - c @ S) ** 2).sum(),
            np.full(3, 0.7),
            bounds=[(0, None)] * 3,
            constraints=[scipy.optimize.LinearConstraint(summed[None], 2.0, 2.0)],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert ((x - c @ S) ** 2).sum() == pytest.approx(other.fun, rel=1e-6)


def test_closure_of_both_factors_finds_what_was_closed():
    rng = np.random.default_rng(6)
    C, S = rng.dirichlet(np.ones(3), 40), np.abs(rng.normal(size=(3, 30))) * np.array([[1.0], [3.0], [0.5]])
    C[:3], S[:, :9] = np.eye(3), np.kron(np.eye(3), np.ones(3))  # pure samples and channels: one answer
    D = C @ S + 1e-3 * rng.normal(size=(40, 30))
    pool = S / np.linalg.norm(S, axis=1, keepdims=True)
    fit = finish(Table(D, np.ones(40), Layout()), Constraints.of([Closure()]), pool)
    order = scipy.optimize.linear_sum_assignment(-(fit.profiles @ pool.T))[1]
    assert_allclose(fit.C, C[:, order], atol=0.01)
    assert_allclose(fit.S, S[order], atol=0.05)


def test_smooth_profiles_against_nonnegative_splines():
    D, C, S = small(7, d=24, noise=0.2)
    known = FixedValues("C", C)
    fit = fitted(D, Constraints.of([Smooth("S", 5.0), known]), S, start=C)
    B = basis(24, 5.0)
    A = np.hstack([np.kron(c[:, None], B) for c in C.T])
    assert fit.left == pytest.approx(scipy.optimize.nnls(A, D.ravel())[1] ** 2, rel=1e-4)
    assert Smooth("S", 5.0).violation(fit.C, fit.S) < 1e-9
    assert Smooth("S", 5.0).violation(C, S) > 0.01


def test_profiles_near_a_reference_against_a_general_solver():
    """The squares left, and what deviations cost: no solver finds less."""
    D, C, S = small(10, noise=0.1)
    known = np.roll(S[0], 1)
    told = Constraints.of([ReferenceProfile(known, weight=0.5)])
    fit = fitted(D, told, S)
    n = C.size

    def cost(x):
        C, S = x[:n].reshape(12, 2), x[n:].reshape(2, 15)
        off = S[0] - max(S[0] @ known, 0) * known
        return ((D - C @ S) ** 2).sum() + 0.5 * (C[:, 0] ** 2).sum() * (off**2).sum()

    start = np.concatenate([fit.C.ravel(), fit.S.ravel()])
    assert cost(start) == pytest.approx(fit.left)
    bounds = [(0, None)] * len(start)
    other = scipy.optimize.minimize(cost, start, bounds=bounds, options={"maxfun": 200_000})
    assert fit.left <= 1.01 * other.fun
    closeness = [
        fitted(D, Constraints.of([ReferenceProfile(known, weight=weight)]), S).profiles[0] @ known
        for weight in (1e-6, 0.5, 10.0, 1e6)
    ]
    assert (np.diff(closeness) > 0).all()
    assert closeness[-1] > 0.9999


def test_equal_runs_are_fitted_as_their_mean():
    D, _, S = small(8, noise=0.2)
    layout = Layout.of(np.repeat(["a", "b"], 6), np.tile(np.arange(6), 2), 12)
    fit = fitted(D, Constraints.of([Equal(), ReferenceProfile(S)]), S, layout)
    mean = (D[:6] + D[6:]) / 2
    C = np.array([scipy.optimize.nnls(S.T, x)[0] for x in mean])
    assert_allclose(fit.concentrations, np.vstack([C, C]), atol=1e-4)
    assert Equal().violation(fit.C, fit.S, layout) == 0
    assert Equal().violation(np.arange(24.0).reshape(12, 2), S, layout) > 0.1


def landscape(seed, noise=0.01):
    rng = np.random.default_rng(seed)
    a, b, S = rng.random((6, 3)), rng.random((5, 3)), rng.random((3, 12))
    C = (a[:, None] * b).reshape(30, 3)
    D = C @ S + noise * rng.normal(size=(30, 12))
    return D, C, S, np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)


@pytest.mark.parametrize("seed", range(2))
def test_trilinear_against_a_canonical_decomposition(seed):
    from tensorly.decomposition import non_negative_parafac_hals

    D, C, S, slices, mode = landscape(seed)
    one = Trilinear(slices, mode)
    fit = finish(
        Table(D, np.ones(30), Layout()), Constraints.of([one]), S / np.linalg.norm(S, axis=1)[:, None]
    )
    tensor = D.reshape(6, 5, 12)
    least = np.inf
    for state in range(2):
        weights, parts = non_negative_parafac_hals(
            tensor, 3, n_iter_max=500, init="random", random_state=state, tol=1e-12
        )
        least = min(least, ((tensor - np.einsum("r,ir,jr,kr->ijk", weights, *parts)) ** 2).sum())
    assert fit.left <= 1.01 * least
    assert one.violation(fit.concentrations, fit.profiles) < 1e-9
    assert one.violation(C, S) < 1e-9
    assert one.violation(C + 0.1 * np.random.default_rng(0).random(C.shape), S) > 1e-3


def test_trilinear_without_some_rows_and_entries():
    D, _, S, slices, mode = landscape(0, noise=0.0)
    kept = np.delete(np.arange(30), [3, 17, 22])
    D = D[kept]
    D[np.random.default_rng(0).random(D.shape) < 0.1] = np.nan
    one = Trilinear(slices[kept], mode[kept])
    pool = S / np.linalg.norm(S, axis=1)[:, None]
    fit = fitted(
        D, Constraints.of([one]), np.abs(pool + 0.05 * np.random.default_rng(1).normal(size=S.shape))
    )
    assert (fit.profiles * pool).sum(axis=1).min() > 0.999
    assert one.violation(fit.C, fit.S) < 1e-9


# The choice among what fits equally well


def chromatograms(seed=0):
    """Two runs in which two peaks overlap, and their profiles."""
    rng = np.random.default_rng(seed)
    t = np.arange(30.0)
    peaks = np.exp(-0.5 * ((t[:, None] - [11, 15, 20]) / 2.5) ** 2)
    C = np.vstack([peaks * [1, 0.6, 0.8], peaks * [0.5, 1, 0.3]])
    x = np.arange(40.0)
    S = np.exp(-0.5 * ((x - np.array([[10.0], [18], [28]])) / 6) ** 2) + 0.1
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    D = C @ S + 2e-3 * rng.normal(size=(60, 40))
    return D, C, S, Layout.of(np.repeat([0, 1], 30), np.tile(t, 2), 60)


def test_the_middle_does_not_depend_on_where_it_starts():
    D, _, S, layout = chromatograms()
    table, told = Table(D, np.ones(60), layout), Constraints.of([Unimodal("C")])
    of_C, of_S = factors(table, told, 3)
    rng = np.random.default_rng(1)
    turned = [S, np.abs(S + 0.2 * np.roll(S, 1, axis=0)), np.maximum(S + 0.05 * rng.normal(size=S.shape), 0)]
    pools = [middle_of(D, table.weight, [pool], of_C, of_S) for pool in turned]
    for pool in pools:
        match = pool @ pools[0].T
        assert match[scipy.optimize.linear_sum_assignment(-match)].min() > 0.997
        match = pool @ S.T
        assert match[scipy.optimize.linear_sum_assignment(-match)].min() > 0.98


def test_the_choice_fits_as_well_as_any_and_obeys():
    D, _, S, layout = chromatograms()
    table, told = Table(D, np.ones(60), layout), Constraints.of([Unimodal("C")])
    fit = finish(table, told, S, others=False)
    free = fitted(D, told, S, layout)
    assert fit.left <= 1.005 * free.left
    assert told.violations(fit.concentrations, fit.profiles, layout)["unimodal C"] == 0
    moved = np.random.default_rng(0).permutation(60)
    again = finish(Table(D[moved], np.ones(60), layout[moved]), told, S, others=False)
    assert_allclose(again.C, fit.C[moved], atol=1e-6)


def test_components_take_the_places_that_constraints_name():
    """Known amounts of some samples say which component is which."""
    D, C, S = small(9, n=20, d=30, k=3, noise=1e-3)
    known = np.where(np.arange(20)[:, None] < 8, C, np.nan)
    fit = finish(Table(D, np.ones(20), Layout()), Constraints.of([FixedValues("C", known)]), S[[2, 0, 1]])
    assert_allclose(fit.C, C, atol=0.02)
    assert_allclose(fit.C[:8], C[:8], atol=1e-12)


# Kinetics


@pytest.mark.parametrize(
    ("text", "rates", "slope"),
    [
        ("A > B > C", (0.3, 0.05), lambda c, k: [-k[0] * c[0], k[0] * c[0] - k[1] * c[1], k[1] * c[1]]),
        ("A -> B; B -> C", (0.2, 0.2), lambda c, k: [-k[0] * c[0], k[0] * c[0] - k[1] * c[1], k[1] * c[1]]),
        ("A <> B", (0.3, 0.1), lambda c, k: [k[1] * c[1] - k[0] * c[0], k[0] * c[0] - k[1] * c[1]]),
        ("2 A > B", (0.7,), lambda c, k: [-2 * k[0] * c[0] ** 2, k[0] * c[0] ** 2]),
        ("A + B > C", (0.7,), lambda c, k: [-k[0] * c[0] * c[1], -k[0] * c[0] * c[1], k[0] * c[0] * c[1]]),
    ],
)
def test_reactions_against_an_integration(text, rates, slope):
    steps, times = read_reactions(text), np.array([0.0, 3.0, 1.0, 10.0, 25.0])
    initial = np.array([1.0, 0.0, 0.0]) if "+" not in text else np.array([1.0, 1.5, 0.0])
    initial = initial[: len(slope(initial, [1, 1]))]
    out = solve_ivp(
        lambda _, c: slope(c, rates), (0, 25), initial, "Radau", np.sort(times), rtol=1e-10, atol=1e-12
    )
    assert_allclose(over_time(steps, np.array(rates), initial, times)[np.argsort(times)], out.y.T, atol=1e-7)


def reaction(rates=(0.31, 0.03), noise=1e-3, seed=0):
    times = np.linspace(0.1, 40, 80)
    C = Kinetic("A > B > C").concentrations(np.array(rates), times)
    x = np.arange(50.0)
    S = np.exp(-0.5 * ((x - np.array([[12.0], [22], [34]])) / 7) ** 2) + 0.05
    return C @ S + noise * np.random.default_rng(seed).normal(size=(80, 50)), C, S, times


@pytest.mark.parametrize("start", [None, (0.3, 0.03), (0.03, 0.3)])
def test_rate_constants_from_either_order_of_starting_values(start):
    D, C, S, times = reaction()
    one = Kinetic("A > B > C", times=times, start=start)
    fit = kinetic_fit(D, Layout(), Constraints.of([one]), one)
    assert_allclose(fit.rates.values, [0.31, 0.03], rtol=5e-3)
    low, high = fit.rates.intervals()
    assert (low < [0.31, 0.03]).all()
    assert (high > [0.31, 0.03]).all()
    assert_allclose(fit.S, S, atol=0.01)
    assert one.violation(fit.concentrations, fit.profiles) < 1e-9
    assert one.violation(C + 0.01 * np.random.default_rng(0).normal(size=C.shape), S) > 1e-3
    assert "A > B" in str(fit.rates)


def test_kinetics_against_integrated_reactions_and_bounded_least_squares():
    """The squares left: no search over integrated rates, with profiles by NNLS, finds less."""
    D, _, _, times = reaction(noise=0.05)
    D = D[:, ::5]
    one = Kinetic("A > B > C", times=times)
    fit = kinetic_fit(D, Layout(), Constraints.of([one]), one)

    def slope(_, c, first, second):
        return [-first * c[0], first * c[0] - second * c[1], second * c[1]]

    def squares(logs):
        C = solve_ivp(slope, (0, 40), [1, 0, 0], "LSODA", times, args=np.exp(logs), rtol=1e-8, atol=1e-10).y.T
        return sum(scipy.optimize.nnls(C, channel)[1] ** 2 for channel in D.T)

    other = scipy.optimize.minimize(squares, np.log([0.2, 0.05]), method="Nelder-Mead")
    assert (fit.S >= 0).all()
    assert other.fun * (1 - 1e-4) <= ((D - fit.C @ fit.S) ** 2).sum() <= 1.01 * other.fun


def test_errors_of_rates_are_those_of_white_noise_where_it_is_white():
    one = Kinetic("A > B > C", times=reaction()[3], start=(0.3, 0.03))
    found = [
        kinetic_fit(reaction(seed=seed)[0], Layout(), Constraints.of([one]), one).rates for seed in range(40)
    ]
    spread = np.std([np.log(rates.values) for rates in found], axis=0)
    told = np.median([rates.log_errors for rates in found], axis=0)
    assert (told > 0.8 * spread).all()
    assert (told < 1.6 * spread).all()  # some memory is never ruled out


def test_errors_of_rates_know_of_noise_with_a_memory():
    D, _, S, times = reaction(noise=0.0)
    one = Kinetic("A > B > C", times=times, start=(0.3, 0.03))
    rng, found = np.random.default_rng(0), []
    root = np.linalg.cholesky(np.exp(-np.abs(times[:, None] - times) / 5.0))
    for _ in range(40):
        drift = 5e-3 * np.outer(root @ rng.normal(size=80), S[1] + 0.3)
        noisy = D + drift + 1e-3 * rng.normal(size=D.shape)
        found.append(kinetic_fit(noisy, Layout(), Constraints.of([one]), one).rates)
    spread = np.std([np.log(rates.values) for rates in found], axis=0)
    told = np.median([rates.log_errors for rates in found], axis=0)
    assert (told > 0.6 * spread).all()
    assert (told < 1.6 * spread).all()
    white = kinetic_fit(reaction()[0], Layout(), Constraints.of([one]), one).rates.log_errors
    assert (spread > 3 * white).all()  # which is what white noise as small would have said


def test_rates_that_cannot_be_told_are_not_told_apart():
    one = Kinetic("A <> B; B > C")
    times = np.linspace(0.1, 40, 60)
    C = one.concentrations(np.array([0.3, 0.1, 0.05]), times)
    rng = np.random.default_rng(0)
    D = C @ rng.random((3, 20)) + 1e-3 * rng.normal(size=(60, 20))
    with pytest.warns(UserWarning, match="cannot tell the rate constants of A > B, B > A, B > C"):
        fit = kinetic_fit(D, Layout.of(None, times, 60), Constraints.of([one]), one)
    assert np.isinf(fit.rates.errors).all()
    known = Kinetic("A <> B; B > C", rates=(0.3, 0.1, 0.05))
    fit = kinetic_fit(D, Layout.of(None, times, 60), Constraints.of([known]), known)
    assert_allclose(fit.C, C, atol=1e-10)
    assert (fit.rates.errors == 0).all()


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("A B", {}, 'must have arrows, as in "A > B"'),
        ("A > ?", {}, "name species such as A"),
        ("", {}, "it is empty"),
        ("3 A > B", {}, "third order"),
        ("A > B", {"initial": {"C": 1.0}}, "initial of Kinetic names 'C'"),
        ("A > B", {"absorbing": ("X",)}, "absorbing of Kinetic names 'X'"),
        ("A > B", {"start": (1.0, 2.0)}, "start of Kinetic must be 1 positive numbers"),
        ("A > B", {"rates": (-1.0,)}, "rates of Kinetic must be 1 positive"),
        ("A > B", {"initial": {"A": 0.0}}, "initial of Kinetic must be amounts"),
    ],
)
def test_reactions_that_cannot_be(text, more, message):
    with pytest.raises(InputError, match=message):
        Kinetic(text, **more)


def test_kinetics_that_cannot_be_fitted():
    D, _, _, times = reaction()
    one = Kinetic("A + B > C", times=times, initial={"A": 1.0, "B": 2.0})
    with pytest.raises(InputError, match="A, B, C are not independent of each other"):
        kinetic_fit(D, Layout(), Constraints.of([one]), one)
    both = Constraints.of([Kinetic("A > B > C"), Unimodal("C")])
    with pytest.raises(
        InputError, match="kinetic settles all concentrations, and unimodal C speaks of them too"
    ):
        kinetic_fit(D, Layout(), both, both.find(Kinetic))
    for layout, message in (
        (Layout(), "kinetic goes by time"),
        (Layout.of(None, times - 5, 80), "begin at zero"),
    ):
        with pytest.raises(InputError, match=message):
            kinetic_fit(D, layout, Constraints.of([Kinetic("A > B > C")]), Kinetic("A > B > C"))


# Measured data


def measured(name):
    with np.load(DATA / f"{name}.npz") as file:
        return dict(file)


def matched(found, true):
    cosines = found @ (true / np.linalg.norm(true, axis=1, keepdims=True)).T
    return cosines[scipy.optimize.linear_sum_assignment(-cosines)]


@needs_data
@pytest.mark.parametrize(("name", "smallest"), [("claus_eem", 0.9998), ("dorrit_eem", 0.995)])
def test_trilinear_landscapes(name, smallest):
    from gmcr.window.dense_fit import starting_pools

    data = measured(name)
    D, k = data["D"], int(data["n_components"])
    told = Constraints.of([Trilinear(data["x_row_sample"], data["x_row_excitation"])])
    for S in starting_pools(np.maximum(D, 0), k)[:2]:
        fit = finish(Table(D, np.ones(len(D)), Layout()), told, S, others=False)
        assert matched(fit.profiles, data["S"]).min() >= smallest


@needs_data
def test_unimodal_chromatograms():
    from gmcr.window.dense_fit import starting_pools

    data = measured("hplc_pesticides_bdata")
    D = data["D"]
    layout = Layout.of(data["x_run"], np.arange(80), 80)
    for S in starting_pools(np.maximum(D, 0), 3)[2:]:
        fit = finish(Table(D, np.ones(80), layout), Constraints.of([Unimodal("C")]), S, others=False)
        assert matched(fit.profiles, data["S"]).min() >= 0.995


@needs_data
@pytest.mark.parametrize("start", [(0.3, 0.03), (0.03, 0.3)])
def test_measured_kinetics(start):
    data = measured("uvvis_kinetics_meting9_300_500")
    one = Kinetic("A > B > C", times=data["x_time_s"] / 60, start=start)
    fit = kinetic_fit(data["D"], Layout(), Constraints.of([one]), one)
    assert_allclose(fit.rates.values, [0.311, 0.0262], rtol=5e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_misfit_never_rises(seed):
    """Each sweep under constraints is a descent, wherever it starts."""
    rng = np.random.default_rng(seed)
    D, _, S = small(seed, n=10, d=8)
    told = Constraints.of([Unimodal("C", 1.1), ZeroRegion("S", (0, 1))])
    of_C, of_S = factors(Table(D, np.ones(10), in_order(10)), told, 2)
    C, S = of_C.obeying(rng.random((10, 2))), of_S.obeying(rng.random((8, 2))).T
    last = ((D - C @ S) ** 2).sum()
    for _ in range(5):
        C = of_C.improved(C, D @ S.T, S @ S.T)
        S = of_S.improved(S.T, D.T @ C, C.T @ C).T
        left = ((D - C @ S) ** 2).sum()
        assert left <= last * (1 + 1e-12)
        last = left


def test_nothing_warns_on_the_way():
    D, _, S, layout = chromatograms(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finish(Table(D, np.ones(60), layout), Constraints.of([Unimodal("C", 1.05)]), S)
