"""Whether it can be said how sure supports are: their probabilities take the noise for white."""

from __future__ import annotations

import numpy as np

from gmcr.noise.correlation import chance
from gmcr.validation import BoolArray, FloatArray

BY_CHANCE = 0.01  # share of samples that may leave more than noise; one in 200 does by chance
BEYOND = ", and probabilities of lists of components hold for white noise at its level alone."


def why_not_stated(residual: FloatArray, known: BoolArray) -> str:
    """Why it is not said how sure supports are, in a sentence; empty where it can be.

    residual : (samples, channels) in noise units, NaN where missing;  known : (samples,) whether it is explained
    """
    strange = int((~known).sum())
    if strange > max(1, BY_CHANCE * len(known)):
        return f"{strange:,} of {len(known):,} samples leave more than noise{BEYOND}"
    pairs = residual[:, 1:] * residual[:, :-1]
    present = ~np.isnan(pairs)
    power = float(np.nanmean(np.square(residual))) if present.any() else 0.0
    if not 0 < power < np.inf:
        return ""
    neighbours = float(pairs[present].mean()) / power
    if neighbours >= chance(int(present.sum())):
        return f"what is left over is correlated along the channels ({neighbours:.2f} between neighbours){BEYOND}"
    return ""
