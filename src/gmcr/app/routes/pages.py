"""The page and its parts, and the way in."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

from gmcr.app import language
from gmcr.app.routes.answers import Refused, done
from gmcr.app.routes.route import Asked

KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
# The report's, found beside our folder: importing its package would take seconds that the server has not.
ASSETS = Path(__file__).parents[2] / "reporting" / "assets"
ENTRANCE = ("enter.js", "enter.css")


async def entrance(asked: Asked) -> Response:
    """The page that the redirect file leads to; it holds nothing."""
    return _page(asked, "enter.html")


async def entrance_part(asked: Asked) -> Response:
    return _static(asked.path["name"], ENTRANCE)


async def enter(asked: Asked) -> Response:
    """A cookie and a key for a token."""
    session = asked.state.entrance.enter(asked.body["token"])
    if session is None:
        return JSONResponse({"error": "refused"}, 403, {"connection": "close"})
    answer = done(key=session.key)
    name = f"gmcr-{asked.request.url.port}"
    answer.set_cookie(name, session.cookie, path="/", httponly=True, samesite="strict")
    return answer


async def page(asked: Asked) -> Response:
    return _page(asked, "index.html")


async def part(asked: Asked) -> Response:
    name = asked.path["name"]
    if name == "charts.js":
        return Response(charts_script(), media_type=KINDS[".js"])
    if name == "report.css":
        return Response(_report_asset("page.css"), media_type=KINDS[".css"])
    return _static(name, _parts())


def charts_script() -> str:
    """The report's own charts as a module, drawn in what colours the page asks for."""
    parts = "\n".join(_report_asset(name) for name in _look()["scripts"])
    given = (
        "html, put, draw, button, checkbox, clamp, cut, format, kinds, sortable, data, recolour, Chart, Plane"
    )
    return f"{parts}\nexport {{ {given} }};\n"


@cache
def _report_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _look() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_report_asset("look.json"))
    return told


@cache
def _parts() -> tuple[str, ...]:
    return tuple(
        one.name for one in files("gmcr.app").joinpath("static").iterdir() if one.name != "index.html"
    )


@cache
def _read(name: str) -> str:
    return files("gmcr.app").joinpath("static", name).read_text(encoding="utf-8")


def _static(name: str, allowed: tuple[str, ...]) -> Response:
    suffix = name[name.rfind(".") :]
    if name not in allowed or suffix not in (".js", ".css"):
        raise Refused("unknown")
    return Response(_read(name), media_type=KINDS[suffix])


def _page(asked: Asked, name: str) -> Response:
    """A page in the reader's language; `{{ name }}` in it stands for a text, `{{{ name }}}` for data."""
    texts, spoken = language.texts(asked.request.headers.get("accept-language", ""))
    page = _read(name).replace("{{ lang }}", spoken)
    for key in [part.split("}}")[0].strip() for part in page.split("{{ ")[1:]]:
        page = page.replace("{{ " + key + " }}", escape(texts[key]))
    page = page.replace("{{{data}}}", _data(texts, spoken))
    return Response(page, media_type="text/html; charset=utf-8")


def _data(texts: dict[str, str], spoken: str) -> str:
    """What the page begins with: texts, and colours of charts. No character of it can end its element."""
    themes = {name: _look()[name] for name in ("light", "dark")}
    told = json.dumps(themes["light"] | {"texts": texts, "language": spoken, "themes": themes})
    for character in "<>&":
        told = told.replace(character, f"\\u{ord(character):04x}")
    return told
