"""How many components: what the solver and the rank rules say, and the path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gmcr.rank import RULES, RankReport
from gmcr.reporting.charts import Plane, Rule, Series
from gmcr.reporting.contents import Contents
from gmcr.reporting.kept import edge_of
from gmcr.reporting.listing import Cell, Listing, count_cell, numbers, texts
from gmcr.reporting.section import SECTIONS, Block, Row, Section, Text, missing
from gmcr.reporting.words import number, several
from gmcr.window.evidence import COMES_BACK, FIRM, TOLD

VALUES = 30  # singular values drawn, or three times the count


def build(contents: Contents) -> Iterator[Block | None]:
    rank, path = contents.rank, contents.found.path
    if contents.count is not None:
        yield contents.named(str(contents.count).splitlines()[0])
    if rank is not None:
        yield _rank_words(contents, rank)
    charts = chances_chart(contents), _values(contents), costs_chart(contents), halves_chart(contents)
    yield Row([chart for chart in charts if chart is not None])
    if rank is not None:
        yield _rules(contents, rank)
        yield from (Text(contents.named(note), "note") for note in rank.notes)
    yield missing(contents, "rank", "Rank rules")
    if path is None:
        yield Text("The solver kept no path.", "missing")
    else:
        listing = Listing.of("path", "The path: solutions met, from coarse to fine noise", path)
        yield replace(listing, tall=True, folded=f"The path, {len(path)} solutions")


def _rank_words(contents: Contents, rank: RankReport) -> str:
    """What the rank rules say together."""
    place = (
        f"for {contents.row}s as they are"
        if rank.scaling == "as is"
        else f"under the scaling “{rank.scaling}”"
    )
    if not rank.white:
        return (
            f"The rank rules suggest {rank.count}, with little weight: what they leave over does not look "
            f"like white noise under any scaling (closest: {place}), so rules that need it count too many."
        )
    if rank.agree:
        return f"All rank rules agree on {rank.count} {place}, where the remainder looks like white noise."
    own = sorted({count for (_, scaling), count in rank.counts.items() if scaling == rank.scaling})
    told = ", ".join(map(str, own))
    return f"The rank rules do not agree: {place} they say {told}; the median is {rank.count}."


def chances_chart(contents: Contents) -> Plane | None:
    """Probabilities of counts up to a few beyond the last that has any."""
    chances = dict[int, float]() if contents.count is None else contents.count.probabilities
    if not chances:
        return None
    last = max(k for k, p in chances.items() if p >= TOLD or k == contents.found.n_components) + 2
    shown = {k: p for k, p in chances.items() if k <= last}
    told = ", ".join(f"{k}: {p:.0%}" for k, p in shown.items() if p >= TOLD)
    return Plane(
        name="chances",
        title="How likely each count is",
        alt=f"Probability of each number of components, given all evidence. {told}.",
        x_label="components",
        y_label="probability",
        series=(
            Series(
                "probability", np.array(list(shown), float), np.array(list(shown.values())), "line+points"
            ),
        ),
        rules=(
            Rule(FIRM, "firm"),
            Rule(float(contents.found.n_components), "chosen", upright=True),
        ),
        whole=True,
    )


def _values(contents: Contents) -> Plane | None:
    rank = contents.rank
    if rank is None:
        return None
    count, edge, values = contents.found.n_components, edge_of(rank), rank.singular_values[rank.scaling]
    shown = values[: max(VALUES, 3 * count)]
    alt = f"Singular values from {number(shown[0])} down to {number(shown[-1])}; {(values > edge).sum()} "
    return Plane(
        name="values",
        title=f"Singular values ({rank.scaling})",
        alt=f"{alt}stand above the edge of white noise at {number(edge)}.",
        x_label="number",
        y_label="singular value",
        series=(Series("singular value", np.arange(1.0, len(shown) + 1), shown, "points"),),
        rules=(
            Rule(edge, "edge of white noise"),
            Rule(count + 0.5, several(count, "component"), upright=True),
        ),
        log=True,
        whole=True,
    )


def costs_chart(contents: Contents) -> Plane | None:
    """The lowest cost met with each count."""
    path = contents.found.path
    if path is None or not {"count", "cost"} <= set(path.columns) or path["count"].nunique() < 2:
        return None
    best = path.groupby("count")["cost"].min()
    if not (best > 0).all():
        return None
    counts, costs = best.index.to_numpy(dtype=float), best.to_numpy(dtype=float)
    lowest = int(counts[costs.argmin()])
    return Plane(
        name="costs",
        title="Cost by number of components",
        alt=f"Lowest cost met with {counts[0]:.0f} to {counts[-1]:.0f} components; it is least at {lowest}.",
        x_label="components",
        y_label="cost / lowest cost",
        series=(Series("cost", counts, costs / costs.min(), "line+points"),),
        rules=(Rule(float(contents.found.n_components), "chosen", upright=True),),
        log=bool(costs.max() > 20 * costs.min()),
        whole=True,
    )


def halves_chart(contents: Contents) -> Plane | None:
    """How well profiles come back from halves of the samples."""
    pairs = [] if contents.count is None else list(contents.count.reproducibility.items())
    if len(pairs) < 2:
        return None
    counts, cosines = np.array(pairs, dtype=float).T
    told = ", ".join(f"{count:.0f}: {cosine:.3f}" for count, cosine in pairs)
    return Plane(
        name="halves",
        title=f"Profiles from halves of the {contents.row}s",
        alt=f"Smallest cosine between profiles found in two halves of the {contents.row}s, by count. {told}.",
        x_label="components",
        y_label="smallest cosine",
        series=(Series("cosine", counts, cosines, "line+points"),),
        rules=(
            Rule(COMES_BACK, "the same profile"),
            Rule(float(contents.found.n_components), "chosen", upright=True),
        ),
        whole=True,
    )


def _rules(contents: Contents, rank: RankReport) -> Listing:
    scalings = list(dict.fromkeys(scaling for _, scaling in rank.counts))
    columns = texts("rule") + numbers(*(name + " (best)" * (name == rank.scaling) for name in scalings))
    rows = [
        [Cell(words.title), *(count_cell(rank.counts.get((rule, scaling))) for scaling in scalings)]
        for rule, words in RULES.items()
        if any((rule, scaling) in rank.counts for scaling in scalings)
    ]
    caption = f"Rank rules: the count under each scaling of the {contents.row}s"
    return Listing("rank", caption, columns, rows)


SECTIONS.add(
    "count", Section("How many components", 10, build, "Count", ("chances", "values", "costs", "halves"))
)
