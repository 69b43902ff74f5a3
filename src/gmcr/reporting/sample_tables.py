"""The tables of a report that are about samples: concentrations, supports and fit."""

from __future__ import annotations

import numpy as np

from gmcr.reporting.contents import Contents
from gmcr.reporting.listing import Cell, Listing, count_cell, finite, number_cell
from gmcr.reporting.words import SURE, number
from gmcr.text import spread

MOST_ROWS = 1_000  # samples listed
OWN_COLUMNS = 6  # components up to which each has a column in the table of samples
DOUBTFUL = 10  # samples listed as least sure


def samples(contents: Contents) -> Listing:
    """Who holds what, and how sure that is; of many samples the least sure and others evenly spread."""
    found, names = contents.found, contents.component_names
    rows, note = np.arange(found.n_samples), ""
    if found.n_samples > MOST_ROWS:
        doubt = contents.confidence if contents.confidence is not None else np.ones(found.n_samples)
        first = np.argsort(doubt, kind="stable")[: MOST_ROWS // 2]
        rows = np.unique(np.concatenate([first, spread(found.n_samples, MOST_ROWS // 2)]))
        note = (
            f"{len(rows):,} of {found.n_samples:,} samples are listed: those whose supports are least sure, and "
            "others evenly spread. concentrations.csv holds all."
        )
    own = found.n_components <= OWN_COLUMNS
    columns = [("sample", False)]
    columns += [(name, True) for name in names] if own else [("components", True), ("holds", False)]
    facts = [
        ("confidence", contents.confidence, lambda value: Cell(f"{value:.3f}", float(value))),
        ("residual / noise", contents.ratio, lambda value: Cell(_two_decimals(value), finite(value))),
        ("explained", contents.known, lambda value: Cell("yes" if value else "no")),
        ("noise", found.noise, lambda value: number_cell(value, 3)),
    ]
    facts = [fact for fact in facts if fact[1] is not None]
    columns += [(heading, heading != "explained") for heading, _, _ in facts]
    listed = []
    for m in rows.tolist():
        amounts, held = found.concentrations[m], np.flatnonzero(found.concentrations[m])
        if own:
            cells = [Cell(_amount(contents, m, j), float(amounts[j])) for j in range(found.n_components)]
        else:
            cells = [count_cell(len(held)), Cell(_holds(contents, m))]
        listed.append(
            [Cell(contents.sample_names[m]), *cells] + [tell(values[m]) for _, values, tell in facts]  # type: ignore[index]
        )
    caption = "Samples: concentrations with standard errors, confidence in the list of components, and fit"
    return Listing("samples", caption, columns, listed, note)


def doubtful(contents: Contents) -> Listing | None:
    """The samples whose lists of components are least sure."""
    if contents.confidence is None:
        return None
    unsure = np.flatnonzero(contents.confidence < SURE)
    if not unsure.size:
        return None
    first = unsure[np.argsort(contents.confidence[unsure], kind="stable")][:DOUBTFUL]
    rows = [
        [
            Cell(contents.sample_names[m]),
            Cell(f"{contents.confidence[m]:.3f}", float(contents.confidence[m])),
            Cell(_holds(contents, m) or "nothing"),
        ]
        for m in first.tolist()
    ]
    columns = [("sample", False), ("confidence", True), ("holds", False)]
    note = (
        f"{len(first)} of {len(unsure):,}; the table of samples sorts by confidence."
        if len(unsure) > 10
        else ""
    )
    return Listing("doubtful", "The least sure samples", columns, rows, note)


def _holds(contents: Contents, m: int) -> str:
    held = np.flatnonzero(contents.found.concentrations[m]).tolist()
    return "; ".join(f"{contents.component_names[j]}: {_amount(contents, m, j)}" for j in held)


def _two_decimals(value: float) -> str:
    return f"{value:.2f}" if value < 100 else number(value, 3)


def _amount(contents: Contents, m: int, j: int) -> str:
    value = contents.found.concentrations[m, j]
    if value == 0:
        return ""
    if contents.concentration_errors is None:
        return number(value)
    return f"{number(value)} ± {number(contents.concentration_errors[m, j], 2)}"
