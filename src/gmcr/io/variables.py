"""Files of named arrays (NPZ, MAT, HDF5, NetCDF, RData): which one holds the samples, and which one the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.io.cells import Cells, goes_one_way
from gmcr.io.cube import channel_dimension, names_channels, unfold
from gmcr.io.formats import NOTHING, Asked
from gmcr.io.layout import Sheet, arrange
from gmcr.io.limits import check_entries
from gmcr.io.opening import FilePath, text_of
from gmcr.io.orientation import Orientation
from gmcr.io.table import Table
from gmcr.io.units import as_unit
from gmcr.validation import as_numbers

# Names under which a file may hold the axis, the names of samples and of channels, and a cube's mask.
AXES = (
    "axis", "wavelength", "wavelengths", "wavenumber", "wavenumbers", "raman_shift", "ramanshift", "shift",
    "shifts", "wl", "wn", "lambda", "energy", "energies", "mz", "frequency", "frequencies", "nm", "ppm",
)  # fmt: skip
NAMES = ("sample_names", "samplenames", "names", "labels", "samples", "ids", "files")
CHANNELS = ("channels", "channel_names", "features", "feature_names", "mutation_types", "mutationtype")
MASKS = ("mask", "masked")


@dataclass(frozen=True, eq=False)
class Variable:
    """An array of a file; what stands below its values is given where the file tells."""

    name: str  # as in the file; groups and structures are parted by /
    values: NDArray[Any]  # numbers of any shape, or texts
    dims: tuple[str, ...] = ()  # names of its dimensions
    unit: str | None = None
    labels: tuple[list[str] | None, list[str] | None] = (None, None)  # of a table's rows and columns
    dimension: int = -1  # of the array whose axis it is, if it is one

    @property
    def short(self) -> str:
        return last(self.name).lower()

    @property
    def is_numeric(self) -> bool:
        return self.values.dtype.kind in "fiuc"

    @property
    def is_vector(self) -> bool:
        return sum(size > 1 for size in self.values.shape) == 1


def last(name: str) -> str:
    """A name without its groups and structures."""
    return name.rsplit("/", 1)[-1]


def table_of(
    path: FilePath, variables: Sequence[Variable], asked: Asked = NOTHING, notes: Sequence[str] = ()
) -> Table:
    """The samples among a file's arrays, with axis and names where other arrays hold them."""
    chosen = chosen_among(path, variables, asked)
    shape = chosen.values.shape
    if 0 in shape:
        raise InputError(f"{path} holds {chosen.name!r} of shape {shape}, which is empty; give samples.")
    others = [variable for variable in variables if variable is not chosen]
    check_entries(path, chosen.values.size, asked)
    values = as_numbers(chosen.values, f"{path} {chosen.name!r}", copy=False)
    taken = f"{chosen.name!r} was taken" if chosen.name else "was taken"
    told = [*notes, f"The array {taken}: {' x '.join(map(str, shape))}."]
    axis = axis_for(chosen, others, told)
    if values.ndim > 2:
        return _from_cube(replace(chosen, values=values), others, axis, asked, told)
    numbers = values.reshape(-1, shape[-1])
    if len(shape) == 2 and shape[1] == 1 and shape[0] > 1 and asked.samples_in == "auto":
        asked = replace(asked, samples_in="columns")
        told.append("It is one column; it was taken for one sample.")
    if axis is None:
        left, top = chosen.labels
        left = _names_for(others, len(numbers)) if left is None else left
        top = _names_for(others, numbers.shape[1], CHANNELS) if top is None else top
        if left is None and top is None:  # samples in columns
            left, top = (
                _names_for(others, *of) for of in ((len(numbers), CHANNELS), (numbers.shape[1], NAMES))
            )
        sheet = Sheet(numbers, top=Cells.parse(top or ()), left=Cells.parse(left or ()))
        return arrange(path, sheet, asked, told)
    by_axis = asked.samples_in == "auto"
    columns = axis.dimension == 0 and values.ndim == 2 if by_axis else asked.samples_in == "columns"
    samples = np.ascontiguousarray(numbers.T if columns else numbers)
    why = f"by the length of {axis.name!r}" if by_axis else "as told"
    sure = not by_axis or bool(chosen.dims) or numbers.shape[0] != numbers.shape[1]
    told.append(Orientation(columns, why, sure).sentence(samples))
    if len(axis.values) == samples.shape[1]:
        told.append(f"The axis {axis.name!r} runs from {axis.values[0]:g} to {axis.values[-1]:g}.")
    else:
        told.append(f"The axis {axis.name!r} does not fit the channels; it was left out.")
    labels = chosen.labels[int(columns)] or _names_for(others, len(samples))
    names = None if labels is None else tuple(labels)
    return _on_axis(Table(samples, None, names, tuple(told)), axis)


