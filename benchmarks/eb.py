"""Runs of the paper's solver: what each band holds, by three decoders, and what `refine` makes of it.

    python benchmarks/eb.py --only '8-*'
    python benchmarks/eb.py --only carbs nir --data ../shared/data

Synthetic: N = 8 at a pool of 64 and N = 16 at 128, 4N samples of 512 channels, 20 and 30 dB. The learning rate is
the paper's 5e-4 times 4, for pools this small (docs/benchmarks.md). `early` rows are the same runs ended
after 2,000 epochs; `window` rows have the usage price of Theorem 1. A run ends at the paper's termination rule or
at the epochs stated. `refined` is the window solver's answer from the pool of the band with the most components,
`scratch` its answer from nothing, and `survived` counts its profiles with a cosine of at least 0.9 to that pool.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from common import Cell, Result, measure, parser, report, shown, timed
from fits import matched_cosines, mixtures, setting
from gmcr import EBgMCR
from gmcr.metrics import r_squared
from gmcr.scoring import compare
from real_sets import OFFSETS, SIGNED, load

SURVIVED = 0.9
SEEDS = (100, 101)
EPOCHS = 20_000
EARLY = 2_000
REAL = ("carbs", SIGNED)


def cells() -> list[Cell]:
    synthetic = [
        {
            "row": f"{n}-4N-{snr}dB{'-early' if epochs == EARLY else ''}{'-window' if usage == 'window' else ''}",
            **setting(n, 4 * n, snr, random_state=seed),
            "pool": pool,
            "epochs": epochs,
            "usage": usage,
        }
        for n, pool in ((8, 64), (16, 128))
        for snr in (20, 30)
        for seed in SEEDS
        for epochs, usage in ((EPOCHS, "paper"), (EARLY, "paper"), (EPOCHS, "window"))
        if usage == "paper" or snr == 20
    ]
    real = [
        {"row": name, "random_state": seed, "pool": 128, "epochs": EPOCHS, "usage": "paper"}
        for name in REAL
        for seed in SEEDS
    ]
    return synthetic + real


def trained(D: np.ndarray, cell: Cell, **options: Any) -> tuple[EBgMCR, float]:
    """A run on one core with the pool, the epochs and the seed of the cell, and the hours it took."""
    torch.set_num_threads(1)
    seed = cell["random_state"]
    model = EBgMCR(cell["pool"], cell["epochs"], learning_rate="scaled", random_state=seed, **options)
    _, seconds = timed(lambda: model.fit(D))
    return model, seconds / 3600


def run(cell: Cell, data: Path) -> Result:
    real = cell["row"] in REAL
    mix = None if real else mixtures(_samples_of(cell))
    D = load(data, cell["row"])["D"] if mix is None else mix.D
    lowest, signed = 0.95 if real else 0.97, cell["row"] == SIGNED
    model, hours = trained(D, cell, lowest_band=lowest, usage=cell["usage"], signed=signed)
    last = model.history_.iloc[-1]
    result: Result = {
        "epochs_run": model.n_epochs_,
        "terminated": model.terminated_,
        "hours": hours,
        "final_count": int(last["count"]),
        "final_r2": float(last["r2"]),
        "final_usage": int(last["usage"]),
        "final_energy": float(last["mean_energy"]),
        "single_users": int(last["single_users"]),
        "bands": [band_line(model, band, D, mix) for band in model.bands_],
    }
    refined = model.refine(D)
    answers = {"refined": refined.model, "scratch": refined.scratch}
    for name, answer in answers.items():
        if answer is not None:
            result[f"{name}_count"] = answer.n_components_
            result[f"{name}_usage"] = int(answer.supports_.sum())
            result[f"{name}_exact"] = None if mix is None else compare(answer, mix).exact
    result["survived"] = int((refined.survived >= SURVIVED).sum())
    if cell["row"] == "carbs":
        S = load(data, "carbs")["S"] + OFFSETS["carbs"]
        result["refined_cos"] = float(matched_cosines(refined.model.components_, S).min())
    return result


def _samples_of(cell: Cell) -> Cell:
    whole = ("n_components", "n_samples", "random_state")
    return {"row": cell["row"], "snr_db": cell["snr_db"]} | {key: int(cell[key]) for key in whole}


def band_line(model: EBgMCR, band: Any, D: np.ndarray, mix: Any) -> dict[str, Any]:
    """A band: what it holds, and the share of supports that each decoder gets right over its pool."""
    edges = (band.low, band.high)
    line = {"low": band.low, "count": band.count, "r2": band.r2, "usage": band.usage, "epoch": band.epoch}
    for by in ("gate", "floor", "exact"):
        C = model.decode(D, by, band=edges).concentrations
        line[f"{by}_usage"] = int(np.count_nonzero(C))
        line[f"{by}_r2"] = r_squared(D, C @ band.decomposition.components)
        if mix is not None:
            line[by] = compare((band.decomposition.components, C), mix).exact
    return line


def main() -> None:
    given = parser(__doc__, "eb", data=True).parse_args()
    chosen = [cell | {"epochs": 30} for cell in cells()[:1]] if given.smoke else cells()
    runs = measure(chosen, lambda cell: run(cell, given.data), given)
    by_run, by_band = [], []
    for one in runs.table.to_dict("records"):
        true_usage = None if one["row"] in REAL else int(mixtures(_samples_of(one)).supports.sum())
        name = {"run": one["row"], "seed": one["random_state"], "pool": one["pool"]}
        by_run.append(
            name
            | {
                "epochs": f"{one['epochs_run']:,}{' (ended)' if one['terminated'] else ''}",
                "hours": f"{one['hours']:.2f}",
                "final: count": one["final_count"],
                "R²": f"{one['final_r2']:.4f}",
                "usage": one["final_usage"],
                "single": one["single_users"],
                "Ē": f"{one['final_energy']:.2f}",
                "refined: count": one["refined_count"],
                "supports": shown(one.get("refined_exact"), "{:.4f}"),
                "survived": one["survived"],
                "scratch: count": one["scratch_count"],
            }
        )
        by_band += [
            name
            | {
                "band": f"{band['low']:.3f}",
                "count": band["count"],
                "R²": f"{band['r2']:.4f}",
                "usage": band["usage"],
                "of the true": "–" if true_usage is None else f"{band['usage'] / true_usage:.2f}",
                "gate": shown(band.get("gate"), "{:.3f}"),
                "ϑ = 0.5": shown(band.get("floor"), "{:.3f}"),
                "exact decoder": shown(band.get("exact"), "{:.3f}"),
                "its usage": band["exact_usage"],
            }
            for band in one["bands"]
        ]
    report([by_run, by_band], runs, given)


if __name__ == "__main__":
    main()
