"""The charts of a report, made from its contents."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.reporting import sample_figures as samples
from gmcr.reporting.charts import Chart, Heat, Maps, Plane, Rule, Series
from gmcr.reporting.colours import PALETTE
from gmcr.reporting.contents import Contents, axis_of, by_signal
from gmcr.reporting.words import number, several
from gmcr.text import POINTS, block_means, spread, thinned
from gmcr.validation import FloatArray

ALL_POINTS = 200_000  # of all profiles together
HEAT_ROWS = 600
MAP_PIXELS = 40_000  # of one map
ALL_MAP_PIXELS = 1_000_000
CHOSEN = 5  # profiles drawn before a reader chooses others
VALUES = 30  # singular values drawn, or three times the count


def charts_of(contents: Contents) -> dict[str, Chart]:
    """All charts by name, in the order of the page; those without facts are not there."""
    made: list[Chart | None] = [
        _values(contents),
        _costs(contents),
        _halves(contents),
        profiles(contents),
        _concentrations(contents),
        _maps(contents),
        samples.confidence(contents),
        samples.confidences(contents),
        samples.ratios(contents),
        *samples.worst(contents),
        samples.noise(contents),
    ]
    return {chart.name: chart for chart in made if chart is not None}


# The count


def _values(contents: Contents) -> Plane | None:
    rank, values = contents.rank, contents.singular_values
    if rank is None or values is None:
        return None
    count = contents.found.n_components
    shown = values[: max(VALUES, 3 * count)]
    alt = f"Singular values from {number(shown[0])} down to {number(shown[-1])}; {(values > rank['edge']).sum()} "
    return Plane(
        name="values",
        title=f"Singular values ({rank['scaling']})",
        alt=f"{alt}stand above the edge of white noise at {number(rank['edge'])}.",
        x_label="number",
        y_label="singular value",
        series=(Series("singular value", np.arange(1.0, len(shown) + 1), shown, "points"),),
        rules=(
            Rule(rank["edge"], "edge of white noise"),
            Rule(count + 0.5, several(count, "component"), upright=True),
        ),
        log=True,
        whole=True,
    )


def _costs(contents: Contents) -> Plane | None:
    path = contents.found.path
    if path is None or not {"count", "cost"} <= set(path.columns) or path["count"].nunique() < 2:
        return None
    best = path.groupby("count")["cost"].min()
    if not (best > 0).all():
        return None
    counts, costs = best.index.to_numpy(dtype=float), best.to_numpy(dtype=float)
    lowest = int(counts[costs.argmin()])
    return Plane(
        name="costs",
        title="Cost by number of components",
        alt=f"Lowest cost met with {counts[0]:.0f} to {counts[-1]:.0f} components; it is least at {lowest}.",
        x_label="components",
        y_label="cost / lowest cost",
        series=(Series("cost", counts, costs / costs.min(), "line+points"),),
        rules=(Rule(float(contents.found.n_components), "chosen", upright=True),),
        log=bool(costs.max() > 20 * costs.min()),
        whole=True,
    )


def _halves(contents: Contents) -> Plane | None:
    pairs = (contents.count or {}).get("reproducibility") or []
    if len(pairs) < 2:
        return None
    counts, cosines = np.array(pairs, dtype=float).T
    told = ", ".join(f"{count:.0f}: {cosine:.3f}" for count, cosine in pairs)
    return Plane(
        name="halves",
        title="Profiles from halves of the samples",
        alt=f"Smallest cosine between profiles found in two halves of the samples, by count. {told}.",
        x_label="components",
        y_label="smallest cosine",
        series=(Series("cosine", counts, cosines, "line+points"),),
        rules=(
            Rule(0.98, "the same profile"),
            Rule(float(contents.found.n_components), "chosen", upright=True),
        ),
        whole=True,
    )


# Profiles


def profiles(contents: Contents) -> Plane:
    """Every profile, with standard errors and what would fit as well."""
    found, names = contents.found, contents.component_names
    axis, label, falls = axis_of(contents)
    most = int(np.clip(ALL_POINTS // found.n_components, 100, POINTS))
    order = by_signal(contents)
    first = set(order[:CHOSEN].tolist())
    # Where colours have to go round, those shown first differ.
    places = np.arange(len(order)) if len(order) <= len(PALETTE) else np.argsort(order)
    series = []
    for j in range(found.n_components):
        rows = thinned(found.components[j], most)
        whole = len(rows) == found.n_channels
        series.append(
            Series(
                name=names[j],
                x=axis if whole else axis[rows],
                y=found.components[j, rows],
                error=_error(contents, j, rows),
                band=_band(contents, j, rows),
                place=int(places[j]),
                shown=j in first,
            )
        )
    strongest = int(order[0])
    peak = axis[np.abs(found.components[strongest]).argmax()]
    alt = (
        f"{several(found.n_components, 'profile')} over {label} {number(axis[0])} to {number(axis[-1])}. "
        f"The one with the most signal, {names[strongest]}, is largest at {number(peak)}."
    )
    thin = found.n_channels > most
    return Plane(
        name="profiles",
        title="Profiles",
        alt=alt,
        x_label=label,
        y_label="profile (unit norm)",
        series=tuple(series),
        choose=True,
        reverse=falls,
        note=f"Thinned for display: at most {most:,} of {found.n_channels:,} channels per profile are drawn, the "
        "lowest and highest of each stretch. profiles.csv holds all."
        if thin
        else "",
    )


def _error(contents: Contents, j: int, rows: Any) -> Any:
    errors = contents.profile_errors
    if errors is None or np.isnan(errors[j]).all():
        return None
    return errors[j, rows] if errors.ndim == 2 else float(errors[j])


def _band(contents: Contents, j: int, rows: Any) -> tuple[FloatArray, FloatArray] | None:
    """Between the profiles at both ends of the band, where it is open."""
    if contents.bands is None or contents.band_profiles is None or contents.bands[j]["closed"]:
        return None
    ends = contents.band_profiles[j][:, rows]
    return None if np.isnan(ends).any() else (ends.min(axis=0), ends.max(axis=0))


# Concentrations


def _concentrations(contents: Contents) -> Heat:
    found = contents.found
    rows = spread(found.n_samples, HEAT_ROWS)
    names = contents.sample_names
    thin = len(rows) < found.n_samples
    return Heat(
        name="concentrations",
        title="Concentrations",
        alt=f"Heat map of {several(len(rows), 'sample')} by {several(found.n_components, 'component')}: the "
        "darker, the more of it. White means that the sample does not hold the component.",
        x_label="component",
        y_label="sample",
        value_label="concentration",
        rows=tuple(names[m] for m in rows),
        columns=contents.component_names,
        values=found.concentrations[rows],
        note=f"Thinned for display: {len(rows):,} of {found.n_samples:,} samples, evenly spread. "
        "concentrations.csv holds all."
        if thin
        else "",
    )


def _maps(contents: Contents) -> Maps | None:
    if contents.shape is None or contents.pixels is None:
        return None
    found, (height, width) = contents.found, contents.shape
    most = max(min(MAP_PIXELS, ALL_MAP_PIXELS // found.n_components), 400)
    full = np.full((found.n_components, height * width), np.nan)
    full[:, contents.pixels] = found.concentrations.T
    pictures = np.stack([block_means(picture.reshape(height, width), most) for picture in full])
    thin = pictures.shape[1:] != (height, width)
    return Maps(
        name="maps",
        title="Concentration maps",
        alt=f"Maps of {several(found.n_components, 'component')} over {height} x {width} pixels: the darker, "
        "the more of it. Grey means that there is no sample.",
        value_label="concentration",
        names=contents.component_names,
        values=pictures,
        note=f"Thinned for display: means over squares, {pictures.shape[1]} x {pictures.shape[2]} of {height} x "
        f"{width} pixels."
        if thin
        else "",
    )
