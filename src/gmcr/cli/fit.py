"""`gmcr fit`: unmix a file into a run folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli import steps
from gmcr.cli.console import (
    figure_notes,
    in_shell,
    print_json,
    print_notes,
    reproduction,
    say,
    verdict,
    verdict_as_dict,
)
from gmcr.cli.options import (
    NOISE,
    Data,
    Json,
    Memory,
    NewRun,
    Orientation,
    SamplesIn,
    Seed,
    noise_option,
    option,
    samples_of,
)
from gmcr.cli.terminal import Kept
from gmcr.errors import GMCRError, InputError

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR
    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table
    from gmcr.runs import RunFolder
    from gmcr.validation import FloatArray


Solver = StrEnum("Solver", ["window", "eb"])
UsageSchedule = StrEnum("UsageSchedule", ["paper", "window"])
Order = StrEnum("Order", ["rows", "names"])
CONSTRAINT = (
    'What the answer must obey, such as "unimodal C", "zero S 400:450", "kinetic A > B > C"; repeatable.'
)
ORDER = "Order of the samples: as the rows stand, or by their names, which are numbers such as times."
RUNS = "How many runs of equal length the samples are, or the lengths, with commas."
FIXED = "Known profiles to keep: a model file, a table with one per row, or a library of spectra."
SIGNED = "Whether profiles and concentrations may be negative."
KNOWN = "Columns of DATA with known amounts, and their units, with commas: glucose=g/L,lactose=g/L."
REPLICATES = "Column of DATA with labels: samples of the same label are replicates of one mixture."
USAGE = "eb: usage weight by the paper's schedule, or inside the window."


def fit(
    context: typer.Context,
    data: Data,
    output: NewRun,
    components: Annotated[int | None, option("Number of components.", default="found out", least=1)] = None,
    max_components: Annotated[int | None, option("Most components to consider.", least=1)] = None,
    fixed: Annotated[Path | None, typer.Option(exists=True, help=FIXED)] = None,
    fixed_names: Annotated[
        str | None, option("Those to take from --fixed, by name, with commas.", default="all")
    ] = None,
    signed: Annotated[
        bool | None, option(SIGNED, "--signed/--unsigned", default="profiles, if need be")
    ] = None,
    noise: Annotated[str | None, option(NOISE, default="found out")] = None,
    k_max: Annotated[int | None, option("Most components in a sample.", least=1)] = None,
    r2_band: Annotated[
        tuple[float, float] | None, option("Take the cheapest solution with R² in this band.", default=False)
    ] = None,
    known: Annotated[str | None, option(KNOWN, default=False)] = None,
    known_replicates: Annotated[str | None, option(REPLICATES, default=False)] = None,
    constraint: Annotated[list[str] | None, option(CONSTRAINT, "--constraint", default=False)] = None,
    order: Annotated[Order | None, option(ORDER, default="not known")] = None,
    runs: Annotated[str | None, option(RUNS, default="one")] = None,
    closure: Annotated[bool, option("Write fractions that sum to one as well.", "--closure")] = False,
    range_: steps.Range = None,
    drop: steps.Drop = None,
    baseline: steps.Baseline = None,
    despike: steps.Despike = False,
    smooth: steps.Smooth = None,
    derivative: steps.Derivative = 0,
    snv: steps.Snv = False,
    msc: steps.Msc = False,
    normalise: steps.NormaliseBy = None,
    blank: steps.Blank = None,
    average: steps.Average = False,
    background: steps.Background = 0,
    starts: Annotated[int, option("Number of starting pools.", least=1)] = 1,
    jobs: Annotated[int | None, option("Number of threads.", default="by size")] = None,
    solver: Annotated[
        Solver, option("The window solver, or the paper's (slow; needs torch).")
    ] = Solver.window,
    pool: Annotated[int, option("eb: slots of the pool.", least=1)] = 256,
    max_epochs: Annotated[int, option("eb: iteration limit.", least=1)] = 20_000,
    usage: Annotated[UsageSchedule, option(USAGE)] = UsageSchedule.paper,
    learning_rate: Annotated[float | None, option("eb: learning rate.", default="scaled to the pool")] = None,
    seed: Seed = 0,
    samples_in: Orientation = SamplesIn.auto,
    memory: Memory = None,
    force: Annotated[bool, option("Replace a run that is in the folder.", "--force")] = False,
    as_json: Json = False,
) -> None:
    """Unmix a file: how many components, their profiles, and which sample holds which.

    RUN holds the report (report.html), the model (model.gmcr), profiles, concentrations, supports and path as
    CSV, figures, and summary.txt; with --known also amounts in units (amounts.csv). A run that was interrupted or
    killed goes on from its best pool when the same command is given again.

    Steps before unmixing (--blank, --despike, --range, --drop, --average, --baseline, --smooth and --derivative,
    --msc, --snv, --normalise) are done in this order, are stored in the model, and are done to new samples too.
    Ranges are in units of the axis; of samples without one, in channel numbers from 0.

    \b
    Example:
      gmcr fit mixtures.csv -o run
      gmcr fit raman.csv -o run --range 400:1800 --despike --baseline asls
      gmcr fit mixtures.csv -o run --fixed library.csv --fixed-names "glucose,lactose"
      gmcr fit mixtures.csv -o run --known "glucose=g/L"
      gmcr fit chromatograms.csv -o run --constraint "unimodal C" --order rows --runs 4
    """
    assumed = noise_option(noise)
    from gmcr.constraints import constraint_of_words
    from gmcr.estimators.window import GMCR
    from gmcr.runs import RunFolder, in_short

    if solver is Solver.eb and (constraint or order or runs):
        raise typer.BadParameter(
            "--constraint, --order and --runs are for the window solver; leave out --solver eb."
        )
    table, run = samples_of(data, samples_in, memory), RunFolder(output)
    if not as_json:
        print_notes(table.notes)
    asked = steps.Told(
        range_, drop, baseline, despike, smooth, derivative, snv, msc, normalise, blank, average
    )
    through = asked.steps(table)
    if solver is Solver.eb and (through or background):
        raise typer.BadParameter("steps before unmixing and --background are for --solver window.")
    profiles = Fixed() if solver is Solver.eb else _read_fixed(fixed, fixed_names, table)
    amounts = None if known is None else _read_known(known, known_replicates, table)
    if known_replicates is not None and known is None:
        raise typer.BadParameter("--known-replicates needs --known with the columns of known amounts.")
    if amounts is not None and solver is Solver.eb:
        raise typer.BadParameter("--known needs the window solver; leave out --solver eb.")
    places = Places() if solver is Solver.eb else _read_places(order, runs, table)
    model: GMCR | EBgMCR
    if solver is Solver.eb:
        try:
            from gmcr.estimators.eb import EBgMCR
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise GMCRError("EBgMCR needs torch; install it with: pip install 'gmcr[eb]'.") from None
        model = EBgMCR(
            pool,
            max_epochs,
            random_state=seed,
            signed=bool(signed),
            learning_rate="scaled" if learning_rate is None else learning_rate,
            usage=usage.value,
            lowest_band=0.95,
            folder=run.training,
            verbose=1,
        )
    else:
        model = GMCR(
            n_components="auto" if components is None else components,
            max_components=max_components,
            fixed_components=profiles.profiles,
            signed="auto" if signed is None else signed,
            noise="auto" if assumed is None else assumed,
            k_max=k_max,
            random_state=seed,
            n_starts=starts,
            n_jobs=jobs,
            verbose=1,
            r2_band=r2_band,
            closure=closure,
            constraints=[constraint_of_words(line) for line in constraint] if constraint else None,
            steps=through,
            background=background,
        )
    if not as_json:
        print_notes(profiles.notes)
    if run.taken() and not force:
        raise typer.BadParameter(f"{output} holds {run.taken()} already; --force replaces it.")
    if force:
        run.begin_anew()
    started = perf_counter()
    with run.made():
        warned = _fit(model, table, run, places, asked.replicates(table))
        if amounts is not None and isinstance(model, GMCR):
            try:
                model.calibrate(amounts.values, units=amounts.units, replicates=amounts.replicates)
            except InputError as error:  # the fit is worth keeping
                warned.append(f"There are no amounts: {error}")
    seconds = perf_counter() - started
    again = reproduction(context, seconds, data)
    written, contents = run.write(
        model, table, source=data.name, warned=warned, reproduce=again, fixed=profiles.names
    )
    if as_json:
        told = {"run": str(output), "written": written} | _as_dict(model) | {"seconds": seconds}
        told |= verdict_as_dict(contents) | {"report": str(run.report)}
        print_json(told | {"notes": [*table.notes, *profiles.notes, *figure_notes()], "warnings": warned})
    else:
        print_notes([*model.chain_.did, *warned])
        say(in_short(model))
        if isinstance(model, GMCR) and model.calibration_ is not None:
            say(f"\n{model.calibration_}\n")
        say(verdict(contents))
        say(f"\nWrote {output}: {', '.join(written)}; {seconds:.2f} s.")
        print_notes(figure_notes())
        say(f"Report: {run.report}")
    no_amounts = amounts is not None and getattr(model, "calibration_", None) is None
    if isinstance(model, GMCR) and model.interrupted_:
        raise Kept
    if no_amounts:
        raise typer.Exit(1)


@dataclass(frozen=True, eq=False)
class Fixed:
    """Known profiles (profiles, channels) on the axis of the samples, their names, and what was inferred."""

    profiles: FloatArray | None = None
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _read_fixed(path: Path | None, wanted: str | None, table: Table) -> Fixed:
    """The profiles that --fixed and --fixed-names ask for."""
    if path is None:
        if wanted is not None:
            raise typer.BadParameter("--fixed-names needs --fixed with the library that holds them.")
        return Fixed()
    import numpy as np

    from gmcr.naming import read_library

    library = read_library(path)
    if wanted is not None:
        whole, parts = wanted.strip(), [name.strip() for name in wanted.split(",") if name.strip()]
        names = [whole] if whole in library.names else parts  # a name may hold commas
        if not names:
            raise typer.BadParameter("--fixed-names is empty; give names, separated by commas.")
        library = library.pick(names)
    library = library.ordered_as(table.channels, "the samples")
    notes = []
    n_channels = table.samples.shape[1]
    if table.axis is None or not library.has_axis:
        profiles = library.by_channel(n_channels).on_axis(np.arange(float(n_channels)))
    else:
        profiles = library.on_axis(table.axis)
        if library.differs(table.axis):
            notes.append("The fixed profiles were interpolated onto the axis of the samples.")
    missing = np.flatnonzero(np.isnan(profiles).any(axis=1))
    if missing.size:
        raise InputError(
            f"{path}: {library.names[missing[0]]!r} does not cover the whole axis of the samples; "
            "cut the samples to the range that it has."
        )
    notes += [f"Component {j} is fixed: {name}." for j, name in enumerate(library.names)]
    return Fixed(profiles, library.names, tuple(notes))


@dataclass(frozen=True, eq=False)
class Known:
    """Known amounts by name, NaN where not known, their units, and labels of replicates."""

    values: dict[str, list[float]]
    units: dict[str, str]
    replicates: list[str] | None


def _read_known(text: str, replicates: str | None, table: Table) -> Known:
    """What --known and --known-replicates name in the metadata of the file."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    units = {name.strip(): unit.strip() for name, _, unit in pairs}
    if not units:
        raise typer.BadParameter(
            "--known is empty; give columns of DATA with known amounts, such as glucose=g/L."
        )
    values = {}
    for name in units:
        column = _column(name, table)
        try:
            values[name] = [float(value) if str(value).strip() else float("nan") for value in column]
        except (TypeError, ValueError):
            raise InputError(
                f"--known: the column {name!r} holds what is no number; leave cells empty where it is not known."
            ) from None
    labels = None if replicates is None else [str(label) for label in _column(replicates, table)]
    return Known(values, units, labels)


