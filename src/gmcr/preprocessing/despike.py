"""Spikes, such as cosmic rays leave: one or two channels far above their neighbours, in one sample alone."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter1d, median_filter
from scipy.stats import poisson

from gmcr.preprocessing.gaps import filled_along
from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import BoolArray, FloatArray, check_number, check_whole, require

MAD = 1.4826  # standard deviations of normal noise to its median absolute value
ALONE = (
    0.5  # of a spike's jump, which the steps beside it stay below; of the threshold, for other samples' lines
)
FLANK = 2  # channels beside a spike, over which a peak that is no spike still falls
PASSES = 3
CHANCE = (
    0.01  # expected number of channels at which as many spikes meet by chance, below which they are a peak
)


class Despike(Step):
    """Find spikes and mark them as missing, or put a line in their place.

    A spike stands out of the running median of its sample, by `threshold` times the noise there, is at most
    `width` channels wide between two jumps, and is alone: a line as narrow that other samples have in that
    channel too is no spike. The noise is that of the sample or, where that is more, of the channel over all.

    Spikes of two samples meet in a channel now and then. They count as a peak of both where so many meet that
    lone spikes, as many as there are, would hardly ever do so by chance.

    Parameters
    ----------
    threshold : height in standard deviations of the noise
    width : most channels of a spike
    fill : "missing", which leaves the entries to nobody's guess, or "line", between the neighbours

    Attributes
    ----------
    lines_ : (channels,) 1 where training samples have lines as narrow as a spike, which are none, else 0
    noise_ : (channels,) the noise there, over all training samples
    """

    kind = "despike"
    learned = ("lines_", "noise_")
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
        spikes, lines = find_spikes(filled_along(X, axis), self.threshold, self.width)
        self.lines_ = lines.any(axis=0).astype(float)
        clean = filled_along(np.where(spikes, np.nan, X), axis)
        self.noise_ = _standing_out(clean, self.threshold, self.width)[2]

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        whole = filled_along(X, axis)
        spikes = find_spikes(whole, self.threshold, self.width, self)[0] & ~np.isnan(X)
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


def find_spikes(
    X: FloatArray, threshold: float, width: int, learned: Despike | None = None
) -> tuple[BoolArray, BoolArray]:
    """Where complete samples X (samples, channels) have spikes, and where lines as narrow that are none.

    One that a taller one hides is found after it.

    learned : what training samples showed; without it, the samples are compared with each other
    """
    channels = np.arange(float(X.shape[1]))
    spikes, lines = (np.zeros(X.shape, dtype=bool) for _ in range(2))
    if X.shape[1] < 2 * width + 3:
        return spikes, lines
    for _ in range(PASSES):
        left = filled_along(np.where(spikes, np.nan, X), channels)
        above, limit, _ = _standing_out(left, threshold, width, None if learned is None else learned.noise_)
        found = _narrow(left, above, above > limit, width) & ~spikes
        if learned is None:
            lines |= _shared(found, _narrow(left, above, above > ALONE * limit, width))
        else:
            lines |= found & (maximum_filter1d(learned.lines_, 3, mode="nearest") > 0)
        if not (found & ~lines).any():
            break
        spikes |= found & ~lines
    return spikes, lines


def _standing_out(
    X: FloatArray, threshold: float, width: int, noise: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How far entries stand out of their sample's running median, from where on that is more than noise, and the
    noise of channels: (samples, channels) twice, and (channels,)."""
    # A median over 2 width + 1 channels does not see a spike of `width`.
    above = X - _running_median(X, width)
    # On a slope the running median is the entry itself; what bends there is noise.
    bends = np.abs(np.diff(X, n=2, axis=1))
    own = MAD * np.median(np.abs(above), axis=1, keepdims=True)
    own = np.maximum(own, MAD * np.median(bends, axis=1, keepdims=True) / np.sqrt(6.0))
    if noise is None and len(X) > 2:
        # Where the signal is steep, or its noise loud, it is more.
        noise = MAD * np.median(np.abs(above), axis=0)
    noise = np.zeros(X.shape[1]) if noise is None else noise
    return above, threshold * np.maximum(own, noise), noise


def _narrow(X: FloatArray, above: FloatArray, high: BoolArray, width: int) -> BoolArray:
    """Of high entries, those in runs of at most `width` channels that end in a jump, not in a flank."""
    out = np.zeros_like(high)
    for m in np.flatnonzero(high.any(axis=1)):
        row, at = above[m], np.flatnonzero(high[m])
        steps = np.abs(np.diff(X[m]))
        for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
            # Noise or a slope beside a spike may be high too: the run is what is of its size.
            tall = run[row[run] > ALONE * row[run].max()]
            first, last = int(tall[0]), int(tall[-1])
            if last - first >= width:
                continue
            jumps = [steps[edge] for edge in (first - 1, last) if 0 <= edge < len(steps)]
            beside = steps[max(first - 1 - FLANK, 0) : max(first - 1, 0)], steps[last + 1 : last + 1 + FLANK]
            # Of either side, since another spike may be close on one.
            flank = min(part.max() for part in beside if part.size)
            out[m, first : last + 1] = flank <= ALONE * min(jumps)
    return out


def _running_median(X: FloatArray, width: int) -> FloatArray:
    """Over `width` channels to either side; at the ends, over the first and the last as many."""
    window = 2 * width + 1
    out = median_filter(X, size=(1, window), mode="nearest")
    out[:, :width] = np.median(X[:, :window], axis=1, keepdims=True)
    out[:, -width:] = np.median(X[:, -window:], axis=1, keepdims=True)
    return out


def _shared(found: BoolArray, lines: BoolArray) -> BoolArray:
    """Which of those found are lines of several samples, in one channel or beside each other.

    lines : where samples have lines as narrow, less high ones as well
    """
    n_channels = found.shape[1]
    holders = np.where(found, maximum_filter1d(found | lines, 3, axis=1, mode="nearest").sum(axis=0), 0)
    lone = int((holders == 1).sum())
    by_chance = n_channels * poisson.sf(holders - 1, 3.0 * max(lone, 1) / n_channels)
    return (holders > 1) & (by_chance < CHANCE)


STEPS.add(Despike.kind, Despike)
