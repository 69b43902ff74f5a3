"""Statements of the paper about real data, checked on the runs there are."""

from __future__ import annotations

from typing import Any

from gmcr_paper import phi, published, real_table
from gmcr_paper.experiment import Claim, Found, unmet
from gmcr_paper.methods import METHODS
from gmcr_paper.studies.sets import LABEL, TRUE_COUNT
from gmcr_paper.tables import NONE, span

NEAR_R2 = 0.01
NEAR_C = {"carbs": 0.03, "nir": 3.0}
FLOOR, INTERIOR, BOUNDARY = 1.05, 0.98, 0.95  # what gmcr is asked for on the simplex
ALIKE = "a range of solutions fits alike, and R² does not choose among them"
WHY = {
    "nmf": f"{ALIKE}; where a run ends depends on its start",
    "sparse-nmf": "the paper does not say at which sparseness it runs",
    "ica": "ours repairs signs and scales and refits concentrations",
    "mcr-als": "the paper's fit on NIR is worse than the mean, which least squares cannot be",
    "bayes-nmf": "",
    "ard": f"{ALIKE}; prior, start and scaling of the data are not stated in the paper",
}
PHI_PAPER = {"carbs": (0.025, 0.5), "nir": (0.08, 0.35)}


def real_claims(found: Found) -> list[Claim]:
    return [_row_claim(found, name, method) for name in real_table.SETS for method in WHY]


def _row_claim(found: Found, name: str, method: str) -> Claim:
    statement = (
        f"{LABEL[name]}, {METHODS[method].split(',')[0]}: R² within {NEAR_R2} and RMSE(C) within "
        f"{NEAR_C[name]:g} of the paper's row"
    )
    r2, rmse = (published.mean(text) or 0.0 for text in published.REAL[name, method][:2])
    paper = f"R² {r2:g}, RMSE(C) {rmse:g}"
    count = TRUE_COUNT[name]
    if method == "ard":
        best = real_table.best_phi(found.select("real", set=name, method="ard"), count)
        lines: list[dict[str, Any]] = [] if best is None else [best.result]
    else:
        lines = [record.result for record in found.select("real", set=name, method=method, count=count)]
    lines = [line for line in lines if line.get("rmse_c") is not None]
    if not lines:
        return unmet(statement, real_table.LINES, paper)
    fits, errors = ([line[name] for line in lines] for name in ("r2", "rmse_c"))
    ours = f"R² {span(fits, '{:.3f}')}, RMSE(C) {span(errors, '{:.3g}')}"
    near = all(
        abs(line["r2"] - r2) <= NEAR_R2 and abs(line["rmse_c"] - rmse) <= NEAR_C[name] for line in lines
    )
    better = all(line["r2"] >= r2 - NEAR_R2 and line["rmse_c"] <= rmse + NEAR_C[name] for line in lines)
    why = WHY[method] if not better else f"ours is at least as good; {WHY[method]}".removesuffix("; ")
    return Claim(statement, real_table.LINES, paper, ours, near, why)


def phi_claims(found: Found) -> list[Claim]:
    out = []
    for name, (low, high) in PHI_PAPER.items():
        statement = f"{LABEL[name]}: φ values for which ARD-NMF returns the reference count"
        paper = f"about {low} to {high}"
        values = phi.right(found, name)
        if not phi.by_phi(found, name):
            out.append(unmet(statement, "6768", paper))
            continue
        inside = [value for value in phi.by_phi(found, name) if low <= value <= high]
        ours = (
            f"{span(values, '{:.2g}')} ({len(values)} values of the grid)" if values else "none of the grid"
        )
        same = bool(inside) and all(value in values for value in inside)
        why = "φ is taken in units of the variance of D; the paper says neither its units nor its prior"
        out.append(Claim(statement, "6768", paper, ours, same, why))
    return out


def reuse_claims(found: Found) -> list[Claim]:
    runs = found.select("real", set="carbs", method="window")
    return _window_reuse([record["reuse"]["window"] for record in runs if record["reuse"]])


def _window_reuse(window: list[dict[str, Any]]) -> list[Claim]:
    statements = (
        f"Window solver: nMSE at most {FLOOR} times the centred floor times (1 + leverage)",
        f"Window solver: supports exact on at least {INTERIOR:.0%} of interior samples",
        f"Window solver: absent components zero in at least {BOUNDARY:.0%} of boundary samples",
    )
    if not window:
        return [unmet(statement, "6167", "–", own=True) for statement in statements]
    floors, raw = ([one["nmse"] / one[name] for one in window] for name in ("floor", "raw_floor"))
    interior, zero = ([one[name] for one in window] for name in ("interior_exact", "absent_zero"))
    ratio = f"{span(floors, '{:.3f}')} (raw ratio {span(raw, '{:.3f}')})"
    kept = "the absent component is kept"
    return [
        Claim(statements[0], "874", "tracks the floor", ratio, max(floors) <= FLOOR, own=True),
        Claim(statements[1], "6167", NONE, span(interior, "{:.4f}"), min(interior) >= INTERIOR, own=True),
        Claim(statements[2], "6167", kept, span(zero, "{:.4f}"), min(zero) >= BOUNDARY, own=True),
    ]
