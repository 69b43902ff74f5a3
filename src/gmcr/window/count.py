"""The count, and what speaks for it.

Where what is left over is white noise, the cost decides: it is a likelihood, and it was measured against the
truth. Measured data often leave more than noise (scatter, drift, digitisation); then every further slot pays for
itself, no cost can be trusted, and the profiles that come back when the samples are split in halves decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gmcr.rank import noise_edge
from gmcr.validation import FloatArray
from gmcr.window.start import Guess

COMES_BACK = 0.98  # cosine from which a profile of one half counts as the same as one of the other
CORRELATED = 0.05  # correlation of neighbouring residuals, beyond chance, from which noise is not white


@dataclass(frozen=True)
class Evidence:
    """How many components, and how firm that is.

    Attributes
    ----------
    count : the count chosen
    low, high : range that the different kinds of evidence leave
    decided_by : "cost", "reproducibility", "rank" or "you"
    by_cost : count with the lowest cost
    by_rank : count of singular values above the edge of white noise
    by_reproducibility : largest count whose profiles come back from halves of the samples
    white : whether what is left over looks like white noise
    reproducibility : per count, the smallest cosine between matched profiles of two halves
    """

    count: int
    low: int
    high: int
    decided_by: str
    by_cost: int
    by_rank: int
    by_reproducibility: int | None
    white: bool
    reproducibility: dict[int, float] = field(default_factory=dict)

    @property
    def firm(self) -> bool:
        """Whether all the evidence agrees."""
        return self.low == self.high

    def __str__(self) -> str:
        reasons = {
            "cost": "what is left over is white noise, so the cost decides",
            "reproducibility": "what is left over is not white noise, so the profiles that come back from "
            "halves of the samples decide",
            "rank": "no count above one comes back from halves of the samples, so the singular values decide",
            "you": "as asked for",
        }
        spread = "all evidence agrees" if self.firm else f"the evidence leaves {self.low} to {self.high}"
        lines = [
            f"{self.count} component{'s' if self.count != 1 else ''}: {reasons[self.decided_by]}; {spread}.",
            f"  lowest cost                     {self.by_cost}",
            f"  singular values above noise     {self.by_rank}",
        ]
        if self.by_reproducibility is not None:
            shown = ", ".join(f"{count}: {value:.3f}" for count, value in self.reproducibility.items())
            lines.append(f"  profiles come back from halves  {self.by_reproducibility}   ({shown})")
        return "\n".join(lines)


def comes_back(reproducibility: dict[int, float]) -> int | None:
    """The largest count whose profiles come back."""
    good = [count for count, value in reproducibility.items() if value >= COMES_BACK]
    return max(good, default=None)


def is_white(residual: FloatArray) -> bool:
    """Whether a table of residuals in noise units looks like white noise: (samples, channels).

    No direction may stand out from the Marchenko–Pastur edge, and neighbouring channels may not be correlated.
    """
    n_samples, n_channels = residual.shape
    small = residual if n_samples >= n_channels else residual.T
    top = np.sqrt(np.linalg.eigvalsh(small.T @ small)[-1])
    if top > noise_edge(max(residual.shape), min(residual.shape)):
        return False
    power = float((residual**2).mean())
    neighbours = float((residual[:, 1:] * residual[:, :-1]).mean()) / power if n_channels > 1 else 0.0
    return neighbours < CORRELATED + 4.0 / np.sqrt(residual.size)


def decide(
    by_cost: int,
    guess: Guess,
    white: bool,
    available: list[int],
    reproducibility: dict[int, float],
    asked: int | None = None,
) -> Evidence:
    """Choose the count from what is known, among the counts that have been fitted."""
    back = comes_back(reproducibility)
    if asked is not None:
        count, by = asked, "you"
    elif white or not reproducibility:
        count, by = by_cost, "cost"
    elif back is not None and back > 1:
        count, by = back, "reproducibility"
    else:
        count, by = guess.count if guess.white else guess.drop, "rank"
    count = min(available, key=lambda other: (abs(other - count), other))
    votes = [count, by_cost, *([back] if back is not None and back > 1 else [])]
    votes += [guess.count] if white and guess.white else []
    votes = [count] if by == "reproducibility" and back == count else votes
    return Evidence(
        count, min(votes), max(votes), by, by_cost, guess.count, back, white, dict(reproducibility)
    )
