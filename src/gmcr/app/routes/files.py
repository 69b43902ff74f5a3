"""What is given to projects, and how it is read."""

from __future__ import annotations

import errno
import os
import shutil

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from gmcr.app import uploads
from gmcr.app.project import DATA, Project
from gmcr.app.routes.answers import Refused, done
from gmcr.app.routes.projects import project_of
from gmcr.app.routes.route import Asked

FULL = (errno.ENOSPC, errno.EDQUOT)


async def upload(asked: Asked) -> Response:
    """A file, as the bytes of the body; with `folder` it is one of several that belong together."""
    place, name, folder = asked.path["place"], asked.query["name"], asked.query.get("folder")
    if not uploads.is_name(name) or (folder is not None and not uploads.is_name(folder)):
        raise Refused("name")
    project = project_of(asked, idle=place == DATA)
    whole = folder or name
    if place == DATA and set(project.files(DATA)) - {whole}:
        raise Refused("several")
    target = project.path / place
    if folder is not None:
        if (target / folder).is_file():
            raise Refused("several")
        target = target / folder
        if target.is_dir() and len(os.listdir(target)) >= uploads.MOST_FILES:
            raise Refused("full")
    elif (target / name).is_dir():
        raise Refused("several")
    state = asked.state
    most = state.begin_upload(project)
    try:
        size = await uploads.receive(asked.request, target, name, most)
    except uploads.TooLarge:
        raise Refused("too-large") from None
    except ClientDisconnect:
        return done()  # nobody is there to be told
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise Refused("disk") from None
    finally:
        state.end_upload(project)
    return done(name=whole, size=size)


async def discard(asked: Asked) -> Response:
    """Remove a file, or a folder of files, that was given."""
    project = project_of(asked, idle=True)
    found = project.file(asked.path["place"], asked.query["name"])
    if found is None:
        raise Refused("unknown")
    asked.state.readers.end(project.name)
    if found.is_dir():
        shutil.rmtree(found)
    else:
        found.unlink()
    asked.state.touched(project.name)
    return done()


async def reading(asked: Asked) -> Response:
    """How the data are read with the project's settings: facts, a table, a picture."""
    project = with_data(asked)
    return _made(await asked.state.readers.read(project))


async def steps(asked: Asked) -> Response:
    """What the steps of the project's settings do to a few samples."""
    project = with_data(asked)
    return _made(await asked.state.readers.steps(project))


def with_data(asked: Asked, *, idle: bool = False) -> Project:
    project = project_of(asked, idle=idle)
    if project.data() is None:
        raise Refused("no-data")
    return project


def _made(content: bytes) -> Response:
    """What a process made, as it is; if it could not, that is no success."""
    failed = content.startswith(b'{"error"')
    return Response(content, 422 if failed else 200, media_type="application/json")
