"""Whether what each sample leaves beyond a count is what a disturbance would make of its own fit.

A shifted axis leaves every sample its derivative, times a number of its own; scatter a tilt of it, a response
that differs a bend, saturation its square, broadening its second derivative, a drifting baseline something
smooth. These are one or three numbers a sample, where a component that is missing would need a profile.
"""

from __future__ import annotations

import numpy as np

from gmcr.counting.left_over import Parts, largest_value
from gmcr.counting.ratios import TINY
from gmcr.validation import FloatArray, evenly

ENOUGH = 80  # samples
SMALLEST = 8  # channels, in fewer of which shapes are all alike
ROUNDING = 1e-6  # of a shape
RIDGE = 1e-6  # beside the square of a shape: shapes may be alike
BASELINE, BENDS = 3, 3  # terms of polynomials: added to a sample, and by which its response differs


def of_samples(X: FloatArray, parts: Parts, most: int, seed: int) -> dict[str, FloatArray]:
    """The share of what is left that is like each disturbance of the sample's own fit, and like any of them.

    And by how much the strongest direction that is left falls once that is taken out.

    X : (samples, channels);  parts : its singular value decomposition
    """
    rng = np.random.default_rng(seed)
    U, values, Vt = parts
    rows = evenly(len(X), ENOUGH)
    X, amounts = X[rows], U[rows] * values
    kinds = _kinds(_shapes(X[:1]))
    shares = {name: np.full(most + 1, np.nan) for name in kinds}
    fall = np.full(most + 1, np.nan)
    fit = np.zeros_like(X)
    for k in range(1, min(most + 1, len(values) - 1) if X.shape[1] > SMALLEST else 0):
        fit += np.outer(amounts[:, k - 1], Vt[k - 1])
        left = X - fit
        total = max(float(np.square(left).sum()), TINY)
        shapes = _beyond(np.concatenate(list(_shapes(fit).values()), axis=1), Vt[:k])
        gram, along = shapes @ shapes.transpose(0, 2, 1), shapes @ left[:, :, None]
        gram += RIDGE * np.eye(shapes.shape[1])
        for name, own in kinds.items():
            factors = np.linalg.solve(gram[:, own, own], along[:, own])
            shares[name][k] = float(np.vdot(factors, along[:, own])) / total
        rest = left - (factors.transpose(0, 2, 1) @ shapes)[:, 0]  # of the last kind, which is all of them
        fall[k] = np.log(max(largest_value(left, rng), TINY) / max(largest_value(rest, rng), TINY))
    return {f"left like {name}": share[1:] for name, share in shares.items()} | {
        "fall without these": fall[1:]
    }


def _kinds(shapes: dict[str, FloatArray]) -> dict[str, slice]:
    """Where the shapes of each kind are among all of them; the last kind is any."""
    ends = np.cumsum([shape.shape[1] for shape in shapes.values()])
    slices = [slice(int(end) - shape.shape[1], int(end)) for shape, end in zip(shapes.values(), ends)]
    return dict(zip(shapes, slices)) | {"any": slice(0, int(ends[-1]))}


def _shapes(fit: FloatArray) -> dict[str, FloatArray]:
    """What each disturbance adds to a sample, up to factors: (samples, shapes, channels)."""
    x = np.linspace(-1.0, 1.0, fit.shape[1])
    slope = np.gradient(fit, axis=1)
    smooth = np.broadcast_to(x ** np.arange(BASELINE)[:, None], (len(fit), BASELINE, len(x)))
    single = {
        "shifts": slope,
        "saturation": fit * fit,
        "broadening": np.gradient(slope, axis=1),
    }
    bends = fit[:, None] * x ** np.arange(1, BENDS + 1)[:, None]
    return {name: shape[:, None] for name, shape in single.items()} | {"bends": bends, "baselines": smooth}


def _beyond(shapes: FloatArray, fitted: FloatArray) -> FloatArray:
    """What shapes have outside the fitted directions, of unit norm; nothing where that is rounding."""
    beyond = shapes - (shapes @ fitted.T) @ fitted
    size = np.linalg.norm(shapes, axis=2, keepdims=True)
    own = np.linalg.norm(beyond, axis=2, keepdims=True)
    return np.where(own > ROUNDING * size, beyond / np.maximum(own, TINY), 0.0)
