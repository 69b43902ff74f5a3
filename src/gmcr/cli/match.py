"""`gmcr match`: name the profiles of a run from a spectral library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gmcr.cli.console import check_suffix, print_json, print_notes, say
from gmcr.cli.options import OUTPUT, Json, Orientation, SamplesIn, option, place, run_at

SHIFT = "Largest shift, in units of the axis, that counts as the same spectrum."
DERIVATIVE = "Let the first derivative decide: slopes do not matter then."


def match(
    run: Annotated[Path, place("RUN", "Run folder, model file (.gmcr), or a table with a profile per row.")],
    library: Annotated[Path, place("LIBRARY", "Named spectra: a table, a model file, or a folder of files.")],
    output: Annotated[
        Path | None, option("CSV file to write.", *OUTPUT, default="RUN/matches.csv for a run folder")
    ] = None,
    shift: Annotated[float | None, option(SHIFT, default="one channel", least=0.0)] = None,
    derivative: Annotated[bool, option(DERIVATIVE, "--derivative")] = False,
    top: Annotated[int, option("Hits to give for each profile, with --json.", least=1)] = 5,
    samples_in: Orientation = SamplesIn.auto,
    as_json: Json = False,
) -> None:
    """Name the recovered profiles from a spectral library, or say that none of its spectra is alike enough.

    Profiles and spectra are compared by correlation (hit quality index, HQI = 100 r²), whatever their offset and
    scale, over the part of the axis that both have. The level that a name needs comes from the library, from the
    profile's noise and from chance; no spectrum names two profiles.

    \b
    Example:
      gmcr match run library.csv
    """
    check_suffix(output, ".csv")
    from gmcr.io.csv import write_csv
    from gmcr.io.reading import MODEL, read_pool
    from gmcr.naming import match as name_profiles
    from gmcr.naming import read_library

    folder = run_at(run)
    pool, of_model = read_pool(folder.model), folder.model.suffix.lower() == MODEL
    profiles = (folder.estimator() or folder.solution()) if of_model else pool.profiles
    shelf = read_library(library, samples_in=samples_in.value)
    if chain := folder.chain():
        shelf = shelf.after(chain)
        profiles = getattr(profiles, "decomposition_", profiles)  # which knows of no steps: they are done
    if not as_json:
        print_notes(shelf.notes)
    found = name_profiles(
        profiles, shelf, axis=pool.axis, channels=pool.channels, shift=shift, derivative=derivative, top=top
    )
    if output is None and run.is_dir():
        folder.write_names(found.table)
        output = folder.names
    elif output is not None:
        write_csv(output, list(found.table.columns), found.table.itertuples(index=False))
    if as_json:
        written = None if output is None else str(output)
        print_json(found.as_dict() | {"notes": [*shelf.notes, *found.notes], "written": written})
        return
    say(str(found))
    if output is not None:
        say(f"\nWrote {output}.")
