"""One optimiser step: backwards through the layers, and AdamW on each as its gradient is known.

At the paper's size the gradients of all weights are 140 MB. Made anew in every step, as autograd does, they cost
more time than the matrix products. Here one piece of memory serves all layers in turn.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gmcr.eb.networks import Inside, Model

SMALLEST = 1e-12  # norm of a profile, as torch's normalize has it


class AdamW:
    """AdamW, with the paper's constants, for the parameters of a model.

    first, second : running means of gradients and of their squares, by the parameter's name
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._weights = {name: parameter.detach() for name, parameter in model.named_parameters()}
        self.first = {name: torch.zeros_like(weights) for name, weights in self._weights.items()}
        self.second = {name: torch.zeros_like(weights) for name, weights in self._weights.items()}
        self.steps = torch.zeros((), device=model.profile.device)
        largest = max(weights.numel() for weights in self._weights.values())
        self._gradient = torch.empty(largest, device=model.profile.device, dtype=model.profile.dtype)

    @torch.no_grad()
    def step(
        self, inside: Inside, pool: Tensor, by_energy: Tensor, by_concentration: Tensor, by_pool: Tensor
    ) -> None:
        """One step, given the gradients of the loss by both networks' outputs and by the pool.

        inside : what the networks saw of the minibatch; pool : (slots, channels), as it was used
        """
        self.steps += 1
        self._backwards("energy", self._model.energy, inside.energy, by_energy)
        self._backwards("concentration", self._model.concentration, inside.concentration, by_concentration)
        self._update("profile", _through_norm(self._weights["profile"], pool, by_pool, self._model.signed))

    def _backwards(self, name: str, network: nn.Sequential, values: list[Tensor], gradient: Tensor) -> None:
        """The chain rule from the outputs down; a layer is updated once it was used."""
        for place in range(len(network) - 1, -1, -2):
            layer, value = f"{name}.{place}", values[place // 2]
            weights = self._weights[f"{layer}.weight"]
            below = gradient @ weights if place else gradient  # the samples need none
            by_weights = self._gradient[: weights.numel()].view_as(weights)
            self._update(f"{layer}.weight", torch.mm(gradient.T, value, out=by_weights))
            self._update(f"{layer}.bias", gradient.sum(dim=0))
            if place:
                gradient = below.mul_(_slope(network[place - 1], value))

    def _update(self, name: str, gradient: Tensor) -> None:
        """AdamW on one parameter, by the kernel that torch's own optimiser calls."""
        settings = self._model.settings
        torch._fused_adamw_(
            [self._weights[name]],
            [gradient],
            [self.first[name]],
            [self.second[name]],
            [],
            [self.steps],
            lr=settings.learning_rate,
            beta1=settings.betas[0],
            beta2=settings.betas[1],
            weight_decay=settings.weight_decay,
            eps=settings.epsilon,
            amsgrad=False,
            maximize=False,
        )

    # For files

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps, "first": self.first, "second": self.second}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps.copy_(state["steps"])
        for own, saved in ((self.first, state["first"]), (self.second, state["second"])):
            for name, moments in own.items():
                moments.copy_(saved[name])


def _slope(activation: nn.Module, value: Tensor) -> Tensor:
    """The derivative of an activation, from what it gave."""
    return (value > 0).to(value.dtype) if isinstance(activation, nn.ReLU) else 1.0 - value.square()


def _through_norm(profile: Tensor, pool: Tensor, gradient: Tensor, signed: bool) -> Tensor:
    """The gradient by profiles as they are stored, from that by the pool: their absolute values at unit norm."""
    along = gradient.sub_((gradient * pool).sum(dim=1, keepdim=True) * pool)
    along /= profile.norm(dim=1, keepdim=True).clamp_min_(SMALLEST)
    return along if signed else along.mul_(profile.sign())
