"""All routes, and which one a request is for. What is not here is refused; the schema says the same as this."""

from __future__ import annotations

import json
import logging
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from gmcr.app import settings
from gmcr.app.guard import Door
from gmcr.app.project import PLACES
from gmcr.app.routes import files, pages, projects, results, stream, work
from gmcr.app.routes.answers import Refused, refusal
from gmcr.app.routes.route import BYTES, JSON, MOST_BODY, Asked, Route
from gmcr.app.shapes import fits, flag, record, text, whole
from gmcr.app.state import State
from gmcr.errors import FileError

LOG = logging.getLogger("gmcr.app")

PROJECT = "/api/projects/{project}"
TITLE = record({"title": text(200)})
COUNT = whole(1, 100_000)
NAME = text(255, least=1)
NAMES = {
    "type": "object",
    "additionalProperties": text(200),
    "propertyNames": {"pattern": "^[0-9]{1,6}$"},
    "maxProperties": 10_000,
}
BUSY = {409: "it cannot be done now: a job works on the project, or what it takes is not there"}
GONE = {404: "there is no such thing"}
ROUTES = (
    Route("GET", "/enter", pages.entrance, "the way in", Door.ENTRANCE, gives="text/html"),
    Route("POST", "/enter", pages.enter, "a cookie and a key for a token", Door.ENTRANCE_PART,
          takes=record({"token": text(100)})),
    Route("GET", "/enter/{name}", pages.entrance_part, "its script and style", Door.ENTRANCE_PART,
          answers=GONE, gives="text/*"),
    Route("GET", "/", pages.page, "the page", Door.PAGE, gives="text/html"),
    Route("GET", "/static/{name}", pages.part, "its scripts and styles", Door.PART, answers=GONE, gives="text/*"),
    Route("GET", "/open/{ticket}", results.open_, "a file, once", Door.PART, answers=GONE, gives="*/*"),
    Route("GET", "/api/stream", stream.changes, "what has changed, as it changes", gives="text/event-stream"),
    Route("POST", "/api/quit", work.quit_, "end the server; fits go on", takes=record({})),
    Route("GET", "/api/projects", projects.overview, "all projects"),
    Route("POST", "/api/projects", projects.create, "a new project", takes=TITLE),
    Route("GET", PROJECT, projects.show, "a project", answers=GONE | BUSY),
    Route("DELETE", PROJECT, projects.remove, "remove a project", answers=GONE | BUSY),
    Route("PUT", PROJECT + "/title", projects.rename, "another title", takes=TITLE, answers=GONE | BUSY),
    Route("PUT", PROJECT + "/settings", projects.settings, "all settings", takes=settings.SHAPE,
          answers=GONE | BUSY),
    Route("POST", PROJECT + "/copy", projects.copy, "a copy without the run", takes=TITLE, answers=GONE | BUSY),
    Route("PUT", PROJECT + "/files/{place}", files.upload, "give a file", takes=BYTES,
          query={"name": text(1000), "folder": text(1000)}, needed=("name",),
          answers=GONE | BUSY | {413: "it is too large", 429: "there are too many", 507: "the disk is full"}),
    Route("DELETE", PROJECT + "/files/{place}", files.discard, "remove a file that was given",
          query={"name": text(1000)}, needed=("name",), answers=GONE | BUSY),
    Route("GET", PROJECT + "/reading", files.reading, "how the data are read",
          answers=GONE | BUSY | {422: "they cannot be read"}),
    Route("GET", PROJECT + "/steps", files.steps, "what the steps do",
          answers=GONE | BUSY | {422: "they cannot be done"}),
    Route("POST", PROJECT + "/fit", work.fit, "unmix", takes=record({"go_on": flag()}),
          answers=GONE | BUSY | {429: "too many jobs wait"}),
    Route("POST", PROJECT + "/stop", work.stop, "end a job",
          takes=record({"job": text(60), "keep": flag()}), answers=GONE | BUSY),
    Route("POST", PROJECT + "/page", work.count, "make what is shown of a count",
          takes=record({}, {"count": COUNT}), answers=GONE | BUSY | {429: "too many jobs wait"}),
    Route("GET", PROJECT + "/page", results.page, "what is shown of a count", query={"count": COUNT},
          answers=GONE | BUSY),
    Route("GET", PROJECT + "/sample", results.sample, "one sample",
          query={"count": COUNT, "number": whole(0, 10**9), "width": whole(1, 10**6)},
          needed=("number", "width"), answers=GONE | BUSY),
    Route("POST", PROJECT + "/names", work.names, "names of components",
          takes=record({"names": NAMES}), answers=GONE | BUSY | {429: "too many jobs wait"}),
    Route("POST", PROJECT + "/match", work.match, "names from a library", takes=record({"library": NAME}),
          answers=GONE | BUSY | {429: "too many jobs wait"}),
    Route("POST", PROJECT + "/decode", work.decode, "decode new samples", takes=record({"new": NAME}),
          answers=GONE | BUSY | {429: "too many jobs wait"}),
    Route("GET", PROJECT + "/decoded", results.decoded, "what new samples hold", query={"new": text(1000)},
          needed=("new",), answers=GONE | BUSY),
    Route("POST", PROJECT + "/compare", work.compare, "compare with another run", takes=record({"other": NAME}),
          answers=GONE | BUSY | {429: "too many jobs wait"}),
    Route("GET", PROJECT + "/compared", results.compared, "what differs from another run", answers=GONE | BUSY),
    Route("GET", PROJECT + "/takings", results.takings, "what there is to take away", answers=GONE | BUSY),
    Route("GET", PROJECT + "/commands", results.said, "commands that do the same", answers=GONE | BUSY),
    Route("POST", PROJECT + "/ticket", results.ticket, "an address to have a file from, once",
          takes=record({"what": text(60), "show": flag()}, {"name": text(255)}), answers=GONE | BUSY),
)  # fmt: skip


