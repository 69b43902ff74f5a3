"""Axes of a plane: where they end, and where their ticks stand."""

from __future__ import annotations

import numpy as np

from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.words import number
from gmcr.validation import FloatArray


def nice_ticks(low: float, high: float, most: int) -> FloatArray:
    """Round numbers between low and high, at most about `most`."""
    raw = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(factor for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999) * power
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) + 0.0  # no -0


def tick_labels(ticks: FloatArray) -> list[str]:
    """Ticks in even steps, all with as many decimals."""
    step = abs(ticks[1] - ticks[0]) if len(ticks) > 1 else 0.0
    if step == 0 or np.abs(ticks).max() >= 1e5 or step < 1e-6:
        return [number(tick) for tick in ticks]
    return [f"{tick:.{max(0, int(np.ceil(-np.log10(step) - 1e-9)))}f}" for tick in ticks]


def log_ticks(low: float, high: float) -> FloatArray:
    """Powers of ten between low and high; round numbers where there is none."""
    first, last = np.ceil(np.log10(low)), np.floor(np.log10(high))
    if last - first < 1:
        ticks = nice_ticks(low, high, 4)
        return ticks[ticks > 0]
    return 10.0 ** np.arange(first, last + 1, max(1, (last - first) // 4))


def limits(chart: Plane) -> tuple[tuple[float, float], tuple[float, float]]:
    """What a plane has to show: the ends of x and of y."""
    xs = np.concatenate([one.x for one in chart.series])
    low, high = float(xs.min()), float(xs.max())
    if any(one.style == "bars" for one in chart.series):
        low, high = 0.0, 1.0
    elif any(one.style != "line" for one in chart.series):
        room = 0.03 * (high - low) or 0.5
        low, high = low - room, high + room
    ys = [end for one in chart.series for end in reach(one)]
    ys += [np.array([rule.at]) for rule in chart.rules if not rule.upright]
    values = np.concatenate(ys)
    values = values[np.isfinite(values) & ((values > 0) | (not chart.log))]
    bottom, top = float(values.min()), float(values.max())
    if chart.log:
        return (low, high), (bottom / 1.3, top * 1.3)
    if 0 < bottom < 0.4 * top or any(one.style == "bars" for one in chart.series):
        bottom = 0.0
    room = 0.05 * (top - bottom) or abs(top) / 2 or 0.5
    return (low, high if high > low else low + 1), (bottom - room * (bottom != 0), top + room)


def reach(one: Series) -> list[FloatArray]:
    """All that a series draws: its values, two standard errors around them, and its band."""
    ends = [one.y]
    if one.error is not None:
        ends += [one.y - 2 * np.nan_to_num(one.error), one.y + 2 * np.nan_to_num(one.error)]
    return ends + list(one.band or ())
