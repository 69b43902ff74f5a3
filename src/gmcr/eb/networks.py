"""The three learned functions: energies f_e, concentrations f_c, and the pool of profiles f_s; and the gate.

The gate, EB-select, makes of the two energies of a slot its selection (Eqs. 5 and 6; Appendix on gate numerics).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gmcr.eb.settings import Settings


@dataclass(frozen=True)
class Inside:
    """What the layers of both networks see of some samples: all that a step backwards needs.

    energy, concentration : (samples, width) each: the samples, the two hidden layers, the outputs
    """

    energy: list[Tensor]
    concentration: list[Tensor]

    def of(self, rows: Tensor) -> Inside:
        """The same for some of the samples."""
        return Inside([value[rows] for value in self.energy], [value[rows] for value in self.concentration])


@dataclass(frozen=True)
class Pass:
    """What the gate makes of the networks' outputs.

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

    @torch.no_grad()
    def inside(self, X: Tensor) -> Inside:
        """Both networks on samples X (samples, channels), layer by layer."""
        return Inside(_layer_by_layer(self.energy, X), _layer_by_layer(self.concentration, X))

    def gated(
        self, energy: Tensor, concentration: Tensor, pool: Tensor, temperature: float, random: torch.Generator
    ) -> Pass:
        """A training pass over the networks' outputs: exploration noise on the energies, a soft, noisy gate."""
        energies = perturbed(self._energies(energy), self.settings.exploration, random)
        gap = -gaps(energies)
        return self._reconstruct(energies, gap, probabilities(gap, temperature, random), concentration, pool)

    def decided(self, energy: Tensor, concentration: Tensor, random: torch.Generator | None = None) -> Pass:
        """An evaluation pass over the networks' outputs: no exploration noise, and a hard gate.

        With `random` the gate's own noise is drawn, as the paper says its evaluation does; ours leaves it out.
        """
        energies = self._energies(energy)
        gap = -gaps(energies)
        seen = gap if random is None else gap + logistic(gap, random)
        gating = selected(seen, self.settings).to(gap.dtype)
        return self._reconstruct(energies, gap, gating, concentration, self.pool())

    def evaluate(self, X: Tensor, random: torch.Generator | None = None) -> Pass:
        """An evaluation pass over samples X."""
        inside = self.inside(X)
        return self.decided(inside.energy[-1], inside.concentration[-1], random)

    def _energies(self, outputs: Tensor) -> Tensor:
        """(samples, slots, 2): of not selecting, and of selecting; positive at the start by the offset.

        The gate sees E = offset − these; the offset cancels there.
        """
        return self.settings.energy_offset - outputs.unflatten(1, (self.n_slots, 2))

    def _reconstruct(
        self, energies: Tensor, gap: Tensor, gating: Tensor, outputs: Tensor, pool: Tensor
    ) -> Pass:
        amounts = outputs if self.signed else outputs.abs()
        return Pass(energies, gap, gating, amounts, pool, (gating * amounts) @ pool)


def _layer_by_layer(network: nn.Sequential, X: Tensor) -> list[Tensor]:
    """What each linear layer takes in, and what the last one gives out."""
    first, squash, second, _, last = network
    one = squash(first(X))
    two = squash(second(one))
    return [X, one, two, last(two)]


def _three_layers(n_in: int, n_hidden: int, n_out: int, activation: type[nn.Module]) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_in, n_hidden),
        activation(),
        nn.Linear(n_hidden, n_hidden),
        activation(),
        nn.Linear(n_hidden, n_out),
    )


# The gate


def gaps(energies: Tensor) -> Tensor:
    """E_{j,0} − E_{j,1}, what rejecting a slot costs more than taking it: (..., slots).

    energies : (..., slots, 2), of not selecting and of selecting
    """
    return energies[..., 0] - energies[..., 1]


def perturbed(energies: Tensor, scale: float, random: torch.Generator) -> Tensor:
    """Energies with exploration noise (Eq. 6); training only."""
    noise = torch.randn(energies.shape, generator=random, dtype=energies.dtype, device=energies.device)
    return energies + scale * noise


def probabilities(gap: Tensor, temperature: float, random: torch.Generator | None = None) -> Tensor:
    """The gate (Eq. 5): the logistic function of the gap, with the difference of two Gumbel variables added.

    That difference is a logistic variable; without `random` it is left out.
    """
    if random is not None:
        gap = gap + logistic(gap, random)
    return torch.sigmoid(gap / temperature)


def logistic(like: Tensor, random: torch.Generator) -> Tensor:
    """Logistic variables, as many as the tensor has."""
    uniform = torch.rand(like.shape, generator=random, dtype=like.dtype, device=like.device)
    tiny = torch.finfo(like.dtype).eps
    return torch.logit(uniform.clamp(tiny, 1.0 - tiny))


def selected(gap: Tensor, settings: Settings) -> Tensor:
    """Hard selection: whether the gap exceeds the floor that τ_eval and τ_thres stand for.

    The same as `probabilities(gap, τ_eval) > τ_thres`, decided on the gap because a probability of 0.9999994 is
    beyond the resolution of single precision.
    """
    return gap > settings.gap_floor
