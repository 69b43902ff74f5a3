"""Who may come in: tokens that open once, sessions that they open, and tickets for single files.

A token goes from `gmcr app` to the browser in a file that only its user can read, since everybody on the
machine can read the arguments of a browser, and from the browser to the server in the body of a request, so
that it is in no address, no log and no referrer. For it the browser gets a cookie and a key. Cookies do not
know ports: the pages of other programs on this host are sent it too. The key is kept where ports count, and
every request that tells or does something needs both.
"""

from __future__ import annotations

import html
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from gmcr.app.home import FOR_ME

TOKENS = "tokens"  # folder with an empty file for each token that can still be used, named by its digest
OPENING = "open.html"
TICKET_LIFE = 60.0  # seconds
MOST_TICKETS, MOST_SESSIONS = 1_000, 1_000


def new_token(private: Path) -> str:
    """A token that opens the server of this folder once; whoever can write here may make one."""
    folder = private / TOKENS
    folder.mkdir(mode=FOR_ME, exist_ok=True)
    token = secrets.token_urlsafe(32)
    os.close(os.open(folder / _digest(token), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return token


def write_opening(private: Path, address: str) -> Path:
    """A file that leads a browser in: readable by its user alone, with a new token in it."""
    path = private / OPENING
    target = html.escape(f"http://{address}/enter#{new_token(private)}", quote=True)
    page = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>gmcr</title>'
        f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={target}"></head>'
        f'<body><p><a href="{target}">gmcr</a></p></body></html>'
    )
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(page)
    return path


@dataclass(frozen=True)
class Session:
    """What a browser that came in has: a cookie, and a key that only pages of this very port can read."""

    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


@dataclass(frozen=True)
class Ticket:
    """What may be fetched once, without the key: a frame and a download cannot send it."""

    path: Path
    name: str  # that the file is saved under
    kind: str  # its media type
    shown: bool  # in a frame, rather than saved
    until: float


class Entrance:
    """Tokens, sessions and tickets of a server; all but the tokens end with it."""

    def __init__(self, private: Path) -> None:
        self.private = private
        self._sessions: dict[str, Session] = {}
        self._tickets: dict[str, Ticket] = {}

    def begin(self) -> None:
        """No token of an earlier server opens this one."""
        for path in (self.private / TOKENS).glob("*"):
            path.unlink(missing_ok=True)

    def enter(self, token: str) -> Session | None:
        """A session for a token that was never used; whoever removes its file has used it."""
        try:
            (self.private / TOKENS / _digest(token)).unlink()
        except (OSError, ValueError):
            return None
        with suppress(OSError):
            (self.private / OPENING).unlink()
        session = Session()
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[_digest(session.cookie)] = session
        return session

    def session(self, cookie: str) -> Session | None:
        return self._sessions.get(_digest(cookie))

    def ticket(self, path: Path, name: str, kind: str, shown: bool = False) -> str:
        """A word for which a file is given out, once and soon."""
        now = time.monotonic()
        self._tickets = {word: one for word, one in self._tickets.items() if one.until > now}
        while len(self._tickets) >= MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        word = secrets.token_urlsafe(32)
        self._tickets[_digest(word)] = Ticket(path, name, kind, shown, now + TICKET_LIFE)
        return word

    def redeem(self, word: str) -> Ticket | None:
        found = self._tickets.pop(_digest(word), None)
        return found if found is not None and found.until > time.monotonic() else None


def _digest(secret: str) -> str:
    """What secrets are found by: how long that takes tells nothing about them."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
