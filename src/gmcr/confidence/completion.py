"""A learned pool without what missed components have put into it.

A weak component that the decoder leaves out of a sample still is in it, and goes into the profiles of those that
are held there. Refitted with the concentrations expected of each sample, missed ones included, the profiles lose
most of that; at high signal-to-noise ratios nothing is missed and nothing changes.
"""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray

LIKELY = 0.01  # posterior probability from which a missed component counts


def completed_pool(
    D: FloatArray, S: FloatArray, C: FloatArray, sigma: FloatArray, presence: FloatArray, floor: float
) -> FloatArray:
    """Profiles refitted with expected concentrations: (slots, channels), not negative.

    Parameters
    ----------
    D : (samples, channels); S : (slots, channels) the pool; C : (samples, slots) as decoded over it
    sigma : (samples,) noise
    presence : (samples, slots) posterior probability that each sample holds each component
    floor : smallest concentration of a component that is there
    """
    expected = expected_concentrations(D, S, C, presence, floor)
    weighted = expected / np.square(sigma)[:, None]
    held = expected.any(axis=0)
    refitted = S.copy()
    normal = weighted[:, held].T @ expected[:, held]
    refitted[held] = np.maximum(np.linalg.lstsq(normal, weighted[:, held].T @ D, rcond=None)[0], 0.0)
    return np.where(refitted.any(axis=1, keepdims=True), refitted, S)


def expected_concentrations(
    D: FloatArray, S: FloatArray, C: FloatArray, presence: FloatArray, floor: float
) -> FloatArray:
    """C with what is probably missed: each missing component at its best amount times its probability.

    Beside it the components held are less: adding c_j to support A changes c_A by −G_A⁻¹ G_Aj c_j.
    """
    rows, slots = np.nonzero((C == 0) & (presence > LIKELY))
    if rows.size == 0:
        return C
    G = S @ S.T
    largest = max(int(np.count_nonzero(C, axis=1).max()), 1)
    # Each sample's own slots, filled up with ones that are not there and count for nothing.
    own = np.argsort(C == 0, axis=1, kind="stable")[:, :largest]
    there = np.take_along_axis(C != 0, own, axis=1)
    gram = np.where(there[:, :, None] & there[:, None, :], G[own[:, :, None], own[:, None, :]], 0.0)
    gram += np.eye(largest) * ~there[:, None, :]
    inverse = np.linalg.pinv(gram, hermitian=True)
    across = np.where(there[rows], G[slots[:, None], own[rows]], 0.0)
    effect = np.einsum("pij,pj->pi", inverse[rows], across)  # G_A⁻¹ G_Aj of each pair
    gain = np.einsum("pl,pl->p", D[rows] - C[rows] @ S, S[slots])
    outside = np.maximum(G[slots, slots] - np.einsum("pi,pi->p", across, effect), 1e-3 * G[slots, slots])
    amounts = presence[rows, slots] * np.maximum(gain / outside, floor)
    expected = C.copy()
    expected[rows, slots] += amounts
    np.add.at(expected, (rows[:, None], own[rows]), np.where(there[rows], -effect * amounts[:, None], 0.0))
    return np.maximum(expected, 0.0)
