"""The command `gmcr`: parse, call, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.console import check_suffix, print_json, print_table, printable, sentence, wrong_call

if TYPE_CHECKING:
    from gmcr.decoding import Decoding
    from gmcr.io.reading import Pool
    from gmcr.io.table import Table
    from gmcr.mixtures import Mixtures

SHOWN = 20  # samples listed on a terminal

app = typer.Typer(
    help="Unmix spectra: how many components, their profiles, and which sample holds which.",
    rich_markup_mode=None,
    add_completion=False,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, 1 (the work failed) or 2 (the call was wrong)."""
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = [argument for argument in given if argument != "--debug"]
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="gmcr", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except Exception as error:
        if len(arguments) < len(given):
            raise
        print(f"gmcr: {sentence(error)}", file=sys.stderr)
        return int(getattr(error, "exit_code", 1))


class ProfileKind(StrEnum):
    orthonormal = "orthonormal"
    peaks = "peaks"
    bands = "bands"


class NoiseKind(StrEnum):
    proportional = "proportional"
    constant = "constant"
    poisson = "poisson"


class SamplesIn(StrEnum):
    auto = "auto"
    rows = "rows"
    columns = "columns"


def _file(metavar: str, text: str) -> Any:
    return typer.Argument(metavar=metavar, help=text, exists=True, dir_okay=False)


