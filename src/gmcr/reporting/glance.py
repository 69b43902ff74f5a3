"""What a reader sees first: each component's profile as a curve, where it is largest, and how its amounts run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.reporting.contents import Contents
from gmcr.reporting.words import number
from gmcr.trust.checks import USE
from gmcr.validation import FloatArray

SHOWN = 6  # components, those with the most signal
UNIT = "("  # begins the unit in the name of an axis


@dataclass(frozen=True)
class Card:
    """One component: its name, a line about it, and one or two curves."""

    name: str
    text: str
    profile: FloatArray
    amounts: FloatArray | None = None  # along the order of the samples, where they have one


def cards(contents: Contents) -> list[Card]:
    """The components with the most signal."""
    found, (axis, label, _) = contents.found, contents.axis
    unit = label.partition(UNIT)[2].rstrip(")")
    words = {} if contents.trust is None else dict(enumerate(contents.trust.components["verdict"]))
    along = None if contents.order is None or contents.runs is not None else np.argsort(contents.order)
    made = []
    for j in contents.by_signal[:SHOWN].tolist():
        profile = found.components[j]
        where = f"largest at {number(axis[np.abs(profile).argmax()])} {unit}".rstrip()
        word = words.get(j, USE)
        made.append(
            Card(
                contents.component_names[j],
                where if word == USE else f"{where}; {word}",
                profile,
                None if along is None else found.concentrations[along, j],
            )
        )
    return made


def heading(contents: Contents) -> str:
    """The count, with its probability where there is one."""
    n, evidence = contents.found.n_components, contents.count
    counted = f"{n:,} component{'' if n == 1 else 's'}"
    if evidence is None or n not in evidence.probabilities:
        return counted
    return f"{counted}, {evidence.spread.partition(',')[0].partition(':')[0]}"
