"""What a step before unmixing can be asked, and all steps by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gmcr.errors import InputError
from gmcr.preprocessing.frames import frame_axis
from gmcr.registry import Registry, rebuilt
from gmcr.storage import as_json
from gmcr.validation import FloatArray, check_same_axis, check_samples

IntArray = NDArray[np.intp]


class Step(TransformerMixin, BaseEstimator, ABC):
    """A step before unmixing, as a scikit-learn transformer.

    Its parameters are what a file stores of it, beside what it learned. Of a DataFrame the numeric column
    names are the channel axis, in whose units ranges are told, and a DataFrame comes back; without one,
    positions are channel numbers, from 0.

    kind : its name, in files and messages
    learned : names of the arrays that it learns
    of_spectra : whether it goes for a spectrum by itself, such as one of a library, as it does for a sample
    keeps_noise : whether the noise of an entry is the same before and after
    """

    kind: ClassVar[str]
    learned: ClassVar[tuple[str, ...]] = ()
    of_spectra: ClassVar[bool] = True
    keeps_noise: ClassVar[bool] = True

    n_features_in_: int
    axis_: FloatArray | None

    # What a step is: functions on arrays, (samples, channels) at positions (channels,)

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        """Learn what it needs from training samples; most steps need nothing."""

    @abstractmethod
    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        """The samples after the step, NaN where they are missing: (samples, channels that are kept)."""

    def kept(self, axis: FloatArray) -> IntArray:
        """Which channels are left, by number."""
        return np.arange(len(axis))

    def spread(self, sigma: FloatArray, X: FloatArray, axis: FloatArray) -> FloatArray:
        """Standard deviations of the noise after the step, of samples X that had `sigma`, entry by entry."""
        return sigma[:, self.kept(axis)]

    @abstractmethod
    def sentence(self) -> str:
        """The step for people: "baseline asls removed"."""

    def did(self, before: FloatArray, after: FloatArray) -> str:
        """What it did to samples, for people; empty where the sentence tells all."""
        return ""

    # scikit-learn's side

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from samples X (samples, channels), an array or a DataFrame; y is ignored."""
        self.check()
        samples = self._checked(X, reset=True)
        self.axis_ = frame_axis(X)
        self.learn(samples, self._positions())
        self._keeps = self.kept(self._positions())
        return self

    def transform(self, X: Any) -> Any:
        """The samples after the step; of a DataFrame, a DataFrame with the columns that are kept."""
        check_is_fitted(self)
        samples, axis = self._checked(X, reset=False), self._positions()
        check_same_axis(frame_axis(X), self.axis_, f"the training samples of {type(self).__name__}")
        return self._labelled(X, self.apply(samples, axis))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the channels that are kept."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", input_features)
        if names is None:
            names = [f"x{channel}" for channel in range(self.n_features_in_)]
        elif input_features is not None and list(names) != list(input_features):
            raise InputError("input_features is not equal to feature_names_in_; leave it out.")
        if len(names) != self.n_features_in_:
            raise InputError(f"input_features should have length equal to {self.n_features_in_}.")
        return np.asarray(names, dtype=object)[self._keeps]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_keeps")

    # Files

    def as_dict(self) -> dict[str, Any]:
        """What a file stores of it: kind, parameters and, once it has learned, what."""
        own = {name: as_json(value, name) for name, value in self.get_params(deep=False).items()}
        found = {name: as_json(getattr(self, name), name) for name in self.learned if hasattr(self, name)}
        return {"kind": self.kind, **own} | ({"learned": found} if found else {})

    # The work

    def _checked(self, X: Any, *, reset: bool) -> FloatArray:
        try:
            samples = check_samples(X, "X", copy=False)
        except InputError as error:
            if isinstance(error.__context__, TypeError):  # scikit-learn's contract for entries of other types
                raise TypeError(f"{error} ({error.__context__})") from error
            raise
        if not reset and (came := samples.shape[1]) != (known := self.n_features_in_):
            raise InputError(  # in scikit-learn's words too
                f"X has {came} channels and the step was fitted on {known}; give it the same channels "
                f"(X has {came} features, but {type(self).__name__} is expecting {known} features as input)."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return samples

    def _positions(self) -> FloatArray:
        return np.arange(float(self.n_features_in_)) if self.axis_ is None else self.axis_

    def _labelled(self, X: Any, samples: FloatArray) -> Any:
        if not isinstance(X, pd.DataFrame):
            return samples
        return pd.DataFrame(samples, index=X.index, columns=X.columns[self._keeps])


STEPS: Registry[type[Step]] = Registry("step", Step)


def step_of(stored: Mapping[str, Any]) -> Step:
    """The step that `as_dict` stored, with what it had learned."""
    given = dict(stored)
    found = given.pop("learned", {})
    step = rebuilt(STEPS, given)
    for name in step.learned:
        if name in found:
            value = found[name]
            setattr(step, name, np.array(value, dtype=float) if isinstance(value, list) else value)
    return step
