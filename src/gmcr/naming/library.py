"""A spectral library: named spectra, each on the axis it was measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.errors import FileError, GMCRError, InputError
from gmcr.io.opening import FilePath
from gmcr.io.reading import MODEL, read_pool, read_table
from gmcr.preprocessing import Chain
from gmcr.validation import FloatArray, channel_order, check_axis, check_samples

SAME_AXIS = 1e-6  # of the axis' length: positions that differ by less are the same
LISTED = 8  # names in a message


@dataclass(frozen=True, eq=False)
class Block:
    """Spectra that share an axis: (spectra, channels), NaN where missing; the axis rises, where there is one."""

    spectra: FloatArray
    axis: FloatArray | None


@dataclass(frozen=True, eq=False, repr=False)
class Library:
    """Named spectra, on one axis or on several.

    Attributes
    ----------
    names : one per spectrum, in the order of the blocks
    blocks : the spectra, those of one axis together
    notes : what had to be inferred or left out, a sentence each
    channels : the names of the channels, where they have names instead of positions, the same for all spectra

    Examples
    --------
    >>> from gmcr.naming import Library
    >>> Library.of([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], ["a", "b"], axis=[400, 410, 420])
    <Library: 2 spectra>
    """

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    channels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, spectra: Any, names: Sequence[str] | None = None, axis: Any = None) -> Library:
        """A library from a table (spectra, channels), with names and the channels' positions."""
        table = check_samples(spectra, "library")
        named = tuple(str(name) for name in (names if names is not None else range(len(table))))
        if len(named) != len(table):
            raise InputError(f"the library has {len(table)} spectra and {len(named)} names; give one each.")
        return cls(named, (_block(table, axis),))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Library: {len(self)} spectra>"

    @property
    def has_axis(self) -> bool:
        """Whether every spectrum comes with the positions of its channels."""
        return all(block.axis is not None for block in self.blocks)

    def ordered_as(self, channels: tuple[str, ...] | None, whose: str) -> Library:
        """The library with its channels in the order of those of `whose`, by name, where both have names."""
        order = channel_order(self.channels, channels, whose)
        if order is None:
            return self
        blocks = tuple(Block(block.spectra[:, order], None) for block in self.blocks)
        return replace(self, blocks=blocks, channels=channels)

    def by_channel(self, n_channels: int) -> Library:
        """The same spectra with the number of the channel as their axis; they must have as many."""
        for block in self.blocks:
            if block.spectra.shape[1] != n_channels:
                raise InputError(
                    f"the library has {block.spectra.shape[1]} channels where {n_channels} are needed; give both "
                    "sides an axis, so that the spectra can be put on it."
                )
        channels = np.arange(float(n_channels))
        return replace(self, blocks=tuple(Block(block.spectra, channels) for block in self.blocks))

    def on_axis(self, axis: FloatArray) -> FloatArray:
        """All spectra at the positions `axis`, in any order: (spectra, len(axis)).

        Interpolated linearly where a spectrum has other positions, NaN outside of its range.
        """
        return np.vstack([_interpolated(block, axis) for block in self.blocks])

    def step(self, axis: FloatArray) -> float:
        """The typical distance between two channels, of `axis` or in the library, whichever is the wider."""
        axes = [np.sort(axis), *(block.axis for block in self.blocks if block.axis is not None)]
        return max(float(np.median(np.diff(one))) if len(one) > 1 else 1.0 for one in axes)

    def differs(self, axis: FloatArray) -> bool:
        """Whether any spectrum has to be interpolated to stand on `axis`."""
        return any(block.axis is not None and _differ(block.axis, axis) for block in self.blocks)

    def after(self, chain: Chain) -> Library:
        """The spectra after the steps of a model, on the axis that its profiles have.

        What belongs to samples alone (a blank, spikes, replicates) is not done to spectra.
        """
        if not chain:
            return self
        shelf = self.ordered_as(chain.channels, "the training samples")
        with_axis = chain.axis is not None and shelf.has_axis
        blocks = []
        for block in shelf.blocks:
            if not with_axis and block.spectra.shape[1] != chain.n_channels:
                raise InputError(
                    f"the library has {block.spectra.shape[1]} channels and the samples had {chain.n_channels}; "
                    "give both the same ones, or an axis."
                )
            spectra = (
                _interpolated(block, chain.axis) if with_axis and chain.axis is not None else block.spectra
            )
            there = ~np.isnan(spectra).all(axis=1)
            after = np.full((len(spectra), len(chain.kept)), np.nan)
            after[there] = chain.apply_to_spectra(spectra[there])
            blocks.append(_block(after, chain.axis_after if with_axis else None))
        done = " ".join(f"{step.sentence()};" for step in chain.steps if step.of_spectra).rstrip(";")
        note = f"The library was put through the same steps: {done or 'none that goes for a spectrum'}."
        return replace(shelf, blocks=tuple(blocks), notes=(*shelf.notes, note), channels=chain.channels_after)

    def pick(self, names: Sequence[str]) -> Library:
        """The spectra of these names, in this order."""
        places = []
        for name in names:
            found = [place for place, own in enumerate(self.names) if own == name]
            found = found or [p for p, own in enumerate(self.names) if own.casefold() == name.casefold()]
            if len(found) != 1:
                there = ", ".join(self.names[:LISTED]) + (", …" if len(self) > LISTED else "")
                raise InputError(
                    f"the library has {len(found) or 'no'} spectra named {name!r}; "
                    + ("make their names differ." if found else f"it holds {there}.")
                )
            places += found
        rows = [Block(row[None], block.axis) for block in self.blocks for row in block.spectra]
        return replace(
            self, names=tuple(self.names[p] for p in places), blocks=tuple(rows[p] for p in places)
        )


