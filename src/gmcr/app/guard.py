"""The one layer in front of everything: nothing gets past it that is not known to come from our own page.

It looks at the request's line and headers alone, so that whoever is refused was not listened to. What is not told
is refused: a browser that sends no `Sec-Fetch-Site` (before 2023) is too old, and so is every other program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from hmac import compare_digest
from html import escape

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gmcr.app import language
from gmcr.app.entrance import Entrance, Session

KEY = "x-gmcr-key"
READING = ("GET",)  # methods that change nothing; browsers send no Origin with these


class Door(Enum):
    """What a request must show to be let through to a route."""

    ENTRANCE = "the page that takes a token, reached from anywhere, as a page of its own"
    ENTRANCE_PART = "its script and style, and the token itself: from that page alone"
    PAGE = "a cookie; reached from itself, by hand or by a bookmark"
    PART = "a cookie; from our page alone"
    CLOSED = "a cookie and the key that belongs to it; from our page alone"


@dataclass(frozen=True)
class Headers:
    """Headers that count, each of which may stand once."""

    values: dict[str, str]

    NAMES = ("host", "origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "cookie", KEY)

    @classmethod
    def of(cls, given: Iterable[tuple[bytes, bytes]]) -> Headers | None:
        found: dict[str, str] = {}
        for raw, value in given:
            name = raw.decode("latin-1").lower()
            if name in cls.NAMES:
                if name in found:
                    return None
                found[name] = value.decode("latin-1")
        return cls(found)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")


class Guard:
    """Lets through to `app` what may pass.

    address : host and port, as browsers must name them
    door_of : the door that a request stands before; what is nowhere is behind the strictest
    """

    def __init__(
        self, app: ASGIApp, address: str, entrance: Entrance, door_of: Callable[[Scope], Door]
    ) -> None:
        self.app, self.address, self.entrance, self.door_of = app, address, entrance, door_of
        self.cookie = f"gmcr-{address.rpartition(':')[2]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif self.may_pass(scope):
            await self.app(scope, receive, _with_headers(send))
        else:
            await _refusal(scope)(scope, receive, _with_headers(send))

    def may_pass(self, scope: Scope) -> bool:
        headers = Headers.of(scope["headers"])
        if headers is None or headers["host"] != self.address:
            return False
        method, door = scope["method"], self.door_of(scope)
        origin, site = headers["origin"], headers["sec-fetch-site"]
        if origin != f"http://{self.address}" and not (origin == "" and method in READING):
            return False
        alone = headers["sec-fetch-mode"] == "navigate" and headers["sec-fetch-dest"] == "document"
        if door is Door.ENTRANCE:
            return alone
        if site != "same-origin" and not (door is Door.PAGE and alone and site == "none"):
            return False
        if door is Door.ENTRANCE_PART:
            return True
        session = self.session(headers)
        if session is None:
            return False
        return door is not Door.CLOSED or compare_digest(headers[KEY].encode(), session.key.encode())

    def session(self, headers: Headers) -> Session | None:
        """That of the cookie; another program on this host may have set others of its name."""
        pairs = (part.partition("=") for part in headers["cookie"].split(";"))
        given = (value.strip() for name, _, value in pairs if name.strip() == self.cookie)
        return next((found for value in given if (found := self.entrance.session(value))), None)


# What stands in every answer, unless its route says otherwise.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": given + [one for one in more if one[0] not in names]}
        await send(message)

    return sending


def _refusal(scope: Scope) -> Response:
    """The same for every reason. The connection ends, so that nobody waits for a body to be read."""
    wanted: dict[bytes, bytes] = dict(scope["headers"])
    end = {"connection": "close"}
    if wanted.get(b"sec-fetch-dest") != b"document":
        return JSONResponse({"error": "refused"}, 403, end)
    told, spoken = language.texts(wanted.get(b"accept-language", b"").decode("latin-1"))
    words = {name: escape(told[f"refused.{name}"]) for name in ("title", "text")}
    return Response(REFUSED.format(spoken=spoken, **words), 403, end, "text/html; charset=utf-8")


REFUSED = (
    '<!DOCTYPE html><html lang="{spoken}"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>gmcr</title></head>'
    "<body><h1>{title}</h1><p>{text}</p></body></html>"
)
