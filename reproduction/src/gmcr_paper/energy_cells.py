"""What the tables of EB-gMCR share: which runs there are, what they are called, and their checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

from gmcr_paper.baselines.search import SUCCESS_BANDS
from gmcr_paper.experiment import FULL_POOL, Asked, Found
from gmcr_paper.results import Record
from gmcr_paper.running import Run

QUICK_N, FULL_N = (16, 32), (16, 32, 64)
SECONDS_PER_STEP = 0.008  # of one minibatch at pool 64 and 512 channels, roughly
BATCH = 64
REAL_POOL, REAL_EPOCHS = (
    128,
    100_000,
)  # the paper's pool on Carbs and NIR; from where on a run of these is long


def energy_run(asked: Asked, n: int, ratio: int, snr: int, seed: int, without: str = "nothing") -> Run:
    """A run of EB-gMCR on synthetic mixtures, and roughly how long it takes."""
    settings = {"study": "eb", "method": "eb", "n": n, "ratio": ratio, "snr": snr, "seed": seed}
    size = asked.pooled()
    steps = size["epochs"] * -(-ratio * n // BATCH)
    cost = SECONDS_PER_STEP * steps * max(1.0, size["pool"] / 64)
    return Run(settings | size | {"without": without}, cost)


class Size(NamedTuple):
    """How large a run of EB-gMCR is: its pool, the most epochs, and the samples of a minibatch."""

    pool: int
    epochs: int
    batch: int = BATCH

    def __str__(self) -> str:
        batch = "" if self.batch == BATCH else f", batches of {self.batch}"
        return f"pool {self.pool}, {self.epochs:,} epochs{batch}"

    @property
    def short(self) -> str:
        """The same for legends: pool × epochs."""
        batch = "" if self.batch == BATCH else f", by {self.batch}"
        return f"{self.pool} × {self.epochs / 1000:g}k{batch}"


def size_of(record: Record) -> Size:
    return Size(record["pool"], record["epochs"], record["batch"] or BATCH)


def is_small(record: Record) -> bool:
    """Whether it is a run of EB-gMCR below the paper's size: its pool, and on real data runs that go on."""
    if record["method"] != "eb":
        return False
    if record["study"] == "real":
        return record["pool"] < REAL_POOL or record["epochs"] < REAL_EPOCHS
    return record["pool"] < FULL_POOL


def sizes(found: Found, **where: Any) -> list[Size]:
    """The sizes that such runs had."""
    return sorted({size_of(record) for record in found.select("eb", **where)})


def of_size(found: Found, size: Size, **where: Any) -> list[Record]:
    return [record for record in found.select("eb", **where) if size_of(record) == size]


def held_to(found: Found, **where: Any) -> list[Record]:
    """Of each cell the runs that a statement is held to: the largest pool, in the smallest batches.

    The authors' own log has batches of 16, the text 64; where both were run, the one that goes further counts.
    """
    records = found.select("eb", **where)

    def cell(record: Record) -> tuple[Any, ...]:
        return tuple(record[name] for name in ("n", "ratio", "snr", "without"))

    def rank(record: Record) -> tuple[int, int, int]:
        size = size_of(record)
        return size.pool, -size.batch, size.epochs

    best: dict[tuple[Any, ...], tuple[int, int, int]] = {}
    for record in records:
        best[cell(record)] = max(rank(record), best.get(cell(record), rank(record)))
    return [record for record in records if rank(record) == best[cell(record)]]


def band_of(record: Record, low: float) -> dict[str, Any] | None:
    """The checkpoint a run kept in the band with this lower edge."""
    return next((band for band in record["bands"] if abs(band["low"] - low) < 1e-9), None)


def success_band(record: Record) -> dict[str, Any] | None:
    """The checkpoint of the band in which the search for a count succeeds."""
    return band_of(record, SUCCESS_BANDS[record["ratio"], record["snr"]][0])
