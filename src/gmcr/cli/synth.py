"""`gmcr synth`: write a synthetic data set."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from gmcr.cli.console import check_suffix, print_json, say, wrong_call
from gmcr.cli.options import OUTPUT, Components, Json, Samples, Seed, Snr, number_of_samples, option

ProfileKind = StrEnum("ProfileKind", ["orthonormal", "peaks", "bands"])
NoiseKind = StrEnum("NoiseKind", ["proportional", "constant", "poisson"])


def synth(
    output: Annotated[Path, option("File to write: .csv (the samples) or .npz (D, C, S, sigma).", *OUTPUT)],
    components: Components = 16,
    samples: Samples = None,
    snr: Snr = 20.0,
    noiseless: Annotated[bool, option("Add no noise.", "--noiseless")] = False,
    channels: Annotated[int, option("Number of channels.")] = 512,
    active: Annotated[tuple[int, int], option("Fewest and most components in a sample.")] = (1, 4),
    concentration: Annotated[tuple[float, float], option("Bounds of the concentrations.")] = (1.0, 10.0),
    profiles: Annotated[ProfileKind, option("Kind of profiles.")] = ProfileKind.orthonormal,
    noise: Annotated[NoiseKind, option("Kind of noise.")] = NoiseKind.proportional,
    counts: Annotated[float, option("Mean counts of an entry, for Poisson noise.")] = 1000.0,
    offset: Annotated[float, option("Constant added to every entry.")] = 0.0,
    signed: Annotated[bool, option("Profiles of any sign.", "--signed")] = False,
    closure: Annotated[bool, option("Concentrations of a sample sum to one.", "--closure")] = False,
    truth: Annotated[Path | None, option("Model file (.gmcr) to write the true components to.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write a synthetic data set: the paper's Algorithm 2, and variations.

    \b
    Example:
      gmcr synth -o mixtures.csv --components 16 --snr 30 --truth truth.gmcr
    """
    check_suffix(output, ".csv", ".npz")
    check_suffix(truth, ".gmcr")
    from gmcr.decomposition import Decomposition
    from gmcr.io.arrays import write_arrays
    from gmcr.io.csv import write_csv
    from gmcr.mixtures import make_mixtures

    with wrong_call():
        mix = make_mixtures(
            components,
            number_of_samples(samples, components),
            snr_db=None if noiseless else snr,
            n_features=channels,
            active=active,
            concentration=concentration,
            random_state=seed,
            profiles=profiles.value,
            noise=noise.value,  # type: ignore[arg-type]
            counts=counts,
            offset=offset,
            signed=signed,
            closure=closure,
        )
    if output.suffix.lower() == ".npz":
        write_arrays(output, D=mix.D, C=mix.C, S=mix.S, sigma=mix.sigma)
    else:
        rows = ([f"sample {index}", *row] for index, row in enumerate(mix.D))
        write_csv(output, ["sample", *range(mix.D.shape[1])], rows)
    if truth is not None:
        Decomposition(mix.S, mix.C, noise=mix.sigma, signed=signed).save(truth)
    written = [str(path) for path in (output, truth) if path is not None]
    if as_json:
        shape = {"samples": len(mix.D), "channels": mix.D.shape[1], "components": len(mix.S)}
        print_json({"written": written} | shape)
    else:
        say(f"Wrote {' and '.join(written)}: {mix!r}.")
