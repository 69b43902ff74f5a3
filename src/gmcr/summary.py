"""The page a person reads about a decomposition, as text and as HTML.

Names and settings may come from files written by anyone, so control characters never reach a terminal and
everything is escaped in HTML.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition

MAX_ROWS = 30  # components listed; more would not be one page
MAX_WIDTH = 24  # characters of a name or a setting


def component_table(decomposition: Decomposition) -> pd.DataFrame:
    """One row per component.

    Returns
    -------
    DataFrame with columns component (its name, or its number), samples (how many hold it),
    mean_concentration (over those, NaN if none), strongest_channel (where its profile is largest) and,
    with an axis, strongest_at (the axis value there)
    """
    held = decomposition.supports.sum(axis=0)
    total = decomposition.concentrations.sum(axis=0)
    channel = np.abs(decomposition.components).argmax(axis=1)
    names = decomposition.component_names or tuple(str(j) for j in range(decomposition.n_components))
    columns: dict[str, Any] = {
        "component": list(names),
        "samples": held,
        "mean_concentration": np.where(held > 0, total / np.maximum(held, 1), np.nan),
        "strongest_channel": channel,
    }
    if decomposition.axis is not None:
        columns["strongest_at"] = decomposition.axis[channel]
    return pd.DataFrame(columns)


def as_text(decomposition: Decomposition) -> str:
    """The page as plain text."""
    facts = _facts(decomposition)
    width = max(len(label) for label, _ in facts)
    header, rows, note = _listing(decomposition)
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = [_title(decomposition), ""]
    lines += [f"{label:<{width}}  {value}" for label, value in facts]
    lines += ["", *(_line(row, widths) for row in [header, *rows])]
    return "\n".join([*lines, note] if note else lines)


def as_html(decomposition: Decomposition) -> str:
    """The page as an HTML fragment."""
    header, rows, note = _listing(decomposition)
    facts = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in _facts(decomposition)
    )
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<div><p><b>{escape(_title(decomposition))}</b></p><table>{facts}</table>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(note)}</p></div>"
    )


def _title(decomposition: Decomposition) -> str:
    return (
        f"{_count(decomposition.n_components, 'component')} in {_count(decomposition.n_samples, 'sample')} "
        f"of {_count(decomposition.n_channels, 'channel')}"
    )


def _facts(decomposition: Decomposition) -> list[tuple[str, str]]:
    per_sample = decomposition.supports.sum(axis=1)
    facts = [
        (
            "usage",
            f"{decomposition.usage} in all; {per_sample.min()} to {per_sample.max()} components per sample, "
            f"{per_sample.mean():.3g} on average",
        )
    ]
    if decomposition.noise is not None:
        noise = decomposition.noise
        facts.append(("noise", f"median {np.median(noise):.4g}, from {noise.min():.4g} to {noise.max():.4g}"))
    if decomposition.noise_law is not None:
        law = dict(decomposition.noise_law)
        facts.append(("noise law", ", ".join(filter(None, [_cell(law.pop("kind")), _pairs(law)]))))
    if decomposition.signed:
        facts.append(("signs", "negative values allowed"))
    if decomposition.fit:
        facts.append(("fit", _pairs(decomposition.fit)))
    if decomposition.settings:
        facts.append(("settings", _pairs(decomposition.settings)))
    return facts


def _listing(decomposition: Decomposition) -> tuple[list[str], list[list[str]], str]:
    """Header and rows of the component table as text, and a note when rows are left out."""
    table = component_table(decomposition)
    note = ""
    if len(table) > MAX_ROWS:
        note = f"The {MAX_ROWS} most used of {len(table)} components; table() lists all."
        table = table.sort_values("samples", ascending=False, kind="stable").head(MAX_ROWS)
    header = [str(column).replace("_", " ") for column in table.columns]
    return header, [[_cell(value) for value in row] for row in table.itertuples(index=False)], note


def _line(row: list[str], widths: list[int]) -> str:
    """Names to the left, numbers to the right."""
    first, *rest = (
        cell.ljust(width) if column == 0 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths))
    )
    return "  ".join([first, *rest]).rstrip()


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{_cell(key)} {_cell(value)}" for key, value in values.items())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.5g}"
    text = "".join(character if character.isprintable() else "�" for character in str(value))
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 1] + "…"
