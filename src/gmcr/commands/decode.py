"""`gmcr decode`: concentrations of samples over a known pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.commands.options import (
    Data,
    Json,
    Orientation,
    SamplesIn,
    file_argument,
    model_of,
    names_of,
    noise_option,
    print_notes,
)
from gmcr.console import check_suffix, print_json, print_table

if TYPE_CHECKING:
    from gmcr.decoding import Decoding
    from gmcr.io.reading import Pool
    from gmcr.io.table import Table

SHOWN = 20  # samples listed on a terminal


def decode(
    pool: Annotated[
        Path,
        file_argument(
            "RUN_OR_POOL",
            "Run folder, model file (.gmcr), or a table with a profile per row.",
            folder=True,
        ),
    ],
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
        typer.Option(
            help="Price of a selection, in noise variances.", show_default="the model's, else the window's"
        ),
    ] = None,
    k_max: Annotated[int | None, typer.Option(help="Most components in a sample.")] = None,
    signed: Annotated[bool, typer.Option("--signed", help="Allow negative concentrations.")] = False,
    samples_in: Orientation = SamplesIn.auto,
    as_json: Json = False,
) -> None:
    """Concentrations of samples over a known pool; samples it does not explain are flagged.

    \b
    Example:
      gmcr decode run new.csv -o concentrations.csv
    """
    if output is not None:
        check_suffix(output, ".csv")
    assumed = noise_option(noise)
    from gmcr.io.reading import check_same_axis, read_pool, read_table

    file = model_of(pool)
    known = read_pool(file)
    table = read_table(data, samples_in=samples_in.value)
    check_same_axis(known, table)
    if price is None and k_max is None and not signed and _is_estimator(file):
        from gmcr.window.estimator import GMCR

        out = GMCR.load(file).decode(table.samples, noise=assumed)
    else:
        from gmcr.decoding import decode

        out = decode(
            table.samples,
            known.profiles,
            known.noise if assumed is None else assumed,
            price=price,
            k_max=k_max,
            signed=signed or known.signed,
        )
    if output is not None:
        _write(output, out, known, table)
    if as_json:
        print_json(_as_dict(out, known, table))
    else:
        _print(out, known, table, output)


def _is_estimator(file: Path) -> bool:
    from gmcr.io.reading import MODEL
    from gmcr.storage import read_model

    return file.suffix.lower() == MODEL and read_model(file)[1]["kind"] == "GMCR"


def _write(path: Path, out: Decoding, pool: Pool, table: Table) -> None:
    from gmcr.io.csv import write_csv

    header = ["sample", *pool.names, "residual", "noise", "margin", "known"]
    facts = zip(out.residual, out.noise, out.margin, out.known)
    rows = ([name, *C, *fact] for name, C, fact in zip(names_of(table), out.concentrations, facts))
    write_csv(path, header, rows)


def _held(row: Any, pool: Pool) -> dict[str, float]:
    return {pool.names[slot]: float(row[slot]) for slot in row.nonzero()[0]}


def _as_dict(out: Decoding, pool: Pool, table: Table) -> dict[str, Any]:
    rows = zip(names_of(table), out.concentrations, out.residual, out.noise, out.margin, out.known)
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


def _print(out: Decoding, pool: Pool, table: Table, output: Path | None) -> None:
    print_notes(table.notes)
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
        for name, C, known in list(zip(names_of(table), out.concentrations, out.known))[:SHOWN]
    ]
    print_table(("sample", "holds", "known"), rows)
    if len(out.known) > SHOWN:
        typer.echo(f"The first {SHOWN} of {len(out.known)} samples; -o FILE writes all.")
