"""`gmcr report`: the report of a run, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gmcr.cli.console import (
    check_suffix,
    figure_notes,
    print_json,
    print_notes,
    say,
    verdict,
    verdict_as_dict,
)
from gmcr.cli.options import (
    OUTPUT,
    Json,
    Memory,
    Metadata,
    Orientation,
    Run,
    SamplesIn,
    Sheets,
    Unit,
    option,
    place,
    run_at,
    samples_of,
)

COUNT = "Report another count instead, to RUN/report_COUNT.html; needs DATA, and the time of a fit."
UNMIXED = "The samples that were unmixed: fit, confidence and certificate are computed anew."


def report(
    run: Run,
    data: Annotated[Path | None, place("[DATA]", UNMIXED, default=False)] = None,
    output: Annotated[
        Path | None, option("HTML file to write instead.", *OUTPUT, default="RUN/report.html")
    ] = None,
    components: Annotated[int | None, option(COUNT, default="as found", least=1)] = None,
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    unit: Unit = None,
    metadata: Metadata = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Make the report of a run anew, one HTML file to read and to send on; names from gmcr match are in it.

    \b
    Example:
      gmcr report run
      gmcr report run mixtures.csv -o report.html
      gmcr report run mixtures.csv --components 4
    """
    check_suffix(output, ".html")
    from gmcr.reporting.page import write_report

    folder = run_at(run)
    table = None if data is None else samples_of(data, samples_in, memory, sheets, unit, metadata)
    if table is not None and not as_json:
        print_notes(table.notes)
    source = "" if data is None else data.name
    if components is None:
        contents = folder.contents(table, source)
    else:
        contents = folder.at_count(components, table, source)
    if output is None and run.is_dir():
        folder.write_report(contents, components)
        output = folder.report_at(components)
        if components is None and not as_json:
            print_notes(figure_notes())
    else:
        beside = folder.model.with_suffix(".html") if components is None else folder.report_at(components)
        output = beside if output is None else output
        write_report(contents, output)
    if as_json:
        print_json({"report": str(output)} | verdict_as_dict(contents))
    else:
        say(verdict(contents))
        say(f"Report: {output}")
