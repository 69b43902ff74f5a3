"""What each component looks like, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.colours import PALETTE
from gmcr.reporting.contents import Contents, LibraryMatch
from gmcr.reporting.listing import Cell, Column, Listing, count_cell, number_cell, numbers, share_cell, texts
from gmcr.reporting.section import SECTIONS, Block, Section, missing
from gmcr.reporting.words import number, several
from gmcr.text import POINTS, thinned
from gmcr.theory.feasible_bands import Band
from gmcr.validation import FloatArray

ALL_POINTS = 200_000  # of all profiles together
CHOSEN = 5  # profiles drawn before a reader chooses others


def build(contents: Contents) -> Iterator[Block | None]:
    chart = profiles_chart(contents)
    told = ["What each component looks like, scaled to unit norm."]
    if contents.profile_errors is not None:
        told.append("The narrow band is ±2 standard errors.")
    if any(one.band is not None for one in chart.series):
        told.append("A wide, pale band shows how else a component could look and fit as well.")
    yield " ".join(told)
    yield chart
    yield missing(contents, "profiles", "Standard errors")
    yield missing(contents, "bands", "Bands of what would fit as well")
    yield _components(contents)


def profiles_chart(contents: Contents, most: int = POINTS) -> Plane:
    """Every profile, with standard errors and what would fit as well; most : points of a line."""
    found, names, order = contents.found, contents.component_names, contents.by_signal
    axis, label, falls = contents.axis
    most = max(min(ALL_POINTS // found.n_components, most), 100) if most <= POINTS else most
    first = set(order[:CHOSEN].tolist())
    # Where colours have to go round, those shown first differ.
    places = np.arange(len(order)) if len(order) <= len(PALETTE) else np.argsort(order)
    series = []
    for j, profile in enumerate(found.components):
        rows = thinned(profile, most)
        x = axis if len(rows) == found.n_channels else axis[rows]
        error, band = _error(contents, j, rows), _band(contents, j, rows)
        one = Series(names[j], x, profile[rows], error=error, band=band, place=int(places[j]))
        series.append(replace(one, shown=j in first))
    strongest = int(order[0])
    peak = axis[np.abs(found.components[strongest]).argmax()]
    alt = (
        f"{several(found.n_components, 'profile')} over {label} {number(axis[0])} to {number(axis[-1])}. "
        f"The one with the most signal, {names[strongest]}, is largest at {number(peak)}."
    )
    note = (
        f"Thinned for display: at most {most:,} of {found.n_channels:,} channels per profile are drawn, the "
        "lowest and highest of each stretch. profiles.csv holds all."
    )
    return Plane(
        name="profiles",
        title="Profiles",
        alt=alt,
        x_label=label,
        y_label="profile (unit norm)",
        series=tuple(series),
        choose=True,
        reverse=falls,
        note=note if found.n_channels > most else "",
    )


def _error(contents: Contents, j: int, rows: Any) -> Any:
    errors = contents.profile_errors
    if errors is None or np.isnan(errors[j]).all():
        return None
    return errors[j, rows] if errors.ndim == 2 else float(errors[j])


def _band(contents: Contents, j: int, rows: Any) -> tuple[FloatArray, FloatArray] | None:
    """Between the profiles at both ends of the band, where it is open."""
    if contents.ambiguity is None or contents.ambiguity.bands[j].closed:
        return None
    ends = contents.ambiguity.bands[j].profiles[:, rows]
    return None if np.isnan(ends).any() else (ends.min(axis=0), ends.max(axis=0))


def _components(contents: Contents) -> Listing:
    found, names = contents.found, contents.component_names
    axis, label, _ = contents.axis
    C, S, held = found.concentrations, found.components, found.supports.sum(axis=0)
    total, share = np.abs(C).sum(axis=0), contents.shares
    peak = np.abs(S).argmax(axis=1)
    columns = texts("component") + texts("match in the library") * bool(contents.names)
    columns += [Column("profile", pictures=True)]
    columns += numbers(f"{contents.row}s", "mean concentration", "share of signal", "largest at")
    if contents.profile_errors is not None:
        columns += numbers("error of peak")
    if contents.ambiguity is not None:
        columns.append(Column("could look different?", wordy=True))
    rows = []
    for j in contents.by_signal.tolist():
        row = [Cell(names[j])]
        if contents.names:
            row.append(Cell(_match_words(contents.names.get(j))))
        row += [Cell("", curve=S[j]), count_cell(held[j])]
        row += [number_cell(total[j] / held[j] if held[j] else np.nan), share_cell(share[j])]
        row.append(number_cell(axis[peak[j]]))
        if contents.profile_errors is not None:
            error = contents.profile_errors[j]
            error = float(error if np.ndim(error) == 0 else error[peak[j]])
            row.append(share_cell(error / abs(float(S[j, peak[j]]))))
        if contents.ambiguity is not None:
            row.append(Cell(_different(contents.ambiguity.bands[j])))
        rows.append(row)
    caption = (
        f"Components, the one with the most signal first; shares are of the signal that was found"
        f"{', without its sign' if found.signed else ''}; where a profile is largest is told by {label}"
    )
    return Listing("components", caption, columns, rows, tall=True)


def _match_words(match: LibraryMatch | None) -> str:
    """What a library says about a component."""
    if match is None:
        return ""
    score = "" if match.score is None else f", HQI {number(match.score, 3)}"
    if match.name:
        return f"{match.verdict or 'named'}{score}"
    nearest = f" (nearest: {match.hit}{score})" if match.hit else ""
    return f"{match.verdict or 'none'}{nearest}"


def _different(band: Band) -> str:
    if band.closed:
        return "no"
    if band.within_noise:
        return "not beyond noise"
    if not np.isfinite(band.min):
        return "yes"
    if not np.isfinite(band.max):
        return f"yes: {_times(band.min, band)} times as strong or more"
    return f"yes: {_times(band.min, band)} to {_times(band.max, band)} times as strong"


def _times(share: float, band: Band) -> str:
    """An end of a band, over what the solution has."""
    return number(share / band.share if band.share else np.nan, 2)


SECTIONS.add("profiles", Section("Profiles", 20, build, figures=("profiles",)))
