"""Asking for every kind of disturbance, the surest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from gmcr.disturbances.channels import dead_channels, offset_scores
from gmcr.disturbances.clipping import clipped_entries
from gmcr.disturbances.directions import filled
from gmcr.disturbances.found import Disturbance, Disturbances
from gmcr.disturbances.jumps import jump_score
from gmcr.disturbances.left_over import held_out
from gmcr.disturbances.noise import Scales, noise_scales
from gmcr.disturbances.shapes import band_scores, best_bands, shift_scores
from gmcr.preprocessing.gaps import filled_along
from gmcr.validation import BoolArray, FloatArray, check_samples

LEVEL = 0.01  # chance of any alarm on a clean table, over all kinds
TESTS = 3  # that share it: of channels, of jumps, of single samples
FEWEST = 8  # samples or channels, below which nothing can be told from what the others span
# Times its limit, from which on a disturbance is masked: a margin for noise that is not quite as it is taken to
# be; chosen, not measured.
MASKED = 2.0
# Of how far a sample stands out by the best band of its own, that it must by a shift to be one: slopes are known
# less well than bands, and there are fewer ways to be shifted.
AS_MUCH = 0.9
OTHERS = 0.5  # of how far a sample stands out, that others may reach at the same place
WEAK = 2  # directions that do not stand out of noise, which must not explain what stands out either
ROUNDS = 3  # what stands far out hides the rest


def find_disturbances(D: ArrayLike) -> Disturbances:
    """Look for what a detector did to samples D (samples, channels), before they are unmixed.

    Hot and dead channels, clipped readings, spikes, samples that hold something that no other does, samples
    whose axis is shifted, and a jump from one sample on in the order in which they stand. Channels are taken to
    be in order along their axis. What stands out twice as far as it must to be told is to be masked, where that
    is possible; foreign samples, shifts, jumps and channels that read zero throughout are told alone.

    Examples
    --------
    >>> from gmcr import find_disturbances, make_measured
    >>> D = make_measured(3, 40, 80, random_state=0, disturbed=False).D
    >>> D[5, 17] += D.max()
    >>> print(find_disturbances(D))
    spike: sample 5, channel 17, ...
    """
    X = check_samples(D)
    clipped, dead = clipped_entries(X), dead_channels(np.nan_to_num(X))
    found = [
        Disturbance("dead channel", None, int(at), np.inf, bool(np.nan_to_num(X[:, at]).any()))
        for at in np.flatnonzero(dead)
    ]
    found += [
        Disturbance("clipped", int(at), None, np.inf, True) for at in np.flatnonzero(clipped.any(axis=1))
    ]
    looked_at, odd = clipped | dead, np.zeros(len(X), dtype=bool)
    for _ in range(ROUNDS):
        more = list(_standing_out(X, looked_at, odd)) if min(X.shape) >= FEWEST else []
        for one in more:
            if one.channel is not None:
                looked_at[slice(None) if one.sample is None else one.sample, one.channel] = True
            elif one.sample is not None and one.kind != "jump":
                odd[one.sample] = True
        found += [one for one in more if one.kind != "jump" or one.kind not in {was.kind for was in found}]
        if not any(one.kind != "jump" for one in more):
            break
    mask = clipped.copy()
    for one in found:
        if one.masked and one.channel is not None:
            mask[slice(None) if one.sample is None else one.sample, one.channel] = True
    return Disturbances(tuple(found), mask & ~np.isnan(X))


def _standing_out(X: FloatArray, mask: BoolArray, odd: BoolArray) -> Iterator[Disturbance]:
    """What stands out of the samples that are not odd already; masked entries are those of a line."""
    rows, columns = np.flatnonzero(~odd), np.flatnonzero(~mask.all(axis=0))
    if min(len(rows), len(columns)) < FEWEST:
        return
    rows = rows[np.argsort(np.nansum(X[rows], axis=1), kind="stable")]  # no matter in which order they came
    in_order = np.argsort(rows)
    hidden = (mask | np.isnan(X))[np.ix_(rows, columns)]
    part = X[np.ix_(rows, columns)]
    whole = filled(filled_along(np.where(hidden, np.nan, part), columns.astype(float)), hidden)
    scales = _noise_beside(whole, hidden)
    offsets = offset_scores(held_out(whole.T, scales.turned(), hidden.T), scales.samples)
    limit = _limit(offsets.size, len(rows))
    hot = offsets > limit
    for at in np.flatnonzero(hot):
        score = float(offsets[at])
        yield Disturbance("hot channel", None, int(columns[at]), score, score > MASKED * limit)
    if hot.any():  # which stand out of samples too; these are for the next round
        return
    after, height, n_tests = jump_score(whole[in_order], scales.of_samples(in_order), hidden[in_order])
    if height > _limit(n_tests):
        yield Disturbance("jump", int(np.sort(rows)[after]), None, height)
    parts = held_out(whole, scales, hidden)
    scores, of_shifts = band_scores(parts), shift_scores(parts, scales.channels)
    shifts = of_shifts.max(axis=0)
    heights = np.array([of_width.max(axis=1) for _, of_width in scores])  # (widths, samples)
    n_tests = sum(of_width.size for _, of_width in scores) + of_shifts.size
    weak: _Weak | None = None
    for m in range(len(rows)):
        widest = int(heights[:, m].argmax())
        score, place = float(heights[widest, m]), int(scores[widest][1][m].argmax())
        shifted = shifts[m] > max(_limit(n_tests), AS_MUCH * score)
        narrow = not shifted and scores[widest][0] < 1.0  # the noise there is told by a channel's few entries
        limit = _limit(n_tests, len(rows) if narrow else np.inf)
        if not shifted and (
            score <= limit or _reached(whole, scales, hidden, widest, place, m) > OTHERS * score
        ):
            continue
        weak = weak or _Weak.of(whole, scales, hidden)
        if shifted and weak.shifts[m] > limit:
            yield Disturbance("shifted axis", int(rows[m]), None, float(shifts[m]))
        elif not shifted and weak.heights[m] > limit:
            if narrow:
                place = int(columns[scores[0][1][m].argmax()])
                yield Disturbance("spike", int(rows[m]), place, score, score > MASKED * limit)
            else:
                yield Disturbance("foreign sample", int(rows[m]), None, score)


def _noise_beside(whole: FloatArray, hidden: BoolArray) -> Scales:
    """The noise of samples beside the band that stands out most of each: a disturbance is none."""
    scales = noise_scales(whole)
    found = best_bands(held_out(whole, scales, hidden))
    return noise_scales(whole - found * scales.samples * scales.channels)


@dataclass(frozen=True, eq=False)
class _Weak:
    """How far each sample stands out of what the others span with what is hidden in their noise, if not quite: by
    the best band and by a shift of its axis, (samples,) each. Something weak that others have too does not."""

    heights: FloatArray
    shifts: FloatArray

    @classmethod
    def of(cls, whole: FloatArray, scales: Scales, hidden: BoolArray) -> _Weak:
        parts = held_out(whole, scales, hidden, WEAK)
        heights = np.max([of_width.max(axis=1) for _, of_width in band_scores(parts)], axis=0)
        return cls(heights, shift_scores(parts, scales.channels).max(axis=0))


def _reached(whole: FloatArray, scales: Scales, hidden: BoolArray, width: int, place: int, m: int) -> float:
    """How far other samples are off at the place where sample m stands out most, held against all but this one:
    if far, then it is something weak that samples share. Zero where noise reaches as far."""
    others = np.delete(np.arange(len(whole)), m)
    parts = held_out(whole[others], scales.of_samples(others), hidden[others])
    farthest = float(np.abs(band_scores(parts, [width])[0][1][:, place]).max())
    return farthest if farthest > _limit(2 * len(others)) else 0.0


def _limit(n_tests: float, freedom: float = np.inf) -> float:
    """Standard deviations that noise does not reach anywhere in a table, but for its share of LEVEL.

    freedom : degrees of freedom that the noise was told with, if it was by a few entries
    """
    return float(t.isf(LEVEL / TESTS / n_tests, freedom))
