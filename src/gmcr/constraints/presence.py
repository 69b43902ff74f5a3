"""Which sample, or which run, holds which component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gmcr.constraints.constraint import CONSTRAINTS
from gmcr.constraints.factor import Bounds, FactorConstraint, Held
from gmcr.constraints.known import check_shape, known_table
from gmcr.constraints.layout import Layout
from gmcr.constraints.zero_region import largest_in, zero_where
from gmcr.errors import InputError
from gmcr.validation import FloatArray, check_number, require

MARKS = {"1": 1.0, "0": 0.0, "?": np.nan}


@dataclass(frozen=True, eq=False)
class Presence(FactorConstraint):
    """Which sample holds which component: (samples, components) of 1, 0, and NaN where that is not known.

    runs : the same by the name of a run, {"blank": (1, 0)}, instead of `samples`. A zero is for all samples of
        the run, a one says that some sample of it holds the component
    least : what counts as there, over the component's largest concentration: a one holds at least so much. Where
        samples would rather have none of it, that is what they get
    """

    of: str = field(default="C", init=False)
    components: tuple[int, ...] | None = field(default=None, init=False)
    samples: Any = None
    runs: Mapping[str, Any] | None = None
    least: float = 1e-3

    kind = "presence"

    def __post_init__(self) -> None:
        if (self.samples is None) == (self.runs is None):
            raise InputError("Presence knows of samples, or of runs by name; give one of both.")
        what = "samples" if self.runs is None else "runs"
        rows = self.samples if self.runs is None else list(self.runs.values())
        values = known_table(rows, f"{what} of Presence")
        fine = bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())
        require(fine, f"{what} of Presence", "1, 0, or NaN where that is not known", rows)
        if self.runs is None:
            object.__setattr__(self, "samples", values)
        else:
            by_run = {str(name): tuple(row) for name, row in zip(self.runs, values.tolist())}
            object.__setattr__(self, "runs", by_run)
        fine = 0 < check_number(self.least, "least of Presence") < 1
        require(fine, "least of Presence", "a share between 0 and 1", self.least)

    @property
    def name(self) -> str:
        return self.kind

    @property
    def by_run(self) -> bool:  # type: ignore[override]
        return self.runs is not None

    @property
    def count(self) -> int:
        return len(self.samples[0]) if self.runs is None else len(next(iter(self.runs.values())))

    def bounds(self, shape: tuple[int, int], layout: Layout) -> Bounds:
        return zero_where(self._table(shape, layout) == 0)

    def held(self, shape: tuple[int, int], layout: Layout) -> list[Held]:
        if self.runs is None:
            told = np.argwhere(self._table(shape, layout) == 1).tolist()
            return [Held(j, np.array([m]), self.least) for m, j in told]
        places = {name: self._rows(name, layout) for name in self.runs}
        return [
            Held(j, places[name], self.least)
            for name, row in self.runs.items()
            for j, told in enumerate(row)
            if told == 1
        ]

    def violation(self, C: FloatArray, S: FloatArray, layout: Layout | None = None) -> float:
        """The largest share where there should be none, or the share that is lacking of the least."""
        layout = layout or Layout()
        table = self._table(C.shape, layout)
        sizes = np.maximum(np.abs(C).max(axis=0, initial=0.0), 1e-300)
        lacking = [
            one.share - float(np.abs(C[one.places, one.component]).max()) / sizes[one.component]
            for one in self.held(table.shape, layout)
        ]
        return max(largest_in(C, table == 0), max(lacking, default=0.0), 0.0)

    @classmethod
    def of_words(cls, words: list[str]) -> Presence:
        """The name of a run, and a 1, 0 or ? for each component."""
        marks = 0
        while marks < len(words) and words[-marks - 1] in MARKS:
            marks += 1
        name, told = (
            " ".join(words[: len(words) - marks]),
            [MARKS[word] for word in words[len(words) - marks :]],
        )
        if not name or not told:
            raise InputError(
                'presence takes the name of a run and 1, 0 or ? for each component, as in "presence blank 1 0".'
            )
        return cls(runs={name: told})

    def sentence(self) -> str:
        if self.runs is not None:
            return f"which components are in the run{'s' * (len(self.runs) > 1)} {', '.join(self.runs)}"
        told = int((~np.isnan(self.samples)).sum())
        return f"which sample holds which component is known for {told} entries"

    def _table(self, shape: tuple[int, ...], layout: Layout) -> FloatArray:
        """(samples, components) of 1, 0 and NaN; a one of a run is told by `held`."""
        if self.runs is None:
            check_shape(self, self.samples, shape)
            samples: FloatArray = self.samples
            return samples
        if self.count != shape[1]:
            raise InputError(f"presence knows of {self.count} components, and there are {shape[1]}.")
        table = np.full(shape, np.nan)
        for name, row in self.runs.items():
            table[self._rows(name, layout)] = np.where(np.equal(row, 0), 0.0, np.nan)
        return table

    def _rows(self, name: str, layout: Layout) -> Any:
        if layout.runs is None:
            raise InputError("presence speaks of runs; give fit runs=.")
        if name not in layout.names:
            raise InputError(
                f"presence speaks of the run {name!r:.40}, and runs are {', '.join(layout.names)}."
            )
        return np.flatnonzero(layout.runs == layout.names.index(name))


CONSTRAINTS.add(Presence.kind, Presence)
