"""The quick look at the count: what the singular values alone say about the number of components.

Every rule looks for the place where the singular values stop telling of components and start telling of
noise. All but two (eigengap, Malinowski) take that noise to be white: the same everywhere and independent.
Measured noise rarely is, so the table is also looked at under scalings that whiten the usual kinds of noise,
and the report names the scaling under which the remainder looks most like white noise.

None of this sees components that occur in no sample, or more of them than there are samples or channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.stats
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, eigsh

from gmcr.errors import InputError
from gmcr.mixtures import as_generator
from gmcr.noise import whitenings
from gmcr.validation import BoolArray, FloatArray, check_samples

RULES = {
    "marchenko-pastur": "Marchenko-Pastur edge",
    "gavish-donoho": "Gavish-Donoho threshold",
    "eigengap": "eigengap",
    "malinowski": "Malinowski's indicator",
    "parallel": "parallel analysis",
}
NEEDS_NO_WHITE_NOISE = ("eigengap", "malinowski")

FALSE_ALARM = 1e-3  # chance that pure noise passes the Marchenko-Pastur edge
SMALLEST_TAIL = 3  # values left over to judge the noise from
WHITE_MISFIT = 5.0  # places, at most, that values of white noise are away from where they should be
MOST_TO_PERMUTE = 600_000  # entries; beyond that, parallel analysis is skipped
MOST_TO_DECOMPOSE = 10_000_000  # entries; beyond that, samples or channels are drawn at random


@dataclass(frozen=True, eq=False)
class RankReport:
    """What each rule says about the number of components, and whether they agree.

    Attributes
    ----------
    count : the recommended count: the median over the rules under `scaling`, or the smaller of the two
        rules that do not need white noise when the remainder is not white
    agree : whether all rules give the same count under `scaling`
    scaling : the scaling under which the remainder looks most like white noise
    white : whether it looks like white noise well enough
    counts : count by (rule, scaling)
    table : rule, scaling, count, threshold (singular values above it are counted; NaN for rules without
        one), kept and dropped (the singular values on either side of the count)
    singular_values : per scaling, largest first
    noise : per scaling, the standard deviation of an entry in the units of the scaled table
    misfit : per scaling, how many places the values under the edge are away from those of white noise, at
        most
    notes : what was done to the table on the way
    """

    count: int
    agree: bool
    scaling: str
    white: bool
    counts: dict[tuple[str, str], int]
    table: pd.DataFrame
    singular_values: dict[str, FloatArray]
    noise: dict[str, float]
    misfit: dict[str, float]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        names = [name + " *" * (name == self.scaling) for name in self.singular_values]
        grid = self.table.pivot(index="rule", columns="scaling", values="count")
        grid = grid.loc[list(RULES), list(self.singular_values)]
        lines = [f"{'':26}" + "".join(f"{name:>18}" for name in names)]
        for rule, row in zip(RULES, grid.astype(object).where(grid.notna(), "skipped").to_numpy()):
            lines.append(f"{RULES[rule]:26}" + "".join(f"{value!s:>18}" for value in row))
        return "\n".join([*lines, "", self._verdict(), *self.notes])

    def _repr_html_(self) -> str:
        from gmcr.text import text_html

        names = {name: name + " *" * (name == self.scaling) for name in self.singular_values}
        grid = self.table.pivot(index="rule", columns="scaling", values="count")
        grid = (
            grid.loc[list(RULES), list(names)].astype(object).where(lambda counts: counts.notna(), "skipped")
        )
        grid = grid.rename(index=RULES, columns=names).rename_axis("rule").reset_index()
        return text_html(self._verdict(), grid, self.notes)

    def _verdict(self) -> str:
        place = f'"{self.scaling}" (*)'
        if not self.white:
            return (
                f"The quick look suggests {self.count}, with little weight: under no scaling does the "
                f"remainder look like white noise (closest: {place}), so rules that need it count too many."
            )
        if self.agree:
            return (
                f"All rules agree on {self.count} under {place}, where the remainder looks like white noise."
            )
        answers = sorted({count for (_, scaling), count in self.counts.items() if scaling == self.scaling})
        return (
            f"The rules do not agree: under {place}, where the remainder looks like white noise, they say "
            f"{', '.join(map(str, answers))}; the median is {self.count}."
        )


def estimate_rank(
    D: Any, random_state: int | Generator | None = 0, *, most_to_permute: int | None = None
) -> RankReport:
    """The number of components by five rules on the singular values, each under up to three scalings.

    The scalings: "as is" (white when the noise is constant), "rows scaled" (every sample to unit power: white
    when the noise is proportional to the sample) and "poisson scaled" (white for counting noise; only when
    no entry is negative).

    Parameters
    ----------
    D : (samples, channels) array-like, NaN where an entry is missing
    random_state : for the permutations of the parallel analysis
    most_to_permute : entries beyond which parallel analysis, the slowest rule, is skipped; by default 600,000

    Returns
    -------
    RankReport

    Examples
    --------
    >>> from gmcr.mixtures import make_mixtures
    >>> from gmcr.rank import estimate_rank
    >>> estimate_rank(make_mixtures(n_components=16, n_samples=64, random_state=0).D).count
    16
    """
    rng = as_generator(random_state)
    table, notes = prepare(check_samples(D, allow_constant=False), rng)
    limit = MOST_TO_PERMUTE if most_to_permute is None else most_to_permute
    permute = table.size <= limit
    looks = {name: _look(scaled, rng, permute) for name, scaled in scalings(table).items()}
    if not permute:
        notes.append(f"Parallel analysis was skipped: the table has more than {limit:,} entries.")

    best = min(looks, key=lambda name: looks[name].misfit_share)
    white = looks[best].is_white
    answers = [answer.count for answer in looks[best].answers.values()]
    return RankReport(
        count=_consensus(looks[best].answers, white),
        agree=len(set(answers)) == 1,
        scaling=best,
        white=white,
        counts={
            (rule, name): answer.count
            for name, look in looks.items()
            for rule, answer in look.answers.items()
        },
        table=_tabulate(looks),
        singular_values={name: look.values for name, look in looks.items()},
        noise={name: look.noise for name, look in looks.items()},
        misfit={name: look.misfit for name, look in looks.items()},
        notes=tuple(notes),
    )


# The table: missing entries, size, scalings


def prepare(table: FloatArray, rng: Generator) -> tuple[FloatArray, list[str]]:
    """The table complete, without empty lines and of a size that can be decomposed; and what was done."""
    table, notes = _draw(table, rng)
    # Lines of zeros hold no noise either, and would mislead every rule about the size of the table.
    holds = ~np.isnan(table) & (table != 0)
    rows, columns = holds.any(axis=1), holds.any(axis=0)
    if not (rows.all() and columns.all()):
        table = table[rows][:, columns]
    if min(table.shape) <= SMALLEST_TAIL:
        raise InputError(
            f"D has {table.shape[0]} samples and {table.shape[1]} channels that are not all zero; "
            f"the rank rules need more than {SMALLEST_TAIL} of each."
        )
    missing = np.isnan(table)
    if missing.any():
        table = _fill(table, missing)
        notes.append(f"{missing.mean():.1%} of the entries are missing and were filled from the others.")
    return table, notes


def _draw(table: FloatArray, rng: Generator) -> tuple[FloatArray, list[str]]:
    """As many lines of the longer side as can be decomposed in reasonable time."""
    axis = int(np.argmax(table.shape))
    long, short = max(table.shape), min(table.shape)
    keep = max(MOST_TO_DECOMPOSE // short, short)
    if keep >= long:
        return table, []
    chosen = np.sort(rng.choice(long, keep, replace=False))
    what = ("samples", "channels")[axis]
    note = f"{keep:,} of {long:,} {what} were drawn at random; rare components may be lost."
    return np.take(table, chosen, axis=axis), [note]


def scalings(table: FloatArray) -> dict[str, FloatArray]:
    """The table under each scaling that whitens a usual kind of noise."""
    return {law.scaling: scaled for law, scaled in whitenings(table).items()}


def _fill(table: FloatArray, missing: BoolArray, rounds: int = 60, tolerance: float = 1e-3) -> FloatArray:
    """Missing entries replaced by what the singular vectors of the others say, until they stay.

    The count comes from Malinowski's indicator, which holds whatever the noise. The kept singular values are
    shrunk by what noise adds to them: a component that stands on filled entries alone then dies out in a few
    rounds, where plain truncation would keep it for ever.
    """
    present = ~missing
    known = np.where(missing, 0.0, table)
    scale = np.sqrt((known**2).sum(axis=1, keepdims=True) / present.sum(axis=1, keepdims=True))
    known /= scale
    positive = known.min() >= 0
    guess = np.zeros_like(known)
    if positive:  # a start from row and column means; where signs mix, means say nothing
        row, column = known.sum(axis=1) / present.sum(axis=1), known.sum(axis=0) / present.sum(axis=0)
        guess = np.outer(row, column) * (present.sum() / known.sum())
    filled = np.where(missing, guess, known)
    for _ in range(rounds):
        U, values, Vt = scipy.linalg.svd(filled, full_matrices=False, check_finite=False)
        count = malinowski(values, filled.shape).count
        shrunk = values[:count] - values[count] ** 2 / np.maximum(values[:count], np.finfo(float).tiny)
        guess = (U[:, :count] * shrunk) @ Vt[:count]
        change = np.linalg.norm((guess - filled)[missing])
        filled = np.where(missing, guess, known)
        if change <= tolerance * np.linalg.norm(filled[missing]):
            break
    return scale * (np.maximum(filled, 0.0) if positive else filled)


# One scaling: its singular values under every rule


@dataclass(frozen=True)
class _Answer:
    count: int
    threshold: float = np.nan


@dataclass(frozen=True, eq=False)
class _Look:
    """One scaled table; `misfit` is that of the values after `count`, those under the edge of white noise."""

    values: FloatArray
    noise: float
    count: int
    misfit: float
    answers: dict[str, _Answer]

    @property
    def is_white(self) -> bool:
        """Whether the remainder passes as white noise; one of less than half of the values is no evidence."""
        return self.misfit <= WHITE_MISFIT and 2 * self.count <= len(self.values)

    @property
    def misfit_share(self) -> float:
        return self.misfit / (len(self.values) - self.count)


def _look(table: FloatArray, rng: Generator, permute: bool) -> _Look:
    """Every rule on one scaled table; parallel analysis only where it may permute."""
    U, values, Vt = scipy.linalg.svd(table, full_matrices=False, check_finite=False)
    # Below this the values are rounding errors, and no rule may read anything into them.
    resolution = values[0] * np.finfo(float).eps * max(table.shape)
    values = np.maximum(values, resolution)
    edge, noise = marchenko_pastur(values, table.shape)
    out_of_place = 0.0 if values[edge.count] <= resolution else misfit(values, edge.count, noise, table.shape)
    answers = {
        "marchenko-pastur": edge,
        "gavish-donoho": gavish_donoho(values, table.shape),
        "eigengap": eigengap(values, table.shape),
        "malinowski": malinowski(values, table.shape),
    }
    if permute:
        answers["parallel"] = parallel_analysis(U, values, Vt, rng)
    return _Look(values, noise, edge.count, out_of_place, answers)


def _consensus(answers: dict[str, _Answer], white: bool) -> int:
    """The median of the rules that hold; of two middle ones, the smaller."""
    votes = sorted(a.count for rule, a in answers.items() if white or rule in NEEDS_NO_WHITE_NOISE)
    return votes[(len(votes) - 1) // 2]


def _tabulate(looks: dict[str, _Look]) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for scaling, look in looks.items():
        for rule in RULES:
            answer = look.answers.get(rule)
            if answer is None:
                rows.append((rule, scaling, pd.NA, np.nan, np.nan, np.nan))
                continue
            kept = look.values[answer.count - 1] if answer.count else np.nan
            rows.append((rule, scaling, answer.count, answer.threshold, kept, look.values[answer.count]))
    table = pd.DataFrame(rows, columns=["rule", "scaling", "count", "threshold", "kept", "dropped"])
    return table.astype({"count": "Int64"})


# White noise: the Marchenko-Pastur law. A table of unit white noise with n lines one way and p <= n the other
# has p squared singular values that, divided by n, follow the law with ratio p / n. Once r components are
# taken out, the rest behaves like noise of n - r by p - r.


def marchenko_pastur_quantiles(levels: FloatArray, ratio: float, grid: int = 4000) -> FloatArray:
    """Quantiles of the Marchenko-Pastur law with `ratio` in (0, 1], as eigenvalues.

    The law has density sqrt((upper - x)(x - lower)) / (2 pi ratio x) between (1 -+ sqrt(ratio))^2; with
    x = 1 + ratio - 2 sqrt(ratio) cos(t) the roots at both ends become a smooth sin(t)^2.
    """
    t = (np.arange(grid) + 0.5) * np.pi / grid
    x = 1 + ratio - 2 * np.sqrt(ratio) * np.cos(t)
    mass = np.sin(t) ** 2 / x
    below = np.cumsum(mass)
    return np.interp(levels, (below - mass / 2) / below[-1], x)


def _expected_values(n_values: int, n: int, p: int, noise: float = 1.0) -> FloatArray:
    """Where the `n_values` smallest singular values of n x p white noise lie, smallest first."""
    levels = (np.arange(n_values) + 0.5) / p
    return noise * np.sqrt(n * marchenko_pastur_quantiles(levels, p / n))


def noise_level(values: FloatArray, count: int, shape: tuple[int, ...]) -> float:
    """The noise, from the lower half of the values after the first `count`.

    The lower half, because as long as `count` is too small the upper half still holds components; they then
    push the estimate up, never down, so that a count grown from zero does not overshoot.

    Parameters
    ----------
    values : (p,) singular values, largest first
    """
    n, p = max(shape) - count, min(shape) - count
    half = max(p // 2, 1)
    expected = _expected_values(half, n, p)
    return float(np.linalg.norm(values[-half:]) / np.linalg.norm(expected))


def noise_edge(n: Any, p: Any, false_alarm: float = FALSE_ALARM) -> Any:
    """The value that the largest singular value of n x p unit white noise exceeds with chance `false_alarm`.

    The Tracy-Widom law of order one with the centring and scaling of Johnstone (2001) as sharpened by Ma
    (2012); its quantile by the shifted gamma law of Chiani (2014), which has the same first three moments.
    """
    quantile = scipy.stats.gamma.isf(false_alarm, 46.446, scale=0.186054) - 9.84801
    a, b = np.sqrt(n - 0.5), np.sqrt(p - 0.5)
    return np.sqrt((a + b) ** 2 + quantile * (a + b) * (1 / a + 1 / b) ** (1 / 3))


def misfit(values: FloatArray, count: int, noise: float, shape: tuple[int, ...]) -> float:
    """How many places the values after the first `count` are away from those of white noise, at most.

    That is the Kolmogorov-Smirnov distance to the Marchenko-Pastur law times the number of values. Singular
    values of noise are far more evenly spaced than independent draws: it stays near 2 whatever their number,
    and was never above 4.2 in 1,000 tables of Gaussian noise of 20 to 300 values.
    """
    n, p = max(shape) - count, min(shape) - count
    remainder = values[count:][::-1]
    expected = _expected_values(p, n, p, noise)
    place = np.interp(remainder, expected, np.arange(p), left=-0.5, right=p - 0.5)
    return float(np.abs(place - np.arange(p)).max())


# The rules. Each takes the singular values, largest first, and the shape of the table.


def marchenko_pastur(values: FloatArray, shape: tuple[int, ...]) -> tuple[_Answer, float]:
    """Values above the edge of white noise; also the noise level."""
    return _above_noise(values, shape, noise_edge)


def gavish_donoho(values: FloatArray, shape: tuple[int, ...]) -> _Answer:
    """Values above the hard threshold that loses least when the rest is dropped (Gavish & Donoho 2014).

    Their rule for unknown noise takes the noise from the median of all values, which is right for a count far
    below the smaller side; here it comes from the remainder.
    """
    return _above_noise(values, shape, _optimal_threshold)[0]


def _optimal_threshold(n: int, p: int) -> float:
    b = p / n
    return float(np.sqrt(n * (2 * (b + 1) + 8 * b / (b + 1 + np.sqrt(b**2 + 14 * b + 1)))))


def _above_noise(
    values: FloatArray, shape: tuple[int, ...], threshold: Callable[[int, int], float]
) -> tuple[_Answer, float]:
    """Grow the count from zero until no further value exceeds the threshold of what is left."""
    most = min(shape) - SMALLEST_TAIL
    count = 0
    while True:
        noise = noise_level(values, count, shape)
        cut = noise * threshold(max(shape) - count, min(shape) - count)
        # Nothing is told from values that are rounding errors (see `_look`).
        above = min(int((values > max(cut, values[-1])).sum()), most)
        if above <= count:
            return _Answer(count, cut), noise
        count = above


def eigengap(values: FloatArray, shape: tuple[int, ...]) -> _Answer:
    """The largest ratio of one value to the next, from the second value on, in the upper two thirds.

    The first drop is left out because non-negative samples have a large common part: their first value
    stands far above the others whatever the count. It counts only when no later drop is larger than white
    noise alone would show.
    """
    last = max(2 * len(values) // 3, 2)
    ratios = values[1:last] / values[2 : last + 1]
    n, p = max(shape) - 1, min(shape) - 1
    second_of_noise = _expected_values(p, n, p)[-2]
    if ratios.max() <= noise_edge(n, p) / second_of_noise:
        return _Answer(1)
    return _Answer(int(np.argmax(ratios)) + 2)


def malinowski(values: FloatArray, shape: tuple[int, ...]) -> _Answer:
    """The minimum of the factor indicator function, IND = RE / (p - k)^2 (Malinowski 1977).

    RE = sqrt(sum of the squares after the k-th value / (n (p - k))) is the real error of k components.
    """
    n, p = max(shape), min(shape)
    k = np.arange(1, p)
    after = np.cumsum(values[::-1] ** 2)[::-1][1:]
    indicator = np.sqrt(after / (n * (p - k))) / (p - k) ** 2
    # The very last ones rest on a handful of values and can fall by chance.
    usable = max(p - SMALLEST_TAIL, 1)
    return _Answer(int(np.argmin(indicator[:usable])) + 1)


def parallel_analysis(U: FloatArray, values: FloatArray, Vt: FloatArray, rng: Generator) -> _Answer:
    """Values above those of a table whose columns are permuted, after taking out what is already counted.

    Permuting the entries of each column leaves the spread of every channel and destroys what samples share.
    Two things differ from the textbook. Mixtures are not centred, so that permuted columns keep their means
    and with them the first component: it is counted from the start. And strong components raise the spread
    of every channel and so hide weak ones: whatever passes is taken out and the rest is permuted afresh,
    until nothing more passes (deflation, Dobriban & Owen 2019).

    Parameters
    ----------
    U, values, Vt : thin singular value decomposition of the table
    """
    count, cut = 1, np.nan
    # In large steps first, one permutation each and a wide margin; then carefully. Rounds are limited because
    # noise that is not white keeps on passing; the count is too large then, wherever it ends.
    for rounds, permutations, margin in ((8, 1, 1.2), (3, 20, 1.0)):
        for _ in range(rounds):
            cut = margin * _permuted_top(U, values, Vt, count, permutations, rng)
            above = min(int((values > cut).sum()), len(values) - SMALLEST_TAIL)
            if above <= count:
                break
            count = above
    return _Answer(count, cut)


def _permuted_top(
    U: FloatArray, values: FloatArray, Vt: FloatArray, count: int, permutations: int, rng: Generator
) -> float:
    """The largest singular value, over some permutations, of the remainder after `count` components."""
    n, p = len(U), Vt.shape[1]
    left, right = U[:, :count], Vt[:count].T
    remainder = (U[:, count:] * values[count:]) @ Vt[count:]
    # Taking components out also took their share of the noise; the permuted table gets it back first and then
    # loses the same directions, so that it has as many degrees of freedom as what it is compared with.
    remainder /= np.sqrt((1 - count / n) * (1 - count / p))
    columns = np.ascontiguousarray(remainder.T)
    return max(_top_value(rng.permuted(columns, axis=1), right, left, rng) for _ in range(permutations))


def _top_value(table: FloatArray, left: FloatArray, right: FloatArray, rng: Generator) -> float:
    """Largest singular value of (I - left left') table (I - right right')."""

    def apply(vector: FloatArray) -> FloatArray:
        image = table @ (vector - right @ (right.T @ vector))
        image = table.T @ (image - left @ (left.T @ image))
        return image - right @ (right.T @ image)

    size = table.shape[1]
    operator = LinearOperator((size, size), matvec=apply, dtype=float)
    top = eigsh(operator, k=1, tol=1e-3, v0=rng.standard_normal(size), return_eigenvectors=False)
    return float(np.sqrt(max(top[0], 0.0)))
