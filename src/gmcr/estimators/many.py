"""A fit of more samples than are solved whole: some are drawn and searched, all are passed over."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from gmcr.constraints import Layout
from gmcr.estimators.fitted_on import FittedOn
from gmcr.estimators.parameters import KnownNoise, check_options, given_constraints, known_noise
from gmcr.estimators.solving import say_what_came, solved, take_signs
from gmcr.estimators.steps import Labels, given_steps, learned_chain
from gmcr.preprocessing import AverageReplicates
from gmcr.threads import threads
from gmcr.validation import FloatArray
from gmcr.window.by_passes import Passed, Searches, enough_of, passed
from gmcr.window.checkpoint import Checkpoint
from gmcr.window.distinct_samples import distinct_samples
from gmcr.window.drawing import Drawn
from gmcr.window.remembering import digest
from gmcr.window.search import Options
from gmcr.window.solver import Solution, extended
from gmcr.window.tallies import Look, ManyRows

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR


def why_whole(model: GMCR, told: FittedOn) -> str:
    """What binds samples to each other or is told of each, so that they are solved whole; else nothing."""
    named = [name for name in told.told if name != "warm_start"]
    if named:
        return f"{named[0]} is told of every sample"
    if model.r2_band is not None:
        return "r2_band chooses among states of all samples"
    if model.disturbances != "keep":
        return f"disturbances={model.disturbances!r} looks at all samples"
    if any(isinstance(step, AverageReplicates) for step in given_steps(model)):
        return "AverageReplicates puts samples together"
    binding = [one for one in given_constraints(model) if one.couples or one.by_run or "fit" in one.stages]
    return f"the constraint {binding[0].name} is of all samples at once" if binding else ""


def found_by_passes(
    model: GMCR, told: FittedOn, rows: ManyRows, seen: Look, labels: Labels, saved: Checkpoint | None
) -> Passed:
    """What is found for all samples; the model holds it, but for the answer of each sample.

    seen : what the first pass tells;  labels : of the channels
    """
    model.chain_, samples, _ = learned_chain(model, labels, seen.drawn.rows)
    take_signs(model, samples)
    begun = saved is None

    def begin(training: FloatArray, repeats: FloatArray, options: Options) -> None:
        nonlocal begun
        if saved is not None and not begun:
            saved.is_of(digest([version("gmcr"), seen.fingerprint, training, repeats, vars(options)]))
        begun = True

    def given(own: Drawn) -> tuple[FloatArray, FloatArray, KnownNoise]:
        D, weight = model.chain_.apply(own.rows), own.counts.astype(float)
        return D, weight, known_noise(model.noise, None, None, D, weight)

    def first(own: Drawn) -> Solution:
        return solved(model, *given(own), Layout(), told.warm_start, begin)[1]

    def more(found: Solution, own: Drawn) -> Solution:
        D, weight, known = given(own)
        kept, repeats = distinct_samples(D, weight)
        options = check_options(model, known, kept, Layout(), told.warm_start, D.shape[1])
        with threads(model.n_jobs):
            return extended(found, np.ascontiguousarray(D[kept]), options, repeats)

    drawn = enough_of(seen.drawn, samples)
    found = passed(rows, seen, drawn, model.chain_, model._constraints, Searches(first, more))
    say_what_came(model, found.solution, (rows.n_rows, samples.shape[1]), saved)
    model._freeze(found.solution)
    model._pool_covariance = model._frozen().with_response(found.tally.response).covariance
    own = model.chain_.apply(found.searched.rows)
    out = model._frozen().decode(own, model.noise_law_)
    model._learn_from(own, out, model.noise_law_, np.arange(len(own)))
    return found
