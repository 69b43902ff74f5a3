"""Amounts in units for a fitted model: from what it holds to the calibration's arrays, and back."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gmcr.calibration import Amounts, Calibration, calibrate
from gmcr.constraints import Calibration as KnownAmounts
from gmcr.decoder import Decoding
from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from gmcr.estimators.window import GMCR


def calibrated(
    model: GMCR, known: Any, D: Any, units: Any, replicates: Any, runs: Any, components: Any
) -> tuple[Calibration, Callable[[], Amounts] | None]:
    """The calibration of a model by samples of known amounts, D or those that were fitted, and their amounts.

    Of fitted samples whose replicates were averaged, all may be told for each measurement or for each mean.
    """
    kept = model._fitted_on
    if D is None and kept is None:
        raise InputError(
            "known is about the samples that were fitted, which a model from a file or a copy does not hold; "
            "give them as calibrate(known, D)."
        )
    if D is None and kept is not None:
        samples, out = model._training_samples(kept.D), model.decoding_
        known, replicates, runs = (
            model.chain_.averaged(told, name)
            for told, name in ((known, "known"), (replicates, "replicates"), (runs, "runs"))
        )
    else:
        samples, out = model._samples(D, reset=False), model.decode(D)
    S, inflation = model.components_, model._frozen().inflation
    # Eq. 3: a component is selected where what it explains alone is worth the price.
    least = float(np.median(out.noise)) * np.sqrt(inflation * model.usage_price_)
    assert out.errors is not None
    calibration = calibrate(
        samples,
        S,
        out.concentrations,
        out.noise,
        out.errors,
        known,
        units=units,
        replicates=replicates,
        runs=runs,
        components=components,
        limits=least * np.sqrt(np.diag(np.linalg.pinv(S @ S.T))),
        inflation=inflation,
    )
    return calibration, amounts_finder(calibration, S, samples, out, runs)


def calibrate_by_constraint(model: GMCR) -> None:
    """Amounts in units for a model whose fit went along with known amounts; a warning where there can be none."""
    told = model._constraints.find(KnownAmounts)
    if told is None:
        return
    places = {name: j for j, name in enumerate(told.known)}
    try:
        model.calibrate(pd.DataFrame(told.known), units=told.units, components=places)
    except InputError as error:
        warnings.warn(f"there are no amounts in units: {error}", stacklevel=3)


def amounts_finder(
    calibration: Calibration | None, S: FloatArray, samples: FloatArray, out: Decoding, runs: Any
) -> Callable[[], Amounts] | None:
    """What computes the amounts of samples that were decoded as `out` over the profiles S."""
    if runs is not None and (calibration is None or not calibration.runs):
        raise InputError("runs changes nothing here: the model was not calibrated with runs; leave it out.")
    if calibration is None:
        return None
    labels = None if runs is None else as_labels(runs, len(samples), "runs")
    return partial(_amounts, calibration, S, samples, out, labels)


def _amounts(
    calibration: Calibration, S: FloatArray, samples: FloatArray, out: Decoding, labels: Any
) -> Amounts:
    complete = np.where(np.isnan(samples), out.concentrations @ S, samples)
    return calibration.amounts(complete, out.concentrations, out.noise, labels)
