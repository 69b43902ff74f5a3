"""The work of a fit: a table that is solved whole, and what other fits share with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gmcr.constrained import Table, constrained_fit
from gmcr.constraints import Layout
from gmcr.counting import weighed
from gmcr.errors import InputError
from gmcr.estimators.by_run import layout_of
from gmcr.estimators.fitted_on import FittedOn
from gmcr.estimators.labels import labels_of
from gmcr.estimators.parameters import (
    KnownNoise,
    check_constraints,
    check_options,
    doubt_replicates,
    known_noise,
)
from gmcr.estimators.steps import law_of_one, learned_chain, noise_of_fit
from gmcr.preprocessing.told_noise import noise_after
from gmcr.validation import FloatArray
from gmcr.window.checkpoint import Checkpoint
from gmcr.window.distinct_samples import check_sample_weight, distinct_samples
from gmcr.window.listening import run
from gmcr.window.remembering import digest, remembered
from gmcr.window.search import Options
from gmcr.window.signs import refuse_negative, seen_signs
from gmcr.window.solver import Solution

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR

INTERRUPTED = "The fit was interrupted before all evidence was there."
NOT_WEIGHED = "Some profiles were given: how likely other counts are is not known."

Begin = Callable[[FloatArray, FloatArray, Options], None]


def fit_whole(model: GMCR, told: FittedOn, raw: FloatArray, saved: Checkpoint | None) -> None:
    """Unmix a table in memory, all of whose samples are solved for; raw : they, as measured."""
    D, replicates = told.D, told.replicates
    model.chain_, samples, spread = learned_chain(model, labels_of(D), raw, replicates)
    noise = noise_of_fit(model.chain_, told.noise, spread, raw)
    replicates = replicates if model.chain_.averaging is None else None
    noise_after(model.chain_, model.noise, samples)  # refused where a step changes it
    weight = check_sample_weight(told.sample_weight, len(samples))
    take_signs(model, samples[weight > 0])
    known = known_noise(model.noise, noise, replicates, samples, weight)
    layout = layout_of(model.chain_, D, told.runs, told.order, len(samples))

    def begin(training: FloatArray, repeats: FloatArray, options: Options) -> None:
        if saved is not None:
            saved.is_of(digest([version("gmcr"), training, repeats, vars(options), model.r2_band]))

    rows, solution = solved(model, samples, weight, known, layout, told.warm_start, begin)
    solution = replace(solution, law=law_of_one(model.chain_, solution.law))
    say_what_came(model, solution, samples.shape, saved)
    fitted = constrained_fit(Table(samples, weight, layout), model._constraints, solution)
    model._freeze(solution, fitted)
    # The pool and the noise law are frozen, and the training samples decoded as `transform` will decode others.
    level = solution.law if known.sigma is None else known.sigma
    out = model._frozen().decode_plain(samples, level)
    frozen = model._frozen().with_errors_of(out.concentrations[rows], out.noise[rows])
    model._pool_covariance = frozen.covariance
    out = frozen.allow_for_errors(samples, level, out)
    model._learn_from(samples, out, level, rows)
    model.decoding_ = model._learned.judged(samples, out, level)
    model._answer(D, samples, out, solution, layout, fitted)
    if replicates is not None:
        doubt_replicates(samples, model.n_components_, model.noise_)


def take_signs(model: GMCR, samples: FloatArray) -> None:
    """What the answer must obey, as the signs of samples have it; what was made of negative values is said."""
    signs = seen_signs(samples)
    model._constraints = check_constraints(model, samples.shape[1], signs)
    if not signs.beyond_noise:
        return
    if model._constraints.signed:
        if model.signed != "auto":
            return
        told = "profiles may be negative; signed=True allows concentrations to be, signed=False refuses both."
        warnings.warn(f"{signs}: {told}", stacklevel=4)
    else:
        refuse_negative(signs)
        told = "too small to matter: nothing may be negative; signed=True allows it."
        warnings.warn(f"{signs}, but {told}", stacklevel=4)


def solved(
    model: GMCR,
    samples: FloatArray,
    weight: FloatArray,
    known: KnownNoise,
    layout: Layout,
    warm_start: object,
    begin: Begin | None = None,
) -> tuple[NDArray[np.intp], Solution]:
    """The samples to solve for, each distinct one once, by their places; and what the solver finds.

    begin : called with the samples, how often each counts and the options, before the solver is
    """
    rows, repeats = distinct_samples(samples, weight, known.sigma, layout)
    if len(rows) < 2:
        raise InputError(
            f"D has {len(rows)} sample(s) to learn from, copies and empty ones aside; give at least 2."
        )
    training = np.ascontiguousarray(samples[rows])
    options = check_options(model, known, rows, layout[rows], warm_start, samples.shape[1])
    if begin is not None:
        begin(training, repeats, options)
    solve = partial(
        run,
        repeats=repeats,
        r2_band=model.r2_band,
        callback=model.callback,
        shown=bool(model.verbose),
        n_jobs=model.n_jobs,
    )
    return rows, _at_the_likeliest_count(training, options, solve(training, options), solve)


def say_what_came(model: GMCR, solution: Solution, shape: tuple[int, ...], saved: Checkpoint | None) -> None:
    """Warn where a fit went on from a checkpoint, was interrupted, or found another count than was asked for."""
    model.resumed_ = saved is not None and saved.resumed
    if model.resumed_:
        told = "the fit went on from the checkpoint of a run that was ended, to the same answer."
        warnings.warn(told, stacklevel=4)
    if solution.interrupted:
        warnings.warn("the fit was interrupted; this is the best found so far.", stacklevel=4)
    asked, count = model.n_components, solution.state.count
    if model._constraints.count is not None:
        asked = model._constraints.count
    if asked != "auto" and count != asked:
        all_there_are = ", as many as the table has samples or channels" * (count == min(shape))
        told = f"{asked} components were asked for, but only {count} were found{all_there_are}."
        warnings.warn(told, stacklevel=4)


def _at_the_likeliest_count(
    D: FloatArray, options: Options, found: Solution, solve: Callable[[FloatArray, Options], Solution]
) -> Solution:
    """The solution at the count that all evidence speaks for: the one found, or another that is told."""
    if found.interrupted:
        return replace(found, evidence=replace(found.evidence, caution=INTERRUPTED))
    if options.constraints.n_fixed:  # of tables with known profiles nothing was learned
        return replace(found, evidence=replace(found.evidence, caution=NOT_WEIGHED))
    evidence = remembered(weighed)(D, found.evidence, options.max_components)
    if evidence.count != found.state.count and evidence.decided_by != "you":
        own = replace(evidence, count=found.state.count, decided_by=found.evidence.decided_by, doubt="")
        try:
            told = solve(D, replace(options, n_components=evidence.count))
        except KeyboardInterrupt:
            return replace(found, evidence=replace(own, caution=INTERRUPTED), interrupted=True)
        if told.state.count == evidence.count:
            path = [*found.path, *told.path]
            return replace(told, evidence=evidence, path=path, chosen=len(found.path) + told.chosen)
        evidence = own
    return replace(found, evidence=evidence)
