"""`calibrate`: known amounts of some samples, and the calibration that they speak for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gmcr.calibration.assignment import assigned
from gmcr.calibration.coordinates import Coordinates, cleaned_map, group_means, plain_map, replicate_variance
from gmcr.calibration.features import blocks_of, features
from gmcr.calibration.known import LEAST, amounts_of, check_known, check_units, mixtures_of
from gmcr.calibration.pooling import Column, Strengths, fit_at, likeliest, weighed
from gmcr.calibration.result import Calibration
from gmcr.errors import InputError
from gmcr.validation import FloatArray, as_labels

FOLDS = 10  # at most, of mixtures left out
ROUNDS = 2  # of coefficients and the error of a single sample, which goes by them
SAME = 1e-6  # relative difference of variances that is rounding
EXACT = 1e-6  # smallest error of a single sample, over the size of the amounts: rounding


def calibrate(
    D: FloatArray,
    S: FloatArray,
    C: FloatArray,
    noise: FloatArray,
    errors: FloatArray,
    known: Any,
    *,
    units: Any = None,
    replicates: Any = None,
    runs: Any = None,
    components: Any = None,
    limits: FloatArray | None = None,
    inflation: float = 1.0,
) -> Calibration:
    """Learn amounts from samples whose amounts are known.

    Parameters
    ----------
    D : (samples, channels) samples;  S : (components, channels) profiles
    C : (samples, components) decoded concentrations;  errors : the same, their standard errors
    noise : (samples,) standard deviations
    known : (samples, known) amounts, NaN where not known: a DataFrame with names, a dict of columns, an array
    units : of the amounts, a text, or texts by name
    replicates : (samples,) labels of mixtures; by default samples of a run with the same known amounts
        are one mixture
    runs : (samples,) labels of runs whose slopes may differ (matrix effects)
    components : component by name, where known does not tell
    limits : (components,) the solver's own detection limits
    inflation : of variances, by correlated noise
    """
    names, amounts = check_known(known, len(D), len(S))
    told = check_units(units, names)
    labels = None if runs is None else as_labels(runs, len(D), "runs").astype(str)
    mixture = mixtures_of(amounts, replicates, labels)
    by_mixture = amounts_of(amounts, mixture, names)
    all_told = replicates is not None or amounts.shape[1] == len(S)
    if labels is not None and len({*zip(mixture, labels)}) > mixture.max() + 1:
        raise InputError(
            "runs differ between replicates of one mixture; give replicates labels of their own."
        )
    numbers = mixture if replicates is not None else np.where(np.isnan(amounts).any(axis=1), -1, mixture)
    complete = np.where(np.isnan(D), C @ S, D)
    own = np.square(noise)
    typical = float(np.mean(own[~np.isnan(amounts).all(axis=1)]))
    way, cleaned = _coordinates(complete, S, C, errors, inflation * typical, numbers if all_told else None)
    F = way.of(complete, C)
    order, along = assigned(group_means(F, mixture), by_mixture, names, components)
    problem = _Problem(F, way.covariance, mixture, by_mixture, order, labels, own / typical)
    columns = problem.columns()
    strengths = weighed(columns, problem.blocks)
    calibration = Calibration(
        names=names,
        units=told,
        components=tuple(problem.order.tolist()),
        correlations=along,
        coordinates=way,
        scale=problem.scale,
        sizes=problem.sizes,
        blocks=problem.blocks,
        columns=tuple(columns),
        strengths=tuple(strengths),
        typical=typical,
        runs=problem.run_names,
        solver_limits=np.full(len(names), np.nan) if limits is None else limits[problem.order],
        known=amounts,
        mixture=mixture,
        left_out=problem.left_out(columns, strengths),
        cleaned=cleaned,
    )
    return calibration.judged(complete, C, noise, labels)


def _coordinates(
    D: FloatArray, S: FloatArray, C: FloatArray, errors: FloatArray, variance: float, group: Any
) -> tuple[Coordinates, bool]:
    """The coordinates with the smaller errors, linear in the sample or decoded; whether replicates told noise.

    Linear ones have all of what a sample says. Where samples hold few of many components, those that are decoded
    as absent have no error at all. Replicates tell the errors of both, else the noise does.
    """
    held = C != 0
    told = np.square(errors).sum(axis=0) / np.maximum(held.sum(axis=0), 1)
    size = np.maximum(np.mean(np.square(C), axis=0), np.finfo(float).tiny)
    linear = Coordinates(plain_map(S), (variance * np.linalg.pinv(S @ S.T)).astype(np.float64))
    decoded, noise = Coordinates(None, np.diag(told)), told * held.mean(axis=0)
    learned = None if group is None else cleaned_map(D, S, group)
    if learned is not None:
        linear, noise = Coordinates(*learned), replicate_variance(C, group)
    fewer = (noise / size).sum() < (np.diag(linear.covariance) / size).sum() * (1 - SAME)
    return (decoded, False) if fewer else (linear, learned is not None)


class _Problem:
    """The regression for each column of known amounts.

    F : (samples, components) coordinates;  W : (components, components) covariance of a single sample's error
    mixture, labels, v : (samples,) mixture, run and relative variance;  amounts : (mixtures, known)
    order : (known,) the component of each column
    """

    def __init__(
        self,
        F: FloatArray,
        W: FloatArray,
        mixture: NDArray[np.intp],
        amounts: FloatArray,
        order: NDArray[np.intp],
        labels: NDArray[Any] | None,
        v: FloatArray,
    ) -> None:
        self.F, self.W, self.mixture, self.amounts, self.order = F, W, mixture, amounts, order
        self.labels, self.v = labels, v
        self.scale = np.sqrt(np.mean(np.square(F), axis=0))
        self.scale[self.scale == 0] = 1.0
        self.sizes = np.sqrt(np.nanmean(np.square(amounts), axis=0))
        self.run_names = () if labels is None else tuple(np.unique(labels).tolist())
        self.blocks = blocks_of(F.shape[1], len(self.run_names))

    def columns(self) -> list[Column]:
        """What there is to learn from; errors of single samples go by the coefficients."""
        weight = 1.0 / self.v
        total = np.bincount(self.mixture, weight)
        means = group_means(self.F, self.mixture, weight)
        runs = None
        if self.labels is not None:
            runs = np.empty(len(means), dtype=object)
            runs[self.mixture] = self.labels
        columns = []
        for a, j in enumerate(self.order):
            rows = ~np.isnan(self.amounts[:, a])
            X = features(
                means[rows] / self.scale, int(j), None if runs is None else runs[rows], self.run_names
            )
            columns.append(Column(X, self.amounts[rows, a] / self.sizes[a], 1.0 / total[rows], 1.0))
        columns = [self._at(column, int(j), None) for column, j in zip(columns, self.order)]
        for _ in range(ROUNDS):
            strengths = likeliest(columns, self.blocks)
            columns = [self._at(*one) for one in zip(columns, map(int, self.order), strengths)]
        return columns

    def _at(self, column: Column, j: int, strengths: Strengths | None) -> Column:
        """The column with the error of a single sample that its coefficients make of the coordinates' errors."""
        K = self.F.shape[1]
        if strengths is None:
            beta = np.zeros(K)
            beta[0] = max(float(column.X[:, 0] @ column.y), 0.0) / max(
                float(column.X[:, 0] @ column.X[:, 0]), 1e-300
            )
        else:
            tau = self.blocks.by_feature(strengths.tau)
            beta = fit_at(column, strengths.ratio, tau).mean[0, :K]
        order = [j, *(k for k in range(K) if k != j)]
        b = beta / self.scale[order]
        single = max(float(b @ self.W[np.ix_(order, order)] @ b), EXACT**2)
        return Column(column.X, column.y, column.noise * (single / column.single), single)

    def left_out(self, columns: list[Column], strengths: list[Strengths]) -> FloatArray:
        """(samples, known) amounts of samples predicted without their mixture, NaN where they are not known.

        Strengths are those of all mixtures: they are few, and hardly know any single one.
        """
        out = np.full((len(self.F), len(self.order)), np.nan)
        for a, (j, column, one) in enumerate(zip(self.order, columns, strengths)):
            told = np.flatnonzero(~np.isnan(self.amounts[:, a]))
            tau = self.blocks.by_feature(one.tau)
            for fold in range(min(FOLDS, len(told)) if len(told) > LEAST else 0):
                rest = np.delete(np.arange(len(told)), np.s_[fold::FOLDS])
                part = Column(column.X[rest], column.y[rest], column.noise[rest], column.single)
                rows = np.isin(self.mixture, told[fold::FOLDS])
                labels = None if self.labels is None else self.labels[rows]
                X = features(self.F[rows] / self.scale, int(j), labels, self.run_names)
                out[rows, a] = one.weight @ fit_at(part, one.ratio, tau).mean @ X.T * self.sizes[a]
        return np.maximum(out, 0.0)
