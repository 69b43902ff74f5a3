"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.cli.console import printable

if TYPE_CHECKING:
    from gmcr.io.table import Table

RUN_MODEL = "model.gmcr"  # the model's name in a run folder


class SamplesIn(StrEnum):
    auto = "auto"
    rows = "rows"
    columns = "columns"


def file_argument(metavar: str, text: str, *, folder: bool = False) -> Any:
    return typer.Argument(metavar=metavar, help=text, exists=True, dir_okay=folder)


Data = Annotated[
    Path,
    file_argument(
        "DATA",
        "Samples: a table (CSV, XLSX, Parquet), arrays (NPY, NPZ, MAT, HDF5, NetCDF, RData), spectra (JCAMP-DX, "
        "SPC, OPUS, WDF), or a folder of spectra.",
        folder=True,
    ),
]
Orientation = Annotated[
    SamplesIn, typer.Option("--samples-in", "--orientation", help="Where a table has its samples.")
]
Components = Annotated[int, typer.Option(help="Number of components.")]
Samples = Annotated[int | None, typer.Option(help="Number of samples.", show_default="4 per component")]
Snr = Annotated[float, typer.Option(help="Signal-to-noise ratio in dB.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def number_of_samples(samples: int | None, components: int) -> int:
    return 4 * components if samples is None else samples


def noise_option(text: str | None) -> float | str | None:
    """What --noise says: a number, a law's name, or nothing."""
    from gmcr.noise import LAWS

    if text is None or text in LAWS:
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"--noise must be a number or one of {', '.join(LAWS)}, not {text!r}."
        ) from None


def names_of(table: Table) -> Sequence[str]:
    """The samples' names, or their numbers."""
    return table.sample_names or [str(index) for index in range(len(table.samples))]


def print_notes(notes: Sequence[str]) -> None:
    """What was inferred, on standard error."""
    for note in notes:
        typer.echo(printable(note), err=True)


def model_of(path: Path) -> Path:
    """The model file of a run folder; any other path is the file itself."""
    if not path.is_dir():
        return path
    if not (path / RUN_MODEL).exists():
        raise typer.BadParameter(f"{path} is no run folder: there is no {RUN_MODEL} in it.")
    return path / RUN_MODEL
