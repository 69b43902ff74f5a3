"""The page a person reads about a decomposition, as text and as HTML; and the HTML of other results.

Names and settings may come from files written by anyone, so control characters never reach a terminal and
everything is escaped in HTML.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gmcr.errors import printable
from gmcr.validation import FloatArray

if TYPE_CHECKING:
    from gmcr.decoder import Decoding
    from gmcr.decomposition import Decomposition

MAX_ROWS = 30  # components listed; more would not be one page
MAX_WIDTH = 24  # characters of a name or a setting
SPARK_POINTS = 120
POINTS = 1_200  # of a line, at most: about as many as a screen has columns


def component_table(decomposition: Decomposition) -> pd.DataFrame:
    """One row per component.

    Returns
    -------
    DataFrame with columns component (its name, or its number), samples (how many hold it),
    mean_concentration (over those, NaN if none), strongest_channel (where its profile is largest) and,
    with an axis or names of channels, strongest_at (the position or name there)
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
    elif decomposition.channels is not None:
        columns["strongest_at"] = [decomposition.channels[place] for place in channel]
    return pd.DataFrame(columns)


def as_text(decomposition: Decomposition) -> str:
    """The page as plain text."""
    facts = _facts(decomposition)
    width = max(len(label) for label, _ in facts)
    header, rows, note = _listing(decomposition)
    lines = [_title(decomposition), ""]
    lines += [f"{label:<{width}}  {value}" for label, value in facts]
    lines += ["", *aligned([header, *rows])]
    return "\n".join([*lines, note] if note else lines)


def as_html(decomposition: Decomposition) -> str:
    """The page as an HTML fragment."""
    header, rows, note = _listing(decomposition)
    facts = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(value)}</td></tr>" for label, value in _facts(decomposition)
    )
    sparks = [sparkline(decomposition.components[j]) for j in _listed(decomposition)]
    listing = table_html(
        [*header, "profile"], [[*map(escape, row), spark] for row, spark in zip(rows, sparks)]
    )
    title = f"<p><b>{escape(_title(decomposition))}</b></p>"
    return f"<div>{title}<table>{facts}</table>{listing}<p>{escape(note)}</p></div>"


