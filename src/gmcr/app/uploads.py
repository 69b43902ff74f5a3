"""Files that are given: their names, and their bytes, which go to the disk as they come.

A name is what a person sees and what a table calls its samples by, so it is kept, or refused; it is never changed
into another. One that a system could take for a path, a device or an option of its own is refused.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import unicodedata
from contextlib import suppress
from pathlib import Path

from starlette.requests import ClientDisconnect, Request

LARGEST = 4 << 30  # bytes of one file
PROJECT = 16 << 30  # bytes of all that is given to a project
MOST_FILES = 20_000
LEFT = 1 << 30  # bytes of the disk that are nobody's
LONGEST = 200  # bytes of a name
DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
REFUSED = set('/\\:*?|"\0\ufffd')  # what means something in a path, here or elsewhere; what was no text


class TooLarge(Exception):
    """More bytes than there is room for."""


def is_name(name: str) -> bool:
    """Whether a text can be the name of a file, on any system, and nothing else."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return False
    return (
        0 < size <= LONGEST
        and name == name.strip()
        and name[0] not in ".~-"
        and name[-1] != "."
        and not REFUSED & set(name)
        and all(character.isprintable() for character in name)
        and name == unicodedata.normalize("NFC", name)
        and not DEVICES.fullmatch(name)
    )


def room(project_size: int, folder: Path) -> int:
    """Bytes that a file may have."""
    free = shutil.disk_usage(folder).free - LEFT
    return max(min(LARGEST, PROJECT - project_size, free), 0)


async def receive(request: Request, folder: Path, name: str, most: int) -> int:
    """Write the body to a file of the folder, whole or not at all; its size."""
    told = request.headers.get("content-length", "")
    if told and (not told.isascii() or not told.isdigit() or len(told) > 18 or int(told) > most):
        raise TooLarge
    folder.mkdir(parents=True, exist_ok=True)
    begun = folder / f".{secrets.token_hex(8)}.part"
    size = 0
    try:
        descriptor = os.open(begun, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise TooLarge
                file.write(part)
        if told and size != int(told):
            raise ClientDisconnect
        os.replace(begun, folder / name)
    finally:
        with suppress(FileNotFoundError):
            begun.unlink()
    return size


def sweep(folder: Path) -> None:
    """Remove what was cut off while it came, when an earlier server ended."""
    for parent, _, names in os.walk(folder):
        for name in names:
            if re.fullmatch(r"\.[0-9a-f]{16}\.part", name):
                with suppress(OSError):
                    os.unlink(os.path.join(parent, name))
