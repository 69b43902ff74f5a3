"""Whether a direction beyond the first ones is what a disturbance would make of them, rather than a component.

A shift of the axis makes derivatives of profiles, scatter makes tilted profiles, a response that differs bent
ones, saturation products of profiles, and a drifting baseline something smooth of its own.
"""

from __future__ import annotations

import numpy as np

from gmcr.counting.left_over import Parts, largest_value
from gmcr.counting.ratios import TINY
from gmcr.validation import FloatArray

STRONGEST = 3  # directions whose disturbances are looked for
BASELINE = 4  # terms of its polynomial


def of_likeness(parts: Parts, most: int, seed: int) -> dict[str, FloatArray]:
    """The share of each direction, beyond those before it, that is like each disturbance.

    And by how much the strongest direction that is left beyond a count falls once all that is like a disturbance
    is taken out of it: where the count is right, what is left then is noise.

    parts : the singular value decomposition of the samples
    """
    rng = np.random.default_rng(seed)
    _, values, Vt = parts
    found = {name: np.full(most + 1, np.nan) for name in ("shift", "tilt", "bend", "saturation", "baseline")}
    fall = np.full(most + 1, np.nan)
    x = np.linspace(-1.0, 1.0, Vt.shape[1])
    for k in range(min(most + 1, len(Vt))):
        before, strongest = Vt[:k], Vt[: min(k, STRONGEST)]
        shapes = {"baseline": x ** np.arange(BASELINE)[:, None]}
        if k and len(x) > 1:
            shapes["shift"] = np.gradient(strongest, axis=1)
            shapes["tilt"] = strongest * x
            shapes["bend"] = (strongest[:, None] * x ** np.arange(2, 4)[:, None]).reshape(-1, len(x))
            i, j = np.triu_indices(len(strongest))
            shapes["saturation"] = strongest[i] * strongest[j]
        shapes = {name: shape - (shape @ before.T) @ before for name, shape in shapes.items()}
        for name, shape in shapes.items():
            found[name][k] = _share(Vt[k], shape)
        every = np.vstack(list(shapes.values()))
        if 2 * len(every) < len(x):
            Q = np.linalg.qr((every / np.linalg.norm(every, axis=1, keepdims=True).clip(TINY)).T)[0]
            beyond = Vt[k:] - (Vt[k:] @ Q) @ Q.T
            left = largest_value((values[k:, None] * beyond), rng)
            fall[k] = np.log(max(values[k], TINY) / max(left, TINY))
    like = {f"like a {name}": share[:most] for name, share in found.items()}
    return like | {"fall without the like": fall[1:]}


def _share(direction: FloatArray, shapes: FloatArray) -> float:
    """Of a unit vector's square, that within the space of some shapes."""
    factors = np.linalg.lstsq(shapes.T, direction, rcond=1e-9)[0]
    return float(np.square(factors @ shapes).sum())
