"""What tells the components apart: pairs of samples that isolate one, and components never separated."""

from __future__ import annotations

from collections.abc import Iterator

from gmcr.reporting.contents import Contents, IntArray
from gmcr.reporting.listing import Cell, Listing, count_cell, number_cell, numbers, texts
from gmcr.reporting.section import SECTIONS, Block, Points, Section, missing
from gmcr.reporting.words import listed


def build(contents: Contents) -> Iterator[Block | None]:
    counts, examples = contents.pair_counts, contents.pair_examples
    row = contents.row
    yield f"Two {row}s isolate a component when it is all they have in common: they pin it to one profile."
    if contents.groups:
        yield Points(groups(contents), _groups_mean(contents))
    elif counts is not None:
        yield "No group of components always occurs together."
    if counts is not None and examples is not None:
        yield _pairs(contents, counts, examples)
    yield missing(contents, "separation", "Isolating pairs")


def groups(contents: Contents) -> list[str]:
    """A sentence for each group of components that the samples never separate."""
    held, names, row = contents.found.supports.sum(axis=0), contents.component_names, contents.row
    told = []
    for group in contents.groups:
        # Those with the fewest samples are in no sample without all the others.
        bound = [j for j in group if held[j] == held[group].min()]
        free = [j for j in group if j not in bound]
        which = listed([names[j] for j in bound], 12)
        if len(group) == 1:
            told.append(f"{which}: nothing always comes with it, yet no two {row}s have it alone in common.")
        elif not free:
            told.append(f"{which} always occur together.")
        else:
            others = listed([names[j] for j in free], 12)
            told.append(f"{which} never {'occurs' if len(bound) == 1 else 'occur'} without {others}.")
    return told


def _groups_mean(contents: Contents) -> str:
    """What it means that samples never separate some components."""
    row = contents.row
    members = {j for group in contents.groups for j in group}
    if contents.ambiguity is not None and all(
        band.closed or band.within_noise for band in (contents.ambiguity.bands[j] for j in members)
    ):
        return (
            f"No two {row}s single out these components; all {row}s together do, if their supports are right:"
        )
    return (
        f"Some components are never separated by these {row}s, so that part of one may be counted to another and "
        f"the {row}s still fit:"
    )


def _pairs(contents: Contents, counts: IntArray, examples: IntArray) -> Listing:
    names, samples = contents.component_names, contents.sample_names
    held = contents.found.supports.sum(axis=0)
    limits = None
    if contents.certificate is not None and len(contents.certificate.components):
        limits = contents.certificate.components["detection_limit"].tolist()
    columns = texts("component") + numbers(f"{contents.row}s", "isolating pairs") + texts("for example")
    columns += numbers("detection limit") if limits is not None else []
    rows = []
    for j, name in enumerate(names):
        pair = [samples[m] for m in examples[j].tolist() if m >= 0]
        row = [Cell(name), count_cell(held[j]), count_cell(counts[j]), Cell(" and ".join(pair) or "none")]
        rows.append(row if limits is None else [*row, number_cell(limits[j])])
    caption = f"Pairs of {contents.row}s that have nothing but this component in common"
    return Listing("pairs", caption, columns, rows, tall=True)


SECTIONS.add("separation", Section("What tells the components apart", 60, build, "Separation"))
