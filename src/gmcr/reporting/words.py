"""Numbers and phrases that several parts of a report use."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.reporting.contents import Contents, IntArray
from gmcr.validation import FloatArray, evenly

SURE = 0.9  # confidence from which a support counts as sure
DOTS = 2_000  # samples drawn as dots


def number(value: Any, digits: int = 4) -> str:
    """A number for reading; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    spelled = "e" in text and abs(value) < 1e9 and float(text).is_integer()
    return f"{float(text):,.0f}" if spelled else text


def several(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(words: list[str], most: int = 8) -> str:
    """a, b and c; beyond `most`, how many more."""
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def amount(contents: Contents, m: int, j: int) -> str:
    """How much of a component a sample holds, with its standard error."""
    value = contents.found.concentrations[m, j]
    if value == 0:
        return ""
    if contents.concentration_errors is None:
        return number(value)
    return f"{number(value)} ± {number(contents.concentration_errors[m, j], 2)}"


def holds(contents: Contents, m: int) -> str:
    """All that a sample holds."""
    held = np.flatnonzero(contents.found.concentrations[m]).tolist()
    return "; ".join(f"{contents.component_names[j]}: {amount(contents, m, j)}" for j in held)


# Of many samples, those to draw


def with_lowest(values: FloatArray, most: int = DOTS) -> IntArray:
    """Samples to draw as dots, by their values (samples,): the lowest in any case, others evenly spread."""
    return np.unique(np.concatenate([evenly(len(values), most), np.argsort(values)[: most // 4]]))


def thinned_note(contents: Contents, rows: IntArray, which: str = "") -> str:
    """That not all samples are drawn, if so."""
    n = contents.found.n_samples
    return f"Thinned for display: {len(rows):,} of {n:,} {contents.row}s{which}." if len(rows) < n else ""
