"""Renishaw WiRE files (.wdf): blocks of spectra, axis, positions and map.

The layout is the one renishawWiRE (MIT) documents. That package itself is not used: a block of size zero makes it
run forever.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import FileError
from gmcr.io.cube import Pixels
from gmcr.io.formats import FORMATS, NOTHING, Asked, Format
from gmcr.io.opening import Bytes, Cut, FilePath, read_bytes
from gmcr.io.table import Table
from gmcr.validation import FloatArray

MAGIC = b"WDF1"
BLOCK_HEADER = 16
UNITS = {1: "cm⁻¹", 2: "cm⁻¹", 3: "nm", 4: "eV", 5: "µm", 16: "pixels"}
X, Y = 3, 4  # kinds of lists in the block of positions
SEVERAL_AXES, AXIS_EACH, SATURATED = 0x01, 0x08, 0x10  # flags


def read_wdf(path: FilePath, asked: Asked = NOTHING) -> Table:
    """Read the spectra of a WDF file; those of a map on a grid come with their pixels."""
    content = read_bytes(path)
    if not content.startswith(MAGIC):
        raise FileError(f"{path} is no Renishaw WDF file: it does not begin as one.")
    file = Bytes(content)
    (flags,) = file.unpack("Q", 0x10)
    points, capacity, count, _, _, positions, origins = file.unpack("IQQIIII", 0x3C)
    if flags & AXIS_EACH:
        raise FileError(f"{path} has an axis for each spectrum, which gmcr does not read; export it as text.")
    if positions != points:
        raise ValueError(f"its axis has {positions} positions for {points} points")
    facts = {"title": file.text(0x200 - 0xF0, 0xF0), "user": file.text(0x20, 0xD0)}
    (laser,) = file.unpack("f", 0x9C)
    if np.isfinite(laser) and laser > 0:
        facts["laser"] = f"{1e7 / laser:.4g} nm"
    blocks = _blocks(file)
    if not {"DATA", "XLST"} <= set(blocks) or not 0 < count <= capacity:
        raise Cut
    for name, size in (("DATA", 4 * count * points), ("XLST", 8 + 4 * points)):
        if file.unpack("Q", blocks[name] + 8)[0] < BLOCK_HEADER + size:
            raise Cut  # what follows in the file is of another block
    data = file.array("f4", count * points, blocks["DATA"] + BLOCK_HEADER)
    samples = data.reshape(count, points).astype(float)
    axis = file.array("f4", points, blocks["XLST"] + BLOCK_HEADER + 8).astype(float)
    unit = UNITS.get(file.unpack("I", blocks["XLST"] + BLOCK_HEADER + 4)[0])
    notes = []
    if count < capacity:
        notes.append(f"The measurement was ended early: {count} of {capacity} spectra.")
    if flags & SEVERAL_AXES:
        notes.append(
            "The file says that it may hold several axes and blocks of spectra; the first ones were taken."
        )
    if flags & SATURATED:
        notes.append("The file says that the detector was saturated in some of its spectra.")
    facts = {name: value for name, value in facts.items() if value}
    name = facts.get("title") or Path(path).stem
    notes.append(f"{count} spectra of {points} channels; the axis runs from {axis[0]:g} to {axis[-1]:g}.")
    names = tuple(f"{name} {index}" for index in range(count)) if count > 1 else (name,)
    table = Table(samples, axis, names, tuple(notes), axis_unit=unit, metadata=facts)
    if not {"WMAP", "ORGN"} <= set(blocks):
        return table
    places = _places(file, blocks["ORGN"], origins, capacity, count)
    return table if places is None else _as_map(table, file, blocks["WMAP"], places)


def _blocks(file: Bytes) -> dict[str, int]:
    """By name, where each block starts."""
    blocks: dict[str, int] = {}
    position = 0
    while position + BLOCK_HEADER <= len(file):
        name, _, size = file.unpack("4sIQ", position)
        if size < BLOCK_HEADER:
            raise ValueError(f"a block has {size} bytes")
        blocks.setdefault(name.decode("latin-1"), position)
        position += size
    return blocks


def _places(file: Bytes, start: int, lists: int, capacity: int, count: int) -> FloatArray | None:
    """Position of each spectrum on the stage: (spectra, 2), x and y."""
    found: dict[int, NDArray[Any]] = {}
    position = start + BLOCK_HEADER + 4
    for _ in range(min(lists, len(file) // 24)):
        kind = file.unpack("I", position)[0] & 0x7FFFFFFF
        found.setdefault(kind, file.array("f8", count, position + 24))
        position += 24 + 8 * capacity
    return np.column_stack([found[X], found[Y]]) if {X, Y} <= set(found) else None


def _as_map(table: Table, file: Bytes, start: int, places: FloatArray) -> Table:
    """The table with its samples in the order of the map's pixels, if the positions are on the map's grid."""
    origin = np.array(file.unpack("ff", start + 0x18), dtype=float)
    step = np.array(file.unpack("ff", start + 0x24), dtype=float)
    width, height = file.unpack("II", start + 0x30)
    notes = list(table.notes)
    with np.errstate(all="ignore"):
        cells = np.where(step == 0, 0.0, (places - origin) / np.where(step == 0, 1.0, step))
    on_grid = bool(np.isfinite(cells).all()) and bool((np.abs(cells - cells.round()) < 0.1).all())
    column, row = (cells.round().astype(int) if on_grid else np.zeros_like(places, dtype=int)).T
    on_grid = on_grid and width * height <= 64 * len(cells)
    on_grid = on_grid and bool(((column >= 0) & (column < width) & (row >= 0) & (row < height)).all())
    flat = row * width + column
    if not on_grid or len(np.unique(flat)) < len(flat):
        notes.append("The spectra are of a map, but their positions are on no grid; they were left in order.")
        return replace(table, notes=tuple(notes))
    kept = np.zeros((height, width), dtype=bool)
    kept[row, column] = True
    pixels = Pixels(kept)
    notes.append(f"They are a map of {height} x {width} pixels, by their positions.")
    samples = table.samples[np.argsort(flat)]
    return replace(table, samples=samples, sample_names=pixels.names, notes=tuple(notes), pixels=pixels)


FORMATS.add("Renishaw WDF", Format((".wdf",), read_wdf, mark=MAGIC, apart=False))
