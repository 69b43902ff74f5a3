"""EB-gMCR on synthetic mixtures: what every band holds sample by sample, the end of the run, the pool refined."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from time import perf_counter
from typing import Any

from gmcr.mixtures import Mixtures
from gmcr.validation import FloatArray
from gmcr_paper.results import Settings
from gmcr_paper.running import Outcome
from gmcr_paper.studies.synthetic import mixtures, scored, truth_of
from gmcr_paper.support_columns import support_columns

NOISY = 20  # evaluations with the gate's noise
LOWEST = 0.97  # lower edge of the lowest band on synthetic data
WITHOUT: dict[str, dict[str, Any]] = {  # the ablation: which weight each removed term has
    "nothing": {},
    "exploration": {"exploration": 0.0},
    "usage": {"usage_weight": 0.0},
    "energy": {"energy_weight": 0.0},
    "ambiguity": {"ambiguity_weight": 0.0},
}


def measure_energy(settings: Settings) -> Outcome:
    """A run of EB-gMCR; settings: n, ratio, snr, seed, pool, epochs, without."""
    mix = mixtures(settings)
    start = perf_counter()
    model = trained(mix.D, settings, lowest_band=LOWEST)
    return Outcome(energy_result(model, mix) | {"fit_seconds": perf_counter() - start})


def energy_result(model: Any, mix: Mixtures) -> dict[str, Any]:
    """What a trained model holds, against the truth: its bands, its end, its pool refined."""
    start = perf_counter()
    refined = model.refine(mix.D, compare=False).model
    seconds = perf_counter() - start
    return ending(model) | {
        "bands": [band_row(model, band, mix) for band in model.bands_],
        "final": scored(mix, model.final_) | {"r2": model.final_.r2(mix.D)},
        "refined": scored(mix, refined) | {"seconds": seconds},
        "noisy": noisy_end(model, mix.D),
    }


def trained(D: FloatArray, settings: Settings, *, lowest_band: float, signed: bool = False) -> Any:
    """EB-gMCR trained as the settings say, on one thread or on the graphics card there is.

    The learning rate is the paper's, times up to four where the pool is smaller than the paper's 1024 slots.
    """
    import torch

    from gmcr.eb.settings import Settings as Constants
    from gmcr.estimators.eb import EBgMCR

    torch.set_num_threads(1)
    model = EBgMCR(
        settings["pool"],
        settings["epochs"],
        random_state=settings["seed"],
        learning_rate="scaled",
        lowest_band=lowest_band,
        signed=signed,
        settings=replace(Constants(), **WITHOUT[settings.get("without", "nothing")]),
    ).fit(D)
    if model.n_epochs_ < settings["epochs"] and not model.terminated_:
        raise KeyboardInterrupt  # the state so far is no measurement
    return model


def noisy_end(model: Any, D: FloatArray) -> dict[str, float]:
    """The state at the end, evaluated as the paper says, with the gate's noise drawn: means of count and R².

    It differs from the evaluation without it only where gaps are small.
    """
    import torch

    from gmcr.metrics import r_squared

    network = model._model(model._states["final"].tensors, model.signed)
    X, random = torch.as_tensor(D, dtype=torch.float32), torch.Generator().manual_seed(0)
    with torch.no_grad():
        passes = [network.evaluate(X, random) for _ in range(NOISY)]
    counts = [int(out.gate.any(dim=0).sum()) for out in passes]
    fits = [r_squared(D, out.fit.double().numpy()) for out in passes]
    return {"count": fmean(counts), "r2": fmean(fits)}


def ending(model: Any) -> dict[str, Any]:
    """How a run ended: epochs, whether by the termination rule, and what the gate was like."""
    return {
        "epochs_run": model.n_epochs_,
        "terminated": bool(model.terminated_),
        "single_users": int(model.history_["single_users"].iloc[-1]),
        "final_energy": float(model.history_["mean_energy"].iloc[-1]),
    } | energy_course(model.history_, model._settings())


def energy_course(history: Any, settings: Any) -> dict[str, Any]:
    """The termination rule over a history: when the run reconstructed, when it oscillated, the energy's ratios.

    entered, oscillated : epochs, None where it did not happen
    energy_ratio : mean energy at the end over that up to entry; ratio_oscillated : the same at the oscillation
    smallest_ratio : the lowest it came to
    """
    from gmcr.eb.checkpoints import Termination

    rule = Termination(settings)
    oscillated = None
    for nmse, energy in zip(history["nmse"], history["mean_energy"]):
        rule.update(nmse, energy)
        if rule.oscillated and oscillated is None:
            oscillated = rule.epoch
    found: dict[str, Any] = {"entered": rule.entered, "oscillated": oscillated, "energy_ratio": None}
    if rule.initial_energy is None or rule.entered is None:
        return found
    ratios = history["mean_energy"] / rule.initial_energy
    return found | {
        "energy_ratio": float(ratios.iloc[-1]),
        "smallest_ratio": float(ratios.iloc[rule.entered :].min()),
        "ratio_oscillated": None if oscillated is None else float(ratios.iloc[oscillated]),
    }


def band_row(model: Any, band: Any, mix: Mixtures) -> dict[str, Any]:
    """A checkpoint decoded sample by sample: every column of the support tables."""
    return support_columns(band.decomposition, truth_of(mix)) | {
        "low": band.low,
        "high": band.high,
        "epoch": band.epoch / model.n_epochs_,
        "r2": band.r2,
        "usage": band.usage,
    }
