"""Which of many samples a search sees: those whose bytes hash lowest.

Whether a sample is drawn depends on what it holds and on how many are wanted, and not on where it stands, in
which block it comes, or who looks at it first: so the same are drawn however a table is cut up. Copies of a
sample hash alike; they are one, with a count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gmcr.threads import deal
from gmcr.validation import FloatArray
from gmcr.window.remembering import storable

LEAST = 1024  # rows that are worth another thread
_SEED, _ODD = (
    np.uint64(0x243F6A8885A308D3),
    np.uint64(0x9E3779B97F4A7C15),
)  # digits of pi; of the golden ratio
_MIX, _NAN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x7FF8000000000000)
_FAR, _HALF = np.uint64(29), np.uint64(32)


@storable
@dataclass(frozen=True, eq=False)
class Drawn:
    """Samples that were drawn from many, in the order of their hashes, each distinct one once.

    hashes : (drawn,) of their bytes;  counts : (drawn,) how often each was met;  rows : (drawn, channels)
    places : (drawn,) where each stands, the first of its copies
    misfit : (drawn,) how far each is from explained, where that is why it was drawn
    """

    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    rows: FloatArray
    misfit: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, places: NDArray[np.int64], hashes: Any = None, misfit: Any = None) -> Drawn:
        """All of these samples (rows, channels)."""
        hashes = row_hashes(rows) if hashes is None else hashes
        return cls.each(rows, places, hashes, misfit)._merged()

    @classmethod
    def each(
        cls, rows: FloatArray, places: NDArray[np.int64], hashes: NDArray[np.uint64], misfit: Any = None
    ) -> Drawn:
        """All of these samples, copies by themselves."""
        misfit = np.zeros(len(rows)) if misfit is None else misfit
        return cls(hashes, np.ones(len(rows), np.int64), places, rows, misfit)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> Drawn:
        parts = (self.hashes, self.counts, self.places, self.rows, self.misfit)
        return Drawn(*(part[which] for part in parts))

    def __add__(self, other: Drawn) -> Drawn:
        """Those of both, each distinct one once."""
        return self._with(other)._merged()

    def beside(self, other: Drawn) -> Drawn:
        """Those of both, copies by themselves, in the order of their places."""
        both = self._with(other)
        return both[np.argsort(both.places, kind="stable")]

    def without(self, others: Drawn) -> Drawn:
        """Those that are not among others."""
        return self[~np.isin(self.hashes, others.hashes)]

    def _with(self, other: Drawn) -> Drawn:
        if not len(other) or not len(self):
            return self if len(self) else other
        names = ("hashes", "counts", "places", "rows", "misfit")
        return Drawn(*(np.concatenate([getattr(one, name) for one in (self, other)]) for name in names))

    def _merged(self) -> Drawn:
        """Copies made one, of the lowest place and the largest misfit."""
        if not len(self):
            return self
        order = np.lexsort((self.places, self.hashes))
        one = self[order]
        starts = np.flatnonzero(np.append(True, one.hashes[1:] != one.hashes[:-1]))
        counts, misfit = np.add.reduceat(one.counts, starts), np.maximum.reduceat(one.misfit, starts)
        return Drawn(one.hashes[starts], counts, one.places[starts], one.rows[starts], misfit)


def row_hashes(X: FloatArray) -> NDArray[np.uint64]:
    """A hash of each row's bytes, (rows,): the same for equal numbers, be they 0 or −0, and for any NaN."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    out = np.empty(len(X), np.uint64)
    deal(_hash, len(X), LEAST, X, X.view(np.uint64), out)
    return out


@njit(cache=True, nogil=True)
def _hash(X, bits, out, start, stop):
    for m in range(start, stop):
        total = _SEED
        for l in range(X.shape[1]):
            x = X[m, l]
            own = _NAN if x != x else np.uint64(0) if x == 0.0 else bits[m, l]
            total = (total ^ own) * _ODD
            total ^= total >> _FAR
        total *= _MIX
        out[m] = total ^ (total >> _HALF)


def below(hashes: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Which samples are drawn where this share of all is wanted."""
    return hashes < np.uint64(min(share, 1.0) * (2.0**64 - 2048.0))
