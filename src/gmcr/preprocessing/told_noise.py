"""Noise that is told for samples as they were measured, as it is after a model's steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gmcr.errors import InputError
from gmcr.noise import NoiseLaw
from gmcr.preprocessing.chain import Chain
from gmcr.validation import FloatArray, as_numbers, check_per_sample


def noise_after(chain: Chain, noise: Any, raw: FloatArray) -> Any:
    """Noise told for samples as measured, as it is after the steps: per sample or per entry, as it came.

    A law, or one number, is of no use where a step changes the noise, and is refused.
    """
    if not chain or noise is None or isinstance(noise, str):
        return noise
    if isinstance(noise, NoiseLaw) or np.ndim(noise) == 0:
        changing = next((step for step in chain.steps if not step.keeps_noise), None)
        if changing is not None:
            raise InputError(
                f"noise is told for samples as they were measured, and the step {changing.kind} changes it; give "
                "its standard deviation per sample or per entry to fit and decode, or let it be found."
            )
        return noise
    return collapsed(chain.spread(_by_entry(noise, raw), raw))


def _by_entry(noise: ArrayLike, raw: FloatArray) -> FloatArray:
    values = as_numbers(noise, "noise")
    if values.ndim == 2 and values.shape == raw.shape:
        return values
    return np.array(np.broadcast_to(check_per_sample(values, len(raw), "noise")[:, None], raw.shape))


def collapsed(sigma: FloatArray) -> FloatArray:
    """One per sample where that says it all."""
    same = np.allclose(sigma, sigma[:, :1], rtol=1e-12, atol=0.0)
    return sigma[:, 0] if same else sigma
