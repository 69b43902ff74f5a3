"""A method on Carbs or NIR: the fit, and how close profiles and concentrations come to the references."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from gmcr.metrics import r_squared
from gmcr.validation import FloatArray
from gmcr_paper.methods import fitted
from gmcr_paper.results import Settings
from gmcr_paper.running import Outcome
from gmcr_paper.studies.energy import ending, trained
from gmcr_paper.studies.sets import RealSet, load
from gmcr_paper.studies.simplex import decoded
from gmcr_paper.studies.synthetic import ended, pruned, warm_up

LOWEST = 0.95  # lower edge of the lowest band on real data


@dataclass(frozen=True)
class Answer:
    """A state to score: components (K, channels), concentrations (samples, K)."""

    components: FloatArray
    concentrations: FloatArray


def measure_real(settings: Settings, folder: Path | None) -> Outcome:
    """One fit of one set; settings: set, method, seed, and count, phi, or pool and epochs.

    The window solver without a count, and EB-gMCR, are blind; on Carbs their frozen models also decode the
    mixtures of the simplex.
    """
    data = load(settings["set"], folder)
    if settings["method"] == "eb":
        return _energy(settings, data)
    method, seed = settings["method"], settings["seed"]
    warm_up(method)
    start = perf_counter()
    if method == "ard":
        model = pruned(method, data.D, seed, settings["phi"], signed=data.signed)
        if model is None:
            return Outcome({"count": 0, "r2": None, "fit_seconds": perf_counter() - start})
    else:
        model = fitted(method, data.D, settings.get("count"), seed, signed=data.signed)
    seconds = perf_counter() - start
    answer = Answer(model.components_, model.concentrations_)
    result = scored(answer, data) | {
        "fit_seconds": seconds,
        "usage": int(np.count_nonzero(answer.concentrations)),
    }
    if method == "ard":
        return Outcome(result | ended(model) | {"variance": model.phi_})
    if data.S is None or settings.get("count", len(data.S)) != len(data.S):
        return Outcome(result)  # no figure shows its profiles
    arrays = _profiles(answer, data)
    if settings["method"] == "window" and "count" not in settings:
        reuse, maps = decoded(
            answer.components, lambda X: model.decode(X).concentrations, data, settings["seed"]
        )
        result["reuse"] = {"window": reuse}
        arrays |= {f"window_{name}": values for name, values in maps.items()}
    return Outcome(result, arrays)


def _energy(settings: Settings, data: RealSet) -> Outcome:
    start = perf_counter()
    model = trained(data.D, settings, lowest_band=LOWEST, signed=data.signed)
    seconds = perf_counter() - start
    outcome = energy_outcome(model, data, settings["seed"])
    return Outcome(outcome.result | {"fit_seconds": seconds}, outcome.arrays)


def energy_outcome(model: Any, data: RealSet, seed: int) -> Outcome:
    """What a trained EB-gMCR holds, against the references; on Carbs its frozen states decode the simplex.

    reuse : of the checkpoint with the fewest components, by its gate and by exact decoding; of the end, by gate
    """
    refined = model.refine(data.D, compare=False).model
    result = ending(model) | {
        "bands": [
            scored(band.decomposition, data)
            | {"low": band.low, "high": band.high, "usage": band.usage, "epoch": band.epoch / model.n_epochs_}
            for band in model.bands_
        ],
        "final": scored(model.final_, data) | {"usage": model.final_.usage},
        "refined": scored(refined.decomposition_, data) | {"usage": refined.decomposition_.usage},
    }
    rule = "fewest" if model.bands_ else "final"  # as the paper selects: no use of the known count
    arrays = _profiles(model.select(rule), data)
    if data.S is not None:
        result["reuse"] = {}
        for name, by, state in (("gate", "gate", rule), ("exact", "exact", rule), ("end", "gate", "final")):
            reuse, maps = decoded(
                model.select(state).components, partial(_amounts, model, by=by, rule=state), data, seed
            )
            result["reuse"][name] = reuse
            arrays |= {f"{name}_{key}": values for key, values in maps.items()}
    return Outcome(result, arrays)


def _amounts(model: Any, D: FloatArray, by: str, rule: str) -> FloatArray:
    return model.decode(D, by, rule=rule).concentrations


def _profiles(answer: Any, data: RealSet) -> dict[str, FloatArray]:
    """The profiles matched to the references and scaled to them, for the figures; nothing without references."""
    if data.S is None or len(answer.components) < len(data.S):
        return {}
    slots = assign(answer, data)
    return {
        "profiles": scaled(answer.components[slots].T, data.S.T).T,
        "references": data.S,
        "axis": data.axis,
        "labels": np.array(data.labels),
        "training": data.C,
    }


# Metrics (Appendix F): alignment to the references by linear assignment


def scored(answer: Any, data: RealSet) -> dict[str, Any]:
    """R²(D), and against the references cos(S), RMSE(S) and RMSE(C).

    Found and reference agree up to scale at best, so each found profile, and each column of concentrations, is
    first multiplied by the number that brings it closest to its reference. With more components than references,
    the others are left out; with fewer, nothing is compared.
    """
    S, C = answer.components, answer.concentrations
    result: dict[str, Any] = {"count": len(S), "r2": r_squared(data.D, C @ S)}
    if len(S) < data.C.shape[1]:
        return result
    slots = assign(answer, data)
    result["rmse_c"] = rmse(scaled(C[:, slots], data.C), data.C)
    if data.S is not None:
        cosines = unit(S[slots]) * unit(data.S)
        result["cos_s"] = float(np.abs(cosines.sum(axis=1)).mean())
        result["min_cos"] = float(np.abs(cosines.sum(axis=1)).min())
        result["rmse_s"] = rmse(scaled(S[slots].T, data.S.T), data.S.T)
    return result


def assign(answer: Any, data: RealSet) -> np.ndarray:
    """The component of each reference: by the cosine of profiles or, without those, of concentrations."""
    if data.S is not None:
        cosines = unit(data.S) @ unit(answer.components).T
    else:
        cosines = unit(data.C.T) @ unit(answer.concentrations.T).T
    return linear_sum_assignment(-np.abs(cosines))[1]


def scaled(found: FloatArray, reference: FloatArray) -> FloatArray:
    """Each column of `found` times the number that brings it closest to the reference's."""
    squares = (found**2).sum(axis=0)
    return found * ((found * reference).sum(axis=0) / np.where(squares > 0, squares, 1.0))


def rmse(found: FloatArray, reference: FloatArray) -> float:
    return float(np.sqrt(np.mean((found - reference) ** 2)))


def unit(rows: FloatArray) -> FloatArray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)
