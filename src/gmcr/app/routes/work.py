"""Fits and other jobs: begun and stopped."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from gmcr.app import commands
from gmcr.app.jobs.job import ENDED, PROGRESS, Order
from gmcr.app.jobs.queue import Full
from gmcr.app.project import CHECKPOINT, DECODED, GIVEN, NEW, Project
from gmcr.app.routes.answers import Refused, done
from gmcr.app.routes.files import with_data
from gmcr.app.routes.projects import project_of
from gmcr.app.routes.route import Asked
from gmcr.app.settings import told
from gmcr.errors import InputError

Words = list[str]
PRINTED = ["--json"]  # beside what is told of a command: what it prints is for us
WATCHED = ["--progress", PROGRESS]


async def fit(asked: Asked) -> Response:
    """Unmix the data as the settings say; with `go_on` where a fit that was cut off has come to."""
    project = with_data(asked, idle=True)
    try:
        words = commands.fit(project)
    except InputError as error:
        raise Refused("option", str(error)) from None
    if asked.body["go_on"] and (project.path / CHECKPOINT).is_file():
        words.remove("--force")
    size = asked.state.readers.size(project)
    asked.state.readers.end(project.name)  # its memory is for the fit
    about = size | {"components": told(project).get("components"), "command": commands.spoken(words)}
    return _begin(asked, project, "fit", [[*words, *WATCHED, *PRINTED], commands.page(project)], about)


async def count(asked: Asked) -> Response:
    """Make what the page shows of another count, or of the run itself where it is not there."""
    project = with_run(asked)
    number = asked.body.get("count")
    for job in asked.state.queue.active(project.name):
        if job.order.kind in ("count", "page") and job.order.about.get("count") == number:
            return done(job=job.number)
    if number is None:
        return _begin(asked, project, "page", [commands.page(project)], {"count": None})
    if project.data() is None:
        raise Refused("no-data")
    about = asked.state.readers.size(project) | {"count": number, "components": number}
    return _begin(asked, project, "count", [commands.page(project, number)], about)


async def names(asked: Asked) -> Response:
    """Give components names, by number."""
    project = with_run(asked)
    given = {int(number): name.strip() for number, name in asked.body["names"].items() if name.strip()}
    if not given:
        raise Refused("wrong")
    words = commands.name(project, given)
    return _begin(
        asked, project, "names", [words, commands.page(project)], {"command": commands.spoken(words)}
    )


async def match(asked: Asked) -> Response:
    """Name components by a library that was given."""
    project = with_run(asked)
    library = asked.body["library"]
    if project.file(GIVEN, library) is None:
        raise Refused("unknown")
    words = commands.match(project, library)
    steps = [words, commands.report(project), commands.page(project)]
    return _begin(asked, project, "match", steps, {"library": library, "command": commands.spoken(words)})


async def decode(asked: Asked) -> Response:
    """What new samples hold: a table, a workbook, and the same for the page."""
    project = with_run(asked)
    new = asked.body["new"]
    if project.file(NEW, new) is None:
        raise Refused("unknown")
    (project.path / DECODED).mkdir(exist_ok=True)
    words = commands.decode(project, new, ".csv")
    about = {"new": new, "command": commands.spoken(words)}
    steps = [[*words, *PRINTED], commands.decode(project, new, ".xlsx")]
    return _begin(asked, project, "decode", steps, about, {"0": f"{project.name}/{DECODED}/{new}.json"})


async def compare(asked: Asked) -> Response:
    """What differs between this run and another project's."""
    project = with_run(asked)
    other = asked.state.home.project(asked.body["other"])
    if other is None or not other.has_run:
        raise Refused("unknown")
    words = commands.compare(project, other.check())
    steps = [[*words, *PRINTED]]
    return _begin(asked, project, "compare", steps, {"other": other.name, "command": commands.spoken(words)})


async def stop(asked: Asked) -> Response:
    """End a job; with `keep` it keeps the best that it found so far."""
    project = project_of(asked)
    for job in asked.state.queue.jobs(project.name):
        if job.number == asked.body["job"] and asked.state.queue.state(job) not in ENDED:
            asked.state.queue.stop(job, keep=asked.body["keep"])
            asked.state.touched(project.name)
            return done()
    raise Refused("unknown")


async def quit_(asked: Asked) -> Response:
    """End the server. Fits go on, and are found when it is started again."""
    asked.state.ending.set()
    return done()


def with_run(asked: Asked) -> Project:
    project = project_of(asked)
    if not project.has_run:
        raise Refused("no-run")
    return project


def _begin(
    asked: Asked,
    project: Project,
    kind: str,
    steps: list[Words],
    about: dict[str, Any],
    keep: dict[str, str] | None = None,
) -> Response:
    """A job of these commands."""
    order = Order(kind, project.name, steps, about, asked.state.memory, keep or {})
    try:
        job = asked.state.queue.add(order)
    except Full:
        raise Refused("full") from None
    asked.state.touched(project.name)
    return done(job=job.number)
