"""The facts for a report, collected: what the theory says about a run, each within bounds of time.

Nothing here may fail a run that has been fitted: what cannot be found out is left out, and the report says why.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from gmcr.decomposition import Decomposition
from gmcr.errors import GMCRError
from gmcr.reporting.contents import Contents
from gmcr.validation import FloatArray

if TYPE_CHECKING:
    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table

MOST_TO_PERMUTE = 25_000  # entries up to which parallel analysis takes seconds
MOST_TO_RANK = 600_000  # entries shown to the rank rules; beyond that, samples spread over all
AMBIGUITY_SECONDS = 20.0
QUANTITIES = {"nm": "wavelength", "µm": "wavelength", "cm⁻¹": "wavenumber", "ppm": "chemical shift"}
QUANTITIES |= dict.fromkeys(("eV", "meV", "keV"), "energy") | dict.fromkeys(("s", "ms", "min", "h"), "time")
WORST = 6  # samples shown against what was measured
NO_DATA = "it takes the samples: gmcr report RUN DATA adds it."

Facts = dict[str, Any]


def collect(
    found: Decomposition,
    table: Table | None = None,
    *,
    model: GMCR | None = None,
    source: str = "samples",
    warned: Sequence[str] = (),
    reproduce: dict[str, str] | None = None,
    names: dict[str, dict[str, Any]] | None = None,
) -> Contents:
    """What a report shows about a decomposition.

    Parameters
    ----------
    found : the decomposition
    table : the samples it was made from; without them fit, confidence, certificate and bands are left out
    model : the estimator that made it, if that was the window solver; its own confidence and noise are used then
    source : name of the data file
    warned : warnings of the solver
    reproduce : by label, what it takes to do it again
    names : what a spectral library says about the components; see `Contents.names`
    """
    facts: Facts = {
        "source": source,
        "made": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        "warnings": tuple(warned),
        "reproduce": reproduce or {},
        "names": names or {},
        "left_out": {},
    }
    tasks: dict[str, Callable[[], Facts]] = {
        "profiles": lambda: _errors(found, model),
        "separation": lambda: _separation(found),
    }
    if model is not None:
        evidence = asdict(model.count_)
        facts["count"] = evidence | {"reproducibility": list(evidence["reproducibility"].items())}
    if table is None:
        facts["left_out"] |= dict.fromkeys(("rank", "fit", "certificate", "bands"), NO_DATA)
    else:
        facts |= _labels(table)
        D = table.samples
        tasks |= {
            "rank": lambda: _rank(D),
            "fit": lambda: _fit(D, found, model),
            "certificate": lambda: _certificate(D, found, model),
            "bands": lambda: _bands(D, found),
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for section, task in tasks.items():
            try:
                facts |= task()
            except (GMCRError, np.linalg.LinAlgError, _TooLong) as error:
                facts["left_out"][section] = str(error)
    return Contents(found, **facts)


def _labels(table: Table) -> Facts:
    """What the file says about its channels and about where its samples were taken."""
    facts: Facts = {"notes": tuple(table.notes)}
    if table.axis_unit is not None:
        facts["axis_label"] = f"{QUANTITIES.get(table.axis_unit, 'axis')} ({table.axis_unit})"
    if table.pixels is not None and len(table.pixels.shape) == 2:
        facts |= {"shape": table.pixels.shape, "pixels": np.flatnonzero(table.pixels.kept)}
    return facts


def _errors(found: Decomposition, model: GMCR | None) -> Facts:
    """Standard errors of profiles and concentrations, NaN where nothing bounds them."""
    from gmcr.confidence.standard_errors import concentration_errors, profile_errors

    if found.noise is None or not (found.noise > 0).all():
        return {}
    n_fixed = 0 if model is None or model.fixed_components is None else len(model.fixed_components)
    profiles = profile_errors(found.concentrations, found.noise, n_fixed=n_fixed)
    amounts = concentration_errors(
        found.components, found.concentrations, found.noise, learned=True, signed=found.signed
    )
    return {
        "profile_errors": np.where(np.isfinite(profiles), profiles, np.nan),
        "concentration_errors": np.where(np.isfinite(amounts), amounts, np.nan).astype(np.float32),
    }


def _separation(found: Decomposition) -> Facts:
    from gmcr.theory.pairs import isolating_pairs, never_separated

    pairs = isolating_pairs(found.supports)
    groups = [list(group) for group in never_separated(found.supports)]
    return {"pair_counts": pairs.count, "pair_examples": pairs.example, "groups": groups}


def _rank(D: FloatArray) -> Facts:
    from gmcr.confidence.weighing import spread_rows
    from gmcr.rank import estimate_rank

    rows = spread_rows(len(D), max(MOST_TO_RANK // D.shape[1], 1))
    seen = estimate_rank(D[rows], most_to_permute=MOST_TO_PERMUTE)
    notes = list(seen.notes)
    if len(rows) < len(D):
        notes.append(f"The rank rules saw {len(rows):,} of {len(D):,} samples; rare components may be lost.")
    table = seen.table[seen.table["scaling"] == seen.scaling]
    edge = float(table.loc[table["rule"] == "marchenko-pastur", "threshold"].iloc[0])
    counts = [[rule, scaling, count] for (rule, scaling), count in seen.counts.items()]
    plain = {name: getattr(seen, name) for name in ("count", "agree", "scaling", "white")}
    return {
        "rank": plain | {"counts": counts, "notes": notes, "edge": edge},
        "singular_values": seen.singular_values[seen.scaling],
    }


def _fit(D: FloatArray, found: Decomposition, model: GMCR | None) -> Facts:
    """How well each sample is explained, how sure its support is, and the worst ones as measured."""
    from gmcr.noise import degrees_of_freedom, root_mean_square

    facts: Facts = {}
    if model is not None:
        out = model.decode(D)
        misfit, known, confidence, sigma = out.misfit, out.known, out.confidence, out.noise
        if out.errors is not None:
            facts["concentration_errors"] = np.where(np.isfinite(out.errors), out.errors, np.nan).astype(
                np.float32
            )
    else:
        misfit, known, confidence, sigma = _judge(D, found)
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


def _judge(D: FloatArray, found: Decomposition) -> tuple[FloatArray, Any, FloatArray, FloatArray]:
    """Misfit, known, confidence and noise of a decomposition that came without its estimator."""
    from gmcr.confidence.supports import support_confidence
    from gmcr.decoder import is_explained
    from gmcr.noise import rounding_floor
    from gmcr.theory.solution import noise_of

    sigma = np.maximum(noise_of(None, D, found)[0], rounding_floor(D))
    left = found.reconstruct()
    np.subtract(D, left, out=left)
    misfit = np.nansum(np.square(left, out=left), axis=1) / sigma**2
    confidence = support_confidence(
        D, found.components, found.concentrations, sigma, learned=True, signed=found.signed
    )
    return misfit, is_explained(misfit, D, found.concentrations), confidence, sigma


def _certificate(D: FloatArray, found: Decomposition, model: GMCR | None) -> Facts:
    from gmcr.theory.certificate import certify

    known = model is not None and model.fixed_components is not None
    known = known and len(model.fixed_components) == found.n_components  # type: ignore[union-attr]
    return {"certificate": certify(D, found, known_pool=known).to_dict()}


def _bands(D: FloatArray, found: Decomposition) -> Facts:
    from gmcr.theory.ambiguity import feasible_bands

    with _time_limit(AMBIGUITY_SECONDS):
        out = feasible_bands(D, found)
    plain = ("share", "min", "max", "alike", "closed", "why")
    return {
        "bands": [{name: getattr(band, name) for name in plain} for band in out.bands],
        "band_profiles": np.stack([band.profiles for band in out.bands]),
    }


class _TooLong(Exception):
    pass


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Give up after so many seconds, where the system has a timer and this is the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise _TooLong(
            f"not finished within {seconds:g} s; gmcr ambiguity RUN DATA computes it without a limit."
        )

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
