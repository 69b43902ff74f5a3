"""The command `gmcr`: parse, call, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.ambiguity import ambiguity
from gmcr.cli.certify import certify
from gmcr.cli.console import check_suffix, print_json, print_table, run, wrong_call
from gmcr.cli.decode import decode
from gmcr.cli.demo import demo
from gmcr.cli.fit import fit
from gmcr.cli.match import match
from gmcr.cli.options import (
    Components,
    Data,
    Json,
    Orientation,
    Samples,
    SamplesIn,
    Seed,
    Snr,
    file_argument,
    number_of_samples,
    print_notes,
)
from gmcr.cli.report import report

if TYPE_CHECKING:
    from gmcr.io.table import Table
    from gmcr.mixtures import Mixtures

app = typer.Typer(
    help="Unmix spectra: how many components, their profiles, and which sample holds which.",
    rich_markup_mode=None,
    add_completion=False,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, 1 (the work failed) or 2 (the call was wrong)."""
    return run(app, "gmcr", argv)


class ProfileKind(StrEnum):
    orthonormal = "orthonormal"
    peaks = "peaks"
    bands = "bands"


class NoiseKind(StrEnum):
    proportional = "proportional"
    constant = "constant"
    poisson = "poisson"


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    if version:
        import gmcr

        typer.echo(f"gmcr {gmcr.__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(demo)
app.command()(fit)
app.command()(decode)
app.command()(match)
app.command()(certify)
app.command()(ambiguity)
app.command()(report)


@app.command()
def synth(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File to write: .csv (the samples) or .npz (D, C, S, sigma)."),
    ],
    components: Components = 16,
    samples: Samples = None,
    snr: Snr = 20.0,
    noiseless: Annotated[bool, typer.Option("--noiseless", help="Add no noise.")] = False,
    channels: Annotated[int, typer.Option(help="Number of channels.")] = 512,
    active: Annotated[tuple[int, int], typer.Option(help="Fewest and most components in a sample.")] = (1, 4),
    concentration: Annotated[tuple[float, float], typer.Option(help="Bounds of the concentrations.")] = (
        1.0,
        10.0,
    ),
    profiles: Annotated[ProfileKind, typer.Option(help="Kind of profiles.")] = ProfileKind.orthonormal,
    noise: Annotated[NoiseKind, typer.Option(help="Kind of noise.")] = NoiseKind.proportional,
    counts: Annotated[float, typer.Option(help="Mean counts of an entry, for Poisson noise.")] = 1000.0,
    offset: Annotated[float, typer.Option(help="Constant added to every entry.")] = 0.0,
    signed: Annotated[bool, typer.Option("--signed", help="Profiles of any sign.")] = False,
    closure: Annotated[
        bool, typer.Option("--closure", help="Concentrations of a sample sum to one.")
    ] = False,
    truth: Annotated[
        Path | None, typer.Option(help="Model file (.gmcr) to write the true components to.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write a synthetic data set: the paper's Algorithm 2, and variations.

    \b
    Example:
      gmcr synth -o mixtures.csv --components 16 --snr 30 --truth truth.gmcr
    """
    check_suffix(output, ".csv", ".npz")
    if truth is not None:
        check_suffix(truth, ".gmcr")
    from gmcr.mixtures import make_mixtures

    with wrong_call():
        mix = make_mixtures(
            components,
            number_of_samples(samples, components),
            snr_db=None if noiseless else snr,
            n_features=channels,
            active=active,
            concentration=concentration,
            random_state=seed,
            profiles=profiles.value,
            noise=noise.value,
            counts=counts,
            offset=offset,
            signed=signed,
            closure=closure,
        )
    _write_mixtures(mix, output, truth, signed)
    written = [str(path) for path in (output, truth) if path is not None]
    if as_json:
        shape = {"samples": len(mix.D), "channels": mix.D.shape[1], "components": len(mix.S)}
        print_json({"written": written} | shape)
    else:
        typer.echo(f"Wrote {' and '.join(written)}: {mix!r}.")


@app.command()
def rank(data: Data, samples_in: Orientation = SamplesIn.auto, as_json: Json = False) -> None:
    """The quick look at the number of components: rules on the singular values, and whether they agree.

    \b
    Example:
      gmcr rank mixtures.csv
    """
    from gmcr.io.reading import read_table
    from gmcr.rank import estimate_rank

    table = read_table(data, samples_in=samples_in.value)
    report = estimate_rank(table.samples)
    if as_json:
        counts = [
            {"rule": rule, "scaling": scaling, "count": count}
            for (rule, scaling), count in report.counts.items()
        ]
        print_json(
            {"count": report.count, "agree": report.agree, "scaling": report.scaling, "white": report.white}
            | {"counts": counts, "notes": [*table.notes, *report.notes]}
        )
    else:
        print_notes(table.notes)
        typer.echo(str(report))


@app.command()
def info(
    file: Annotated[
        Path, file_argument("FILE", "A data file, a folder of spectra or a model file.", folder=True)
    ],
    samples_in: Orientation = SamplesIn.auto,
    as_json: Json = False,
) -> None:
    """What is in a data or model file.

    \b
    Example:
      gmcr info truth.gmcr
    """
    from gmcr.io.reading import MODEL, read_table

    if file.suffix.lower() == MODEL:
        _print_model(file, as_json)
        return
    table = read_table(file, samples_in=samples_in.value)
    facts = _facts(table)
    if as_json:
        print_json({"kind": "data"} | facts | {"notes": table.notes})
    else:
        print_notes(table.notes)
        print_table(("", ""), facts.items())


def _write_mixtures(mix: Mixtures, output: Path, truth: Path | None, signed: bool) -> None:
    if output.suffix.lower() == ".npz":
        from gmcr.io.arrays import write_arrays

        write_arrays(output, D=mix.D, C=mix.C, S=mix.S, sigma=mix.sigma)
    else:
        from gmcr.io.csv import write_csv

        rows = ([f"sample {index}", *row] for index, row in enumerate(mix.D))
        write_csv(output, ["sample", *range(mix.D.shape[1])], rows)
    if truth is not None:
        from gmcr.decomposition import Decomposition

        Decomposition(mix.S, mix.C, noise=mix.sigma, signed=signed).save(truth)


def _print_model(file: Path, as_json: bool) -> None:
    from gmcr.decomposition import Decomposition

    model = Decomposition.load(file)
    if not as_json:
        typer.echo(str(model))
        return
    plain = ("noise_law", "settings", "fit", "signed", "component_names")
    sizes = {"components": model.n_components, "samples": model.n_samples, "channels": model.n_channels}
    print_json(
        {"kind": "model"} | sizes | {"usage": model.usage} | {name: getattr(model, name) for name in plain}
    )


def _facts(table: Table) -> dict[str, Any]:
    import numpy as np

    from gmcr.validation import check_samples

    D = check_samples(table.samples, copy=False)
    return {
        "samples": D.shape[0],
        "channels": D.shape[1],
        "axis": "none"
        if table.axis is None
        else f"{table.axis[0]:g} to {table.axis[-1]:g} {table.axis_unit or ''}".strip(),
        "missing": int(np.isnan(D).sum()),
        "smallest": float(np.nanmin(D)),
        "largest": float(np.nanmax(D)),
        "negative": int((D < 0).sum()),
    }
