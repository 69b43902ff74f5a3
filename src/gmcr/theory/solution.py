"""A solution's noise, for checks that take any decomposition."""

from __future__ import annotations

from typing import Any

from gmcr.decomposition import Decomposition
from gmcr.noise import NoiseLaw, degrees_of_freedom, estimate_noise
from gmcr.validation import FloatArray, check_per_sample


def noise_of(noise: Any, D: FloatArray, solution: Decomposition) -> tuple[FloatArray, NoiseLaw | None]:
    """(samples,) standard deviations: as given, else the solution's, else estimated; and the law if estimated."""
    fit = solution.reconstruct()
    if isinstance(noise, NoiseLaw):
        return noise.sigma(D, fit).per_sample(D), None
    given = solution.noise if noise is None else noise
    if given is not None:
        return check_per_sample(given, len(D), "noise"), None
    law = estimate_noise(D, fit, degrees_of_freedom(D, solution.concentrations, solution.components))
    return law.sigma(D, fit).per_sample(D), law
