"""The real-spectra figure: R² against the count on Carbs (a) and NIR (b), and the profiles found on Carbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gmcr_paper import real_table
from gmcr_paper.energy_cells import size_of
from gmcr_paper.experiment import Experiment, Found
from gmcr_paper.figures import Figure, legend_below, looks
from gmcr_paper.methods import METHODS
from gmcr_paper.results import Record
from gmcr_paper.studies.sets import LABEL, TRUE_COUNT

LINES = "840–853"
LOWEST = {"carbs": 0.90, "nir": 0.80}  # of the R² axes
SHOWN = ("mcr-als", "nmf", "eb", "window")  # profiles of these, in this order

Points = list[tuple[float, float]]


def shows(found: Found) -> Sequence[Figure]:
    if not found.select("real"):
        return []
    figures = [
        Figure(
            "real-figure",
            "Real spectra: R² against the component count",
            lambda c: _sweeps(c, found),
            (7.2, 3.9),
        )
    ]
    if _profiles(found):
        title = "Carbs: the profiles found, scaled to the references (grey)"
        figures.append(Figure("profiles", title, lambda canvas: _draw_profiles(canvas, found), (7.2, 5.0)))
    return figures


def _sweeps(canvas: Any, found: Found) -> None:
    axes = canvas.subplots(1, 2)
    series = {name: _series(found, name) for name in real_table.SETS}
    styles = looks(list(dict.fromkeys(label for one in series.values() for label in one)))
    middle = (len(styles) - 1) / 2
    for letter, panel, name in zip("ab", axes, real_table.SETS):
        outside = []
        for label, points in series[name].items():
            shown = [(count, r2) for count, r2 in points if count <= real_table.MOST]
            if not shown or max(r2 for _, r2 in shown) < LOWEST[name]:
                outside.append(label)
                continue
            aside = 0.04 * (list(styles).index(label) - middle)  # so that equal series do not hide each other
            counts, fits = [count + aside for count, _ in shown], [r2 for _, r2 in shown]
            panel.plot(counts, fits, label=label, **styles[label])
        panel.axvline(TRUE_COUNT[name], color="k", linestyle=(0, (4, 3)), linewidth=0.9)
        panel.set_ylim(LOWEST[name], 1.003)
        panel.set_xlim(0.5, 10.5)
        panel.set_xticks(range(1, 11))
        panel.set_title(f"({letter}) {LABEL[name]}", loc="left")
        panel.set_xlabel("component count" + (f"\noutside: {', '.join(outside)}" if outside else ""))
    axes[0].set_ylabel("R²")
    legend_below(canvas, axes, columns=4)


def _series(found: Found, name: str) -> dict[str, Points]:
    """label -> (count, R²), by count."""
    out: dict[str, Points] = {}
    for method in real_table.TOLD:
        r2 = real_table.sweep(found, name, method)
        if r2 and found.asked.wants(method):
            out[METHODS[method]] = sorted(r2.items())
    best: dict[float, float] = {}
    for record in found.select("real", set=name, method="ard"):
        if not record["count"]:
            continue  # every component was pruned
        best[record["count"]] = max(record["r2"], best.get(record["count"], -np.inf))
    if best:
        out["ARD-NMF, best φ"] = sorted(best.items())
    for record in found.select("real", set=name, method="eb"):
        label = f"EB-gMCR ({size_of(record).short})"
        states = [(state["count"], state["r2"]) for state in (*record["bands"], record["final"])]
        out[label] = sorted(out.get(label, []) + states)
    return out


def _profiles(found: Found) -> list[tuple[str, Record]]:
    """The runs on Carbs whose profiles are shown: told the count, or blind."""
    out = []
    for method in SHOWN:
        records = found.select("real", set="carbs", method=method)
        if method in ("mcr-als", "nmf"):
            records = [record for record in records if record["count"] == TRUE_COUNT["carbs"]]
        if method == "window":
            records = [record for record in records if "count" not in record.settings]
        records = [record for record in records if "profiles" in found.arrays(record)]
        if records:
            out.append((METHODS[method], records[-1]))
    return out


def _draw_profiles(canvas: Any, found: Found) -> None:
    chosen = _profiles(found)
    arrays = [found.arrays(record) for _, record in chosen]
    axes = canvas.subplots(len(arrays[0]["references"]), 1, sharex=True)
    styles = looks([label for label, _ in chosen])
    axis = arrays[0]["axis"]
    for row, panel in enumerate(axes):
        reference = arrays[0]["references"][row]
        step = 0.12 * reference.max()  # each method a little higher, so that lines do not hide each other
        panel.fill_between(axis, reference, color="0.85", linewidth=0, label="reference")
        for number, ((label, _), array) in enumerate(zip(chosen, arrays), start=1):
            style = {key: styles[label][key] for key in ("linestyle", "color")}
            panel.plot(axis, array["profiles"][row] + number * step, linewidth=0.8, label=label, **style)
        panel.set_ylabel(str(arrays[0]["labels"][row]))
        panel.set_yticks([])
        panel.grid(False)
    axes[-1].set_xlabel("Raman shift, cm⁻¹ (lines are set apart; the axis descends as in the data)")
    axes[-1].set_xlim(axis[0], axis[-1])
    legend_below(canvas, axes, columns=len(chosen) + 1)


EXPERIMENT = Experiment(
    "real-figure",
    "R² against the count on Carbs and NIR, and Carbs' profiles (figures)",
    LINES,
    real_table.runs,
    shows,
    sets=real_table.SETS,
)
