"""Runs that are not in the results folder yet: measured in parallel, one thread each, kept as they end."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from gmcr_paper.results import Arrays, Results, Settings, key


@dataclass(frozen=True)
class Outcome:
    """What one run measured: numbers, and arrays for figures."""

    result: dict[str, Any]
    arrays: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One cell: its settings, and roughly how many seconds it takes, for the order and the time left."""

    settings: Settings
    cost: float = 1.0


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why in one line."""

    settings: Settings
    reason: str


Measure = Callable[[Settings], Outcome]


def perform(runs: Sequence[Run], results: Results, measure: Measure, jobs: int = 1) -> list[Failure]:
    """Measure the runs that `results` does not hold, and keep each as soon as it ends.

    A run that fails is reported and left out; the others go on.

    Parameters
    ----------
    measure : function of a run's settings, importable by name so that other processes can call it
    jobs : number of processes; with one, everything happens in this process
    """
    missing = _missing(runs, results)
    failures: list[Failure] = []
    with progress(sum(run.cost for run in missing), len(missing)) as advance:
        for run, outcome, seconds in _measured(missing, measure, min(jobs, max(len(missing), 1))):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                results.add(run.settings, outcome.result, seconds, outcome.arrays)
            advance(run)
    return failures


def _missing(runs: Sequence[Run], results: Results) -> list[Run]:
    """Each run once, the longest first, so that no worker is left with a long one at the end."""
    once = {key(run.settings): run for run in runs if run.settings not in results}
    return sorted(once.values(), key=lambda run: -run.cost)


def _measured(
    runs: Sequence[Run], measure: Measure, jobs: int
) -> Iterator[tuple[Run, Outcome | Failure, float]]:
    if jobs == 1:
        yield from (_measure(run, measure) for run in runs)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config("loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch=jobs, return_as="generator_unordered")
        yield from parallel(delayed(_measure)(run, measure) for run in runs)


def _measure(run: Run, measure: Measure) -> tuple[Run, Outcome | Failure, float]:
    """One run on one thread, timed."""
    start = perf_counter()
    outcome: Outcome | Failure
    with one_thread(), quiet():
        try:
            outcome = measure(run.settings)
        except Exception as error:
            outcome = Failure(run.settings, f"{type(error).__name__}: {' '.join(str(error).split())}")
    return run, outcome, perf_counter() - start


@contextmanager
def quiet() -> Iterator[None]:
    """Within this, nothing is said: what a method tells of its convergence is for its user, not for a table."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)  # pyMCR's way to say that it has ended
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, linear algebra, compiled code and torch run on one thread."""
    from threadpoolctl import threadpool_limits

    from gmcr.threads import threads

    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 1
    if torch:
        torch.set_num_threads(1)
    try:
        with threads(1), threadpool_limits(1):
            yield
    finally:
        if torch:
            torch.set_num_threads(before)


@contextmanager
def progress(total: float, count: int) -> Iterator[Callable[[Run], None]]:
    """A bar with the time left, on standard error and only in a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), TextColumn("left"))
    shown = count > 0 and console.is_terminal
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not shown) as bar:
        task = bar.add_task(f"0 of {count} runs", total=total)
        done = 0

        def advance(run: Run) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=run.cost, description=f"{done} of {count} runs: {told(run.settings)}")

        yield advance


def told(settings: Settings) -> str:
    """A run's settings in a few words."""
    return " ".join(str(value) for value in settings.values())


def report(failures: Iterable[Failure]) -> list[str]:
    """One line per failure."""
    return [f"failed: {told(failure.settings)}: {failure.reason}" for failure in failures]
