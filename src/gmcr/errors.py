"""The errors gmcr raises on purpose: each message is one sentence that says what to do."""


class GMCRError(Exception):
    """Base of every error that gmcr raises on purpose."""


class InputError(GMCRError, ValueError):
    """An argument or a table that cannot be used as given."""


class FileError(GMCRError, OSError):
    """A file that is missing, damaged or not what it claims to be."""
