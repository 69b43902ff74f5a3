"""Samples cut off from below (negative values set to zero): what the cut adds, and what noise it leaves.

An entry with mean μ, noise σ and cut at z is max(μ + σε, z): on average higher than μ, by more the nearer μ is to
the cut, and with less variance. Profiles that are all positive would take that for weak components.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.special import ndtr

from gmcr.validation import BoolArray, FloatArray

FAR = 5.0  # noise units above the cut from which an entry does not meet it


def cut_moments(height: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean excess over the uncut one, and variance, of max(h + ε, 0), both in noise units."""
    below = ndtr(-height)
    density = np.exp(-0.5 * np.square(height)) / np.sqrt(2.0 * np.pi)
    excess = density - height * below
    second = (np.square(height) + 1.0) * (1.0 - below) + height * density
    return excess, np.clip(second - np.square(height + excess), 0.0, 1.0)


def uncut(D: FloatArray, S: FloatArray, C: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The samples without what the cut adds on average, and the share of their noise variance that it leaves.

    The former (samples, channels), the latter on average over the channels, (samples,).

    Noise never makes two entries share the lowest value of a sample; a cut does.
    """
    left = np.ones(len(D))
    rows = np.flatnonzero(is_cut(D))
    if not rows.size:
        return D, left
    added, missing = _effects(D[rows], S, C[rows], sigma[rows])
    out = D.copy()
    out[rows] -= added
    left[rows] -= missing.mean(axis=1)
    return out, left


def uncut_pool(
    D: FloatArray, S: FloatArray, C: FloatArray, sigma: FloatArray, covariance: FloatArray
) -> FloatArray:
    """Profiles learned from samples that are cut, less what the cut has put into them: (slots, channels).

    Least squares is linear: what the cut adds to the samples goes into the profiles as the samples themselves do,
    by V C'W with V their covariance in one channel.
    """
    rows = is_cut(D)
    out = S
    if not rows.any():
        return out
    for _ in range(2):  # the first pass says where the profiles are lower, the second by how much
        added = _effects(D[rows], out, C[rows], sigma[rows])[0]
        lower = np.maximum(S - covariance @ ((C[rows] / np.square(sigma[rows, None])).T @ added), 0.0)
        out = np.where(lower.any(axis=1, keepdims=True), lower, S)
    return out


def is_cut(D: FloatArray) -> BoolArray:
    """Which samples are cut off: those where two entries or more share the lowest value, (samples,)."""
    return (np.fmin.reduce(D, axis=1, keepdims=True) == D).sum(axis=1) > 1


def _effects(D: FloatArray, S: FloatArray, C: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the cut adds on average, and the share of the variance that it takes: both (samples, channels)."""
    fit = scipy.sparse.csr_array(C) @ S
    height = (fit - np.fmin.reduce(D, axis=1, keepdims=True)) / sigma[:, None]
    added, taken = np.zeros_like(D), np.zeros_like(D)
    near = height < FAR
    excess, variance = cut_moments(height[near])
    added[near], taken[near] = excess, 1.0 - variance
    added *= sigma[:, None]
    return added, taken
