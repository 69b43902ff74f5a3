"""Steps in a row, as a model learns them from its training samples, applies them to new ones, and stores them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from gmcr.errors import InputError
from gmcr.preprocessing.replicates import AverageReplicates, groups_of
from gmcr.preprocessing.step import IntArray, Step, step_of
from gmcr.validation import FloatArray, check_finite, require

LEAST = 2  # channels that a table to unmix has


@dataclass(frozen=True, eq=False)
class Chain:
    """Steps that have learned, and the channels they start from.

    steps : in the order in which they go
    n_channels : of samples as they come
    axis : (n_channels,) their positions, where they have any
    channels : their names, where they have names instead
    labels : of the training samples, where replicates were averaged
    did : a sentence or two on each step, what it did to the training samples
    """

    steps: tuple[Step, ...] = ()
    n_channels: int = 0
    axis: FloatArray | None = None
    channels: tuple[str, ...] | None = None
    labels: tuple[str | None, ...] | None = None
    did: tuple[str, ...] = ()

    @classmethod
    def learned(
        cls,
        steps: Sequence[Step],
        X: FloatArray,
        axis: FloatArray | None = None,
        channels: tuple[str, ...] | None = None,
        replicates: Any = None,
    ) -> tuple[Chain, FloatArray, FloatArray | None]:
        """The chain of copies of these steps, learned from samples X; the samples after it; their noise.

        The noise is told by replicates that were averaged, entry by entry, else by nothing.

        replicates : (samples,) labels of what samples were measured of, for `AverageReplicates`
        """
        n_channels, told = X.shape[1], []
        labels: tuple[str | None, ...] | None = None
        sigma: FloatArray | None = None
        positions = np.arange(float(n_channels)) if axis is None else axis
        given = tuple(clone(step) for step in steps)
        for step in given:
            before = X
            step.check()
            step.learn(X, positions)
            sigma = None if sigma is None else step.spread(sigma, X, positions)
            if isinstance(step, AverageReplicates):
                labels = _texts(replicates if step.labels is None else step.labels, len(X))
                X = step.average(X, np.array(labels, dtype=object))
                sigma = step.noise_of_means(X)
            else:
                X = step.apply(X, positions)
            _check_left(X, step)
            positions = positions[step.kept(positions)]
            told.append(_told(step, before, X))
        return cls(given, n_channels, axis, channels, labels, tuple(told)), X, sigma

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The steps for people."""
        return tuple(f"{step.sentence()}." for step in self.steps)

    @property
    def kept(self) -> IntArray:
        """Which of the channels are left after all steps, by number."""
        places = np.arange(self.n_channels)
        for step, positions in self._at():
            places = places[step.kept(positions)]
        return places

    @property
    def axis_after(self) -> FloatArray | None:
        """(channels that are left,)"""
        return None if self.axis is None else self.axis[self.kept]

    @property
    def channels_after(self) -> tuple[str, ...] | None:
        return None if self.channels is None else tuple(self.channels[place] for place in self.kept)

    def apply(self, X: FloatArray) -> FloatArray:
        """New samples (samples, n_channels) after the steps; each is a measurement by itself."""
        for step, positions in self._at():
            X = step.apply(X, positions)
        return X

    def apply_to_training(self, X: FloatArray) -> FloatArray:
        """The training samples after the steps, replicates averaged as they were."""
        for step, positions in self._at():
            if isinstance(step, AverageReplicates):
                X = step.average(X, np.array(_texts(self.labels, len(X)), dtype=object))
            else:
                X = step.apply(X, positions)
        return X

    def apply_to_spectra(self, S: FloatArray) -> FloatArray:
        """Spectra of single substances (spectra, n_channels) after the steps that go for these too."""
        for step, positions in self._at():
            S = step.apply(S, positions) if step.of_spectra else S
        return S

    def spread(self, sigma: FloatArray, X: FloatArray) -> FloatArray:
        """Standard deviations of the noise, entry by entry, after the steps on samples X that have `sigma`."""
        for step, positions in self._at():
            sigma, X = step.spread(sigma, X, positions), step.apply(X, positions)
        return sigma

    @property
    def averaging(self) -> AverageReplicates | None:
        """The step that averages replicates, if there is one."""
        return next((step for step in self.steps if isinstance(step, AverageReplicates)), None)

    @property
    def names_after(self) -> tuple[str, ...] | None:
        """Of the training samples, where replicates were averaged: what they are replicates of."""
        if self.labels is None:
            return None
        own = [f"single {row}" if label is None else label for row, label in enumerate(self.labels)]
        return tuple(dict.fromkeys(own))

    def averaged(self, values: Any, name: str) -> Any:
        """What is told of the training samples, as many as were measured, for each mean of replicates.

        Replicates must be told the same; NaN and None say nothing. Values for each mean stay as they are.
        """
        if values is None or self.labels is None or np.ndim(values) == 0:
            return values
        one_column = np.ndim(values) == 1 and not isinstance(values, Mapping)
        named = isinstance(values, Mapping | pd.DataFrame | pd.Series)
        table = pd.DataFrame(dict(values) if isinstance(values, Mapping) else values)
        if len(table) != len(self.labels):
            return values
        groups = groups_of(np.array(self.labels, dtype=object))
        told = table.set_axis(range(len(table)), axis=0).groupby(groups, sort=False)
        differ = np.argwhere((told.nunique() > 1).to_numpy())
        if differ.size:
            raise InputError(
                f"{name} differs between the replicates of {(self.names_after or ())[differ[0][0]]!r:.40}, which "
                "were averaged; give it once for all of them."
            )
        first = told.first()
        if one_column:
            return first.iloc[:, 0].to_numpy()
        return first if named else first.to_numpy()

    def as_dict(self) -> dict[str, Any]:
        """What a file stores of it."""
        return {
            "steps": [step.as_dict() for step in self.steps],
            "n_channels": self.n_channels,
            "axis": None if self.axis is None else self.axis.tolist(),
            "channels": self.channels,
            "labels": self.labels,
            "did": self.did,
        }

    @classmethod
    def of_dict(cls, stored: Mapping[str, Any]) -> Chain:
        """The chain that `as_dict` stored."""
        texts = {
            name: None if stored[name] is None else tuple(stored[name]) for name in ("channels", "labels")
        }
        axis = None if stored["axis"] is None else np.array(stored["axis"], dtype=float)
        steps = tuple(step_of(one) for one in stored["steps"])
        return cls(steps, int(stored["n_channels"]), axis, did=tuple(stored["did"]), **texts)

    def _at(self) -> Iterator[tuple[Step, FloatArray]]:
        """Each step, and the positions of the channels that come to it."""
        positions = np.arange(float(self.n_channels)) if self.axis is None else self.axis
        for step in self.steps:
            yield step, positions
            positions = positions[step.kept(positions)]


