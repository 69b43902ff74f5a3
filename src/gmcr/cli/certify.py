"""`gmcr certify`: what is proved about a run, and what speaks against it."""

from __future__ import annotations

from typing import Annotated

from gmcr.cli.console import print_json, print_notes, say, wrong_call
from gmcr.cli.options import (
    Data,
    Json,
    Memory,
    Metadata,
    Orientation,
    Run,
    SamplesIn,
    Sheets,
    option,
    run_and_samples,
)


def certify(
    run: Run,
    data: Data,
    noise: Annotated[float | None, option("Standard deviation of the noise.", default="the model's")] = None,
    alpha: Annotated[float, option("Probability that the noise exceeds what is assumed.")] = 0.05,
    k: Annotated[int | None, option("Most components in a sample.", default="the run's", least=1)] = None,
    c_min: Annotated[
        float | None, option("Smallest concentration of a component.", default="the run's")
    ] = None,
    known_pool: Annotated[
        bool, option("The profiles are known, not learned from these samples.", "--known-pool")
    ] = False,
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    metadata: Metadata = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """What is proved about a run, under which conditions, and what speaks against it.

    DATA are the samples that were unmixed. The table lists conditions C1 to C11 of the paper's Theorem 2.

    \b
    Example:
      gmcr certify run mixtures.csv
    """
    from gmcr.theory.certificate import certify

    found, table = run_and_samples(run, data, samples_in, memory, sheets, metadata)
    with wrong_call():
        out = certify(table.samples, found, noise, alpha, k, c_min, known_pool=known_pool)
    if as_json:
        print_json(out.to_dict() | {"notes": table.notes})
        return
    print_notes(table.notes)
    say(str(out))
    say("")
    say(out.components.to_string(index=False, float_format=lambda value: f"{value:.4g}", max_rows=40))
