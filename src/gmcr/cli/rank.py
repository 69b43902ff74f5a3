"""`gmcr rank`: the quick look at the number of components."""

from __future__ import annotations

from gmcr.cli.console import print_json, print_notes, say
from gmcr.cli.options import Data, Json, Memory, Orientation, SamplesIn, Sheets, samples_of


def rank(
    data: Data,
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """The quick look at the number of components: rules on the singular values, and whether they agree.

    \b
    Example:
      gmcr rank mixtures.csv
    """
    from gmcr.rank import estimate_rank

    table = samples_of(data, samples_in, memory, sheets)
    report = estimate_rank(table.samples)
    if as_json:
        told = {name: getattr(report, name) for name in ("count", "agree", "scaling", "white")}
        columns = ("rule", "scaling", "count")
        counts = [dict(zip(columns, (*place, count))) for place, count in report.counts.items()]
        print_json(told | {"counts": counts, "notes": [*table.notes, *report.notes]})
    else:
        print_notes(table.notes)
        say(str(report))
