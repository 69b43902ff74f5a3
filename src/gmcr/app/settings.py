"""What a project can be told: options of the command line by their names there, and the words that they become.

Values are checked for their shape alone; what they mean is for the command to say. Every value stands behind the
equals sign of its option, so that none can be taken for another option.
"""

from __future__ import annotations

from typing import Any

from gmcr.app.project import GIVEN, Project
from gmcr.app.shapes import Shape, fits, flag, record, several, text, whole, word
from gmcr.errors import InputError

FILES = ("blank", "fixed")  # options whose value is the name of a file that was given
READING: dict[str, Shape] = {
    "samples_in": word("auto", "rows", "columns"),
    "sheets": flag(),
    "unit": text(40),
    "metadata": text(2000),
}
STEPS: dict[str, Shape] = {
    "range": text(60),
    "drop": several(text(60)),
    "baseline": text(200),
    "despike": flag(),
    "smooth": whole(3, 10_001),
    "derivative": whole(0, 9),
    "snv": flag(),
    "msc": flag(),
    "normalise": word("area", "maximum", "norm"),
    "blank": text(255),
    "average": flag(),
    "replicates": text(200),
}
FITTING: dict[str, Shape] = {
    "components": whole(1, 10_000),
    "max_components": whole(1, 10_000),
    "fixed": text(255),
    "fixed_names": text(2000),
    "signed": flag(),
    "noise": text(40),
    "k_max": whole(1, 10_000),
    "known": text(2000),
    "known_replicates": text(200),
    "constraint": several(text(300)),
    "order": text(200),
    "runs": text(2000),
    "closure": flag(),
    "background": whole(0, 100),
    "disturbances": word("keep", "tell", "mask"),
    "starts": whole(1, 1000),
    "jobs": whole(1, 1000),
    "seed": whole(0, 2**32 - 1),
}
SHAPES = READING | STEPS | FITTING
SHAPE = record({}, SHAPES)


def words_of(project: Project, *kinds: dict[str, Shape]) -> list[str]:
    """The options of these kinds that a project's settings have, as words of the command line, from FOLDER."""
    told, words = project.settings, []
    for name in (name for kind in kinds for name in kind):
        value = told.get(name)
        if value is None or not fits(value, SHAPES[name]):
            continue
        option = f"--{name.replace('_', '-')}"
        if name == "signed":
            words.append("--signed" if value else "--unsigned")
        elif isinstance(value, bool):
            words += [option] if value else []
        elif isinstance(value, list):
            words += [f"{option}={one}" for one in value]
        elif name in FILES:
            if project.file(GIVEN, value) is None:
                raise InputError(f"{value!r:.60} is no file that was given to this project; give it again.")
            words.append(f"{option}={place_of(project)}/{GIVEN}/{value}")
        elif value != "":
            words.append(f"{option}={value}")
    return words


def place_of(project: Project) -> str:
    """Where a project is, from FOLDER; a name that begins like an option is none then."""
    return f"./{project.name}" if project.name.startswith("-") else project.name


def told(project: Project) -> dict[str, Any]:
    """The settings that are of the right shape: a file in the project may be anybody's."""
    return {
        name: value
        for name, value in project.settings.items()
        if name in SHAPES and fits(value, SHAPES[name])
    }
