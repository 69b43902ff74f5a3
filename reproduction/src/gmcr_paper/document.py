"""docs/paper.md: all that was run, put together from the results folder. No measured number is typed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gmcr_paper.energy_cells import is_small
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

EB-gMCR at the paper's own size takes hours a run: `gmcr-paper-long` works these off in the background, goes
on after any kill, and reads off what they have come to (reproduction/README.md). Statements about EB-gMCR are
held to these runs alone; what small pools did, which is another world, is in the appendix. Seeds are 100 and
up: nothing was tuned on them. Where the paper gives mean ± standard deviation over its runs, so do these
tables; a single run has no spread. *not run* means just that.

Know before comparing that the success bands of the paper exclude the truth: the true solution's own R² is in
the first rows of every count table, and where it lies below the band, success means fitting noise.
"""

APPENDIX = """\
Runs that a pool of 64 or 128 slots finishes in minutes, on Carbs and NIR after a few thousand epochs. The
learning rate is scaled up for them, by up to four (docs/benchmarks.md). Their dynamics are not those of the
paper's pool, and no statement above rests on them.
"""
SMALL_POOLS = ("counts", "bands", "supports", "support-bands", "ablation", "real", "reuse")

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

    main = Found(found.results, found.asked, lambda record: not is_small(record))
    only = replace(found.asked, methods=("eb", "eb-refined"))
    small = Found(found.results, only, lambda record: record["method"] == "truth" or is_small(record))
    every = [claim for statements in CLAIMS for claim in statements(main)]
    claims = [claim for claim in every if not claim.solver]
    written: list[Path] = []
    parts = ["# The paper, run again", _in_short(every), INTRODUCTION]
    for experiment in EXPERIMENTS.values():
        if experiment.name == "counts":  # the solver itself comes first, then what all methods show
            parts += [*_verdicts(claims), "## Where simpler tools suffice", SIMPLER]
            parts += [simpler_table(main).as_markdown(), "## Tables and figures"]
        text, files = _section(experiment, main, path.parent, "##" if experiment.name == "solver" else "###")
        parts += text
        written += files
    parts += ["## Appendix: EB-gMCR with small pools", APPENDIX]
    for name in SMALL_POOLS:
        parts += _tables(EXPERIMENTS[name], small)
    parts += ["## With what this was measured", *provenance(found.records)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part.strip("\n") for part in parts) + "\n", encoding="utf-8")
    return [path, *written]


def _in_short(claims: Sequence[Claim]) -> str:
    """How many statements reproduce, for who reads no further."""
    about = {
        "of the paper, on other methods, on its data and its theory": lambda c: not c.own and not c.solver,
        "of the paper, on EB-gMCR at its own size": lambda c: not c.own and c.solver,
        "asked of gmcr's window solver": lambda c: c.own,
    }
    rows = []
    for words, belongs in about.items():
        verdicts = [claim.holds for claim in claims if belongs(claim)]
        rows.append((words, *(str(verdicts.count(holds)) for holds in (True, False, None))))
    return Table("short", "", ("statements", "reached", "not reached", "not run"), tuple(rows)).as_markdown()


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


def _section(experiment: Experiment, found: Found, folder: Path, level: str) -> tuple[list[str], list[Path]]:
    """One table or figure: heading, how to get it, and what the runs there are show."""
    parts = [
        f"{level} {markdown(experiment.title)}",
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


def _tables(experiment: Experiment, found: Found) -> list[str]:
    """The tables alone, for the appendix."""
    shown = [part for part in experiment.shows(found) if isinstance(part, Table) and part.rows]
    return [f"### {markdown(experiment.title)}", *(part.as_markdown() for part in shown)] if shown else []


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
