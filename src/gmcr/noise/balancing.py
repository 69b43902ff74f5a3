"""Variances that are about a product of one factor per sample and one per channel: the factors."""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray

ROUNDS = 30


def balanced(variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Factors a of samples and b of channels for which variance / (a b') is one on average along each (Sinkhorn).

    A table divided by the root of a b' has noise whose variance averages to one over every sample and channel,
    which is all the Marchenko-Pastur law needs (Landa, Zhang & Kluger 2022). One round is the classical
    scaling by the root of row and column mean (Keenan & Kotula 2004).
    """
    channels = np.ones(variance.shape[1])
    for _ in range(ROUNDS):
        samples = (variance / channels).mean(axis=1)
        channels = (variance / samples[:, None]).mean(axis=0)
    return samples, channels
