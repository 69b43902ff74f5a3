"""Real data: Carbs and NIR at the reference count against the references, and the count sweep from 1 to 10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gmcr_paper import published
from gmcr_paper.energy_cells import size_of
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.methods import METHODS
from gmcr_paper.results import Record
from gmcr_paper.running import Run
from gmcr_paper.studies.sets import LABEL, TRUE_COUNT
from gmcr_paper.tables import NONE, NOT_RUN, Table, mean_sd, number

LINES = "6740–6822"
SETS = ("carbs", "nir")
TOLD = ("nmf", "sparse-nmf", "bayes-nmf", "ica", "mcr-als", "spa", "window")  # given the count: the sweep
MOST = 10
STABLE = 0.01  # gain of R² below which a sweep has stabilised
FULL_POOL = 128  # of EB-gMCR on real data, in the paper
PHIS = {"carbs": (1e-3, 2.0), "nir": (1e-3, 2.0)}  # in units of the variance of D: from far too many to none
SECONDS = {"window": 2.0, "mcr-als": 3.0, "bayes-nmf": 0.6}
COLUMNS = (
    "method",
    "paper: R²(D)",
    "paper: RMSE(C)",
    "paper: cos(S)",
    "paper: RMSE(S)",
    "count",
    "R²(D)",
    "RMSE(C)",
    "cos(S)",
    "RMSE(S)",
    "seconds",
    "runs",
)
NOTE = (
    "Found components are assigned to the references by linear assignment (cosine of profiles; on NIR, of "
    "concentrations), and profiles and concentrations are each scaled to their reference by least "
    "squares. Where a state has more components than there are references, the assigned ones are "
    "compared."
)


def runs(asked: Asked) -> list[Run]:
    return [
        run
        for name in SETS
        for run in (*sweep_runs(asked, name), *phi_runs(asked, name), *blind_runs(asked, name))
    ]


def sweep_runs(asked: Asked, name: str) -> list[Run]:
    """Every method that takes the count, at every count."""
    return [
        Run(real(name, method, seed, count=count), SECONDS.get(method, 0.5))
        for method in TOLD
        if asked.wants(method)
        for count in range(1, MOST + 1)
        for seed in (asked.seeded(1, 5) if method not in ("window", "spa", "mcr-als") else asked.seeded(1, 1))
    ]


def phi_runs(asked: Asked, name: str) -> list[Run]:
    """ARD-NMF over its noise scale."""
    if not asked.wants("ard"):
        return []
    return [
        Run(real(name, "ard", seed, phi=phi), 3.0)
        for phi in phis(name, 49 if asked.full else 13)
        for seed in asked.seeded(1, 5)
    ]


def phis(name: str, number: int) -> list[float]:
    low, high = PHIS[name]
    return [float(f"{phi:.3g}") for phi in np.geomspace(low, high, number)]


def blind_runs(asked: Asked, name: str) -> list[Run]:
    """Methods that are not given the count."""
    found = []
    if asked.wants("window"):
        found.append(Run(real(name, "window", asked.seeded(1, 1)[0]), 6.0))
    if asked.wants("rank-nmf"):
        found += [Run(real(name, "rank-nmf", seed), 1.0) for seed in asked.seeded(1, 5)]
    if asked.wants("eb") or asked.wants("eb-refined"):
        size = asked.pooled(FULL_POOL)
        cost = 0.025 * size["epochs"] * max(1.0, size["pool"] / 64)
        found += [Run(real(name, "eb", seed) | size, cost) for seed in asked.seeded(1, 5)]
    return found


def real(name: str, method: str, seed: int, **more: Any) -> dict[str, Any]:
    return {"study": "real", "set": name, "method": method, "seed": seed, **more}


# The tables


def shows(found: Found) -> Sequence[Table]:
    tables = []
    for name in SETS:
        count = TRUE_COUNT[name]
        title = f"{LABEL[name]} at the reference count, {count}"
        tables.append(Table(f"real-{name}", title, COLUMNS, tuple(_rows(found, name, count)), (NOTE,)))
    for name in SETS:
        columns = ("method", *(str(count) for count in range(1, MOST + 1)), "stable from")
        title = f"R² on {LABEL[name]} against the count"
        note = f"stable from: the first count after which one component more gains less than {STABLE} of R²."
        tables.append(Table(f"sweep-{name}", title, columns, tuple(_sweep_rows(found, name)), (note,)))
    return tables


def _rows(found: Found, name: str, count: int) -> list[tuple[str, ...]]:
    rows = []
    for method in TOLD[:-1]:
        if found.asked.wants(method):
            records = found.select("real", set=name, method=method, count=count)
            lines = [record.result for record in records]
            rows.append(_row(name, method, METHODS[method], lines))
    if found.asked.wants("ard"):
        best = best_phi(found.select("real", set=name, method="ard"), count)
        label = METHODS["ard"] if best is None else f"ARD-NMF, φ = {best['phi']:g}"
        rows.append(_row(name, "ard", label, [] if best is None else [best.result]))
    if found.asked.wants("rank-nmf"):
        lines = [record.result for record in found.select("real", set=name, method="rank-nmf")]
        rows.append(_row(name, "rank-nmf", METHODS["rank-nmf"], lines))
    runs = found.select("real", set=name, method="eb")
    for size in sorted({size_of(record) for record in runs}):
        records = [record for record in runs if size_of(record) == size]
        for method, label, pick in (
            ("eb", "EB-gMCR, nearest state", lambda record: nearest_state(record, count)),
            ("eb-end", "EB-gMCR, end of the run", lambda record: record["final"]),
            ("eb-refined", METHODS["eb-refined"], lambda record: record["refined"]),
        ):
            if not found.asked.wants("eb" if method == "eb-end" else method):
                continue
            lines = [pick(record) | {"fit_seconds": record["fit_seconds"]} for record in records]
            rows.append(_row(name, method, f"{label} ({size})", lines))
    if found.asked.wants("window"):
        blind = [
            r.result for r in found.select("real", set=name, method="window") if "count" not in r.settings
        ]
        told = [
            record.result
            for record in found.select("real", set=name, method="window", count=count)
            if "count" in record.settings
        ]
        rows.append(_row(name, "window", f"{METHODS['window']}, blind", blind))
        rows.append(_row(name, "window", f"{METHODS['window']}, told the count", told))
    return rows


def best_phi(records: Sequence[Record], count: int) -> Record | None:
    """The run with the best R² among those that return the count, as the paper scores ARD-NMF."""
    return max((r for r in records if r["count"] == count), key=lambda record: record["r2"], default=None)


def nearest_state(record: Record, count: int) -> dict[str, Any]:
    """The state of an EB-gMCR run whose count is nearest to this one, of its bands and its end; ties: best R²."""
    return min(
        (*record["bands"], record["final"]), key=lambda state: (abs(state["count"] - count), -state["r2"])
    )


def _row(name: str, method: str, label: str, lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    paper = published.REAL.get((name, method), ())
    paper = (*paper, *(NONE,) * (4 - len(paper)))
    if not lines:
        return (label, *paper, NOT_RUN, *(NONE,) * 5, "0")
    return (
        label,
        *paper,
        mean_sd([line["count"] for line in lines], "{:.1f}").removesuffix(".0"),
        *(mean_sd([line.get(column) for line in lines], form) for column, form in METRICS[name]),
        mean_sd([line["fit_seconds"] for line in lines], "{:.2g}"),
        str(len(lines)),
    )


METRICS = {
    "carbs": (("r2", "{:.3f}"), ("rmse_c", "{:.3f}"), ("cos_s", "{:.3f}"), ("rmse_s", "{:.3f}")),
    "nir": (("r2", "{:.3f}"), ("rmse_c", "{:.2f}"), ("cos_s", "{:.3f}"), ("rmse_s", "{:.3f}")),
}


def sweep(found: Found, name: str, method: str) -> dict[int, float]:
    """Mean R² at each count that was fitted."""
    records = [r for r in found.select("real", set=name, method=method) if "count" in r.settings]
    counts = sorted({record["count"] for record in records})
    return {count: float(np.mean([r["r2"] for r in records if r["count"] == count])) for count in counts}


def stable_from(r2: dict[int, float], gain: float = STABLE) -> int | None:
    """The first count after which the next one gains less than `gain`."""
    return next((count for count in sorted(r2) if count + 1 in r2 and r2[count + 1] - r2[count] < gain), None)


def _sweep_rows(found: Found, name: str) -> list[tuple[str, ...]]:
    rows = []
    for method in TOLD:
        if found.asked.wants(method):
            r2 = sweep(found, name, method)
            cells = (number(r2.get(count)) if count in r2 else NOT_RUN for count in range(1, MOST + 1))
            rows.append((METHODS[method], *cells, number(stable_from(r2), "{:d}")))
    return rows


EXPERIMENT = Experiment(
    "real", "Carbs and NIR against their references, with the count sweep", LINES, runs, shows, sets=SETS
)
