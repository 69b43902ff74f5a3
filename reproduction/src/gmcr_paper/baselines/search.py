"""The search for the count of methods that must be told it (Algorithm 3 of the paper, lines 6226-6250)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gmcr.errors import InputError
from gmcr.metrics import r_squared
from gmcr_paper.baselines.base import Baseline, check_count

# Lines 6230-6231: ratios of the true count to try, 1.20 down to 0.80, in per cent so that the floor is exact.
SEARCH_RATIOS = tuple(range(120, 75, -5))

# Success bands [low, high) of R², by samples per component and decibel. Line 6231 gives three of them; the paper
# gives none for 8N at 30 dB, where the band of 4N is the one its own method is read at (Table e1).
SUCCESS_BANDS = {
    (4, 20): (0.98, 0.985),
    (4, 30): (0.99, 0.995),
    (8, 20): (0.975, 0.98),
    (8, 30): (0.99, 0.995),
}

# Table "runtime" (lines 6517-6547): cumulative time to search up to this count, at these intervals.
SEARCH_UP_TO = 256
SEARCH_INTERVALS = (32, 16, 8, 4, 2)


@dataclass(frozen=True)
class Fit:
    """One fit of a search: the count asked for, R² about the column means, and its wall-clock time."""

    count: int
    r2: float
    seconds: float


@dataclass(frozen=True)
class CountSearch:
    """What a search found.

    Attributes
    ----------
    count : the count returned: the smallest whose R² is in the band, or else the one with the highest R²
    r2 : its R²
    hit : whether any count reached the band
    band : (low, high), the success band [low, high)
    fits : every fit, in the order tried
    """

    count: int
    r2: float
    hit: bool
    band: tuple[float, float]
    fits: tuple[Fit, ...]

    @property
    def seconds(self) -> float:
        """Cumulative wall-clock time of all fits."""
        return sum(fit.seconds for fit in self.fits)

    def table(self) -> pd.DataFrame:
        """One row per fit: count, r2, in_band, seconds, cumulative_seconds, chosen."""
        table = pd.DataFrame([vars(fit) for fit in self.fits])
        table.insert(2, "in_band", [in_band(fit.r2, self.band) for fit in self.fits])
        table["cumulative_seconds"] = table["seconds"].cumsum()
        table["chosen"] = table["count"] == self.count
        return table

    def __str__(self) -> str:
        low, high = self.band
        outcome = "in" if self.hit else "no count reaches"
        lines = [f"{self.count} components, R² {self.r2:.4f}, {outcome} the band [{low:g}, {high:g})"]
        lines += [f"{fit.count:6d}  R² {fit.r2:.4f}  {fit.seconds:8.2f} s" for fit in self.fits]
        return "\n".join(lines)


def search_count(
    D: Any,
    make: Callable[[int], Baseline],
    counts: Iterable[int],
    band: tuple[float, float],
) -> CountSearch:
    """Fit at every count and choose as Algorithm 3 does.

    Parameters
    ----------
    D : (samples, channels) samples
    make : function from a count to an unfitted estimator, such as `NMF`
    counts : the counts to try, such as `counts_near(64)`; each is tried once, largest first
    band : (low, high), the success band [low, high) of R², such as `SUCCESS_BANDS[4, 20]`

    Examples
    --------
    >>> from gmcr import make_mixtures
    >>> from gmcr_paper.baselines import NMF, counts_near, search_count
    >>> mix = make_mixtures(n_components=8, n_samples=32, snr_db=20, n_features=64, random_state=0)
    >>> search_count(mix.D, NMF, counts_near(8), band=(0.98, 0.985)).fits[0].count
    9
    """
    low, high = band
    if not low < high:
        raise InputError(f"band must be (low, high) with low < high, not {band!r}.")
    wanted = sorted({check_count(count, "counts") for count in counts}, reverse=True)
    if not wanted:
        raise InputError("counts is empty; give at least one count to try.")
    fits = tuple(timed_fit(D, make, count) for count in wanted)
    best, hit = choose(fits, band)
    return CountSearch(best.count, best.r2, hit, (low, high), fits)


def timed_fit(D: Any, make: Callable[[int], Baseline], count: int) -> Fit:
    """One fit of a search."""
    start = time.perf_counter()
    model = make(count).fit(D)
    seconds = time.perf_counter() - start
    return Fit(count, r_squared(D, model.decomposition_.reconstruct()), seconds)


def choose(fits: Sequence[Fit], band: tuple[float, float]) -> tuple[Fit, bool]:
    """The fit that Algorithm 3 returns, and whether it is in the band: the smallest count in the band; with none
    there, the highest R², the larger count of two equal ones (the first met, since counts descend)."""
    hits = [fit for fit in fits if in_band(fit.r2, band)]
    if hits:
        return min(hits, key=lambda fit: fit.count), True
    return max(fits, key=lambda fit: (fit.r2, fit.count)), False


def in_band(r2: float, band: tuple[float, float]) -> bool:
    return bool(band[0] <= r2 < band[1])


def counts_near(true_count: int, ratios: Iterable[int] = SEARCH_RATIOS) -> tuple[int, ...]:
    """The counts of Algorithm 3, ⌊s K*⌋ for ratios s in per cent, largest first, each once.

    For small K* two ratios can give the same count; the same fit twice would change nothing.
    """
    count = check_count(true_count, "true_count")
    near = {max(count * ratio // 100, 1) for ratio in ratios}
    return tuple(sorted(near, reverse=True))


def counts_up_to(largest: int = SEARCH_UP_TO, interval: int = SEARCH_INTERVALS[0]) -> tuple[int, ...]:
    """The counts of the runtime table: every multiple of the interval up to the largest, largest first."""
    largest, interval = check_count(largest, "largest"), check_count(interval, "interval")
    return tuple(range(largest - largest % interval, 0, -interval))


def search_seconds(
    fits: Iterable[Fit], intervals: Iterable[int] = SEARCH_INTERVALS, largest: int = SEARCH_UP_TO
) -> dict[int, float]:
    """Cumulative time of a search at each interval, from fits at the finest of them: the runtime table.

    The counts of a coarse interval are among those of a finer one that divides it, so one search serves all. An
    interval whose counts were not all fitted gets NaN.
    """
    seconds = {fit.count: fit.seconds for fit in fits}
    return {
        interval: float(sum(seconds.get(count, np.nan) for count in counts_up_to(largest, interval)))
        for interval in intervals
    }
