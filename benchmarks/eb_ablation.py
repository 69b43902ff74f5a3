"""The paper's ablation at small scale: EB-gMCR without one thing at a time.

    python benchmarks/eb_ablation.py

N = 16, 4N samples, 30 dB, pool 128, learning rate scaled to the pool, at most 10,000 epochs. The paper reports
that without the energy regulariser the termination rule never fires; `ended` says whether it did here, and the
energy ratio how far it was from it (the rule asks for 0.25).
"""

from __future__ import annotations

from dataclasses import replace

from common import SEEDS, Cell, Result, measure, parser, report, shown
from eb import trained
from fits import mixtures, setting
from gmcr.eb.settings import Settings

VARIANTS = {
    "EB-gMCR": {},
    "without exploration noise": {"exploration": 0.0},
    "without usage penalty": {"usage_weight": 0.0},
    "without energy regulariser": {"energy_weight": 0.0},
    "without ambiguity term": {"ambiguity_weight": 0.0},
}


def run(cell: Cell) -> Result:
    mix = mixtures(setting(16, 64, 30, random_state=cell["random_state"]))
    settings = replace(Settings(), **VARIANTS[cell["row"]])
    model, hours = trained(mix.D, cell, settings=settings)
    entered = model.history_["nmse"] < settings.entry
    first = int(entered.idxmax()) if entered.any() else None
    energy = model.history_["mean_energy"]
    fewest = min(model.bands_, key=lambda band: (band.count, -band.r2), default=None)
    return {
        "ended": model.terminated_,
        "epochs_run": model.n_epochs_,
        "count": None if fewest is None else fewest.count,
        "r2": None if fewest is None else fewest.r2,
        "final_count": int(model.history_["count"].iloc[-1]),
        "final_usage": int(model.history_["usage"].iloc[-1]),
        "energy_ratio": None if first is None else float(energy.iloc[-1] / energy.iloc[: first + 1].mean()),
        "hours": hours,
    }


def main() -> None:
    given = parser(__doc__, "eb_ablation").parse_args()
    epochs = 30 if given.smoke else 10_000
    cells = [
        {"row": name, "random_state": seed, "pool": 128, "epochs": epochs}
        for name in VARIANTS
        for seed in given.seeds or SEEDS[:1]
    ]
    runs = measure(cells, run, given)
    lines = [
        {
            "solver": one["row"],
            "seed": one["random_state"],
            "epochs": f"{one['epochs_run']:,}",
            "ended": "yes" if one["ended"] else "no",
            "energy ratio": shown(one["energy_ratio"], "{:.2f}"),
            "fewest": shown(one["count"], "{:.0f}"),
            "its R²": shown(one["r2"], "{:.4f}"),
            "final count": one["final_count"],
            "final usage": one["final_usage"],
            "hours": f"{one['hours']:.2f}",
        }
        for one in runs.table.to_dict("records")
    ]
    report([lines], runs, given)


if __name__ == "__main__":
    main()
