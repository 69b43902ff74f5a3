"""Parallel analysis: values that a table does not reach whose columns are permuted."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, eigsh

from gmcr.rank.rules import RULES, Answer, Rule, Seen
from gmcr.rank.white_noise import SMALLEST_TAIL
from gmcr.validation import FloatArray


def parallel_analysis(seen: Seen) -> Answer:
    """Values above those of a table whose columns are permuted, after taking out what is already counted.

    Permuting the entries of each column leaves the spread of every channel and destroys what samples share.
    Two things differ from the textbook. Mixtures are not centred, so that permuted columns keep their means
    and with them the first component: it is counted from the start. And strong components raise the spread
    of every channel and so hide weak ones: whatever passes is taken out and the rest is permuted afresh,
    until nothing more passes (deflation, Dobriban & Owen 2019).
    """
    values = seen.values
    count, cut = 1, np.nan
    # In large steps first, one permutation each and a wide margin; then carefully. Rounds are limited because
    # noise that is not white keeps on passing; the count is too large then, wherever it ends.
    for rounds, permutations, margin in ((8, 1, 1.2), (3, 20, 1.0)):
        for _ in range(rounds):
            cut = margin * _permuted_top(seen, count, permutations)
            above = min(int((values > cut).sum()), len(values) - SMALLEST_TAIL)
            if above <= count:
                break
            count = above
    return Answer(count, cut)


def _permuted_top(seen: Seen, count: int, permutations: int) -> float:
    """The largest singular value, over some permutations, of the remainder after `count` components."""
    (n, p), rng = seen.shape, seen.rng
    left, right = seen.U[:, :count], seen.Vt[:count].T
    remainder = (seen.U[:, count:] * seen.values[count:]) @ seen.Vt[count:]
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


RULES.add("parallel", Rule("parallel analysis", parallel_analysis, slow=True))
