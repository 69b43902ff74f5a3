"""What a fit was given, for as long as the model lives: known amounts and other counts go by it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from gmcr.errors import InputError
from gmcr.metrics import r_squared
from gmcr.validation import check_whole

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR

SAME_R2 = 1e-6  # within which R² is the same: samples written with six digits


@dataclass(frozen=True, eq=False)
class FittedOn:
    """The samples and whatever else came to `fit`; `parameters` are the estimator's at that time."""

    D: Any
    parameters: dict[str, Any]
    noise: Any = None
    sample_weight: Any = None
    replicates: Any = None
    runs: Any = None
    order: Any = None
    warm_start: Any = None

    @property
    def told(self) -> list[str]:
        """The names of what came beside the samples."""
        names = [field.name for field in fields(self) if field.name not in ("D", "parameters")]
        return [name for name in names if getattr(self, name) is not None]


def at_count(model: GMCR, count: Any, D: Any) -> GMCR:
    """The model fitted anew with the count told, and all else as it was; the same object for the same count."""
    count = check_whole(count, "n_components")
    kept = model._fitted_on
    stored = {} if kept is not None else _stored(model)
    missing = [] if kept is not None else [name for name in model._told_to_fit if name not in stored]
    if missing:
        told = " and ".join(missing)
        raise InputError(
            f"n_components={count} needs what else was given to fit ({told}), which a model from a file or a "
            f"copy does not hold; fit GMCR(n_components={count}) with it."
        )
    if kept is None and D is None:
        raise InputError(
            f"n_components={count} needs the samples that were fitted, which a model from a file or a copy does "
            f"not hold; give them as model.at({count}, D)."
        )
    samples = model._training_samples(kept.D if D is None and kept is not None else D)
    _check_the_same(model, samples)
    parameters = model.get_params(deep=False) if kept is None else kept.parameters
    if parameters["n_components"] == count and model.n_components_ == count:
        return model
    if count not in model._others:
        other = type(model)(**(parameters | {"n_components": count, "max_components": None, "r2_band": None}))
        if kept is None:
            other.fit(D, **stored)
        else:
            given = {name: getattr(kept, name) for name in kept.told}
            other.fit(kept.D, **given)
        model._others[count] = other
    return model._others[count]


def _stored(model: GMCR) -> dict[str, Any]:
    """What a model from a file holds of what came to `fit` beside the samples."""
    told = {
        "runs": model.layout_.labels,
        "order": model.layout_.order,
        "replicates": model.chain_.labels,  # where they were averaged
    }
    return {name: value for name, value in told.items() if value is not None}


def _check_the_same(model: GMCR, samples: Any) -> None:
    found = model.decomposition_
    fine = samples.shape == (found.n_samples, found.n_channels)
    if not fine or abs(r_squared(samples, found.reconstruct()) - found.fit["r2"]) > SAME_R2:
        raise InputError(
            "D must be the samples that were fitted, unchanged since; fit a model of its own to others."
        )
