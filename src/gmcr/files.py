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
import stat
import time
from collections.abc import Iterable, Iterator
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
_LARGEST = 1 << 24  # bytes of a record
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
            _keep_permissions(temporary, target)
            os.replace(temporary, target)
        finally:
            with contextlib.suppress(OSError):  # gone already when the rename went through
                temporary.unlink()
        _flush(target.parent)


def as_bytes(text: str) -> bytes:
    """A text as files hold it; "?" for what no text may hold, as a part of a file's name that is no UTF-8."""
    return text.encode("utf-8", "replace")


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
        _carry_out(folder, own=True)


def finish(folder: Path, name: str | None = None) -> None:
    """Carry out a change that a process decided and could not carry out any more, if it is about this file."""
    if not os.path.lexists(folder / RECORD):
        return
    decided = _decided(folder)
    if decided is None or (name is not None and name not in (*decided.files, *decided.removed)):
        return
    try:
        with _in_use(folder, alone=True):
            pass  # it is the first thing that is done
    except OSError as error:
        raise FileError(
            f"{folder} holds a change that was begun and cannot be ended: {error.strerror or error}; "
            "make it a folder that can be written."
        ) from error


def awaited(folder: Path) -> set[str]:
    """Names of the files that a change which was decided is about to replace or to remove."""
    decided = _decided(folder) if os.path.lexists(folder / RECORD) else None
    return set() if decided is None else {*decided.files, *decided.removed}


def _carry_out(folder: Path, *, own: bool = False) -> None:
    """Move the files of a change to their places; whatever was moved before is not there to be moved again.

    Of two things that the power must not swap, the first is flushed to the disk before the second is begun.

    own : whether this process has decided it. A folder may come from a stranger, and its record too: what others
        have decided reaches nothing beyond the folder, through no link
    """
    decided = _decided(folder)
    if decided is None:
        return
    staged, names = folder / decided.source, (*decided.files, *decided.removed)
    if not own:
        inside = [f"{decided.source}/{name}" for name in (RECORD, *names)]
        _refuse_links(folder, [*inside, *names])
    _flush(folder)
    changed = {folder}
    for name in decided.files:
        if os.path.lexists(staged / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            changed |= {_move(staged / name, folder / name, through_links=own), *(folder / name).parents}
    for name in decided.removed:
        (folder / name).unlink(missing_ok=True)
        changed.add((folder / name).parent)
    for place in changed.difference(folder.parents):
        _flush(place)
    rmtree(staged, ignore_errors=True)
    (folder / RECORD).unlink(missing_ok=True)
    _flush(folder)


@dataclass(frozen=True)
class _Decided:
    """A change of a folder: where the new files are, their names, and those of the files that go."""

    source: str
    files: list[str]
    removed: list[str]


def _decided(folder: Path) -> _Decided | None:
    """What the folder's record says, if there is one and it speaks of this folder alone."""
    try:
        found = os.lstat(folder / RECORD)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            raise ValueError("it is no list of names")
        told = json.loads((folder / RECORD).read_bytes())
        names = [Path(name) for name in (*told["files"], *told["removed"])]
        inside = all(name.parts and not name.is_absolute() and ".." not in name.parts for name in names)
        if not (inside and _TEMPORARY.fullmatch(told["from"])):
            raise ValueError("it names files elsewhere")
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise FileError(f"{folder / RECORD} is damaged; remove it to have the files as they stand.") from None
    return _Decided(told["from"], told["files"], told["removed"])


def _refuse_links(folder: Path, names: Iterable[str]) -> None:
    """Refuse names that lead out of the folder through a link; the last part of one may be a link."""
    for name in names:
        for parent in Path(name).parents[:-1]:
            if (folder / parent).is_symlink():
                raise FileError(
                    f"{folder / RECORD} would change files elsewhere, through the link {parent}; remove it to "
                    "have the files as they stand."
                )


def _move(source: Path, target: Path, *, through_links: bool) -> Path:
    """Put a file in place of another, and tell in which folder; a link may go on pointing where it did."""
    place = Path(os.path.realpath(target)) if through_links else target
    _keep_permissions(source, place)
    try:
        os.replace(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        write_whole(place, source.read_bytes())  # on another disk
        source.unlink()
    return place.parent


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


def _keep_permissions(new: Path, old: Path) -> None:
    """Who may read the file that is replaced may read the new one, and nobody else."""
    with contextlib.suppress(OSError):  # there is none, or it is somebody else's
        if old.is_file() and not old.is_symlink():
            os.chmod(new, stat.S_IMODE(old.stat().st_mode))


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
