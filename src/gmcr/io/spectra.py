"""Single spectra put together into one table: on one axis, interpolated only where their axes differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.io.cells import goes_one_way
from gmcr.io.formats import NOTHING, Asked
from gmcr.io.limits import check_entries
from gmcr.io.opening import FilePath
from gmcr.io.table import Table
from gmcr.validation import FloatArray

SAME = 1e-3  # positions that differ by less than this share of a step are the same channel


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One spectrum of a file."""

    values: FloatArray  # (channels,)
    axis: FloatArray | None  # (channels,) where the file tells
    name: str  # of the sample
    unit: str | None = None  # of the axis
    metadata: dict[str, Any] = field(default_factory=dict)  # what else the file says


def join(
    path: FilePath, spectra: Sequence[Spectrum], notes: Sequence[str] = (), asked: Asked = NOTHING
) -> Table:
    """One table of all spectra, on the axis of the first, over the range that all cover."""
    told = list(notes)
    for spectrum in spectra:
        _check(path, spectrum)
    units = {spectrum.unit for spectrum in spectra if spectrum.unit}
    if len(units) > 1:
        raise InputError(f"{path} has axes in {' and '.join(sorted(units))}; convert them to one unit.")
    check_entries(path, len(spectra) * max(len(spectrum.values) for spectrum in spectra), asked)
    samples, axis = _on_one_axis(path, spectra, told)
    told.append(f"{len(samples)} spectr{'um' if len(samples) == 1 else 'a'} of {samples.shape[1]} channels.")
    if axis is not None:
        told.append(f"The axis runs from {axis[0]:g} to {axis[-1]:g}.")
    names = _distinct([spectrum.name for spectrum in spectra])
    unit = units.pop() if units and axis is not None else None
    facts = _gathered([spectrum.metadata for spectrum in spectra])
    return Table(samples, axis, names, tuple(told), axis_unit=unit, metadata=facts)


def _check(path: FilePath, spectrum: Spectrum) -> None:
    if not len(spectrum.values):
        raise InputError(f"{path} holds the spectrum {spectrum.name!r:.60} without a point; leave it out.")
    if spectrum.axis is not None and not (np.isfinite(spectrum.axis).all() and goes_one_way(spectrum.axis)):
        raise InputError(
            f"{path} holds the spectrum {spectrum.name!r:.60}, whose axis goes forth and back; order its points."
        )


def _on_one_axis(
    path: FilePath, spectra: Sequence[Spectrum], told: list[str]
) -> tuple[FloatArray, FloatArray | None]:
    first = next((s.axis for s in spectra if s.axis is not None), None)
    lengths = {len(spectrum.values) for spectrum in spectra}
    bare = sum(spectrum.axis is None for spectrum in spectra)
    if bare:
        if len(lengths) > 1 or (first is not None and len(first) not in lengths):
            raise InputError(
                f"{path} holds spectra of {min(lengths)} to {max(lengths)} channels, {bare} of them without an "
                "axis; give each its axis, or all the same channels."
            )
        if bare < len(spectra):
            told.append(f"{bare} spectra have no axis and were taken to be on that of the others.")
    if first is None:
        return np.array([spectrum.values for spectrum in spectra], dtype=float), None
    target = first
    axes = [target if spectrum.axis is None else spectrum.axis for spectrum in spectra]
    turned = [not _same(axis, target) and _same(axis[::-1], target) for axis in axes]
    off = [not (_same(axis, target) or flip) for axis, flip in zip(axes, turned)]
    if any(turned):
        told.append(f"{sum(turned)} spectra run the other way and were turned round.")
    if any(off):
        low, high = max(axis.min() for axis in axes), min(axis.max() for axis in axes)
        target = target[(target >= low) & (target <= high)]
        if len(target) < 2:
            raise InputError(f"{path} holds spectra whose axes have no range in common; read them apart.")
        told.append(
            f"The axes differ: {sum(off)} of {len(spectra)} spectra were interpolated onto that of the first, "
            f"from {target[0]:g} to {target[-1]:g}, the range that all cover."
        )
    rows = []
    for spectrum, axis, flip, apart in zip(spectra, axes, turned, off):
        if apart:
            order = np.argsort(axis)
            rows.append(np.interp(target, axis[order], spectrum.values[order]))
        else:
            kept = (first >= target.min()) & (first <= target.max())
            rows.append((spectrum.values[::-1] if flip else spectrum.values)[kept])
    return np.array(rows, dtype=float), np.array(target, dtype=float)


def _same(axis: FloatArray, other: FloatArray) -> bool:
    if axis is other or len(axis) != len(other):
        return axis is other
    step = np.abs(np.diff(other)).min() if len(other) > 1 else 1.0
    return bool((np.abs(axis - other) <= SAME * step).all())


def _distinct(names: list[str]) -> tuple[str, ...]:
    """The names, numbered where one stands for several spectra."""
    often = Counter(names)
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        distinct.append(f"{name} {seen[name]}" if often[name] > 1 else name)
        seen[name] += 1
    return tuple(distinct)


def _gathered(metadata: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """By name, the value that all spectra share, else a list with one per spectrum."""
    names = list(dict.fromkeys(name for facts in metadata for name in facts))
    values = {name: [facts.get(name) for facts in metadata] for name in names}
    return {
        name: several[0] if all(v == several[0] for v in several) else several
        for name, several in values.items()
    }
