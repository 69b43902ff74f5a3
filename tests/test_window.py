"""The window solver's parts, each alone, against independent references and hand-made cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

from gmcr import GMCR, make_measured, make_mixtures
from gmcr.constraints import Constraints, ReferenceProfile
from gmcr.decoding.prices import usage_price
from gmcr.noise import Constant, Correlation, Proportional, Sigma
from gmcr.rank import noise_edge
from gmcr.scoring import compare
from gmcr.window import moves
from gmcr.window import rare_slots as rare
from gmcr.window.dense_fit import factorise, leading_parts, reproducibility, starting_pools
from gmcr.window.descent import NoiseModel, Path, descend, settle
from gmcr.window.evidence import comes_back, decide, is_white, last_to_come_back
from gmcr.window.first_guess import Guess, coarsest_noise, extreme_samples, guesses
from gmcr.window.pool_update import update_pool
from gmcr.window.problem import Problem
from gmcr.window.search import Options
from gmcr.window.solver import solve
from gmcr.window.trial import Draft


def problem_of(D, n_slots=8, **fields):
    D = np.ascontiguousarray(D)
    return Problem(
        D,
        np.nan_to_num(D) if np.isnan(D).any() else D,
        np.ones(len(D)),
        usage_price(n_slots, len(D)),
        **fields,
    )


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(n_components=10, n_samples=60, snr_db=30, n_features=96, random_state=3)


# The pool update


@pytest.mark.parametrize("per_entry", [False, True])
def test_pool_update_reaches_weighted_nnls(mix, per_entry):
    rng = np.random.default_rng(0)
    shape = mix.D.shape if per_entry else (len(mix.D), 1)
    W = rng.uniform(0.5, 2.0, shape)
    S, sizes = update_pool(mix.S, mix.D, mix.C, W, n_sweeps=2000)
    for channel in range(0, 96, 7):
        root = np.sqrt(np.broadcast_to(W, mix.D.shape)[:, channel])
        reference, _ = nnls(mix.C * root[:, None], mix.D[:, channel] * root)
        found = S[:, channel] * sizes
        np.testing.assert_allclose(found, reference, atol=1e-7)


def test_pool_update_keeps_fixed_profiles_and_unit_norm(mix):
    S, sizes = update_pool(mix.S, mix.D, mix.C, np.ones((60, 1)), free=np.arange(3, len(mix.S)))
    np.testing.assert_allclose(S[:3], mix.S[:3], rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1.0)
    np.testing.assert_allclose(sizes[:3], 1.0)


def test_pool_update_ignores_missing_entries(mix):
    rng = np.random.default_rng(1)
    W = (rng.random(mix.D.shape) > 0.3).astype(float)
    spoilt = np.where(W > 0, mix.D, 1e6)
    clean = update_pool(mix.S, mix.D, mix.C, W, n_sweeps=20)[0]
    np.testing.assert_allclose(update_pool(mix.S, spoilt, mix.C, W, n_sweeps=20)[0], clean, atol=1e-9)


def test_signed_pool_update_is_least_squares():
    rng = np.random.default_rng(2)
    C, S = rng.normal(size=(40, 4)), rng.normal(size=(4, 30))
    X = C @ S + 0.1 * rng.normal(size=(40, 30))
    start = S / np.linalg.norm(S, axis=1, keepdims=True)
    found, sizes = update_pool(start, X, C, np.ones((40, 1)), n_sweeps=500, signed=True)
    np.testing.assert_allclose((C * sizes) @ found, C @ np.linalg.lstsq(C, X, rcond=None)[0], atol=1e-8)


# Moves


def test_births_lead_to_the_missing_component(mix):
    problem = problem_of(mix.D)
    state = problem.rounds(mix.S[1:], Sigma(mix.sigma), 0)
    born = moves.births(problem, state, 10)
    np.testing.assert_allclose(np.linalg.norm(born, axis=1), 1.0)
    grown = problem.rounds(np.vstack([mix.S[1:], born]), Sigma(mix.sigma), 10)
    assert (grown.S @ mix.S[0]).max() > 0.99


def test_no_births_where_everything_is_explained(mix):
    problem = problem_of(mix.D)
    assert len(moves.births(problem, problem.decode(mix.S, Sigma(mix.sigma)), 10)) == 0


def test_deaths_remove_a_copy_and_nothing_else(mix):
    problem = problem_of(mix.D)
    twin = mix.S[4] + 0.01 * mix.S[5]
    state = problem.decode(np.vstack([mix.S, twin / np.linalg.norm(twin)]), Sigma(mix.sigma))
    assert moves.deaths(problem, state).count == 10


def test_removal_undoes_a_split():
    mix = make_mixtures(n_components=8, n_samples=80, snr_db=25, n_features=96, random_state=5)
    problem = problem_of(mix.D)
    users = np.flatnonzero(mix.supports[:, 0])
    first = np.isin(np.arange(80), users[::2])
    C = np.hstack([mix.C, np.zeros((80, 1))])
    C[first, 8], C[first, 0] = C[first, 0], 0.0
    S, _ = update_pool(
        np.vstack([mix.S, mix.S[:1]]), mix.D, C, problem.weights(Sigma(mix.sigma)), n_sweeps=20
    )
    state = problem.decode(S, Sigma(mix.sigma))
    assert moves.removals(problem, state).count == 8


def test_slots_most_like_another_are_tried_for_removal(mix):
    # Two slots that share a strong component explain too much to be among the weakest.
    twin = mix.S[2] + 0.1 * mix.S[3]
    problem = problem_of(mix.D)
    state = problem.decode(np.vstack([mix.S, twin / np.linalg.norm(twin)]), Sigma(mix.sigma))
    holders = problem.holders(state)
    cosines = np.triu(state.S @ state.S.T, 1)
    pairs = zip(*np.unravel_index(np.argsort(-cosines, axis=None)[:3], cosines.shape))
    expected = {int(min(pair, key=lambda j: holders[j])) for pair in pairs}
    tried = Draft.of(state).alike(problem)
    assert set(tried) == {j for j in expected if holders[j] > 0}
    assert {2, 10} & set(tried)
    fixed = replace(problem, constraints=problem.constraints.also(ReferenceProfile(state.S)))
    assert Draft.of(state).alike(fixed) == []


def test_a_component_that_hides_in_blends_is_found():
    # In these data component 4 occurs four times, each time beside 19 or 28; two blends explain that as well.
    mix = make_mixtures(32, 128, 30, random_state=3)
    solution = solve(mix.D, Options())
    assert solution.state.count == 32
    assert compare((solution.state.S, solution.state.C), (mix.S, mix.C)).exact == 1.0


def test_a_merge_never_raises_the_cost(mix):
    problem = problem_of(mix.D)
    blends = np.vstack([mix.S[0] + mix.S[1], mix.S[0] + mix.S[2]])
    pool = np.vstack([mix.S[1:], blends / np.linalg.norm(blends, axis=1, keepdims=True)])
    state = problem.rounds(pool, Sigma(mix.sigma), 1)
    merged = moves.merges(problem, state)
    assert merged.count < state.count
    assert problem.cost(merged) < problem.cost(state)


def test_two_components_in_three_slots_are_told_apart_once_the_blend_moves_too():
    mix = make_mixtures(48, 384, 30, n_features=32, random_state=1)
    problem = problem_of(mix.D)
    a, b = np.unravel_index(np.argmax(np.triu(mix.S @ mix.S.T, 1)), (48, 48))
    blend = mix.S[a] + mix.S[b]
    blend /= np.linalg.norm(blend)
    rest = [np.maximum(S - 0.8 * (S @ blend) * blend, 0.0) for S in mix.S[[a, b]]]
    pool = np.vstack([np.delete(mix.S, [a, b], axis=0), blend, rest])
    state = problem.rounds(pool / np.linalg.norm(pool, axis=1, keepdims=True), Sigma(mix.sigma), 4)
    stuck = moves.merges(problem, moves.removals(problem, moves.deaths(problem, state)))
    assert stuck.count == 49
    found = moves.unblended(problem, stuck)
    assert found.count == 48
    assert problem.cost(found) < problem.cost(stuck)


def test_isolation_gives_back_what_a_rare_slot_took_in():
    # Component 4 is held four times, once seven times as strongly as beside 28, and with 19 in that sample.
    mix = make_mixtures(32, 128, 20, random_state=3)
    problem = problem_of(mix.D)
    taken = mix.S[4] + 0.65 * mix.S[19]
    pool = np.vstack([np.delete(mix.S, 4, axis=0), taken / np.linalg.norm(taken)])
    state = problem.rounds(pool, Sigma(mix.sigma), 2)
    assert (
        problem.rounds(state.S, Sigma(mix.sigma), 10).S @ mix.S[4]
    ).max() < 0.95  # refits alone do not find out
    pure = rare.isolations(problem, state)
    assert problem.cost(pure) < problem.cost(state)
    assert (problem.rounds(pure.S, Sigma(mix.sigma), 10).S @ mix.S[4]).max() > 0.98


@pytest.fixture
def rarely_held():
    """24 components, the first of them in two samples only, beside two others in each."""
    mix = make_mixtures(24, 100, 25, n_features=128, random_state=7)
    C = mix.C.copy()
    C[:, 1] += C[:, 0]
    C[:, 0] = 0.0
    C[:2] = 0.0
    C[0, [0, 1, 2]], C[1, [0, 3, 4]] = (6.0, 8.0, 9.0), (1.5, 5.0, 3.0)
    sigma = np.linalg.norm(C @ mix.S, axis=1) / np.sqrt(128) * 10 ** (-20 / 20)
    D = C @ mix.S + sigma[:, None] * np.random.default_rng(0).normal(size=(100, 128))
    return problem_of(D), mix.S, Sigma(sigma)


def test_two_samples_get_a_slot_between_them(rarely_held):
    problem, S, sigma = rarely_held
    state = problem.rounds(S[1:], sigma, 5)
    trial = rare.shared_births(problem, state)
    assert trial.count == state.count + 1
    assert problem.cost(trial) < problem.cost(state)
    assert (problem.rounds(trial.S, sigma, 10).S @ S[0]).max() > 0.95


def test_no_slot_is_shared_where_noise_is_all_that_is_left(mix):
    problem = problem_of(mix.D)
    state = problem.rounds(mix.S, Sigma(mix.sigma), 5)
    assert rare.shared_births(problem, state) is state


def test_a_slot_that_is_a_whole_sample_is_given_what_others_leave_of_it(rarely_held):
    problem, S, sigma = rarely_held
    whole = problem.X[0] / np.linalg.norm(problem.X[0])
    state = problem.rounds(np.vstack([S[1:], whole]), sigma, 5)
    reachable = (problem.rounds(S, sigma, 10).S @ S[0]).max()
    assert (
        problem.rounds(state.S, sigma, 20).S @ S[0]
    ).max() < reachable - 0.05  # refits alone do not find out
    mended = rare.leftovers(problem, rare.isolations(problem, state))
    assert problem.cost(mended) < problem.cost(state)
    assert (problem.rounds(mended.S, sigma, 10).S @ S[0]).max() > reachable - 0.01


def test_by_usage_the_cost_is_that_of_equation_3(mix):
    problem = replace(problem_of(mix.D), by_usage=True)
    first, second = problem.decode(mix.S, Sigma(mix.sigma)), problem.decode(mix.S[1:], Sigma(mix.sigma))
    priced = [state.misfit.sum() + problem.usage_price * state.usage for state in (first, second)]
    slot = problem.slot_prices(np.ones(1))[0]
    assert problem.cost(first) - problem.cost(second) == pytest.approx(priced[0] - priced[1] + slot)


@pytest.mark.parametrize(
    ("n", "seed", "component", "short"),
    [(96, 37, 47, 0.01), (96, 15, 22, 0.01), (96, 41, 24, 0.01), (160, 12, 54, 0.02)],
)
def test_components_seen_two_or_three_times_come_out_as_well_as_they_can(n, seed, component, short):
    mix = make_mixtures(n, 4 * n, 20, random_state=seed)
    solution = solve(mix.D, Options())
    known = np.where(mix.supports, mix.C, 0.0)
    best = np.linalg.lstsq(known / mix.sigma[:, None], mix.D / mix.sigma[:, None], rcond=None)[0][component]
    reachable = best @ mix.S[component] / np.linalg.norm(best)
    assert solution.state.count == n
    assert (solution.state.S @ mix.S[component]).max() > reachable - short


def test_fixed_profiles_never_die(mix):
    problem = problem_of(mix.D, constraints=Constraints().also(ReferenceProfile(mix.S[:1])))
    state = problem.decode(np.vstack([mix.S[:1], mix.S]), Sigma(mix.sigma))
    kept = moves.removals(problem, moves.deaths(problem, state))
    assert np.array_equal(kept.S[0], mix.S[0])


# Prices and cost


def test_slot_price_exceeds_what_noise_pays():
    rng = np.random.default_rng(4)
    problem = problem_of(rng.random((200, 60)))
    for n in (1, 5, 40):
        top = max(np.linalg.norm(rng.normal(size=(n, 60)), 2) ** 2 for _ in range(50))
        price = problem.slot_prices(np.array([float(n)]))[0]
        assert price > top
        assert price == pytest.approx(noise_edge(n, 60) ** 2)


def test_cost_prefers_the_truth_to_more_and_to_fewer(mix):
    problem = problem_of(mix.D)
    truth = problem.rounds(mix.S, Sigma(mix.sigma), 5)
    fewer = problem.rounds(mix.S[1:], Sigma(mix.sigma), 5)
    blend = mix.S[2] + mix.S[3]
    more = problem.rounds(np.vstack([mix.S, blend / np.linalg.norm(blend)]), Sigma(mix.sigma), 5)
    assert problem.cost(truth) < problem.cost(fewer)
    assert problem.cost(truth) <= problem.cost(more)


def test_repeats_weigh_like_copies(mix):
    problem = problem_of(mix.D)
    doubled = replace(problem, repeats=np.where(np.arange(60) < 10, 2.0, 1.0))
    copies = problem_of(np.vstack([mix.D, mix.D[:10]]))
    copies = replace(copies, usage_price=problem.usage_price)
    one = doubled.rounds(mix.S, Sigma(mix.sigma), 3)
    other = copies.rounds(mix.S, Sigma(np.concatenate([mix.sigma, mix.sigma[:10]])), 3)
    np.testing.assert_allclose(one.S, other.S, atol=1e-8)
    assert doubled.cost(one) == pytest.approx(copies.cost(other))


# Start, descent, choice


def test_extreme_samples_takes_the_pure_ones_first():
    rng = np.random.default_rng(0)
    S = rng.random((5, 40))
    C = rng.dirichlet(np.ones(5), 30)
    X = np.vstack([S, C @ S])
    assert set(extreme_samples(X, 5)) == set(range(5))


@pytest.mark.parametrize("signed", [False, True])
def test_rounding_errors_do_not_choose_where_to_start(signed):
    rng = np.random.default_rng(1)
    X = rng.dirichlet(np.full(4, 0.5), 50) @ (rng.standard_normal((4, 30)) if signed else rng.random((4, 30)))
    rows, pools = extreme_samples(X, 4), starting_pools(X, 4, signed)
    order = rng.permutation(50)
    for scale in (1.0001, 3.0, 1e6):
        np.testing.assert_array_equal(order[extreme_samples(scale * X[order], 4)], rows)
        np.testing.assert_allclose(starting_pools(scale * X[order], 4, signed), pools, atol=1e-6)


@pytest.mark.parametrize("noise", ["proportional", "constant", "poisson"])
def test_guess_names_the_law_and_the_count(noise):
    mix = make_mixtures(20, 160, 25, n_features=128, noise=noise, random_state=0)
    best = guesses(mix.D)[0]
    assert (best.law.kind, best.count, best.white) == (noise, 20, True)


def test_descent_ends_at_the_noise_of_the_data(mix):
    problem = problem_of(mix.D)
    path = Path(Sigma(mix.sigma))
    coarse = Proportional(coarsest_noise(mix.D)).sigma(mix.D)
    state = descend(problem, mix.D[extreme_samples(mix.D, 10)], coarse, NoiseModel(), path, 30)
    state = settle(problem, state, NoiseModel(), path, 30)
    np.testing.assert_allclose(np.median(state.sigma.values / mix.sigma), 1.0, atol=0.05)
    noise = [row.noise for row in path.rows if row.stage == "descent"]
    assert noise[0] > 3 * noise[-1]
    assert compare((state.S, state.C), (mix.S, mix.C)).exact == 1.0


def test_white_noise_is_white_and_drift_is_not():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(80, 60))
    assert is_white(noise)
    assert not is_white(noise + 0.6 * np.outer(rng.normal(size=80), np.sin(np.arange(60) / 9)))
    smooth = np.apply_along_axis(lambda row: np.convolve(row, [0.6, 0.6, 0.5], mode="same"), 1, noise)
    assert not is_white(smooth)


def test_correlation_length():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(80, 300))
    assert Correlation.of(noise).length == 1.0
    means = np.apply_along_axis(lambda row: np.convolve(row, np.ones(5) / 5, mode="same"), 1, noise)
    assert Correlation.of(means).length == pytest.approx(5.0, rel=0.1)  # 1 + 2 (0.8 + 0.6 + 0.4 + 0.2)
    assert Correlation.of(np.zeros((5, 8))).length == 1.0


def test_what_comes_back():
    assert comes_back({1: 0.99, 2: 0.995, 3: 0.6})
    assert not comes_back({1: 0.99, 2: 0.9})
    values = {1: 0.99, 2: 0.95, 3: 0.999, 4: 0.9, 5: 0.3}
    assert last_to_come_back(values, 5) == 3
    assert last_to_come_back(values, 2) == 2
    assert last_to_come_back({1: 0.9}, 5) == 1


def test_what_decides_the_count():
    guess, counts = Guess(Constant(1.0), 7, False), list(range(1, 13))

    def cheapest(best, among=counts):
        return {k: 10.0 * abs(k - best) for k in among}

    back = {1: 0.99, 2: 0.99, 3: 0.995, 4: 0.5, 5: 0.4, 6: 0.3}
    real = decide(cheapest(5), guess, False, back)
    assert (real.count, real.decided_by, real.firm) == (3, "reproducibility", True)
    assert "3 components" in str(real)
    assert (real.costs[5], real.costs[6], real.white_rank, real.held) == (0.0, 10.0, False, 1.0)
    agreed = decide(cheapest(3), guess, False, back)
    assert (agreed.count, agreed.decided_by, agreed.firm) == (3, "cost", True)
    steady = {1: 0.99, 2: 0.97, 3: 0.96, 4: 0.9, 5: 0.7, 6: 0.6}
    white = decide(cheapest(5), guess, True, steady)
    assert (white.count, white.decided_by) == (5, "cost")
    against = decide(
        cheapest(5), guess, True, back
    )  # white noise, but the profiles of 4 and 5 do not come back
    assert (against.count, against.low, against.high) == (3, 3, 5)
    ranked = replace(guess, count=4, white=True)
    dense = decide(cheapest(5), ranked, True, steady)
    assert (dense.count, dense.decided_by, dense.low, dense.high) == (4, "rank", 4, 5)
    assert decide(cheapest(5), ranked, True, steady, held=0.2).count == 5
    assert decide(cheapest(5), ranked, False, {}, held=0.2).decided_by == "rank"  # few in each leave signal
    assert decide(cheapest(40, [3, 40]), guess, False, back).count == 40  # more than halves were asked about
    unsure = decide(cheapest(4), guess, False, {1: 0.99, 2: 0.9, 3: 0.7, 4: 0.6, 5: 0.5})
    assert (unsure.count, unsure.low, unsure.high) == (2, 2, 4)
    asked = decide(cheapest(5, [4, 5, 6]), guess, False, {}, asked=6)
    assert (asked.count, asked.decided_by) == (6, "you")


def test_reproducibility_collapses_beyond_the_count():
    mix = make_mixtures(8, 96, 20, n_features=256, profiles="peaks", random_state=0)
    X = np.maximum(mix.D, 0)
    values = reproducibility(X, 10, 0)
    assert values[8] > 0.98
    assert values[10] < 0.9


def test_factorise_matches_scikit_learn():
    from sklearn.decomposition import NMF

    mix = make_mixtures(4, 40, 30, n_features=60, profiles="peaks", random_state=1)
    S = factorise(mix.D, leading_parts(mix.D, 4), 2000)
    C = np.array([nnls(S.T, x)[0] for x in mix.D])
    twin = NMF(4, init="nndsvd", max_iter=5000, tol=1e-8).fit(mix.D)
    reference = np.linalg.norm(mix.D - twin.transform(mix.D) @ twin.components_)
    assert np.linalg.norm(mix.D - C @ S) < 1.02 * reference


def test_more_components_than_channels():
    mix = make_mixtures(48, 48 * 8, 30, n_features=32, active=(1, 3), random_state=2)
    solution = solve(mix.D, Options())
    assert solution.state.count == 48
    assert compare((solution.state.S, solution.state.C), (mix.S, mix.C)).exact > 0.97


@pytest.mark.parametrize("seed", [0, 1])
def test_few_channels_do_not_trap_the_descent_at_a_coarse_level(seed):
    mix = make_mixtures(14, 400, 25, n_features=20, random_state=seed)
    assert solve(mix.D, Options()).state.count == 14


def test_interrupt_before_the_first_result_returns_what_there_is(mix):
    def stop(row, state):
        raise KeyboardInterrupt

    solution = solve(mix.D, Options(), listener=stop)
    assert solution.interrupted
    assert solution.state.count >= 1


def test_leftovers_ends_though_refits_go_on_lowering_the_cost(monkeypatch):
    """A slot of one sample is given what is left of it once; a fit on constant noise went on for ever."""
    S = np.abs(np.random.default_rng(0).normal(size=(3, 12)))
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    C = np.array([[5.0, 4.0, 0.0], [5.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    problem = Problem(C @ S, C @ S, np.ones(4), usage_price=20.0)
    state = problem.decode(S, Sigma(np.full(4, 0.1)))
    calls = []

    def a_little_cheaper(problem, state, S, margin=0.0):
        calls.append(len(S))
        assert len(calls) < 100
        return replace(state, misfit=state.misfit * 0.99) if len(S) == 3 else None

    monkeypatch.setattr(rare, "_cheaper", a_little_cheaper)
    rare.leftovers(problem, state)
    assert calls == [2, 3, 2, 3]  # without the slot, and with another profile; for each of the two samples


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_noise_that_cannot_be_told_from_signal_makes_no_slots(seed):
    """In 64 channels at 8 dB a descent settles above the noise; below it, every other sample got a slot."""
    mix = make_mixtures(n_components=16, n_samples=128, n_features=64, snr_db=8, random_state=seed)
    assert 14 <= GMCR(n_jobs=1).fit(mix.D).n_components_ <= 17


@pytest.mark.parametrize("seed", [0, 1])
def test_signal_left_over_is_not_taken_for_proportional_noise(seed):
    """The singular values tell constant noise; residuals that hold signal do not, and bore 20 slots more."""
    mix = make_mixtures(32, 128, n_features=128, snr_db=8, noise="constant", random_state=seed)
    model = GMCR(n_jobs=1).fit(mix.D)
    assert model.noise_law_.kind == "constant"
    assert 24 <= model.n_components_ <= 33


def test_a_slot_that_lost_its_last_sample_to_another_is_left_alone():
    kinds = ("lognormal", "dirichlet", "elution", "reaction", "few", "image", "titration")
    disturbed = (
        "shift",
        "baseline",
        "saturation",
        "correlated noise",
    )  # no white noise: many slots, each rare
    made = make_measured(6, random_state=2, purity=0.7, concentrations=kinds, disturbed=disturbed)
    assert GMCR(random_state=0).fit(made.D).n_components_ > 0


def test_few_broad_bands_in_each_sample_are_not_taken_for_most_in_every_one():
    mix = make_mixtures(8, 64, snr_db=30, profiles="bands", random_state=25)
    model = GMCR(random_state=0).fit(mix.D)
    assert model.n_components_ == 8
    assert (model.concentrations_ != 0).mean() < 0.5
