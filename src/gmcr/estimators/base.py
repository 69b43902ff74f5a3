"""What solvers and baselines share as scikit-learn transformers: checked samples, the way back, names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gmcr.errors import InputError
from gmcr.validation import FloatArray, check_samples


class Unmixer(TransformerMixin, BaseEstimator):
    """Learns a pool, `components_` (n_components_, channels), and gives samples concentrations over it."""

    takes_missing = True  # whether entries may be NaN

    signed: bool
    components_: FloatArray
    n_components_: int

    def inverse_transform(self, C: Any) -> FloatArray:
        """The samples that concentrations C (samples, n_components_) stand for, without noise."""
        check_is_fitted(self)
        concentrations = check_samples(C, "C")
        if concentrations.shape[1] != self.n_components_:
            raise InputError(
                f"C has {concentrations.shape[1]} columns and the model has {self.n_components_} components."
            )
        return concentrations @ self.components_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """component0, component1, …"""
        check_is_fitted(self)
        return np.array([f"component{j}" for j in range(self.n_components_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        tags.input_tags.positive_only = not self.signed
        return tags

    def _samples(self, D: Any, *, reset: bool) -> FloatArray:
        """The samples checked; with `reset`, their channels are those to be learned, else those that were."""
        try:
            samples = check_samples(D, allow_constant=not reset, copy=False)
        except InputError as error:
            if isinstance(error.__context__, TypeError):  # scikit-learn's contract for entries of other types
                raise TypeError(f"{error} ({error.__context__})") from error
            raise
        if not self.takes_missing and np.isnan(samples).any():
            row, column = np.argwhere(np.isnan(samples))[0]
            raise InputError(
                f"D is missing a value at row {row}, column {column} (NaN), and {type(self).__name__} cannot "
                "leave entries out; fill it in, or remove that sample or channel."
            )
        validate_data(self, D, reset=reset, skip_check_array=True)
        return samples
