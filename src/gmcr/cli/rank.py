"""`gmcr rank`: the quick look at the number of components."""

from __future__ import annotations

from gmcr.cli.console import print_json, print_notes, say
from gmcr.cli.options import Data, Json, Memory, Metadata, Orientation, SamplesIn, Sheets, samples_of


def rank(
    data: Data,
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    metadata: Metadata = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """The quick look at the number of components: rules on the singular values, and whether they agree.

    Told beside it: what the detector seems to have done (spikes, hot or dead channels, clipped readings, samples
    that hold something else or whose axis is shifted).

    \b
    Example:
      gmcr rank mixtures.csv
    """
    from gmcr.disturbances import find_disturbances
    from gmcr.rank import estimate_rank

    table = samples_of(data, samples_in, memory, sheets, metadata=metadata)
    report = estimate_rank(table.samples)
    found = find_disturbances(table.samples)
    if as_json:
        told = {name: getattr(report, name) for name in ("count", "agree", "scaling", "white")}
        columns = ("rule", "scaling", "count")
        counts = [dict(zip(columns, (*place, count))) for place, count in report.counts.items()]
        disturbances = [{"kind": one.kind, "sample": one.sample, "channel": one.channel} for one in found]
        notes = [*table.notes, *report.notes]
        print_json(told | {"counts": counts, "disturbances": disturbances, "notes": notes})
    else:
        print_notes(table.notes)
        say(str(report))
        say(found.in_short())
