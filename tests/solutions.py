"""The true solution of synthetic mixtures, and wrong ones; for the tests and for benchmarks/certificate.py."""

import numpy as np

from gmcr import Decomposition


def true_solution(mix):
    return Decomposition.from_factors(mix.C, mix.S)


def dropped(mix):
    """Without one component."""
    return Decomposition.from_factors(np.delete(mix.C, 0, axis=1), np.delete(mix.S, 0, axis=0))


def merged(mix):
    """Two components as one."""
    C, S = np.delete(mix.C, 0, axis=1), np.delete(mix.S, 0, axis=0)
    C[:, 0] += mix.C[:, 0]
    S[0] += mix.S[0]
    return Decomposition.from_factors(C, S)


def split(mix):
    """One component as two, in every second sample each."""
    half = np.arange(len(mix.C)) % 2 == 0
    halves = [np.where(half == here, mix.C[:, 0], 0.0) for here in (True, False)]
    return Decomposition.from_factors(np.column_stack([*halves, mix.C[:, 1:]]), np.vstack([mix.S[:1], mix.S]))


def enlarged(mix):
    """Every second sample holds one more, in an amount that noise hides."""
    C = mix.C.copy()
    rows = np.arange(0, len(C), 2)
    absent = np.argmin(C[rows], axis=1)
    C[rows, absent] += np.where(C[rows, absent] == 0, mix.sigma[rows], 0.0)
    return Decomposition.from_factors(C, mix.S)


def rotated(mix):
    """One profile with some of another in it."""
    S, C = mix.S.copy(), mix.C.copy()
    S[0] += 0.3 * mix.S[1]
    C[:, 1] = np.maximum(C[:, 1] - 0.3 * C[:, 0], 0.0)
    return Decomposition.from_factors(C, S)


WRONG = {make.__name__: make for make in (dropped, merged, split, enlarged, rotated)}
