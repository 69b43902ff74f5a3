"""numpy's own files, .npy and .npz; nothing in them is executed."""

from __future__ import annotations

import io
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import FileError, InputError
from gmcr.io.table import Table

SAMPLES = ("D", "X", "samples", "data")  # names under which an .npz file may hold the samples
POOL = ("S", "components", "pool", "profiles")  # and a pool


def load_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file by name, or of an .npy file under the name ""."""
    try:
        loaded = np.load(path, allow_pickle=False)
        return {"": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded}
    except FileNotFoundError:
        raise FileError(f"{path} does not exist.") from None
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} is damaged or not a numpy file of plain numbers: {error}.") from error


def read_arrays(path: str | os.PathLike[str], names: tuple[str, ...] = SAMPLES) -> Table:
    """Samples, or with `names=POOL` a pool, from an .npy or .npz file; `axis` beside it is the axis."""
    arrays = load_arrays(path)
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    chosen = next((name for name in names if name in tables), tables[0] if len(tables) == 1 else None)
    if chosen is None:
        raise InputError(
            f"{path} holds no table named {' or '.join(names)}, but {', '.join(arrays) or 'nothing'}; "
            f"save the table under the name {names[0]}."
        )
    table = np.asarray(arrays[chosen])
    axis = arrays.get("axis")
    notes = [f"The array {chosen!r} was taken: {table.shape[0]} rows x {table.shape[1]} channels."]
    if axis is not None and axis.shape != table.shape[1:]:
        notes.append(f"The array 'axis' has shape {axis.shape} and does not fit; it was left out.")
        axis = None
    return Table(table, axis, None, tuple(notes))


def write_arrays(path: str | os.PathLike[str], **arrays: NDArray[Any]) -> None:
    """Write an .npz file, whole or not at all."""
    from gmcr.storage import write_whole

    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    write_whole(path, content.getvalue())
