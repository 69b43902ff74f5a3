"""The estimator's methods for lazy samples: what they need of the model, handed to `large`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gmcr.constraints import Layout
from gmcr.errors import InputError
from gmcr.estimators.fitted_on import FittedOn
from gmcr.estimators.many import found_by_passes, why_whole
from gmcr.estimators.solving import fit_whole
from gmcr.io.cube import Pixels
from gmcr.io.table import Table
from gmcr.large.arrays import LazySamples, lazy_samples, rows_of
from gmcr.large.decoding import Decoder, LazyDecoding, decoded
from gmcr.large.reductions import LazyRows
from gmcr.metrics import r_squared
from gmcr.noise import NoiseLaw
from gmcr.preprocessing.told_noise import noise_after
from gmcr.validation import SMALLEST, channel_order, check_same_axis, is_lazy
from gmcr.window.by_passes import is_small, look
from gmcr.window.checkpoint import Checkpoint
from gmcr.window.tallies import Grid, Look

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR

MOST_SHOWN = 20_000  # samples that a model holds for reports and what judges it, spread over all
MOST_ENTRIES = 2_500_000  # of them


def fit(model: GMCR, told: FittedOn, saved: Checkpoint | None) -> None:
    """`GMCR.fit` of lazy samples."""
    samples = lazy_samples(told.D)
    why = why_whole(model, told)
    why = "closure is of all samples at once" if not why and model.closure else why
    if why:
        raise InputError(f"{why}, and D is lazy; leave that out, or give D.compute().")
    if is_small(samples.n_rows * samples.n_channels):
        _fit_loaded(model, told, samples, saved)
    else:
        _fit_blocks(model, told, samples, saved)
    out = model.decoding_ = decode(model, told.D, None, None)
    model.concentrations_, model.supports_, model.noise_ = out.concentrations, out.supports, out.noise


def _fit_loaded(model: GMCR, told: FittedOn, samples: LazySamples, saved: Checkpoint | None) -> None:
    """A table that is small enough is fitted as one in memory; its samples without any entry are left out."""
    rows, kept = rows_of(samples.data.compute())
    pixels = None if kept.ndim == 1 and samples.data.ndim == 2 else Pixels(kept.reshape(samples.shape))
    unit = samples.axis_unit
    table = Table(
        rows, samples.axis, notes=samples.notes, axis_unit=unit, channels=samples.channels, pixels=pixels
    )
    fit_whole(model, replace(told, D=table), model._as_measured(table), saved)
    found = model.decomposition_
    model.shown_ = table
    model.of_all_ = {
        "shape": list(samples.shape),
        "samples": len(rows),
        "r2": found.fit["r2"],
        "usage": found.usage,
        "searched": len(rows),
        "passes": 1,
    }


def _fit_blocks(model: GMCR, told: FittedOn, samples: LazySamples, saved: Checkpoint | None) -> None:
    """Of more samples, some are searched and all are passed over."""
    rows, grid = LazyRows(samples, model.n_jobs or 1, bool(model.verbose)), grid_of(samples)
    seen = look(rows, samples.n_channels, grid, samples.known_as)
    _check(seen, samples)
    model.n_features_in_ = samples.n_channels
    if hasattr(model, "feature_names_in_"):  # of another fit
        del model.feature_names_in_
    found = found_by_passes(model, told, rows, seen, (samples.axis, samples.channels), saved)
    table = model.shown_ = _table(seen, samples, grid)
    shown = model.chain_.apply(table.samples)
    out = model._frozen().decode(shown, model.noise_law_)
    model.layout_ = Layout()
    facts = {"r2": r_squared(shown, out.concentrations @ model.components_)}
    model._store(out.concentrations, out.noise, found.solution, table.sample_names, facts)
    model._close(None)
    model._check_answer(model.layout_)
    tally = found.tally
    model.of_all_ = {
        "shape": list(samples.shape),
        "samples": seen.n_samples,
        "r2": tally.r2,
        "usage": tally.usage,
        "searched": len(found.searched),
        "passes": found.n_passes,
    }
    if not tally.usage:
        warnings.warn("no component stands above the noise in any sample.", stacklevel=4)


def grid_of(samples: LazySamples) -> Grid:
    """Samples that are shown, spread evenly along each dimension."""
    most = max(min(MOST_SHOWN, MOST_ENTRIES // samples.n_channels), 1)
    shape, steps = samples.shape, [1] * len(samples.shape)
    while int(np.prod([-(-size // step) for size, step in zip(shape, steps)])) > most:
        longest = int(np.argmax([size / step for size, step in zip(shape, steps)]))
        steps[longest] += 1
    return Grid(shape, tuple(steps))


def _table(seen: Look, samples: LazySamples, grid: Grid) -> Table:
    """The samples that are shown, with where they stand."""
    held = tuple(-(-size // step) for size, step in zip(grid.shape, grid.steps))
    at = np.unravel_index(seen.shown.places, grid.shape)
    names = tuple(", ".join(map(str, place)) for place in zip(*(along.tolist() for along in at)))
    pixels = None
    if len(held) > 1:
        kept = np.zeros(held, dtype=bool)
        kept[tuple(along // step for along, step in zip(at, grid.steps))] = True
        pixels, names = Pixels(kept), tuple(f"({name})" for name in names)
    rows = seen.shown.rows
    note = f"Shown are {len(rows):,} of {seen.n_samples:,} samples, spread evenly over all."
    return Table(
        rows,
        samples.axis,
        names,
        (*samples.notes, note),
        axis_unit=samples.axis_unit,
        channels=samples.channels,
        pixels=pixels,
    )


def _check(seen: Look, samples: LazySamples) -> None:
    """Refuse what no fit can use, in the words of a table in memory."""
    if seen.wrong is not None:
        place, channel, value = seen.wrong
        where = ", ".join(map(str, np.unravel_index(place, samples.shape)))
        what = "infinite" if np.isinf(value) else f"{value:.3g}, too large to be squared,"
        raise InputError(f"D is {what} at sample ({where}), channel {channel}; mark it as missing with NaN.")
    if 0 < max(-seen.low, seen.high) < SMALLEST:
        raise InputError(
            f"D is at most {max(-seen.low, seen.high):.3g}, too small to be squared; give it in other units."
        )
    lost = np.flatnonzero(seen.present == 0)
    if lost.size:
        raise InputError(f"D column {lost[0]} is missing in every entry (NaN); remove that channel.")
    if seen.low == seen.high:
        told = "zero" if seen.low == 0 else f"constant: {seen.low:g}"
        raise InputError(f"D is {told} in every row and column; check that the right data were read.")
    if len(seen.drawn) < 2:
        raise InputError(
            f"D has {len(seen.drawn)} sample(s) to learn from, copies and empty ones aside; give at least 2."
        )


def decode(model: GMCR, D: Any, noise: Any, runs: Any) -> LazyDecoding:
    """`GMCR.decode` of lazy samples."""
    if runs is not None:
        raise InputError("runs are told for samples in memory; leave them out, or give D.compute().")
    samples = checked(model, D)
    if isinstance(noise, str):
        raise InputError("the level of a law is not estimated from lazy samples; give the law, or numbers.")
    # A law or a number is for all samples; what is told by sample or entry goes along with the blocks.
    alike = noise is None or isinstance(noise, NoiseLaw) or (not is_lazy(noise) and np.ndim(noise) == 0)
    if noise is not None and alike:
        noise_after(model.chain_, noise, np.zeros((1, samples.n_channels)))  # refused where a step changes it
    decoder = Decoder(
        model._learned,
        model.chain_,
        noise if noise is not None and alike else model.noise_law_,
        channel_order(samples.channels, model.chain_.channels, "the training samples"),
        calibration=model.calibration_,
        n_jobs=model.n_jobs or 1,
    )
    return decoded(samples, decoder, model.learn_confidence, None if alike else noise)


def transform(model: GMCR, D: Any) -> Any:
    """`GMCR.transform` of lazy samples."""
    return checked(model, D).like(model.decode(D).concentrations, model.decomposition_.names)


def checked(model: GMCR, D: Any) -> LazySamples:
    """New lazy samples, on the channels of the training samples."""
    samples = lazy_samples(D)
    if (came := samples.n_channels) != (known := model.n_features_in_):
        raise InputError(
            f"the samples have {came} channels and the model has {known}; put both on the same channel axis."
        )
    check_same_axis(samples.axis, model.chain_.axis, "the training samples")
    return samples
