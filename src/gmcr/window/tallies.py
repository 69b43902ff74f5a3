"""What a pass over many samples finds out: numbers, sums, and a few samples to keep, from each block of them.

What two blocks tell is added up, in whatever order they come; so a table is the same however it is cut up, to
rounding. All of it is small: a worker holds a block and one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from gmcr.decoder import is_explained
from gmcr.decoding.prices import ALPHA
from gmcr.noise import NoiseLaw
from gmcr.preprocessing import Chain
from gmcr.validation import LARGEST, FloatArray
from gmcr.window.drawing import Drawn, below, row_hashes
from gmcr.window.frozen_pool import FrozenPool
from gmcr.window.pool_update import Sums
from gmcr.window.remembering import storable

AT_ONCE = 4096  # samples of a block that are decoded at a time: what that takes beside the block stays small
STRANGERS = 1024  # samples that a pass brings back which the pool does not explain


class Told(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Told)


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the samples, as measured.

    rows : (samples, channels), those without any entry left out;  n_rows : how many there are with these
    places : (samples,) where they stand in the table
    """

    rows: FloatArray
    places: NDArray[np.int64]
    n_rows: int

    def parts(self) -> Iterator[Block]:
        """A few samples at a time."""
        for first in range(0, len(self.rows), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            yield Block(self.rows[part], self.places[part], len(self.places[part]))


class ManyRows(Protocol):
    """Samples that a fit goes over block by block."""

    @property
    def n_rows(self) -> int: ...

    def over(self, what: str, task: Callable[[Block], T]) -> T:
        """What a task tells of all blocks, added up; what : the pass is called."""


# The first pass


@storable
@dataclass(frozen=True, eq=False)
class Look:
    """What the first pass over samples, as measured, tells of them.

    n_rows, n_samples, n_held : rows, those that have any entry, those that hold anything
    present : (channels,) entries of each;  low, high : the smallest and the largest entry
    fingerprint : of all samples, in whatever order: another table has another one
    wrong : place, channel and value of the first entry that is no number to reckon with
    drawn : the samples that were drawn;  shown : those on the grid, in the order of their places
    """

    n_rows: int
    n_samples: int
    n_held: int
    present: NDArray[np.int64]
    low: float
    high: float
    fingerprint: int
    wrong: tuple[int, int, float] | None
    drawn: Drawn
    shown: Drawn

    def __add__(self, other: Look) -> Look:
        both = [one.wrong for one in (self, other) if one.wrong is not None]
        return Look(
            self.n_rows + other.n_rows,
            self.n_samples + other.n_samples,
            self.n_held + other.n_held,
            self.present + other.present,
            min(self.low, other.low),
            max(self.high, other.high),
            (self.fingerprint + other.fingerprint) % 2**64,
            min(both, default=None),
            self.drawn + other.drawn,
            self.shown.beside(other.shown),
        )


@dataclass(frozen=True)
class Grid:
    """Every so-many-th of the samples, along each of the dimensions that they are laid out in.

    shape : of all;  steps : along each dimension
    """

    shape: tuple[int, ...]
    steps: tuple[int, ...]

    def holds(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which places are on the grid."""
        each = zip(np.unravel_index(places, self.shape), self.steps)
        return np.all([along % step == 0 for along, step in each], axis=0)


def looked_at(block: Block, share: float, grid: Grid | None = None) -> Look:
    """What a block tells of itself; share : of the samples that is to be drawn;  grid : those to be shown."""
    first, *others = [_looked_at(part, share, grid) for part in block.parts()] or [
        _looked_at(block, share, grid)
    ]
    return replace(sum(others, first), n_rows=block.n_rows)


def _looked_at(block: Block, share: float, grid: Grid | None) -> Look:
    rows, places = block.rows, block.places
    held = np.nan_to_num(rows).any(axis=1)
    hashes = row_hashes(rows)
    finite = (np.abs(rows) <= LARGEST) | np.isnan(rows)
    wrong = None
    if not finite.all():
        m, channel = (int(place) for place in np.argwhere(~finite)[0])
        wrong = int(places[m]), channel, float(rows[m, channel])
    drawn = np.flatnonzero(below(hashes, share) & held)
    seen = np.flatnonzero(grid.holds(places)) if grid is not None else drawn[:0]
    some = len(rows) > 0
    return Look(
        block.n_rows,
        len(rows),
        int(held.sum()),
        (~np.isnan(rows)).sum(axis=0),
        float(np.nanmin(rows)) if some else np.inf,
        float(np.nanmax(rows)) if some else -np.inf,
        int(hashes.sum(dtype=np.uint64)),
        wrong,
        Drawn.of(rows[drawn], places[drawn], hashes[drawn]),
        Drawn.each(rows[seen], places[seen], hashes[seen]),
    )


# The passes that decode


@dataclass(frozen=True, eq=False)
class Asked:
    """What a pass asks of the samples.

    frozen : the pool that they are decoded over, and the price;  chain : steps before that
    law : of their noise;  weighed : whether entries weigh by it where the pool is refitted, or all alike
    n_samples : of all blocks
    """

    frozen: FrozenPool
    chain: Chain
    law: NoiseLaw
    weighed: bool
    n_samples: int

    def at(self, S: FloatArray) -> Asked:
        """The same over another pool."""
        return replace(self, frozen=replace(self.frozen, S=S))


@storable
@dataclass(frozen=True, eq=False)
class Variation:
    """Of samples about the means of their channels; added up as by Chan, Golub & LeVeque (1983).

    present : (channels,) entries;  mean : (channels,);  squares : (channels,) sums of squares about the means
    """

    present: FloatArray
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, D: FloatArray) -> Variation:
        present = (~np.isnan(D)).sum(axis=0).astype(float)
        mean = np.nansum(D, axis=0) / np.maximum(present, 1.0)
        return cls(present, mean, np.nansum(np.square(D - mean), axis=0))

    def __add__(self, other: Variation) -> Variation:
        present = self.present + other.present
        share, apart = other.present / np.maximum(present, 1.0), other.mean - self.mean
        squares = self.squares + other.squares + np.square(apart) * self.present * share
        return Variation(present, self.mean + apart * share, squares)


@storable
@dataclass(frozen=True, eq=False)
class Tally:
    """What samples tell of a pool.

    sums : what a refit of the pool needs
    response : (slots, slots) C'C, each sample in units of its noise;  holders : (slots,) samples that hold each
    n_samples, misfit, squares : samples, and what is left of them: its squares in noise units and as measured
    variation : of the samples about the means of their channels
    n_strange : samples that noise and the pool do not explain;  strangers : some of them, as measured
    """

    sums: Sums
    response: FloatArray
    holders: FloatArray
    n_samples: int
    misfit: float
    squares: float
    variation: Variation
    n_strange: int
    strangers: Drawn

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.sums + other.sums,
            self.response + other.response,
            self.holders + other.holders,
            self.n_samples + other.n_samples,
            self.misfit + other.misfit,
            self.squares + other.squares,
            self.variation + other.variation,
            self.n_strange + other.n_strange,
            _some(self.strangers + other.strangers),
        )

    def __mul__(self, factor: float) -> Tally:
        """As if each of the samples were there so many times."""
        numbers = ("sums", "response", "holders", "misfit", "squares")
        counts = {name: round(getattr(self, name) * factor) for name in ("n_samples", "n_strange")}
        variation = replace(
            self.variation,
            present=self.variation.present * factor,
            squares=self.variation.squares * factor,
        )
        times = {name: getattr(self, name) * factor for name in numbers}
        return replace(self, **times, **counts, variation=variation)

    @property
    def usage(self) -> int:
        return int(self.holders.sum())

    @property
    def r2(self) -> float:
        """R² about the means of the channels; NaN where none varies."""
        total = float(self.variation.squares.sum())
        return 1.0 - self.squares / total if total > 0 else float("nan")

    def criterion(self, price: float) -> float:
        """What decoding minimises (Eq. 3), over all samples."""
        return self.misfit + price * self.usage


def tallied(block: Block, asked: Asked) -> Tally:
    """What a block tells of a pool, a few of its samples at a time."""
    total = _tally(replace(block, rows=block.rows[:0], places=block.places[:0]), asked)
    for part in block.parts():
        total = total + _tally(part, asked)
    return total


def _tally(block: Block, asked: Asked) -> Tally:
    frozen, law = asked.frozen, asked.law
    n_slots, n_channels = frozen.S.shape
    if not len(block.rows):
        none = np.zeros((n_slots, n_slots))
        sums = Sums(none[:, :, None], np.zeros((n_slots, n_channels)))
        gone = Variation.of(np.zeros((0, n_channels)))
        strangers = Drawn.of(block.rows, block.places)
        return Tally(sums, none, np.zeros(n_slots), 0, 0.0, 0.0, gone, 0, strangers)
    D = asked.chain.apply(block.rows)
    out = frozen.decode_plain(D, law)
    C = out.concentrations
    fit = C @ frozen.S
    left = np.nan_to_num(D - fit)
    known = is_explained(
        out.misfit / (1.0 + frozen.leverage(out)), D, C, frozen.correlation, ALPHA / asked.n_samples
    )
    strange = np.flatnonzero(~known)
    return Tally(
        Sums.of(np.nan_to_num(D), C, _weights(D, fit, asked)),
        (scaled := C / out.noise[:, None]).T @ scaled,
        np.count_nonzero(C, axis=0).astype(float),
        len(D),
        float(out.misfit.sum()),
        float(np.square(left).sum()),
        Variation.of(D),
        len(strange),
        _some(Drawn.of(block.rows[strange], block.places[strange], misfit=out.misfit[strange])),
    )


def _weights(D: FloatArray, fit: FloatArray, asked: Asked) -> FloatArray:
    """Of the entries in a refit: (samples, 1), or (samples, channels) where they differ or some are missing."""
    law = asked.law
    W = np.ones((len(D), 1))
    if asked.weighed:
        W = 1.0 / np.square(law.sigma(D, fit if law.per_entry else None).entries)
    missing = np.isnan(D)
    return np.where(missing, 0.0, W) if missing.any() else W


def _some(strangers: Drawn) -> Drawn:
    """Half of those that are kept are the least explained, half are drawn by their hashes from the others."""
    if len(strangers) <= STRANGERS:
        return strangers
    worst = np.argsort(-strangers.misfit, kind="stable")[: STRANGERS // 2]  # of equals, those of low hashes
    kept = np.zeros(len(strangers), dtype=bool)
    kept[worst] = True
    kept[: STRANGERS // 2] = True  # they are in the order of their hashes
    return strangers[kept]
