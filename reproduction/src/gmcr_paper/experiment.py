"""What a table or figure of the paper consists of, and the statements of the paper that runs check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gmcr.errors import InputError
from gmcr_paper.figures import Figure
from gmcr_paper.methods import METHODS
from gmcr_paper.results import Arrays, Record, Results
from gmcr_paper.running import Run
from gmcr_paper.tables import Table

FIRST_SEED = 100  # seeds below it are for tuning
QUICK_POOL, QUICK_EPOCHS = 64, 3000  # of EB-gMCR, where minutes are all there is
FULL_POOL, FULL_EPOCHS = 1024, 100_000  # the paper's pool; its cap in the ablation


@dataclass(frozen=True)
class Asked:
    """The size of the runs and what the caller picked; None leaves the choice to the size.

    n : true counts; seeds : of data and methods; methods : names of `METHODS`; pool, epochs : of EB-gMCR
    """

    full: bool = False
    n: tuple[int, ...] | None = None
    seeds: tuple[int, ...] | None = None
    methods: tuple[str, ...] | None = None
    pool: int | None = None
    epochs: int | None = None

    def __post_init__(self) -> None:
        for seed in self.seeds or ():
            if seed < FIRST_SEED:
                raise InputError(
                    f"seed {seed} is for tuning; what is reported has seeds of at least {FIRST_SEED}."
                )
        for n in self.n or ():
            if n < 2:
                raise InputError(f"--n must be at least 2, not {n}.")
        for name in self.methods or ():
            if name not in METHODS:
                raise InputError(f"there is no method {name!r}; there are: {', '.join(METHODS)}.")

    def counts(self, quick: tuple[int, ...], full: tuple[int, ...]) -> tuple[int, ...]:
        return self.n or (full if self.full else quick)

    def seeded(self, quick: int, full: int) -> tuple[int, ...]:
        """The seeds asked for, or as many as the size has."""
        return self.seeds or tuple(range(FIRST_SEED, FIRST_SEED + (full if self.full else quick)))

    def wants(self, method: str) -> bool:
        return self.methods is None or method in self.methods

    def pooled(self, full_pool: int = FULL_POOL) -> dict[str, int]:
        """Pool and epochs of EB-gMCR."""
        pool, epochs = (full_pool, FULL_EPOCHS) if self.full else (QUICK_POOL, QUICK_EPOCHS)
        return {"pool": self.pool or pool, "epochs": self.epochs or epochs}

    def keeps(self, record: Record) -> bool:
        """Whether a run is among those asked for by name; what was not picked excludes nothing."""
        settings = record.settings
        return all(
            picked is None or name not in settings or settings[name] in picked
            for name, picked in (
                ("n", self.n),
                ("seed", self.seeds),
                ("pool", None if self.pool is None else (self.pool,)),
                ("epochs", None if self.epochs is None else (self.epochs,)),
            )
        )


class Found:
    """The finished runs that a table or figure is made from.

    keep : which of those asked for; all by default
    going : long runs that have a record and are not finished; only the table of these shows them
    """

    def __init__(
        self, results: Results, asked: Asked | None = None, keep: Callable[[Record], bool] | None = None
    ) -> None:
        self.results = results
        self.asked = asked or Asked()
        chosen = [r for r in results if self.asked.keeps(r) and (keep is None or keep(r))]
        self.records = [record for record in chosen if record["finished"] is not False]
        self.going = [record for record in chosen if record["finished"] is False]
        self._by_study: dict[str, list[Record]] = {}
        for record in self.records:
            self._by_study.setdefault(record["study"], []).append(record)

    def select(self, study: str, **where: Any) -> list[Record]:
        """The runs of a study with these settings, by seed."""
        chosen = [
            record
            for record in self._by_study.get(study, [])
            if all(record[name] == value for name, value in where.items())
        ]
        return sorted(chosen, key=lambda record: record["seed"])

    def values(self, name: str, study: str, **where: Any) -> list[Any]:
        """The different values a setting has among such runs, in order."""
        return sorted({record[name] for record in self.select(study, **where) if record[name] is not None})

    def arrays(self, record: Record) -> Arrays:
        return self.results.arrays(record)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, its value, and what was measured here.

    lines : where the paper says it
    holds : whether the measurement agrees; None where there is none
    why : what makes the difference, where it does not hold
    own : whether it is asked of gmcr rather than said by the paper
    solver : whether it is about the paper's own solver, held to runs of its size
    """

    statement: str
    lines: str
    paper: str
    ours: str
    holds: bool | None
    why: str = ""
    own: bool = False
    solver: bool = False


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    name : what the command line calls it
    title : what it is; lines : where the paper has it
    runs : the runs that a size asks for; shows : tables and figures from finished runs
    sets : real data sets it needs
    """

    name: str
    title: str
    lines: str
    runs: Callable[[Asked], list[Run]]
    shows: Callable[[Found], Sequence[Table | Figure]]
    sets: tuple[str, ...] = ()


def unmet(statement: str, lines: str, paper: str, own: bool = False) -> Claim:
    """A statement that nothing measured here speaks about."""
    return Claim(statement, lines, paper, "not run", None, own=own)


def waiting(found: Found, **where: Any) -> str:
    """What there is to say of runs that are not finished: how far they are, if they have begun."""
    going = [r for r in found.going if all(r[name] == value for name, value in where.items())]
    told = ", ".join(f"{record['epochs_run']:,} of {record['epochs']:,}" for record in going)
    return f"not finished: at epoch {told}" if going else "not run"
