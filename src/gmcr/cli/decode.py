"""`gmcr decode`: concentrations of samples over a known pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gmcr.asking.places import read_places
from gmcr.cli.console import check_suffix, print_json, print_notes, print_table, say
from gmcr.cli.options import (
    NOISE,
    OUTPUT,
    Data,
    Json,
    Memory,
    Metadata,
    Orientation,
    SamplesIn,
    Sheets,
    noise_option,
    option,
    place,
    run_at,
    samples_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from gmcr.calibration import Amounts
    from gmcr.decoder import Decoding
    from gmcr.estimators.window import GMCR
    from gmcr.io.reading import Pool
    from gmcr.io.table import Table

SHOWN = 20  # samples listed on a terminal
LEVEL = 0.95  # of the intervals
PRICE = "Price of a selection, in noise variances."
CONFIDENCE = "How sure each support is; takes longer than decoding."
RUNS = "Column of DATA with the run of each sample, or the lengths of runs, for a run fitted with --known-by-run."
ALLOWED = "Table of what each sample may hold: samples x components, named, with 1 and 0 or true and false."


def decode(
    pool: Annotated[
        Path, place("RUN_OR_POOL", "Run folder, model file (.gmcr), or a table of profiles or signatures.")
    ],
    data: Data,
    output: Annotated[Path | None, option("CSV or XLSX file to write, a row per sample.", *OUTPUT)] = None,
    noise: Annotated[str | None, option(NOISE, default="the model's law, else estimated")] = None,
    price: Annotated[float | None, option(PRICE, default="the model's, else the window's")] = None,
    k_max: Annotated[int | None, option("Most components in a sample.")] = None,
    signed: Annotated[bool, option("Allow negative concentrations.", "--signed")] = False,
    allowed: Annotated[Path | None, option(ALLOWED)] = None,
    runs: Annotated[str | None, option(RUNS, default="one, or the files or sheets")] = None,
    confidence: Annotated[bool, option(CONFIDENCE, "--confidence/--no-confidence")] = True,
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    metadata: Metadata = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Concentrations of samples over a known pool, with 95 % intervals; samples it does not explain are flagged.

    A run that was fitted with --known gives amounts in units first.
    A row of the table holds the concentrations, the ends of their intervals, the confidence that just these
    components are held, and whether the pool explains the sample within its noise.
    What is left of the samples that it does not explain, since they hold something new, goes to a second table
    beside the first: out_unexplained.csv for out.csv.
    Concentrations are in units of the profiles as they are in the file: of signatures that sum to one, in counts.
    Channels that have names, such as mutation types, are matched by name, in whatever order they are.

    \b
    Example:
      gmcr decode run new.csv -o concentrations.csv
      gmcr decode signatures.txt catalogue.csv -o attributions.csv --allowed by_tissue.csv
    """
    check_suffix(output, ".csv", ".xlsx")
    assumed = noise_option(noise)
    from gmcr.io.reading import read_allowed, read_pool
    from gmcr.runs import names_of
    from gmcr.validation import check_same_axis

    folder = run_at(pool)
    known = read_pool(folder.model)
    if pool.is_dir():
        named = {j: match.name for j, match in folder.matches().items() if match.name}
        known = replace(known, names=tuple(named.get(j, name) for j, name in enumerate(known.names)))
    measured = samples_of(data, samples_in, memory, sheets, metadata=metadata)
    table = measured.after(folder.chain())
    check_same_axis(table.axis, known.axis, "the pool")
    table = table.ordered_as(known.channels, "the pool")
    names = names_of(table)
    masks = None if allowed is None else read_allowed(allowed, names, known.names)
    as_learned = price is None and k_max is None and not signed and masks is None
    model = folder.estimator() if as_learned else None
    if runs is not None and model is None:
        raise typer.BadParameter(
            "--runs is for a run that was fitted with --known-by-run, decoded as learned."
        )
    if model is not None:
        out = model.decode(measured, noise=assumed, runs=_runs(runs, model, measured))
    else:
        from gmcr.decoder import decode

        out = decode(
            table.samples,
            known.profiles,
            known.noise if assumed is None else assumed,
            price=price,
            k_max=k_max,
            signed=signed or known.signed,
            allowed=masks,
        )
    if not confidence:
        out = replace(out, find_confidence=None)
    written = [] if output is None else _write(output, out, known, table, names)
    if as_json:
        told = {"components": known.names, "notes": table.notes} | _as_dict(out, known, names)
        print_json(told | {"written": [str(path) for path in written]})
    else:
        print_notes(table.notes)
        _print(out, known, names, written)


def _runs(text: str | None, model: GMCR, table: Table) -> list[str] | None:
    """The run of each sample, for a model whose slopes differ between runs."""
    by_run = model.calibration_ is not None and model.calibration_.runs
    return read_places(None, text, table).runs if by_run or text is not None else None


