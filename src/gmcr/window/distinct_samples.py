"""What the solver is given of a table: each distinct sample once, and how often it counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints import Layout
from gmcr.errors import InputError
from gmcr.noise import Sigma
from gmcr.validation import FloatArray, as_numbers, check_finite


def distinct_samples(
    D: FloatArray, weight: FloatArray, sigma: Sigma | None = None, layout: Layout | None = None
) -> tuple[NDArray[np.intp], FloatArray]:
    """The rows to solve for, and how often each counts.

    Samples of weight zero and samples without any signal are left out. Copies of a sample are one row that
    counts as often, so that a weight of two and a copy are the same thing. The order depends on what the
    samples hold and not on the order they came in: permuted samples are the same problem.

    D : (samples, channels);  weight : (samples,);  sigma, layout : noise, runs and order,
        where they are given beside the samples; samples that differ in them are no copies
    """
    used = np.flatnonzero((weight > 0) & np.nan_to_num(D).any(axis=1))
    beside = [] if sigma is None else [sigma.values]
    beside += [] if layout is None or layout.is_open else [layout.keys(len(D))]
    key = (np.column_stack([D, *beside]) if beside else D)[used]
    key += 0.0  # no negative zero
    key[np.isnan(key)] = np.nan  # one NaN of the many there are
    as_bytes = key.view(np.dtype((np.void, key.itemsize * key.shape[1]))).ravel()
    _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
    repeats: FloatArray = np.bincount(which, weights=weight[used], minlength=len(first)).astype(float)
    order = np.argsort(np.nansum(D[used[first]], axis=1), kind="stable")
    return used[first[order]], repeats[order]


def check_sample_weight(sample_weight: Any, n_samples: int) -> FloatArray:
    """Weights of the samples, not negative and not all zero: (samples,)."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = as_numbers(sample_weight, "sample_weight")
    if weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight must have {n_samples} entries, one per sample, but has shape {weight.shape}."
        )
    check_finite(weight, "sample_weight")
    bad = np.flatnonzero(~(weight >= 0))
    if bad.size:
        raise InputError(f"sample_weight is {weight[bad[0]]} for sample {bad[0]}; it must not be negative.")
    if not weight.any():
        raise InputError("sample_weight is zero for every sample; give at least some of them a weight.")
    return weight
