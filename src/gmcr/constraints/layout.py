"""How the samples of a table belong together: runs, and the order within them; and where channels lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import trapezoid

from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_counted, as_labels, as_numbers, check_complete


@dataclass(frozen=True, eq=False)
class Layout:
    """Runs and order of samples, where they were given; an order is used only then.

    runs : (samples,) number of the run that each sample belongs to
    order : (samples,) place of each sample in its run, such as a time
    axis : (channels,) where the channels lie, if that is known
    names : what the runs are called, in the order of their names
    """

    runs: NDArray[np.intp] | None = None
    order: FloatArray | None = None
    axis: FloatArray | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, runs: Any, order: ArrayLike | None, n_samples: int, axis: FloatArray | None = None) -> Layout:
        """From labels of runs and places in them, as they came; either may be None."""
        places = None
        if order is not None:
            if any(isinstance(place, str) for place in np.ravel(np.asarray(order, dtype=object))):
                raise InputError("order must be numbers, such as times, and not text.")
            places = as_numbers(order, "order")
            if places.shape != (n_samples,):
                raise InputError(
                    f"order must have {n_samples} numbers, one per sample, but has shape {places.shape}."
                )
            check_complete(places, "order", "NaN is no place in a run")
        if runs is None:
            layout = cls(None, places, axis)
        else:
            labels = as_labels(runs, n_samples, "runs").astype(str).tolist()
            numbers = {label: number for number, label in enumerate(sorted(set(labels), key=as_counted))}
            layout = cls(np.array([numbers[label] for label in labels]), places, axis, tuple(numbers))
        if places is not None and len(np.unique(layout.keys(n_samples), axis=0)) < n_samples:
            raise InputError("order has two samples of a run at the same place; give each its own.")
        return layout

    @property
    def is_open(self) -> bool:
        """Whether nothing is known of runs or order."""
        return self.runs is None and self.order is None

    @property
    def labels(self) -> list[str] | None:
        """(samples,) the name of each sample's run, where runs are known."""
        return None if self.runs is None else [self.names[run] for run in self.runs]

    def __getitem__(self, rows: Any) -> Layout:
        """The same for some of the samples, or for all in another order."""
        runs, order = (None if one is None else one[rows] for one in (self.runs, self.order))
        return replace(self, runs=runs, order=order)

    def keys(self, n_samples: int) -> FloatArray:
        """(samples, 2) what tells samples apart that hold the same."""
        both = (self.runs, self.order)
        return np.column_stack([np.zeros(n_samples) if one is None else one for one in both])

    def series(self, n_samples: int) -> list[NDArray[np.intp]]:
        """The samples of each run in their order; none where no order was given."""
        if self.order is None:
            return []
        runs = np.zeros(n_samples, dtype=np.intp) if self.runs is None else self.runs
        in_order = np.argsort(self.order, kind="stable")
        return [in_order[runs[in_order] == run] for run in np.unique(runs)]

    def areas(self, C: FloatArray) -> FloatArray:
        """(runs, components) what each run holds: the area under concentrations over the order, or their sum.

        C : (samples, components); a run of one sample has no area, and NaN stands for it
        """
        runs = np.zeros(len(C), dtype=np.intp) if self.runs is None else self.runs
        if self.order is None:
            return np.array([C[runs == run].sum(axis=0) for run in np.unique(runs)])
        areas = [trapezoid(C[rows], self.order[rows], axis=0) for rows in self.series(len(C))]
        alone = np.bincount(runs) == 1
        return np.where(alone[:, None], np.nan, np.array(areas))
