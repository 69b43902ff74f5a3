"""What has changed, as it changes: server-sent events, a line for each project that is another one now.

One page of a browser listens and tells the others (browsers open six connections to a server, whatever the number
of their pages); whoever hears of a change asks for the project anew.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from gmcr.app.routes.answers import Refused
from gmcr.app.routes.route import Asked
from gmcr.app.state import TICK, State

QUIET = 10.0  # seconds after which a line says that we are still here
MOST = 64  # streams at once


async def changes(asked: Asked) -> Response:
    if asked.state.listening >= MOST:
        raise Refused("full")
    return StreamingResponse(_lines(asked.state), media_type="text/event-stream")


async def _lines(state: State) -> AsyncIterator[bytes]:
    known, quiet = dict(state.versions), 0.0
    state.listening += 1
    try:
        yield _event({"begun": True})
        while not state.ending.is_set():
            await asyncio.sleep(TICK)
            changed = [name for name, version in state.versions.items() if known.get(name) != version]
            quiet += TICK
            if changed:
                known = dict(state.versions)
                yield _event({"changed": changed})
            elif quiet >= QUIET:
                yield _event({})
            else:
                continue
            quiet = 0.0
    finally:
        state.listening -= 1


def _event(told: dict[str, object]) -> bytes:
    return b"data: " + json.dumps(told).encode() + b"\n\n"
