"""Checkpoints: one per band of R², the one with the fewest components in use."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor
from typing import Any

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
