"""Opening files from strangers: bytes with bounds, packages that may be missing, errors that are gmcr's own."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import FileError, GMCRError
from gmcr.files import FilePath, finish

__all__ = ["FilePath"]


def check_exists(path: FilePath) -> Path:
    """The path, if it is a file; pipes and devices, which would block, are refused."""
    file = Path(path)
    finish(file.parent, file.name)
    try:
        exists, is_file = file.exists(), file.is_file()
    except (OSError, ValueError) as error:  # a name that is too long, or holds a NUL
        raise FileError(f"{path} could not be read: {error}.") from error
    if not exists:
        raise FileError(f"{path} does not exist.")
    if not is_file:
        raise FileError(f"{path} is not a file; give the data file itself.")
    return file


def read_bytes(path: FilePath, size: int = -1) -> bytes:
    """The file's content, or its first `size` bytes."""
    found = check_exists(path)
    try:
        with open(found, "rb") as file:
            return file.read(size)
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror or error}.") from error


def text_of(value: Any) -> str | None:
    """The text that an attribute of a file is, if it is one."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.ravel()[0]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def decoded(content: bytes, encoding: str = "utf-8-sig") -> str:
    """Text in an encoding, or else in Latin-1, in which any bytes are a text."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("latin-1")


def need(package: str, extra: str, path: FilePath, what: str = "read") -> None:
    """Refuse, naming what to install, if a package is missing; an empty name is no package."""
    if package and find_spec(package) is None:
        wanted = f"'gmcr[{extra}]'" if extra else package
        raise FileError(f"{path} needs {package} to be {what}; install it with: pip install {wanted}.")


@contextmanager
def parsing(path: FilePath, format_name: str) -> Iterator[None]:
    """What numbers that make no sense lead to leaves as one FileError; a mistake of ours does not hide in it."""
    try:
        yield
    except (GMCRError, MemoryError):
        raise
    except (Cut, struct.error, ValueError, LookupError, ArithmeticError) as error:
        raise damaged(path, format_name, error) from error


def damaged(path: FilePath, format_name: str, error: Exception) -> FileError:
    """What to raise for an error met in a file's content."""
    reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return FileError(f"{path} is damaged or no {format_name} file: {reason}.")


class Cut(Exception):
    """More bytes were asked for than the file has."""

    def __str__(self) -> str:
        return "it is cut short"


class Bytes:
    """A file's content, read by position; asking for more than there is raises `Cut`."""

    def __init__(self, content: bytes, order: str = "<") -> None:
        self.content = content
        self.order = order

    def __len__(self) -> int:
        return len(self.content)

    def unpack(self, layout: str, offset: int) -> tuple[Any, ...]:
        """Numbers in struct's notation, without the byte order."""
        self._check(offset, struct.calcsize(self.order + layout))
        return struct.unpack_from(self.order + layout, self.content, offset)

    def array(self, kind: str, count: int, offset: int) -> NDArray[Any]:
        """`count` numbers of a numpy type such as "f4"."""
        dtype = np.dtype(self.order + kind)
        self._check(offset, count * dtype.itemsize)
        return np.frombuffer(self.content, dtype, count, offset)

    def text(self, size: int, offset: int) -> str:
        """A text of at most `size` bytes that a NUL ends."""
        self._check(offset, size)
        return decoded(self.content[offset : offset + size].split(b"\0", 1)[0], "utf-8").strip()

    def _check(self, offset: int, size: int) -> None:
        if offset < 0 or size < 0 or offset + size > len(self.content):
            raise Cut
