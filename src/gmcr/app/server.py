"""The server of `gmcr app`: one for a folder, on this machine alone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from gmcr.app.entrance import Entrance, write_opening
from gmcr.app.guard import Guard
from gmcr.app.home import Home
from gmcr.app.routes.table import Dispatcher, door_of
from gmcr.app.state import State
from gmcr.errors import FileError, InputError
from gmcr.files import lock_file, write_whole

HOST = "127.0.0.1"
ADDRESS = "server.json"  # of the server that runs, or ran last
LAST_WORDS = 2  # seconds that answers have to be finished when the server ends
MOST_LOGGED = 1 << 20  # bytes


@dataclass(frozen=True)
class Opened:
    """How a browser gets in.

    address : host and port; opening : the file to open; runs : whether a server was there already
    told : what else there is to say
    """

    address: str
    opening: Path
    runs: bool
    told: tuple[str, ...] = ()


def serve(folder: Path, port: int | None, memory: int | None, opened: Callable[[Opened], None]) -> None:
    """Serve a folder until the page or a signal ends it, or lead to the server that does so already.

    port : None for the one it had last, if it is free
    memory : bytes that a command may take, None for what is usual
    opened : called once a browser can get in
    """
    os.umask(0o077)  # whatever is made here and by the processes of jobs is for their user alone
    home, told = Home.opened(folder)
    lock = os.open(home.private / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not lock_file(lock):
            address = _known(home)
            opened(Opened(address, write_opening(home.private, address), True, tuple(told)))
            return
        with _listening(home, port) as listener:
            _serve(home, listener, memory, opened, told)
    finally:
        os.close(lock)


def application(state: State, address: str) -> ASGIApp:
    """Everything behind the guard."""
    return Guard(Dispatcher(state), address, state.entrance, door_of)


def _serve(
    home: Home,
    listener: socket.socket,
    memory: int | None,
    opened: Callable[[Opened], None],
    told: list[str],
) -> None:
    address = f"{HOST}:{listener.getsockname()[1]}"
    state = State(home, Entrance(home.private), memory)
    state.begin()
    _log_to(home.private / "server.log")
    write_whole(home.private / ADDRESS, json.dumps({"address": address, "process": os.getpid()}).encode())
    server = Server(state, address)
    with suppress(KeyboardInterrupt):
        asyncio.run(server.serve_until_ended(listener, lambda: opened(
            Opened(address, write_opening(home.private, address), False, tuple(told))
        )))  # fmt: skip


class Server(uvicorn.Server):
    """uvicorn's, which ends when the state says so, and with it what listens for changes."""

    def __init__(self, state: State, address: str) -> None:
        self.state = state
        super().__init__(
            uvicorn.Config(
                application(state, address),
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=LAST_WORDS,
            )
        )

    async def serve_until_ended(self, listener: socket.socket, ready: Callable[[], None]) -> None:
        watching = asyncio.create_task(self.state.watch())
        ending = asyncio.create_task(self._end_with_state())
        opening = asyncio.create_task(self._when_ready(ready))
        try:
            await self.serve(sockets=[listener])
        finally:
            self.state.ending.set()
            for task in (watching, ending, opening):
                task.cancel()
            await self.state.readers.end_all()

    async def _end_with_state(self) -> None:
        await self.state.ending.wait()
        self.should_exit = True

    async def _when_ready(self, ready: Callable[[], None]) -> None:
        while not self.started:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(ready)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """An interruption is the usual way to end a server, and no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.state.ending.set()
        self.should_exit = True


@contextmanager
def _listening(home: Home, port: int | None) -> Iterator[socket.socket]:
    """A socket that listens on this machine alone: at the port told, that of last time, or any that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        last = 0
        with suppress(ValueError, FileError):
            last = int(_known(home).rpartition(":")[2])
        for one in [port] if port is not None else [last, 0]:
            try:
                listener.bind((HOST, one))
            except OSError as error:
                if port is not None:
                    raise InputError(
                        f"port {port} cannot be had: {error.strerror}; leave --port out."
                    ) from None
                continue
            break
        listener.listen(128)
        yield listener


def _known(home: Home) -> str:
    """The address of the server that runs here, or ran last."""
    try:
        told = json.loads((home.private / ADDRESS).read_bytes())
        return str(told["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise FileError(f"a server of {home.path} is about to begin; try again in a moment.") from None


def _log_to(path: Path) -> None:
    """What goes wrong in the server, for those who mend it. No address and no header is ever written."""
    with suppress(OSError):
        if path.stat().st_size > MOST_LOGGED:
            path.unlink()
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    for name in ("uvicorn", "gmcr.app"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
