"""A run as the page shows it: `python -m gmcr.app.previews.page PROJECT [DATA] [--count N] [READING…]`.

Written are, in the project's folder of the page: the report as data, and what it takes to show single samples.
The numbers are those of `gmcr report`: the run's own as they are kept, another count as the model finds it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.app.project import Project
from gmcr.asking.samples import Reading
from gmcr.errors import GMCRError, printable
from gmcr.files import changed_together
from gmcr.io.table import Table
from gmcr.reporting.charts import numbers
from gmcr.reporting.collect import table_of
from gmcr.reporting.contents import Contents
from gmcr.reporting.live import as_live
from gmcr.runs import RunFolder
from gmcr.validation import evenly

MOST_CHANNELS = 2_000  # of a single sample's picture
ROUNDED = np.dtype("<f4")  # of what is kept to be looked at


def main() -> None:
    options = argparse.ArgumentParser(allow_abbrev=False)
    options.add_argument("project", type=Path)
    options.add_argument("data", type=Path, nargs="?")
    options.add_argument("--count", type=int)
    options.add_argument("--samples-in", default="auto")
    options.add_argument("--sheets", action="store_true")
    options.add_argument("--unit")
    options.add_argument("--metadata")
    given = options.parse_args()
    reading = Reading(given.samples_in, given.sheets, given.unit, given.metadata)
    try:
        make(Project(given.project), given.data, reading, given.count)
    except GMCRError as error:
        raise SystemExit(f"gmcr: {printable(' '.join(str(error).split()))}") from None


def make(project: Project, data: Path | None, reading: Reading, count: int | None) -> None:
    """Write what the page shows of a run, or of another count of it."""
    run = RunFolder.at(project.path)
    table = None if data is None else reading.read(data)
    if count is None:
        contents = run.contents()
    else:
        contents = run.at_count(count, table, "" if data is None else data.name)
        run.write_report(contents, count)
    measured = _measured(run, table, contents)
    page, arrays = project.page(count), _arrays(contents, measured)
    told = as_live(contents) | {"counts": _counts(contents), "sample": _for_samples(contents, measured)}
    project.own.mkdir(exist_ok=True)
    with changed_together(project.own) as staged:
        (staged.path / page.name).write_text(json.dumps(told, allow_nan=False), encoding="utf-8")
        (staged.path / page.with_suffix(".f32").name).write_bytes(arrays.tobytes())
        old = [*project.own.glob("page-*.json"), *project.own.glob("page-*.f32")]
        staged.removed |= {path.name for path in old if not path.stem.endswith(project.stamp())}


def _measured(run: RunFolder, table: Table | None, contents: Contents) -> Any:
    """The samples after the steps, if they are those that were unmixed."""
    if table is None:
        return None
    try:
        return table_of(table.after(run.chain(), training=True), contents.found).samples
    except GMCRError:  # the file beside the run is another one by now
        return None


def _counts(contents: Contents) -> dict[str, Any]:
    """Which counts there are to look at: how likely each is, and what the samples allow."""
    evidence, found = contents.count, contents.found
    chances = {} if evidence is None else evidence.probabilities
    return {
        "own": found.n_components,
        "most": min(found.n_samples, found.n_channels),
        "low": None if evidence is None else evidence.low,
        "high": None if evidence is None else evidence.high,
        "chances": [[int(k), float(f"{p:.4g}")] for k, p in chances.items()],
    }


def _channels(contents: Contents) -> Any:
    """Those of a single sample's picture."""
    return evenly(contents.found.n_channels, MOST_CHANNELS)


def _for_samples(contents: Contents, measured: Any) -> dict[str, Any]:
    """What the page needs to draw any sample with what it is made of; what goes by sample is in a file beside."""
    found, (axis, label, falls) = contents.found, contents.axis
    rows = _channels(contents)
    total = np.abs(found.concentrations).sum(axis=0)
    return {
        "names": list(contents.sample_names),
        "axis": numbers(axis[rows], 7),
        "axis_label": label,
        "reverse": falls,
        "profiles": [numbers(profile[rows], 5) for profile in found.components],
        "totals": numbers(total, 6),
        "channels": len(rows),
        "measured": measured is not None,
        "shape": None if contents.shape is None else list(contents.shape),
        "pixels": None if contents.pixels is None else contents.pixels.tolist(),
    }


def _arrays(contents: Contents, measured: Any) -> Any:
    """A row per sample: its amounts, then what was measured of it, where that is known."""
    amounts = contents.found.concentrations
    parts = [amounts] if measured is None else [amounts, measured[:, _channels(contents)]]
    return np.ascontiguousarray(np.hstack(parts), dtype=ROUNDED)


if __name__ == "__main__":
    main()
