"""EB-select: from the two energies of a slot to its selection (Eqs. 5 and 6; Appendix on gate numerics)."""

from __future__ import annotations

import torch
from torch import Tensor

from gmcr.eb.settings import Settings


def gaps(energies: Tensor) -> Tensor:
    """E_{j,0} − E_{j,1}, what rejecting a slot costs more than taking it: (..., slots).

    energies : (..., slots, 2), of not selecting and of selecting
    """
    return energies[..., 0] - energies[..., 1]


def perturbed(energies: Tensor, scale: float, random: torch.Generator) -> Tensor:
    """Energies with exploration noise (Eq. 6); training only."""
    return energies + scale * _normal(energies, random)


def probabilities(gap: Tensor, temperature: float, random: torch.Generator | None = None) -> Tensor:
    """The gate (Eq. 5): the logistic function of the gap, with the difference of two Gumbel variables added.

    That difference is a logistic variable; without `random` it is left out.
    """
    noisy = gap if random is None else gap + _logistic(gap, random)
    return torch.sigmoid(noisy / temperature)


def selected(gap: Tensor, settings: Settings) -> Tensor:
    """Hard selection: whether the gap exceeds the floor that τ_eval and τ_thres stand for.

    The same as `probabilities(gap, τ_eval) > τ_thres`, decided on the gap because a probability of 0.9999994 is
    beyond the resolution of single precision.
    """
    return gap > settings.gap_floor


def _normal(like: Tensor, random: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=random, dtype=like.dtype, device=like.device)


def _logistic(like: Tensor, random: torch.Generator) -> Tensor:
    uniform = torch.rand(like.shape, generator=random, dtype=like.dtype, device=like.device)
    tiny = torch.finfo(like.dtype).eps
    return torch.logit(uniform.clamp(tiny, 1.0 - tiny))
