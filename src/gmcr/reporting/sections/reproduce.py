"""What it takes to do it again."""

from __future__ import annotations

from collections.abc import Iterator

from gmcr.reporting.contents import Contents
from gmcr.reporting.section import SECTIONS, Block, Points, Section, Terms, Text


def build(contents: Contents) -> Iterator[Block | None]:
    told = [*contents.reproduce.items(), *contents.found.settings.items()]
    yield Terms([(label, Text(str(value), "code" if label == "command" else "")) for label, value in told])
    for heading, points in (("How the file was read", contents.notes), ("Warnings", contents.warnings)):
        if points:
            yield Text(heading, "heading")
            yield Points(points)


SECTIONS.add("reproduce", Section("To do it again", 90, build, "Reproduce"))
