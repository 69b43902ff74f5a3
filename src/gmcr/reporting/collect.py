"""The facts for a report, collected: what the theory says about a run, each within bounds of time.

Nothing here may fail a run that has been fitted: what cannot be found out is left out, and the report says why.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gmcr.confidence.standard_errors import concentration_errors, profile_errors
from gmcr.confidence.stated import why_not_stated
from gmcr.confidence.supports import support_posterior
from gmcr.constraints import Layout
from gmcr.decoder import Decoding, is_explained
from gmcr.decomposition import Decomposition
from gmcr.errors import GMCRError, InputError
from gmcr.io.table import Table
from gmcr.io.words import ORDER, says
from gmcr.noise import degrees_of_freedom, root_mean_square, rounding_floor
from gmcr.preprocessing import Chain
from gmcr.rank import estimate_rank
from gmcr.registry import load_plugins
from gmcr.reporting.contents import Contents, LibraryMatch
from gmcr.theory.ambiguity import as_fitted, feasible_bands
from gmcr.theory.certificate import certify
from gmcr.theory.facts import noise_of
from gmcr.theory.pairs import isolating_pairs, never_separated
from gmcr.trust import Trust
from gmcr.validation import FloatArray, check_same_axis, check_samples, evenly
from gmcr.window.evidence import Evidence

MOST_TO_PERMUTE = 25_000  # entries up to which parallel analysis takes seconds
MOST_TO_RANK = 600_000  # entries shown to the rank rules; beyond that, samples spread over all
SECONDS = 20.0  # for the search for other solutions
QUANTITIES = {"nm": "wavelength", "µm": "wavelength", "cm⁻¹": "wavenumber", "ppm": "chemical shift"}
QUANTITIES |= dict.fromkeys(("eV", "meV", "keV"), "energy") | dict.fromkeys(("s", "ms", "min", "h"), "time")
SAME_R2 = 1e-6  # within which R² is the same: samples written with six digits
BEFORE_AND_AFTER = 4  # samples shown as measured and after the steps
WORST = 6  # samples shown against what was measured
NO_DATA = "it takes the samples: gmcr report RUN DATA adds it."
NOT_STATED = "not stated"
NO_LIMIT = "gmcr ambiguity RUN DATA computes it without a limit."

Facts = dict[str, Any]  # fields of `Contents`


@runtime_checkable
class Prepares(Protocol):
    """An estimator with steps that samples go through first."""

    chain_: Chain

    def prepared(self, D: Any) -> Table: ...


@runtime_checkable
class Judged(Protocol):
    """An estimator that says whether its answer may be used."""

    def trust(self, D: Any) -> Trust: ...


@runtime_checkable
class Fitted(Protocol):
    """What a report asks of the estimator that made a decomposition; one that has not all of it is not asked."""

    n_fixed_: int
    count_: Evidence

    def decode(self, D: Any) -> Decoding: ...


def collect(
    found: Decomposition,
    data: Any = None,
    *,
    model: object = None,
    decoding: Decoding | None = None,
    source: str = "samples",
    warned: Sequence[str] = (),
    reproduce: dict[str, str] | None = None,
    names: dict[int, LibraryMatch] | None = None,
    seconds: float = SECONDS,
    only: Sequence[str] | None = None,
) -> Contents:
    """What a report shows about a decomposition.

    Parameters
    ----------
    found : the decomposition
    data : the samples it was made from, as a `Table` or (samples, channels); without them fit, confidence,
        certificate and bands are left out
    model : the estimator that made it; the confidence and noise of one that offers them (`Fitted`) are used then
    decoding : the model's decoding of these very samples, where it is at hand; else they are decoded
    source : name of the data file
    warned : warnings of the solver
    reproduce : by label, what it takes to do it again, beside the versions of what was used
    names : what a spectral library says about the components
    seconds : for the search for other solutions that fit as well
    only : which of the tasks below to do, "confidence" among them as a part of "fit"; by default all
    """
    judge = model if isinstance(model, Fitted) else None
    facts: Facts = {
        "source": source,
        "made": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        "warnings": tuple(warned),
        "reproduce": (reproduce or {}) | versions(),
        "names": names or {},
        "left_out": {},
        "count": None if judge is None else judge.count_,
        "calibration": getattr(model, "calibration_", None),
    } | _layout(getattr(model, "layout_", None))
    tasks: dict[str, Callable[[], Facts]] = {
        "profiles": lambda: _errors(found, judge),
        "separation": lambda: _separation(found),
    }
    if data is None:
        facts["left_out"] |= dict.fromkeys(("rank", "fit", "trust", "certificate", "bands"), NO_DATA)
    else:
        raw = data
        if isinstance(model, Prepares) and model.chain_:
            facts |= before_and_after(model.chain_, raw := _as_table(raw))
            data = model.prepared(raw)
        table = table_of(data, found)
        D, facts = table.samples, facts | labels_of(table)
        measured = raw if isinstance(model, Prepares) and model.chain_ else D
        tasks |= {
            "rank": lambda: _rank(D),
            "fit": lambda: _fit(D, found, judge, decoding, measured, only is None or "confidence" in only),
            "trust": lambda: _trust(measured, model),
            "certificate": lambda: _certificate(D, found, judge),
            "bands": lambda: {"ambiguity": feasible_bands(D, found, seconds=seconds, **as_fitted(model))},
        }
    load_plugins()  # what it warns of is not to be ignored
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, task in ((key, task) for key, task in tasks.items() if only is None or key in only):
            try:
                told = task()
                facts["left_out"] |= told.pop("left_out", {})
                facts |= told
            except TimeoutError:
                facts["left_out"][key] = f"not finished within {seconds:g} s; {NO_LIMIT}"
            except (GMCRError, np.linalg.LinAlgError) as error:
                facts["left_out"][key] = str(error)
    return Contents(found, **facts)


def versions() -> dict[str, str]:
    """What a result may depend on."""
    told = {name: version(name) for name in ("gmcr", "numpy", "scipy", "numba", "scikit-learn")}
    return told | {"Python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}


def table_of(data: Any, found: Decomposition) -> Table:
    """The samples that a decomposition was made of, after the steps, checked to be those."""
    table = _as_table(data)
    if table.samples.shape != (found.n_samples, found.n_channels):
        raise InputError(
            f"the data hold {table.samples.shape[0]} samples x {table.samples.shape[1]} channels and the run "
            f"{found.n_samples} x {found.n_channels}; give the samples that were unmixed."
        )
    check_same_axis(table.axis, found.axis, "the pool")
    table = table.ordered_as(found.channels, "the pool")
    told = found.fit.get("r2")  # of the very samples, which no others share
    if told is not None and abs(told - (r2 := found.r2(table.samples))) > SAME_R2:
        raise InputError(
            f"the data are not the samples that were unmixed: those have R² {told:.6f}, these {r2:.6f}; give "
            "those, or decode these."
        )
    return table


def _as_table(data: Any) -> Table:
    if isinstance(data, Table):
        return data
    index = str(getattr(getattr(data, "index", None), "name", None) or "")  # of a DataFrame
    return Table(check_samples(data, copy=False), row_label=index if says(index) == ORDER else "")


def _layout(layout: Layout | None) -> Facts:
    """The run of each sample, and its place there."""
    if layout is None:
        return {}
    labels = layout.labels
    return {"runs": None if labels is None else tuple(labels), "order": layout.order}


def before_and_after(chain: Chain, raw: Table, rows: Any = None) -> Facts:
    """What the steps did, and a few samples as they were measured; rows : which, by default evenly spread."""
    shown = evenly(len(raw.samples), BEFORE_AND_AFTER) if rows is None else rows
    axis = np.arange(float(chain.n_channels)) if chain.axis is None else chain.axis
    before = raw.ordered_as(chain.channels, "the training samples").samples[shown]
    return {
        "steps": chain.did,
        "before": before,
        "before_axis": axis,
        "after": chain.apply(before),
        "after_axis": axis[chain.kept],
        "before_rows": shown,
    }


def labels_of(table: Table) -> Facts:
    """What the file says about its channels and about where its samples were taken."""
    facts: Facts = {"notes": tuple(table.notes), "row_label": table.row_label}
    if table.axis_unit is not None:
        facts["axis_label"] = f"{QUANTITIES.get(table.axis_unit, 'axis')} ({table.axis_unit})"
    if table.pixels is not None and len(table.pixels.shape) == 2:
        facts |= {"shape": table.pixels.shape, "pixels": np.flatnonzero(table.pixels.kept)}
    return facts


def _errors(found: Decomposition, model: Fitted | None) -> Facts:
    """Standard errors of profiles and concentrations, NaN where nothing bounds them."""
    if found.noise is None or not (found.noise > 0).all():
        return {}
    n_fixed = 0 if model is None else model.n_fixed_
    profiles = profile_errors(found.concentrations, found.noise, n_fixed=n_fixed)
    amounts = concentration_errors(
        found.components, found.concentrations, found.noise, learned=True, signed=found.signed_amounts
    )
    return {"profile_errors": _bounded(profiles), "concentration_errors": _bounded(amounts, np.float32)}


def _bounded(errors: FloatArray, kind: type = np.float64) -> FloatArray:
    return np.where(np.isfinite(errors), errors, np.nan).astype(kind)


def _separation(found: Decomposition) -> Facts:
    pairs = isolating_pairs(found.supports)
    groups = [list(group) for group in never_separated(found.supports)]
    return {"pair_counts": pairs.count, "pair_examples": pairs.example, "groups": groups}


def _rank(D: FloatArray) -> Facts:
    rows = evenly(len(D), max(MOST_TO_RANK // D.shape[1], 1))
    seen = estimate_rank(D[rows], most_to_permute=MOST_TO_PERMUTE)
    if len(rows) < len(D):
        note = f"The rank rules saw {len(rows):,} of {len(D):,} samples; rare components may be lost."
        seen = replace(seen, notes=(*seen.notes, note))
    return {"rank": seen}


def _fit(
    D: FloatArray,
    found: Decomposition,
    model: Fitted | None,
    decoding: Decoding | None,
    measured: Any,
    sure: bool,
) -> Facts:
    """How well each sample is explained, the worst ones as measured and, where asked, how sure supports are."""
    facts: Facts = {}
    if model is not None:
        out = model.decode(measured) if decoding is None else decoding
        misfit, known, sigma = out.misfit, out.known, out.noise
        confidence = out.confidence if sure else None
        if out.errors is not None:
            facts["concentration_errors"] = _bounded(out.errors, np.float32)
    else:
        misfit, known, sigma = _judge(D, found)
        confidence = _confidence(D, found, sigma) if sure else None
    left = (D - found.concentrations @ found.components) / sigma[:, None]
    if confidence is not None and (why := why_not_stated(left, known)):
        confidence, facts["left_out"] = None, {"confidence": f"{NOT_STATED}: {why}"}
    dof = degrees_of_freedom(D, found.concentrations, found.components, 1.0 / sigma**2)
    ratio = np.sqrt(misfit / dof)
    worst = np.argsort(-ratio, kind="stable")[:WORST]
    return facts | {
        "ratio": ratio,
        "known": known,
        "confidence": confidence,
        "sizes": root_mean_square(D),
        "worst": worst,
        "worst_data": D[worst],
    }


def _judge(D: FloatArray, found: Decomposition) -> tuple[FloatArray, Any, FloatArray]:
    """Misfit, known and noise of a decomposition that came without its estimator."""
    sigma = np.maximum(noise_of(None, D, found)[0], rounding_floor(D))
    left = found.reconstruct()
    np.subtract(D, left, out=left)
    misfit = np.nansum(np.square(left, out=left), axis=1) / sigma**2
    return misfit, is_explained(misfit, D, found.concentrations), sigma


def _confidence(D: FloatArray, found: Decomposition, sigma: FloatArray) -> FloatArray:
    C, signed = found.concentrations, found.signed_amounts
    return support_posterior(D, found.components, C, sigma, learned=True, signed=signed).confidence


def _trust(measured: Any, model: object) -> Facts:
    if not isinstance(model, Judged):
        raise InputError("only answers of the window solver, with their model, are judged.")
    return {"trust": model.trust(measured)}


def _certificate(D: FloatArray, found: Decomposition, model: Fitted | None) -> Facts:
    known = model is not None and model.n_fixed_ == found.n_components
    return {"certificate": certify(D, found, known_pool=known)}
