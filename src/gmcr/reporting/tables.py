"""The tables of a report, made from its contents."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from gmcr.rank import RULES
from gmcr.reporting.contents import Contents, axis_of, by_signal
from gmcr.reporting.listing import Cell, Listing, any_cell, count_cell, finite, number_cell
from gmcr.reporting.sample_tables import doubtful, samples
from gmcr.reporting.words import match_words
from gmcr.text import sparkline

# Conditions of the certificate in plain words (docs/trust.md).
PLAINLY = {
    "C1": "every sample is explained up to its noise, with few components",
    "C2": "the answer uses no more components than the truth does",
    "C3": "every sample is explained, with few components",
    "C4": "the answer uses no more components than the truth does",
    "C5": "no handful of profiles can nearly replace each other",
    "C6": "for every component there are two samples that share it and nothing else",
    "C7": "no sample was explained by fewer components than it really has",
    "C8": "every sample is explained up to its noise, with few components",
    "C9": "the answer uses no more components than the truth does",
    "C10": "no handful of profiles can nearly replace each other",
    "C11": "no sample was explained by fewer components than it really has",
    "R": "such pairs of samples occur often enough, in different proportions",
    "robust window": "the noise is small enough for a proof with learned profiles",
    "fixed-pool window": "the noise is small enough for a proof with known profiles",
    "price window": "the noise is small enough that one price separates noise from components",
    "local optimum": "no sample gets cheaper by adding or removing one component",
    "single samples": "a new sample of usual noise would be decoded with proof",
}


def tables_of(contents: Contents) -> dict[str, Listing]:
    """All tables by name; those without facts are not there."""
    made = [
        _components(contents),
        samples(contents),
        doubtful(contents),
        _path(contents),
        _rank(contents),
        _pairs(contents),
        _conditions(contents),
    ]
    return {table.name: table for table in made if table is not None}


def _components(contents: Contents) -> Listing:
    found, names = contents.found, contents.component_names
    axis, label, _ = axis_of(contents)
    held = found.supports.sum(axis=0)
    total = np.abs(found.concentrations).sum(axis=0)
    signal = np.linalg.norm(found.concentrations, axis=0)
    C, S = found.concentrations, found.components
    whole = np.sqrt(max(float(np.sum((C.T @ C) * (S @ S.T))), 0.0))  # ‖C S‖, without the memory of C S
    share = signal / max(whole, np.finfo(float).tiny)
    peak = np.abs(found.components).argmax(axis=1)
    columns = [("component", False), ("profile", False), ("samples", True), ("mean concentration", True)]
    columns += [("share of signal", True), ("largest at", True)]
    if contents.names:
        columns.insert(1, ("match in the library", False))
    if contents.profile_errors is not None:
        columns.append(("error of peak", True))
    if contents.bands is not None:
        columns.append(("could look different?", False))
    rows = []
    for j in by_signal(contents).tolist():
        mean = total[j] / held[j] if held[j] else np.nan
        row = [
            Cell(names[j]),
            Cell("", markup=Markup(sparkline(found.components[j]))),
            count_cell(held[j]),
            number_cell(mean),
        ]
        row += [Cell(f"{share[j]:.1%}", float(share[j])), number_cell(axis[peak[j]])]
        if contents.names:
            row.insert(1, Cell(match_words(contents.names.get(str(j)))))
        if contents.profile_errors is not None:
            error = contents.profile_errors[j]
            error = float(error if np.ndim(error) == 0 else error[peak[j]])
            relative = error / abs(float(found.components[j, peak[j]]))
            row.append(Cell(f"{relative:.1%}" if np.isfinite(relative) else "–", finite(relative)))
        if contents.bands is not None:
            row.append(Cell(_different(contents.bands[j])))
        rows.append(row)
    caption = f"Components, the one with the most signal first; where a profile is largest is told by {label}"
    return Listing("components", caption, columns, rows)


def _different(band: dict[str, Any]) -> str:
    if band["closed"]:
        return "no"
    if str(band["why"]).startswith("open by no more than noise"):
        return "not beyond noise"
    least, most = band["min"], band["max"]
    if least is None or not np.isfinite(least):
        return "yes"
    if most is None or not np.isfinite(most):
        return f"yes: {least:.1%} of the signal or more"
    return f"yes: {least:.1%} to {most:.1%} of the signal"


def _path(contents: Contents) -> Listing | None:
    path = contents.found.path
    if path is None:
        return None
    columns = [str(column) for column in path.columns]
    numeric = [pd.api.types.is_numeric_dtype(path[column]) for column in columns]
    rows = [[any_cell(value) for value in row] for row in path.itertuples(index=False)]
    return Listing(
        "path", "The path: solutions met, from coarse to fine noise", list(zip(columns, numeric)), rows
    )


def _rank(contents: Contents) -> Listing | None:
    if contents.rank is None:
        return None
    counts = {(rule, scaling): count for rule, scaling, count in contents.rank["counts"]}
    scalings = list(dict.fromkeys(scaling for _, scaling in counts))
    best = contents.rank["scaling"]
    columns = [("rule", False)] + [(name + (" (best)" if name == best else ""), True) for name in scalings]
    rows = [
        [Cell(words.title), *(count_cell(counts.get((rule, scaling))) for scaling in scalings)]
        for rule, words in RULES.items()
        if any((rule, scaling) in counts for scaling in scalings)
    ]
    return Listing("rank", "Rank rules: the count under each scaling of the samples", columns, rows)


def _pairs(contents: Contents) -> Listing | None:
    counts, examples = contents.pair_counts, contents.pair_examples
    if counts is None or examples is None:
        return None
    names, samples = contents.component_names, contents.sample_names
    more = {str(row["component"]): row for row in (contents.certificate or {}).get("components", [])}
    own = contents.found.component_names or tuple(str(j) for j in range(contents.found.n_components))
    columns = [("component", False), ("samples", True), ("isolating pairs", True), ("for example", False)]
    if more:
        columns.append(("detection limit", True))
    held = contents.found.supports.sum(axis=0)
    rows = []
    for j in range(contents.found.n_components):
        pair = [samples[m] for m in examples[j].tolist() if m >= 0]
        row = [Cell(names[j]), count_cell(held[j]), count_cell(counts[j]), Cell(" and ".join(pair) or "none")]
        if more:
            row.append(number_cell(more.get(own[j], {}).get("detection_limit")))
        rows.append(row)
    return Listing("pairs", "Pairs of samples that have nothing but this component in common", columns, rows)


def _conditions(contents: Contents) -> Listing | None:
    if contents.certificate is None:
        return None
    columns = [("condition", False), ("in plain words", False), ("status", False)]
    columns += [("value", True), ("threshold", True), ("why", False)]
    rows = [
        [
            Cell(str(row["name"])),
            Cell(PLAINLY.get(row["name"], "")),
            Cell(str(row["status"]), status=str(row["status"])),
            number_cell(row["value"]),
            number_cell(row["threshold"]),
            Cell(re.sub(r"\binf\b", "∞", str(row["note"] or ""))),
        ]
        for row in contents.certificate["conditions"]
    ]
    return Listing("conditions", "Conditions of Theorem 2, and what else was checked", columns, rows)
