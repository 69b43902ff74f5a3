"""docs/paper.md: all that was run, put together from the results folder. No measured number is typed here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gmcr_paper.experiment import Claim, Experiment, Found
from gmcr_paper.figures import Figure
from gmcr_paper.results import Record, versions
from gmcr_paper.simpler import simpler_table
from gmcr_paper.tables import NONE, Table, markdown

FIGURES = Path("figures") / "paper"

INTRODUCTION = """\
This page is written by `gmcr-paper all`; every number in it comes from a run whose settings, versions and
time are kept, except in columns headed *paper*, which repeat the paper's LaTeX (line numbers are given).
Run it again, or any part of it, with

    gmcr-paper all --quick --data FOLDER --docs docs/paper.md
    gmcr-paper counts --n 16,32,64 --seeds 100-104 --methods nmf,ard-oracle,window
    gmcr-paper list

`--quick`, the default, takes minutes on two cores and runs EB-gMCR with a small pool for a few thousand
epochs; `--full` is the paper's own size, hours on a GPU. Longer runs in the same results folder are shown
beside the quick ones. Seeds are 100 and up: nothing was tuned on them. Where the paper gives mean ±
standard deviation over its runs, so do these tables; a single run has no spread. *not run* means just that.

Two things to know before comparing. The success bands of the paper exclude the truth: the true solution's
own R² is in the first rows of every count table, and where it lies below the band, success means fitting
noise. And the learning rate of EB-gMCR is scaled up for pools smaller than the paper's (docs/benchmarks.md).
Statements about EB-gMCR are held to the largest pool that was run.
"""

SIMPLER = """\
On the paper's benchmark the count is a matter of singular values: rows scaled to unit power, noise white,
and fewer components than samples and channels. There the rank rule and plain NMF at its count are enough
for count and profiles, and they are what to try first. What they do not give: supports sample by sample
(NMF's small concentrations are not zeros), more components than channels, a count at low signal-to-noise or
under noise that no scaling makes white, and any statement about trust. The table says how far each got
here.
"""


def write_document(path: Path, found: Found) -> list[Path]:
    """Write the document to `path` and its figures to figures/paper beside it; returns the files written."""
    from gmcr_paper.registry import CLAIMS, EXPERIMENTS

    claims = [claim for statements in CLAIMS for claim in statements(found)]
    written: list[Path] = []
    parts = [
        "# The paper, run again",
        INTRODUCTION,
        *_verdicts(claims),
        "## Where simpler tools suffice",
        SIMPLER,
        simpler_table(found).as_markdown(),
        "## Tables and figures",
    ]
    for experiment in EXPERIMENTS.values():
        text, files = _section(experiment, found, path.parent)
        parts += text
        written += files
    parts += ["## With what this was measured", *provenance(found.records)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part.strip("\n") for part in parts) + "\n", encoding="utf-8")
    return [path, *written]


def _verdicts(claims: Sequence[Claim]) -> list[str]:
    """The paper's statements by verdict, then what is asked of gmcr."""
    parts = []
    for heading, chosen, columns in (
        ("What reproduces", _those(claims, True), ("statement", "lines", "paper", "here")),
        ("What does not, and why", _those(claims, False), ("statement", "lines", "paper", "here", "why")),
        ("Not run", _those(claims, None), ("statement", "lines", "paper")),
        (
            "What is asked of gmcr",
            [claim for claim in claims if claim.own],
            ("statement", "paper", "here", "met"),
        ),
    ):
        if chosen:
            rows = tuple(tuple(_cells(claim)[column] for column in columns) for claim in chosen)
            parts += [f"## {heading}", Table("claims", "", columns, rows).as_markdown()]
    return parts


def _those(claims: Sequence[Claim], holds: bool | None) -> list[Claim]:
    """Statements of the paper with this verdict."""
    return [claim for claim in claims if claim.holds is holds and not claim.own]


def _cells(claim: Claim) -> dict[str, str]:
    return {
        "statement": claim.statement,
        "lines": claim.lines,
        "paper": claim.paper,
        "here": claim.ours,
        "why": claim.why or NONE,
        "met": {True: "yes", False: "no", None: "not run"}[claim.holds],
    }


def _section(experiment: Experiment, found: Found, folder: Path) -> tuple[list[str], list[Path]]:
    """One table or figure: heading, how to get it, and what the runs there are show."""
    parts = [
        f"### {markdown(experiment.title)}",
        f"Lines {experiment.lines} of the paper; `gmcr-paper {experiment.name}`.",
    ]
    files = []
    shown = [part for part in experiment.shows(found) if isinstance(part, Figure) or part.rows]
    for part in shown:
        if isinstance(part, Figure):
            files += part.save(folder / FIGURES, (".png",))
            parts.append(f"![{markdown(part.title)}]({(FIGURES / part.name).as_posix()}.png)")
        else:
            parts.append(part.as_markdown())
    return (parts if shown else [*parts, "Not run."]), files


def provenance(records: Sequence[Record]) -> list[str]:
    """With which versions, on which class of machine, and whether the code has changed since."""
    kinds: dict[str, int] = {}
    for record in records:
        packages = ", ".join(f"{name} {record.versions[name]}" for name in sorted(record.versions))
        machine = f"{record.machine.get('cores')} cores, {record.machine.get('memory_gb')} GB"
        kinds[f"{packages}; {machine}"] = kinds.get(f"{packages}; {machine}", 0) + 1
    lines = [f"{number} runs: {markdown(kind)}." for kind, number in sorted(kinds.items())]
    stale = sum(record.versions.get("source") != versions()["source"] for record in records)
    if stale:
        lines.append(
            f"{stale} of {len(records)} runs were measured with another source of gmcr than the present one."
        )
    hours = sum(record.seconds for record in records) / 3600
    return (
        [*lines, f"All runs together took {hours:.2f} hours of one core."]
        if records
        else ["Nothing was run."]
    )
