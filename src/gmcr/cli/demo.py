"""`gmcr demo`: synthesise, unmix blind, print found against true, write a report."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from gmcr.cli.console import (
    figure_notes,
    print_json,
    print_notes,
    print_table,
    reproduction,
    say,
    verdict,
    verdict_as_dict,
    wrong_call,
)
from gmcr.cli.options import Components, Json, NewRun, Samples, Seed, Snr, number_of_samples

if TYPE_CHECKING:
    from gmcr.reporting.contents import Contents


SHIFTS = 400.0, 1800.0  # cm⁻¹
LISTED = 8  # components whose peaks are told


def demo(
    context: typer.Context,
    components: Components = 5,
    samples: Samples = None,
    snr: Snr = 20.0,
    seed: Seed = 0,
    output: NewRun = Path("gmcr-demo"),
    as_json: Json = False,
) -> None:
    """Synthesise mixtures, unmix them blind, print found against true, and write a report.

    The solver is given the samples alone: neither the number of components nor the noise.

    \b
    Example:
      gmcr demo --components 32 --snr 30
    """
    import numpy as np

    from gmcr.estimators.window import GMCR
    from gmcr.io.table import Table
    from gmcr.mixtures import make_mixtures
    from gmcr.rank import estimate_rank
    from gmcr.reporting.glance import heading
    from gmcr.reporting.trust import answer
    from gmcr.runs import RunFolder
    from gmcr.scoring import compare

    with wrong_call():
        n_samples = number_of_samples(samples, components)
        mix = make_mixtures(components, n_samples, snr_db=snr, random_state=seed, profiles="peaks")
    axis = np.linspace(*SHIFTS, mix.D.shape[1])  # peaks on an axis that a chemist knows
    warm_up = make_mixtures(4, 20, snr_db=30, n_features=32, random_state=0)
    GMCR(n_components=4).fit(warm_up.D)  # compiles, or loads the compiled code, outside the time told
    started = perf_counter()
    table = Table(mix.D, axis, axis_unit="cm⁻¹", notes=("The samples are synthetic.",))
    model = GMCR(random_state=seed, verbose=1).fit(table)
    seconds = perf_counter() - started
    rank = estimate_rank(mix.D).count
    compared = compare(model, mix)
    pairs = {
        "components": (model.n_components_, compared.true_count),
        "components, by the rank rules": (rank, compared.true_count),
        "selections": (model.decomposition_.usage, int(mix.supports.sum())),
        "median noise": (float(np.median(model.noise_)), float(np.median(mix.sigma))),
    }
    run = RunFolder(output)
    with run.made():
        _, contents = run.write(
            model,
            table,
            source="gmcr demo",
            reproduce=reproduction(context, seconds),
        )
    if as_json:
        print_json(
            {"samples": len(mix.D), "channels": mix.D.shape[1], "snr_db": snr}
            | {name: {"found": found, "true": true} for name, (found, true) in pairs.items()}
            | {"exact": compared.exact, "min_cosine": compared.min_cos, "seconds": seconds}
            | verdict_as_dict(contents)
            | {"report": str(run.report)}
        )
        return
    say(
        "\n".join((heading(contents), *answer(contents), verdict(contents)))
    )  # the answer first, as in the report
    _say_what_is_where(contents)
    say(
        f"\nThat was {len(mix.D)} synthetic Raman spectra of {mix.D.shape[1]} channels, mixtures of up to 4 "
        f"components, {snr:g} dB, unmixed blind:\nneither the number of components nor the noise was told. "
        "Found against true:\n"
    )
    print_table(("", "found", "true"), [(name, *pair) for name, pair in pairs.items()])
    say(
        f"\nSupports exact on {compared.exact:.1%} of the samples; smallest cosine between a true profile and "
        f"the one found {compared.min_cos:.4f}; {seconds:.2f} s."
    )
    print_notes(figure_notes())
    say(f"Report: {run.report}")


def _say_what_is_where(contents: Contents) -> None:
    """Where the strongest profiles are largest, and how many samples hold each."""
    from gmcr.reporting.glance import cards

    held = dict(zip(contents.component_names, contents.found.supports.sum(axis=0).tolist()))
    for card in cards(contents)[:LISTED]:
        say(f"  {card.name}: {card.text}, in {held[card.name]} of {contents.found.n_samples} {contents.row}s")
