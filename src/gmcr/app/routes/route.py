"""What a route is."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from gmcr.app.guard import Door
from gmcr.app.shapes import Shape

if TYPE_CHECKING:
    from gmcr.app.state import State

BYTES = "application/octet-stream"
JSON = "application/json"
MOST_BODY = 1 << 20  # bytes of JSON


@dataclass(frozen=True)
class Asked:
    """A request as a handler gets it: its values are of the shapes that the route says.

    path : by the names in the route's path; query and body : as they came, checked
    """

    state: State
    request: Request
    path: dict[str, str]
    query: dict[str, Any]
    body: Any = None


Handler = Callable[[Asked], Awaitable[Response]]


@dataclass(frozen=True)
class Route:
    """One thing that can be asked.

    path : with names in braces, each of which stands for one part of a path
    takes : the shape of the body, `BYTES` for any bytes, None for no body
    query : shapes by name, of texts and whole numbers; those in `needed` must be there
    answers : codes beside those that every route has, with what they mean
    gives : the media type of what it answers
    """

    method: str
    path: str
    handler: Handler
    about: str
    door: Door = Door.CLOSED
    takes: Shape | str | None = None
    query: dict[str, Shape] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    answers: dict[int, str] = field(default_factory=dict)
    gives: str = JSON

    @property
    def names(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    def match(self, method: str, raw: str) -> dict[str, str] | None:
        """The names' values in a raw path, still percent-encoded, if it is this route's."""
        if method != self.method:
            return None
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(self.path))
        found = re.fullmatch(pattern, raw)
        if found is None:
            return None
        try:
            return {name: unquote(value, errors="strict") for name, value in found.groupdict().items()}
        except UnicodeDecodeError:
            return None
