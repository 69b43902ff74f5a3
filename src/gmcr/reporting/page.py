"""The report as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from gmcr.reporting import trust, words
from gmcr.reporting.charts import as_data
from gmcr.reporting.citation import BIBTEX, CITATION
from gmcr.reporting.colours import DASHES, MUTED, NO_PIXEL, PALETTE, RAMP, RAMP_NEGATIVE
from gmcr.reporting.contents import Contents
from gmcr.reporting.figures import charts_of
from gmcr.reporting.tables import tables_of
from gmcr.storage import write_whole


def write_report(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Write the report, whole or not at all."""
    write_whole(path, render(contents).encode())


def render(contents: Contents) -> str:
    """The report as the text of an HTML file."""
    charts, checks = charts_of(contents), trust.checks(contents)
    style, script = _asset("page.css"), _script()
    data = {
        "palette": PALETTE,
        "dashes": DASHES,
        "muted": MUTED,
        "ramp": RAMP,
        "ramp_negative": RAMP_NEGATIVE,
        "no_pixel": NO_PIXEL,
        "charts": {name: as_data(chart) for name, chart in charts.items()},
    }
    return _template().render(
        contents=contents,
        found=contents.found,
        words=words,
        answer=trust.answer(contents),
        verdict=trust.VERDICTS.get(trust.verdict_of(contents), trust.VERDICTS[""]),
        marks=trust.MARKS,
        checks=checks,
        advice=trust.advice(checks),
        tiles=_tiles(contents),
        charts=charts,
        worst=[name for name in charts if name.startswith("worst-")],
        tables=tables_of(contents),
        wide_bands=any(one.band is not None for one in charts["profiles"].series),  # type: ignore[union-attr]
        citation=CITATION,
        bibtex=Markup.escape(BIBTEX),
        # Ours and free of what a browser could take for the end of the element: markup, not text.
        style=Markup(style),
        script=Markup(script),
        data=Markup(as_script(data)),
        policy=_policy(style, script),
    )


def as_script(value: Any) -> str:
    """JSON that can stand in a <script> element: no character of it can end the element or begin another."""
    text = json.dumps(_cleaned(value), separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return words.clean(value)
    if isinstance(value, dict):
        return {key: _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        # Long lists of numbers need no look at every one.
        return value if value and isinstance(value[0], float) else [_cleaned(item) for item in value]
    return value


def _tiles(contents: Contents) -> list[tuple[str, str]]:
    """The numbers to know, with what they are."""
    found = contents.found
    tiles = [
        (words.number(found.n_components), "components"),
        (f"{found.n_samples:,} × {found.n_channels:,}", "samples × channels"),
        (f"{found.supports.sum(axis=1).mean():.3g}", "components per sample"),
    ]
    if isinstance(found.fit.get("r2"), float):
        tiles.append((f"{found.fit['r2']:.5g}", "R²"))
    if contents.confidence is not None:
        tiles.append((f"{contents.confidence.mean():.1%}", "supports right, expected"))
    if contents.known is not None:
        tiles.append((f"{contents.known.mean():.1%}", "samples explained"))
    return tiles


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: run our script, use our style, and nothing from anywhere."""
    hashes = {
        kind: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for kind, text in (("style", style), ("script", script))
    }
    rest = "img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; style-src {hashes['style']}; script-src {hashes['script']}; {rest}"


@cache
def _asset(name: str) -> str:
    return files("gmcr.reporting").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """The scripts as one, which shares no name with anything else."""
    parts = "\n".join(_asset(name) for name in ("base.js", "plane.js", "cells.js", "start.js"))
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


@cache
def _template() -> Template:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: words.clean(value) if type(value) is str else value,
    )
    environment.filters["number"] = words.number
    return environment.get_template("page.html")
