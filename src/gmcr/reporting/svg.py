"""Charts as SVG files: for papers and slides, without any other package."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from gmcr.errors import printable
from gmcr.reporting.charts import Chart, Heat, Maps, Plane, Series
from gmcr.reporting.colours import colour_of, dash_of, painted, shades
from gmcr.reporting.scales import limits, log_ticks, nice_ticks, tick_labels
from gmcr.reporting.words import number
from gmcr.validation import FloatArray

INK, SOFT, GRID = "#1b2430", "#586273", "#e8ecf1"
LEGEND = 8  # series named beside a plane, at most
MOST_NAMES = 30  # rows or columns of a picture that are named


def as_svg(charts: Sequence[Chart], columns: int = 1, size: tuple[int, int] = (720, 400)) -> str:
    """Charts side by side, row by row, as the text of an SVG file."""
    width, height = size
    columns = min(columns, len(charts))
    rows = -(-len(charts) // columns)
    parts = []
    for place, chart in enumerate(charts):
        x, y = place % columns * width, place // columns * height
        draw = {Plane: _plane, Heat: _heat, Maps: _maps}[type(chart)]
        body = "".join(draw(chart, width, height - 24))  # type: ignore[operator]
        title = _text(width / 2, 16, chart.title, anchor="middle", fill=INK, bold=True)
        parts.append(
            f'<g transform="translate({x} {y})">{title}<g transform="translate(0 24)">{body}</g></g>'
        )
    total = f"{columns * width} {rows * height}"
    alt = _escaped(" ".join(chart.alt for chart in charts[:4]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total}" width="{columns * width}" '
        f'height="{rows * height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12">'
        f'<desc>{alt}</desc><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


# One chart


def _plane(chart: Plane, width: int, height: int) -> Iterator[str]:
    (x_low, x_high), (y_low, y_high) = limits(chart)
    named = 1 < len(chart.series) <= LEGEND
    left, right, top, bottom = 62.0, width - 14.0, 10.0, height - (62.0 if named else 44.0)
    ticks = log_ticks(y_low, y_high) if chart.log else nice_ticks(y_low, y_high, 6)

    def px(x: Any) -> Any:
        share = (np.asarray(x) - x_low) / (x_high - x_low)
        return left + (1 - share if chart.reverse else share) * (right - left)

    def py(y: Any) -> Any:
        y = np.asarray(y, dtype=float)
        if chart.log:
            y = np.log(np.maximum(y, y_low * 1e-3))
            return bottom - (y - np.log(y_low)) / (np.log(y_high) - np.log(y_low)) * (bottom - top)
        return bottom - (y - y_low) / (y_high - y_low) * (bottom - top)

    for tick, label in zip(ticks, map(number, ticks) if chart.log else tick_labels(ticks)):
        y = py(tick)
        yield f'<path d="M{left} {y:.1f}H{right}" stroke="{GRID}"/>'
        yield _text(left - 6, y + 4, label, anchor="end")
    across = nice_ticks(x_low, x_high, 9 if width > 400 else 5)
    across = across[across == np.round(across)] if chart.whole else across
    for tick, label in zip(across, tick_labels(across)):
        yield f'<path d="M{px(tick):.1f} {bottom}v4" stroke="{SOFT}"/>'
        yield _text(px(tick), bottom + 17, label, anchor="middle")
    yield _text((left + right) / 2, bottom + 35, chart.x_label, anchor="middle", fill=INK)
    middle = (top + bottom) / 2
    yield _text(14, middle, chart.y_label, anchor="middle", fill=INK, turn=f"rotate(-90 14 {middle:.1f})")
    for one in chart.series:
        yield from _series(one, px, py)
    yield f'<path d="M{left} {top}V{bottom}H{right}" stroke="{SOFT}" fill="none"/>'
    for rule in chart.rules:
        at = px(rule.at) if rule.upright else py(rule.at)
        line = f"M{at:.1f} {top}V{bottom}" if rule.upright else f"M{left} {at:.1f}H{right}"
        yield f'<path d="{line}" stroke="{SOFT}" stroke-dasharray="4 3"/>'
        x, y = (at + 5, top + 10) if rule.upright else (right - 4, at - 5)
        yield _text(x, y, rule.label, "start" if rule.upright else "end")
    if named:
        step = (right - left) / len(chart.series)
        for column, one in enumerate(chart.series):
            x, y = left + column * step, height - 10
            yield f'<path d="M{x:.1f} {y - 4}h18" {_stroke(one.place, 2)}/>'
            yield _text(x + 23, y, _cut(one.name, int(step / 7)))


def _series(one: Series, px: Any, py: Any) -> Iterator[str]:
    x, y, colour = px(one.x), py(one.y), colour_of(one.place)
    there = np.isfinite(y)
    if one.style == "bars":
        half = 0.44 * (one.x[1] - one.x[0] if len(one.x) > 1 else 1.0)
        for a, b, high in zip(px(one.x - half), px(one.x + half), y):
            yield f'<path d="M{a:.1f} {py(0):.1f}V{high:.1f}H{b:.1f}V{py(0):.1f}z" fill="{colour}"/>'
        return
    if "points" in one.style:
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[there], y[there]))
        yield f'<path d="{dots}" stroke="{colour}" stroke-width="5" stroke-linecap="round" stroke-opacity=".8"/>'
    if one.style == "points":
        return
    if one.band is not None:
        yield _area(x, py(one.band[0]), py(one.band[1]), colour, 0.14)
    if one.error is not None:
        error = 2 * np.nan_to_num(one.error)
        yield _area(x[there], py(one.y - error)[there], py(one.y + error)[there], colour, 0.3)
    starts = there & ~np.concatenate([[False], there[:-1]])
    path = "".join(f"{'M' if starts[i] else 'L'}{x[i]:.1f} {y[i]:.1f}" for i in np.flatnonzero(there))
    yield f'<path d="{path}" fill="none" stroke-linejoin="round" {_stroke(one.place, 1.3)}/>'


def _area(x: FloatArray, low: FloatArray, high: FloatArray, colour: str, opacity: float) -> str:
    there = [f"{a:.1f} {b:.1f}" for a, b in zip(x, high)]
    back = [f"{a:.1f} {b:.1f}" for a, b in zip(x[::-1], low[::-1])]
    return f'<path d="M{"L".join(there + back)}z" fill="{colour}" fill-opacity="{opacity}"/>'


def _heat(chart: Heat, width: int, height: int) -> Iterator[str]:
    left, right, top, bottom = 110.0, width - 20.0, 8.0, height - 96.0
    most = float(np.abs(chart.values).max()) or 1.0
    yield _image(shades(chart.values / most), left, top, right - left, bottom - top)
    n_rows, n_columns = chart.values.shape
    for m in range(0, n_rows, max(1, -(-n_rows // MOST_NAMES))):
        y = top + (m + 0.5) * (bottom - top) / n_rows + 4
        yield _text(left - 6, y, _cut(chart.rows[m], 15), anchor="end")
    for j in range(0, n_columns, max(1, -(-n_columns // MOST_NAMES))):
        x, y = left + (j + 0.5) * (right - left) / n_columns, bottom + 12
        yield _text(x, y, _cut(chart.columns[j], 14), anchor="end", turn=f"rotate(-40 {x:.1f} {y:.1f})")
    label = f"{chart.value_label}: white is none, darkest {number(most)}"
    yield _text(right, height - 6, label, anchor="end")


def _maps(chart: Maps, width: int, height: int) -> Iterator[str]:
    count, rows, columns = chart.values.shape
    across = int(np.ceil(np.sqrt(count)))
    down = -(-count // across)
    cell_w, cell_h = width / across, height / down
    scale = min((cell_w - 12) / columns, (cell_h - 26) / rows)
    for place, (name, picture) in enumerate(zip(chart.names, chart.values)):
        colours, most = painted(picture)
        x, y = place % across * cell_w + 6, place // across * cell_h
        yield _image(colours, x, y, scale * columns, scale * rows)
        label = f"{_cut(name, int(cell_w / 7) - 8)}, to {number(most, 3)}"
        yield _text(x, y + scale * rows + 14, label)


# Parts


def _image(colours: np.ndarray, x: float, y: float, width: float, height: float) -> str:
    data = b64encode(png_bytes(colours)).decode()
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    frame = f'<rect {place} fill="none" stroke="{SOFT}"/>'
    style = 'preserveAspectRatio="none" style="image-rendering:pixelated"'
    return f'<image {place} {style} href="data:image/png;base64,{data}"/>{frame}'


def png_bytes(colours: np.ndarray) -> bytes:
    """Pixels (rows, columns, 3) as the bytes of a PNG file."""
    rows, columns, _ = colours.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), colours.reshape(rows, -1)], axis=1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    packed = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def _stroke(place: int, width: float) -> str:
    dash = dash_of(place)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{colour_of(place)}" stroke-width="{width}"{dashed}'


def _text(
    x: float, y: float, text: str, anchor: str = "start", fill: str = SOFT, turn: str = "", bold: bool = False
) -> str:
    turned = f' transform="{turn}"' if turn else ""
    size, weight = (14, "bold") if bold else (12, "normal")
    style = f'text-anchor="{anchor}" fill="{fill}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}{turned}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return escape(printable(text))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= max(most, 2) else text[: max(most, 2) - 1] + "…"
