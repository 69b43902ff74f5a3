"""What a run keeps, per band of R² the state with the fewest components in use, and when it ends by itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import floor
from typing import Any

from gmcr.eb.settings import Settings
from gmcr.errors import InputError

EDGE = 1e-9  # so that 0.985, as written, is the lower edge of its band and not the end of the one below


@dataclass
class Checkpoint:
    """A state kept: where it stood, and the model's tensors then."""

    epoch: int
    count: int
    r2: float
    usage: int
    tensors: dict[str, Any] = field(repr=False, default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """All but the tensors."""
        return {"epoch": self.epoch, "count": self.count, "r2": self.r2, "usage": self.usage}


@dataclass
class Bands:
    """Bands of R² from `lowest` to 1, closed on the left, each with its checkpoint once it was entered."""

    lowest: float = 0.97
    width: float = 0.005
    kept: dict[int, Checkpoint] = field(default_factory=dict)

    def band_of(self, r2: float) -> int | None:
        """Number of the band that an R² falls in, or None."""
        if not self.lowest - EDGE <= r2 < 1.0:
            return None
        return floor((r2 - self.lowest) / self.width + EDGE)

    def edges(self, band: int) -> tuple[float, float]:
        low = self.lowest + band * self.width
        return round(low, 10), round(min(low + self.width, 1.0), 10)

    def wants(self, r2: float, count: int) -> bool:
        """The rule: an empty band takes any state; a full one a state with fewer components in use, or with as
        many and an R² that is not lower."""
        band = self.band_of(r2)
        if band is None or count < 1:
            return False
        kept = self.kept.get(band)
        return kept is None or count < kept.count or (count == kept.count and r2 >= kept.r2)

    def at(self, r2: float) -> Checkpoint | None:
        """What is kept in the band that an R² falls in."""
        band = self.band_of(r2)
        return None if band is None else self.kept.get(band)

    def keep(self, checkpoint: Checkpoint) -> None:
        band = self.band_of(checkpoint.r2)
        if band is not None:
            self.kept[band] = checkpoint

    def fewest(self) -> int:
        """The band with the fewest components; of several, the one with the highest R²."""
        if not self.kept:
            raise InputError("no band of R² was entered; train longer, or take the final state.")
        return min(self.kept, key=lambda band: (self.kept[band].count, -self.kept[band].r2))

    def with_edges(self, edges: tuple[float, float]) -> int:
        """The band between two values of R²."""
        low, high = edges
        for band in self.kept:
            if abs(self.edges(band)[0] - low) < EDGE and abs(self.edges(band)[1] - high) < EDGE:
                return band
        entered = ", ".join(f"[{a:g}, {b:g})" for a, b in map(self.edges, sorted(self.kept)))
        raise InputError(
            f"no checkpoint was kept in [{low:g}, {high:g}); those there are: {entered or 'none'}."
        )


@dataclass
class Termination:
    """When a run ends by itself: it reconstructs, it has oscillated, and its energy has fallen.

    entered : the first epoch with nMSE below the tolerance, t_in
    initial_energy : Ē_init, the mean of Ē over the epochs up to t_in
    oscillated : whether, at some epoch after t_in, the mean nMSE of the 100 epochs before exceeded the tolerance
    """

    settings: Settings
    epoch: int = -1
    entered: int | None = None
    oscillated: bool = False
    energy_sum: float = 0.0
    recent: deque[float] = field(init=False)

    def __post_init__(self) -> None:
        self.recent = deque(maxlen=self.settings.oscillation_window)

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
        initial = self.initial_energy
        return self.oscillated and initial is not None and mean_energy <= settings.energy_ratio * initial