def check_steps(steps: Any) -> list[Step]:
    """The steps as a list; one alone may stand for it."""
    given = [] if steps is None else [steps] if isinstance(steps, Step) else steps
    require(isinstance(given, list | tuple), "steps", "a list of steps of gmcr.preprocessing", steps)
    for step in given:
        if not isinstance(step, Step):
            raise InputError(
                f"steps holds a {type(step).__name__}, which is no step of gmcr.preprocessing; put other "
                "transformers before the model in a Pipeline."
            )
    if sum(isinstance(step, AverageReplicates) for step in given) > 1:
        raise InputError("steps holds AverageReplicates twice; once averages all.")
    return list(given)


def _check_left(X: FloatArray, step: Step) -> None:
    check_finite(X, f"what {step.kind} left")
    if X.shape[1] < LEAST:
        raise InputError(f"{step.kind} leaves {X.shape[1]} channel(s); unmixing needs at least {LEAST}.")
    lost = np.flatnonzero(np.isnan(X).all(axis=1))
    if lost.size:
        raise InputError(
            f"{step.kind} leaves nothing of sample {lost[0]}; remove that sample, or change the step."
        )


def _told(step: Step, before: FloatArray, after: FloatArray) -> str:
    sentence = step.sentence()
    return f"{sentence[0].upper()}{sentence[1:]}. {step.did(before, after)}".strip()


def _texts(labels: Any, n_samples: int) -> tuple[str | None, ...]:
    if labels is None:
        raise InputError("AverageReplicates needs to know which samples are one: fit(D, replicates=labels).")
    if len(labels) != n_samples:
        raise InputError(
            f"there are {n_samples} samples and {len(labels)} labels of replicates; give a label for each sample."
        )
    return tuple(None if pd.isna(label) else str(label) for label in labels)
