"""A call in a forked process: what it takes can be measured and limited, and no interpreter need be started."""

import os
import pickle
from typing import NamedTuple

from gmcr.errors import GMCRError
from gmcr.io.apart import PATIENCE, read_limited
from gmcr.io.formats import FORMATS, NOTHING, format_of
from gmcr.io.reading import read


class Outcome(NamedTuple):
    """What came of it: the value or the error, the seconds of the processor, and the MB beyond what was there."""

    value: object
    error: BaseException | None
    seconds: float
    megabytes: float


def forked(call, *arguments):
    """The outcome of a call; a process that ended without a word has an error of its own."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        before = _peak()
        try:
            answer = call(*arguments), None
        except BaseException as error:
            answer = (
                None,
                error if isinstance(error, GMCRError) else RuntimeError(f"{type(error).__name__}: {error}"),
            )
        with open(theirs, "wb") as file:
            pickle.dump((*answer, before), file)
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        content = file.read()
    _, status, used = os.wait4(child, 0)
    error = RuntimeError(f"it ended with status {status}")
    value, error, before = pickle.loads(content) if content else (None, error, 0.0)
    return Outcome(value, error, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024 - before)


def _peak():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_as_apart(path):
    """`gmcr.read`, here: formats that packages parse get the limits that a process of their own would have."""
    name = None if path.suffix == ".gmcr" or not path.is_file() else format_of(path)
    if name is None or not FORMATS[name].apart:
        return read(path)
    result = read_limited(path, name, NOTHING, int(PATIENCE))
    if isinstance(result, GMCRError):
        raise result
    return result
