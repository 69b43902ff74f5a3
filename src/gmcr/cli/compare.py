"""`gmcr compare`: what differs between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from gmcr.cli.console import print_json, print_table, say
from gmcr.cli.options import Json, place, run_at

if TYPE_CHECKING:
    from gmcr.decomposition import Decomposition


def compare(
    run: Annotated[Path, place("RUN", "Run folder, or its model file (.gmcr).")],
    other: Annotated[Path, place("RUN", "Another one, on the same channels.")],
    as_json: Json = False,
) -> None:
    """What differs between two runs: counts, fit, which component is which, and how alike they are.

    Components are matched by the cosine of their profiles; where both runs are of samples of the same names,
    their concentrations are correlated too.

    \b
    Example:
      gmcr compare run other
    """
    first, second = run_at(run).solution(), run_at(other).solution()
    counts, rows = _facts(first, second), _pairs(first, second)
    if as_json:
        columns = ("component", "other", "cosine", "correlation")
        print_json(
            {"runs": [str(run), str(other)], **counts, "pairs": [dict(zip(columns, row)) for row in rows]}
        )
        return
    print_table(("", str(run), str(other)), [(name, *values) for name, values in counts.items()])
    say("")
    header = ("component", "other", "cosine", "correlation")
    print_table(header, [["—" if value is None else value for value in row] for row in rows])


def _facts(*runs: Decomposition) -> dict[str, list[Any]]:
    return {
        "components": [run.n_components for run in runs],
        "samples": [run.n_samples for run in runs],
        "channels": [run.n_channels for run in runs],
        "selections": [run.usage for run in runs],
        "R²": [run.fit.get("r2") for run in runs],
        "noise": [(run.noise_law or {}).get("kind", "unknown") for run in runs],
    }


def _pairs(first: Decomposition, second: Decomposition) -> list[tuple[Any, ...]]:
    """Components matched one to one, then those that are in one run only: names, cosine, correlation."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    from gmcr.errors import InputError
    from gmcr.validation import channel_order, check_same_axis

    if first.n_channels != second.n_channels:
        raise InputError(
            f"the runs have {first.n_channels} and {second.n_channels} channels; compare runs on the same ones."
        )
    check_same_axis(second.axis, first.axis, "the first run")
    order = channel_order(second.channels, first.channels, "the first run")
    profiles = second.components if order is None else second.components[:, order]
    cosines = first.components @ profiles.T
    rows, columns = linear_sum_assignment(-cosines)
    same = first.n_samples == second.n_samples and first.sample_names == second.sample_names

    def correlation(j: int, k: int) -> float | None:
        a, b = first.concentrations[:, j], second.concentrations[:, k]
        return float(np.corrcoef(a, b)[0, 1]) if same and np.ptp(a) > 0 and np.ptp(b) > 0 else None

    found: list[tuple[Any, ...]] = [
        (first.names[j], second.names[k], float(cosines[j, k]), correlation(j, k))
        for j, k in zip(rows, columns)
    ]
    found += [(name, None, None, None) for j, name in enumerate(first.names) if j not in rows]
    return found + [(None, name, None, None) for k, name in enumerate(second.names) if k not in columns]
