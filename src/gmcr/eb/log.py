"""What a run tells of every epoch: its history and the gate's margins, in memory or in a folder's files.

In a folder nothing stays in memory, so that a run of a million epochs takes no more of it than a short one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HISTORY_FILE, MARGINS_FILE = "history.csv", "margins.f32"
WHOLE = {"epoch": int, "count": int, "usage": int, "single_users": int}
COLUMNS = (
    "epoch", "nmse", "r2", "count", "usage", "single_users", "mean_energy", "usage_weight", "temperature",
    "smallest_margin",
)  # fmt: skip


class MemoryLog:
    """The log of a run that has no folder: rows of COLUMNS and mean gaps (slots,), one of each per epoch."""

    def __init__(self, n_slots: int) -> None:
        self._rows: list[list[float]] = []
        self._gaps: list[np.ndarray] = []
        self._n_slots = n_slots

    def append(self, row: dict[str, float], mean_gaps: np.ndarray) -> None:
        self._rows.append([row[name] for name in COLUMNS])
        self._gaps.append(mean_gaps)

    def history(self) -> pd.DataFrame:
        return pd.DataFrame(self._rows, columns=list(COLUMNS)).astype(WHOLE)

    def mean_gaps(self) -> np.ndarray:
        return np.array(self._gaps, dtype=np.float32).reshape(-1, self._n_slots)

    def close(self) -> None:
        pass


class FolderLog:
    """History as CSV, mean gaps as single-precision numbers, and TensorBoard events where that is installed.

    Its history and mean gaps are read from the files, once the log was closed.
    """

    def __init__(self, folder: Path, n_slots: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._n_slots = folder, n_slots
        self._history = (folder / HISTORY_FILE).open("ab")
        self._margins = (folder / MARGINS_FILE).open("ab")
        self._events = _tensorboard(folder)

    def append(self, row: dict[str, float], mean_gaps: np.ndarray) -> None:
        self._history.write((",".join(repr(row[name]) for name in COLUMNS) + "\n").encode())
        self._margins.write(mean_gaps.astype(np.float32).tobytes())
        if self._events is not None:
            for name in COLUMNS[1:]:
                self._events.add_scalar(name, row[name], int(row["epoch"]))

    def place(self) -> int:
        """Bytes of the history, all on disk; those of the margins follow from the epochs."""
        for file in (self._history, self._margins):
            file.flush()
            os.fsync(file.fileno())
        return os.fstat(self._history.fileno()).st_size

    def back_to(self, place: int, epochs: int) -> None:
        """Forget what was logged after a place and so many epochs: it will be logged again."""
        self._history.truncate(place)
        self._margins.truncate(4 * self._n_slots * epochs)
        if not place:
            self._history.write((",".join(COLUMNS) + "\n").encode())

    def history(self) -> pd.DataFrame:
        rows = np.loadtxt(self.folder / HISTORY_FILE, delimiter=",", skiprows=1, ndmin=2)
        return pd.DataFrame(rows.reshape(-1, len(COLUMNS)), columns=list(COLUMNS)).astype(WHOLE)

    def mean_gaps(self) -> np.ndarray:
        return read_margins(self.folder, self._n_slots)

    def close(self) -> None:
        self._history.close()
        self._margins.close()
        if self._events is not None:
            self._events.close()


def read_margins(folder: Path, n_slots: int) -> np.ndarray:
    """The mean gaps of every epoch that a run has logged: (epochs, slots)."""
    return np.fromfile(folder / MARGINS_FILE, dtype=np.float32).reshape(-1, n_slots)


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "events"))
