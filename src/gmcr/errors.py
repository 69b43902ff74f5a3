"""The errors gmcr raises on purpose: each message is one sentence that says what to do.

Messages name what files hold, and files may come from anyone: `printable` makes such text fit to show.
"""


class GMCRError(Exception):
    """Base of every error that gmcr raises on purpose."""


class InputError(GMCRError, ValueError):
    """An argument or a table that cannot be used as given."""


class NotInstalled(InputError):
    """What a file names and no installed package adds."""


class FileError(GMCRError, OSError):
    """A file that is missing, damaged or not what it claims to be."""


def printable(text: str) -> str:
    """Text without control characters, which could steer a terminal, and marks that change its direction."""
    return "".join(character if character.isprintable() else "�" for character in text)
