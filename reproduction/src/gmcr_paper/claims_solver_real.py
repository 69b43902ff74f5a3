"""Statements of the paper about its solver on Carbs and NIR, held to runs as long as the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from gmcr_paper import published
from gmcr_paper.experiment import Claim, Found, waiting
from gmcr_paper.real_table import nearest_state
from gmcr_paper.results import Record
from gmcr_paper.studies.sets import LABEL, TRUE_COUNT
from gmcr_paper.tables import span

SETS = tuple(TRUE_COUNT)
NEAR = {"r2": 0.01, "rmse_c": {"carbs": 0.03, "nir": 3.0}, "cos_s": 0.005}  # how close is the same
TRACKS = 1.5  # times the floor
ABSENT, ABSENT_90 = 0.22, 0.52  # an absent component over the smallest present one: median, 90 %
Judge = Callable[[Sequence[Record]], tuple[str, bool]]


def real_solver_claims(found: Found) -> list[Claim]:
    out = []
    for name in SETS:
        runs = found.select("real", set=name, method="eb")
        wait = waiting(found, study="real", set=name)
        out += [_judged(runs, wait, *statement) for statement in _statements(name)]
    carbs = found.select("real", set="carbs", method="eb")
    wait = waiting(found, study="real", set="carbs")
    return [*out, *(_judged(carbs, wait, *statement) for statement in _reuse())]


def _judged(runs: Sequence[Record], wait: str, statement: str, lines: str, paper: str, judge: Judge) -> Claim:
    if not runs:
        return Claim(statement, lines, paper, wait, None, solver=True)
    return Claim(statement, lines, paper, *judge(runs), solver=True)


def _statements(name: str) -> list[tuple[str, str, str, Judge]]:
    label, count = LABEL[name], TRUE_COUNT[name]
    values = dict(zip(("r2", "rmse_c", "cos_s"), map(published.mean, published.REAL[name, "eb"])))
    paper = ", ".join(
        f"{title} {values[key]:g}"
        for key, title in (("r2", "R²"), ("rmse_c", "RMSE(C)"), ("cos_s", "cos(S)"))
        if key in values
    )
    said = [
        (f"{label}: {count} components at the end of the run", "852", str(count), _end_count(count)),
        (f"{label}: the fit at {count} components", "6811–6817", paper, _fit(name, count, values)),
        (f"{label}: stricter bands return more components", "856", "as a tighter fit must", _rises),
    ]
    if name == "carbs":
        said.append(("Carbs: fewest components of any band", "6160", "3, in [0.96, 0.965)", _fewest))
    else:
        said.append(("NIR: the end of the run lies below every band", "853", "R² of about 0.91", _below))
    return said


def _end_count(count: int) -> Judge:
    def judge(runs: Sequence[Record]) -> tuple[str, bool]:
        ends = [run["final"]["count"] for run in runs]
        r2 = span([run["final"]["r2"] for run in runs], "{:.3f}")
        epochs = span([run["epochs_run"] for run in runs], "{:,}")
        return f"{span(ends, '{:d}')} after {epochs} epochs, R² {r2}", all(end == count for end in ends)

    return judge


def _fit(name: str, count: int, values: dict[str, float | None]) -> Judge:
    def near(state: dict[str, Any], key: str) -> bool:
        limit, paper = NEAR[key], values[key]
        limit = limit[name] if isinstance(limit, dict) else limit
        return paper is not None and state.get(key) is not None and abs(state[key] - paper) <= limit

    def judge(runs: Sequence[Record]) -> tuple[str, bool]:
        states = [nearest_state(run, count) for run in runs]
        texts = [f"count {span([state['count'] for state in states], '{:d}')}"]
        for key, title, form in (
            ("r2", "R²", "{:.3f}"),
            ("rmse_c", "RMSE(C)", "{:.3g}"),
            ("cos_s", "cos(S)", "{:.3f}"),
        ):
            if key in values:
                texts.append(f"{title} {span([state[key] for state in states if key in state], form)}")
        reached = all(state["count"] == count and all(near(state, key) for key in values) for state in states)
        return ", ".join(texts), reached

    return judge


def _rises(runs: Sequence[Record]) -> tuple[str, bool]:
    counts = [[band["count"] for band in run["bands"]] for run in runs]
    text = "; ".join(", ".join(map(str, own)) for own in counts)
    return text, all(len(own) > 1 and all(a <= b for a, b in pairwise(own)) for own in counts)


def _fewest(runs: Sequence[Record]) -> tuple[str, bool]:
    bands = [min(run["bands"], key=lambda band: (band["count"], -band["r2"])) for run in runs if run["bands"]]
    text = "; ".join(f"{band['count']}, in [{band['low']:g}, {band['high']:g})" for band in bands)
    return text or "no band entered", bool(bands) and all(band["count"] == 3 for band in bands)


def _below(runs: Sequence[Record]) -> tuple[str, bool]:
    r2 = [run["final"]["r2"] for run in runs]
    return f"R² {span(r2, '{:.3f}')}", max(r2) < 0.95


# The frozen Carbs model on mixtures it has not seen


def _reuse() -> list[tuple[str, str, str, Judge]]:
    return [
        ("Reuse: the error tracks the noise floor", "874", "over the whole simplex", _tracks),
        ("Reuse: three components on every mixture", "871", "on all 861", _keeps),
        (
            "Reuse: an absent component over the smallest present one on the boundary",
            "6167",
            f"median {ABSENT}, 90 % {ABSENT_90}",
            _absent,
        ),
    ]


def _gates(runs: Sequence[Record]) -> list[dict[str, Any]]:
    return [reuse for run in runs if "nmse" in (reuse := (run["reuse"] or {}).get("gate", {}))]


def _tracks(runs: Sequence[Record]) -> tuple[str, bool]:
    ratios = [one["nmse"] / one["floor"] for one in _gates(runs)]
    below = span([one["below"] for one in _gates(runs)], "{:.2f}")
    if not ratios:
        return "too few components to decode", False
    text = f"{span(ratios, '{:.2f}')} times the floor; nMSE below 0.01 on {below} of the samples"
    return text, max(ratios) <= TRACKS


def _keeps(runs: Sequence[Record]) -> tuple[str, bool]:
    gates = _gates(runs)
    if not gates:
        return "too few components to decode", False
    counts = span([one["count"] for one in gates], "{:d}")
    shares = [one["kept_all"] for one in gates]
    text = f"{counts} components in the pool, three or more on {span(shares, '{:.3f}')} of the samples"
    return text, all(one["count"] == 3 and one["kept_all"] > 0.999 for one in gates)


def _absent(runs: Sequence[Record]) -> tuple[str, bool]:
    gates = _gates(runs)
    medians = [one["absent_ratio"] for one in gates if one["absent_ratio"] is not None]
    tails = [one["absent_ratio_90"] for one in gates]
    if not medians:
        return "none is kept", False
    text = f"median {span(medians, '{:.2f}')}, 90 % {span(tails, '{:.2f}')}"
    return text, all(abs(median - ABSENT) <= 0.5 * ABSENT for median in medians)
