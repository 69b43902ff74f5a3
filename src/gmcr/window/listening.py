"""A run of the solver with everyone who listens to it: progress, the caller's function, R² band."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from gmcr.errors import InputError
from gmcr.noise import degrees_of_freedom, estimate_noise
from gmcr.threads import threads
from gmcr.validation import FloatArray
from gmcr.window.descent import Listener, Row
from gmcr.window.problem import State
from gmcr.window.search import Options
from gmcr.window.solver import Solution, solve

SMALL_TABLE = 200_000  # entries up to which one thread is faster than two: less work than waking the other


def run(
    D: FloatArray,
    options: Options,
    repeats: FloatArray,
    *,
    r2_band: tuple[float, float] | None = None,
    callback: Callable[[Row], object] | None = None,
    shown: bool = False,
    n_jobs: int | None = None,
) -> Solution:
    """Solve for the samples D (distinct, checked), each row of the path shown to all who asked for it."""
    band = None if r2_band is None else BandKeeper(r2_band)
    if band is not None:
        options = replace(options, thinned=False)  # a band's solution must be one of all samples
    if n_jobs is None and D.size <= SMALL_TABLE:
        n_jobs = 1
    ended = False  # by the caller's function, which is then left alone

    def tell(row: Row, state: State) -> None:
        nonlocal ended
        for listener in (band, display):
            if listener is not None:
                listener(row, state)
        # The caller's function last: it may end the run, and the others should have seen the row by then.
        if callback is not None and not ended:
            try:
                callback(row)
            except KeyboardInterrupt:
                ended = True
                raise

    with threads(n_jobs), progress(shown) as display:
        solution = solve(D, options, repeats, tell)
    return solution if band is None else _in_band(solution, band, D, options, repeats)


class BandKeeper:
    """Keeps the cheapest state whose R² lies within a band, and the level it was met at."""

    def __init__(self, band: tuple[float, float]) -> None:
        self.band = band
        self.seen: list[float] = []
        self.state: State | None = None
        self.level = -1
        self._lowest = np.inf

    def __call__(self, row: Row, state: State) -> None:
        low, high = self.band
        if low <= row.r2 <= high and row.cost < self._lowest:
            self._lowest, self.state, self.level = row.cost, state, len(self.seen)
        self.seen.append(row.r2)


@contextmanager
def progress(shown: bool) -> Iterator[Listener | None]:
    """A line on standard error that follows the run, if `shown` and where that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield None
        return
    with console.status("starting") as status:
        level = 0

        def show(row: Row, state: State) -> None:
            nonlocal level
            level += 1
            status.update(
                f"level {level} ({row.stage}): {row.count} components, R² {row.r2:.4f}, noise {row.noise:.3g}"
            )

        yield show


def _in_band(
    solution: Solution, band: BandKeeper, D: FloatArray, options: Options, repeats: FloatArray
) -> Solution:
    """The solution with the band's cheapest state in place of the chosen one.

    Its law is the one that the state's residuals speak for, at the level that the state was found with.
    """
    if band.state is None:
        raise InputError(
            f"no solution of the path has R² within {band.band[0]:g} to {band.band[1]:g}; "
            f"the path goes from {min(band.seen):.4f} to {max(band.seen):.4f}."
        )
    state = band.state
    fit, learned = state.C @ state.S, state.S[options.constraints.n_fixed :]
    weights = repeats / state.sigma.per_sample() ** 2
    dof = degrees_of_freedom(D, state.C, learned if len(learned) else None, weights)
    assert isinstance(options.noise, str)  # a band is not chosen where the noise is known
    law = estimate_noise(D, fit, dof, options.noise)
    return replace(
        solution,
        state=state,
        law=law.scaled(state.sigma.typical / law.sigma(D, fit).typical),
        chosen=band.level,
        evidence=replace(solution.evidence, count=state.count, decided_by="you"),
    )