def _column(name: str, table: Table) -> list[Any]:
    """A column of the file that is no channel, a value per sample."""
    columns = [key for key, value in table.metadata.items() if isinstance(value, list)]
    if name not in columns:
        there = f"there are: {', '.join(columns)}" if columns else "there is none beside the channels"
        raise InputError(f"DATA has no column {name!r} with a value per sample; {there}.")
    return list(table.metadata[name])


@dataclass(frozen=True, eq=False)
class Places:
    """Which run each sample belongs to, and its place there, where that was told."""

    runs: list[int] | None = None
    order: list[float] | None = None


def _read_places(order: Order | None, runs: str | None, table: Table) -> Places:
    """What --order and --runs say."""
    n_samples = len(table.samples)
    places = None
    if order is Order.rows:
        places = [float(row) for row in range(n_samples)]
    elif order is Order.names:
        try:
            places = [float(name) for name in table.sample_names or ()]
        except ValueError as error:
            raise typer.BadParameter(
                f"--order names needs samples that are named by numbers ({error})."
            ) from None
        if not places:
            raise typer.BadParameter(
                "--order names needs samples that are named by numbers, and they have no names."
            )
    if runs is None:
        return Places(None, places)
    try:
        sizes = [int(size) for size in runs.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"--runs must be a number, or lengths with commas, not {runs!r:.40}."
        ) from None
    if len(sizes) == 1 and sizes[0] > 0 and n_samples % sizes[0] == 0:
        sizes = [n_samples // sizes[0]] * sizes[0]
    if sum(sizes) != n_samples or min(sizes) < 1:
        raise typer.BadParameter(
            f"--runs {runs} does not divide {n_samples} samples; give the length of each run."
        )
    return Places([number for number, size in enumerate(sizes) for _ in range(size)], places)


def _fit(model: GMCR | EBgMCR, table: Table, run: RunFolder, places: Places, replicates: Any) -> list[str]:
    """Fit, and return what was warned of; both solvers go on from what an ended run has left in the folder."""
    from gmcr.estimators.window import GMCR

    if not isinstance(model, GMCR):
        model.fit(table)
        return []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(
            table, replicates=replicates, runs=places.runs, order=places.order, checkpoint=run.checkpoint
        )
    return [(text := in_shell(str(warning.message)))[:1].upper() + text[1:] for warning in caught]


def _as_dict(model: GMCR | EBgMCR) -> dict[str, Any]:
    from gmcr.estimators.window import GMCR

    found = model.decomposition_
    if isinstance(model, GMCR):
        sizes = {"samples": found.n_samples, "channels": found.n_channels, "components": found.n_components}
        learned = {"evidence": model.count_.as_dict(), "noise_law": model.noise_law_.as_dict()}
        fit = {"r2": found.fit["r2"], "usage": found.usage, "interrupted": model.interrupted_}
        known = model.calibration_
        amounts = (
            {} if known is None else {"calibration": known.table().to_dict("records"), "told": known.notes()}
        )
        return sizes | learned | fit | {"steps": list(model.chain_.did)} | amounts
    of_bands = ("low", "high", "epoch", "count", "r2")
    bands = [{name: getattr(band, name) for name in of_bands} for band in model.bands_]
    told = {"components": found.n_components, "usage": found.usage, "epochs": model.n_epochs_}
    return told | {"terminated": model.terminated_, "bands": bands}
