"""What `feasible_bands` returns: the band of each component, and all of them as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from gmcr.text import aligned, text_html
from gmcr.theory.feasible_plane import FeasibleArea, FeasiblePair
from gmcr.validation import FloatArray

QUESTION = "Could it look different and fit as well?"


@dataclass(frozen=True, eq=False)
class Band:
    """What one component can look like.

    Attributes
    ----------
    component, name : its number and name
    share : ‖c_i s_i‖ / ‖C S‖, its share of the signal in the solution
    min, max : the least and the largest share it can have; NaN where they were not computed, max infinite where
        nothing bounds it
    profiles : (2, channels) its profile at the minimum and at the maximum, of unit norm; it can be negative by as
        much as noise allows, so that the fit is exactly the solution's
    concentrations : (2, samples) likewise
    noise : standard error of the share, all else fixed
    closed : whether there is only one such component, up to noise
    why : what closes the band or keeps it open, in words
    partners : the components it can trade signal with
    within_noise : whether it is open, and by no more than the noise of the share
    """

    component: int
    name: str
    share: float
    min: float
    max: float
    profiles: FloatArray
    concentrations: FloatArray
    noise: float
    closed: bool
    why: str
    partners: tuple[int, ...]
    within_noise: bool = False

    @property
    def alike(self) -> float:
        """Cosine between the profiles at both ends."""
        return float(np.clip(self.profiles[0] @ self.profiles[1], -1.0, 1.0))

    def to_dict(self) -> dict[str, Any]:
        plain = ("component", "name", "share", "min", "max", "alike", "noise", "closed", "why", "partners")
        arrays = {name: getattr(self, name).tolist() for name in ("profiles", "concentrations")}
        return {name: getattr(self, name) for name in plain} | arrays


@dataclass(frozen=True, eq=False, repr=False)
class Ambiguity:
    """The bands of all components; prints as a page.

    Attributes
    ----------
    bands : one per component
    planes : the feasible region of every two or three components that always may occur together
    notes : what was assumed, a sentence each
    """

    bands: tuple[Band, ...]
    planes: tuple[FeasiblePair | FeasibleArea, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether every component is unique up to noise."""
        return all(band.closed for band in self.bands)

    def table(self) -> pd.DataFrame:
        """One row per component: share of the signal, its least and largest value, cosine of the two profiles."""
        columns = ("name", "share", "min", "max", "alike", "closed", "why")
        return pd.DataFrame([{name: getattr(band, name) for name in columns} for band in self.bands])

    def to_dict(self) -> dict[str, Any]:
        return {
            "closed": self.closed,
            "bands": [band.to_dict() for band in self.bands],
            "planes": [plane.to_dict() for plane in self.planes],
            "notes": list(self.notes),
        }

    def _could(self) -> str:
        n_open = sum(not band.closed for band in self.bands)
        return (
            f"{n_open} of {len(self.bands)} components could" if n_open else "No component could, up to noise"
        )

    def _repr_html_(self) -> str:
        title = f"{QUESTION} {self._could()}."
        return text_html(title, self.table().rename(columns={"alike": "profiles alike"}), self.notes)

    def __repr__(self) -> str:
        n_open = sum(not band.closed for band in self.bands)
        return f"<Ambiguity: {len(self.bands)} components, {n_open} open>"

    def __str__(self) -> str:
        more = "" if self.closed else "; their share of the signal lies anywhere between min and max"
        rows = [["component", "share", "min", "max", "profiles", ""]]
        for band in self.bands:
            values = (band.share, band.min, band.max, band.alike)
            rows.append([band.name, *(_number(value) for value in values), band.why])
        lines = [QUESTION, "", f"{self._could()}{more}.", "", *aligned(rows, left=(0, 5))]
        lines += ["", "profiles: cosine between the component's profiles at both ends.", *self.notes]
        return "\n".join(lines)


def _number(value: float) -> str:
    return "–" if np.isnan(value) else "unbounded" if np.isinf(value) else f"{value:.4f}"
