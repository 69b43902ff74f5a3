"""Whether negative values in a table are noise, or belong to what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gmcr.errors import InputError
from gmcr.validation import FloatArray
from gmcr.window.dense_fit import filled, reproducibility
from gmcr.window.first_guess import guesses
from gmcr.window.remembering import remembered, storable

MATTERS = 0.005  # of the variation of the samples: cutting off less than that hides no profile
LOOKED_AT = 0.001  # of the variation: less is not worth a word
BEYOND_NOISE = 2.0  # times what noise leaves in the directions that stand above it
MOST_DIRECTIONS = 12
COMES_BACK = 0.9  # cosine between the spaces that halves of the samples span
ENOUGH_SAMPLES = 1000


@storable
@dataclass(frozen=True)
class Signs:
    """What is negative in a table.

    entries : share of the entries
    share : sum of squares without noise, over the variation of the samples about their mean
    beyond_noise : whether that is more than noise explains
    """

    entries: float = 0.0
    share: float = 0.0
    beyond_noise: bool = False

    @property
    def matter(self) -> bool:
        """Whether profiles must be allowed to be negative."""
        return self.beyond_noise and self.share > MATTERS

    def __str__(self) -> str:
        noise = "more than noise explains" if self.beyond_noise else "as noise explains"
        return f"{self.entries:.0%} of the values are negative, {noise}"


@remembered
def seen_signs(D: FloatArray) -> Signs:
    """What is negative in samples D (samples, channels), NaN where missing.

    Loud noise makes large negative values too. What counts is what is left of them once the table is cut down to
    the directions that stand above white noise or, where the noise is not white, come back from halves of the
    samples.
    """
    below = D < 0
    if not below.any():
        return Signs()
    variation = float(np.nansum(np.square(D - np.nanmean(D, axis=0)))) or float(np.nansum(np.square(D)))
    if variation == 0:  # their squares are no numbers
        return Signs()
    entries = float(below.sum() / np.count_nonzero(~np.isnan(D)))
    raw = float(np.square(D[below]).sum())
    if raw <= LOOKED_AT * variation:
        return Signs(entries, raw / variation)
    count = _directions(D)
    X = filled(D, count)
    U, values, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    smooth = (U[:, :count] * values[:count]) @ Vt[:count]
    negative = float(np.square(smooth[smooth < 0]).sum())
    # In each direction is as much noise as in the largest one left over, and negative half of the time.
    noise = 0.5 * count * float(np.square(values[count:]).max(initial=0.0))
    beyond = negative > max(LOOKED_AT * variation, BEYOND_NOISE * noise)
    return Signs(entries, negative / variation, beyond)


def refuse_negative(signs: Signs) -> None:
    """Refuse samples that cannot be explained without negative profiles."""
    if signs.matter:
        raise InputError(
            f"Negative values in data: {signs}; leave out signed=False for profiles of both signs, "
            "pass signed=True for concentrations of both signs too, or correct the baseline."
        )


def _directions(D: FloatArray) -> int:
    """How many directions of the table stand above its noise."""
    guess = guesses(D)[0]
    most = min(MOST_DIRECTIONS, len(D) // 2 - 1, D.shape[1] - 1)
    if guess.white or most < 1:
        return guess.count
    X = filled(D[:: max(1, len(D) // ENOUGH_SAMPLES)], most)
    back = reproducibility(X, most, 0, signed=True)
    return max((count for count, cosine in back.items() if cosine >= COMES_BACK), default=1)
