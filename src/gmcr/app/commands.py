"""The commands of `gmcr` that the app runs, as lists of words; and as a script for whoever wants to run them
again.

All paths go from FOLDER, where the commands run.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from gmcr.app.project import DECODED, GIVEN, NEW, Project
from gmcr.app.settings import FITTING, READING, STEPS, place_of, words_of

GMCR = "gmcr"
PAGE = "gmcr.app.previews.page"  # not a command: what the page shows of a run
UNIT = {name: READING[name] for name in ("samples_in", "sheets", "unit", "metadata")}
DECODING = {"metadata": READING["metadata"]}


def fit(project: Project) -> list[str]:
    """Unmix the data, in place of a run that is there."""
    place = place_of(project)
    told = words_of(project, READING, STEPS, FITTING)
    return [GMCR, "fit", data_of(project), "-o", place, *told, "--force"]


def page(project: Project, count: int | None = None) -> list[str]:
    """Make what the page shows of the run."""
    words = [PAGE, place_of(project)]
    if project.data() is not None:
        words += [data_of(project), *words_of(project, UNIT)]
    return words if count is None else [*words, "--count", str(count)]


def report(project: Project, count: int | None = None) -> list[str]:
    """Make the report anew, or that of another count."""
    words = [GMCR, "report", place_of(project)]
    if count is None:
        return words
    return [*words, data_of(project), "--components", str(count), *words_of(project, UNIT)]


def name(project: Project, names: dict[int, str]) -> list[str]:
    """Give components names."""
    return [GMCR, "name", place_of(project), *(f"{number}={one}" for number, one in sorted(names.items()))]


def match(project: Project, library: str) -> list[str]:
    """Name components by a library that was given."""
    return [GMCR, "match", place_of(project), f"{place_of(project)}/{GIVEN}/{library}"]


def decode(project: Project, new: str, suffix: str) -> list[str]:
    """What new samples hold, to a table of this kind."""
    place = place_of(project)
    out = f"{place}/{DECODED}/{table_of(project, new, suffix)}"
    return [GMCR, "decode", place, f"{place}/{NEW}/{new}", "-o", out, *words_of(project, DECODING)]


def table_of(project: Project, new: str, suffix: str) -> str:
    """The name of the table that new samples are decoded to; files told apart by their kind alone keep that."""
    alike = [one for one in project.files(NEW) if Path(one).stem == Path(new).stem]
    return f"{Path(new).stem if len(alike) == 1 else new}{suffix}"


def compare(project: Project, other: Project) -> list[str]:
    """What differs between two runs."""
    return [GMCR, "compare", place_of(project), place_of(other)]


def spoken(words: list[str]) -> str:
    """A command as a shell takes it: every word quoted that needs it, in characters that can be seen."""
    return " ".join(map(_quoted, words))


def script(folder: Path, commands: list[list[str]]) -> str:
    """Commands as a script that runs where they ran."""
    lines = ["#!/bin/sh", "set -e", f"cd -- {_quoted(str(folder))}", *map(spoken, commands)]
    return "\n".join(lines) + "\n"


def _quoted(word: str) -> str:
    """A word in quotes; characters that are not shown, or turn text round, are written by their number."""
    if word.isprintable():
        return shlex.quote(word)
    octal = "".join(f"\\{byte:03o}" for byte in word.encode())
    return f"\"$(printf '{octal}')\""


def data_of(project: Project) -> str:
    """The data, from FOLDER."""
    return f"{place_of(project)}/{project.data()}"
