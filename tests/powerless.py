"""Calls during which the power fails: what a folder may hold afterwards, and whether it can be made use of.

A change of a folder's entries is lost for good unless that folder was synced, and so is the content of a file
that was not; what was not synced may be there all the same, whatever its order. A single operation happens or
does not, also a rename from one folder to another: that is what journals are for.
"""

import os
import shutil
import sys
from pathlib import Path

import numpy as np

from forked import forked
from killed import CHANGES

TRIES = 6  # states of each moment, besides the two extremes


def fail_everywhere(call, folder, check, spare):
    """How many states were looked at; `check` is called with a copy of the folder for each.

    spare : a folder for copies
    """
    outcome = forked(_run, call, folder, check, spare)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _run(call, folder, check, spare):
    disk = _Disk(folder, check, spare / "copy")
    disk.watch()
    call()
    disk.watching = False
    disk.look()
    return disk.states


class _Disk:
    """A folder as it is, and as it would be after the power failed.

    kept : what is on the disk for good, by path: an inode, or None for a folder
    pending : changes of entries that may be lost, in their order, each by path
    contents : of files by inode, as far as they were synced
    """

    def __init__(self, folder, check, copy):
        self.folder, self.check, self.copy = folder, check, copy
        self.kept = self.last = self.entries()
        self.contents = {inode: (folder / path).read_bytes() for path, inode in self.kept.items() if inode}
        self.pending, self.states, self.watching = [], 0, False
        self.rng = np.random.default_rng(0)
        self.seen = set()

    def watch(self):
        def hook(event, arguments):
            writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if self.watching and (event in CHANGES or writes):
                self.moment()

        def fsync(descriptor):
            if self.watching:
                self.moment()
                self.synced(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
            flush(descriptor)

        flush, os.fsync = os.fsync, fsync
        sys.addaudithook(hook)
        self.watching = True

    def entries(self):
        found = {}
        for path in self.folder.rglob("*"):
            found[path.relative_to(self.folder).as_posix()] = None if path.is_dir() else path.stat().st_ino
        return found

    def moment(self):
        """What was done since the last one is pending; and the power fails."""
        self.watching = False
        now = self.entries()
        paths = {path for path in {**now, **self.last} if now.get(path, 0) != self.last.get(path, 0)}
        if paths:
            self.pending.append({path: now.get(path, 0) for path in paths})  # 0: it is gone
        self.last = now
        self.look()
        self.watching = True

    def synced(self, path):
        """A file's content is there for good, or the changes of a folder's entries are."""
        self.watching = False
        if path.is_file():
            self.contents[path.stat().st_ino] = path.read_bytes()
        else:
            inside = path.relative_to(self.folder) if path != self.folder else Path()
            sure = [change for change in self.pending if any(Path(at).parent == inside for at in change)]
            for change in sure:
                self.kept = _changed(self.kept, change)
            self.pending = [change for change in self.pending if change not in sure]
        self.watching = True

    def look(self):
        n = len(self.pending)
        choices = [[True] * n, [False] * n, *(self.rng.random((TRIES, n)) < 0.5 if n else [])]
        for chosen in choices:
            state = self.kept
            for change, there in zip(self.pending, chosen):
                state = _changed(state, change) if there else state
            files = ((path, inode, self.contents.get(inode)) for path, inode in state.items() if inode)
            if (held := tuple(sorted(files))) not in self.seen:
                self.seen.add(held)
                self.write(state)
                self.check(self.copy)
                self.states += 1
                shutil.rmtree(self.copy)

    def write(self, state):
        self.copy.mkdir()
        for path, inode in sorted(state.items()):
            if all(
                parent.as_posix() in state for parent in Path(path).parents[:-1]
            ):  # else nothing leads to it
                if inode is None:
                    (self.copy / path).mkdir()
                else:
                    (self.copy / path).write_bytes(self.contents.get(inode, b""))


def _changed(state, change):
    state = state | change
    return {path: inode for path, inode in state.items() if inode != 0}
