"""Calls killed at every one of their file operations in turn, so that each state of a folder that they can leave
behind is seen.

The call runs in a process forked from this warm one. Before every operation a copy of the folder is looked at: it
is what a process leaves that is killed there. Every tenth time one is: a child, which is what the process itself
is at that moment.
"""

import os
import shutil
import signal
import sys

from forked import forked

EVERY = 10  # operations at which a child is killed: to fork takes longer than to look
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}


def kill_everywhere(call, folder, check, spare):
    """How many operations the call has; after a kill at each, `check` is called with a copy of the folder.

    spare : a folder for copies
    """
    outcome = forked(_run, call, folder, check, spare)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _run(call, folder, check, spare):
    harness = _Harness(folder, check, spare / "copy")
    harness.arm()
    call()
    harness.armed = False
    check(folder)
    assert harness.kills > 0
    return harness.kills


class _Harness:
    def __init__(self, folder, check, copy):
        self.folder, self.check, self.copy = folder, check, copy
        self.kills, self.armed = 0, False
        self.fine = set()  # states that were looked at

    def arm(self):
        def hook(event, arguments):
            writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if self.armed and (event in CHANGES or writes):
                self.operation()

        def fsync(descriptor):
            if self.armed:
                self.operation()
            flush(descriptor)

        flush, os.fsync = os.fsync, fsync
        sys.addaudithook(hook)
        self.armed = True

    def operation(self):
        """Called before a file operation is done."""
        self.armed = False
        if self.kills % EVERY == 0:
            child = os.fork()
            if child == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL
        self.kills += 1
        self.look()
        self.armed = True

    def look(self):
        state = _state(self.folder)
        if state in self.fine:
            return
        if self.folder.exists():
            shutil.copytree(self.folder, self.copy, symlinks=True)
        self.check(self.copy)
        self.fine.add(state)
        shutil.rmtree(self.copy, ignore_errors=True)


def _state(folder):
    """What tells one state of a folder from another: all of it where a change was decided, else what shows."""
    decided = (folder / ".gmcr-change.json").exists()
    seen = []
    for parent, _, names in os.walk(folder):
        for name in names:
            place = os.path.join(parent, name)
            if decided or "/.gmcr-" not in place:
                told = os.lstat(place)
                seen.append((place, told.st_ino, told.st_size, told.st_mtime_ns))
    return tuple(sorted(seen))
