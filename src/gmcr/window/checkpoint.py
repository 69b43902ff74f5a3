"""Checkpoints: what a run has found out so far, so that one that was ended goes on as if it had not been.

The file begins with a line that says what it is; then come records, each with its length and its SHA-256; the
first tells the run. Records are added at the end. A last one that was cut short, by a kill or a full disk, is
dropped. Reading parses numbers and text; nothing in a checkpoint is executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from io import FileIO
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from gmcr.errors import FileError, InputError
from gmcr.files import lock_file
from gmcr.window.remembering import Arrays, current, pack, unpack

MARK = b"gmcr checkpoint 2\n"
HEAD = struct.Struct("<Q32s")  # of a record: its length and its checksum
RATE = 1e7  # bytes for each second that a result took: what is computed as fast as it is read is not kept
MOST = 1e9  # bytes in a checkpoint
SPARSE = 0.5  # share of zeros from which an array is worth packing


class Checkpoint:
    """What was computed, in a file. Whoever opens it closes it, and removes it once the answer is safe.

    path : one that is there is taken up if it is of the same run, and refused otherwise (`is_of`)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.resumed = False
        self._results: dict[str, tuple[int, int]] = {}  # by key: where its record stands
        self._arrays: dict[str, tuple[int, int]] = {}
        self._run = ""  # that it is of
        self._begun = False  # whether it is known to be of this run
        self._waiting: list[tuple[Arrays, dict[str, str]]] = []  # for that
        self._file = _opened(self.path)
        try:
            self._end = self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        """Closed until the next run; one that holds nothing, or of a run that was refused, is not left behind."""
        self._file.close()
        if not self._run or (self._begun and kind is not None and issubclass(kind, InputError)):
            self.remove()

    def remove(self) -> None:
        """The run is done."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def is_of(self, run: str) -> None:
        """Say which run it is, by a digest of all that it was given; results are kept from then on."""
        if self._run and self._run != run:
            raise InputError(
                f"checkpoint {self.path} was written by a run on other data, with other options or by another "
                "version of gmcr; remove it, or give another file."
            )
        self._begun, self.resumed = True, bool(self._results)
        if not self._run:
            self._run = run
            self._write({}, {"run": run})
        for record in self._waiting:
            self._write(*record)

    def result(self, key: str, compute: Callable[[], Any], given: tuple[Any, ...]) -> Any:
        """What compute() gives, as it was kept or else computed now and kept where it is worth it."""
        if key in self._results:
            return self._kept(key, given)
        started = perf_counter()
        value = compute()
        seconds = perf_counter() - started
        if not self._file.closed:
            arrays: Arrays = {}
            stored = pack(value, given, arrays)
            new = {name: array for name, array in arrays.items() if name not in self._arrays}
            size = sum(array.nbytes for array in new.values())
            if size <= RATE * seconds and self._end + size <= MOST:
                record = new, {"key": key, "value": json.dumps(stored)}
                self._write(*record) if self._begun else self._waiting.append(record)
        return value

    def _read(self) -> int:
        """Find what is there, up to the first record that is not whole; where that ends."""
        self._file.seek(0)
        mark = self._file.read(len(MARK))
        if not MARK.startswith(mark):
            raise FileError(f"{self.path} is no checkpoint of this version of gmcr; give another file.")
        if mark != MARK:  # a new one, or all but
            self._file.seek(0)
            self._file.write(MARK)
        end = len(MARK)
        while len(head := self._file.read(HEAD.size)) == HEAD.size:
            size, checksum = HEAD.unpack(head)
            if size > os.fstat(self._file.fileno()).st_size - end:
                break
            payload = self._file.read(size)
            if hashlib.sha256(payload).digest() != checksum:
                break
            self._index(payload, (end + HEAD.size, size))
            end += HEAD.size + size
        self._file.truncate(end)
        return end

    def _index(self, payload: bytes, place: tuple[int, int]) -> None:
        try:
            names, texts = _names_and_texts(payload)
        except (AttributeError, KeyError, TypeError, ValueError, struct.error):
            raise FileError(f"{self.path} is damaged; remove it to begin anew.") from None
        self._run = texts.get("run", self._run)
        if "key" in texts:
            self._results[texts["key"]] = place
        self._arrays |= dict.fromkeys(names, place)

    def _kept(self, key: str, given: tuple[Any, ...]) -> Any:
        try:
            stored = json.loads(self._record(self._results[key])[1]["value"])
            return unpack(stored, given, self._array)
        except (AttributeError, KeyError, StopIteration, TypeError, ValueError, zlib.error):
            raise FileError(f"{self.path} is damaged; remove it to begin anew.") from None

    def _record(self, place: tuple[int, int]) -> tuple[Arrays, dict[str, str]]:
        self._file.seek(place[0])
        payload = self._file.read(place[1])
        try:
            return safetensors.numpy.load(payload), _names_and_texts(payload)[1]
        except SafetensorError as error:
            raise ValueError from error

    def _array(self, name: str) -> NDArray[Any]:
        arrays, texts = self._record(self._arrays[name])
        packed = json.loads(texts["packed"]).get(name)
        if packed is None:
            return arrays[name]
        kind, shape = packed
        return np.frombuffer(zlib.decompress(arrays[name].tobytes()), kind).reshape(shape).copy()

    def _write(self, arrays: Arrays, texts: dict[str, str]) -> None:
        packed = {name: array for name, array in arrays.items() if _is_sparse(array)}
        texts["packed"] = json.dumps({name: [array.dtype.str, array.shape] for name, array in packed.items()})
        small = {
            name: np.frombuffer(zlib.compress(array.tobytes(), 1), np.uint8) for name, array in packed.items()
        }
        whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        payload = safetensors.numpy.save(whole | small, texts)
        try:
            self._file.seek(self._end)
            rest = memoryview(HEAD.pack(len(payload), hashlib.sha256(payload).digest()) + payload)
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException as error:
            with suppress(OSError):  # a record that is cut short would hide those after it
                self._file.truncate(self._end)
            if isinstance(error, OSError):
                raise FileError(f"{self.path} could not be written: {error.strerror or error}.") from error
            raise
        self._index(payload, (self._end + HEAD.size, len(payload)))
        self._end += HEAD.size + len(payload)


def _opened(path: Path) -> FileIO:
    """The file, made if need be, for this process alone."""
    if path.exists() and not path.is_file():
        raise FileError(f"{path} is not a file; give the name of one for the checkpoint.")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(f"{path} could not be written: {error.strerror or error}.") from error
    if not lock_file(descriptor):
        os.close(descriptor)
        raise FileError(f"checkpoint {path} is in use by another run; give another file.")
    return FileIO(descriptor, "r+")


def _names_and_texts(payload: bytes) -> tuple[list[str], dict[str, str]]:
    """Of the arrays in a record, without reading them."""
    (length,) = struct.unpack_from("<Q", payload)
    told = json.loads(payload[8 : 8 + length])
    texts = told.pop("__metadata__")
    return list(told), texts


def _is_sparse(array: NDArray[Any]) -> bool:
    return bool(np.count_nonzero(array) < (1.0 - SPARSE) * array.size)


def _zipped(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(zlib.compress(array.tobytes(), 1), np.uint8)


@contextmanager
def remembering(checkpoint: str | os.PathLike[str] | Checkpoint | None) -> Iterator[Checkpoint | None]:
    """Within this, results of functions that are `remembered` are kept in the checkpoint, if there is one."""
    if checkpoint is None:
        yield None
        return
    opened = nullcontext(checkpoint) if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
    with opened as keeper:
        before = current.set(keeper)
        try:
            yield keeper
        finally:
            current.reset(before)
