"""Those who listen to a run: the progress display, the caller's own function, and the keeper of an R² band."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gmcr.window.path import Row
from gmcr.window.problem import State

Listener = Callable[[Row, State], None]


def together(listeners: list[Listener]) -> Listener:
    """One listener that tells them all, in this order."""

    def tell(row: Row, state: State) -> None:
        for listener in listeners:
            listener(row, state)

    return tell


class Callback:
    """Shows the caller's function each row; once it has asked to stop by KeyboardInterrupt, it is left alone."""

    def __init__(self, function: Callable[[Row], object]) -> None:
        self._function = function
        self._stopped = False

    def __call__(self, row: Row, state: State) -> None:
        if self._stopped:
            return
        try:
            self._function(row)
        except KeyboardInterrupt:
            self._stopped = True
            raise


class BandKeeper:
    """Keeps the cheapest state whose R² lies within a band."""

    def __init__(self, band: tuple[float, float]) -> None:
        self.band = band
        self.state: State | None = None
        self.level = -1
        self.seen: list[float] = []
        self._lowest = np.inf

    def __call__(self, row: Row, state: State) -> None:
        low, high = self.band
        if low <= row.r2 <= high and row.cost < self._lowest:
            self._lowest, self.state, self.level = row.cost, state, len(self.seen)
        self.seen.append(row.r2)


@contextmanager
def progress(shown: bool) -> Iterator[list[Listener]]:
    """A line on standard error that follows the run, if `shown` and where that is a terminal."""
    if not shown:
        yield []
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield []
        return
    with console.status("starting") as status:
        level = 0

        def show(row: Row, state: State) -> None:
            nonlocal level
            level += 1
            status.update(
                f"level {level} ({row.stage}): {row.count} components, R² {row.r2:.4f}, noise {row.noise:.3g}"
            )

        yield [show]
