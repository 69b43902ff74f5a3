"""What a reader sees first of each component: its profile, where it is largest, and where there is how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.reporting.contents import Contents, IntArray
from gmcr.reporting.words import number
from gmcr.trust.checks import USE
from gmcr.validation import FloatArray

SHOWN = 6  # components, those with the most signal
UNIT = "("  # begins the unit in the name of an axis


@dataclass(frozen=True)
class Card:
    """One component: its name, a line about it, one or two curves, and its map where there is an image."""

    name: str
    text: str
    profile: FloatArray
    amounts: FloatArray | None = None  # along the order of the samples, where they have one
    along: str = ""  # what that order is
    picture: int | None = None  # which of the page's maps is its own


def cards(contents: Contents) -> list[Card]:
    """The components with the most signal."""
    found, (axis, label, _) = contents.found, contents.axis
    unit = label.partition(UNIT)[2].rstrip(")")
    words = {} if contents.trust is None else dict(enumerate(contents.trust.components["verdict"]))
    rows, along = _in_order(contents)
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
                None if rows is None else found.concentrations[rows, j],
                along,
                j if contents.shape is not None and contents.pixels is not None else None,
            )
        )
    return made


def _in_order(contents: Contents) -> tuple[IntArray | None, str]:
    """The samples in their order, one run after the other, and what that is; none where nothing tells one."""
    places = contents.places
    if places is None or contents.shape is not None:
        return None, ""
    by = f"amounts by {contents.row_label}" if contents.row_label else "amounts in order"
    if contents.runs is None:
        return np.argsort(places, kind="stable"), by
    return np.lexsort((places, np.asarray(contents.runs))), f"{by}, one run after the other"


def heading(contents: Contents) -> str:
    """The count, with its probability where there is one."""
    n, evidence = contents.found.n_components, contents.count
    counted = f"{n:,} component{'' if n == 1 else 's'}"
    if evidence is None or n not in evidence.probabilities:
        return counted
    return f"{counted}, {evidence.spread.partition(',')[0].partition(':')[0]}"


def tiles(contents: Contents) -> list[tuple[str, str]]:
    """The numbers that everybody asks for first, and what they are."""
    found = contents.found
    told = [
        (number(found.n_components), "components"),
        (f"{found.n_samples:,} × {found.n_channels:,}", f"{contents.row}s × channels"),
        (f"{found.supports.sum(axis=1).mean():.3g}", f"components per {contents.row}"),
    ]
    if isinstance(r2 := found.fit.get("r2"), float):
        told.append((f"{r2:.5g}", "R²"))
    if contents.confidence is not None:
        told.append((f"{contents.confidence.mean():.1%}", "supports right, expected"))
    if contents.known is not None:
        told.append((f"{contents.known.mean():.1%}", f"{contents.row}s explained"))
    return told
