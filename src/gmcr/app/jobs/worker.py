"""The process of a job: `python -m gmcr.app.jobs.worker JOB HOME`. It outlives whoever began it.

It caps its memory and with it that of every command, lets others go first, and runs the commands one after the
other. SIGTERM ends them at once; SIGINT is passed on, for a command that then keeps what it has. The job's
lock is theirs too: as long as one of them lives, the job does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from gmcr.app.jobs.job import DONE, FAILED, PROGRESS, STOPPED, Job, fcntl
from gmcr.app.limits import cap_memory, fit_memory
from gmcr.files import write_whole

NICE = 10  # others go first: the server, and whatever else the user does


def main() -> None:
    job, home = Job(Path(sys.argv[1])), Path(sys.argv[2])
    lock = os.open(job.path / "lock", os.O_RDWR)
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
    if job.result() or (job.path / "process.json").exists():
        return  # another one had it
    run = Run(job, home, lock)
    signal.signal(signal.SIGINT, run.pass_on)
    signal.signal(signal.SIGTERM, run.end)
    began = {"process": os.getpid(), "began": time.time()}
    write_whole(job.path / "process.json", json.dumps(began).encode())
    with suppress(OSError, AttributeError):
        os.nice(max(NICE - os.nice(0), 0))
    cap_memory(fit_memory(job.order.memory))
    run.ended = run.ended or job.is_to_end()  # who asked before our number was there could not signal
    run.all()


class Run:
    """The commands of a job, one after another."""

    def __init__(self, job: Job, home: Path, lock: int) -> None:
        self.job, self.home, self.lock = job, home, lock
        self.process: subprocess.Popen[bytes] | None = None
        self.ended = False  # at once, by who began it
        self.asked = False  # to end with what was found so far
        self.keeps = PROGRESS in job.order.commands[0]  # whether what runs, or is about to, can end so

    def all(self) -> None:
        started, code, number, kept = time.monotonic(), 0, 0, False
        for number, words in enumerate(self.job.order.commands):
            code = self._one(number, words)
            if self.asked and not self.ended and self.job.said(number).stat().st_size > 0:
                self.asked, kept, code = False, True, 0  # it said what it has kept
            if self.ended or code != 0:
                break
            if (place := self.job.order.keep.get(str(number))) is not None:
                write_whole(self.home / place, self.job.said(number).read_bytes())
        state = STOPPED if self.ended or self.asked else DONE if code == 0 else FAILED
        self.job.end(state, command=number, code=code, seconds=time.monotonic() - started, kept=kept)

    def _one(self, number: int, words: list[str]) -> int:
        if self.ended:
            return 0
        told = str(self.job.progress_file)
        self.keeps = PROGRESS in words
        module, *arguments = (told if word == PROGRESS else word for word in words)
        out, err = (self.job.path / f"{stream}-{number}.txt" for stream in ("out", "err"))
        # -P: no stranger's module in the folder that it runs in.
        with open(out, "wb") as to_out, open(err, "wb") as to_err:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=to_out,
                stderr=to_err,
                cwd=self.home,
                pass_fds=(self.lock,) if fcntl is not None else (),
                env=os.environ | {"PYTHONIOENCODING": "utf-8"},
                process_group=0,
            )
            if self.ended or self.asked:  # while it began
                self._send(signal.SIGKILL if self.ended else signal.SIGINT)
            return self.process.wait()

    def pass_on(self, number: int, frame: FrameType | None) -> None:
        if self.keeps:  # else it has nothing to keep and is soon done
            self.asked = True
            self._send(signal.SIGINT)

    def end(self, number: int, frame: FrameType | None) -> None:
        self.ended = True
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        """To the command and all that it began."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


if __name__ == "__main__":
    main()
