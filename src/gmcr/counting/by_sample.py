"""Whether what each sample leaves beyond a count is what a disturbance would make of its own fit.

A shifted axis leaves every sample its derivative, times a number of its own; scatter a tilt of it, saturation its
square, broadening its second derivative, a drifting baseline something smooth. These are one or three numbers a
sample, where a component that is missing would need a profile.
"""

from __future__ import annotations

import numpy as np

from gmcr.counting.left_over import Parts, largest_value
from gmcr.counting.ratios import TINY
from gmcr.validation import FloatArray, evenly

ENOUGH = 100  # samples
SMALLEST = 8  # channels, in fewer of which shapes are all alike
RIDGE = 1e-6  # of the squares of a shape: shapes may be alike
BASELINE = 3  # terms of its polynomial


def of_samples(X: FloatArray, parts: Parts, most: int, seed: int) -> dict[str, FloatArray]:
    """The share of what is left that is like each disturbance of the sample's own fit, and like any of them.

    And by how much the strongest direction that is left falls once that is taken out.

    X : (samples, channels);  parts : its singular value decomposition
    """
    rng = np.random.default_rng(seed)
    U, values, Vt = parts
    rows = evenly(len(X), ENOUGH)
    X, amounts = X[rows], U[rows] * values
    shares = {name: np.full(most + 1, np.nan) for name in (*_shapes(X[:1]), "any")}
    fall = np.full(most + 1, np.nan)
    fit = np.zeros_like(X)
    for k in range(1, min(most + 1, len(values) - 1) if X.shape[1] > SMALLEST else 0):
        fit += np.outer(amounts[:, k - 1], Vt[k - 1])
        left, shapes = X - fit, _shapes(fit)
        total = max(float(np.square(left).sum()), TINY)
        alike = {name: _explained(left, shape) for name, shape in shapes.items()}
        alike["any"] = _explained(left, np.concatenate(list(shapes.values()), axis=1))
        for name, part in alike.items():
            shares[name][k] = float(np.vdot(part, left)) / total
        before, after = largest_value(left, rng), largest_value(left - alike["any"], rng)
        fall[k] = np.log(max(before, TINY) / max(after, TINY))
    found = {}
    for name, share in shares.items():
        found[f"left like {name}"], found[f"left like {name}, before"] = share[1:], share[:-1]
    return found | {"fall without these": fall[1:], "fall without these, before": fall[:-1]}


def _shapes(fit: FloatArray) -> dict[str, FloatArray]:
    """What each disturbance adds to a sample, up to factors: (samples, shapes, channels)."""
    x = np.linspace(-1.0, 1.0, fit.shape[1])
    slope = np.gradient(fit, axis=1)
    smooth = np.broadcast_to(x ** np.arange(BASELINE)[:, None], (len(fit), BASELINE, len(x)))
    single = {
        "shifts": slope,
        "tilts": fit * x,
        "saturation": fit * fit,
        "broadening": np.gradient(slope, axis=1),
    }
    return {name: shape[:, None] for name, shape in single.items()} | {"baselines": smooth}


def _explained(left: FloatArray, shapes: FloatArray) -> FloatArray:
    """Each sample's part that its own shapes explain, by least squares."""
    shapes = shapes / np.maximum(np.linalg.norm(shapes, axis=2, keepdims=True), TINY)
    gram = shapes @ shapes.transpose(0, 2, 1) + RIDGE * np.eye(shapes.shape[1])
    factors = np.linalg.solve(gram, shapes @ left[:, :, None])
    return (factors.transpose(0, 2, 1) @ shapes)[:, 0]
