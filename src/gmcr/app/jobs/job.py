"""A job: a folder with what is to be done, how far it is, and what came of it.

job.json           what it is and which commands it runs; written once
lock               held by its process, and by those that this began, for as long as they live
process.json       the number of its process
stop.json          that it is to end; a process that is about to begin hears of it here
progress.jsonl     what a command tells while it runs
out-0.txt …        what each command said, and err-0.txt … on standard error
result.json        how it ended; written last, by its process or by who found out that this is no more
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gmcr.app.home import FOR_ME
from gmcr.files import write_whole

try:
    import fcntl
except ImportError:  # not a POSIX system: jobs end with their server there
    fcntl = None  # type: ignore[assignment]

WAITING, RUNNING, DONE, FAILED, STOPPED, LOST = "waiting", "running", "done", "failed", "stopped", "lost"
ENDED = (DONE, FAILED, STOPPED, LOST)
PROGRESS = "{progress}"
MOST_SAID = 200_000  # bytes read of what a command said on standard error
MOST_ROWS = 400  # of the path, that are told


@dataclass(frozen=True)
class Order:
    """What a job is to do.

    kind : such as "fit"; project : whose folder it works on
    commands : each the module that Python runs, and its words; the second is not begun if the first fails.
        The word `PROGRESS` stands for the file that they tell their progress to
    about : what the page wants to know of it later
    memory : most bytes that each may take, None for what is usual
    keep : where to keep what a command printed, by the number of the command: a path from FOLDER
    """

    kind: str
    project: str
    commands: list[list[str]]
    about: dict[str, Any]
    memory: int | None = None
    keep: dict[str, str] = field(default_factory=dict)


class Job:
    """A job in its folder; the folder's name is its number, and later ones have higher numbers."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, path.name
        self.order = Order(**json.loads((path / "job.json").read_bytes()))
        self._result: dict[str, Any] | None = None

    @classmethod
    def new(cls, folder: Path, order: Order) -> Job:
        folder.mkdir(mode=FOR_ME, exist_ok=True)
        path = folder / f"{time.time_ns():020d}-{secrets.token_hex(4)}"
        begun = folder / f".{path.name}"
        begun.mkdir(mode=FOR_ME)
        write_whole(begun / "job.json", json.dumps(asdict(order)).encode())
        (begun / "lock").touch(0o600)
        begun.rename(path)  # whole from the moment that it can be found
        return cls(path)

    # How far it is

    def state(self) -> str:
        """Of its files and of the processes that are alive, whoever began them."""
        if self.result():
            return str(self.result().get("state", LOST))
        if self.is_held():
            return RUNNING
        if not (self.path / "process.json").exists():
            return WAITING
        return str(self.result(anew=True).get("state", LOST))  # it may have ended since the first look

    def result(self, *, anew: bool = False) -> dict[str, Any]:
        if self._result is None or anew:
            self._result = _read(self.path / "result.json") or None
        return self._result or {}

    def is_held(self) -> bool:
        """Whether a process of it is alive: it holds the lock."""
        if fcntl is None:
            return False
        descriptor = os.open(self.path / "lock", os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def is_to_end(self) -> bool:
        """Whether somebody has asked for that."""
        return (self.path / "stop.json").exists()

    @property
    def progress_file(self) -> Path:
        return self.path / "progress.jsonl"

    def progress(self) -> list[dict[str, Any]]:
        """What its commands told so far; of many solutions the first and the last ones."""
        try:
            lines = self.progress_file.read_bytes().splitlines()
        except OSError:
            return []
        if len(lines) > MOST_ROWS:
            lines = lines[: MOST_ROWS // 4] + lines[-3 * MOST_ROWS // 4 :]
        found = []
        for line in lines:
            with suppress(ValueError):  # the last line, while it is written
                found.append(json.loads(line))
        return found

    @property
    def began(self) -> float:
        """When its process began, in seconds since 1970; 0 before that."""
        return float(_read(self.path / "process.json").get("began", 0.0))

    def mark(self) -> tuple[Any, ...]:
        """What changes with it, as cheap as can be."""
        parts: list[Any] = [self.number]
        for name in ("process.json", "progress.jsonl", "result.json"):
            with suppress(OSError):
                parts.append((name, os.stat(self.path / name).st_size))
        return tuple(parts)

    # What came of it

    def said(self, command: int = -1, stream: str = "out") -> Path:
        """The file of what a command said; by default the last one."""
        number = command % len(self.order.commands)
        return self.path / f"{stream}-{number}.txt"

    def sentence(self) -> str:
        """What went wrong, in the words of the command: its last line on standard error."""
        number = int(self.result().get("command", 0))
        try:
            with open(self.said(number, "err"), "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(file.tell() - MOST_SAID, 0))
                lines = file.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1].removeprefix("gmcr: ")[:2000] if lines else ""

    # What is done to it

    def end(self, state: str, **facts: Any) -> None:
        write_whole(self.path / "result.json", json.dumps({"state": state} | facts).encode())

    def ask_to_end(self, *, keep: bool) -> None:
        """Ask its process to end; keep : with the best found so far, where its command can."""
        write_whole(self.path / "stop.json", json.dumps({"keep": keep}).encode())
        number = _read(self.path / "process.json").get("process")
        if isinstance(number, int) and number > 1 and self.is_held():  # so that the number is still its own
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGINT if keep else signal.SIGTERM)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
