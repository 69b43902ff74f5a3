"""What a section of the page is: a name, a title, a place, and a function that gives what stands in it.

A section gives texts, charts, tables and what holds several of them, never HTML: the page lays it out and escapes
all text. Those that every report has are in `sections/`, a file each; a package adds its own in the same way (see
`gmcr.registry`):

    from gmcr.reporting import SECTIONS, Section

    SECTIONS.add("weather", Section("The weather", 55, lambda contents: [f"Fine over {contents.source}."]))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gmcr.errors import InputError
from gmcr.registry import Registry
from gmcr.reporting.charts import Chart
from gmcr.reporting.contents import Contents
from gmcr.reporting.listing import Listing

NAME = re.compile("[a-z][a-z0-9-]*")  # of sections, charts and tables: they are links, and names of files
OF_THE_PAGE = ("answer", "data", "live")  # the page's own links


@dataclass(frozen=True)
class Text:
    """A paragraph; kind : "", or "strong", "note", "missing", "heading", "code" or "verbatim"."""

    text: str
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Row:
    """Charts beside each other; with a name they are one figure as a file, and have one note."""

    charts: Sequence[Chart]
    name: str = ""


@dataclass(frozen=True)
class Points:
    """A list of sentences; with a lead it stands out."""

    points: Sequence[str]
    lead: str = ""


@dataclass(frozen=True)
class Terms:
    """What things are, by label."""

    terms: Sequence[tuple[str, Text]]


Block = str | Text | Chart | Row | Listing | Points | Terms


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    title : its heading
    place : where it stands; gmcr's own are at 10, 20 … 100
    build : what stands in it, given the contents of the report; None is left out
    link : its name in the list of sections, by default its title
    figures : names of its charts; their files of an earlier report are removed where this one has none
    """

    title: str
    place: float
    build: Callable[[Contents], Iterable[Block | None] | Block]
    link: str = ""
    figures: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Made:
    """A section and what stands in it; name : by which links find it."""

    name: str
    section: Section
    blocks: Sequence[Block]

    @property
    def charts(self) -> dict[str, Chart]:
        """By name."""
        return {chart.name: chart for row in self.rows for chart in row.charts}

    @property
    def rows(self) -> Iterator[Row]:
        """Charts as they go to files: each by itself, or a named row in one."""
        for block in self.blocks:
            if isinstance(block, Row) and block.name:
                yield block
            elif isinstance(block, Row):
                yield from (Row([chart]) for chart in block.charts)
            elif isinstance(block, Chart):
                yield Row([block])

    @property
    def names(self) -> list[str]:
        """Of its charts, its rows and its tables."""
        rows, tables = list(self.rows), [block for block in self.blocks if isinstance(block, Listing)]
        charts = [chart for row in rows for chart in row.charts]
        return [one.name for one in (*rows, *charts, *tables) if one.name]

    def instead(self, error: Exception) -> Made:
        """The section with nothing in it but what went wrong."""
        why = " ".join(str(error).split()) or type(error).__name__
        return replace(self, blocks=[Text(f"This section could not be made: {why.rstrip('.')}.", "missing")])


SECTIONS: Registry[Section] = Registry("report section", Section)


def make_sections(contents: Contents) -> list[Made]:
    """All sections, in the order of the page; one that cannot be made says why."""
    made: list[Made] = []
    taken: set[str] = set()
    for name, section in sorted(SECTIONS.items(), key=lambda item: item[1].place):
        fine = NAME.fullmatch(name) and name not in OF_THE_PAGE
        own = replace(section, title=contents.named(section.title))
        one = Made(name if fine else f"section-{len(made)}", own, [])
        try:
            built = section.build(contents)
            blocks = [built] if isinstance(built, Block) else built  # a text is a paragraph, not its letters
            one = replace(one, blocks=[block for block in blocks if block is not None])
            _check(one, taken)
        except Exception as error:  # whatever a stranger's section does, the rest of the page is written
            one = one.instead(error)
        taken |= {*one.names}
        if one.blocks:  # one that has nothing to say is no section
            made.append(one)
    return made


def missing(contents: Contents, key: str, what: str) -> Text | None:
    """Why something is not there."""
    return (
        Text(contents.named(f"{what}: {contents.left_out[key]}"), "missing")
        if key in contents.left_out
        else None
    )


def _check(one: Made, taken: set[str]) -> None:
    for block in one.blocks:
        if not isinstance(block, Block):
            raise TypeError(f"it gives a {type(block).__name__} where a text, a chart or a table belongs")
    for place, name in enumerate(one.names):
        if not NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name for a chart or a table; use small letters, digits and -")
        if name in {*taken, *one.names[:place]}:
            raise InputError(f"there is a chart or a table named {name!r} already")
