"""The step that leaves out what a detector did, as far as it is beyond doubt and can be left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gmcr.disturbances.found import Disturbances
from gmcr.errors import InputError
from gmcr.preprocessing import STEPS, Step
from gmcr.preprocessing.step import IntArray
from gmcr.validation import FloatArray, check_number, check_whole, require

NAMED = 6  # places that a sentence names


class Undisturbed(Step):
    """Mark spikes and clipped readings as missing, and leave hot and dead channels out, wherever they come.

    `GMCR` puts it before its other steps where `find_disturbances` found something to mask. New samples lack the
    same channels, and the same readings where they come again: a training sample is the same sample later on.

    Parameters
    ----------
    channels : numbers of the channels that are left out
    places, readings : of readings that are marked as missing, their channels and what they read
    top : what a clipped detector reads, None if none is clipped
    """

    kind = "undisturbed"

    def __init__(
        self,
        channels: Sequence[int] = (),
        places: Sequence[int] = (),
        readings: Sequence[float] = (),
        top: float | None = None,
    ) -> None:
        self.channels = channels
        self.places = places
        self.readings = readings
        self.top = top

    @classmethod
    def of(cls, found: Disturbances, X: FloatArray) -> Undisturbed:
        """For what was found in samples X."""
        top = float(np.nanmax(X)) if any(one.kind == "clipped" for one in found) else None
        single = found.mask & found.kept if top is None else found.mask & found.kept & ~np.equal(X, top)
        rows, places = np.nonzero(single)
        return cls(np.flatnonzero(~found.kept).tolist(), places.tolist(), X[rows, places].tolist(), top)

    def check(self) -> None:
        for channel in (*self.channels, *self.places):
            check_whole(channel, "a channel of Undisturbed", 0)
        for reading in self.readings:
            check_number(reading, "a reading of Undisturbed")
        same = len(self.places) == len(self.readings)
        require(same, "readings of Undisturbed", f"as many as places, {len(self.places)}", self.readings)
        if self.top is not None:
            check_number(self.top, "top of Undisturbed")

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        mask = np.zeros(X.shape, dtype=bool) if self.top is None else np.equal(X, self.top)
        for place, reading in zip(self.places, self.readings):
            mask[:, place] |= X[:, place] == reading
        return np.where(mask, np.nan, X)[:, self.kept(axis)]

    def kept(self, axis: FloatArray) -> IntArray:
        if max((*self.channels, *self.places), default=-1) >= len(axis):
            raise InputError(
                f"Undisturbed names channels beyond the last of {len(axis)}; give it the same ones."
            )
        return np.setdiff1d(np.arange(len(axis)), np.array(self.channels, dtype=int))

    def sentence(self) -> str:
        return "what the detector did masked"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        kept = self.kept(before[0])
        rows, places = np.nonzero(np.isnan(after) & ~np.isnan(before[:, kept]))
        channels = [str(at) for at in self.channels]
        where = [f"sample {row} channel {kept[at]}" for row, at in zip(rows, places)]
        told = [f"Channels left out: {_some(channels)}."] if channels else []
        told += [f"{len(where)} readings marked missing: {_some(where)}."] if where else []
        return " ".join(told)


def _some(places: list[str]) -> str:
    return ", ".join([*places[:NAMED], *(["…"] if len(places) > NAMED else [])])


STEPS.add(Undisturbed.kind, Undisturbed)
