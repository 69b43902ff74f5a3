"""The charts of a report that are about samples: supports, fit and noise."""

from __future__ import annotations

import numpy as np

from gmcr.reporting.charts import Chart, Plane, Rule, Series
from gmcr.reporting.contents import Contents, axis_of
from gmcr.reporting.words import SURE, number, several
from gmcr.text import POINTS, spread, thinned

DOTS = 2_000  # samples drawn as dots
BINS = 10


def confidence(contents: Contents) -> Plane | None:
    if contents.confidence is None:
        return None
    heights, edges = np.histogram(contents.confidence, BINS, (0.0, 1.0))
    low, high = (int(heights[:5].sum()), int(heights[-1]))
    return Plane(
        name="confidence",
        title="How sure the supports are",
        alt=f"Histogram of confidence: {several(high, 'sample')} above 0.9, {low} below 0.5.",
        x_label="probability that the sample's list of components is right",
        y_label="samples",
        series=(Series("samples", (edges[:-1] + edges[1:]) / 2, heights.astype(float), "bars"),),
    )


def confidences(contents: Contents) -> Plane | None:
    """Which samples are doubtful."""
    confidence = contents.confidence
    if confidence is None:
        return None
    rows = np.unique(np.concatenate([spread(len(confidence), DOTS), np.argsort(confidence)[: DOTS // 4]]))
    names = tuple(contents.sample_names[m] for m in rows)
    least = int(confidence.argmin())
    return Plane(
        name="confidences",
        title="Confidence of each sample",
        alt=f"Confidence of each sample; the least is {confidence[least]:.3f}, of "
        f"{contents.sample_names[least]}.",
        x_label="sample",
        y_label="confidence",
        series=(Series("confidence", rows.astype(float), confidence[rows], "points", labels=names),),
        rules=(Rule(SURE, "sure"),),
        whole=True,
        note=f"Thinned for display: {len(rows):,} of {len(confidence):,} samples, the least sure among them."
        if len(rows) < len(confidence)
        else "",
    )


def ratios(contents: Contents) -> Plane | None:
    ratio, known = contents.ratio, contents.known
    if ratio is None or known is None:
        return None
    names = contents.sample_names
    # The worst are drawn in any case.
    rows = np.unique(np.concatenate([spread(len(ratio), DOTS), np.argsort(-ratio)[: DOTS // 4]]))
    parts = [("explained", rows[known[rows]], 0), ("more than noise left", rows[~known[rows]], 1)]
    series = tuple(
        Series(
            name, part.astype(float), ratio[part], "points", labels=tuple(names[m] for m in part), place=place
        )
        for name, part, place in parts
        if len(part)
    )
    return Plane(
        name="fit",
        title="Residual of each sample",
        alt=f"Residual over noise of each sample, median {np.median(ratio):.2f}, largest {ratio.max():.3g}; "
        f"{several(int((~known).sum()), 'sample')} of {len(ratio)} leave more than noise.",
        x_label="sample",
        y_label="residual / noise",
        series=series,
        rules=(Rule(1.0, "noise alone"),),
        log=bool(ratio.max() > 20 * max(np.median(ratio), 1e-12) and ratio.min() > 0),
        whole=True,
        note=f"Thinned for display: {len(rows):,} of {len(ratio):,} samples, the worst among them."
        if len(rows) < len(ratio)
        else "",
    )


def worst(contents: Contents) -> list[Chart | None]:
    """The samples that fit worst: measured, fitted, and what is left."""
    if contents.worst is None or contents.worst_data is None:
        return []
    axis, label, falls = axis_of(contents)
    made: list[Chart | None] = []
    for place, (m, measured) in enumerate(zip(contents.worst.tolist(), contents.worst_data)):
        fit = contents.found.concentrations[m] @ contents.found.components
        name = contents.sample_names[m]
        kinds = [("measured", measured, -1), ("fit", fit, 0), ("residual", measured - fit, 1)]
        series = []
        for kind, values, colour in kinds:
            rows = thinned(values, POINTS)
            series.append(Series(kind, axis[rows], values[rows], place=colour))
        ratio = "" if contents.ratio is None else f"; its residual is {contents.ratio[m]:.3g} times the noise"
        thin = contents.found.n_channels > POINTS
        made.append(
            Plane(
                name=f"worst-{place}",
                title=f"Sample {name}",
                alt=f"Sample {name}, measured and fitted, and the difference{ratio}.",
                x_label=label,
                y_label="signal",
                series=tuple(series),
                reverse=falls,
                note=f"Thinned for display: at most {POINTS:,} of {len(axis):,} channels a line."
                if thin
                else "",
            )
        )
    return made


def noise(contents: Contents) -> Plane | None:
    noise, sizes = contents.found.noise, contents.sizes
    if noise is None:
        return None
    rows = spread(len(noise), DOTS)
    at = rows.astype(float) if sizes is None else sizes[rows]
    names = tuple(contents.sample_names[m] for m in rows)
    return Plane(
        name="noise",
        title="Noise of each sample",
        alt=f"Noise of each sample, from {number(noise.min())} to {number(noise.max())}, median "
        f"{number(np.median(noise))}.",
        x_label="sample" if sizes is None else "size of the sample (root mean square)",
        y_label="noise σ",
        series=(Series("noise", at, noise[rows], "points", labels=names),),
        whole=sizes is None,
        note=f"Thinned for display: {len(rows):,} of {len(noise):,} samples."
        if len(rows) < len(noise)
        else "",
    )
