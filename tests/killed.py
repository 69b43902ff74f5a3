"""Calls killed at every one of their file operations in turn, so that each state of a folder that they can leave
behind is seen.

The call runs in a process forked from this warm one. At every tenth operation it forks children, which go on and
are killed at that operation, at the next one, and so on; in between the folder is put back as it was. So no child
repeats much of the work before the operation that it dies at.
"""

import hashlib
import os
import shutil
import signal
import sys

from forked import forked

EVERY = 10  # operations between those at which children are forked
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
    harness = _Harness(folder, check, spare)
    harness.arm()
    call()
    harness.armed = False
    if harness.dies_at is not None:
        os._exit(0)  # a child for whom there was no operation left
    check(folder)
    assert harness.kills == harness.seen > 0
    return harness.kills


class _Harness:
    def __init__(self, folder, check, spare):
        self.folder, self.check, self.spare = folder, check, spare
        self.seen = self.kills = 0
        self.dies_at = None  # of a child
        self.armed = False
        self.fine = set()  # what was looked at before

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
        if self.dies_at == self.seen:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.dies_at is None and self.seen % EVERY == 0:
            self.armed = False
            self.children()
            self.armed = True
        self.seen += 1

    def children(self):
        before = self.spare / "before"
        if self.folder.exists():
            shutil.copytree(self.folder, before, symlinks=True)
        for number in range(self.seen, self.seen + EVERY):
            child = os.fork()
            if child == 0:
                self.dies_at = number
                if number == self.seen:
                    os.kill(os.getpid(), signal.SIGKILL)
                return
            _, status = os.waitpid(child, 0)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            if killed:
                self.kills += 1
                self.look()
            self.put_back(before)
            if not killed:
                break
        shutil.rmtree(before, ignore_errors=True)

    def look(self):
        copy = self.spare / "copy"
        if self.folder.exists():
            shutil.copytree(self.folder, copy, symlinks=True)
        state = _state(copy)
        if state not in self.fine:
            self.check(copy)
            self.fine.add(state)
        shutil.rmtree(copy, ignore_errors=True)

    def put_back(self, before):
        """The folder as it was, and the same folder: whoever has it locked has it open."""
        if not before.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.copytree(before, self.folder, symlinks=True, dirs_exist_ok=True)


def _state(folder):
    """What tells one state of a folder from another: all of it where a change was decided, else what shows."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    decided = any(path.name == ".gmcr-change.json" and path.parent == folder for path in paths)
    digest = hashlib.sha256()
    for path in paths:
        name = path.relative_to(folder).as_posix()
        if decided or not name.startswith(".gmcr-"):
            digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
