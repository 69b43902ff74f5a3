"""`gmcr ambiguity`: could each component look different and fit as well?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gmcr.cli.console import check_suffix, print_json, print_notes, say, wrong_call
from gmcr.cli.options import (
    OUTPUT,
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
    run_at,
)


def ambiguity(
    run: Run,
    data: Data,
    output: Annotated[
        Path | None, option("CSV file to write: each component's profile at both ends.", *OUTPUT)
    ] = None,
    noise: Annotated[float | None, option("Standard deviation of the noise.", default="the model's")] = None,
    c_min: Annotated[
        float | None, option("Smallest concentration of a component that a sample holds.")
    ] = None,
    closure: Annotated[bool, option("Concentrations sum to one.", "--closure")] = False,
    next_: Annotated[
        bool, option("Also say which further sample would close what is open.", "--next")
    ] = False,
    any_support: Annotated[bool, option("Let every sample hold every component.", "--any-support")] = False,
    alpha: Annotated[float, option("How readily a value counts as more than noise.")] = 0.05,
    samples_in: Orientation = SamplesIn.auto,
    sheets: Sheets = False,
    metadata: Metadata = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Could it look different and fit as well? The range of each component's profile and share of the signal.

    Constraints, runs and order that the run was fitted with hold here too.

    \b
    Example:
      gmcr ambiguity run mixtures.csv -o ends.csv
      gmcr ambiguity run mixtures.csv --next
    """
    check_suffix(output, ".csv")
    from gmcr.io.csv import write_csv
    from gmcr.theory.ambiguity import as_fitted, feasible_bands
    from gmcr.theory.next_sample import what_next

    found, table = run_and_samples(run, data, samples_in, memory, sheets, metadata)
    with wrong_call():
        told = as_fitted(run_at(run).estimator())
        told |= {"alpha": alpha, "supports": "all" if any_support else None}
        out = feasible_bands(table.samples, found, noise, c_min, closure, **told)
        further = what_next(table.samples, found, noise, c_min, closure, **told) if next_ else ()
    if output is not None:
        rows = (
            [band.name, end, share, *profile]
            for band in out.bands
            for end, share, profile in zip(("min", "max"), (band.min, band.max), band.profiles)
        )
        write_csv(output, ["component", "end", "share", *table.labels], rows)
    if as_json:
        told_next = {"next": [one.to_dict() for one in further]} if next_ else {}
        print_json(out.to_dict() | told_next | {"reading": table.notes})
        return
    print_notes(table.notes)
    say(str(out))
    if next_:
        nothing = "nothing is open" if out.closed else "no single sample surely closes what is open"
        say("\n".join(["", "What to measure next:", *(map(str, further) if further else [f"{nothing}."])]))
    if output is not None:
        say(f"Wrote {output}.")
