"""Decoding of lazy samples: dask arrays in, dask arrays out, block by block.

A block is decoded by what the model has learned alone, so that its answer does not depend on the others: price,
noise law and pool are those of the fit. All that is found out about a block comes in one array, of which the
parts of a `LazyDecoding` are columns: whoever computes several of them at once has each block decoded once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray

from gmcr.calibration import Amounts, Calibration
from gmcr.confidence.standard_errors import interval
from gmcr.decoder import Decoding
from gmcr.errors import InputError
from gmcr.large.arrays import LazySamples, rows_of
from gmcr.noise import NoiseLaw, Sigma
from gmcr.preprocessing import Chain
from gmcr.preprocessing.told_noise import noise_after
from gmcr.threads import threads
from gmcr.validation import FloatArray, is_lazy
from gmcr.window.frozen_pool import Noise
from gmcr.window.learned import Learned
from gmcr.window.pool_confidence import Judge

FACTS = ("residual", "misfit", "margin", "noise", "known")  # columns behind the concentrations


@dataclass(frozen=True, eq=False)
class Decoder:
    """All that a block's samples need to be decoded; it goes to every worker once.

    chain : the steps that samples go through first;  order : of the channels that they start from, if it changes
    noise : after the steps, where none comes with the samples;  n_jobs : threads of a block
    """

    learned: Learned
    chain: Chain
    noise: NoiseLaw | float
    order: NDArray[np.intp] | None = None
    calibration: Calibration | None = None
    n_jobs: int = 1

    @property
    def width(self) -> int:
        """Columns of what `decoded` tells."""
        return len(self.learned.frozen.S) + len(FACTS)

    @property
    def plain(self) -> Decoder:
        """The same without what tells how sure supports are, which may be large."""
        frozen = self.learned.frozen
        return replace(self, learned=Learned(frozen, Judge(frozen), np.zeros((0, len(frozen.S)))))

    def prepared(self, raw: FloatArray, told: tuple[FloatArray, ...]) -> tuple[FloatArray, Noise]:
        """Samples as measured, and the noise that was told of them, after the steps."""
        raw = raw if self.order is None else raw[:, self.order]
        samples = self.chain.apply(raw)
        if not told:
            noise = self.noise
            return samples, noise if isinstance(noise, NoiseLaw) else Sigma.given(noise, samples)
        given = told[0] if told[0].shape[1] > 1 else told[0][:, 0]
        given = given[:, self.order] if given.ndim == 2 and self.order is not None else given
        return samples, Sigma.given(noise_after(self.chain, given, raw), samples)

    def decoded(self, raw: FloatArray, *told: FloatArray) -> FloatArray:
        """Concentrations and facts: (samples, width)."""
        samples, noise = self.prepared(raw, told)
        out = self.learned.frozen.decode(samples, noise)
        return np.column_stack([out.concentrations, *(getattr(out, name) for name in FACTS)])

    def confidence(self, raw: FloatArray, facts: FloatArray, *told: FloatArray) -> FloatArray:
        samples, noise = self.prepared(raw, told)
        return self.learned.confidence(samples, self._as_decoding(facts), noise)[:, None]

    def errors(self, raw: FloatArray, facts: FloatArray, *told: FloatArray) -> FloatArray:
        samples, noise = self.prepared(raw, told)
        return self.learned.errors(samples, self._as_decoding(facts), noise)

    def amounts(self, level: float, raw: FloatArray, facts: FloatArray, *told: FloatArray) -> FloatArray:
        """Values, errors, whether detected, and both ends of the intervals: (samples, five times known)."""
        out = self._as_decoding(facts)
        samples = self.prepared(raw, told)[0]
        found = self.amounts_of(samples, out)
        return np.column_stack([found.values, found.errors, found.detected, *found.intervals(level)])

    def amounts_of(self, samples: FloatArray, out: Decoding) -> Amounts:
        assert self.calibration is not None
        complete = np.where(np.isnan(samples), out.concentrations @ self.learned.frozen.S, samples)
        return self.calibration.amounts(complete, out.concentrations, out.noise, None)

    def _as_decoding(self, facts: FloatArray) -> Decoding:
        n = len(self.learned.frozen.S)
        told = dict(zip(FACTS, facts[:, n:].T))
        return Decoding(np.ascontiguousarray(facts[:, :n]), **(told | {"known": told["known"] > 0}))


@dataclass(frozen=True, repr=False)
class LazyDecoding(Decoding):
    """What lazy samples hold: a `Decoding` whose arrays are dask's.

    They are (samples,) and (samples, slots), or (y, x) and (y, x, slots) for an image. A sample without any entry
    has NaN everywhere, and is not known. What is computed together is decoded once:
    `dask.compute(out.concentrations, out.known)`.
    """

    signed: bool = False  # whether concentrations may be negative

    @property
    def supports(self) -> Any:
        """(samples, slots): which slots each sample holds."""
        return abs(self.concentrations) > 0

    def intervals(self, level: float = 0.95) -> Any:
        """Lower and upper ends of the concentrations' intervals, (samples, slots) each, NaN where not held."""
        n = self.concentrations.shape[-1]
        both = over_blocks(partial(_ends, level, self.signed), 2 * n, self.concentrations, self.errors)
        return both[..., :n], both[..., n:]

    def __repr__(self) -> str:
        C: Any = self.concentrations
        return f"<Decoding: {' x '.join(map(str, C.shape[:-1]))} samples in {C.npartitions} blocks, not computed>"

    def _repr_html_(self) -> str:
        return repr(self).replace("<", "&lt;").replace(">", "&gt;")


