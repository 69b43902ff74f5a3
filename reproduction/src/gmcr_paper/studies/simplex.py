"""Reuse on the Carbs simplex: a frozen model decodes 861 mixtures, twenty noise draws each, it has never seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from gmcr.validation import FloatArray
from gmcr_paper.studies.sets import RealSet

STEPS = 40  # of 0.025 along each side
DRAWS = 20
NOISE = 0.03  # noise is uniform on [0, this share of the largest noiseless entry]


def simplex(steps: int = STEPS) -> FloatArray:
    """(861, 3) concentrations that are multiples of the step and sum to one."""
    return np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps


def leverage(C: FloatArray, training: FloatArray) -> FloatArray:
    """Variance that errors of profiles learned from `training` add to samples C, in units of the noise's."""
    return np.einsum("mi,ij,mj->m", C, np.linalg.inv(training.T @ training), C)


def decoded(
    components: FloatArray,
    decode: Callable[[FloatArray], FloatArray],
    data: RealSet,
    seed: int,
    draws: int = DRAWS,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """How a frozen model decodes the simplex: numbers over all samples, and averages per mixture.

    Parameters
    ----------
    components : (K, channels) its pool
    decode : from samples to concentrations over that pool

    Returns
    -------
    nmse, raw_floor, floor : mean nMSE of the model, of the noise itself, and of the centred noise times one plus
        the leverage: the noise is uniform from zero on, its mean goes into every learned profile (concentrations
        sum to one), and profiles learned from 21 samples have errors of their own
    interior_exact : share of interior samples whose support is right
    absent_zero : share of boundary samples whose absent components are all zero
    kept_all : share of samples in which as many components as references are selected
    absent_ratio, absent_ratio_90 : an absent component's concentration over the smallest present one in the same
        boundary sample, median and 90th percentile
    below : share of samples with nMSE below 0.01
    """
    if data.S is None or len(components) < len(data.S):
        return {"count": len(components)}, {}
    points, n_channels = simplex(), data.S.shape[1]
    clean = points @ data.S
    top = NOISE * float((data.C @ data.S).max())
    noise_floor = top**2 / 12 * n_channels * (1 + leverage(points, data.C))
    references = data.S + top / 2  # what the training samples can teach
    slots = _slots(components, references)
    norms = np.linalg.norm(references, axis=1) / np.linalg.norm(components[slots], axis=1)
    others = np.setdiff1d(np.arange(len(components)), slots)
    present, boundary = points > 0, (points == 0).any(axis=1)

    rng = np.random.default_rng(seed)
    errors, floors, raw = (np.zeros((draws, len(points))) for _ in range(3))
    exact, zero, kept = (np.zeros((draws, len(points)), dtype=bool) for _ in range(3))
    ratios = []
    for draw in range(draws):
        noise = rng.uniform(0.0, top, clean.shape)
        X = clean + noise
        size = (X**2).sum(axis=1)
        C = decode(X)
        errors[draw] = ((X - C @ components) ** 2).sum(axis=1) / size
        floors[draw], raw[draw] = noise_floor / size, (noise**2).sum(axis=1) / size
        selected = C[:, slots] != 0
        exact[draw] = (selected == present).all(axis=1) & ~C[:, others].any(axis=1)
        zero[draw] = ~(selected & ~present).any(axis=1)
        kept[draw] = np.count_nonzero(C, axis=1) >= len(data.S)
        ratios.append(_absent_ratio(np.abs(C[:, slots][boundary]) / norms, present[boundary]))
    ratio = np.concatenate(ratios)
    result = {
        "count": len(components),
        "nmse": errors.mean(),
        "raw_floor": raw.mean(),
        "floor": floors.mean(),
        "leverage": leverage(points, data.C).mean(),
        "interior_exact": exact[:, ~boundary].mean(),
        "absent_zero": zero[:, boundary].mean(),
        "kept_all": kept.mean(),
        "kept_all_boundary": kept[:, boundary].mean(),
        "absent_ratio": np.median(ratio),
        "absent_ratio_90": np.quantile(ratio, 0.9),
        "below": (errors < 0.01).mean(),
        "n_boundary": int(boundary.sum()),
    }
    maps = {"nmse": errors.mean(axis=0), "raw_floor": raw.mean(axis=0), "floor": floors.mean(axis=0)}
    return result, maps


def _slots(components: FloatArray, references: FloatArray) -> np.ndarray:
    """The slot of each reference."""
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (references, components)]
    return linear_sum_assignment(-(unit[0] @ unit[1].T))[1]


def _absent_ratio(C: FloatArray, present: np.ndarray) -> FloatArray:
    """Largest absent over smallest present concentration of each sample; infinite where a present one is lost."""
    smallest = np.where(present, C, np.inf).min(axis=1)
    largest = np.where(present, 0.0, C).max(axis=1)
    return np.divide(largest, smallest, out=np.full(len(C), np.inf), where=smallest > 0)
