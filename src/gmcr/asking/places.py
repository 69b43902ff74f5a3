"""Which run each sample is in, and its place there: what --runs, --sheets and --order say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from gmcr.asking.known import column_of
from gmcr.asking.wrong import WrongOption

if TYPE_CHECKING:
    from gmcr.io.table import Table


@dataclass(frozen=True, eq=False)
class Places:
    """The run of each sample, and its place there, where that was told."""

    runs: list[str] | None = None
    order: list[float] | None = None


def read_places(order: str | None, runs: str | None, table: Table) -> Places:
    """What the options say; files and sheets of several samples are runs by themselves."""
    labels = _runs(runs, table)
    return Places(labels, _order(order, labels, table))


def _runs(text: str | None, table: Table) -> list[str] | None:
    if text is None:
        return None if table.runs is None else list(table.runs)
    if isinstance(table.metadata.get(text), list):
        return [str(label) for label in column_of(text, table)]
    n_samples = len(table.samples)
    try:
        sizes = [int(size) for size in text.split(",")]
    except ValueError:
        columns = [name for name, value in table.metadata.items() if isinstance(value, list)]
        there = (
            f"columns with a value per sample are: {', '.join(columns)}" if columns else "there is no column"
        )
        raise WrongOption(
            f"--runs must be a column of DATA, a number, or lengths with commas, not {text!r:.40}; {there}."
        ) from None
    if len(sizes) == 1 and sizes[0] > 0 and n_samples % sizes[0] == 0:
        sizes = [n_samples // sizes[0]] * sizes[0]
    if sum(sizes) != n_samples or min(sizes) < 1:
        raise WrongOption(f"--runs {text} does not divide {n_samples} samples; give the length of each run.")
    width = len(str(len(sizes)))  # so that runs are in their order by name too
    return [f"{number:0{width}}" for number, size in enumerate(sizes, 1) for _ in range(size)]


def _order(text: str | None, runs: list[str] | None, table: Table) -> list[float] | None:
    labels = [""] * len(table.samples) if runs is None else runs
    if text is None:
        return None
    if text == "rows":
        places = defaultdict[str, Iterator[int]](count)
        return [float(next(places[label])) for label in labels]
    if text == "names":
        from gmcr.io.several import own_name

        names = table.sample_names
        if names is None:
            raise WrongOption(
                "--order names needs samples that are named by numbers, and they have no names."
            )
        values = [own_name(name, label) for name, label in zip(names, table.runs or labels)]
    else:
        values = column_of(text, table)
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError) as error:
        raise WrongOption(f"--order {text} needs numbers, such as times ({error}).") from None
