"""Progress of a run: a bar with the time left, and the caller's function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

Listener = Callable[[dict[str, float]], object]


@contextmanager
def listening(
    callback: Callable[[Any], object] | None, shown: bool, max_epochs: int, done: int
) -> Iterator[Listener]:
    """What is called with each epoch's row: the bar (on standard error, in a terminal), then the callback.

    done : epochs that were run before
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("epochs"), TimeRemainingColumn())
    what = TextColumn("{task.description}")
    with Progress(*columns, what, console=console, disable=not (shown and console.is_terminal)) as bar:
        task = bar.add_task("", total=max_epochs, completed=done)

        def tell(row: dict[str, float]) -> None:
            text = f"{row['count']:.0f} components, R² {row['r2']:.4f}, usage {row['usage']:.0f}"
            bar.update(task, completed=row["epoch"] + 1, description=text)
            if callback is not None:
                callback(SimpleNamespace(**row))

        yield tell
