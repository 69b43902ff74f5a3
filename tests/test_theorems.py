"""The paper's theorems as properties of random pools: at least 10,000 cases each, and no violation.

Each case has a pool of its own. Noise is drawn, and in half of the cases stretched to the edge of the event on
which the theorem speaks; competitors are the best there are (least squares, weakest directions), not random.
"""

from itertools import combinations

import numpy as np
import pytest

from gmcr.theory.pairs import profile_distance, span_distance
from gmcr.theory.window import gaussian_levels, inverse_gram_diagonals, price_window

CASES = 12_000
N, K = 6, 2  # slots, and components in a sample at most
ROUNDING = 1e-9
SUBSETS = [A for size in range(2 * K + 1) for A in combinations(range(N), size)]
SMALL = [A for A in SUBSETS if len(A) <= K + 1]


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def random_pools(rng, n_channels, cases=CASES):
    """Pools (cases, N, channels) of unit profiles: signed, positive, nearly alike, or orthonormal.

    The bounds are tightest for the last, whose distances are all the spark margin.
    """
    S = rng.normal(size=(cases, N, n_channels))
    kind = rng.integers(4 if n_channels >= N else 3, size=cases)
    S[kind == 1] = np.abs(S[kind == 1])
    S[kind == 2] += 3 * rng.normal(size=(1, n_channels))
    if n_channels >= N:
        S[kind == 3] = np.swapaxes(np.linalg.qr(np.swapaxes(S[kind == 3], 1, 2))[0], 1, 2)
    return unit(S)


def spark_margins(S):
    """s_min of each pool by the definition: (cases,)."""
    subsets = np.array([A for A in SUBSETS if len(A) == 2 * K])
    return np.linalg.svd(S[:, subsets], compute_uv=False)[..., -1].min(axis=1)


def random_truth(rng, cases=CASES):
    """Supports (cases, N) of one to K components and concentrations of at least c_min = 1."""
    held = rng.random((cases, N)).argsort(axis=1) < rng.integers(1, K + 1, cases)[:, None]
    above = rng.exponential(rng.choice([0, 0.01, 1, 10], (cases, 1)), (cases, N))
    return held, np.where(held, 1 + above, 0.0)


def spans(S, A):
    """Orthonormal bases (cases, channels, |A|) of the span of slots A."""
    return np.linalg.qr(np.swapaxes(S[:, list(A)], 1, 2))[0]


def fits(S, x, A):
    """Least squares on slots A: concentrations (cases, |A|) and residuals (cases, channels)."""
    if not A:
        return np.zeros((len(x), 0)), x
    P = S[:, list(A)]
    Q, R = np.linalg.qr(np.swapaxes(P, 1, 2))
    c = np.linalg.solve(R, np.einsum("bdk,bd->bk", Q, x)[..., None])[..., 0]
    return c, x - np.einsum("bk,bkd->bd", c, P)


def members(A):
    return np.isin(np.arange(N), A)


def test_proposition_1():
    rng = np.random.default_rng(0)
    S = random_pools(rng, 7)
    s_min, (held, c) = spark_margins(S), random_truth(rng)
    x = np.einsum("bn,bnd->bd", c, S)
    for A in SMALL:
        if len(A) > K:
            continue
        other = (held != members(A)).any(axis=1)
        found, _ = fits(S, x, A)
        # The best competitor, and others above the floor: none comes closer than c_min s_min.
        for factor in (1.0, 1.5):
            rival = np.maximum(found * factor, 1.0)
            miss = np.linalg.norm(x - np.einsum("bk,bkd->bd", rival, S[:, list(A)]), axis=1)
            assert (miss[other] >= s_min[other] - ROUNDING).all()
    # On the true support: an error along the weakest direction of the profiles, and a random one.
    for A in SMALL:
        if not 0 < len(A) <= K:
            continue
        P = S[:, list(A)]
        weakest = np.linalg.svd(P)[0][:, :, -1]
        for v in (weakest, rng.normal(size=weakest.shape)):
            epsilon = np.linalg.norm(np.einsum("bk,bkd->bd", v, P), axis=1)
            assert (np.abs(v).max(axis=1) <= epsilon / s_min + ROUNDING).all()


def test_proposition_1_where_it_is_tightest():
    # The weakest direction of the worst 2k profiles, split by sign: two decompositions that nearly agree.
    rng = np.random.default_rng(1)
    S = random_pools(rng, 7, 3 * CASES)
    s_min = spark_margins(S)
    subsets = np.array([A for A in SUBSETS if len(A) == 2 * K])
    U, values, _ = np.linalg.svd(S[:, subsets], full_matrices=False)
    worst = values[..., -1].argmin(axis=1)
    rows = np.arange(len(S))
    v, P = U[rows, worst][:, :, -1], S[rows[:, None], subsets[worst]]
    smallest = np.abs(v).min(axis=1)
    split = ((v > 0).sum(axis=1) == K) & (smallest > 1e-6)
    v /= np.maximum(smallest, 1e-6)[:, None]  # so that both sides reach the floor c_min = 1
    assert split.sum() >= 10_000
    miss = np.linalg.norm(np.einsum("bk,bkd->bd", v, P), axis=1)
    assert (miss[split] >= s_min[split] - ROUNDING).all()


