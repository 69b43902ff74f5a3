"""Anchors and how long they hold (Proposition 2): read off the gate's mean gaps, epoch by epoch.

At this scale the certified horizon T(γ) is usually zero and the deviation level r_M(α) exceeds every margin; that
is what the bounds give, and it is reported next to the length for which the support was seen to hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log, sqrt

import numpy as np
import torch
from torch import Tensor, nn

from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Anchor:
    """An epoch at which every slot's mean gap is at least γ from zero.

    margin : the smallest |mean gap|, γ itself or more
    held : epochs, from this one on, over which the signs of all mean gaps stayed as they were
    """

    epoch: int
    margin: float
    held: int


def anchors(mean_gaps: FloatArray, level: float) -> list[Anchor]:
    """Anchor events at level γ: the first epoch of every stretch of one support in which all margins clear it.

    mean_gaps : (epochs, slots), Δ̂_j; the support is where they are positive
    """
    support = mean_gaps > 0
    margin = np.abs(mean_gaps).min(axis=1)
    changed = np.flatnonzero((support[1:] != support[:-1]).any(axis=1)) + 1
    ends = [*changed.tolist(), len(mean_gaps)]
    found, start = [], 0
    for end in ends:
        clear = np.flatnonzero(margin[start:end] >= level)
        if clear.size:
            epoch = start + int(clear[0])
            found.append(Anchor(epoch, float(margin[epoch]), end - epoch))
        start = end
    return found


def lipschitz_bound(network: nn.Sequential, X: Tensor) -> float:
    """L_e: a bound on the gradient norm of any one energy with respect to the gate's parameters, at these.

    For w₃·tanh(W₂ tanh(W₁x + b₁) + b₂) + b₃ with H hidden units: ‖∂w₃‖ ≤ √H, ‖∂b₃‖ = 1, ‖∂W₂‖ ≤ ‖w₃‖√H,
    ‖∂b₂‖ ≤ ‖w₃‖, ‖∂W₁‖ ≤ ‖w₃‖‖W₂‖‖x‖, ‖∂b₁‖ ≤ ‖w₃‖‖W₂‖; the spectral norm of W₂ by its Frobenius norm.
    """
    layers = [layer for layer in network if isinstance(layer, nn.Linear)]
    with torch.no_grad():
        hidden = layers[1].weight.shape[0]
        w3 = float(layers[2].weight.norm(dim=1).max())
        w2 = float(layers[1].weight.norm())
        x = float(X.norm(dim=1).max())
    return sqrt(hidden + 1 + w3**2 * (hidden + 1) + (w3 * w2) ** 2 * (x**2 + 1))


def horizon(level: float, lipschitz: float, n_parameters: int, rate: float) -> int:
    """T(γ) = ⌊γ / (4 L_Δ G η)⌋ steps, with L_Δ = 2 L_e and G = √D for an Adam-type optimiser."""
    return floor(level / (4.0 * 2.0 * lipschitz * sqrt(n_parameters) * rate))


def deviation_level(
    energy_bound: float,
    lipschitz: float,
    radius: float,
    n_parameters: int,
    n_slots: int,
    n_samples: int,
    alpha: float = 0.05,
) -> float:
    """r_M(α), the uniform deviation of empirical gaps: U bounds the energies, the iterates stay within R."""
    cover = 3.0 + 2.0 * radius * 2.0 * lipschitz * sqrt(n_samples) / energy_bound
    spread = log(2.0 * n_slots / alpha) + n_parameters * log(cover)
    return 2.0 * energy_bound * sqrt(2.0 * spread / n_samples) + 2.0 * energy_bound / sqrt(n_samples)