def table_html(header: list[str], rows: list[list[str]]) -> str:
    """A table as HTML; its cells are HTML already, its header is text."""
    head = "".join(f"<th>{escape(title)}</th>" for title in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_html(title: str, table: pd.DataFrame, notes: Iterable[str] = (), width: int = 80) -> str:
    """A result as HTML: a sentence, a table and notes; all text is escaped, and cells are cut to a width."""
    rows = [[escape(cell(value, width)) for value in row] for row in table.itertuples(index=False)]
    listing = table_html([str(column).replace("_", " ") for column in table.columns], rows)
    told = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<div><p><b>{escape(title)}</b></p>{listing}{told}</div>"


def decoding_line(decoding: Decoding) -> str:
    """What samples hold, in a line."""
    (n_samples, n_slots), held = decoding.concentrations.shape, decoding.supports.sum(axis=1).mean()
    return (
        f"{_count(n_samples, 'sample')} over {_count(n_slots, 'component')}: {held:.3g} held per sample, "
        f"{decoding.known.mean():.1%} of the samples explained within their noise"
    )


def decoding_html(decoding: Decoding) -> str:
    """What samples hold, the first of them, as HTML."""
    rows = range(min(len(decoding.known), MAX_ROWS))
    table = pd.DataFrame(
        {
            "sample": rows,
            "holds (slot: concentration)": [
                ", ".join(f"{j}: {amounts[j]:.4g}" for j in np.flatnonzero(amounts))
                for amounts in decoding.concentrations[: len(rows)]
            ],
            "residual": decoding.residual[: len(rows)],
            "noise": decoding.noise[: len(rows)],
            "known": ["yes" if known else "no" for known in decoding.known[: len(rows)]],
        }
    )
    total = len(decoding.known)
    notes = [f"The first {len(rows)} of {total} samples."] if len(rows) < total else []
    return text_html(decoding_line(decoding), table, notes, width=200)


def sparkline(profile: FloatArray) -> str:
    """A profile at a glance, as inline SVG; made of numbers alone, so that nothing needs escaping."""
    rows = thinned(profile, SPARK_POINTS)
    low, high = min(float(profile.min()), 0.0), float(profile.max())
    x = 98 * rows / max(len(profile) - 1, 1) + 1
    y = 21 - 20 * (profile[rows] - low) / max(high - low, np.finfo(float).tiny)
    points = " ".join(f"{a:.4g},{b:.3g}" for a, b in zip(x, y))
    drawn = 'fill="none" stroke="#0b5a94" stroke-width="1.2" vector-effect="non-scaling-stroke"'
    size = 'width="100" height="22" viewBox="0 0 100 22" preserveAspectRatio="none"'
    return f'<svg {size} aria-hidden="true"><polyline points="{points}" {drawn}/></svg>'


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
        facts.append(("noise law", ", ".join(filter(None, [cell(law.pop("kind")), _pairs(law)]))))
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
    note = f"The {MAX_ROWS} most used of {len(table)} components; table() lists all."
    note = note if len(table) > MAX_ROWS else ""
    table = table.iloc[_listed(decomposition)]
    header = [str(column).replace("_", " ") for column in table.columns]
    return header, [[cell(value) for value in row] for row in table.itertuples(index=False)], note


def _listed(decomposition: Decomposition) -> list[int]:
    """The components listed: all, or the most used."""
    held = decomposition.supports.sum(axis=0)
    if len(held) <= MAX_ROWS:
        return list(range(len(held)))
    return np.argsort(-held, kind="stable")[:MAX_ROWS].tolist()


def aligned(rows: list[list[str]], left: tuple[int, ...] = (0,)) -> list[str]:
    """The lines of a table: the columns `left` hold names, to the left; the others numbers, to the right."""
    columns = []
    for number, cells in enumerate(zip(*rows)):
        width = max(map(len, cells))
        columns.append([cell.ljust(width) if number in left else cell.rjust(width) for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*columns)]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{cell(key)} {cell(value)}" for key, value in values.items())


def cell(value: Any, width: int = MAX_WIDTH) -> str:
    """A value as the text of a cell, of at most `width` characters."""
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.5g}"
    text = printable(str(value))
    return text if len(text) <= width else text[: width - 1] + "…"


def plain(value: Any) -> Any:
    """The value in JSON's types; numbers that JSON does not know become null."""
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        value = value.tolist()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


# Fewer points for the eye: what a screen cannot show is left out, and peaks are not


def thinned(values: FloatArray, most: int) -> NDArray[np.intp]:
    """Which of the values (points,) to draw, at most `most`: the smallest and the largest of each stretch.

    Of a narrow peak, so much at least is drawn that it stands as high as it should. NaN is drawn only where a
    whole stretch is NaN.
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    stretches = np.array_split(np.arange(1, n - 1), max((most - 2) // 2, 1))
    kept = {0, n - 1}
    for stretch in stretches:
        part = values[stretch]
        if np.isnan(part).all():
            kept.add(int(stretch[0]))
        else:
            kept |= {int(stretch[np.nanargmin(part)]), int(stretch[np.nanargmax(part)])}
    return np.array(sorted(kept), dtype=np.intp)


def block_means(picture: FloatArray, most: int) -> FloatArray:
    """A picture (rows, columns) of at most `most` pixels, by means over squares; NaN means no pixel."""
    rows, columns = picture.shape
    step = 1
    while -(-rows // step) * -(-columns // step) > most:
        step += 1
    if step == 1:
        return picture
    padded = np.full((-(-rows // step) * step, -(-columns // step) * step), np.nan)
    padded[:rows, :columns] = picture
    squares = padded.reshape(len(padded) // step, step, -1, step)
    present = ~np.isnan(squares)
    count = present.sum(axis=(1, 3))
    total = np.where(present, squares, 0.0).sum(axis=(1, 3))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
