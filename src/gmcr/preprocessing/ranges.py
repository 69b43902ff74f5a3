"""Ranges of channels, told in units of the axis, in either order: `Crop` keeps one, `Cut` leaves one out."""

from __future__ import annotations

import numpy as np

from gmcr.errors import InputError
from gmcr.preprocessing.step import STEPS, IntArray, Step
from gmcr.validation import BoolArray, FloatArray, check_number

ROUNDING = 1e-9  # of the axis' length: an end that is a channel's position is within the range


class _Range(Step):
    """A range from one end to the other, both ends within, open where an end is None."""

    def __init__(self, low: float | None = None, high: float | None = None) -> None:
        self.low = low
        self.high = high

    def check(self) -> None:
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                check_number(getattr(self, name), f"{name} of {type(self).__name__}")

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        return X[:, self.kept(axis)]

    def did(self, before: FloatArray, after: FloatArray) -> str:
        return f"{after.shape[1]:,} of {before.shape[1]:,} channels are left."

    def _inside(self, axis: FloatArray) -> BoolArray:
        ends = [end for end in (self.low, self.high) if end is not None]
        low, high = (min(ends), max(ends)) if len(ends) == 2 else (self.low, self.high)
        slack = ROUNDING * float(np.ptp(axis))
        inside = np.ones(len(axis), dtype=bool)
        inside &= axis >= (-np.inf if low is None else low - slack)
        return inside & (axis <= (np.inf if high is None else high + slack))

    def _channels(self, mask: BoolArray, axis: FloatArray) -> IntArray:
        if not mask.any():
            raise InputError(
                f"{type(self).__name__}({self.low}, {self.high}) leaves no channel of an axis from "
                f"{axis[0]:g} to {axis[-1]:g}; tell the range in its units (without an axis, in channel numbers)."
            )
        return np.flatnonzero(mask)

    def _ends(self) -> str:
        low, high = ("the end" if end is None else f"{end:g}" for end in (self.low, self.high))
        return f"{low} to {high}"


class Crop(_Range):
    """Keep the channels of one range.

    Parameters
    ----------
    low, high : ends of the range in units of the axis, in either order, both within; None for the axis' own
        end. Samples without an axis have channel numbers, from 0

    Examples
    --------
    >>> import pandas as pd
    >>> from gmcr.preprocessing import Crop
    >>> spectra = pd.DataFrame([[1.0, 2.0, 3.0, 4.0]], columns=[1800.0, 1200.0, 800.0, 300.0])
    >>> Crop(400, 1200).fit_transform(spectra).columns.tolist()
    [1200.0, 800.0]
    """

    kind = "crop"

    def kept(self, axis: FloatArray) -> IntArray:
        return self._channels(self._inside(axis), axis)

    def sentence(self) -> str:
        return f"cropped to the range {self._ends()}"


class Cut(_Range):
    """Leave the channels of one range out.

    Parameters
    ----------
    low, high : ends of the range in units of the axis, in either order, both within
    """

    kind = "cut"

    def kept(self, axis: FloatArray) -> IntArray:
        told = self.low is not None or self.high is not None
        mask = self._inside(axis) if told else np.zeros(len(axis), dtype=bool)
        return self._channels(~mask, axis)

    def sentence(self) -> str:
        return f"the range {self._ends()} cut out"


STEPS.add(Crop.kind, Crop)
STEPS.add(Cut.kind, Cut)
