"""Noise that is correlated along the channels: how much less it tells than as many independent entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.validation import FloatArray

BLOCK = 4096  # samples whose spectra are computed at a time
CORRECTIONS = 3
CORRELATED = 0.05  # correlation of neighbouring residuals, beyond chance, from which noise is not white


@dataclass(frozen=True)
class Correlation:
    """Autocorrelations of the noise along the channels, at distances 1, 2, …; none for white noise."""

    along: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, residual: FloatArray, S: FloatArray | None = None, held: FloatArray | None = None
    ) -> Correlation:
        """That of residuals in noise units (samples, channels), up to the first that is not clear of zero.

        S, held : (slots, channels) profiles that were fitted, (slots,) share of samples that hold each;
            what the fit took away of the noise, as smooth as the profiles are, is allowed for
        """
        n_samples, n = residual.shape
        mean, spectrum = residual.mean(), np.zeros(n + 1)
        for first in range(
            0, n_samples, BLOCK
        ):  # spectra of a whole image would take several times its memory
            part = residual[first : first + BLOCK] - mean
            spectrum += (np.abs(np.fft.rfft(part, 2 * n)) ** 2).sum(axis=0)
        power = np.fft.irfft(spectrum / n_samples)[:n] / (n - np.arange(n))
        if not power[0] > 0:
            return cls()
        found = power[1 : max(n // 3, 1)] / power[0]
        ends = np.flatnonzero(found < chance(residual.size))
        last = int(ends[0]) if ends.size else len(found)
        seen = cls(tuple(found[:last].tolist()))
        if S is None or held is None or not seen.along:
            return seen
        S = S * np.sqrt(held / n)[:, None]
        taken = np.array([float((S[:, k:] * S[:, : n - k]).sum()) for k in range(last + 1)])
        whole = seen
        for _ in range(CORRECTIONS):
            whole_power = power[: last + 1] / power[0] + whole.inflation(S) * taken
            whole = cls(tuple((whole_power[1:] / whole_power[0]).tolist()))
        return whole

    @property
    def length(self) -> float:
        """Channels that tell as much as one independent one would of what is smooth: 1 + 2 Σ ρ."""
        return 1.0 + 2.0 * sum(self.along)

    def inflation(self, S: FloatArray) -> float:
        """By how much noise weighs more on amounts of these profiles (slots, channels) than white noise does.

        Their variance is s'Σs where white noise has σ² s's: 1 + 2 Σ ρ_k r_k with r the autocorrelation of s, in
        the mean over profiles, never below one.
        """
        norms = np.square(S).sum()
        own = [float((S[:, k:] * S[:, :-k]).sum() / norms) for k in range(1, len(self.along) + 1)]
        return max(1.0 + 2.0 * float(np.dot(self.along, own)), 1.0)

    def degrees_of_freedom(self, n: FloatArray | float) -> FloatArray | float:
        """Effective degrees of freedom of a sum of squares of n entries, (tr Σ)² / tr Σ² (Satterthwaite)."""
        lags = np.arange(1, len(self.along) + 1)
        rest = np.maximum(1.0 - lags / np.maximum(np.asarray(n, dtype=float)[..., None], 1.0), 0.0)
        return n / (1.0 + 2.0 * (rest * np.square(self.along)).sum(axis=-1))

    def sentence(self) -> str:
        """For people, behind a law's: ", correlated over 5.0 channels", or nothing."""
        return f", correlated over {self.length:.1f} channels" if self.along else ""


def chance(n_entries: int) -> float:
    """The correlation of neighbours up to which residuals pass for white noise."""
    return CORRELATED + 4.0 / float(np.sqrt(n_entries))
