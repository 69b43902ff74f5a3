"""What an instrument shows without a sample, subtracted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gmcr.errors import InputError
from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import FloatArray, as_numbers, check_complete


class SubtractBlank(Step):
    """Subtract a blank from every sample.

    Parameters
    ----------
    blank : (channels,) the blank on the channels of the samples, several measurements of it (blanks,
        channels), whose mean is taken, or one number
    """

    kind = "blank"
    learned = ("blank_",)
    of_spectra = False  # it was in the samples, not in a library's spectra

    def __init__(self, blank: ArrayLike) -> None:
        self.blank = blank

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        blank = as_numbers(self.blank, "blank")
        check_complete(blank, "blank", "give a blank that is complete")
        blank = blank.mean(axis=0) if blank.ndim == 2 and len(blank) else blank
        if blank.shape not in ((), X.shape[1:]):
            raise InputError(
                f"blank has shape {blank.shape} and the samples have {X.shape[1]} channels at this step; give it "
                "on the same channels."
            )
        self.blank_ = np.array(np.broadcast_to(blank, X.shape[1:]))

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        return X - self.blank_

    def sentence(self) -> str:
        return "a blank subtracted"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        return (
            f"It is {self.blank_.min():.3g} to {self.blank_.max():.3g}, {self.blank_.mean():.3g} in the mean."
        )


STEPS.add(SubtractBlank.kind, SubtractBlank)
