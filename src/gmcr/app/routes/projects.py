"""Projects: listed, made, told, copied, removed."""

from __future__ import annotations

import os
import shutil
import time

from starlette.responses import Response

from gmcr.app.project import Linked, Project
from gmcr.app.routes.answers import Refused, done
from gmcr.app.routes.route import Asked

REMOVED = "removed"  # folder that removed projects are moved to


def project_of(asked: Asked, *, idle: bool = False) -> Project:
    """The project that a path names; idle : whether no job may be working on it."""
    found = asked.state.home.project(asked.path["project"])
    if found is None:
        raise Refused("unknown")
    try:
        found.check()
    except Linked as error:
        raise Refused("linked", str(error)) from None
    if idle and asked.state.queue.active(found.name):
        raise Refused("busy")
    return found


async def overview(asked: Asked) -> Response:
    return done(projects=asked.state.overview(), folder=str(asked.state.home.path))


async def create(asked: Asked) -> Response:
    title = asked.body["title"].strip()
    project = asked.state.home.new_project(title or "project")
    asked.state.touched(project.name)
    return done(project=project.name)


async def show(asked: Asked) -> Response:
    return done(**asked.state.facts(project_of(asked)))


async def rename(asked: Asked) -> Response:
    project = project_of(asked)
    project.change(title=asked.body["title"].strip() or project.name)
    asked.state.touched(project.name)
    return done()


async def settings(asked: Asked) -> Response:
    """All settings at once, in place of those before."""
    project = project_of(asked)
    project.change(settings=asked.body)
    asked.state.touched(project.name)
    return done()


async def copy(asked: Asked) -> Response:
    """Another project with the same data and settings, to try something else in."""
    project = project_of(asked, idle=True)
    other = asked.state.home.new_project(asked.body["title"].strip() or project.title)
    project.copy(other)
    asked.state.touched(other.name)
    return done(project=other.name)


async def remove(asked: Asked) -> Response:
    """Out of the list, into a folder beside it: nothing that somebody measured is lost by a click."""
    project = project_of(asked, idle=True)
    asked.state.readers.end(project.name)
    for job in asked.state.queue.jobs(project.name):
        asked.state.queue.drop(job)
    folder = asked.state.home.private / REMOVED
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"{project.name} {time.time_ns()}"
    try:
        os.rename(project.path, target)
    except OSError:
        shutil.move(project.path, target)
    asked.state.touched(project.name)
    return done(moved=str(target))
