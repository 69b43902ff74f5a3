"""The server's side of the processes that read: one for each project, for as long as it is being looked at."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from gmcr.app.project import GIVEN, Project
from gmcr.app.settings import READING, told

MOST = 3  # processes at once; the one that was asked longest ago goes
IDLE = 120.0  # seconds after which one that nobody asks goes
PATIENCE = 1_800.0  # seconds by the clock for an answer; what is allowed of the processor is in child.py
OUT_OF_TIME = -getattr(signal, "SIGXCPU", 99)
LARGEST = 32 << 20  # bytes of an answer


class Reader:
    """A process that holds the samples of one file."""

    def __init__(self, data: Path, state: Any) -> None:
        self.data, self.state = data, state
        self.asked = time.monotonic()
        self.lock = asyncio.Lock()
        self.process: asyncio.subprocess.Process | None = None

    async def ask(self, question: dict[str, Any]) -> bytes:
        """The answer, as JSON; what went wrong is one too."""
        self.asked = time.monotonic()
        async with self.lock:
            try:
                answer = await asyncio.wait_for(self._ask(question), PATIENCE)
            except TimeoutError:
                self.end()
                return b'{"error":"slow"}'
            except (OSError, ValueError, asyncio.IncompleteReadError):
                return await self._why()
        self.asked = time.monotonic()
        return answer

    async def _ask(self, question: dict[str, Any]) -> bytes:
        if self.process is None or self.process.returncode is not None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "gmcr.app.previews.child",
                str(self.data),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # an interruption of the server is not for it
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        await self.process.stdin.drain()
        length = int(await self.process.stdout.readline())
        if not 0 <= length <= LARGEST:
            raise ValueError("the answer is too long")
        return await self.process.stdout.readexactly(length)

    async def _why(self) -> bytes:
        """Why there is no answer: its time was over, or it was not given the memory that it asked for."""
        code = None
        if self.process is not None:
            with suppress(TimeoutError):
                code = await asyncio.wait_for(self.process.wait(), 1.0)
        self.end()
        return b'{"error":"slow"}' if code == OUT_OF_TIME else b'{"error":"memory"}'

    def end(self) -> None:
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()
        self.process = None


class Readers:
    """All of them, by project."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}
        self._known: dict[str, tuple[Any, bytes]] = {}  # how data were read, by project

    async def read(self, project: Project) -> bytes:
        """How a project's data are read, with its settings."""
        settings = told(project)
        asked = {name: settings.get(name) for name in (*READING, "order", "runs")}
        state = asked, state_of(project.path / str(project.data()))
        known = self._known.get(project.name)
        if known is None or known[0] != state:
            self._known[project.name] = known = state, await self._ask(project, "read")
        return known[1]

    def size(self, project: Project) -> dict[str, Any]:
        """How many samples and channels a project has, as far as that was found out."""
        try:
            facts = json.loads(self._known[project.name][1])
            return {name: facts[name] for name in ("samples", "channels")}
        except (KeyError, TypeError, ValueError):
            return {}

    async def steps(self, project: Project) -> bytes:
        """What the steps of a project's settings do."""
        return await self._ask(project, "steps")

    async def _ask(self, project: Project, what: str) -> bytes:
        data = project.path / str(project.data())
        reader = self._reader(project.name, data)
        given = str(project.path / GIVEN)
        return await reader.ask({"do": what, "settings": told(project), "data": str(data), "given": given})

    def _reader(self, name: str, data: Path) -> Reader:
        state = state_of(data)
        found = self._readers.get(name)
        if found is not None and (found.data != data or found.state != state):
            self.end(name)
            found = None
        if found is None:
            while len(self._readers) >= MOST:
                self.end(min(self._readers, key=lambda one: self._readers[one].asked))
            found = self._readers[name] = Reader(data, state)
        return found

    def rest(self) -> None:
        """End those that nobody has asked for a while."""
        now = time.monotonic()
        for name in [
            n for n, one in self._readers.items() if now - one.asked > IDLE and not one.lock.locked()
        ]:
            self.end(name)

    def end(self, name: str) -> None:
        """Of a project; it is begun anew when it is asked again."""
        reader = self._readers.pop(name, None)
        if reader is not None:
            reader.end()

    async def end_all(self) -> None:
        """When the server ends; its loop must see them end too."""
        processes = [one.process for one in self._readers.values() if one.process is not None]
        for name in list(self._readers):
            self.end(name)
        for process in processes:
            with suppress(ProcessLookupError):
                await process.wait()


def state_of(data: Path) -> Any:
    """What tells one state of a file, or of the files of a folder, from another."""
    paths = sorted(data.iterdir()) if data.is_dir() else [data]
    return [(path.name, (found := path.stat()).st_mtime_ns, found.st_size) for path in paths]
