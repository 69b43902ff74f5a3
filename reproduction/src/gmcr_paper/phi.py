"""ARD-NMF's noise scale φ on Carbs and NIR: which values return the reference count (figure and table)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gmcr_paper import real_table
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.figures import Figure
from gmcr_paper.running import Run
from gmcr_paper.studies.sets import LABEL, TRUE_COUNT
from gmcr_paper.tables import Table, mean_sd

LINES = "6775–6802"
NOTE = (
    "φ is in units of the variance of D (of the split one, where signs are split). ended: "
    "runs whose weights had settled after the most iterations; 0 components: every one was pruned."
)


TICKS = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200)


def runs(asked: Asked) -> list[Run]:
    return [run for name in real_table.SETS for run in real_table.phi_runs(asked, name)]


def shows(found: Found) -> Sequence[Table | Figure]:
    tables = [_table(found, name) for name in real_table.SETS]
    if not any(table.rows for table in tables):
        return tables
    title = "ARD-NMF on real data: returned count against φ; shaded where it is the reference count"
    return [*tables, Figure("phi", title, lambda canvas: _draw(canvas, found), (7.2, 3.0))]


def by_phi(found: Found, name: str) -> dict[float, list[dict[str, Any]]]:
    """φ -> results over seeds."""
    out: dict[float, list[dict[str, Any]]] = {}
    for record in found.select("real", set=name, method="ard"):
        out.setdefault(record["phi"], []).append(record.result)
    return dict(sorted(out.items()))


def right(found: Found, name: str) -> list[float]:
    """The φ values at which every seed returns the reference count."""
    count = TRUE_COUNT[name]
    return [
        phi for phi, lines in by_phi(found, name).items() if all(line["count"] == count for line in lines)
    ]


def _table(found: Found, name: str) -> Table:
    rows = [
        (
            f"{phi:.3g}",
            mean_sd([line.get("variance") for line in lines], "{:.2g}"),
            mean_sd([line["count"] for line in lines], "{:.1f}"),
            mean_sd([line["r2"] for line in lines]),
            mean_sd([line.get("rmse_c") for line in lines], "{:.3g}"),
            f"{sum(bool(line.get('converged', True)) for line in lines)} of {len(lines)}",
            str(len(lines)),
        )
        for phi, lines in by_phi(found, name).items()
    ]
    title = f"ARD-NMF on {LABEL[name]} over φ; the reference count is {TRUE_COUNT[name]}"
    return Table(
        f"phi-{name}",
        title,
        ("φ", "as a variance", "count", "R²(D)", "RMSE(C)", "ended", "runs"),
        tuple(rows),
        (NOTE,),
    )


def _draw(canvas: Any, found: Found) -> None:
    axes = canvas.subplots(1, 2)
    for letter, panel, name in zip("ab", axes, real_table.SETS):
        lines = by_phi(found, name)
        values = list(lines)
        counts = [sum(line["count"] for line in lines[phi]) / len(lines[phi]) for phi in values]
        for phi in right(found, name):
            place = values.index(phi)
            below = (values[place - 1] * phi) ** 0.5 if place else phi
            above = (values[place + 1] * phi) ** 0.5 if place + 1 < len(values) else phi
            panel.axvspan(below, above, color="0.85", linewidth=0)
        panel.axhline(TRUE_COUNT[name], color="0.4", linestyle="--", linewidth=0.9)
        panel.plot(values, counts, "ko-", markerfacecolor="white")
        panel.set_xscale("log")
        panel.set_yscale("symlog", linthresh=10)
        panel.set_yticks(TICKS, [str(tick) for tick in TICKS])
        panel.set_ylim(-0.5, max([*counts, 10]) * 1.2)
        panel.set(xlabel="φ", ylabel="returned count")
        panel.set_title(f"({letter}) {LABEL[name]}, reference count {TRUE_COUNT[name]}", loc="left")


EXPERIMENT = Experiment("phi", "ARD-NMF's φ on Carbs and NIR", LINES, runs, shows, sets=real_table.SETS)
