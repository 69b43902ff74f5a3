"""Baselines by pybaselines, each sample's own: estimated under its peaks, and subtracted.

Where samples find out by themselves what of them is baseline, mixtures are no mixtures of the same profiles any
more: each has lost a little else, and what is left over looks like a component. With weights of channels in
common, the baseline of a mixture is the mixture of baselines (Chen and others 2018, collaborative penalised least
squares).
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.preprocessing.gaps import filled_along, with_gaps
from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import FloatArray, require

ALIASES = {"polynomial": "imodpoly"}
OF_THE_DATA = ("data", "x_data", "weights")  # arguments of a method that are no options
BY_WEIGHTS = {"lam", "tol"}  # options of methods that smooth by given weights


class Baseline(Step):
    """Subtract each sample's baseline, by a method of pybaselines (extra `prep`).

    What the baseline leaves below zero is kept: it is noise, and is not cut off.

    Parameters
    ----------
    method : "asls", "arpls", "airpls", "snip", "polynomial" (imodpoly), or any other one-dimensional method
        that pybaselines names
    options : the method's own options by name, such as {"lam": 1e5} or {"poly_order": 2}
    common : whether all samples have the same weights of channels, found in the mean of the training samples, as
        `asls`, `arpls`, `airpls` and their like can; then mixtures stay mixtures

    Attributes
    ----------
    weights_ : (channels,) those in common

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr.preprocessing import Baseline
    >>> x = np.linspace(-1, 1, 200)
    >>> sample = np.exp(-((x / 0.05) ** 2)) + 0.3 * x + 2
    >>> bool(abs(np.median(Baseline("arpls").fit_transform([sample]))) < 0.01)
    True
    """

    kind = "baseline"
    learned = ("weights_",)

    def __init__(
        self, method: str = "asls", options: dict[str, Any] | None = None, common: bool = False
    ) -> None:
        self.method = method
        self.options = options
        self.common = common

    def check(self) -> None:
        require(
            isinstance(self.method, str), "method of Baseline", "the name of a baseline method", self.method
        )
        require(
            self.options is None or isinstance(self.options, dict),
            "options of Baseline",
            "a dict",
            self.options,
        )
        known = method_options(self.method)
        for name in self.options or {}:
            if name not in known:
                raise InputError(
                    f"the baseline {self.method} has no option {name!r:.40}; choose from {', '.join(known)}."
                )

        require(isinstance(self.common, bool), "common of Baseline", "True or False", self.common)
        if self.common and not (set(known) >= BY_WEIGHTS and "alpha" not in known):
            raise InputError(
                f"the baseline {self.method} has no weights that samples could have in common; take asls, arpls "
                "or airpls, or leave common out."
            )

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        if self.common:
            mean = filled_along(X, axis).mean(axis=0, keepdims=True)
            self.weights_ = self._found(mean, axis)[1][0]

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        if not self.common:
            return with_gaps(X, axis, lambda samples: samples - self._found(samples, axis)[0])
        weights = np.where(np.isnan(X), 0.0, self.weights_)
        return X - self._found(filled_along(X, axis), axis, weights)[0]

    def sentence(self) -> str:
        told = [f"{name} {value}" for name, value in (self.options or {}).items()]
        told += ["weights in common"] if self.common else []
        return f"baseline {self.method}{' (' + ', '.join(told) + ')' if told else ''} subtracted"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        gone = np.sqrt(np.nanmean(np.square(before - after), axis=1))
        size = np.sqrt(np.nanmean(np.square(before), axis=1))
        share = gone / np.where(size > 0, size, 1.0)
        below = float((after < 0).sum() / (~np.isnan(after)).sum())
        return (
            f"Of a sample's root mean square it was {share.min():.0%} to {share.max():.0%}; "
            f"{below:.0%} of the entries are below zero since, and were left so."
        )

    def _found(
        self, X: FloatArray, axis: FloatArray, weights: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Baselines and the weights that they went by, (samples, channels) each, along the rising axis.

        weights : (samples, channels) where they are given; then baselines are linear in the samples
        """
        order = np.argsort(axis, kind="stable")
        fitter = _pybaselines().Baseline(x_data=axis[order], check_finite=False)
        method, options = getattr(fitter, _name(self.method)), self.options or {}
        out, found = np.empty_like(X), np.ones_like(X)
        for row, sample in enumerate(X):
            if weights is not None:
                # Any change of the weights is small enough, so they stay as they are.
                options = options | {"weights": weights[row, order], "tol": np.inf}
            try:
                out[row, order], more = method(sample[order], **options)
            except (ValueError, TypeError, IndexError, KeyError, np.linalg.LinAlgError) as error:
                why = " ".join(str(error).split()).rstrip(".")
                raise InputError(
                    f"the baseline {self.method} could not be found for sample {row}: {why}; change its options, "
                    "or take another method."
                ) from error
            found[row, order] = more.get("weights", 1.0)
        return out, found


def method_options(name: str) -> dict[str, Any]:
    """The options of a method, with their defaults."""
    package = _pybaselines()
    method = None if name.startswith("_") else getattr(package.Baseline, _name(name), None)
    if method is None or "data" not in inspect.signature(method).parameters:
        raise InputError(
            f"pybaselines has no method {name!r:.40}; take asls, arpls, airpls, snip, polynomial, or another "
            "that it names."
        )
    found = inspect.signature(method).parameters.items()
    return {
        key: one.default
        for key, one in found
        if key != "self" and key not in OF_THE_DATA and one.kind is not one.VAR_KEYWORD
    }


def _name(method: str) -> str:
    return ALIASES.get(method, method)


def _pybaselines() -> Any:
    try:
        import pybaselines
    except ModuleNotFoundError:
        raise InputError("Baseline needs pybaselines; install it with: pip install 'gmcr[prep]'.") from None
    return pybaselines


STEPS.add(Baseline.kind, Baseline)
