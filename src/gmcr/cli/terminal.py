"""What a command meets around it: streams that are closed or cannot say every character, and signals."""

from __future__ import annotations

import codecs
import os
import re
import signal
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 128 + signal.SIGINT
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

# How characters of our texts are written where they cannot be shown. Greek letters have their names; others lose
# their accents, or become "?".
_SPELLED = {
    "⁻": "^-", "¹": "1", "²": "^2", "³": "^3", "µ": "u", "≈": "~", "≤": "<=", "≥": ">=", "–": "-", "—": "-",
    "−": "-", "…": "...", "×": "x", "±": "+/-", "·": "*", "°": " deg", "‖": "||", "ℓ": "l", "→": "->",
    "√": "sqrt", "∞": "inf", "’": "'", "“": '"', "”": '"',
}  # fmt: skip


class Kept(Exception):
    """A command was interrupted and has kept the best found so far."""


class NoReader(Exception):
    """Nobody reads standard output any more."""


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_SPELLED.get(one) or _plain(one) for one in characters), error.end


def _plain(character: str) -> str:
    greek = re.fullmatch(
        r"GREEK (?:(CAPITAL) LETTER |SMALL LETTER |LUNATE )?(\w+)( SYMBOL)?", _name(character)
    )
    if greek:
        return greek[2].title() if greek[1] else greek[2].lower()
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"


def _name(character: str) -> str:
    return unicodedata.name(character, "")


codecs.register_error("gmcr.spelled", _spelled)


def prepare_streams() -> None:
    """Let no text fail for its characters, and let what is closed take in everything."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # or the next file that is opened would be standard output
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            with suppress(OSError, ValueError):  # somebody else's stream
                stream.reconfigure(errors="gmcr.spelled")


def speaks_unicode() -> bool:
    """Whether standard output can show any character."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


def silence() -> None:
    """After nobody reads any more: what is still written goes nowhere, also when the interpreter ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def signals() -> Iterator[list[int]]:
    """Within this, SIGINT and SIGTERM raise KeyboardInterrupt; the list tells which came, the first one first."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = {}
    try:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as in the background of a shell
                before[number] = signal.signal(number, note)
    except ValueError:  # not in the main thread, where no signal comes
        pass
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
