"""How much memory and time processes may take, and how it is seen to."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LEAST = 1 << 30  # bytes for any command: what Python and its packages take, and a small table
SHARE = 0.5  # of the memory that is free, for a command that nobody told more
OWN = 768 << 20  # bytes that a process takes before it reads anything: packages, and the stacks of threads


def fit_memory(told: int | None) -> int:
    """Bytes that a command may take: as many as told, or half of what is free."""
    from gmcr.io.limits import free_memory

    return told if told is not None else max(int(SHARE * free_memory()), LEAST)


def read_memory(path: Path) -> int:
    """Bytes that reading a file and drawing it may take: what `gmcr.read` allows it, and what Python takes."""
    from gmcr.io.formats import Asked
    from gmcr.io.limits import room

    return OWN + room(path, Asked())


def cap_memory(size: int) -> None:
    """Let this process, and those that it begins, have so much memory each, where a system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def cap_seconds(seconds: float) -> None:
    """Let this process have so many more seconds of the processor, where a system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
