"""gmcr's docstrings as Markdown, for mkdocstrings.

They have numpydoc's sections, but what stands behind `name : ` is what the name means, shape first, where
numpydoc would have its type; types are in the signature.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w[\w, ]*?) : ")


def as_markdown(text: str) -> str:
    """A docstring with its sections as Markdown."""
    pieces = HEADING.split(text)
    parts = [pieces[0].strip()]
    for title, body in zip(pieces[1::2], pieces[2::2]):
        body = body.strip("\n")
        if title == "Examples":
            body = f"```pycon\n{body}\n```"
        elif any(ENTRY.match(line) for line in body.split("\n")):
            body = "\n".join(map(_item, body.split("\n")))
        parts += [f"**{title}**", body]
    return "\n\n".join(parts)


def _item(line: str) -> str:
    """A line of a list of names: a new item, or more of the last one."""
    if not line or line.startswith(" "):
        return line
    found = ENTRY.match(line)
    return f"- `{found[1]}`: {line[found.end() :]}" if found else f"- {line}"


class Markdown(griffe.Extension):
    """Every docstring, as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if not obj.is_alias and obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
