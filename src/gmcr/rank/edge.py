"""The Marchenko-Pastur edge: values that white noise does not reach."""

from __future__ import annotations

from gmcr.rank.rules import RULES, Answer, Rule
from gmcr.rank.white_noise import above_noise, noise_edge
from gmcr.validation import FloatArray


def marchenko_pastur(values: FloatArray, shape: tuple[int, ...]) -> tuple[Answer, float]:
    """Values above the edge of white noise; also the noise level."""
    return above_noise(values, shape, noise_edge)


RULES.add(
    "marchenko-pastur",
    Rule("Marchenko-Pastur edge", lambda seen: marchenko_pastur(seen.values, seen.shape)[0]),
)
