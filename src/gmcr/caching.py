"""A folder for compiled code where there is none: numba refuses to compile if it may write to no cache."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path


def provide_cache() -> None:
    """See to it that numba can keep compiled code: with the package, in the user's cache, else for this process.

    A folder of our own is new and nobody else's, since what is in it will be run.
    """
    told = os.environ.get("NUMBA_CACHE_DIR")
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    places = [Path(told)] if told else [Path(__file__).parent, user]
    if any(place.is_absolute() and _writable(place) for place in places):  # "~" itself where there is no home
        return
    try:
        folder = tempfile.mkdtemp(prefix="gmcr-")
    except OSError:
        return  # numba says what is missing
    os.environ["NUMBA_CACHE_DIR"] = folder
    if "numba" in sys.modules:  # which has read that already
        sys.modules["numba"].config.CACHE_DIR = folder
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # and no process that was forked from it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if need be."""
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
