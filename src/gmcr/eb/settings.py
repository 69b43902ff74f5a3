"""The constants of the paper's solver (its table of constants), each by name. None is hidden in code."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from gmcr.decoding.prices import ALPHA, usage_price
from gmcr.errors import InputError
from gmcr.validation import check_share

MOST_SCALING = 4.0  # of the learning rate for a small pool
STARTS = ("random", "samples", "singular")


@dataclass(frozen=True)
class Settings:
    """All constants, with the paper's values as defaults.

    The paper says that a constant shift of both energies cancels and omits it. It cancels in the gate, but not in
    the mean energy, on which the usage weight, the energy term and the termination rule rest; the authors' runs
    have it, as 32 steps of 0.05: `energy_offset`.
    """

    # Gate (Eq. 5)
    temperature_start: float = 1.0  # τ₀
    temperature_floor: float = 0.4  # τ_min
    temperature_step: float = 0.01
    temperature_every: int = 100  # epochs per step
    temperature_eval: float = 0.01  # τ_eval
    threshold: float = 0.9999994  # τ_thres
    exploration: float = 0.1 * sqrt(32)  # s_ex
    energy_offset: float = 32 * 0.05

    # Loss (Eq. 7): weights of its terms; the usage term's is multiplied by the scheduled λ
    fit_weight: float = 1.0
    usage_weight: float = 1.0
    energy_weight: float = 1e-10  # λ_se
    ambiguity_weight: float = 1e-10  # λ_amb
    kernel_width: float = 1.0  # of the RBF kernel
    membership: float = 0.5  # gate probability from which a slot is in the ambiguity set
    usage_from: float = 0.005  # nMSE below which λ rises
    usage_smoothing: float = 0.95  # β_λ
    usage_ratio: float = 1.0  # ρ

    # Optimisation: AdamW
    learning_rate: float = 5e-4
    betas: tuple[float, float] = (0.9, 0.995)
    weight_decay: float = 1e-3
    epsilon: float = 1e-8
    batch_size: int = 64

    # Networks
    energy_width: int = 4  # hidden width of f_e, in pools
    concentration_width: int = 2  # of f_c
    energy_init: float = 0.05  # standard deviation of the weights of f_e
    other_init: float = 0.01  # of f_c
    profile_init: float = 0.1  # of the profiles

    # Checkpoints and termination
    band_width: float = 0.005
    entry: float = 0.01  # nMSE of the reconstructing regime
    oscillation_window: int = 100  # epochs
    energy_ratio: float = 0.25

    # What the paper does not have (`beyond.py`)
    slot_price: float = 0.0  # of a slot in use, in channels × σ²; the window solver's is 2.5
    start: str = "random"  # what the profiles start from

    def __post_init__(self) -> None:
        check_share(self.threshold, "threshold")
        for name in ("temperature_eval", "temperature_floor", "learning_rate", "band_width", "kernel_width"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be positive, not {getattr(self, name)}.")
        for name in ("batch_size", "temperature_every", "oscillation_window"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if self.start not in STARTS:
            raise InputError(f"start must be one of {', '.join(STARTS)}, not {self.start!r}.")

    @property
    def gap_floor(self) -> float:
        """The energy gap from which a slot is selected: τ_eval · logit(τ_thres) ≈ 0.143."""
        return self.temperature_eval * log(self.threshold / (1.0 - self.threshold))

    # What changes from epoch to epoch: the gate's temperature, and the weight λ of the usage term

    def temperature(self, epoch: int) -> float:
        """τ of an epoch, counted from 0: from τ₀ down by a step after every 100 epochs, not below τ_min."""
        steps = epoch // self.temperature_every
        return max(self.temperature_start - steps * self.temperature_step, self.temperature_floor)

    def usage_target(self, nmse: float, mse: float, mean_energy: float, n_slots: int) -> float:
        """λ_target = ρ · MSE · N / Ē once nMSE < 0.005, else zero; also zero where the energy is below zero."""
        if nmse >= self.usage_from or mean_energy <= 0:
            return 0.0
        return self.usage_ratio * mse * n_slots / mean_energy

    def window_target(
        self, nmse: float, noise: float, n_slots: int, n_channels: int, n_used: int, n_samples: int
    ) -> float:
        """The same inside the window of Theorem 1: a selection costs σ² L_α², with σ² given.

        The fit term is a mean over channels and the usage term one over the pool, so that a price λ per selection
        is a weight of λ · pool / channels.
        """
        if nmse >= self.usage_from:
            return 0.0
        return noise * usage_price(max(n_used, 1), n_samples, ALPHA) * n_slots / n_channels

    def slot_target(self, nmse: float, noise: float, n_slots: int, n_samples: int) -> float:
        """The weight of the mean over slots of whether each is in use; once the run reconstructs.

        The fit term is a mean over samples and channels, so that a price of p · channels · σ² for a slot is a
        weight of p · σ² · pool / samples.
        """
        return self.slot_price * noise * n_slots / n_samples if nmse < self.entry else 0.0

    def smoothed(self, weight: float, target: float) -> float:
        """λ ← 0.95 λ + 0.05 λ_target."""
        return self.usage_smoothing * weight + (1.0 - self.usage_smoothing) * target


def scaled_rate(pool_size: int, settings: Settings | None = None) -> float:
    """A learning rate for pools other than the paper's 1024: the smaller the pool the larger, up to four times.

    The paper's dynamics (oscillation, falling energy, slots shared by many samples) come at 5e-4 with 1024 slots.
    Small pools at that rate are said to end with one slot per sample; at sixteen times it, a pool of 64 lost its
    concentrations in the first hundred epochs (one run) and every sample got the mean.
    """
    return (settings or Settings()).learning_rate * min(max(1.0, 1024 / pool_size), MOST_SCALING)
