"""What is to be drawn: the solution that came, with so much of a report's contents as a plot needs."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.reporting.charts import Plane
from gmcr.reporting.collect import Prepares, collect, table_of
from gmcr.reporting.contents import Contents, IntArray
from gmcr.reporting.files import taken_apart
from gmcr.validation import FloatArray

WHOLE = sys.maxsize  # points, rows or pixels: none are left out


def contents_of(model: Any, D: Any = None, *only: str, seconds: float = np.inf) -> Contents:
    """The contents of a report on a fitted model or a decomposition; only : its tasks."""
    found, own = taken_apart(model)
    decoding = getattr(own, "decoding_", None)
    return collect(found, D, model=own, decoding=decoding, seconds=seconds, only=only)


def prepared(model: Any, D: Any) -> FloatArray:
    """The samples that were unmixed, after the model's steps: (samples, channels)."""
    found, own = taken_apart(model)
    stepped = isinstance(own, Prepares) and own.chain_
    return table_of(own.prepared(D) if stepped else D, found).samples


def required(contents: Contents, key: str) -> None:
    """Refuse to draw what could not be found out."""
    if key in contents.left_out:
        raise InputError(f"nothing can be drawn: {contents.left_out[key]}")


def chosen(components: Any, count: int) -> IntArray:
    """Numbers of the components to draw, in the order given; all where none are named."""
    if components is None:
        return np.arange(count)
    try:
        return np.atleast_1d(np.arange(count)[components])
    except IndexError as error:
        raise InputError(f"components must pick from {count} components, numbered from 0: {error}.") from None


def only_series(chart: Plane, components: Any) -> Plane:
    """The chart with the series of some components."""
    picked = chosen(components, len(chart.series))
    return replace(chart, series=tuple(chart.series[j] for j in picked))
