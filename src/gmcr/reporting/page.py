"""The report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from gmcr.errors import printable
from gmcr.files import as_bytes, write_whole
from gmcr.reporting import trust
from gmcr.reporting.charts import Chart, as_data
from gmcr.reporting.colours import LIGHT, SCRIPTS
from gmcr.reporting.contents import Contents
from gmcr.reporting.glance import cards, heading, tiles
from gmcr.reporting.section import Made, make_sections
from gmcr.text import sparkline


class Ours(Markup):
    """Markup of the page itself. Any other that stands where text belongs is text, and escaped."""


def write_report(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Write the report, whole or not at all."""
    write_whole(path, as_bytes(render(contents)), "report.html")


def render(contents: Contents) -> str:
    """The report as the text of an HTML file."""
    sections = make_sections(contents)
    bodies, charts = zip(*(_body(one) for one in sections))
    style, script = _asset("page.css"), _script()
    drawn = ",".join(f"{as_script(name)}:{chart}" for own in charts for name, chart in own.items())
    page = _environment().get_template("page.html")
    return page.render(
        contents=contents,
        found=contents.found,
        heading=heading(contents),
        answer=trust.answer(contents),
        cards=cards(contents),
        tiles=tiles(contents),
        verdict=trust.verdict_of(contents),
        status=trust.STATUS[trust.verdict_of(contents)],
        means=trust.means(contents),
        checks=trust.checks(contents),
        sections=sections,
        bodies=bodies,
        # Ours and free of what a browser could take for the end of the element.
        style=Ours(style),
        script=Ours(script),
        data=Ours(f'{as_script(LIGHT)[:-1]},"charts":{{{drawn}}}}}'),
        policy=_policy(style, script),
    )


def _body(one: Made) -> tuple[Ours, dict[str, str]]:
    """A section as HTML, and its charts as JSON; one that cannot be written says why."""
    try:
        return _lay_out(one), {name: as_script(as_data(chart)) for name, chart in one.charts.items()}
    except Exception as error:  # whatever a stranger's section gave, the rest of the page is written
        return _lay_out(one.instead(error)), {}


def _lay_out(one: Made) -> Ours:
    return Ours(_environment().get_template("section.html").render(one=one))


def as_script(value: Any) -> str:
    """JSON that can stand in a <script> element: no character of it can end the element or begin another."""
    text = json.dumps(cleaned(value), separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def cleaned(value: Any) -> Any:
    """JSON without characters that steer a terminal or turn text round."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # Long lists of numbers need no look at every one.
        return value if value and isinstance(value[0], float) else [cleaned(item) for item in value]
    return value


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: run our script, use our style, and nothing from anywhere."""
    own = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)]
    rest = "img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; style-src {own[0]}; script-src {own[1]}; {rest}"


@cache
def _asset(name: str) -> str:
    return files("gmcr.reporting").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The scripts as one, which shares no name with anything else."""
    parts = "\n".join(_asset(name) for name in (*SCRIPTS, "start.js"))
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # All but our own markup becomes text here, and is escaped after it.
        finalize=lambda value: value if type(value) is Ours else printable(str(value)),
    )
    environment.filters["sparkline"] = lambda curve: Ours(sparkline(curve))  # made of numbers alone
    environment.tests["a"] = lambda block, name: type(block).__name__ == name
    environment.tests["chart"] = lambda block: isinstance(block, Chart)
    return environment
