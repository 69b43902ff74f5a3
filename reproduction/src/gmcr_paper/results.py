"""The results folder: one JSON line per finished run, arrays in files beside it; long runs in a file each.

A run is known by its settings. A line is written whole by one call, after the run's arrays are in place; the line
that was being written when a process was killed is not valid JSON, is ignored, and its run is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

import gmcr

Settings = dict[str, Any]
Arrays = dict[str, np.ndarray]

LINES = "runs.jsonl"
ARRAYS = "arrays"
LONG = "long"
PACKAGES = ("gmcr", "numpy", "scipy", "numba", "scikit-learn", "torch", "pyMCR")
NO_SOLVERS = ("app", "cli", "io", "naming", "reporting")  # folders of gmcr that no measurement depends on


@dataclass(frozen=True)
class Record:
    """A finished run: what was asked, what was measured, how long it took, with what and on what.

    arrays : name of the file beside the lines that holds the run's arrays, or None
    """

    settings: Settings
    result: dict[str, Any]
    seconds: float
    arrays: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """A setting or a measured number; what was not measured is None."""
        return self.settings[name] if name in self.settings else self.result.get(name)


class Results:
    """The finished runs of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._records = {key(record.settings): record for record in self._read()}

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __contains__(self, settings: Settings) -> bool:
        return key(settings) in self._records

    def get(self, settings: Settings) -> Record | None:
        return self._records.get(key(settings))

    def add(self, settings: Settings, result: dict[str, Any], seconds: float, arrays: Arrays) -> Record:
        """Keep a finished run: its arrays first, then its line."""
        file = self._write_arrays(settings, arrays) if arrays else None
        record = Record(plain(settings), plain(result), round(seconds, 3), file, versions(), machine())
        self._append(json.dumps(vars(record), sort_keys=True, allow_nan=False))
        self._records[key(settings)] = record
        return record

    def put(self, name: str, record: Record, arrays: Arrays) -> Record:
        """Keep what a long run has come to so far, in the place of what was kept of it before."""
        file = self._write_arrays(record.settings, arrays) if arrays else None
        record = replace(record, settings=plain(record.settings), result=plain(record.result), arrays=file)
        folder = self.folder / LONG
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(vars(record), sort_keys=True, allow_nan=False, indent=1)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        self._records[key(record.settings)] = record
        return record

    def arrays(self, record: Record) -> Arrays:
        """A run's arrays."""
        if record.arrays is None:
            return {}
        with np.load(self.folder / ARRAYS / record.arrays, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def _read(self) -> Iterator[Record]:
        path = self.folder / LINES
        texts = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        texts += [file.read_text(encoding="utf-8") for file in sorted((self.folder / LONG).glob("*.json"))]
        for text in texts:
            try:
                record = Record(**json.loads(text))
            except (json.JSONDecodeError, TypeError):
                continue
            if record.arrays is None or (self.folder / ARRAYS / record.arrays).exists():
                yield record

    def _append(self, line: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / LINES
        torn = path.exists() and path.stat().st_size > 0 and not _ends_a_line(path)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, ("\n" * torn + line + "\n").encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def _write_arrays(self, settings: Settings, arrays: Arrays) -> str:
        name = hashlib.sha256(key(settings).encode()).hexdigest()[:16] + ".npz"
        folder = self.folder / ARRAYS
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}.part"
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        part.replace(folder / name)
        return name


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def key(settings: Settings) -> str:
    """What a run is known by."""
    return json.dumps(plain(settings), sort_keys=True)


def plain(value: Any) -> Any:
    """The value in JSON's types; numbers that JSON does not know become null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


@cache
def versions() -> dict[str, str]:
    """Versions of what computes, and a digest of the source that measurements depend on."""
    folder = Path(gmcr.__file__).parent
    files = [
        file for file in sorted(folder.rglob("*.py")) if file.relative_to(folder).parts[0] not in NO_SOLVERS
    ]
    files += sorted(Path(__file__).with_name("baselines").glob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
    return {"python": platform.python_version(), "source": digest} | {
        name: found for name in PACKAGES if (found := _version(name))
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def machine() -> dict[str, Any]:
    """The class of machine, nothing that names it."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {"cores": os.cpu_count(), "processor": platform.machine(), "memory_gb": round(memory / 2**30)}
