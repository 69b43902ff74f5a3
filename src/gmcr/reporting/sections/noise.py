"""The noise: its law, and its size in each sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gmcr.noise import law_of
from gmcr.reporting.charts import Plane, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.section import SECTIONS, Block, Section
from gmcr.reporting.words import DOTS, number, thinned_note
from gmcr.validation import evenly

LAWS = {
    "constant": "The noise is the same in every sample and channel: σ = {level}.",
    "proportional": "The noise of a sample is proportional to its size: σ is {share} of its root mean square.",
    "poisson": "The noise is that of counting: its variance is {level} times the signal.",
    "given": "The noise was given.",
}


def build(contents: Contents) -> Iterator[Block | None]:
    yield contents.named(_law_words(contents.found.noise_law))
    yield _noise(contents)


def _law_words(law: dict[str, Any] | None) -> str:
    if law is None:
        return "No law of the noise was learned."
    if law["kind"] not in LAWS:
        return f"The noise follows a law of its own: {law_of(law).sentence()}."
    level = law.get("level")
    share = "–" if level is None else f"{100 * level:.3g} %"
    return LAWS[law["kind"]].format(level=number(level), share=share)


def _noise(contents: Contents) -> Plane | None:
    noise, sizes = contents.found.noise, contents.sizes
    if noise is None:
        return None
    rows = evenly(len(noise), DOTS)
    at = rows.astype(float) if sizes is None else sizes[rows]
    names = tuple(contents.sample_names[m] for m in rows)
    return Plane(
        name="noise",
        title=f"Noise of each {contents.row}",
        alt=f"Noise of each {contents.row}, from {number(noise.min())} to {number(noise.max())}, median "
        f"{number(np.median(noise))}.",
        x_label=contents.row if sizes is None else f"size of the {contents.row} (root mean square)",
        y_label="noise σ",
        series=(Series("noise", at, noise[rows], "points", labels=names),),
        whole=sizes is None,
        note=thinned_note(contents, rows),
    )


SECTIONS.add("noise", Section("Noise", 70, build, figures=("noise",)))
