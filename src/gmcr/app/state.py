"""What the server holds while it runs, and what the page is told of projects and jobs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gmcr.app import duration, uploads
from gmcr.app.entrance import Entrance
from gmcr.app.home import Home
from gmcr.app.jobs.job import DONE, ENDED, FAILED, LOST, RUNNING, Job
from gmcr.app.jobs.queue import Queue
from gmcr.app.previews.reader import Readers
from gmcr.app.project import DATA, DECODED, GIVEN, NEW, Project
from gmcr.app.settings import told

TICK = 0.3  # seconds between looks at what has changed
SLOWLY = 10  # looks between those at folders that no job works on
MEMORY_SIGNALS = (-6, -9, -11)  # how a process ends that was not given the memory it asked for


@dataclass
class State:
    """Of one server.

    memory : bytes that a command may take, None for what is usual
    """

    home: Home
    entrance: Entrance
    memory: int | None = None
    queue: Queue = field(init=False)
    readers: Readers = field(default_factory=Readers)
    versions: dict[str, int] = field(default_factory=dict)  # by project: how often it has changed
    listening: int = 0  # streams that are open
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    _marks: dict[str, Any] = field(default_factory=dict)
    _uploading: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.queue = Queue(self.home.private / "jobs", self.home.path)

    def begin(self) -> None:
        """Find what an earlier server has left."""
        self.entrance.begin()
        self.queue.find()
        for project in self.home.projects():
            uploads.sweep(project.path)

    async def watch(self) -> None:
        """Look after jobs and at what has changed, for as long as the server runs."""
        looks = 0
        while True:
            self.queue.look()
            self._look(everywhere=looks % SLOWLY == 0)
            if looks % SLOWLY == 0:
                self.readers.rest()
            looks += 1
            await asyncio.sleep(TICK)

    def touched(self, name: str) -> None:
        """A project has changed."""
        self.versions[name] = self.versions.get(name, 0) + 1

    def _look(self, *, everywhere: bool) -> None:
        active = {job.order.project for job in self.queue.jobs() if self.queue.state(job) not in ENDED}
        names = {one.name for one in self.home.projects()} if everywhere else set(self._marks)
        for gone in set(self._marks) - names:
            del self._marks[gone]
            self.touched(gone)
        for name in names if everywhere else names & (active | self._active_before()):
            mark = self._mark(name)
            if self._marks.get(name) != mark:
                self._marks[name] = mark
                self.touched(name)

    def _active_before(self) -> set[str]:
        return {name for name, mark in self._marks.items() if mark[0]}

    def _mark(self, name: str) -> Any:
        jobs = self.queue.jobs(name)
        states = tuple((job.number, self.queue.state(job)) for job in jobs)
        working = tuple(job.mark() for job in jobs if self.queue.state(job) not in ENDED)
        return working, states, Project(self.home.path / name).stamp()

    # Uploads that are under way count, so that many at once do not exceed what one may

    def begin_upload(self, project: Project) -> int:
        """Bytes that the file may have, kept for it until `end_upload`."""
        room = uploads.room(project.size(), project.path)
        self._uploading[project.name] = self._uploading.get(project.name, 0) + 1
        return room

    def end_upload(self, project: Project) -> None:
        self._uploading[project.name] -= 1
        self.touched(project.name)

    # What the page is told

    def overview(self) -> list[dict[str, Any]]:
        """All projects, in a few words each."""
        found = []
        for project in self.home.projects():
            active = self.queue.active(project.name)
            found.append(
                {
                    "project": project.name,
                    "title": project.title,
                    "run": project.has_run,
                    "data": len(project.files(DATA)) > 0,
                    "working": [job.order.kind for job in active],
                    "changed": _changed(project.path),
                }
            )
        return sorted(found, key=lambda one: -one["changed"])

    def facts(self, project: Project) -> dict[str, Any]:
        """A project: its files, its settings, its jobs, and what there is to look at."""
        jobs = self.queue.jobs(project.name)
        data = project.data()
        return {
            "project": project.name,
            "title": project.title,
            "version": self.versions.get(project.name, 0),
            "folder": str(project.path),
            "data": None if data is None else data.partition("/")[2],
            "files": _count(project.path / data) if data else 0,
            "uploading": self._uploading.get(project.name, 0),
            "given": project.files(GIVEN),
            "new": project.files(NEW),
            "decoded": [name for name in project.files(DECODED) if name.endswith(".json")],
            "settings": told(project),
            "run": project.has_run,
            "stamp": project.stamp(),
            "pages": self._pages(project),
            "jobs": [self.job(job) for job in _worth_telling(jobs, self.queue)],
        }

    def _pages(self, project: Project) -> list[int | None]:
        """Counts whose pages are kept; None is the run's own."""
        found: list[int | None] = []
        for path in project.pages():
            parts = path.stem.split("-", 2)
            if len(parts) == 3 and parts[2] == project.stamp():
                found.append(None if parts[1] == "own" else int(parts[1]))
        return found

    def job(self, job: Job) -> dict[str, Any]:
        """A job for the page."""
        state, now = self.queue.state(job), time.time()
        told: dict[str, Any] = {
            "job": job.number,
            "kind": job.order.kind,
            "state": state,
            "about": job.order.about,
        }
        if state == RUNNING:
            began = job.began or now
            told |= {"seconds": round(now - began, 1), "progress": job.progress()}
            told["left"] = duration.left(job.order.about, now - began, self._done_before(job))
        elif state in ENDED:
            result = job.result()
            told |= {"seconds": result.get("seconds"), "kept": bool(result.get("kept"))}
            if state in (FAILED, LOST):
                told["reason"], told["sentence"] = _reason(job, state)
            if job.order.kind == "fit":
                told["progress"] = job.progress()
        else:
            told["place"] = self.queue.place(job)
        return told

    def _done_before(self, job: Job) -> Iterator[tuple[dict[str, Any], float]]:
        for one in self.queue.jobs():
            if one.order.kind == job.order.kind and self.queue.state(one) == DONE:
                yield one.order.about, float(one.result().get("seconds") or 0.0)


def _worth_telling(jobs: list[Job], queue: Queue) -> list[Job]:
    """All that are not over, and the last one of each kind that is."""
    ended = {job.order.kind: job for job in jobs if queue.state(job) in ENDED}
    return [job for job in jobs if queue.state(job) not in ENDED or ended[job.order.kind] is job]


def _reason(job: Job, state: str) -> tuple[str, str]:
    """Why a job failed: a word, and the sentence of the command where it said one."""
    sentence = job.sentence()
    if state == LOST:
        return "lost", ""
    if "MemoryError" in sentence or job.result().get("code") in MEMORY_SIGNALS:
        return "memory", ""
    return ("said", sentence) if sentence else ("unexpected", "")


def _count(path: Path) -> int:
    return sum(1 for _ in path.iterdir()) if path.is_dir() else 1


def _changed(path: Path) -> float:
    try:
        return max(path.stat().st_mtime, (path / "app").stat().st_mtime)
    except OSError:
        return 0.0


def result_of(job: Job) -> Any:
    """What the last command of a job printed, as JSON."""
    try:
        return json.loads(job.said().read_bytes())
    except (OSError, ValueError):
        return None