def _write(path: Path, out: Decoding, pool: Pool, table: Table, names: Sequence[str]) -> list[Path]:
    """The table, and what is left of the samples that the pool does not explain, if there are any."""
    from gmcr.files import changed_together
    from gmcr.io.formats import write_rows
    from gmcr.io.table import corner

    low, high = out.intervals(LEVEL)
    ends = [f"{name} {end}" for name in pool.names for end in ("low", "high")]
    amounts = _amounts(out, len(names))
    columns: dict[str, Any] = {} if out.confidence is None else {"confidence": out.confidence}
    columns |= {"residual": out.residual, "noise": out.noise, "margin": out.margin, "known": out.known}
    rows = (
        [name, *known, *C, *(end for both in zip(a, b) for end in both), *facts]
        for name, known, C, a, b, *facts in zip(
            names, amounts.to_numpy(), out.concentrations, low, high, *columns.values()
        )
    )
    rest = path.with_name(f"{path.stem}_unexplained{path.suffix}")
    with changed_together(path.parent) as staged:
        write_rows(staged.path / path.name, ["sample", *amounts.columns, *pool.names, *ends, *columns], rows)
        if out.known.all():
            staged.removed.add(rest.name)  # of an earlier run: it would be taken for this one's
            return [path]
        left = table.samples - out.concentrations @ pool.profiles
        strangers = ([name, *row] for name, row, own in zip(names, left, out.known) if not own)
        write_rows(staged.path / rest.name, [corner("sample", table.axis_unit), *table.labels], strangers)
    return [path, rest]


def _amounts(out: Decoding, n_samples: int) -> pd.DataFrame:
    """Amounts in units with the ends of their intervals, a row per sample; no columns without a calibration."""
    import pandas as pd

    return pd.DataFrame(index=range(n_samples)) if out.find_amounts is None else out.amounts.table(LEVEL)


def _as_dict(out: Decoding, pool: Pool, names: Sequence[str]) -> dict[str, Any]:
    C, (low, high) = out.concentrations, out.intervals(LEVEL)
    facts = {name: getattr(out, name) for name in ("confidence", "residual", "noise", "margin", "known")}
    samples, told = [], _amounts(out, len(names)).to_dict("records")
    for m, name in enumerate(names):
        held = C[m].nonzero()[0]
        amounts = {pool.names[j]: C[m, j] for j in held}
        intervals = {pool.names[j]: [low[m, j], high[m, j]] for j in held}
        own = {fact: None if values is None else values[m] for fact, values in facts.items()}
        known = {"amounts": told[m]} if told[m] else {}
        samples.append({"sample": name, "concentrations": amounts, "intervals": intervals} | known | own)
    return {"known": out.known.mean(), "level": LEVEL, "samples": samples}


def _print(out: Decoding, pool: Pool, names: Sequence[str], written: list[Path]) -> None:
    from gmcr.text import decoding_line

    say(f"{decoding_line(out)}.")
    strangers = [name for name, known in zip(names, out.known) if not known]
    if strangers:
        shown = ", ".join(strangers[:SHOWN]) + (", …" if len(strangers) > SHOWN else "")
        print_notes([f"Not explained, so that they hold something new or were measured otherwise: {shown}."])
    if written:
        say(f"Wrote {' and '.join(map(str, written))}.")
        return
    rows, C = [], out.concentrations
    reach = None if out.errors is None else out.intervals(LEVEL)[1] - C
    units = None if out.find_amounts is None else _told(out.amounts)
    for m, name in enumerate(names[:SHOWN]):
        amounts = [
            f"{pool.names[j]} {C[m, j]:.4g}" + ("" if reach is None else f" ± {reach[m, j]:.2g}")
            for j in C[m].nonzero()[0]
        ]
        sure = [] if out.confidence is None else [f"{out.confidence[m]:.2f}"]
        known = [] if units is None else [units[m]]
        rows.append((name, *known, ", ".join(amounts), *sure, bool(out.known[m])))
    header = (
        "sample",
        *([] if units is None else ["amounts"]),
        "holds",
        *([] if out.confidence is None else ["confidence"]),
        "known",
    )
    print_table(header, rows)
    if len(out.known) > SHOWN:
        say(f"The first {SHOWN} of {len(out.known)} samples; -o FILE writes all.")


def _told(amounts: Amounts) -> list[str]:
    """Amounts of each sample with their intervals, in words."""
    told = []
    for values, low, high in zip(amounts.values, *amounts.intervals(LEVEL)):
        named = zip(amounts.names, values, low, high, amounts.units)
        parts = (f"{name} {x:.4g} ({a:.3g} to {b:.3g}) {unit}".rstrip() for name, x, a, b, unit in named)
        told.append(", ".join(parts))
    return told