@dataclass(frozen=True, eq=False, repr=False)
class LazyAmounts:
    """Amounts of lazy samples in units: dask arrays (samples, known), as those of `Amounts`."""

    values: Any
    errors: Any
    detected: Any
    names: tuple[str, ...]
    units: tuple[str, ...]
    find_intervals: Callable[[float], tuple[Any, Any]]

    def intervals(self, level: float = 0.95) -> tuple[Any, Any]:
        """Lower and upper ends, (samples, known) each; they contain the calibration's own error."""
        return self.find_intervals(level)

    def __repr__(self) -> str:
        return (
            f"<Amounts: {', '.join(self.names)} of samples in {self.values.npartitions} blocks, not computed>"
        )


def decoded(
    samples: LazySamples, decoder: Decoder, learn: Callable[[], None], noise: Any = None
) -> LazyDecoding:
    """The decoding of lazy samples.

    learn : called before confidence is asked for the first time;  noise : (samples,) or of the samples' own shape
    """
    D, told = samples.data, () if noise is None else (_beside(noise, samples.data),)
    plain = _delayed(decoder.plain)
    n = len(decoder.learned.frozen.S)
    facts = over_blocks(Decoder.decoded, decoder.width, D, *told, how=plain)

    def confidence() -> Any:
        learn()
        return over_blocks(Decoder.confidence, 1, D, facts, *told, how=_delayed(decoder))[..., 0]

    def errors() -> Any:
        return over_blocks(Decoder.errors, n, D, facts, *told, how=_delayed(decoder))

    def amounts() -> Any:
        assert decoder.calibration is not None
        names, units = decoder.calibration.names, decoder.calibration.units

        def at(level: float) -> list[Any]:
            width = len(names)
            whole = over_blocks(partial(_amounts, level), 5 * width, D, facts, *told, how=plain)
            return [whole[..., part * width : (part + 1) * width] for part in range(5)]

        values, spread, detected = at(0.95)[:3]
        return LazyAmounts(values, spread, detected > 0, names, units, lambda level: tuple(at(level)[3:]))

    columns = {name: facts[..., n + place] for place, name in enumerate(FACTS)}
    return LazyDecoding(
        concentrations=facts[..., :n],
        **(columns | {"known": columns["known"] > 0}),
        find_confidence=confidence,
        find_errors=errors,
        find_amounts=None if decoder.calibration is None else amounts,
        left_out=decoder.learned.frozen.constraints.left_out,
        signed=decoder.learned.frozen.constraints.signed_amounts,
    )


def over_blocks(function: Callable[..., FloatArray], width: int, *arrays: Any, how: Any = None) -> Any:
    """A dask array (..., width) of what a function makes of the rows of each block.

    arrays : dask arrays in the same blocks, the samples or what was found of them first;  how : what the function
        takes first, delayed, so that it is in the graph once, however many blocks there are
    """
    first = arrays[0]
    return da.map_blocks(
        _by_rows,
        *arrays,
        function=function,
        width=width,
        how=how,
        dtype=np.float64,
        chunks=(*first.chunks[:-1], (width,)),
        meta=np.empty((0,) * first.ndim),
        name=None,
    )


def _by_rows(
    block: Any, *beside: Any, function: Any, width: int, how: Any, block_info: Any = None
) -> FloatArray:
    """What a function makes of a block, its samples as rows; NaN where there is no sample."""
    try:
        rows, kept = rows_of(block)
        out = np.full((len(kept), width), np.nan)
        if len(rows):
            others = [np.asarray(one, dtype=float).reshape(len(kept), -1)[kept] for one in beside]
            with threads(getattr(how, "n_jobs", 1)):
                out[kept] = function(*(() if how is None else (how,)), rows, *others)
        return out.reshape(*block.shape[:-1], width)
    except InputError as error:
        where = [start for start, _ in block_info[0]["array-location"][:-1]] if block_info else []
        raise InputError(f"{error} (Rows are counted from {', '.join(map(str, where))} on.)") from error


def _delayed(how: Decoder) -> Any:
    return dask.delayed(how, name=f"gmcr-{dask.base.tokenize(object())}", traverse=False)


def _beside(noise: Any, D: Any) -> Any:
    """Noise that is told, in the blocks of the samples; (…, 1) where it is one per sample."""
    given = noise if is_lazy(noise) else np.asarray(noise, dtype=float)
    if given.shape == D.shape[:-1]:
        return da.asarray(given)[..., None].rechunk((*D.chunks[:-1], (1,)))
    if given.shape == D.shape:
        return da.asarray(given).rechunk(D.chunks)
    raise InputError(
        f"noise must be one number, one per sample {D.shape[:-1]} or one per entry {D.shape}, but has shape "
        f"{given.shape}."
    )


def _ends(level: float, signed: bool, C: FloatArray, errors: FloatArray) -> FloatArray:
    ends = interval(C, errors, level, signed=signed)
    return np.column_stack([np.where(C != 0, end, np.nan) for end in ends])


def _amounts(level: float, how: Decoder, *arrays: FloatArray) -> FloatArray:
    return how.amounts(level, *arrays)
