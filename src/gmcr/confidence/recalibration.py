"""From stated to honest confidence: a monotone map fitted to supports whose truth is known.

The map is that of beta calibration (Kull, Silva Filho and Flach 2017): logit p' = a log p − b log(1 − p) + c with
a, b ≥ 0: one slope for confidences near zero, one for those near one, and a shift. The identity has a = b = 1 and
c = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from gmcr.validation import BoolArray, FloatArray

TRUST = 1.0  # standard deviation about the identity that a, b and c have before anything is seen
NEAREST = 1e-9  # to zero and to one that a confidence comes


@dataclass(frozen=True)
class Recalibration:
    """Weights (a, b, c) of the map."""

    weights: tuple[float, float, float] = (1.0, 1.0, 0.0)

    def __call__(self, stated: FloatArray) -> FloatArray:
        """Honest confidences, (samples,), from stated ones."""
        return np.asarray(expit(_features(stated) @ np.array(self.weights)), dtype=np.float64)

    @classmethod
    def fit(cls, stated: FloatArray, right: BoolArray) -> Recalibration:
        """The map that makes `right` most likely, drawn to the identity where there is little to learn from."""
        features, signs = _features(stated), np.where(right, 1.0, -1.0)
        identity = np.array(cls().weights)

        def loss(weights: FloatArray) -> tuple[float, FloatArray]:
            margins = signs * (features @ weights)
            away = (weights - identity) / TRUST
            slope = -(signs * expit(-margins)) @ features + away / TRUST
            return float(np.logaddexp(0.0, -margins).sum() + 0.5 * away @ away), slope

        best = minimize(
            loss, identity, jac=True, method="L-BFGS-B", bounds=[(0, None), (0, None), (None, None)]
        )
        a, b, c = best.x
        return cls((float(a), float(b), float(c)))


def _features(stated: FloatArray) -> FloatArray:
    p = np.clip(stated, NEAREST, 1.0 - NEAREST)
    return np.stack([np.log(p), -np.log1p(-p), np.ones_like(p)], axis=1)