def _from_cube(
    chosen: Variable, others: Sequence[Variable], axis: Variable | None, asked: Asked, told: list[str]
) -> Table:
    channel_axis, why = channel_dimension(asked.channel_axis, chosen.values.ndim, chosen.dims)
    if why != "as told" and axis is not None:
        channel_axis, why = axis.dimension, f"by the axis {axis.name!r}"
    image = chosen.values.shape[:channel_axis] + chosen.values.shape[channel_axis + 1 :]
    masks = [v.values for v in others if v.short in MASKS and v.values.shape == image]
    mask = masks[0].astype(bool) if masks and masks[0].dtype.kind in "biu" else None
    samples, pixels = unfold(chosen.values, mask, channel_axis=channel_axis)
    n_pixels = int(np.prod(image))
    told.append(
        f"It is a cube: an image of {' x '.join(map(str, image))} pixels and {samples.shape[1]} channels, which "
        f"are dimension {channel_axis}, decided {why}."
    )
    if len(samples) < n_pixels:
        told.append(f"{n_pixels - len(samples)} pixels are masked or empty and were left out.")
    return _on_axis(Table(samples, None, pixels.names, tuple(told), pixels=pixels), axis)


def _on_axis(table: Table, axis: Variable | None) -> Table:
    """The table with its axis, if that fits."""
    if axis is None or len(axis.values) != table.samples.shape[1]:
        return table
    return replace(table, axis=axis.values, axis_unit=axis.unit)


def chosen_among(path: FilePath, variables: Sequence[Variable], asked: Asked) -> Variable:
    """The array that holds the samples: as named, by what it is called, or the only one that may."""
    numeric = [variable for variable in variables if variable.is_numeric and variable.values.ndim > 0]
    held = ", ".join(variable.name for variable in variables[:20]) or "nothing"
    if asked.name is not None:
        found = [v for v in numeric if asked.name in (v.name, last(v.name))]
        if len(found) != 1:
            raise InputError(
                f"{path} holds no table of numbers named {asked.name!r}, but {held}; name one of these."
            )
        return found[0]
    tables = [v for v in numeric if v.values.ndim > 1 and v.short not in AXES + MASKS]
    for wanted in asked.called:
        # A vector must be called exactly so: x beside y is an axis, X is a table.
        named = [v for v in tables if v.short == wanted.lower() and (not v.is_vector or v.name == wanted)]
        if len(named) == 1:
            return named[0]
    wide = [variable for variable in tables if not variable.is_vector and variable.values.size > 1]
    if len(wide) == 1:
        return wide[0]
    vectors = [v for v in numeric if v.is_vector and v.short not in (*AXES, *MASKS, "x")]
    if not wide and len(vectors) == 1:
        return vectors[0]
    raise InputError(
        f"{path} holds no table named {' or '.join(asked.called[:4])}, but {held}; save the table under the name "
        f"{asked.called[0]}, or say its name."
    )


def axis_for(chosen: Variable, others: Sequence[Variable], told: list[str]) -> Variable | None:
    """The axis among the other arrays.

    A dimension's own coordinate comes first, then an array that is called an axis, of the length of any
    dimension; then the only other array that goes one way, if it has the length of the last dimension.
    """
    shape = chosen.values.shape
    vectors = {v.name: v for v in others if v.is_numeric and v.values.dtype.kind != "c" and v.is_vector}
    for dimension, name in enumerate(chosen.dims):
        own = vectors.get(name)
        if own is not None and names_channels(name) and own.values.size == shape[dimension]:
            return _as_axis(own, dimension)
    # The last dimension is looked at first: a square table has its samples in rows.
    dimensions = list(range(len(shape)))[::-1]
    called = [v for wanted in AXES for v in vectors.values() if v.short == wanted]
    for variable in called:
        for dimension in dimensions:
            if variable.values.size == shape[dimension]:
                return _as_axis(variable, dimension)
    if called:
        off = called[0]
        told.append(f"The array {off.name!r} has shape {off.values.shape} and does not fit; it was left out.")
        return None
    fitting = [v for v in vectors.values() if v.values.size == shape[-1] and goes_one_way(v.values)]
    return _as_axis(fitting[0], len(shape) - 1) if len(fitting) == 1 and not any(chosen.labels) else None


def _as_axis(variable: Variable, dimension: int) -> Variable | None:
    values = variable.values.ravel().astype(float)
    unit = as_unit(variable.unit or ("nm" if variable.short == "nm" else ""))
    return (
        Variable(variable.name, values, unit=unit, dimension=dimension) if np.isfinite(values).all() else None
    )


def _names_for(others: Sequence[Variable], count: int, wanted: Sequence[str] = NAMES) -> list[str] | None:
    fitting = [v for v in others if v.values.dtype.kind in "US" and v.values.size == count]
    called = [v for name in wanted for v in fitting if v.short == name]
    if not called:
        return None
    return [text_of(text) or "" for text in called[0].values.ravel().tolist()]
