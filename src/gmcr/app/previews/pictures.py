"""Samples as they were read, for somebody to see whether that is right; and steps, before and after."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.asking.places import read_places
from gmcr.asking.steps import Told
from gmcr.errors import GMCRError
from gmcr.estimators.labels import labels_of as channels_of
from gmcr.estimators.steps import learned_chain
from gmcr.estimators.window import GMCR
from gmcr.io.table import Table
from gmcr.reporting.charts import Maps, as_data
from gmcr.reporting.collect import BEFORE_AND_AFTER, labels_of
from gmcr.reporting.page import cleaned
from gmcr.reporting.sections.steps import samples_chart
from gmcr.text import block_means, plain
from gmcr.validation import FloatArray, evenly

DRAWN = 12  # samples in the picture
ROWS, COLUMNS = 8, 8  # of the table
VALUES = 200  # of a column of metadata, that are shown
MAP_PIXELS = 20_000
SAID_IN_PYTHON = re.compile(
    r"[;:] (?:samples_in|name)=.*?(?=\.?$)"
)  # how to turn it round, which the page has boxes for

Facts = dict[str, Any]


def reading(table: Table, settings: Facts) -> Facts:
    """How a file was read: sizes, what was inferred, a picture, the first rows, and what else the file says."""
    D = table.samples
    told: Facts = {
        "samples": D.shape[0],
        "channels": D.shape[1],
        "missing": int(np.isnan(D).sum()),
        "smallest": float(np.nanmin(D)) if D.size else None,
        "largest": float(np.nanmax(D)) if D.size else None,
        "negative": int((D < 0).sum()),
        "axis": _axis(table),
        "named": table.channels is not None,
        "notes": [SAID_IN_PYTHON.sub("", note) for note in table.notes],
        "row_label": table.row_label,
        "image": None if table.pixels is None else list(table.pixels.shape),
        "metadata": _metadata(table),
        "table": _first(table),
        "chart": as_data(_picture(table)),
        "map": _image(table),
    }
    return cleaned(plain(told | _runs(table, settings)))


def steps(table: Table, settings: Facts, folder: Path) -> Facts:
    """What the steps that settings ask for do to these samples: a sentence each, a few samples before and after.

    folder : that names of given files in the settings are in
    """
    blank = settings.get("blank")
    asked = Told(
        range=settings.get("range") or None,
        drop=settings.get("drop"),
        baseline=settings.get("baseline") or None,
        despike=bool(settings.get("despike")),
        smooth=settings.get("smooth"),
        derivative=settings.get("derivative") or 0,
        snv=bool(settings.get("snv")),
        msc=bool(settings.get("msc")),
        normalise=settings.get("normalise"),
        blank=None if not blank else folder / blank,
        average=bool(settings.get("average")),
        measured_again=settings.get("replicates") or None,
    )
    signed = settings.get("signed")
    model = GMCR(
        steps=asked.steps(table),
        background=settings.get("background") or 0,
        disturbances=settings.get("disturbances") or "keep",
        signed="auto" if signed is None else signed,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        chain, after, _ = learned_chain(model, channels_of(table), table.samples, asked.replicates(table))
    D, falls = table.samples, _falls(table)
    label, names = _label(table), _names(table)
    rows = evenly(len(D), BEFORE_AND_AFTER)
    axis = np.arange(float(D.shape[1])) if table.axis is None else table.axis
    shown = [names[m] for m in rows]
    told: Facts = {
        "did": list(chain.did),
        "warned": [str(one.message) for one in caught],
        "samples": len(after),
        "channels": after.shape[1],
        "before": as_data(samples_chart("steps-before", "As measured", D[rows], axis, shown, label, falls)),
    }
    if chain.averaging is None:
        told["after"] = as_data(
            samples_chart(
                "steps-after", "After the steps", after[rows], axis[chain.kept], shown, label, falls
            )
        )
    else:
        rows = evenly(len(after), BEFORE_AND_AFTER)
        means = [str((chain.names_after or range(len(after)))[m]) for m in rows]
        told["after"] = as_data(
            samples_chart(
                "steps-after", "After the steps", after[rows], axis[chain.kept], means, label, falls
            )
        )
    return cleaned(plain(told))


def _axis(table: Table) -> Facts | None:
    if table.axis is None:
        return None
    ends = float(table.axis[0]), float(table.axis[-1])
    return {"first": ends[0], "last": ends[1], "unit": table.axis_unit or "", "label": _label(table)}


def _label(table: Table) -> str:
    return str(labels_of(table).get("axis_label", "channel" if table.axis is None else "channel axis"))


def _falls(table: Table) -> bool:
    return table.axis is not None and len(table.axis) > 1 and bool(table.axis[1] < table.axis[0])


def _names(table: Table) -> tuple[str, ...]:
    return table.sample_names or tuple(f"sample {m}" for m in range(len(table.samples)))


def _monotonic(axis: FloatArray | None) -> bool:
    steps = np.zeros(1) if axis is None else np.diff(axis)
    return bool((steps > 0).all() or (steps < 0).all())


def _picture(table: Table) -> Any:
    rows = evenly(len(table.samples), DRAWN)
    axis = table.axis if _monotonic(table.axis) else None
    falls = axis is not None and _falls(table)
    names = [_names(table)[m] for m in rows]
    label = _label(table) if axis is not None else "channel"
    return samples_chart("read", "Samples as they were read", table.samples[rows], axis, names, label, falls)


def _first(table: Table) -> Facts:
    """The first rows and columns, as a table for people."""
    labels, names = list(table.labels)[:COLUMNS], _names(table)[:ROWS]
    headings = [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]
    rows = [[f"{value:.4g}" for value in row[:COLUMNS]] for row in table.samples[:ROWS]]
    return {"columns": headings, "names": list(names), "rows": rows}


def _metadata(table: Table) -> list[Facts]:
    """What else the file says, by name, and whether it says so of each sample."""
    found = []
    for name, value in table.metadata.items():
        own = isinstance(value, list)
        values = [str(one) for one in (value if own else [value])]
        numeric = own and all(_is_number(one) for one in value)
        found.append({"name": str(name), "own": own, "numeric": numeric, "values": values[:VALUES]})
    return found


def _is_number(value: Any) -> bool:
    try:
        return str(value).strip() == "" or bool(np.isfinite(float(value)) or np.isnan(float(value)))
    except (TypeError, ValueError):
        return False


def _runs(table: Table, settings: Facts) -> Facts:
    """Runs and order, as the settings tell them; what cannot be is told in a sentence."""
    try:
        places = read_places(settings.get("order") or None, settings.get("runs") or None, table)
    except GMCRError as error:
        return {"runs": None, "ordered": False, "runs_error": str(error)}
    if places.runs is None:
        return {"runs": None, "ordered": places.order is not None}
    sizes: dict[str, int] = {}
    for label in places.runs:
        sizes[label] = sizes.get(label, 0) + 1
    return {"runs": [[label, size] for label, size in sizes.items()], "ordered": places.order is not None}


def _image(table: Table) -> Facts | None:
    """The mean over the channels as a picture, where the file holds one."""
    if table.pixels is None or len(table.pixels.shape) != 2:
        return None
    height, width = table.pixels.shape
    picture = np.full(height * width, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # pixels without data
        picture[np.flatnonzero(table.pixels.kept)] = np.nanmean(table.samples, axis=1)
    small = block_means(picture.reshape(height, width), MAP_PIXELS)
    return as_data(
        Maps(
            "read-map", "Mean over the channels", f"{height} x {width} pixels", "mean", ("mean",), small[None]
        )
    )