def read_library(path: FilePath, *, samples_in: str = "auto") -> Library:
    """Read a library: a table with a spectrum per row (or per column), a model file, or a folder of such files.

    Spectra without a name are called after their file.
    """
    if not Path(path).is_dir():
        return _read_file(Path(path), samples_in)
    files = sorted(file for file in Path(path).iterdir() if file.is_file() and not file.name.startswith("."))
    parts, notes = [], []
    for file in files:
        try:
            parts.append(_read_file(file, samples_in))
        except GMCRError as error:
            notes.append(f"{file.name} was left out: {error}")
    if not parts:
        raise FileError(f"{path} holds no spectrum that gmcr reads; put spectra there, a file each.")
    names = tuple(name for part in parts for name in part.names)
    notes.append(f"The library has {len(names)} spectra from {len(parts)} files.")
    parts = [part.ordered_as(parts[0].channels, "the library's first file") for part in parts]
    blocks = tuple(block for part in parts for block in part.blocks)
    (channels, *others) = {part.channels for part in parts}
    return Library(names, blocks, tuple(notes), None if others else channels)


def _read_file(path: Path, samples_in: str) -> Library:
    if path.suffix.lower() == MODEL:
        pool = read_pool(path)
        return Library(pool.names, (_block(pool.profiles, pool.axis),), channels=pool.channels)
    table = read_table(path, samples_in=samples_in, called=("S", "spectra", "library", "D"))
    spectra = check_samples(table.samples, str(path))
    numbered = [path.stem] if len(spectra) == 1 else [f"{path.stem} {i}" for i in range(len(spectra))]
    names = tuple(numbered) if table.sample_names is None else table.sample_names
    return Library(names, (_block(spectra, table.axis),), table.notes, table.channels)


def _block(spectra: FloatArray, axis: Any) -> Block:
    if axis is None:
        return Block(spectra, None)
    positions = check_axis(axis, spectra.shape[1], "the library's axis")
    order = np.argsort(positions, kind="stable")
    if (np.diff(positions[order]) == 0).any():
        raise InputError("the library's axis has a position twice; give each channel its own.")
    return Block(np.ascontiguousarray(spectra[:, order]), positions[order])


def _interpolated(block: Block, axis: FloatArray) -> FloatArray:
    own, n_channels = block.axis, len(axis)
    if own is None:
        raise InputError("the library has no axis; give the positions of its channels.")
    if not _differ(own, axis):
        back = np.empty(n_channels, dtype=int)
        back[np.argsort(axis)] = np.arange(n_channels)
        return block.spectra[:, back]
    # Rounding must not push the first or the last channel out of the range.
    slack = SAME_AXIS * np.ptp(own)
    inside = (axis >= own[0] - slack) & (axis <= own[-1] + slack)
    return np.array([np.where(inside, np.interp(axis, own, row), np.nan) for row in block.spectra])


def _differ(own: FloatArray, axis: FloatArray) -> bool:
    if len(own) != len(axis):
        return True
    return bool(np.abs(own - np.sort(axis)).max() > SAME_AXIS * np.ptp(own))
