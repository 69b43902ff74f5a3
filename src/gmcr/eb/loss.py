"""The loss of the paper's solver (Eq. 7): fit, usage, energy, ambiguity."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gmcr.eb.networks import Pass
from gmcr.eb.settings import Settings


def total_loss(
    X: Tensor, out: Pass, usage_price: float, settings: Settings, slot_weight: float = 0.0
) -> Tensor:
    """Eq. 7: fit, usage, energy and ambiguity, each a mean over a minibatch; none is computed at weight zero.

    Usage is C(x) = (1/N) Σ_i [f_e(x)]_i; the energies are those that the gate sees, perturbed, of both states.
    The slots in use are no term of the paper's.
    """
    terms = settings.fit_weight * (X - out.fit).square().mean()
    if settings.usage_weight and usage_price:
        terms = terms + settings.usage_weight * usage_price * out.gate.mean()
    if settings.energy_weight:
        terms = terms + settings.energy_weight * out.energies.square().mean()
    if settings.ambiguity_weight:
        ambiguity = ambiguity_term(out.pool, out.gate, settings.membership, settings.kernel_width)
        terms = terms + settings.ambiguity_weight * ambiguity
    if slot_weight:
        terms = terms + slot_weight * slots_in_use(out.gate).mean()
    return terms


def slots_in_use(gating: Tensor) -> Tensor:
    """The chance that at least one sample of the minibatch selects a slot: (slots,)."""
    return 1.0 - (1.0 - gating).prod(dim=0)


def ambiguity_term(pool: Tensor, gating: Tensor, membership: float, width: float) -> Tensor:
    """R(B) (Eq. 8): the RBF kernel averaged over unordered pairs of slots in use in the minibatch.

    A slot is in use when its gate probability exceeds `membership` for at least one sample.
    """
    used = (gating > membership).any(dim=0).nonzero()[:, 0]
    return _MeanKernel.apply(pool, used, width) if len(used) > 1 else pool.new_zeros(())


class _MeanKernel(torch.autograd.Function):
    """Mean over pairs of used rows of exp(−‖a − b‖² / 2w²), with its derivative written out.

    In a run's first epochs nearly every slot is in use, and this term takes as many operations as the networks do
    for a small minibatch. One product each way, and all else in place, is half of what autograd would do.
    """

    @staticmethod
    def forward(context: Any, pool: Tensor, used: Tensor, width: float) -> Tensor:
        rows, scale = pool[used], 1.0 / width**2
        halves = rows.square().sum(dim=1).mul_(0.5 * scale)
        kernel = torch.addmm(-halves[:, None] - halves, rows, rows.T, alpha=scale).clamp_max_(0.0).exp_()
        kernel.fill_diagonal_(0.0)
        context.save_for_backward(pool, used, rows, kernel)
        context.scale = 2.0 * scale / (len(rows) * (len(rows) - 1))
        return kernel.sum() / (len(rows) * (len(rows) - 1))

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        pool, used, rows, kernel = context.saved_tensors
        towards = torch.addmm(-kernel.sum(dim=1)[:, None] * rows, kernel, rows)
        whole = torch.zeros_like(pool)
        whole[used] = towards.mul_(gradient * context.scale)
        return whole, None, None
