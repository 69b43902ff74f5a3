"""The spark margin of a pool (Definition 1): how close any few profiles come to cancelling each other.

The margin is the smallest singular value over all subsets of at most `size` = 2k profiles. A larger subset
never has a larger one (interlacing), so only subsets of exactly min(size, slots) count. Finding it is
combinatorial; what comes back is an interval that surely holds it. From above: any subset, the worst that
greedy and exchange search find. From below, the best of

    whole pool        the smallest singular value of all profiles together (interlacing)
    coherence         Gershgorin: 1 − the size − 1 largest overlaps in a row of the Gram matrix
    relaxation        λ_min(G − U) − (size − 1) max|U|, for any U with zero diagonal; the best U is the dual of
                      the semidefinite relaxation of sparse PCA (d'Aspremont et al., 2007)
    branch and bound  a search that covers every subset, at a level it can reach within the time limit

All of these are proved up to rounding, and rounding is taken off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.theory.spark_relaxation import EIGEN_WORK, EPS, Relaxation
from gmcr.theory.spark_search import find_below
from gmcr.threads import threads
from gmcr.validation import BoolArray, FloatArray, as_generator, as_numbers, check_pool, check_whole

IntArray = NDArray[np.intp]

ENUMERATED = 20_000  # subsets looked at one by one rather than searched
CHUNK = 4_096  # subsets decomposed at a time
STARTS = 512  # of the search from above
LIKELY = 16  # subsets, those of the smallest eigenvalues, whose singular values are computed
SWEEPS = 30  # of exchanges, at most; the search stands still long before
# Levels that the search tries, as shares of the way from the lower end to the upper, each with a share of the
# work that is left: first all of it, where small pools end; else what can be had.
ATTEMPTS = ((1.0, 0.25), (0.15, 1.0), (0.25, 1.0), (0.5, 1.0))
FEWEST_ITERATIONS = 12  # however little time there is: the bound's first nine tenths
ITERATIONS = 150  # of the relaxation, at most; the last third of them moves its bound by less than 0.1 %
# Work is counted, not timed, so that the answer does not depend on the machine or on what else runs there.
WORK_PER_SECOND = 3e8  # entries of a matrix visited by the search, on one core of 2024


@dataclass(frozen=True)
class SparkMargin:
    """An interval that holds the spark margin s_min.

    Attributes
    ----------
    lower, upper : the margin lies between them
    size : number of profiles in the subsets, 2k or the whole pool if that is smaller
    subset : slots of the worst subset found, where `upper` is attained
    how_lower : "exact", "whole pool", "coherence", "relaxation" or "branch and bound"
    """

    lower: float
    upper: float
    size: int
    subset: tuple[int, ...]
    how_lower: str

    @property
    def exact(self) -> bool:
        """Whether every subset was covered: the interval is one number up to rounding."""
        return self.how_lower == "exact"

    def __str__(self) -> str:
        slots = ", ".join(map(str, self.subset))
        value = f"{self.upper:.4g}" if self.exact else f"between {self.lower:.4g} and {self.upper:.4g}"
        return f"spark margin of {self.size} profiles {value} (lower end: {self.how_lower}; worst found: {slots})"


@threads()  # small matrices, many times over: several threads would only wait for each other
def spark_margin(
    S: Any, size: int, *, supports: Any = None, seconds: float = 10.0, random_state: Any = 0
) -> SparkMargin:
    """The spark margin of a pool as an interval.

    Parameters
    ----------
    S : (slots, channels) pool of profiles, of any norm
    size : number of profiles that may come together, 2k
    supports : (samples, slots) bool; the unions of two of them that occur are looked at as well
    seconds : roughly how long to search on one core; the work is counted, so that the same call gives the
        same answer everywhere
    random_state : for the starts of the search in pools of many slots

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr.theory.spark import spark_margin
    >>> margin = spark_margin(np.eye(3), 2)
    >>> round(margin.lower, 6), round(margin.upper, 6), margin.exact
    (1.0, 1.0, True)
    """
    pool = check_pool(S)
    if not seconds >= 0:
        raise InputError(f"seconds must not be negative, but is {seconds}.")
    n_slots, n_channels = pool.shape
    size = min(check_whole(size, "size"), n_slots)
    supports = None if supports is None else _check_supports(supports, n_slots)
    pool /= np.linalg.norm(pool, axis=1)[:, None]
    if size > n_channels:  # more profiles than channels always cancel
        return SparkMargin(0.0, 0.0, size, tuple(range(size)), "exact")
    # The same Gram matrix in fewer channels, where singular values keep the digits a Gram matrix loses.
    if n_slots < n_channels:
        pool = np.linalg.qr(pool.T)[1].T
    # What rounding can do to a singular value or an eigenvalue of `size` profiles, generously.
    slack = 4 * EPS * size * (n_channels + n_slots)
    n_channels, rng = pool.shape[1], as_generator(random_state)
    if comb(n_slots, size) <= ENUMERATED:
        subset, value = _worst_of(pool, combinations(range(n_slots), size))
        return _interval(value - slack, value + slack, size, subset, "exact")

    in_haste = seconds < 1
    subsets = worst_subsets(pool, size, rng, STARTS // 8 if in_haste else STARTS)
    if supports is not None:
        subsets = np.vstack([subsets, joint_subsets(supports, size, CHUNK // 4 if in_haste else CHUNK)])
    G = pool @ pool.T
    likely = np.argsort(_smallest_eigenvalues(G, subsets), kind="stable")[:LIKELY]
    subset, value = _worst_of(pool, map(tuple, subsets[likely].tolist()))
    if value**2 <= 4 * slack:  # nothing is left to prove: zero up to rounding
        return _interval(0.0, value + slack, size, subset, "exact")

    work = seconds * WORK_PER_SECOND
    rounds = int(np.clip(0.4 * work / (EIGEN_WORK * n_slots**3), FEWEST_ITERATIONS, ITERATIONS))
    relaxation = Relaxation(G, size)
    squares = {"coherence": coherence_bound(G, size) - slack, "relaxation": relaxation.run(rounds)}
    values = {how: np.sqrt(max(square, 0.0)) for how, square in squares.items()}
    if n_slots <= n_channels:
        singular = np.linalg.svd(pool, compute_uv=False)
        values["whole pool"] = singular[-1] - 4 * EPS * (n_channels + n_slots) * singular[0]
    how = max(values, key=lambda name: values[name])
    lower = max(values[how], 0.0)

    exact = False
    if relaxation.work < work:
        low, subset, exact = _raise(G, size, lower**2, subset, slack, work - relaxation.work)
        if low > lower**2:
            lower, how = np.sqrt(low), "branch and bound"
    subset, value = _worst_of(pool, [subset])
    return _interval(lower, value + slack, size, subset, "exact" if exact else how)


def _interval(lower: float, upper: float, size: int, subset: tuple[int, ...], how: str) -> SparkMargin:
    return SparkMargin(float(max(lower, 0.0)), float(upper), size, tuple(sorted(subset)), how)


# From above


def worst_subsets(S: FloatArray, size: int, rng: np.random.Generator, n_starts: int = STARTS) -> IntArray:
    """Subsets that nearly cancel, (starts, size): greedy from every slot, then exchanges in all at once.

    The slot that lowers the smallest eigenvalue of G_A most is, to first order, the one that overlaps most
    with S_A v, where v is the eigenvector: one matrix product serves every start.
    """
    G = S @ S.T
    n_slots = len(G)
    starts = np.arange(n_slots) if n_slots <= n_starts else rng.choice(n_slots, n_starts, replace=False)
    subsets = _filled(G, starts[:, None], size)
    if size == 1:
        return subsets
    value = _smallest_eigenvalues(G, subsets)
    for _ in range(SWEEPS):
        kept = np.stack([np.delete(subsets, out, axis=1) for out in range(size)], axis=1)
        kept = kept.reshape(-1, size - 1)
        tried = np.column_stack([kept, _best_entrant(G, kept)])
        found = _smallest_eigenvalues(G, tried).reshape(len(subsets), -1)
        best = found.argmin(axis=1)
        new = found[np.arange(len(subsets)), best]
        better = new < value - 1e-12
        if not better.any():
            break
        tried = tried.reshape(len(subsets), -1, size)[np.arange(len(subsets)), best]
        subsets = np.where(better[:, None], tried, subsets)
        value = np.where(better, new, value)
    return subsets


def joint_subsets(supports: BoolArray, size: int, most: int = CHUNK) -> IntArray:
    """The unions of two supports, filled up to `size` or cut to it: (unions, size), at most `most`."""
    packed = np.unique(np.packbits(supports, axis=1), axis=0)
    unique = np.unpackbits(packed, axis=1, count=supports.shape[1]).astype(bool)
    pairs = np.array(list(islice(combinations(range(len(unique)), 2), most)), dtype=np.intp).reshape(-1, 2)
    unions = unique[pairs[:, 0]] | unique[pairs[:, 1]] if len(pairs) else unique
    # Members first, then others in order: the smallest singular value only falls as a subset grows.
    return np.argsort(~unions, axis=1, kind="stable")[:, :size]


def _filled(G: FloatArray, subsets: IntArray, size: int) -> IntArray:
    """Subsets filled up to `size` with the slots that weaken each of them most: (subsets, size)."""
    while subsets.shape[1] < size:
        subsets = np.column_stack([subsets, _best_entrant(G, subsets)])
    return subsets


def _best_entrant(G: FloatArray, subsets: IntArray) -> IntArray:
    """For each subset, the slot outside it that overlaps most with its weakest direction: (subsets,)."""
    _, vectors = np.linalg.eigh(G[subsets[:, :, None], subsets[:, None, :]])
    weights = np.zeros((len(subsets), len(G)))
    np.put_along_axis(weights, subsets, vectors[:, :, 0], axis=1)
    overlap = np.abs(weights @ G)
    np.put_along_axis(overlap, subsets, -1.0, axis=1)
    return overlap.argmax(axis=1)


def _smallest_eigenvalues(G: FloatArray, subsets: IntArray) -> NDArray[np.floating[Any]]:
    return np.linalg.eigvalsh(G[subsets[:, :, None], subsets[:, None, :]])[:, 0]


def _worst_of(S: FloatArray, subsets: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], float]:
    """The subset with the smallest singular value, and that value."""
    rest, value = iter(subsets), np.inf
    best: tuple[int, ...] = ()
    while chunk := list(islice(rest, CHUNK)):
        smallest = np.linalg.svd(S[np.array(chunk)], compute_uv=False)[:, -1]
        if smallest.min() < value:
            best, value = chunk[smallest.argmin()], float(smallest.min())
    return best, value


# From below


def coherence_bound(G: FloatArray, size: int) -> float:
    """Gershgorin's bound on the smallest eigenvalue of `size` slots of a Gram matrix: a number, maybe negative.

    Profiles that are all positive overlap by about the same; taking that common part, θ11', off leaves a
    smaller matrix in the order of positive semidefinite ones whose rows are much lighter.
    """
    off = G[~np.eye(len(G), dtype=bool)].reshape(len(G), -1)
    shifts = (0.0, max(float(off.mean()), 0.0), max(float(np.median(off)), 0.0))
    top = [
        np.sort(np.abs(off - shift), axis=1)[:, off.shape[1] - (size - 1) :].sum(axis=1) for shift in shifts
    ]
    return max(float((G.diagonal() - shift - heavy).min()) for shift, heavy in zip(shifts, top))


def _raise(
    G: FloatArray, size: int, low: float, subset: tuple[int, ...], slack: float, work: float
) -> tuple[float, tuple[int, ...], bool]:
    """The highest level the search can prove with this much work; the worst subset; whether they meet."""
    high = _smallest_eigenvalues(G, np.array([subset]))[0]
    for way, share in ATTEMPTS:
        answer, left = "found", share * work
        while answer == "found":
            # Two roundings below the worst subset, so that it does not find itself.
            level = low + way * (high - 2 * slack - low)
            answer, found, done = find_below(G, size, level, left)
            work, left = work - done, left - done
            if answer == "found":
                subset = tuple(_filled(G, np.array([found]), size)[0].tolist())
                high = _smallest_eigenvalues(G, np.array([subset]))[0]
        if answer == "none":
            low = max(low, level - slack)
        if way == 1.0 and answer == "none":
            return low, subset, True
        if way < 1.0 and answer == "unfinished":
            break
    return low, subset, False


def _check_supports(supports: Any, n_slots: int) -> BoolArray:
    held = as_numbers(supports, "supports")
    if held.ndim != 2 or held.shape[1] != n_slots:
        raise InputError(f"supports must be samples x {n_slots} slots, but have shape {held.shape}.")
    return held != 0