@pytest.mark.parametrize("n_channels", [4, 7])  # fewer channels than slots, and more
def test_theorem_1a(n_channels):
    rng = np.random.default_rng(2)
    S = random_pools(rng, n_channels)
    s_min, (held, c) = spark_margins(S), random_truth(rng)
    x = np.einsum("bn,bnd->bd", c, S)
    usage = held.sum(axis=1)
    fewest, winners = np.full(CASES, N + 1), np.zeros(CASES, dtype=int)
    for A in SUBSETS:
        missed = np.linalg.norm(np.where(held & ~members(A), c, 0.0), axis=1)
        residual = np.linalg.norm(fits(S, x, A)[1], axis=1)
        exact = residual <= 0.5 * s_min  # signs free; a support that misses a component leaves s_min or more
        relevant = np.full(CASES, len(A) <= K)
        assert (residual >= s_min * missed - ROUNDING)[relevant].all()
        winners = np.where(exact & (len(A) < fewest), 1, winners + (exact & (len(A) == fewest)))
        fewest = np.where(exact, np.minimum(fewest, len(A)), fewest)
        assert exact[(held == members(A)).all(axis=1)].all()
    np.testing.assert_array_equal(fewest, usage)
    np.testing.assert_array_equal(winners, 1)


def criterion(S, x, price):
    """ℓ_λ(A; x) of Eq. 3 for every A of at most K + 1 slots, concentrations not negative: (cases, subsets)."""
    inside = np.empty((len(x), len(SMALL)))
    for a, A in enumerate(SMALL):
        c, rest = fits(S, x, A)
        # The best fit with c ≥ 0 is the plain best fit of those members that it leaves positive.
        inside[:, a] = np.where((c >= 0).all(axis=1), np.sum(rest**2, axis=1), np.inf)
    fit = np.column_stack([inside[:, [set(B) <= set(A) for B in SMALL]].min(axis=1) for A in SMALL])
    return fit + price[:, None] * np.array([len(A) for A in SMALL])


def event_strain(S, held, noise, s_min):
    """The largest |⟨ε, u⟩| over flip directions u, (cases,), and dist(s_i, span of the others), (cases, N).

    Directions depend on the support alone, so cases of equal supports go together.
    """
    strain = np.zeros(len(S))
    distance = np.zeros((len(S), N))
    for A in SMALL:
        rows = np.flatnonzero((held == members(A)).all(axis=1))
        if not rows.size or len(A) > K:
            continue
        flips = [(A, j) for j in range(N) if j not in A] + [(tuple(set(A) - {i}), i) for i in A]
        for V, j in flips:
            _, u = fits(S[rows], S[rows, j], V)
            norm = np.linalg.norm(u, axis=1)
            along = np.abs(np.einsum("bd,bd->b", noise[rows], u)) / norm
            strain[rows] = np.maximum(strain[rows], along)
            if j in A:
                distance[rows, j] = norm
                # The dual vector is u / norm: its bound σL / s_min is implied by the flip's, as norm ≥ s_min.
                assert (norm >= s_min[rows] - ROUNDING).all()
    return strain, distance


def noisy_cases(rng, room):
    """Pools, truth and noise on the event of Theorem 1(b): S, held, c, x, σL, c_min s_min, distances."""
    S = random_pools(rng, 8, 2 * CASES)
    s_min, (held, c) = spark_margins(S), random_truth(rng, 2 * CASES)
    reach = s_min / (2 * rng.uniform(*room, len(S)))  # σL, from the SNR condition c_min s_min > 2σL
    noise = rng.normal(size=(len(S), 8))
    strain, distance = event_strain(S, held, noise, s_min)
    L = np.sqrt(price_window(1, 1, 1, N, 1).low)
    # Half as drawn, where the event holds; half stretched to its edge.
    scale = np.where(rng.random(len(S)) < 0.5, reach / L, reach / strain)
    inside = strain * scale <= reach * (1 + 1e-12)
    drawn = strain <= L
    assert drawn.mean() >= 0.95  # the event has probability 1 − α
    assert inside.sum() >= 10_000
    x = np.einsum("bn,bnd->bd", c, S) + noise * scale[:, None]
    return tuple(part[inside] for part in (S, held, c, x, reach, s_min, distance))


