"""`Calibration`: what known amounts taught, which predicts and prints; `Amounts` of samples, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gmcr.calibration.coordinates import Coordinates
from gmcr.calibration.features import features
from gmcr.calibration.pooling import Blocks, Column, Fits, Strengths, fit_at, predicted, quantile
from gmcr.text import aligned, cell, text_html
from gmcr.threads import kept
from gmcr.validation import BoolArray, FloatArray, require

DETECTED, QUANTIFIED = 3.3, 10.0  # times the standard deviation over the slope (ICH Q2)


@dataclass(frozen=True, eq=False, repr=False)
class Amounts:
    """Amounts of samples, in units.

    Attributes
    ----------
    values : (samples, known) amounts, not below zero
    errors : (samples, known) standard deviations: of the sample, and of the calibration
    detected : (samples, known) whether an amount is at the detection limit or above it
    names, units : of the known components
    means, spreads, weights : per known component, what each fit of the calibration says and how much it counts
    """

    values: FloatArray
    errors: FloatArray
    detected: BoolArray
    names: tuple[str, ...]
    units: tuple[str, ...]
    means: tuple[FloatArray, ...]
    spreads: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]

    def intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends, (samples, known) each; they contain the calibration's own error."""
        require(0 < level < 1, "level", "between 0 and 1", level)
        told = list(zip(self.means, self.spreads, self.weights))
        ends = [
            np.stack([quantile(*one, side) for one in told], axis=1)
            for side in (0.5 - level / 2, 0.5 + level / 2)
        ]
        return np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)

    def table(self, level: float = 0.95, index: Any = None) -> pd.DataFrame:
        """One row per sample: each amount with its unit, and the ends of its interval."""
        low, high = self.intervals(level)
        columns: dict[str, FloatArray] = {}
        for a, heading in enumerate(self.headings):
            columns |= {
                heading: self.values[:, a],
                f"{heading} low": low[:, a],
                f"{heading} high": high[:, a],
            }
        return pd.DataFrame(columns, index=index)

    @property
    def headings(self) -> tuple[str, ...]:
        """Names with units, as columns are called: "glucose (g/L)"."""
        return tuple(f"{name} ({unit})" if unit else name for name, unit in zip(self.names, self.units))

    def __repr__(self) -> str:
        return f"<Amounts: {len(self.values)} samples of {', '.join(self.headings)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """From samples to amounts: learned from samples whose amounts are known, by `calibrate`.

    Attributes
    ----------
    names, units : of the known components
    components : which component each is;  correlations : (known,) how well both go along, through zero
    slopes : (known,) amount per unit of concentration
    rmsec : (known,) error of the samples that it was learned from
    rmsep : (known,) error of samples whose mixture was left out; NaN where too few are known
    detection, quantification : (known,) limits, 3.3 and 10 standard deviations of a sample without any
    solver_limits : (known,) amounts from which the solver says that a sample holds the component
    blanks : (known,) what is read where there is none;  blank_odds : (known,) probability that there is a blank
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    components: tuple[int, ...]
    correlations: FloatArray
    coordinates: Coordinates
    scale: FloatArray  # (components,) of coordinates
    sizes: FloatArray  # (known,) of amounts
    blocks: Blocks
    columns: tuple[Column, ...]
    strengths: tuple[Strengths, ...]
    typical: float  # variance of the noise of the samples that it was learned from
    runs: tuple[str, ...]
    solver_limits: FloatArray
    known: FloatArray  # (samples, known) as it was told
    mixture: NDArray[np.intp]  # (samples,)
    left_out: FloatArray  # (samples, known) predicted without the sample's mixture
    cleaned: bool  # whether replicates told noise that is taken off
    predicted: FloatArray | None = None  # (samples, known)
    low: FloatArray | None = None  # (samples, known) ends of the intervals
    high: FloatArray | None = None

    @property
    def fits(self) -> tuple[Fits, ...]:
        """Per known component, the coefficients at each set of strengths."""
        return kept(
            self,
            "_fits",
            lambda: tuple(
                fit_at(column, one.ratio, self.blocks.by_feature(one.tau))
                for column, one in zip(self.columns, self.strengths)
            ),
        )

    def amounts(self, D: FloatArray, C: FloatArray, noise: FloatArray, runs: Any = None) -> Amounts:
        """Amounts of complete samples D (samples, channels), decoded as C at noise (samples,)."""
        F, v = self.coordinates.of(D, C) / self.scale, np.square(noise) / self.typical
        labels = None if runs is None else np.asarray(runs).astype(str)
        means, spreads = [], []
        for j, column, fits, size in zip(self.components, self.columns, self.fits, self.sizes):
            mean, spread = predicted(fits, features(F, j, labels, self.runs), column.single * v)
            means.append(mean * size)
            spreads.append(spread * size**2)
        weights = tuple(one.weight for one in self.strengths)
        values = np.stack([w @ mean for w, mean in zip(weights, means)], axis=1)
        second = [w @ (spread + mean**2) for w, spread, mean in zip(weights, spreads, means)]
        errors = np.sqrt(np.maximum(np.stack(second, axis=1) - values**2, 0.0))
        values = np.maximum(values, 0.0)
        detected = values >= self.detection
        return Amounts(
            values, errors, detected, self.names, self.units, tuple(means), tuple(spreads), weights
        )

    def judged(self, D: FloatArray, C: FloatArray, noise: FloatArray, runs: Any = None) -> Calibration:
        """With what it predicts for the samples that it was learned from, and for those beside them."""
        out = self.amounts(D, C, noise, runs)
        low, high = out.intervals()
        return replace(self, predicted=out.values, low=low, high=high)

    # What a chemist asks for

    @property
    def slopes(self) -> FloatArray:
        own = self._coefficients(0)
        return own * self.sizes / self.scale[list(self.components)]

    @property
    def blanks(self) -> FloatArray:
        return self._coefficients(len(self.scale)) * self.sizes

    @property
    def blank_odds(self) -> FloatArray:
        blank = self.blocks.of[len(self.scale)]
        return np.array([float(one.weight @ (one.tau[:, blank] > 0)) for one in self.strengths])

    @property
    def deviation(self) -> FloatArray:
        """(known,) standard deviation of a sample's amount, the coefficients known."""
        shared = [float(one.weight @ fits.shared) for one, fits in zip(self.strengths, self.fits)]
        return np.sqrt(np.array(shared) + [column.single for column in self.columns]) * self.sizes

    @property
    def detection(self) -> FloatArray:
        return DETECTED * self.deviation

    @property
    def quantification(self) -> FloatArray:
        return QUANTIFIED * self.deviation

    @property
    def solver_detection(self) -> FloatArray:
        """(known,) the solver's own limits, in units."""
        return self.solver_limits * np.abs(self.slopes)

    @property
    def rmsec(self) -> FloatArray:
        assert self.predicted is not None
        return np.sqrt(np.nanmean(np.square(self.predicted - self.known), axis=0))

    @property
    def rmsep(self) -> FloatArray:
        squares = np.square(self.left_out - self.known)
        present = ~np.isnan(squares)
        mean = np.nansum(squares, axis=0) / np.maximum(present.sum(axis=0), 1)
        return np.where(present.any(axis=0), np.sqrt(mean), np.nan)

    @property
    def n_mixtures(self) -> NDArray[np.intp]:
        """(known,) mixtures of known amount."""
        return np.array([len(column.y) for column in self.columns])

    def table(self) -> pd.DataFrame:
        """One row per known component."""
        return pd.DataFrame(
            {
                "name": self.names,
                "unit": self.units,
                "component": self.components,
                "correlation": self.correlations,
                "mixtures": self.n_mixtures,
                "slope": self.slopes,
                "RMSEC": self.rmsec,
                "RMSEP": self.rmsep,
                "LOD": self.detection,
                "LOQ": self.quantification,
                "solver's limit": self.solver_detection,
                "blank": self.blanks,
            }
        )

    def notes(self) -> list[str]:
        """What the table does not tell, a sentence each."""
        n = len(np.unique(self.mixture[~np.isnan(self.known).all(axis=1)]))
        told = [
            f"Learned from {n} mixtures of known amount; errors and intervals count a mixture's replicates once."
        ]
        if self.cleaned:
            told.append("Replicates told part of the noise, which is taken off.")
        elif self.coordinates.T is None:
            told.append("Amounts go by decoded concentrations: what a sample does not hold counts as none.")
        for name, odds in zip(self.names, self.blank_odds):
            if odds > 0.5:
                told.append(
                    f"{name} reads more or less than none where there is none: a blank is allowed for."
                )
        if np.isnan(self.rmsep).any():
            told.append("RMSEP needs amounts of at least three mixtures.")
        if self.runs:
            told.append(
                f"Slopes may differ between {len(self.runs)} runs; a run not seen is as unsure as they differ."
            )
        return told

    def __repr__(self) -> str:
        return f"<Calibration: {', '.join(self.names)} from {int(self.n_mixtures.max())} mixtures>"

    def __str__(self) -> str:
        table = self.table()
        rows = [[cell(value) for value in row] for row in table.itertuples(index=False)]
        return "\n".join([*aligned([list(map(str, table.columns)), *rows], left=(0, 1)), "", *self.notes()])

    def _repr_html_(self) -> str:
        return text_html("Calibration", self.table(), self.notes())

    def _coefficients(self, feature: int) -> FloatArray:
        means = [float(one.weight @ fits.mean[:, feature]) for one, fits in zip(self.strengths, self.fits)]
        return np.array(means)
