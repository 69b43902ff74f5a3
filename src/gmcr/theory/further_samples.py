"""Samples that could be measured next, from the cheapest kind to the dearest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gmcr.constraints import Layout
from gmcr.validation import FloatArray

DILUTED = 10.0
CONSTANT = 0.3  # relative spread of amounts up to which a component is taken for a solvent or a matrix
STEPS_IN = 2  # samples from the end of a run to where its course is taken from
CHANGES = 3.0  # factor by which a component changes beyond the end of a run, at most


@dataclass(frozen=True, eq=False)
class Further:
    """A sample to measure: what it holds given all concentrations, and what it is surely without."""

    amounts: Callable[[FloatArray], FloatArray]
    absent: tuple[int, ...] = ()

    def of(self, C: FloatArray) -> FloatArray:
        """(components,) what it holds beside samples of concentrations C (samples, components)."""
        return np.where(np.isin(np.arange(C.shape[1]), self.absent), 0.0, self.amounts(C))


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of sample, or of two: its cost beside others, in words, and the samples."""

    kind: str
    cost: int
    words: str
    samples: tuple[Further, ...]


def kinds_of(C: FloatArray, members: NDArray[np.intp], names: list[str], layout: Layout) -> Iterator[Kind]:
    """What comes into question where the members, of all components, trade signal with each other.

    A component's profile is settled by a sample of it alone, and its concentrations by one without it that holds
    all others, as far as these do not make up for each other. Where neither closes half of a band, both do.
    """
    every = range(C.shape[1])
    for series in layout.series(len(C)):
        yield from _beyond_ends(series, layout)
    for j in map(int, members):
        if np.std(C[:, j]) < CONSTANT * np.mean(C[:, j]):
            words = f"one of the mixtures diluted {DILUTED:.0f} times, with as much {names[j]} as before"
            yield Kind("diluted", 1, words, (Further(partial(_diluted, j=j)),))
    without = {j: Further(_typical, (j,)) for j in map(int, members)}
    alone = {j: Further(_largest, tuple(k for k in every if k != j)) for j in map(int, members)}
    for j in without:
        others = [names[int(k)] for k in members if k != j]
        with_ = f" with {others[0]} and" if len(others) == 1 else ""
        yield Kind("without", 2, f"a sample{with_} without {names[j]}", (without[j],))
    if C.shape[1] > 2:
        for j in alone:
            yield Kind("alone", 3, f"a sample of {names[j]} alone", (alone[j],))
    for j in alone:
        words = f"a sample of {names[j]} alone, and one without it,"
        yield Kind("alone and without", 4, words, (alone[j], without[j]))


def _typical(C: FloatArray) -> FloatArray:
    return np.median(C, axis=0)


def _largest(C: FloatArray) -> FloatArray:
    return C.max(axis=0)


def _diluted(C: FloatArray, j: int) -> FloatArray:
    c = np.median(C, axis=0)
    return np.where(np.arange(len(c)) == j, c, c / DILUTED)


def _beyond_ends(series: NDArray[np.intp], layout: Layout) -> Iterator[Kind]:
    """A sample before the first of a run, and one after the last, as far off as the next but one is."""
    if layout.order is None or len(series) <= STEPS_IN:
        return
    run = "" if layout.runs is None else f" of run {layout.names[layout.runs[series[0]]]}"
    for word, rows in (("earlier", series), ("later", series[::-1])):
        end, inside = int(rows[0]), int(rows[STEPS_IN])
        at = 2 * layout.order[end] - layout.order[inside]
        words = f"an {word} time" if word == "earlier" else f"a {word} time"
        one = Further(partial(_course, end=end, inside=inside))
        yield Kind("time", 0, f"{words}{run}, {at:.4g},", (one,))


def _course(C: FloatArray, end: int, inside: int) -> FloatArray:
    """Amounts as far beyond the end as `inside` is within, each changing by the same factor again."""
    least = 1e-6 * float(np.abs(C[end]).max())
    factor = np.maximum(C[end], least) / np.maximum(C[inside], least)
    return np.maximum(C[end], 0.0) * np.clip(factor, 1.0 / CHANGES, CHANGES)
