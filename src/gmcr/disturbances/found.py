"""What was found: each with its place, how sure, and what to do; and what is left when it is masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gmcr.validation import BoolArray, FloatArray, check_samples

WHAT_TO_DO = {
    "hot channel": "leave the channel out",
    "dead channel": "leave the channel out",
    "clipped": "leave readings at the top out",
    "spike": "leave the entry out",
    "foreign sample": "look at the sample; leave it out if it does not belong here",
    "jump": "if a batch begins there, give the batches as runs or subtract a blank of each",
    "shifted axis": "put the sample on the same axis as the others before unmixing",
}


@dataclass(frozen=True)
class Disturbance:
    """One of them: its kind, the sample and the channel (counted from 0, None for all), how many standard
    deviations of the noise it stands out, infinite where it needs no test, and whether it is masked."""

    kind: str
    sample: int | None
    channel: int | None
    score: float
    masked: bool = False

    def sentence(self) -> str:
        from_on = "from sample" if self.kind == "jump" else "sample"
        named = ((from_on, self.sample), ("channel", self.channel))
        where = ", ".join(f"{name} {at}" for name, at in named if at is not None)
        where += " on" if self.kind == "jump" else ""
        sure = "" if np.isinf(self.score) else f", {self.score:.1f} times the noise"
        return f"{self.kind}: {where}{sure}"

    def advice(self) -> str:
        """The sentence, and what to do."""
        return f"{self.sentence()} ({WHAT_TO_DO[self.kind]})"


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
        gone = [
            at for one in self.found if one.masked and one.sample is None and (at := one.channel) is not None
        ]
        kept = np.logical_not(self.mask.all(axis=0))
        kept[gone] = False
        return kept

    def masked(self, D: ArrayLike) -> FloatArray:
        """The samples as they can be unmixed: NaN, which means missing, where disturbed; channels kept alone."""
        return np.where(self.mask, np.nan, check_samples(D))[:, self.kept]

    def table(self) -> pd.DataFrame:
        """One row each: kind, sample, channel, score, masked, what to do."""
        rows = [
            (one.kind, one.sample, one.channel, one.score, one.masked, WHAT_TO_DO[one.kind])
            for one in self.found
        ]
        return pd.DataFrame(rows, columns=["kind", "sample", "channel", "score", "masked", "what to do"])

    def in_short(self, most: int = 10) -> str:
        """The first of them, a line each, and how many more there are."""
        lines = str(self).split("\n")
        more = [f"and {len(lines) - most} more"] if len(lines) > most else []
        return "\n".join(lines[:most] + more)

    def __str__(self) -> str:
        if not self.found:
            return "No disturbance was found."
        return "\n".join(one.advice() for one in self.found)
