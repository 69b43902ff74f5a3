"""Reuse on the Carbs simplex: frozen models on 861 × 20 unseen mixtures (table, map and floor plot)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gmcr_paper import real_table
from gmcr_paper.energy_cells import size_of
from gmcr_paper.experiment import Asked, Experiment, Found
from gmcr_paper.figures import Figure
from gmcr_paper.results import Record
from gmcr_paper.running import Run
from gmcr_paper.studies.simplex import simplex
from gmcr_paper.tables import NONE, Table, number

LINES = "6156–6169"
DECODERS = {
    "window": "window solver",
    "gate": "EB-gMCR, its gate",
    "exact": "EB-gMCR, exact decoder",
    "end": "EB-gMCR at the end of the run, its gate",
}
COLUMNS = (
    "model",
    "seed",
    "components",
    "nMSE / floor",
    "nMSE / raw floor",
    "nMSE < 0.01",
    "interior exact",
    "absent are zero",
    "three kept",
    "absent / smallest present: median",
    "90 %",
)
NOTE = (
    "floor: nMSE of the centred noise times one plus the leverage of the training samples; raw floor: "
    "nMSE of the noise itself, whose mean a learned profile absorbs, so that the ratio lies below one. "
    "interior exact: share of interior samples with exactly the three components; absent are zero: share "
    "of samples on the boundary whose absent components are all zero; three kept: share of boundary "
    "samples in which at least three components are selected."
)


def runs(asked: Asked) -> list[Run]:
    return [
        run for run in real_table.blind_runs(asked, "carbs") if run.settings["method"] in ("window", "eb")
    ]


def shows(found: Found) -> Sequence[Table | Figure]:
    decoded = _decoded(found)
    paper = ("EB-gMCR in the paper (pool 128)", NONE, "3", *(NONE,) * 5, "1.000", "0.22", "0.52")
    rows = [_row(label, record, record["reuse"][by]) for label, record, by in decoded]
    table = Table(
        "reuse",
        "Frozen Carbs models on 861 × 20 mixtures they have not seen",
        COLUMNS,
        tuple([paper, *rows] if rows else []),
        (NOTE,),
    )
    mapped = [(label, record, by) for label, record, by in decoded if "nmse" in record["reuse"][by]]
    if not mapped:
        return [table]
    return [
        table,
        Figure(
            "reuse-map",
            "Mean nMSE over the Carbs simplex; training mixtures starred",
            lambda canvas: _map(canvas, found, mapped),
            (7.2, 3.1),
        ),
        Figure(
            "reuse-floor",
            "Model nMSE against the noise floor at each of the 861 mixtures",
            lambda canvas: _floor(canvas, found, mapped),
            (7.2, 3.4),
        ),
    ]


def _decoded(found: Found) -> list[tuple[str, Record, str]]:
    """(label, run, decoder) of every frozen model; of the window solver the blind fit."""
    out = []
    for record in found.select("real", set="carbs"):
        if not record["reuse"] or not found.asked.wants(record["method"]):
            continue
        size = f" ({size_of(record)})" if record["method"] == "eb" else ""
        out += [(DECODERS[by] + size, record, by) for by in record["reuse"]]
    return sorted(out, key=lambda one: (list(DECODERS).index(one[2]), one[0], one[1]["seed"]))


def _row(label: str, record: Record, reuse: dict[str, Any]) -> tuple[str, ...]:
    if "nmse" not in reuse:
        return (
            label,
            str(record["seed"]),
            str(reuse["count"]),
            "too few components to compare",
            *(NONE,) * 7,
        )
    return (
        label,
        str(record["seed"]),
        str(reuse["count"]),
        number(reuse["nmse"] / reuse["floor"]),
        number(reuse["nmse"] / reuse["raw_floor"]),
        number(reuse["below"]),
        number(reuse["interior_exact"]),
        number(reuse["absent_zero"]),
        number(reuse["kept_all_boundary"]),
        number(reuse["absent_ratio"], "{:.2f}"),
        number(reuse["absent_ratio_90"], "{:.2f}"),
    )


def _first_of_each(mapped: Sequence[tuple[str, Record, str]]) -> list[tuple[str, Record, str]]:
    """One seed of each kind of model: a panel each."""
    return list({by: (label, record, by) for label, record, by in reversed(mapped)}.values())[::-1]


def _map(canvas: Any, found: Found, mapped: Sequence[tuple[str, Record, str]]) -> None:
    chosen = _first_of_each(mapped)
    axes = np.atleast_1d(canvas.subplots(1, len(chosen)))
    points = simplex()
    x, y = points[:, 1] + points[:, 2] / 2, points[:, 2] * np.sqrt(3) / 2
    maps = [found.arrays(record)[f"{by}_nmse"] for _, record, by in chosen]
    for panel, (label, record, _), values in zip(axes, chosen, maps):
        # Each panel has its own scale: models differ by more than a mixture does from its neighbour.
        image = panel.tripcolor(x, y, values, shading="gouraud", cmap="Greys", rasterized=True)
        training = found.arrays(record)["training"]
        panel.plot(
            training[:, 1] + training[:, 2] / 2,
            training[:, 2] * np.sqrt(3) / 2,
            "*",
            color="k",
            markerfacecolor="white",
            markersize=7,
        )
        panel.set_aspect("equal")
        panel.axis("off")
        panel.set_ylim(-0.12, 1.0)
        panel.set_title("\n".join(label.split(" (")).replace(")", ""), loc="center")
        for corner, name in zip(((0, -0.06), (1, -0.06), (0.5, 0.93)), found.arrays(record)["labels"]):
            panel.text(*corner, str(name), ha="center", va="center", fontsize=8)
        canvas.colorbar(
            image,
            ax=panel,
            orientation="horizontal",
            shrink=0.8,
            format="%.3f",
            label="mean nMSE",
            ticks=[values.min(), values.max()],
        )


def _floor(canvas: Any, found: Found, mapped: Sequence[tuple[str, Record, str]]) -> None:
    chosen = _first_of_each(mapped)
    axes = np.atleast_1d(canvas.subplots(1, len(chosen)))
    for panel, (label, record, by) in zip(axes, chosen):
        arrays = found.arrays(record)
        floor, nmse = 1000 * arrays[f"{by}_floor"], 1000 * arrays[f"{by}_nmse"]
        ratio = float((floor * nmse).sum() / (floor**2).sum())
        panel.plot(floor, nmse, ".", color="0.45", markersize=3, label="one mixture")
        ends = np.array([floor.min(), floor.max()])
        panel.plot(ends, ends, "k-", label="y = x")
        panel.plot(ends, ratio * ends, "k--", label=f"fitted ratio {ratio:.3f}")
        panel.set_title("\n".join(label.split(" (")).replace(")", ""), loc="center")
        panel.set_xlabel("floor nMSE, 1/1000")
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))
    axes[0].set_ylabel("model nMSE, 1/1000")


EXPERIMENT = Experiment(
    "reuse", "Reuse on the Carbs simplex: map and floor plot", LINES, runs, shows, sets=("carbs",)
)
