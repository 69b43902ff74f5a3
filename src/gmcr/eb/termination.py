"""When a run ends by itself: it reconstructs, it has oscillated, and its energy has fallen."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from gmcr.eb.settings import Settings


@dataclass
class Termination:
    """The three conditions, fed once per epoch.

    entered : the first epoch with nMSE below the tolerance, t_in
    initial_energy : Ē_init, the mean of Ē over the epochs up to t_in
    oscillated : whether, at some epoch after t_in, the mean nMSE of the 100 epochs before exceeded the tolerance
    """

    settings: Settings
    epoch: int = -1
    entered: int | None = None
    oscillated: bool = False
    energy_sum: float = 0.0
    recent: deque[float] = field(default_factory=deque)

    @property
    def initial_energy(self) -> float | None:
        return None if self.entered is None else self.energy_sum / (self.entered + 1)

    def update(self, nmse: float, mean_energy: float) -> bool:
        """Take in one epoch; whether the run ends with it."""
        settings = self.settings
        self.epoch += 1
        if self.entered is None:
            self.energy_sum += mean_energy
            if nmse < settings.entry:
                self.entered = self.epoch
        else:
            window = settings.oscillation_window
            if len(self.recent) == window and sum(self.recent) / window > settings.entry:
                self.oscillated = True
            self.recent.append(nmse)
            if len(self.recent) > window:
                self.recent.popleft()
        initial = self.initial_energy
        return self.oscillated and initial is not None and mean_energy <= settings.energy_ratio * initial
