"""Constraints that hold during the fit, on measured sets: what they reach, and whether rates' intervals hold.

    python benchmarks/constrained.py --data ../shared/data
    python benchmarks/constrained.py --only "coverage*"

The chromatograms of hplc_pesticides are fitted from each of the solver's starts alone; the others by GMCR, told
the count. Coverage is that of 95 % intervals of both rate constants in runs simulated from the kinetic fit with
residuals like the measured ones, direction by direction of the channels: drawn from the memory that is likeliest
for each ("law"), or with the phases of their spectra drawn anew ("phases").
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
from scipy.optimize import linear_sum_assignment

from common import Cell, Result, check, measure, parser, report, shown
from fits import fit, matched_cosines
from gmcr import GMCR
from gmcr.constrained.finish import Table, finish
from gmcr.constrained.kinetics import kinetic_fit
from gmcr.constrained.rates import MEMORIES, SHARES
from gmcr.constraints import Constraints, Kinetic, Layout, Trilinear, Unimodal
from gmcr.window.dense_fit import near_pools, starting_pools
from real_sets import RATES, load

HPLC, ALS, CLAUS = "hplc_pesticides_bdata", "als2004", "claus_eem"
DORRIT, KINETICS = "dorrit_eem", "uvvis_kinetics_meting9_300_500"
N_STARTS, BLOCKS, BLOCK = 8, 10, 50


def hplc(data: dict[str, np.ndarray], cell: Cell) -> Result:
    D, n = data["D"], len(data["D"])
    X = np.maximum(D, 0.0)
    S = [*starting_pools(X, 3), *near_pools(X, 3)][cell["start"]]
    layout = Layout.of(data["x_run"], np.arange(n), n)
    found = finish(Table(D, np.ones(n), layout), Constraints.of([Unimodal("C")]), S, others=False)
    return {"cosine": float(matched_cosines(found.profiles, data["S"]).min())}


def als(data: dict[str, np.ndarray], cell: Cell) -> Result:
    model = GMCR(n_components=4, constraints=[Unimodal("C")], random_state=cell["start"])
    model.fit(data["D"], runs=data["x_run"], order=np.arange(len(data["D"])))
    cosines = matched_cosines(model.components_, data["S"])
    correlations = np.corrcoef(model.concentrations_.T, data["C"].T)[:4, 4:]
    smallest = correlations[linear_sum_assignment(-correlations)].min()
    return {"cosine": float(cosines.min()), "correlation": float(smallest)}


def landscape(data: dict[str, np.ndarray], cell: Cell) -> Result:
    D, count = data["D"], int(data["n_components"])
    samples = data["x_row_sample"]
    one = Trilinear(samples, data["x_row_excitation"])
    model, seconds = fit(D, n_components=count, constraints=[one])
    cosines = model.components_ @ (data["S"] / np.linalg.norm(data["S"], axis=1, keepdims=True)).T
    found, true = linear_sum_assignment(-cosines)
    numbers = np.unique(samples)
    amounts = np.array([np.linalg.norm(model.concentrations_[samples == one], axis=0) for one in numbers])
    known = data["x_Y_samples"][numbers]
    by_label = {
        f"amounts {data['labels'][j]}": float(np.corrcoef(amounts[:, i], known[:, j])[0, 1])
        for i, j in zip(found, true)
    }
    best = cosines[found, true]
    return {"cosine": float(best.min()), "mean": float(best.mean()), "seconds": seconds, **by_label}


def rates(data: dict[str, np.ndarray], cell: Cell) -> Result:
    times = data["x_time_s"] / 60
    one = Kinetic("A > B > C", times=times, start=RATES[:: cell["start"]])
    model = GMCR(constraints=[one]).fit(data["D"])
    assert model.rates_ is not None
    off = np.abs(model.rates_.values / RATES - 1)
    return {
        "off": float(off.max()),
        "rates": model.rates_.values.tolist(),
        "errors": model.rates_.errors.tolist(),
    }


def coverage(data: dict[str, np.ndarray], cell: Cell) -> Result:
    times = data["x_time_s"] / 60
    one = Kinetic("A > B > C", times=times, start=RATES)
    told = Constraints.of([one])
    truth = kinetic_fit(data["D"], Layout(), told, one)
    assert truth.rates is not None
    mean = truth.C @ truth.S
    draw = (_law if cell["noise"] == "law" else _phases)(data["D"] - mean, truth.C, times)
    random = np.random.default_rng(1000 + cell["start"])
    held = np.zeros(2)
    for _ in range(cell["runs"]):
        found = kinetic_fit(mean + draw(random), Layout(), told, one).rates
        assert found is not None
        low, high = found.intervals()
        held += (low < truth.rates.values) & (truth.rates.values < high)
    return {"first": held[0] / cell["runs"], "second": held[1] / cell["runs"]}


Draw = Callable[[np.random.Generator], np.ndarray]


def _law(R: np.ndarray, C: np.ndarray, times: np.ndarray) -> Draw:
    """Residuals with the likeliest memory in each direction of the channels, by restricted likelihood."""
    A, V = scipy.linalg.null_space(C.T), scipy.linalg.svd(R, full_matrices=False)[2]
    Z, apart = A.T @ R @ V.T, np.abs(times[:, None] - times)
    n = len(Z)
    memories = np.geomspace(np.median(np.diff(times)), apart.max(), MEMORIES)
    logs, sizes = [], []
    for memory in memories:
        values, W = scipy.linalg.eigh(A.T @ np.exp(-apart / memory) @ A)
        spread = SHARES[:, None] * np.maximum(values, 1e-12) + 1 - SHARES[:, None]
        size = (1 / spread) @ (W.T @ Z) ** 2 / n
        logs.append(-0.5 * (n * np.log(size) + np.log(spread).sum(axis=1)[:, None]))
        sizes.append(size)
    best = np.concatenate(logs).argmax(axis=0)
    size = np.sqrt(np.take_along_axis(np.concatenate(sizes), best[None], axis=0)[0])
    share = SHARES[best % len(SHARES)]
    roots = [np.linalg.cholesky(np.exp(-apart / memory) + 1e-10 * np.eye(len(R))) for memory in memories]

    def draw(random: np.random.Generator) -> np.ndarray:
        lasting = [roots[one // len(SHARES)] @ random.normal(size=len(R)) for one in best]
        white = random.normal(size=(len(R), len(best)))
        return (np.column_stack(lasting) * np.sqrt(share) + white * np.sqrt(1 - share)) * size @ V

    return draw


def _phases(R: np.ndarray, C: np.ndarray, times: np.ndarray) -> Draw:
    """Residuals with the spectrum over time of the measured ones, and other phases."""
    V = scipy.linalg.svd(R, full_matrices=False)[2]
    spectra = np.fft.rfft(R @ V.T, axis=0)

    def draw(random: np.random.Generator) -> np.ndarray:
        turned = spectra * np.exp(2j * np.pi * random.random(spectra.shape))
        return np.fft.irfft(turned, len(R), axis=0) @ V

    return draw


SETS: dict[str, tuple[str, Callable[..., Result]]] = {
    "hplc": (HPLC, hplc),
    "als2004": (ALS, als),
    "claus": (CLAUS, landscape),
    "dorrit": (DORRIT, landscape),
    "kinetics": (KINETICS, rates),
    "coverage law": (KINETICS, coverage),
    "coverage phases": (KINETICS, coverage),
}


def cells_of(smoke: bool) -> list[Cell]:
    if smoke:
        return [{"row": "kinetics", "start": 1}]
    cells: list[Cell] = [{"row": "hplc", "start": start} for start in range(N_STARTS)]
    cells += [{"row": row, "start": 0} for row in ("als2004", "claus", "dorrit")]
    cells += [{"row": "kinetics", "start": start} for start in (1, -1)]
    for noise in ("law", "phases"):
        row = f"coverage {noise}"
        cells += [{"row": row, "start": start, "noise": noise, "runs": BLOCK} for start in range(BLOCKS)]
    return cells


def acceptance(runs: pd.DataFrame) -> list[dict[str, str]]:
    lines = []

    def add(row: str, what: str, column: str, sign: str, target: float) -> None:
        group = runs[runs["row"] == row]
        if len(group):
            worst = group[column].astype(float).agg("min" if sign == ">=" else "max")
            lines.append(check(f"{row} ({len(group)}): {what}", worst, sign, target))

    add("hplc", "smallest cosine from each start", "cosine", ">=", 0.995)
    add("als2004", "smallest cosine", "cosine", ">=", 0.99)
    add("als2004", "smallest correlation with C", "correlation", ">=", 0.98)
    add("claus", "smallest cosine", "cosine", ">=", 0.9998)
    add("dorrit", "smallest cosine", "cosine", ">=", 0.995)
    add("dorrit", "mean cosine", "mean", ">=", 0.998)
    for label, least in (
        ("Hydroquinone", 0.99),
        ("Tryptophan", 0.99),
        ("Phenylalanine", 0.96),
        ("Dopa", 0.96),
    ):
        add("dorrit", f"correlation of {label}", f"amounts {label}", ">=", least)
    add("kinetics", "rate constants off", "off", "<=", 0.005)
    for row, group in runs[runs["row"].str.startswith("coverage")].groupby("row"):
        n = int(group["runs"].sum())
        for which in ("first", "second"):
            mean = float(np.average(group[which].astype(float), weights=group["runs"]))
            lines.append(check(f"{row} ({n} runs): {which} constant, least", mean, ">=", 0.92))
            lines.append(check(f"{row} ({n} runs): {which} constant, most", mean, "<=", 0.98))
    return lines


def line_of(row: str, group: pd.DataFrame) -> dict[str, Any]:
    told = [c for c in group.columns if c not in ("row", "start", "noise", "runs", "rates", "errors")]
    kept = {name: group[name].astype(float) for name in told if group[name].notna().all()}
    return {
        "row": row,
        "what": ", ".join(f"{name} {shown(values.mean(), '{:.4f}')}" for name, values in kept.items()),
    }


def main() -> None:
    given = parser(__doc__, "constrained", data=True).parse_args()

    def run(cell: Cell) -> Result:
        name, work = SETS[cell["row"]]
        return work(load(Path(given.data), name), cell)

    runs = measure(cells_of(given.smoke), run, given)
    lines = [line_of(str(row), group) for row, group in runs.table.groupby("row", sort=False)]
    report([lines, acceptance(runs.table)], runs, given)


if __name__ == "__main__":
    main()
