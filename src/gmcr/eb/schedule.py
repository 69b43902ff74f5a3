"""What changes from epoch to epoch: the gate's temperature, and the weight λ of the usage term."""

from __future__ import annotations

from gmcr.decoding.prices import ALPHA, usage_price
from gmcr.eb.settings import Settings


def temperature(epoch: int, settings: Settings) -> float:
    """τ of an epoch, counted from 0: from τ₀ down by a step after every 100 epochs, not below τ_min."""
    steps = epoch // settings.temperature_every
    return max(settings.temperature_start - steps * settings.temperature_step, settings.temperature_floor)


def usage_target(nmse: float, mse: float, mean_energy: float, n_slots: int, settings: Settings) -> float:
    """λ_target = ρ · MSE · N / Ē once nMSE < 0.005, else zero; also zero where the energy has run below zero."""
    if nmse >= settings.usage_from or mean_energy <= 0:
        return 0.0
    return settings.usage_ratio * mse * n_slots / mean_energy


def window_target(
    nmse: float, mse: float, n_slots: int, n_channels: int, n_used: int, n_samples: int, settings: Settings
) -> float:
    """The same inside the window of Theorem 1: a selection costs σ² L_α², with σ² the present MSE.

    The fit term is a mean over channels and the usage term one over the pool, so that a price λ per selection is
    a weight of λ · pool / channels.
    """
    if nmse >= settings.usage_from:
        return 0.0
    return mse * usage_price(max(n_used, 1), n_samples, ALPHA) * n_slots / n_channels


def smoothed(weight: float, target: float, settings: Settings) -> float:
    """λ ← 0.95 λ + 0.05 λ_target."""
    return settings.usage_smoothing * weight + (1.0 - settings.usage_smoothing) * target
