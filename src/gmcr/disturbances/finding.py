"""Asking for every kind of disturbance, the surest first, and what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from gmcr.disturbances.channels import dead_channels, offset_scores
from gmcr.disturbances.clipping import clipped_entries
from gmcr.disturbances.left_over import filled, held_out, in_noise_units
from gmcr.disturbances.shapes import band_scores, shift_scores
from gmcr.preprocessing.gaps import filled_along
from gmcr.validation import BoolArray, FloatArray, check_samples

LEVEL = 0.01  # chance of any alarm on a clean table, over all kinds
KINDS = 4  # that are tested by how far something stands out
FEWEST = 8  # samples or channels, below which nothing can be told from what the others span
AS_MUCH = 0.7  # of what the best band of its own would explain of a sample, that a shift must
ROUNDS = 3  # what stands far out hides the rest
WHAT_TO_DO = {
    "hot channel": "leave the channel out",
    "dead channel": "leave the channel out",
    "clipped": "leave readings at the top out",
    "spike": "leave the entry out",
    "foreign sample": "look at the sample; leave it out if it does not belong here",
    "shifted axis": "put the sample on the same axis as the others before unmixing",
}


@dataclass(frozen=True)
class Disturbance:
    """One of them: its kind, the sample and the channel (counted from 0, None for all), and how many standard
    deviations of the noise it stands out; infinite where it needs no test."""

    kind: str
    sample: int | None
    channel: int | None
    score: float

    def sentence(self) -> str:
        where = [
            f"{name} {at}"
            for name, at in (("sample", self.sample), ("channel", self.channel))
            if at is not None
        ]
        sure = "" if np.isinf(self.score) else f", {self.score:.1f} times the noise"
        return f"{self.kind}: {', '.join(where)}{sure}"


@dataclass(frozen=True, eq=False)
class Disturbances(Sequence[Disturbance]):
    """What was found, and the entries that masking leaves out: mask (samples, channels)."""

    found: tuple[Disturbance, ...]
    mask: BoolArray

    def __getitem__(self, at: Any) -> Any:
        return self.found[at]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def kept(self) -> BoolArray:
        """Which channels stay when disturbed ones are left out: (channels,)."""
        hot_or_dead = [one.channel for one in self.found if one.sample is None and one.channel is not None]
        kept = np.logical_not(self.mask.all(axis=0))
        kept[hot_or_dead] = False
        return kept

    def masked(self, D: ArrayLike) -> FloatArray:
        """The samples as they can be unmixed: NaN, which means missing, where disturbed; channels kept alone."""
        return np.where(self.mask, np.nan, check_samples(D))[:, self.kept]

    def table(self) -> pd.DataFrame:
        """One row each: kind, sample, channel, score, what to do."""
        rows = [(one.kind, one.sample, one.channel, one.score, WHAT_TO_DO[one.kind]) for one in self.found]
        return pd.DataFrame(rows, columns=["kind", "sample", "channel", "score", "what to do"])

    def in_short(self, most: int = 10) -> str:
        """The first of them, a line each, and how many more there are."""
        lines = str(self).split("\n")
        more = [f"and {len(lines) - most} more"] if len(lines) > most else []
        return "\n".join(lines[:most] + more)

    def __str__(self) -> str:
        if not self.found:
            return "No disturbance was found."
        return "\n".join(f"{one.sentence()} ({WHAT_TO_DO[one.kind]})" for one in self.found)


def find_disturbances(D: ArrayLike) -> Disturbances:
    """Look for what a detector did to samples D (samples, channels), before they are unmixed.

    Hot and dead channels, clipped readings, spikes, samples that hold something that no other does, and samples
    whose axis is shifted. Channels are taken to be in order along their axis, samples in none.

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
    found = [Disturbance("dead channel", None, int(at), np.inf) for at in np.flatnonzero(dead)]
    found += [Disturbance("clipped", int(at), None, np.inf) for at in np.flatnonzero(clipped.any(axis=1))]
    mask = clipped | dead
    odd = np.zeros(len(X), dtype=bool)
    for _ in range(ROUNDS):
        more = list(_standing_out(X, mask, odd)) if min(X.shape) >= FEWEST else []
        for one in more:
            if one.kind in ("spike", "hot channel"):
                mask[slice(None) if one.sample is None else one.sample, one.channel] = True
            else:
                odd[one.sample] = True
        found += more
        if not more:
            break
    return Disturbances(tuple(found), mask & ~np.isnan(X))


def _standing_out(X: FloatArray, mask: BoolArray, odd: BoolArray) -> Iterator[Disturbance]:
    """What stands out of the samples that are not odd already; masked entries are those of a line."""
    rows, columns = np.flatnonzero(~odd), np.flatnonzero(~mask.all(axis=0))
    if min(len(rows), len(columns)) < FEWEST:
        return
    hidden = (mask | np.isnan(X))[np.ix_(rows, columns)]
    part = X[np.ix_(rows, columns)]
    whole = filled(filled_along(np.where(hidden, np.nan, part), columns.astype(float)), hidden)
    scaled, by_sample, by_channel = in_noise_units(whole)
    offsets = offset_scores(held_out(scaled.T, hidden.T), by_sample)
    hot = offsets > _limit(offsets.size)
    for at in np.flatnonzero(hot):
        yield Disturbance("hot channel", None, int(columns[at]), float(offsets[at]))
    if hot.any():  # which stand out of samples too; these are for the next round
        return
    parts = held_out(scaled, hidden)
    scores = band_scores(parts)
    shifts = np.abs(shift_scores(parts, by_channel))
    heights = np.array([of_width.max(axis=1) for _, of_width in scores])  # (widths, samples)
    limit, limit_of_shifts = _limit(sum(of_width.size for _, of_width in scores)), _limit(shifts.size * 2)
    for m in range(len(rows)):
        widest = int(heights[:, m].argmax())
        score = float(heights[widest, m])
        if shifts[m] > max(limit_of_shifts, AS_MUCH * score):
            yield Disturbance("shifted axis", int(rows[m]), None, float(shifts[m]))
        elif score > limit and scores[widest][0] < 1.0:
            place = int(scores[0][1][m].argmax())
            yield Disturbance("spike", int(rows[m]), int(columns[place]), score)
        elif score > limit:
            yield Disturbance("foreign sample", int(rows[m]), None, score)


def _limit(n_tests: float) -> float:
    """Standard deviations that noise does not reach anywhere in a table, but for its share of LEVEL."""
    return float(norm.isf(LEVEL / KINDS / n_tests))
