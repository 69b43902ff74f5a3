"""Measurements of one thing, averaged; their spread tells the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gmcr.errors import InputError
from gmcr.noise import NoiseLaw, law_of_replicates
from gmcr.noise.replicates import sums_of_present
from gmcr.preprocessing.step import STEPS, IntArray, Step
from gmcr.validation import FloatArray, as_labels


class AverageReplicates(Step):
    """Average the measurements of one thing; what they differ by tells the noise of one measurement.

    In a model, `fit(D, replicates=labels)` says which samples belong together, and the law goes to the fit,
    as small as each mean's noise is. New samples are decoded one by one, each a single measurement.

    Parameters
    ----------
    labels : (samples,) of the samples that are fitted: those with the same label are one thing, None or NaN
        is a thing of its own. None takes the index of a DataFrame or, in a model, `replicates`
    noise : the law's name, or "auto"

    Attributes
    ----------
    noise_law_ : the law of one measurement, from the spread; None where nothing was measured twice
    counts_ : (things,) measurements of each
    """

    kind = "average replicates"
    of_spectra = False

    def __init__(self, labels: ArrayLike | None = None, noise: str = "auto") -> None:
        self.labels = labels
        self.noise = noise

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        return X  # a sample by itself is its own mean

    def fit(self, X: Any, y: Any = None) -> AverageReplicates:
        super().fit(X)
        samples = np.asarray(X, dtype=float)
        self.average(samples, self._labels(X, len(samples)))
        return self

    def transform(self, X: Any) -> Any:
        """The mean of each thing, in the order in which they first come; single samples where none are named."""
        single = super().transform(X)
        labels = self._labels(X, len(single))
        if len(labels) != len(single):
            raise InputError(
                f"labels has {len(labels)} entries and there are {len(single)} samples; fit these."
            )
        groups = groups_of(labels)
        means = _means(np.asarray(single, dtype=float), groups)
        if not isinstance(X, pd.DataFrame):
            return means
        return pd.DataFrame(means, index=X.index[np.unique(groups, return_index=True)[1]], columns=X.columns)

    def average(self, X: FloatArray, labels: Any) -> FloatArray:
        """Means of samples X by label: (things, channels), in the order in which they come; learns the noise."""
        told = as_labels(labels, len(X), "replicates")
        groups = groups_of(told)
        self.counts_ = np.bincount(groups)
        twice = self.counts_.max() > 1
        self.noise_law_: NoiseLaw | None = law_of_replicates(X, told, self.noise) if twice else None
        return _means(X, groups)

    def noise_of_means(self, means: FloatArray) -> FloatArray | None:
        """Standard deviations of the means (things, channels), where something was measured twice."""
        if self.noise_law_ is None:
            return None
        sigma = self.noise_law_.sigma(means, np.nan_to_num(means)).entries / np.sqrt(self.counts_)[:, None]
        return np.array(np.broadcast_to(sigma, means.shape))

    def sentence(self) -> str:
        return "replicates averaged"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        law = (
            ""
            if self.noise_law_ is None
            else f" The noise of one measurement is {self.noise_law_.sentence()}."
        )
        return f"{len(before)} measurements became {len(after)} samples.{law}"

    def as_dict(self) -> dict[str, Any]:
        """Without the labels, which belong to the training samples alone."""
        return super().as_dict() | {"labels": None}

    def _labels(self, X: Any, n_samples: int) -> Any:
        if self.labels is not None:
            return np.asarray(self.labels, dtype=object)
        if isinstance(X, pd.DataFrame):
            return X.index.to_numpy()
        return np.arange(n_samples)


def groups_of(labels: Any) -> IntArray:
    """The thing that each sample is of, numbered in the order in which they first come: (samples,)."""
    labels = np.asarray(labels, dtype=object)
    own = [("alone", row) if pd.isna(label) else ("named", str(label)) for row, label in enumerate(labels)]
    return pd.factorize(pd.Series(own, dtype=object))[0]


def _means(X: FloatArray, groups: IntArray) -> FloatArray:
    """Means over the present entries of each thing: (things, channels)."""
    seen, total = sums_of_present(X, groups)
    return np.where(seen > 0, total / np.maximum(seen, 1.0), np.nan)


STEPS.add(AverageReplicates.kind, AverageReplicates)
