"""What came out: pages of runs, single samples, decoded ones, files to take away, commands that do the same."""

from __future__ import annotations

import json
import os
import re
from array import array
from sys import byteorder

from starlette.responses import FileResponse, Response

from gmcr.app import commands
from gmcr.app.jobs.job import DONE
from gmcr.app.project import DECODED, Project
from gmcr.app.routes.answers import Refused, done
from gmcr.app.routes.projects import project_of
from gmcr.app.routes.route import Asked
from gmcr.app.routes.work import with_run
from gmcr.errors import InputError

# Files of a run that can be taken away: what they are saved as is not for anybody's file to say.
CSV, SAVED = "text/csv", "application/octet-stream"
FILES = {
    "report": ("report.html", "text/html"),
    "workbook": ("run.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "model": ("model.gmcr", SAVED),
    "summary": ("summary.txt", "text/plain"),
    "profiles": ("profiles.csv", CSV),
    "concentrations": ("concentrations.csv", CSV),
    "supports": ("supports.csv", CSV),
    "path": ("path.csv", CSV),
    "amounts": ("amounts.csv", CSV),
    "areas": ("areas.csv", CSV),
    "rates": ("rates.csv", CSV),
    "fractions": ("fractions.csv", CSV),
    "maps": ("maps.npz", SAVED),
}
# A stored report has scripts of its own: they run where nothing of ours can be reached, and cannot ask for
# anything.
FRAME_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
LARGEST_DECODED = 64 << 20


async def page(asked: Asked) -> Response:
    """What the page shows of the run, or of another count."""
    project = with_run(asked)
    path = project.page(asked.query.get("count"))
    if not path.is_file():
        raise Refused("not-made")
    return FileResponse(path, media_type="application/json")


async def sample(asked: Asked) -> Response:
    """One sample: its amounts, and what was measured of it."""
    project = with_run(asked)
    number, width = asked.query["number"], asked.query["width"]
    path = project.page(asked.query.get("count")).with_suffix(".f32")
    try:
        with open(path, "rb") as file:
            file.seek(4 * width * number)
            content = file.read(4 * width)
    except OSError:
        raise Refused("not-made") from None
    if len(content) < 4 * width:
        raise Refused("unknown")
    values = array("f", content)
    if byteorder == "big":
        values.byteswap()
    return done(values=[float(f"{value:.5g}") if value == value else None for value in values])


async def decoded(asked: Asked) -> Response:
    """What new samples hold."""
    project = project_of(asked)
    found = project.file(DECODED, f"{asked.query['new']}.json")
    if found is None or found.stat().st_size > LARGEST_DECODED:
        raise Refused("not-made")
    return FileResponse(found, media_type="application/json")


async def compared(asked: Asked) -> Response:
    """What the last comparison of the run with another one said."""
    project = project_of(asked)
    jobs = [job for job in asked.state.queue.jobs(project.name) if job.order.kind == "compare"]
    if not jobs or asked.state.queue.state(jobs[-1]) != DONE:
        raise Refused("not-made")
    try:
        told = json.loads(jobs[-1].said().read_bytes())
    except (OSError, ValueError):
        raise Refused("not-made") from None
    return done(other=jobs[-1].order.about["other"], told=told)


async def said(asked: Asked) -> Response:
    """Commands that do the same as what was done here, and a script of them."""
    project = project_of(asked)
    lines: list[list[str]] = []
    if project.data() is not None:
        try:
            lines.append(commands.fit(project))
        except InputError as error:
            raise Refused("option", str(error)) from None
    for job in asked.state.queue.jobs(project.name):
        if job.order.kind in ("names", "match", "decode") and asked.state.queue.state(job) == DONE:
            own = [words for words in job.order.commands if words[0] == commands.GMCR]
            lines += [[word for word in words if word != "--json"] for words in own]
    told = commands.script(asked.state.home.path, lines)
    return done(commands=[commands.spoken(words) for words in lines], script=told)


async def takings(asked: Asked) -> Response:
    """What there is to take away."""
    project = project_of(asked)
    there = [{"what": what, "size": size} for what in FILES if (size := _size(project, FILES[what][0]))]
    for count in _counts(project):
        there.append({"what": f"report-{count}", "size": _size(project, f"report_{count}.html")})
    tables = [name for name in project.files(DECODED) if name.endswith((".csv", ".xlsx"))]
    return done(files=there, decoded=tables)


async def ticket(asked: Asked) -> Response:
    """An address from which one file can be had once; `show` has a report in a frame rather than saved."""
    project = project_of(asked)
    what, show = asked.body["what"], asked.body["show"]
    if what == "decoded":
        found = project.file(DECODED, asked.body.get("name", ""))
        kind = CSV if found is not None and found.suffix == ".csv" else FILES["workbook"][1]
        rest = "_unexplained" if found is not None and found.stem.endswith("_unexplained") else ""
        saved = "" if found is None else f"decoded{rest}{found.suffix}"
        if found is None or found.suffix not in (".csv", ".xlsx"):
            raise Refused("unknown")
    elif (count := re.fullmatch(r"report-([0-9]{1,5})", what)) is not None:
        found, saved, kind = project.path / f"report_{count[1]}.html", f"report_{count[1]}.html", "text/html"
    else:
        if what not in FILES:
            raise Refused("unknown")
        saved, kind = FILES[what]
        found = project.path / saved
    if not found.is_file():
        raise Refused("unknown")
    shown = bool(show) and kind == "text/html"
    return done(address=f"/open/{asked.state.entrance.ticket(found, saved, kind, shown)}")


async def open_(asked: Asked) -> Response:
    """The file of a ticket."""
    found = asked.state.entrance.redeem(asked.path["ticket"])
    if found is None or found.path.is_symlink() or not found.path.is_file():
        raise Refused("unknown")
    if found.shown:
        headers = {"content-security-policy": FRAME_POLICY, "x-frame-options": "SAMEORIGIN"}
        return FileResponse(found.path, media_type="text/html; charset=utf-8", headers=headers)
    saved = {"content-disposition": f'attachment; filename="{found.name}"'}
    saved["content-security-policy"] = "sandbox; default-src 'none'"
    return FileResponse(found.path, media_type=found.kind, headers=saved)


def _size(project: Project, name: str) -> int:
    path = project.path / name
    return path.stat().st_size if path.is_file() else 0


def _counts(project: Project) -> list[int]:
    found = (re.fullmatch(r"report_([0-9]{1,5})\.html", name) for name in os.listdir(project.path))
    return sorted(int(one[1]) for one in found if one)
