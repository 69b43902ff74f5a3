"""Profiles where supports say nothing: the middle of all pools that fit equally well.

C S stays the same when profile j becomes s_j + ε s_i and amount i becomes c_i − ε c_j. Where samples hold most of
the components, a whole range of such ε leaves neither profiles nor amounts negative, and no fit can choose among
them. What is returned is the mean over that range, which is nearer to the truth than any of its ends: draws from

    negative entries of C and S as unlikely as the noise of that entry makes them,
    amounts log-uniform above their noise (1/c, so that what could be absent probably is),

where the second counts for PRIOR_SAMPLES samples, however many there are: samples of a chromatogram or a reaction
are no independent witnesses. The variances of entries are those of least squares, so that they know how alike
profiles are; the noise is that of the largest direction left over, so that it knows of misfit.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numba import njit
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment

from gmcr.validation import FloatArray
from gmcr.window.first_guess import unit_rows
from gmcr.window.remembering import remembered

PRIOR_SAMPLES = 9.0
SIGNED_PRIOR_SAMPLES = 18.0  # twice as many: where profiles may be negative, amounts alone bound the range
TOLERANCE = 6.0  # times the variance of what is left over: what noise and misfit may do to an entry
SWEEPS = 60  # over all pairs of components, in a batch of draws from each starting pool,
MANY = 12  # up to so many components: of more, whose pairs go with the square, there are as many fewer sweeps
THINNING = 3  # sweeps to a draw that is kept
BATCHES = 30
AGREED = 3e-4  # one less the cosine of a single chain's mean with that of all: then there are enough draws
MOST_WORK = 250.0  # batches times the square of the number of slots, to which the time of a batch goes
LEAST_BATCHES = 5
ALIGNMENTS = 4  # rounds of mean and order of slots in turn, until there is a mean to go by
FARTHEST = 20.0  # ε beyond which two profiles are all but the same
SETTLED = 1.3  # singular value over the next one, from which the space of the profiles is settled by the data
ILL = 1e-9  # condition from which profiles do not span the space of the data


@remembered
def middle_pool(
    X: FloatArray, repeats: FloatArray, starts: list[FloatArray], n_fixed: int = 0, signed: bool = False
) -> FloatArray:
    """The mean of the non-negative pools that fit the samples X equally well: (slots, channels), unit norm.

    repeats : (samples,) how often each sample counts
    starts : pools to start from, which the answer does not depend on but for chance; where the data do not settle
        the space of the profiles, their mean is returned
    n_fixed : the first so many profiles stay
    signed : whether profiles may be negative, where amounts may not
    """
    n_slots, weights = len(starts[0]), np.sqrt(repeats)[:, None]
    U, values, Vt = scipy.linalg.svd(X * weights, full_matrices=False, check_finite=False)
    if n_slots >= len(values) or values[n_slots - 1] <= ILL * values[0]:
        return starts[0]
    if values[n_slots - 1] <= SETTLED * values[n_slots]:
        S = unit_rows(aligned(np.array(starts), starts[0]).mean(axis=0))
        S[:n_fixed] = starts[0][:n_fixed]
        return S
    scores, V = U[:, :n_slots] * values[:n_slots] / weights, Vt[:n_slots]
    variance = noise_left(values, n_slots, float(repeats.sum()), X.shape[1])
    chains = []
    for number, S in enumerate(starts):
        T = unit_rows(S @ V.T)
        if np.linalg.cond(T) * ILL < 1.0:
            chains.append((np.linalg.solve(T.T, scores.T), T @ V, np.random.default_rng(number)))
    if not chains:
        return starts[0]
    totals = np.zeros((len(chains), n_slots, n_slots))
    mean = unit_rows(starts[0] @ V.T)  # whose order of slots is kept
    for batch in range(int(np.clip(MOST_WORK / n_slots**2, LEAST_BATCHES, BATCHES))):
        new = [continued(chain, V, repeats, variance, n_fixed, signed) for chain in chains]
        if batch == 0:
            continue  # on their way from where they start
        for _ in range(ALIGNMENTS if batch == 1 else 1):
            added = [aligned(draws, mean).sum(axis=0) for draws in new]
            mean = unit_rows((totals + added).sum(axis=0))
        totals += added
        if (1.0 - np.einsum("cij,ij->ci", [unit_rows(own) for own in totals], mean)).max() < AGREED:
            break
    if not np.isfinite(mean).all():
        return starts[0]
    S = unit_rows(mean @ V if signed else np.maximum(mean @ V, 0.0))
    S = np.where(S.any(axis=1, keepdims=True), S, starts[0])
    S[:n_fixed] = starts[0][:n_fixed]
    return S


def noise_left(values: FloatArray, n_slots: int, n_samples: float, n_channels: int) -> float:
    """What noise and misfit may do to an entry, as a variance: by the largest singular value left over."""
    edge = np.sqrt(n_samples) + np.sqrt(n_channels)
    return TOLERANCE * max(float(values[n_slots]) / float(edge), ILL * float(values[0])) ** 2


def continued(
    chain: tuple[FloatArray, FloatArray, Generator],
    V: FloatArray,
    repeats: FloatArray,
    variance: float,
    n_fixed: int,
    signed: bool,
) -> FloatArray:
    """Further draws of a chain, (draws, slots, coordinates); none where two profiles have met."""
    C, S, random = chain
    n_draws = max(int(SWEEPS / THINNING * min(MANY / len(V), 1.0) ** 2), 1)
    draws = np.empty((n_draws, len(V), len(V)))
    prior = (SIGNED_PRIOR_SAMPLES if signed else PRIOR_SAMPLES) / repeats.sum()
    try:
        _draw(C, S, np.ascontiguousarray(V), repeats, variance, prior, n_fixed, signed, random, draws)
    except np.linalg.LinAlgError:
        return draws[:0]
    return draws[np.isfinite(draws).all(axis=(1, 2))]


def aligned(draws: FloatArray, mean: FloatArray) -> FloatArray:
    """Pools (draws, slots, coordinates), whose slots may have changed places, in the order of `mean`."""
    cosines = np.einsum("nij,kj->nki", draws, mean)
    for n in np.flatnonzero((cosines.argmax(axis=2) != np.arange(len(mean))).any(axis=1)):
        draws[n] = draws[n][linear_sum_assignment(-cosines[n])[1]]
    return draws


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _draw(C, S, V, repeats, variance, prior, n_fixed, signed, random, draws):
    """Slice sampling of one ε after the other; C : (slots, samples), S : (slots, channels), both in place."""
    n_slots, n_bound = len(S), 0 if signed else S.shape[1]  # entries that may not be negative
    width = np.full((n_slots, n_slots), 0.1)
    for sweep in range(len(draws) * THINNING):
        # (S S')⁻¹ and (C C')⁻¹: the covariances of amounts and of profiles' entries, in units of the variance.
        G, H = np.linalg.inv(S @ S.T) * variance, np.linalg.inv((C * repeats) @ C.T) * variance
        for j in range(n_fixed, n_slots):
            for i in range(n_slots):
                if i != j:
                    s_i, s_j = S[i, :n_bound], S[j, :n_bound]
                    step = _slice(C[i], C[j], s_i, s_j, G, H, i, j, repeats, prior, width[i, j], random)
                    width[i, j] = 0.9 * width[i, j] + 0.1 * (3.0 * abs(step) + 1e-6)
                    rotate(C, S, G, H, i, j, step)
            to_unit_norm(C, S, G, H, j)
        draws[sweep // THINNING] = S @ V.T  # the last of so many


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def rotate(C, S, G, H, i, j, step):
    """s_j + ε s_i and c_i − ε c_j, which leave C S as it is, and what that does to both covariances; in place."""
    S[j] += step * S[i]
    C[i] -= step * C[j]
    H[j] += step * H[i]
    H[:, j] += step * H[:, i]
    G[i] -= step * G[j]
    G[:, i] -= step * G[:, j]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def to_unit_norm(C, S, G, H, j):
    """Profile j at unit norm, and amounts and covariances that go with it; in place."""
    size = np.sqrt((S[j] ** 2).sum())
    S[j] /= size
    C[j] *= size
    H[j] /= size
    H[:, j] /= size
    G[j] *= size
    G[:, j] *= size


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _slice(c_i, c_j, s_i, s_j, G, H, i, j, repeats, prior, width, random):
    """A draw of ε by slice sampling with stepping out (Neal 2003)."""
    level = _cost(0.0, c_i, c_j, s_i, s_j, G, H, i, j, repeats, prior) - np.log(1.0 - random.random())
    low = -width * random.random()
    high = low + width
    while low > -FARTHEST and _cost(low, c_i, c_j, s_i, s_j, G, H, i, j, repeats, prior) <= level:
        low -= width
    while high < FARTHEST and _cost(high, c_i, c_j, s_i, s_j, G, H, i, j, repeats, prior) <= level:
        high += width
    for _ in range(60):
        step = low + (high - low) * random.random()
        if _cost(step, c_i, c_j, s_i, s_j, G, H, i, j, repeats, prior) <= level:
            return step
        if step < 0.0:
            low = step
        else:
            high = step
    return 0.0


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _cost(step, c_i, c_j, s_i, s_j, G, H, i, j, repeats, prior):
    """−log density of the pool with s_j + ε s_i and c_i − ε c_j, up to a constant."""
    noise = np.sqrt(G[i, i] - 2.0 * step * G[i, j] + step * step * G[j, j])
    below, logs, product = 0.0, 0.0, 1.0
    for m in range(len(c_i)):
        c = (c_i[m] - step * c_j[m]) / noise
        if c < 0.0:
            below += repeats[m] * c * c
        elif repeats[m] == 1.0:
            product *= c + 1.0
            if product > 1e250:
                logs += np.log(product)
                product = 1.0
        else:
            logs += repeats[m] * np.log(c + 1.0)
    logs += np.log(product) + repeats.sum() * np.log(noise)
    outside = 0.0
    for l in range(len(s_i)):
        s = min(s_j[l] + step * s_i[l], 0.0)
        outside += s * s
    spread = H[j, j] + 2.0 * step * H[i, j] + step * step * H[i, i]
    return 0.5 * below + 0.5 * outside / spread + prior * logs
