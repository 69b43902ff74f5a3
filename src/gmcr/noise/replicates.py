"""The noise law that the spread between measurements of one thing speaks for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gmcr.errors import InputError
from gmcr.noise.estimation import estimate_noise, likelier
from gmcr.noise.instrument import Instrument
from gmcr.noise.law import NoiseLaw
from gmcr.validation import FloatArray, as_labels


def law_of_replicates(D: FloatArray, replicates: ArrayLike, kind: str = "auto") -> NoiseLaw:
    """The noise law that the spread between replicates speaks for.

    D : (samples, channels), NaN where missing
    replicates : (samples,) labels; samples with the same label are measurements of one thing, those with None or
        NaN of nothing else
    kind : a law's name, or "auto"
    """
    errors, shares, means = deviations(D, replicates)
    left = np.maximum(shares.sum(axis=1), 1.0)
    found = estimate_noise(means + errors, means, left, kind)
    if kind != "auto":
        return found
    law = Instrument.estimate(means + errors, means, errors, left)
    better = law.composed and (not found.relative or likelier(law, found, means + errors, means, left))
    return law if better else found


def deviations(D: FloatArray, replicates: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Deviations of replicates from their means, the share of the noise's variance in each, and the means.

    All (samples that were measured again, channels). A deviation from the mean of n has 1 - 1/n of the variance:
    so many degrees of freedom are left.
    """
    from pandas import isna  # here alone, so that a law does without pandas

    labels = as_labels(replicates, len(D), "replicates")
    told = ~isna(labels)
    D, labels = D[told], labels[told]
    _, which, counts = np.unique(labels.astype(str), return_inverse=True, return_counts=True)
    seen, total = sums_of_present(D, which)
    rows = np.flatnonzero(counts[which] > 1)
    if not rows.size:
        raise InputError(
            "replicates names no sample twice, copies aside; give samples measured again the same label."
        )
    seen, total = np.maximum(seen, 1)[which[rows]], total[which[rows]]
    shares = np.where(np.isnan(D[rows]), 0.0, 1.0 - 1.0 / seen)
    if not shares.any():
        raise InputError("replicates share no entry that is present in two of them; nothing tells the noise.")
    means = total / seen
    return D[rows] - means, shares, means


def sums_of_present(D: FloatArray, groups: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """How many entries are present in each group of samples, and their sums: (groups, channels) both."""
    present, shape = ~np.isnan(D), (int(groups.max(initial=-1)) + 1, D.shape[1])
    seen, total = np.zeros(shape), np.zeros(shape)
    np.add.at(seen, groups, present)
    np.add.at(total, groups, np.where(present, D, 0.0))
    return seen, total
