"""Formats that a package parses are read in a process of their own, with limits of time and memory.

Damaged files make some of these packages crash or run forever: h5py and scipy.io.loadmat do, within seconds of
fuzzing. There, that ends the child; here, it is a FileError. What comes back is numbers and texts, never objects.
The memory is what `limits` allows any reader, and the time is that of the processor, so that a busy machine is no
failure.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import FileError, GMCRError, InputError
from gmcr.io.cube import Pixels
from gmcr.io.formats import FORMATS, Asked
from gmcr.io.limits import room, spoken
from gmcr.io.opening import FilePath, check_exists, damaged, parsing
from gmcr.io.table import Table

# Seconds of the processor for any file, most of them for importing a package on a slow machine, and further ones
# for each MB: several times what openpyxl, the slowest of the packages, takes for one.
PATIENCE, PER_MB = 8.0, 5.0
OUT_OF_TIME = -getattr(signal, "SIGXCPU", 99)  # how the child ends when its seconds are over
WAITING = 5.0  # times that, by the clock: a package that waits for something is ended too


def read_here(path: FilePath, name: str, asked: Asked) -> Table:
    """What the reader of the format `name` returns, called in this process."""
    try:
        with parsing(path, name):
            table = FORMATS[name].read(path, asked)
    except MemoryError:
        told = f"{path} takes more than the {spoken(room(path, asked))} of memory that are allowed"
        raise FileError(f"{told}; it is damaged, or say memory= (--memory) to allow more.") from None
    if not isinstance(table, Table):
        raise FileError(f"{path} was not read: the reader of {name} files gave no Table but {table!r:.40}.")
    return table


def read_apart(path: FilePath, name: str, asked: Asked) -> Table:
    """What the reader of the format `name` returns, called in a process of its own."""
    seconds = PATIENCE + PER_MB * check_exists(path).stat().st_size / 1e6
    asked = replace(asked, memory=room(path, asked))
    # -P keeps the folder we are in, which may hold a stranger's files, from being searched for modules.
    told = [name, os.fspath(path), json.dumps(asdict(asked)), str(int(seconds))]
    command = [sys.executable, "-P", "-m", __name__, *told]
    # One thread, and memory as the system deals it out: what is set aside for more would count.
    settings = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    with tempfile.TemporaryFile() as answer:
        try:
            code = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                timeout=WAITING * seconds,
                env=os.environ | settings,
            ).returncode
        except subprocess.TimeoutExpired:
            code = OUT_OF_TIME
        if code == OUT_OF_TIME:
            raise FileError(f"{path} was not read in {seconds:.0f} s; it is damaged or too large.") from None
        if code != 0:
            raise FileError(f"{path} is damaged or no {name} file: reading it ended without a word.")
        answer.seek(0)
        return _received(answer)


def main() -> None:
    """The child: `python -m gmcr.io.apart FORMAT PATH ASKED SECONDS`; the answer goes to standard output."""
    answer = os.dup(1)
    os.dup2(2, 1)  # what a package prints is no part of the answer
    name, path, options, seconds = sys.argv[1:]
    asked = Asked(**json.loads(options))
    with contextlib.suppress(ImportError):  # told below
        if FORMATS[name].package:
            importlib.import_module(FORMATS[name].package)  # its own memory is no part of the file's
    result = read_limited(path, name, asked, int(seconds))
    with open(answer, "wb") as file:
        _send(file, result)
    os._exit(0)  # the answer is out: nothing that a package does at its end may turn it into a failure


def read_limited(path: FilePath, name: str, asked: Asked, seconds: int) -> Table | GMCRError:
    """What a reader returns or raises, in this process, which from now on has limits of memory and time."""
    _limit(room(path, asked), seconds)
    try:
        return read_here(path, name, asked)
    except GMCRError as error:
        return error
    except ImportError as error:
        return FileError(f"{path} could not be read, since {error.name} cannot be imported: {error}.")
    except Exception as error:  # the packages' own kinds, of which there are many
        return damaged(path, name, error)


def _limit(memory: int, seconds: int) -> None:
    """Let this process have so much more memory, and so many seconds of the processor, where a system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        told = re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())
        most = memory + (int(told[1]) * 1024 if told else 0)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _send(file: IO[bytes], result: Table | GMCRError) -> None:
    if isinstance(result, GMCRError):
        facts: dict[str, Any] = {"error": str(result), "is_input": isinstance(result, InputError)}
        arrays: dict[str, NDArray[Any]] = {}
    else:
        told = ("sample_names", "channels", "notes", "axis_unit", "metadata", "runs")
        facts = {name: getattr(result, name) for name in told}
        kept = None if result.pixels is None else result.pixels.kept
        offered = {"samples": result.samples, "axis": result.axis, "kept": kept}
        arrays = {name: array for name, array in offered.items() if array is not None}
    arrays["facts"] = np.frombuffer(json.dumps(facts, default=str).encode(), np.uint8)
    np.savez(file, **arrays)  # type: ignore[arg-type]


def _received(file: IO[bytes]) -> Table:
    arrays = np.load(file, allow_pickle=False)
    facts = json.loads(arrays["facts"].tobytes())
    if "error" in facts:
        raise (InputError if facts["is_input"] else FileError)(facts["error"])
    pixels = Pixels(arrays["kept"]) if "kept" in arrays else None
    texts = ("sample_names", "channels", "runs")
    names, channels, runs = (facts[name] and tuple(facts[name]) for name in texts)
    table = Table(
        arrays["samples"], arrays.get("axis"), names, tuple(facts["notes"]), channels=channels, runs=runs
    )
    return replace(table, axis_unit=facts["axis_unit"], metadata=facts["metadata"], pixels=pixels)


if __name__ == "__main__":
    main()
