"""The three learned functions: energies f_e, concentrations f_c, and the pool of profiles f_s."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gmcr.eb import gate
from gmcr.eb.settings import Settings


@dataclass(frozen=True)
class Pass:
    """What one pass over samples yields.

    energies : (samples, slots, 2) the selection energies, the offset in them: offset − E in the paper's sign
    gap : (samples, slots) what rejecting costs more than selecting
    gate : (samples, slots) probabilities in training, zeros and ones in evaluation
    amounts : (samples, slots) concentrations before the gate
    pool : (slots, channels) profiles S
    fit : (samples, channels) reconstruction, (gate ⊙ amounts) S
    """

    energies: Tensor
    gap: Tensor
    gate: Tensor
    amounts: Tensor
    pool: Tensor
    fit: Tensor


class Model(nn.Module):
    """f_e, f_c and f_s for a pool of `n_slots` and samples of `n_channels`."""

    def __init__(self, n_channels: int, n_slots: int, settings: Settings, signed: bool = False) -> None:
        super().__init__()
        self.n_channels, self.n_slots, self.settings, self.signed = n_channels, n_slots, settings, signed
        wide, narrow = settings.energy_width * n_slots, settings.concentration_width * n_slots
        self.energy = _three_layers(n_channels, wide, 2 * n_slots, nn.Tanh)
        self.concentration = _three_layers(n_channels, narrow, n_slots, nn.ReLU)
        self.profile = nn.Parameter(torch.empty(n_slots, n_channels))

    def initialise(self, random: torch.Generator) -> None:
        """Weights from normal distributions, biases zero, profiles from the absolute value of one."""
        for network, scale in (
            (self.energy, self.settings.energy_init),
            (self.concentration, self.settings.other_init),
        ):
            for layer in network:
                if isinstance(layer, nn.Linear):
                    nn.init.normal_(layer.weight, 0.0, scale, generator=random)
                    nn.init.zeros_(layer.bias)
        nn.init.normal_(self.profile, 0.0, self.settings.profile_init, generator=random)
        if not self.signed:
            with torch.no_grad():
                self.profile.abs_()

    def pool(self) -> Tensor:
        """The profiles, of unit norm and, unless signed, not negative: (slots, channels)."""
        profile = self.profile if self.signed else self.profile.abs()
        return torch.nn.functional.normalize(profile, dim=1)

    def energies(self, X: Tensor) -> Tensor:
        """(samples, slots, 2): of not selecting, and of selecting; positive at the start by the offset.

        The gate sees E = offset − these; the offset cancels there.
        """
        return self.settings.energy_offset - self.energy(X).unflatten(1, (self.n_slots, 2))

    def amounts(self, X: Tensor) -> Tensor:
        """Concentrations before the gate: (samples, slots)."""
        amounts = self.concentration(X)
        return amounts if self.signed else amounts.abs()

    def forward(self, X: Tensor, temperature: float, random: torch.Generator) -> Pass:
        """A training pass: exploration noise on the energies, and a soft, noisy gate."""
        energies = gate.perturbed(self.energies(X), self.settings.exploration, random)
        gap = -gate.gaps(energies)
        return self._reconstruct(X, energies, gap, gate.probabilities(gap, temperature, random))

    def evaluate(self, X: Tensor) -> Pass:
        """An evaluation pass: no noise, and a hard gate."""
        energies = self.energies(X)
        gap = -gate.gaps(energies)
        return self._reconstruct(X, energies, gap, gate.selected(gap, self.settings).to(X.dtype))

    def _reconstruct(self, X: Tensor, energies: Tensor, gap: Tensor, gating: Tensor) -> Pass:
        amounts, pool = self.amounts(X), self.pool()
        return Pass(energies, gap, gating, amounts, pool, (gating * amounts) @ pool)


def _three_layers(n_in: int, n_hidden: int, n_out: int, activation: type[nn.Module]) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_in, n_hidden),
        activation(),
        nn.Linear(n_hidden, n_hidden),
        activation(),
        nn.Linear(n_hidden, n_out),
    )
