"""The law of supports and concentrations, as a decomposition shows it: what confidence takes as its prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.validation import FloatArray

MOST_BINS = 16  # a finer law of concentrations costs time and tells no more
LARGER = 4  # components that a sample may hold beyond the largest support that was returned


@dataclass(frozen=True)
class SupportLaw:
    """How many components a sample holds, which, and how much of each.

    edges, heights : (bins + 1,), (bins,) density of the concentrations, constant between two edges. The first
        edge is the floor: what is less than that does not count as present
    sizes : (K + 1,) probability that a sample holds 0, 1, …, K components
    odds : (slots,) of supports of one size, each is as likely as the product of its members' odds
    """

    edges: FloatArray
    heights: FloatArray
    sizes: FloatArray
    odds: FloatArray

    @property
    def log_sizes(self) -> FloatArray:
        """Log prior of a size, less the log of what all supports of that size have of odds: (K + 1,)."""
        return np.log(self.sizes) - log_symmetric(np.log(self.odds), len(self.sizes) - 1)

    def over(self, slots: NDArray[np.intp]) -> SupportLaw:
        """The same of samples that may hold these slots only."""
        if len(slots) == len(self.odds):
            return self
        sizes = self.sizes[: len(slots) + 1]
        return SupportLaw(self.edges, self.heights, sizes / sizes.sum(), self.odds[slots])

    def draw(self, n_samples: int, random: np.random.Generator) -> FloatArray:
        """Concentrations of samples that follow the law: (samples, slots), not negative."""
        log_odds, largest = np.log(self.odds), len(self.sizes) - 1
        behind = [log_symmetric(log_odds[j:], largest) for j in range(len(log_odds) + 1)]
        left = random.choice(largest + 1, n_samples, p=self.sizes)
        held = np.zeros((n_samples, len(log_odds)), dtype=bool)
        for j, log_odd in enumerate(log_odds):
            wanting = np.flatnonzero(left > 0)
            wanted = left[wanting]
            log_share = log_odd + behind[j + 1][wanted - 1] - behind[j][wanted]
            taken = wanting[np.log(random.random(wanting.size)) < log_share]
            held[taken, j] = True
            left[taken] -= 1
        widths = np.diff(self.edges)
        masses = self.heights * widths
        bins = random.choice(masses.size, int(held.sum()), p=masses / masses.sum())
        C = np.zeros(held.shape)
        C[held] = self.edges[bins] + random.random(bins.size) * widths[bins]
        return C


def log_symmetric(log_odds: FloatArray, largest: int) -> FloatArray:
    """Logs of the elementary symmetric polynomials e_0 … e_largest of the odds: (largest + 1,)."""
    logs = np.full(largest + 1, -np.inf)
    logs[0] = 0.0
    for value in log_odds:
        logs[1:] = np.logaddexp(logs[1:], logs[:-1] + value)
    return logs


def first_law(C: FloatArray, floor: float) -> SupportLaw:
    """The law that the concentrations C (samples, slots) follow if taken at face value.

    Below the smallest of them the decoder is blind: there the density goes on as it is above, down to `floor`,
    the smallest concentration whose absence the samples can show. Whether it does, the samples decide.
    """
    amounts = np.abs(C[C != 0])
    edges = _bin_edges(amounts, floor)
    counts = np.histogram(amounts, edges)[0].astype(float)
    widths = np.diff(edges)
    blind = edges[1:] <= np.min(amounts, initial=np.inf)
    seen = np.flatnonzero(~blind)[:2]
    if seen.size:
        counts[blind] = counts[seen].sum() / widths[seen].sum() * widths[blind]
    supports = C != 0
    sizes = supports.sum(axis=1)
    n_sizes = min(int(sizes.max(initial=0)) + LARGER, C.shape[1]) + 1
    return law_of_counts(
        edges, counts, np.bincount(sizes, minlength=n_sizes) * 1.0, supports.sum(axis=0) * 1.0
    )


def law_of_counts(
    edges: FloatArray, bin_counts: FloatArray, size_counts: NDArray[Any], slot_counts: NDArray[Any]
) -> SupportLaw:
    """The law from numbers of selections by bin and by slot, and of samples by size.

    One more selection and one more sample are dealt out, evenly over the concentrations and over the sizes up to
    the largest seen, halving with each one beyond: what has not been seen yet is rare, not impossible.
    """
    widths = np.diff(edges)
    shares = bin_counts + widths / widths.sum()
    size = np.arange(size_counts.size)
    largest = size[size_counts >= 0.5].max(initial=0)
    unseen = 0.5 ** np.maximum(size - largest, 0)
    sizes = size_counts + unseen / unseen.sum()
    return SupportLaw(
        edges,
        shares / shares.sum() / widths,
        sizes / sizes.sum(),
        _odds(slot_counts, float(size_counts.sum())),
    )


def _odds(slot_counts: NDArray[Any], n_samples: float) -> FloatArray:
    """Odds of the slots: their counts, drawn to the mean as far as chance alone makes counts differ."""
    mean = slot_counts.mean()
    if mean == 0:
        return np.ones(len(slot_counts))
    chance = mean * (1.0 - min(mean / n_samples, 1.0))
    spread = np.mean((slot_counts - mean) ** 2)
    trust = max(0.0, 1.0 - chance / spread) if spread > 0 else 0.0
    return np.maximum(mean + trust * (slot_counts - mean), 1.0 / len(slot_counts)) / mean


def _bin_edges(amounts: FloatArray, floor: float) -> FloatArray:
    """Edges such that bins hold equally many amounts, with three more down to the floor and one at the top."""
    if amounts.size == 0:
        return np.array([0.0, 1.0])
    n_bins = min(int(np.ceil(2.0 * amounts.size ** (1 / 3))), MOST_BINS)  # Rice's rule
    inner = np.unique(np.quantile(amounts, np.linspace(0, 1, n_bins + 1)))
    low = np.linspace(floor, inner[0], 4)[:-1] if floor < inner[0] else np.zeros(0)
    return np.concatenate([low, inner, [1.25 * inner[-1]]])
