"""The report as data, for a page that lays it out by itself and changes while it is looked at.

It holds what page.html shows, block by block: the same words, charts and tables, with all text still text.
"""

from __future__ import annotations

from typing import Any

from gmcr.reporting import trust
from gmcr.reporting.charts import Chart, as_data, numbers
from gmcr.reporting.contents import Contents
from gmcr.reporting.glance import cards, heading, tiles
from gmcr.reporting.listing import Cell, Listing
from gmcr.reporting.page import cleaned
from gmcr.reporting.section import Block, Made, Points, Row, Terms, Text, make_sections
from gmcr.text import SPARK_POINTS, thinned
from gmcr.validation import FloatArray

Data = dict[str, Any]


def as_live(contents: Contents) -> Data:
    """The contents of a report in JSON's types."""
    first, second = trust.answer(contents)
    verdict = trust.verdict_of(contents)
    told = {
        "source": contents.source,
        "made": contents.made,
        "notes": list(contents.notes),
        "row": contents.row,
        "heading": heading(contents),
        "answer": [first, second],
        "verdict": {"words": verdict, "status": trust.STATUS[verdict], "means": trust.means(contents)},
        "checks": [vars(check) for check in trust.checks(contents)],
        "cards": [
            {
                "name": card.name,
                "text": card.text,
                "profile": _curve(card.profile),
                "amounts": None if card.amounts is None else _curve(card.amounts),
                "along": card.along,
                "picture": card.picture,
            }
            for card in cards(contents)
        ],
        "tiles": [list(tile) for tile in tiles(contents)],
        "components": list(contents.component_names),
        "sections": [_section(one) for one in make_sections(contents)],
    }
    whole: Data = cleaned(told)
    return whole


def _section(one: Made) -> Data:
    """A section; one that cannot be laid out says why."""
    try:
        blocks = [_block(block) for block in one.blocks]
    except Exception as error:  # whatever a stranger's section gave, the others are shown
        blocks = [_block(block) for block in one.instead(error).blocks]
    title = one.section.title
    return {"name": one.name, "title": title, "link": one.section.link or title, "blocks": blocks}


def _block(block: Block) -> Data:
    if isinstance(block, str):
        return {"kind": "text", "style": "", "text": str(block)}
    if isinstance(block, Text):
        return {"kind": "text", "style": block.kind, "text": block.text}
    if isinstance(block, Row):
        note = block.charts[0].note if block.name and block.charts else ""
        charts = [_chart(chart, noted=not block.name) for chart in block.charts]
        return {"kind": "row", "charts": charts, "note": note}
    if isinstance(block, Listing):
        return _table(block)
    if isinstance(block, Points):
        return {"kind": "points", "lead": block.lead, "points": list(block.points)}
    if isinstance(block, Terms):
        terms = [[label, value.text, value.kind] for label, value in block.terms]
        return {"kind": "terms", "terms": terms}
    return {"kind": "chart"} | _chart(block, noted=True)


def _chart(chart: Chart, *, noted: bool) -> Data:
    return {"name": chart.name, "note": chart.note if noted else "", "chart": as_data(chart)}


def _table(block: Listing) -> Data:
    facts = ("name", "caption", "note", "tall", "folded")
    columns = [vars(column) for column in block.columns]
    rows = [[_cell(cell) for cell in row] for row in block.rows]
    return {"kind": "table", "columns": columns, "rows": rows} | {
        name: getattr(block, name) for name in facts
    }


def _cell(cell: Cell) -> Data:
    """A cell, without what it has not."""
    told: Data = {"text": cell.text}
    if cell.sort is not None:
        told["sort"] = float(f"{cell.sort:.9g}")
    if cell.status:
        told["status"] = cell.status
    if cell.curve is not None:
        told["curve"] = _curve(cell.curve)
    return told


def _curve(values: FloatArray) -> Data:
    """A curve at a glance: where its points are along it, from 0 to 1, and how high."""
    rows = thinned(values, SPARK_POINTS)
    return {"x": numbers(rows / max(len(values) - 1, 1)), "y": numbers(values[rows], 3)}
