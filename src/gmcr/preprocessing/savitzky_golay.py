"""Smoothing and derivatives by Savitzky and Golay's local polynomials."""

from __future__ import annotations

import numpy as np
from scipy.signal import savgol_coeffs, savgol_filter

from gmcr.errors import InputError
from gmcr.preprocessing.gaps import pieces, with_gaps
from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import FloatArray, check_whole


class SavitzkyGolay(Step):
    """Smooth samples, or take a derivative along the axis, by local polynomials (scipy.signal.savgol_filter).

    Stretches that a gap of the axis divides, such as one that was cut out, are filtered by themselves. A
    derivative makes data of both signs; a baseline that is a polynomial of lower order than the derivative is
    gone.

    Parameters
    ----------
    window : channels that a polynomial is fitted to, an odd number
    order : order of the polynomials
    derivative : 0 for smoothing, 1 for the first derivative, per unit of the axis, and so on
    """

    kind = "savitzky-golay"
    keeps_noise = False

    def __init__(self, window: int = 11, order: int = 2, derivative: int = 0) -> None:
        self.window = window
        self.order = order
        self.derivative = derivative

    def check(self) -> None:
        window = check_whole(self.window, "window of SavitzkyGolay", 3)
        order = check_whole(self.order, "order of SavitzkyGolay", 0)
        derivative = check_whole(self.derivative, "derivative of SavitzkyGolay", 0)
        if window % 2 == 0 or not derivative <= order < window:
            raise InputError(
                f"SavitzkyGolay needs an odd window and derivative <= order < window, not window {window}, order "
                f"{order} and derivative {derivative}."
            )

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        self._pieces(axis)

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        return with_gaps(X, axis, lambda samples: self._filtered(samples, axis))

    def spread(self, sigma: FloatArray, X: FloatArray, axis: FloatArray) -> FloatArray:
        out = np.empty_like(sigma)
        for piece in self._pieces(axis):
            # Each output is a sum of independent entries; at the ends, where weights differ, as in the
            # middle.
            weights = savgol_coeffs(self.window, self.order, self.derivative, delta=_step(axis[piece]))
            variance = np.pad(
                np.square(np.nan_to_num(sigma[:, piece])), ((0, 0), (self.window // 2,) * 2), "edge"
            )
            windows = np.lib.stride_tricks.sliding_window_view(variance, self.window, axis=1)
            out[:, piece] = np.sqrt(windows @ np.square(weights[::-1]))
        return out

    def sentence(self) -> str:
        what = "smoothed" if self.derivative == 0 else f"derivative {self.derivative} taken"
        return f"{what} by local polynomials of order {self.order} over {self.window} channels"

    def _filtered(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        out = np.empty_like(X)
        for piece in self._pieces(axis):
            out[:, piece] = savgol_filter(
                X[:, piece], self.window, self.order, self.derivative, delta=_step(axis[piece]), axis=1
            )
        return out

    def _pieces(self, axis: FloatArray) -> list[slice]:
        found = pieces(axis)
        short = next((piece for piece in found if piece.stop - piece.start < self.window), None)
        if short is not None:
            raise InputError(
                f"window of SavitzkyGolay is {self.window}, but from {axis[short.start]:g} to "
                f"{axis[short.stop - 1]:g} there are only {short.stop - short.start} channels in a row; take a "
                "smaller window, or cut that stretch out."
            )
        return found


def _step(axis: FloatArray) -> float:
    """The mean distance of channels, negative where the axis falls."""
    return float((axis[-1] - axis[0]) / (len(axis) - 1))


STEPS.add(SavitzkyGolay.kind, SavitzkyGolay)