def flips_of(held):
    """Index of the support in SMALL (cases,), and which subsets are one change away from it: (cases, subsets)."""
    table = np.array([members(A) for A in SMALL])
    differ = (held[:, None, :] != table).sum(axis=2)
    return differ.argmin(axis=1), differ == 1


def test_theorem_1b_flip_gap():
    rng = np.random.default_rng(3)
    S, held, _, x, reach, s_min, _ = noisy_cases(rng, (1.0001, 4))
    low, high = reach**2, (s_min - reach) ** 2
    # The window of price_window, in units of the noise, is this one.
    L2 = price_window(1, 1, 1, N, 1).low
    for b in range(50):
        window = price_window(1.0, s_min[b], reach[b] / np.sqrt(L2), N, 1)
        assert window.is_open
        assert window.high == pytest.approx(high[b] / reach[b] ** 2 * L2)
    price = low + (high - low) * rng.random(len(S))
    gap = np.minimum(price - low, high - price)
    cost = criterion(S, x, price)
    own, one_flip = flips_of(held)
    rise = np.where(one_flip, cost - cost[np.arange(len(S)), own][:, None], np.inf).min(axis=1)
    assert len(S) >= 10_000
    assert (gap > 0).all()
    assert (rise >= gap - ROUNDING).all()


def test_theorem_1b_with_the_distances_of_each_sample():
    # By its own distances a window may be open also where the SNR condition on c_min s_min fails.
    rng = np.random.default_rng(4)
    S, held, c, x, reach, _, distance = noisy_cases(rng, (0.2, 2))
    least = np.min(c * distance, axis=1, initial=np.inf, where=held)
    is_open = least > 2 * reach
    assert is_open.sum() >= 10_000
    for b in range(50):  # as `conditions.price_condition` computes them
        own = 1 / np.sqrt(inverse_gram_diagonals(S[b], held[[b]])[0])
        np.testing.assert_allclose(own[held[b]], distance[b][held[b]])
    low, high = reach**2, (least - reach) ** 2
    price = low + (high - low) * rng.random(len(S))
    cost = criterion(S, x, price)
    own, one_flip = flips_of(held)
    rise = np.where(one_flip, cost - cost[np.arange(len(S)), own][:, None], np.inf).min(axis=1)
    gap = np.minimum(price - low, high - price)
    assert (rise >= gap - ROUNDING)[is_open].all()


def test_theorem_1b_without_noise():
    rng = np.random.default_rng(5)
    S = random_pools(rng, 7)
    s_min, (held, c) = spark_margins(S), random_truth(rng)
    price = s_min**2 * rng.uniform(0.001, 0.999, CASES)
    cost = criterion(S, np.einsum("bn,bnd->bd", c, S), price)
    cost[:, [len(A) > K for A in SMALL]] = np.inf
    own, _ = flips_of(held)
    truth = cost[np.arange(CASES), own]
    cost[np.arange(CASES), own] = np.inf
    assert (cost.min(axis=1) - truth >= np.minimum(price, s_min**2 - price) - ROUNDING).all()


def test_theorem_2a():
    rng = np.random.default_rng(6)
    n_samples, d = 4, 8
    n_pools = CASES // n_samples
    S = random_pools(rng, d, n_pools).repeat(n_samples, axis=0)
    s_min, (held, c) = spark_margins(S), random_truth(rng)
    levels = gaussian_levels(1.0, d, N, n_samples, K)
    noise = rng.normal(size=(CASES, d))
    length = np.linalg.norm(noise, axis=1)
    projected = np.max(
        [np.linalg.norm(np.einsum("bdk,bd->bk", spans(S, A), noise), axis=1) for A in SUBSETS if A], axis=0
    )
    strain = np.maximum(length / levels.norm, projected / levels.projected)
    assert (strain.reshape(n_pools, n_samples).max(axis=1) <= 1).mean() >= 0.95
    noise /= np.where((strain > 1) | (rng.random(CASES) < 0.5), strain, 1.0)[:, None]
    # σ such that the fixed-pool window is just or well open, one σ per pool; ε_fit anywhere in it.
    slack = rng.uniform(1.0001, 3, n_pools).repeat(n_samples)
    sigma = s_min / (slack * (levels.norm + levels.projected))
    fit_share = rng.random(n_pools).repeat(n_samples)
    e_ns, e_prj = sigma * levels.norm, sigma * levels.projected
    e_fit = e_ns + fit_share * (0.9999 * s_min - e_prj - e_ns)
    assert (e_fit + e_prj < s_min).all()
    x = np.einsum("bn,bnd->bd", c, S) + sigma[:, None] * noise

    usage = held.sum(axis=1)
    for A in SMALL:
        if len(A) > K:
            continue
        found, rest = fits(S, x, A)
        residual = np.linalg.norm(rest, axis=1)
        passes = residual <= e_fit
        contains = (members(A) | ~held).all(axis=1)
        assert (residual >= s_min - e_prj - ROUNDING)[~contains].all()  # the detection lemma
        assert contains[passes].all()  # (C1) gives A ⊇ J
        same = (held == members(A)).all(axis=1)
        assert same[passes & (len(A) <= usage)].all()  # with (C2): (i), and so (ii)
        assert passes[same].all()  # the truth passes
        if not A or not same.any():
            continue
        # (iii): the fit pushed as far as the tolerance lets it go, along the weakest direction, both ways.
        weakest = np.linalg.svd(S[:, list(A)])[0][:, :, -1]
        step = np.linalg.norm(np.einsum("bk,bkd->bd", weakest, S[:, list(A)]), axis=1)
        far = np.sqrt(np.maximum(e_fit**2 - residual**2, 0)) / step
        for way in (-1, 0, 1):
            error = np.linalg.norm(found + way * far[:, None] * weakest - c[:, list(A)], axis=1)
            assert (error <= (e_fit + e_prj) / s_min + ROUNDING)[same].all()


