"""The runs at the paper's own size, by name, in the order in which they are done."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gmcr.errors import InputError

POOL, REAL_POOL = 1024, 128
SYNTHETIC, REAL = "eb", "real"  # studies of the results folder
VARIANTS = "eb-variant"  # what the paper does not do
LOG_LINES = 400


@dataclass(frozen=True)
class LongRun:
    """A run of EB-gMCR.

    settings : what it is known by in the results folder
    constants : of `gmcr.eb.settings.Settings`, where they are not the paper's
    usage : the schedule of the usage weight
    save_every : epochs between two states, two or three minutes of one core
    """

    name: str
    settings: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)
    usage: str = "paper"
    save_every: int = 250

    @property
    def log_every(self) -> int:
        """Epochs between two lines of the log."""
        return max(1, self.settings["epochs"] // LOG_LINES)


def _synthetic(
    name: str, *, epochs: int, snr: int = 30, seed: int = 7001, batch: int = 16, n: int = 16, **more: Any
) -> LongRun:
    settings = {"study": SYNTHETIC, "method": "eb", "n": n, "ratio": 4, "snr": snr, "seed": seed}
    settings |= {"pool": POOL, "epochs": epochs, "without": "nothing", "batch": batch}
    settings |= more.pop("settings", {})
    constants = {"batch_size": batch} | more.pop("constants", {})
    return LongRun(name, settings, constants, **more)


def _real(name: str, epochs: int, save_every: int) -> LongRun:
    settings = {"study": REAL, "set": name, "method": "eb", "seed": 7001, "pool": REAL_POOL, "epochs": epochs}
    return LongRun(name, settings | {"batch": 64}, {}, save_every=save_every)


def _without(term: str, constants: dict[str, Any]) -> LongRun:
    settings = {"without": term}
    return _synthetic(f"n16-30dB-without-{term}", epochs=5_000, settings=settings, constants=constants)


def _variant(variant: str, seed: int = 7001) -> LongRun:
    """A run with what the paper does not do; its twin in the paper's way is n16-30dB at the same epoch."""
    name = f"n16-30dB-{variant}" + ("" if seed == 7001 else "-second")
    settings = {"study": VARIANTS, "variant": variant}
    usage = "noise" if variant == "noise" else "paper"
    constants = BEYOND[variant]
    return _synthetic(name, epochs=5_000, seed=seed, settings=settings, constants=constants, usage=usage)


BEYOND: dict[str, dict[str, Any]] = {
    "noise": {},  # λ's target from the estimated noise, once the run reconstructs
    "slots": {"slot_price": 2.5},  # a price per slot, that of the window solver
    "samples": {"start": "samples"},
    "singular": {"start": "singular"},
}

RUNS = {
    run.name: run
    for run in (
        _synthetic("n16-30dB", epochs=10_000),
        _synthetic("n16-20dB", epochs=10_000, snr=20),
        _synthetic("n16-30dB-second", epochs=10_000, seed=7002),
        _synthetic("n16-30dB-batch64", epochs=15_000, batch=64, save_every=500),
        _real("carbs", 300_000, 10_000),
        _real("nir", 300_000, 5_000),
        _without("usage", {"usage_weight": 0.0}),
        _without("energy", {"energy_weight": 0.0}),
        _synthetic("n32-30dB", epochs=5_000, n=32, save_every=125),
        *(_variant(variant) for variant in BEYOND),
    )
}
ON_REQUEST = {
    run.name: run for run in (_variant(variant, seed=7002) for variant in BEYOND)
}  # for the best of them


def known(states: Path) -> list[LongRun]:
    """The plan's runs, and those on request that a folder of states holds."""
    return [*RUNS.values(), *(run for run in ON_REQUEST.values() if (states / run.name).exists())]


def named(name: str) -> LongRun:
    runs = RUNS | ON_REQUEST
    if name not in runs:
        raise InputError(f"there is no run {name!r}; there are: {', '.join(runs)}.")
    return runs[name]
