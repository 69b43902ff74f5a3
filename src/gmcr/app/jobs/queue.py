"""Which job begins when: heavy ones one after another, short ones beside them, and never two on one project."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from gmcr.app.jobs.job import ENDED, LOST, RUNNING, STOPPED, WAITING, Job, Order

AT_ONCE = {True: 1, False: 2}  # jobs that run beside each other, of the heavy ones and of the short ones
HEAVY = ("fit", "count")  # kinds that take all there is of the machine
MOST_WAITING = 50
KEPT = 20  # jobs of a project that are remembered after they ended


class Full(Exception):
    """More wait than anybody would wait for."""


class Queue:
    """All jobs of FOLDER, those of earlier servers too.

    folder : of the jobs; home : where commands run
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self._jobs: dict[str, Job] = {}
        self._states: dict[str, str] = {}
        self._begun: dict[str, subprocess.Popen[bytes]] = {}

    def find(self) -> None:
        """What earlier servers have left; what was cut off while it was made goes."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith("."):
                rmtree(path, ignore_errors=True)
                continue
            with suppress(OSError, ValueError, TypeError):
                self._jobs[path.name] = Job(path)
        self.look()

    def jobs(self, project: str | None = None) -> list[Job]:
        """Of a project, or all of them, the oldest first."""
        return [job for job in self._jobs.values() if project is None or job.order.project == project]

    def state(self, job: Job) -> str:
        """As it was when it was last looked at."""
        return self._states.get(job.number, WAITING)

    def active(self, project: str) -> list[Job]:
        return [job for job in self.jobs(project) if self.state(job) not in ENDED]

    def place(self, job: Job) -> int:
        """How many that wait as well come before it."""
        waiting = [one.number for one in self._jobs.values() if self.state(one) == WAITING]
        return sum(number < job.number for number in waiting)

    def add(self, order: Order) -> Job:
        if sum(state == WAITING for state in self._states.values()) >= MOST_WAITING:
            raise Full
        job = Job.new(self.folder, order)
        self._jobs[job.number], self._states[job.number] = job, WAITING
        self._forget(order.project)
        self.look()
        return job

    def stop(self, job: Job, *, keep: bool) -> None:
        """End a job; keep : with the best found so far, where its command can."""
        if self.state(job) == WAITING and not job.is_held():
            job.end(STOPPED)
        else:
            job.ask_to_end(keep=keep)
        self.look()

    def look(self) -> None:
        """See what has ended, and begin what may begin."""
        for number, process in list(self._begun.items()):
            if process.poll() is not None:
                del self._begun[number]
                if number in self._jobs and self._jobs[number].state() == WAITING:
                    self._jobs[number].end(LOST)  # it did not even begin
        for number, job in self._jobs.items():
            if self._states.get(number) in ENDED:
                continue
            state = job.state()
            if state == WAITING and number in self._begun:
                state = RUNNING  # it is about to take its lock
            if state == LOST:
                job.end(LOST)  # its processes were killed, or the machine went down
            self._states[number] = state
        for job in list(self._jobs.values()):
            if self.state(job) == WAITING and self._may_begin(job):
                self._begin(job)

    def _may_begin(self, job: Job) -> bool:
        running = [one for one in self._jobs.values() if self.state(one) == RUNNING]
        heavy = job.order.kind in HEAVY
        alike = sum((one.order.kind in HEAVY) == heavy for one in running)
        earlier = (one for one in self.active(job.order.project) if one.number < job.number)
        return alike < AT_ONCE[heavy] and next(earlier, None) is None

    def _begin(self, job: Job) -> None:
        command = [sys.executable, "-P", "-m", "gmcr.app.jobs.worker", str(job.path), str(self.home)]
        self._begun[job.number] = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what ends the server does not end it
        )
        self._states[job.number] = RUNNING

    def _forget(self, project: str) -> None:
        ended = [job for job in self.jobs(project) if self.state(job) in ENDED]
        for job in ended[:-KEPT]:
            self.drop(job)

    def drop(self, job: Job) -> None:
        """Remove what a job has left."""
        job.remove()
        self._jobs.pop(job.number, None)
        self._states.pop(job.number, None)