def find(method: str, raw: str) -> tuple[Route, dict[str, str]] | None:
    """The route of a method and a raw path, and the values of the names in it."""
    for route in ROUTES:
        if (path := route.match(method, raw)) is not None:
            return route, path
    return None


def raw_path(scope: Scope) -> str:
    """The path as it was asked for, still percent-encoded: a slash in a name is no slash of the path."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.split(b"?")[0].decode("latin-1")


def door_of(scope: Scope) -> Door:
    """The door that a request stands before; what is not known is behind the strictest."""
    found = find(scope["method"], raw_path(scope))
    return Door.CLOSED if found is None else found[0].door


class Dispatcher:
    """Calls the handler of a request that the guard let through, with values that are what the route says."""

    def __init__(self, state: State) -> None:
        self.state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except Refused as error:
            answer = refusal(error)
        except ClientDisconnect:
            return
        except FileNotFoundError:  # what was there a moment ago
            answer = refusal(Refused("unknown"))
        except FileError as error:
            answer = refusal(Refused("failed", str(error)))
        except Exception:
            LOG.exception("a handler failed")  # without the request, which holds secrets
            answer = JSONResponse({"error": "unexpected"}, 500, {"connection": "close"})
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        found = find(request.method, raw_path(request.scope))
        if found is None:
            raise Refused("unknown")
        route, path = found
        asked = Asked(self.state, request, path, _query(route, request))
        if path.get("place", PLACES[0]) not in PLACES:
            raise Refused("unknown")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if route.takes == BYTES and kind != BYTES:
            raise Refused("wrong")
        if isinstance(route.takes, dict):
            if kind != JSON:
                raise Refused("wrong")
            asked = Asked(self.state, request, path, asked.query, await _body(request, route.takes))
        return await route.handler(asked)


def _query(route: Route, request: Request) -> dict[str, Any]:
    """The values of a query, each once and of its shape."""
    given = request.query_params.multi_items()
    names = [name for name, _ in given]
    if len(set(names)) < len(names) or set(names) - set(route.query) or set(route.needed) - set(names):
        raise Refused("wrong")
    found: dict[str, Any] = {}
    for name, value in given:
        shape = route.query[name]
        if shape["type"] == "integer":
            if not (value.isascii() and value.isdigit() and len(value) < 12):
                raise Refused("wrong")
            found[name] = int(value)
        else:
            found[name] = value
        if not fits(found[name], shape):
            raise Refused("name" if name in ("name", "folder") else "wrong")
    return found


async def _body(request: Request, shape: dict[str, Any]) -> Any:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BODY:
            raise Refused("too-large")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise Refused("wrong") from None
    if not fits(value, shape):
        raise Refused("wrong")
    return value
