"""The training loss (Eq. 7): fit, usage, energy and ambiguity, each a mean over a minibatch."""

from __future__ import annotations

import torch
from torch import Tensor

from gmcr.eb.networks import Pass
from gmcr.eb.settings import Settings


def ambiguity_term(pool: Tensor, gating: Tensor, membership: float, width: float) -> Tensor:
    """R(B) (Eq. 8): the RBF kernel averaged over unordered pairs of slots in use in the minibatch.

    A slot is in use when its gate probability exceeds `membership` for at least one sample.
    """
    used = pool[(gating > membership).any(dim=0)]
    n = len(used)
    if n < 2:
        return pool.new_zeros(())
    squares = used.square().sum(dim=1)
    distances = (squares[:, None] + squares[None, :] - 2.0 * used @ used.T).clamp_min(0.0)
    kernel = torch.exp(-distances / (2.0 * width**2))
    return (kernel.sum() - kernel.diagonal().sum()) / (n * (n - 1))


def total(X: Tensor, out: Pass, usage_price: float, settings: Settings) -> Tensor:
    """Eq. 7, every term with its weight; a term of weight zero is not computed.

    Usage is C(x) = (1/N) Σ_i [f_e(x)]_i; the energies are those that the gate sees, perturbed, of both states.
    """
    terms = settings.fit_weight * (X - out.fit).square().mean()
    if settings.usage_weight and usage_price:
        terms = terms + settings.usage_weight * usage_price * out.gate.mean()
    if settings.energy_weight:
        terms = terms + settings.energy_weight * out.energies.square().mean()
    if settings.ambiguity_weight:
        ambiguity = ambiguity_term(out.pool, out.gate, settings.membership, settings.kernel_width)
        terms = terms + settings.ambiguity_weight * ambiguity
    return terms
