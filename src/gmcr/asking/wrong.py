"""What is raised where an option cannot be used as it was given."""

from __future__ import annotations

from gmcr.errors import InputError


class WrongOption(InputError):
    """An option that cannot be used as it was given: the call was wrong, not the work."""

    exit_code = 2  # of a command
