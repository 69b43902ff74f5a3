"""Profiles beside a library that may be shifted a little along the axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.naming import scores
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Compared:
    """Profiles against spectra, (profiles, spectra): what decides, what is reported, and at which shift."""

    decisive: FloatArray
    hqi: FloatArray
    hqi_derivative: FloatArray
    cosine: FloatArray
    shift: FloatArray


@dataclass(frozen=True)
class Shifted:
    """A library on the profiles' axis, (spectra, channels) for each shift, and whether its derivative decides."""

    spectra: list[FloatArray]
    shifts: FloatArray
    derivative: bool

    @property
    def unshifted(self) -> FloatArray:
        return self.spectra[len(self.shifts) // 2]

    def decisive(self) -> FloatArray:
        """What decides, unshifted: the spectra that can be compared, or their derivatives."""
        there = self.unshifted[~np.isnan(self.unshifted).all(axis=1)]
        return scores.derivative(there) if self.derivative else there

    def compare(self, P: FloatArray) -> Compared:
        """Each pair at the shift where they are most alike; shifts that gain nothing are not made."""
        slopes = scores.derivative(P)
        best: list[FloatArray] = []
        for place in np.argsort(np.abs(self.shifts), kind="stable"):
            L = self.spectra[place]
            r, r_slope = scores.correlations(P, L), scores.correlations(slopes, scores.derivative(L))
            decisive = r_slope if self.derivative else r
            new = [decisive, r, r_slope, scores.cosines(P, L), np.full(r.shape, self.shifts[place])]
            if not best:
                best = new
                continue
            better = np.nan_to_num(decisive, nan=-1.0) > np.nan_to_num(best[0], nan=-1.0)
            best = [np.where(better, one, old) for one, old in zip(new, best)]
        return Compared(best[0], scores.hqi(best[1]), scores.hqi(best[2]), best[3], best[4])
