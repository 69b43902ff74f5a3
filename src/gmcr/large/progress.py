"""Progress over blocks, with the time that is left, on standard error where that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown(what: str, n_blocks: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    """A bar for a pass, if `wanted`; called with the number of blocks that are done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not (wanted and console.is_terminal):
        yield lambda n_done: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=n_blocks)
        yield lambda n_done: bar.update(task, completed=n_done)
