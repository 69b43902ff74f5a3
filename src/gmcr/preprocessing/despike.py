"""Spikes, such as cosmic rays leave: one or two channels far above their neighbours, in one sample alone."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter1d, median_filter
from scipy.stats import poisson

from gmcr.preprocessing.gaps import filled_along
from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import BoolArray, FloatArray, check_number, check_whole, require

MAD = 1.4826  # standard deviations of normal noise to its median absolute value
ALONE = 0.5  # of a spike's height: neighbours in its sample, or another sample's threshold, stay below
TOWERS = 5.0  # times what every other sample shows there: such a spike is alone, whatever peak it stands on
PASSES = 3
CHANCE = (
    0.01  # expected number of channels at which as many spikes meet by chance, below which they are a peak
)


class Despike(Step):
    """Find spikes and mark them as missing, or put a line in their place.

    A spike stands out of the running median of its sample, by `threshold` times the noise there, is at most
    `width` channels wide, and is alone: a narrow peak that other samples have in that channel too is no
    spike. The noise is that of the sample or, where that is more, that of the channel over all samples.

    Spikes of two samples meet in a channel now and then. They count as a peak of both where so many meet that
    lone spikes, as many as there are, would hardly ever do so by chance.

    Parameters
    ----------
    threshold : height in standard deviations of the noise
    width : most channels of a spike
    fill : "missing", which leaves the entries to nobody's guess, or "line", between the neighbours

    Attributes
    ----------
    spikes_ : (training samples, channels) bool, what was found there
    """

    kind = "despike"
    of_spectra = False  # it needs other samples to compare with

    def __init__(self, threshold: float = 8.0, width: int = 3, fill: str = "missing") -> None:
        self.threshold = threshold
        self.width = width
        self.fill = fill

    def check(self) -> None:
        require(
            check_number(self.threshold, "threshold of Despike") > 0, "threshold", "positive", self.threshold
        )
        check_whole(self.width, "width of Despike")
        require(self.fill in ("missing", "line"), "fill of Despike", "missing or line", self.fill)

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        self.spikes_ = find_spikes(filled_along(X, axis), self.threshold, self.width)

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        spikes = find_spikes(filled_along(X, axis), self.threshold, self.width) & ~np.isnan(X)
        if not spikes.any():
            return X
        without = np.where(spikes, np.nan, X)
        return without if self.fill == "missing" else np.where(spikes, filled_along(without, axis), X)

    def sentence(self) -> str:
        return f"spikes of up to {self.width} channels, above {self.threshold:g} times the noise, " + (
            "marked missing" if self.fill == "missing" else "replaced by lines"
        )

    def did(self, before: FloatArray, after: FloatArray) -> str:
        gone = (before != after) & ~np.isnan(before)
        runs = int((gone & ~np.pad(gone, ((0, 0), (1, 0)))[:, :-1]).sum())
        rows = int(gone.any(axis=1).sum())
        return f"{runs} spikes, {int(gone.sum())} entries, in {rows} of {len(gone)} samples."


def find_spikes(X: FloatArray, threshold: float, width: int) -> BoolArray:
    """Where complete samples X (samples, channels) have spikes; one that a taller one hides is found after it."""
    channels, spikes = np.arange(float(X.shape[1])), np.zeros(X.shape, dtype=bool)
    if X.shape[1] < 2 * width + 3:
        return spikes
    for _ in range(PASSES):
        new = _tallest_spikes(filled_along(np.where(spikes, np.nan, X), channels), threshold, width) & ~spikes
        if not new.any():
            break
        spikes |= new
    return spikes


def _tallest_spikes(X: FloatArray, threshold: float, width: int) -> BoolArray:
    # A median over 2 width + 1 channels does not see a spike of `width`.
    above = X - _running_median(X, width)
    own = MAD * np.median(np.abs(above), axis=1, keepdims=True)
    # Of the channel and its neighbours, over all samples: where the signal is steep or its noise loud, it is
    # more.
    of_channel = maximum_filter1d(MAD * np.median(np.abs(above), axis=0), 2 * width + 1, mode="nearest")
    limit = threshold * np.maximum(own, of_channel if len(X) > 2 else 0.0)
    found = _narrow(above, above > limit, width)
    return found & ~_shared(above, found, limit)


def _narrow(above: FloatArray, high: BoolArray, width: int) -> BoolArray:
    """Of high entries, those in runs of at most `width` channels that tower over what is beside the run."""
    out = np.zeros_like(high)
    for m in np.flatnonzero(high.any(axis=1)):
        row, at = above[m], np.flatnonzero(high[m])
        for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
            # Noise or a slope beside a spike may be high too: the run is what is of its size.
            tall = run[row[run] > ALONE * row[run].max()]
            first, last = tall[0], tall[-1]
            beside = [abs(row[place]) for place in (first - 1, last + 1) if 0 <= place < len(row)]
            if last - first < width and max(beside) <= ALONE * row[tall].max():
                out[m, first : last + 1] = True
    return out


def _running_median(X: FloatArray, width: int) -> FloatArray:
    """Over `width` channels to either side; at the ends, over the first and the last as many."""
    window = 2 * width + 1
    out = median_filter(X, size=(1, window), mode="nearest")
    out[:, :width] = np.median(X[:, :window], axis=1, keepdims=True)
    out[:, -width:] = np.median(X[:, -window:], axis=1, keepdims=True)
    return out


def _shared(above: FloatArray, found: BoolArray, limit: FloatArray) -> BoolArray:
    """Which spikes are a peak that other samples have as well, in that channel or beside it."""
    n_channels, holders = above.shape[1], np.zeros(above.shape, dtype=int)
    near = maximum_filter1d(np.where(above > ALONE * limit, above, 0.0), 3, axis=1, mode="nearest")
    for channel in np.flatnonzero(found.any(axis=0)):
        rows = np.flatnonzero(found[:, channel])
        heights = np.sort(near[:, channel])  # the spike itself is among them
        least = np.maximum(above[rows, channel] / TOWERS, np.nextafter(0.0, 1.0))
        holders[rows, channel] = len(heights) - np.searchsorted(heights, least)
    lone = int((found & (holders <= 1)).sum())
    by_chance = n_channels * poisson.sf(holders - 1, 3.0 * max(lone, 1) / n_channels)
    return found & (holders > 1) & (by_chance < CHANCE)


STEPS.add(Despike.kind, Despike)
