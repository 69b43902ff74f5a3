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
    peaks_ : (channels,) the most that a training sample stands out there without being a spike, noise aside
    noise_ : (channels,) the noise there, over all training samples
    size_ : of the largest training sample; larger samples may have peaks as much larger
    """

    kind = "despike"
    learned = ("peaks_", "noise_", "size_")
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
        whole = filled_along(X, axis)
        spikes = find_spikes(whole, self.threshold, self.width)
        clean = filled_along(np.where(spikes, np.nan, whole), np.arange(float(X.shape[1])))
        above, limit, self.noise_ = _standing_out(clean, self.threshold, self.width)
        self.peaks_ = np.where(above > ALONE * limit, above, 0.0).max(axis=0)
        self.size_ = float(_sizes(clean, self.width).max())

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        whole = filled_along(X, axis)
        spikes = find_spikes(whole, self.threshold, self.width, self) & ~np.isnan(X)
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


def find_spikes(X: FloatArray, threshold: float, width: int, learned: Despike | None = None) -> BoolArray:
    """Where complete samples X (samples, channels) have spikes; one that a taller one hides is found after it.

    learned : what is no spike in training samples; without it, the samples are compared with each other
    """
    channels, spikes = np.arange(float(X.shape[1])), np.zeros(X.shape, dtype=bool)
    if X.shape[1] < 2 * width + 3:
        return spikes
    for _ in range(PASSES):
        left = filled_along(np.where(spikes, np.nan, X), channels)
        above, limit, _ = _standing_out(left, threshold, width, None if learned is None else learned.noise_)
        new = _narrow(above, above > limit, width) & ~spikes
        new &= ~(_shared(above, new, limit) if learned is None else _known(above, left, width, learned))
        if not new.any():
            break
        spikes |= new
    return spikes


def _standing_out(
    X: FloatArray, threshold: float, width: int, noise: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How far entries stand out of their sample's running median, from where on that is more than noise, and the
    noise of channels: (samples, channels) twice, and (channels,)."""
    # A median over 2 width + 1 channels does not see a spike of `width`.
    above = X - _running_median(X, width)
    own = MAD * np.median(np.abs(above), axis=1, keepdims=True)
    if noise is None and len(X) > 2:
        # Of the channel and those beside it: where the signal is steep or its noise loud, it is more.
        of_channels = MAD * np.median(np.abs(above), axis=0)
        noise = maximum_filter1d(of_channels, 2 * width + 1, mode="nearest")
    noise = np.zeros(X.shape[1]) if noise is None else noise
    return above, threshold * np.maximum(own, noise), noise


def _sizes(X: FloatArray, width: int) -> FloatArray:
    """The largest value of each sample, spikes aside: (samples, 1)."""
    return np.abs(_running_median(X, width)).max(axis=1, keepdims=True)


def _known(above: FloatArray, X: FloatArray, width: int, learned: Despike) -> BoolArray:
    """Which entries stand out no more than a peak of training samples, in that channel or beside it, would do."""
    larger = np.maximum(_sizes(X, width) / learned.size_, 1.0) if learned.size_ > 0 else 1.0
    return above <= TOWERS * larger * maximum_filter1d(learned.peaks_, 3, mode="nearest")


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