def test_lemma_dimension():
    # Contrapositive: more columns than dimensions, then one of them is at least σ_min/√|B| away.
    rng = np.random.default_rng(7)
    for size in (2, 3, 5):
        B = np.swapaxes(unit(rng.normal(size=(CASES, size, 7)) + rng.normal(size=(CASES, 1, 7))), 1, 2)
        U, values, _ = np.linalg.svd(B, full_matrices=False)
        best = U[:, :, : size - 1]  # the subspace nearest to all columns together
        drawn = np.linalg.qr(B[:, :, : size - 1] + 0.1 * rng.normal(size=(CASES, 7, size - 1)))[0]
        for W in (best, drawn):
            away = np.linalg.norm(B - W @ (np.swapaxes(W, 1, 2) @ B), axis=1).max(axis=1)
            assert (np.sqrt(size) * away >= values[:, -1] - ROUNDING).all()


def distance_to(S, A, u):
    return np.linalg.norm(fits(S, u, A)[1], axis=1)


@pytest.mark.parametrize(
    ("J", "other"), [((0, 1), (0, 2)), ((0,), (0, 1, 2)), ((0, 1), (0, 2, 3)), ((0,), (0,))]
)
def test_lemma_pinch(J, other):
    rng = np.random.default_rng(8)
    S = random_pools(rng, 7)
    both = sorted({*J, *other})
    k = (len(both) + 1) // 2
    margin = np.linalg.svd(S[:, both], compute_uv=False)[:, -1]
    # Directions in which the two spans nearly meet beside s_0, near s_0, and anywhere.
    P, Q = spans(S, J), spans(S, other)
    sums = P @ np.swapaxes(P, 1, 2) + Q @ np.swapaxes(Q, 1, 2) - 2 * S[:, 0, :, None] * S[:, 0, None, :]
    meeting = np.linalg.eigh(sums)[1][:, :, -1]
    noise = rng.normal(size=(CASES, 7))
    for u in (meeting, unit(S[:, 0] + rng.exponential(0.1, (CASES, 1)) * noise), unit(noise)):
        one, two = distance_to(S, J, u), distance_to(S, other, u)
        line = distance_to(S, (0,), u)
        assert (line <= profile_distance(k, one, two, margin) + ROUNDING).all()
        assert (line <= profile_distance(k, two, one, margin) + ROUNDING).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_lemma_span_proximity(size):
    rng = np.random.default_rng(9)
    cases = 3 * CASES
    S = unit(rng.normal(size=(cases, size, 6)) + rng.choice([0, 1], cases)[:, None, None])
    C = rng.uniform(1, 10, (cases, size, size))  # columns are samples
    # Candidates: mixtures of the true profiles, tilted out of their span by anything from a little to a lot.
    tilt = 10 ** rng.uniform(-4, 0, (cases, 1, 1))
    mixed = np.eye(size) + 0.5 * rng.normal(size=(cases, size, size))
    found = unit(mixed @ S + tilt * rng.normal(size=S.shape))
    samples = np.swapaxes(C, 1, 2) @ S
    fitted = samples @ np.linalg.pinv(found) @ found
    error = np.linalg.norm(samples - fitted, axis=2).max(axis=1)
    margin = np.linalg.svd(S, compute_uv=False)[:, -1]
    level = np.linalg.svd(C, compute_uv=False)[:, -1]
    bound = span_distance(size, error, margin, level)
    holds = np.isfinite(bound)
    assert holds.sum() >= 10_000
    assert (np.sqrt(size) * error < margin * level)[holds].all()
    for j in range(size):
        away = distance_to(S, tuple(range(size)), found[:, j])
        assert (away <= bound + ROUNDING)[holds].all()