Data = Annotated[Path, _file("DATA", "Samples: CSV or another text table, .npy or .npz.")]
Orientation = Annotated[SamplesIn, typer.Option(help="Where a text table has its samples.")]
Components = Annotated[int, typer.Option(help="Number of components.")]
Samples = Annotated[int | None, typer.Option(help="Number of samples.", show_default="4 per component")]
Snr = Annotated[float, typer.Option(help="Signal-to-noise ratio in dB.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


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


@app.command()
def demo(
    components: Components = 64,
    samples: Samples = None,
    snr: Snr = 20.0,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Synthesise mixtures, decode them, and print found against true.

    The decoder is given the true profiles; unmixing blind comes with the next version.

    \b
    Example:
      gmcr demo --components 32 --snr 30
    """
    from gmcr.decoding import decode
    from gmcr.matching import match
    from gmcr.mixtures import make_mixtures

    with wrong_call():
        mix = make_mixtures(components, _samples(samples, components), snr_db=snr, random_state=seed)
    decode(mix.D[:1], mix.S)  # compiles, or loads the compiled code, outside the time told
    started = perf_counter()
    out = decode(mix.D, mix.S)
    seconds = perf_counter() - started
    compared = match((mix.S, out.concentrations), mix)
    pairs = {
        "components": (compared.count, compared.true_count),
        "selections": (int(out.supports.sum()), int(mix.supports.sum())),
        "total concentration": (float(out.concentrations.sum()), float(mix.C.sum())),
        "median noise": (_median(out.noise), _median(mix.sigma)),
    }
    if as_json:
        print_json(
            {"profiles": "true", "samples": len(mix.D), "channels": mix.D.shape[1], "snr_db": snr}
            | {name: {"found": found, "true": true} for name, (found, true) in pairs.items()}
            | {"exact": compared.exact, "known": out.known.mean(), "seconds": seconds}
        )
        return
    typer.echo(
        f"{len(mix.D)} samples x {mix.D.shape[1]} channels, mixtures of up to 4 of {components} components, "
        f"{snr:g} dB.\nDecoded with the true profiles; unmixing blind comes with the next version.\n"
    )
    print_table(("", "found", "true"), [(name, *pair) for name, pair in pairs.items()])
    typer.echo(
        f"\nSupports exact on {compared.exact:.1%} of the samples; {out.known.mean():.1%} of the samples "
        f"explained within their noise; {seconds:.2f} s."
    )


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
            _samples(samples, components),
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
def decode(
    pool: Annotated[Path, _file("MODEL_OR_POOL", "Model file (.gmcr), or a table with a profile per row.")],
    data: Data,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file to write, a row per sample.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Noise: its standard deviation, or its law (constant, proportional or poisson).",
            show_default="the model's law, else estimated",
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(help="Price of a selection, in noise variances.", show_default="from the window"),
    ] = None,
    k_max: Annotated[int | None, typer.Option(help="Most components in a sample.")] = None,
    signed: Annotated[bool, typer.Option("--signed", help="Allow negative concentrations.")] = False,
    samples_in: Orientation = SamplesIn.auto,
    as_json: Json = False,
) -> None:
    """Concentrations of samples over a known pool; samples it does not explain are flagged.

    \b
    Example:
      gmcr decode truth.gmcr mixtures.csv -o concentrations.csv
    """
    if output is not None:
        check_suffix(output, ".csv")
    assumed = _noise(noise)
    from gmcr.decoding import decode
    from gmcr.io.reading import check_same_axis, read_pool, read_table

    known = read_pool(pool)
    table = read_table(data, samples_in=samples_in.value)
    check_same_axis(known, table)
    out = decode(
        table.samples,
        known.profiles,
        known.noise if assumed is None else assumed,
        price=price,
        k_max=k_max,
        signed=signed or known.signed,
    )
    if output is not None:
        _write_decoding(output, out, known, table)
    if as_json:
        print_json(_decoding_as_dict(out, known, table))
    else:
        _print_decoding(out, known, table, output)


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
        _print_notes(table.notes)
        typer.echo(str(report))


@app.command()
def info(
    file: Annotated[Path, _file("FILE", "A data file or a model file.")],
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
        _print_notes(table.notes)
        print_table(("", ""), facts.items())


def _samples(samples: int | None, components: int) -> int:
    return 4 * components if samples is None else samples


def _noise(text: str | None) -> float | str | None:
    """What --noise says: a number, a law's name, or nothing."""
    from gmcr.noise import KINDS

    if text is None or text in KINDS:
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"--noise must be a number or one of {', '.join(KINDS)}, not {text!r}."
        ) from None


def _median(values: Any) -> float:
    import numpy as np

    return float(np.median(values))


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


def _names(table: Table) -> Sequence[str]:
    return table.sample_names or [str(index) for index in range(len(table.samples))]


def _write_decoding(path: Path, out: Decoding, pool: Pool, table: Table) -> None:
    from gmcr.io.csv import write_csv

    header = ["sample", *pool.names, "residual", "noise", "margin", "known"]
    facts = zip(out.residual, out.noise, out.margin, out.known)
    rows = ([name, *C, *fact] for name, C, fact in zip(_names(table), out.concentrations, facts))
    write_csv(path, header, rows)


def _held(row: Any, pool: Pool) -> dict[str, float]:
    return {pool.names[slot]: float(row[slot]) for slot in row.nonzero()[0]}


def _decoding_as_dict(out: Decoding, pool: Pool, table: Table) -> dict[str, Any]:
    rows = zip(_names(table), out.concentrations, out.residual, out.noise, out.margin, out.known)
    return {
        "components": list(pool.names),
        "notes": table.notes,
        "known": out.known.mean(),
        "samples": [
            {"sample": name, "concentrations": _held(C, pool)}
            | {"residual": residual, "noise": noise, "margin": margin, "known": known}
            for name, C, residual, noise, margin, known in rows
        ],
    }


def _print_decoding(out: Decoding, pool: Pool, table: Table, output: Path | None) -> None:
    _print_notes(table.notes)
    typer.echo(
        f"{len(out.known)} samples over {len(pool.names)} components: {out.supports.sum(axis=1).mean():.3g} "
        f"components per sample, {out.known.mean():.1%} of the samples explained within their noise."
    )
    if output is not None:
        typer.echo(f"Wrote {output}.")
        return
    rows = [
        (
            name,
            ", ".join(f"{component} {amount:.4g}" for component, amount in _held(C, pool).items()),
            bool(known),
        )
        for name, C, known in list(zip(_names(table), out.concentrations, out.known))[:SHOWN]
    ]
    print_table(("sample", "holds", "known"), rows)
    if len(out.known) > SHOWN:
        typer.echo(f"The first {SHOWN} of {len(out.known)} samples; -o FILE writes all.")


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        typer.echo(printable(note), err=True)


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
        "axis": "none" if table.axis is None else f"{table.axis[0]:g} to {table.axis[-1]:g}",
        "missing": int(np.isnan(D).sum()),
        "smallest": float(np.nanmin(D)),
        "largest": float(np.nanmax(D)),
        "negative": int((D < 0).sum()),
    }
