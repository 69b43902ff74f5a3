"""Files written whole: one by itself, or several of a folder as one change.

One file is written beside its place and renamed. Several are written to a hidden folder first; one rename, of the
record that names them, then decides that they are the new state, and they are moved to their places. Whoever
comes upon the record of a process that was killed carries it out first (`finish`), so that gmcr meets the old
files or the new ones and no mixture. What processes have left that were killed earlier, the next one sweeps.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

from gmcr.errors import FileError

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

FilePath = str | os.PathLike[str]

RECORD = ".gmcr-change.json"  # of a change that was decided and is not carried out yet
_TEMPORARY = re.compile(r"\.gmcr-[0-9a-f]{16}\.tmp")
_PATIENCE = 60.0  # seconds to wait for others that write to a folder
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_ABANDONED = 86_400.0  # seconds after which a temporary file is nobody's, where folders cannot be locked


def write_whole(path: FilePath, content: bytes, example: str = "run.gmcr") -> None:
    """Write beside the target, flush to the disk, then rename: a reader sees the old file or the new one."""
    target = Path(os.path.realpath(path))  # a link goes on pointing where it did
    _refuse_folder(target, path, example)
    temporary = target.with_name(_new_name())
    with _in_words(path), _in_use(target.parent):
        try:
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            with contextlib.suppress(OSError):  # gone already when the rename went through
                temporary.unlink()
        _flush(target.parent)


@dataclass
class Staged:
    """A change of a folder that is being prepared.

    path : where to write the new files, under the names that they will have in the folder
    removed : names of the files that go
    """

    path: Path
    removed: set[str] = field(default_factory=set)

    def names(self) -> list[str]:
        """Of the files that were written so far."""
        paths = (Path(parent, name) for parent, _, names in os.walk(self.path) for name in names)
        return sorted(path.relative_to(self.path).as_posix() for path in paths)


@contextlib.contextmanager
def changed_together(folder: Path) -> Iterator[Staged]:
    """Files of a folder, changed as one: all that is written within this, or nothing."""
    with _in_words(folder), _in_use(folder, alone=True):
        staged = Staged(folder / _new_name())
        try:
            staged.path.mkdir()
            yield staged
            names = staged.names()
            for name in names:
                _refuse_folder(folder / name, folder / name, name)
            removed = sorted(staged.removed.difference(names))
            decided = {"from": staged.path.name, "files": names, "removed": removed}
            write_whole(staged.path / RECORD, json.dumps(decided).encode())
            _flush(folder)
            os.replace(staged.path / RECORD, folder / RECORD)  # from here on it is the new state
        except BaseException:
            if not os.path.lexists(folder / RECORD):
                rmtree(staged.path, ignore_errors=True)
            raise
        _carry_out(folder)


def finish(folder: Path) -> None:
    """Carry out a change that was decided by a process that could not do so any more."""
    if os.path.lexists(folder / RECORD):
        with _in_words(folder), _in_use(folder, alone=True):
            pass  # it is the first thing that is done


def _carry_out(folder: Path) -> None:
    """Move the files of a change to their places; whatever was moved before is not there to be moved again."""
    try:
        content = (folder / RECORD).read_bytes()
    except FileNotFoundError:
        return
    staged, names, removed = _decided(folder, content)
    for name in names:
        if (staged / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _move(staged / name, folder / name)
    for name in removed:
        (folder / name).unlink(missing_ok=True)
    _flush(folder)
    rmtree(staged, ignore_errors=True)
    (folder / RECORD).unlink(missing_ok=True)
    _flush(folder)


def _decided(folder: Path, content: bytes) -> tuple[Path, list[str], list[str]]:
    """What a record says, if it speaks of this folder alone."""
    try:
        told = json.loads(content)
        names = [Path(name) for name in (*told["files"], *told["removed"])]
        inside = all(name.parts and not name.is_absolute() and ".." not in name.parts for name in names)
        if not (inside and _TEMPORARY.fullmatch(told["from"])):
            raise ValueError("it names files elsewhere")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise FileError(f"{folder / RECORD} is damaged; remove it to have the files as they stand.") from None
    return folder / told["from"], told["files"], told["removed"]


def _move(source: Path, target: Path) -> None:
    place = Path(os.path.realpath(target))  # a link goes on pointing where it did
    try:
        os.replace(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        write_whole(place, source.read_bytes())  # on another disk
        source.unlink()


@contextlib.contextmanager
def _in_use(folder: Path, *, alone: bool = False) -> Iterator[None]:
    """A folder that is written to; what others that were killed have left there is finished or swept.

    alone : whether nobody else may write to it meanwhile
    """
    descriptor = _locked(folder, alone)
    try:
        if descriptor is None:
            _carry_out(folder)
            _sweep(folder, time.time() - _ABANDONED)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _locked(folder: Path, alone: bool) -> int | None:
    """The folder, opened and locked until it is closed; None where that cannot be done.

    While others write to it there is nothing to finish, and nobody knows what to sweep: that is left to the last.
    """
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if _lock(descriptor, fcntl.LOCK_EX, folder, _PATIENCE if alone else 0.0):
            _carry_out(folder)
            _sweep(folder)
        if not alone:
            _lock(descriptor, fcntl.LOCK_SH, folder, _PATIENCE)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError) and error.errno in _NO_LOCKS:
            return None
        raise
    return descriptor


def _lock(descriptor: int, kind: int, folder: Path, patience: float) -> bool:
    """Whether the lock was had; with patience, others that do not let go are an error."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if patience == 0.0:
                return False
            if time.monotonic() > end:
                raise FileError(f"{folder} is being written by another process; try again later.") from None
            time.sleep(0.02)


def lock_file(descriptor: int) -> bool:
    """Lock an open file until it is closed; False where another process has it, True where there are no locks."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _sweep(folder: Path, before: float = float("inf")) -> None:
    """Remove temporary files and folders that were last changed before a time."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_mtime < before:
                with contextlib.suppress(OSError):
                    rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)


@contextlib.contextmanager
def _in_words(path: FilePath) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path} could not be written: {error.strerror or error}.") from error


def _new_name() -> str:
    return f".gmcr-{secrets.token_hex(8)}.tmp"


def _refuse_folder(target: Path, path: FilePath, example: str) -> None:
    if target.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file, such as {example}.")


def _flush(folder: Path) -> None:
    """So that renames themselves survive a power cut.

    The files are whole and in place by now, so a file system that cannot sync folders is no failure.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
