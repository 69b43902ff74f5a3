"""What every reader of data files returns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.cube import Pixels
from gmcr.io.formats import write_rows
from gmcr.validation import BoolArray, FloatArray, channel_order, check_same_axis

if TYPE_CHECKING:
    import pandas as pd

    from gmcr.preprocessing.chain import Chain

MOST_NAMES = 5  # that a note lists
BETWEEN = "\\"  # in a corner such as "sample \\ nm": what stands below it, and what beside it


def corner(below: str, unit: str | None) -> str:
    """The heading over the names and beside an axis with a unit, such as "sample \\ nm"."""
    return below if unit is None else f"{below} {BETWEEN} {unit}"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Samples read from a file.

    Attributes
    ----------
    samples : (samples, channels), NaN where an entry is missing
    axis : (channels,) position of each channel, such as wavelengths, where the file tells
    sample_names : one per sample, where the file tells
    notes : what the reader had to infer, a sentence each
    axis_unit : unit of the axis, such as "nm" or "cm⁻¹", where the file tells
    metadata : what else the file says, by name; values are texts, numbers, or lists of them, one per sample
    channels : a label per channel, where the file names channels rather than placing them on an axis; mutation
        types in one notation, whatever the file's own (A[C>A]A, AC>CA, 1:Del:C:0)
    pixels : where each sample stands in the image, if the file holds a cube
    row_label : what the names of samples are, where they follow one another by it, such as "time (min)"
    runs : the file or sheet that each sample is from, where those hold several samples each
    """

    samples: FloatArray
    axis: FloatArray | None = None
    sample_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    _: KW_ONLY
    axis_unit: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    channels: tuple[str, ...] | None = None
    pixels: Pixels | None = None
    runs: tuple[str, ...] | None = None
    row_label: str = ""

    def __post_init__(self) -> None:
        for name in ("samples", "axis"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else np.asarray(given, dtype=float))
        rows, columns = self.samples.shape if self.samples.ndim == 2 else (0, 0)
        names = rows if self.sample_names is None else len(self.sample_names)
        pixels = rows if self.pixels is None else int(self.pixels.kept.sum())
        runs = rows if self.runs is None else len(self.runs)
        positions = columns if self.axis is None else len(self.axis)
        positions = positions if self.channels is None else len(self.channels)
        if not rows == names == pixels == runs or columns != positions or self.samples.ndim != 2:
            raise InputError(
                f"samples of shape {self.samples.shape} do not go with {names} names, {pixels} pixels and "
                f"{positions} positions; a table has a row per sample and a column per channel."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How the samples are laid out: (y, x) for a cube, else (samples,)."""
        return (len(self.samples),) if self.pixels is None else self.pixels.shape

    @property
    def labels(self) -> Sequence[Any]:
        """What to write over the channels: their positions, their names, or their numbers."""
        if self.axis is not None:
            return list(self.axis)
        return self.channels or range(self.samples.shape[1])

    def ordered_as(self, channels: tuple[str, ...] | None, whose: str) -> Table:
        """The table with its channels in the order of those of `whose`, by name, where both have names.

        Channels that are not the same are refused; the notes tell what was done.
        """
        if (channels is None) != (self.channels is None):
            note = (
                f"Either {whose} or the samples do not name their channels; they were matched by their order."
            )
            return replace(self, notes=(*self.notes, note))
        order = channel_order(self.channels, channels, whose)
        if order is None:
            return self
        note = f"The channels were put in the order of {whose}, by their names."
        axis = None if self.axis is None else self.axis[order]
        moved = replace(self, samples=self.samples[:, order], axis=axis, channels=channels)
        return replace(moved, notes=(*self.notes, note))

    def without(self, names: Sequence[str]) -> Table:
        """The table with these channels, by name, among the metadata instead."""
        there = self.channels or ()
        if unknown := next((name for name in names if name not in there), None):
            told = f"channels are: {', '.join(there[:MOST_NAMES])}, …" if there else "no channel has a name"
            raise InputError(f"there is no channel {unknown!r:.40} to leave to the metadata; {told}.")
        kept = [place for place, name in enumerate(there) if name not in names]
        if not names or not kept:
            raise InputError("all channels would be left to the metadata; name those that are none.")
        moved = {name: self.samples[:, there.index(name)].tolist() for name in names}
        return replace(
            self,
            samples=self.samples[:, kept],
            axis=None if self.axis is None else self.axis[kept],
            channels=tuple(there[place] for place in kept),
            metadata=self.metadata | moved,
            notes=(*self.notes, f"No channels, as was said: {', '.join(names)}."),
        )

    def with_data(self) -> Table:
        """The table without samples that have no data at all; the notes tell which."""
        empty: BoolArray = np.asarray(np.isnan(self.samples).all(axis=1))
        if not empty.any() or empty.all() or self.pixels is not None:
            return self
        kept = np.flatnonzero(~empty)
        names = self.sample_names or tuple(f"sample {m}" for m in range(len(empty)))
        told = ", ".join(repr(names[m])[:40] for m in np.flatnonzero(empty)[:MOST_NAMES])
        more = ", …" if empty.sum() > MOST_NAMES else ""
        pick = lambda values: None if values is None else tuple(values[m] for m in kept)  # noqa: E731
        return replace(
            self,
            samples=self.samples[kept],
            sample_names=pick(self.sample_names),
            runs=pick(self.runs),
            metadata={
                name: [values[m] for m in kept] if isinstance(values, list) else values
                for name, values in self.metadata.items()
            },
            notes=(*self.notes, f"{empty.sum()} without data left out: {told}{more}."),
        )

    def after(self, chain: Chain, *, training: bool = False) -> Table:
        """The samples after a model's steps, which the notes tell of; as they are where there are none.

        training : whether they are the ones that the model was fitted to, whose replicates were averaged
        """
        if not chain:
            return self
        check_same_axis(self.axis, chain.axis, "the training samples")
        own = self.ordered_as(chain.channels, "the training samples")
        if own.samples.shape[1] != chain.n_channels:
            raise InputError(
                f"the samples have {own.samples.shape[1]} channels and the model's steps start from "
                f"{chain.n_channels}; give samples as they were measured, on the same channel axis."
            )
        averaged = training and chain.labels is not None
        return replace(
            own,
            samples=(chain.apply_to_training if training else chain.apply)(own.samples),
            axis=chain.axis_after if own.axis is not None else None,
            channels=chain.channels_after if own.channels is not None else None,
            sample_names=chain.names_after if averaged else own.sample_names,
            pixels=None if averaged else own.pixels,
            runs=None if averaged else own.runs,
            row_label="" if averaged else own.row_label,
            notes=(*own.notes, *(f"Step: {told}" for told in chain.sentences)),
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The samples, for whatever takes an array."""
        return np.array(self.samples, dtype=dtype) if copy else np.asarray(self.samples, dtype=dtype)

    def frame(self) -> pd.DataFrame:
        """The samples as a DataFrame: their names as index, positions or names of channels as columns."""
        import pandas as pd  # which reading does without

        columns = pd.Index(list(self.labels), name=self.axis_unit)
        return pd.DataFrame(self.samples, index=self.sample_names, columns=columns)

    def refold(self, values: Any) -> Any:
        """Values of the samples, (samples,) or (samples, K): as maps for a cube, else as they are."""
        return values if self.pixels is None else self.pixels.refold(values)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write samples, names and axis with its unit to a .csv or .xlsx file that `gmcr.read` reads back."""
        names = self.sample_names or [f"sample {index}" for index in range(len(self.samples))]
        rows = ([name, *row] for name, row in zip(names, self.samples))
        write_rows(path, [corner("sample", self.axis_unit), *self.labels], rows)

    def __repr__(self) -> str:
        image = "" if self.pixels is None else f" from an image of {' x '.join(map(str, self.shape))} pixels"
        unit = f" in {self.axis_unit}" if self.axis_unit else ""
        axis = "" if self.axis is None else f", axis {self.axis[0]:g} to {self.axis[-1]:g}{unit}"
        return f"<Table: {self.samples.shape[0]} samples{image} x {self.samples.shape[1]} channels{axis}>"
