"""`gmcr-paper-long`: EB-gMCR at the paper's own size, in the background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gmcr.cli.console import run, wrong_call

app = typer.Typer(
    help="Runs of EB-gMCR at the paper's own size: hours each, gone on with after any kill.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
)
States = Annotated[Path, typer.Option(help="Folder of the runs' states: large, outside the repository.")]
Data = Annotated[
    Path | None, typer.Option(help="Folder of the real data sets.", show_default="$GMCR_DATA, or fetched")
]
Names = Annotated[list[str] | None, typer.Argument(help="Runs by name; all of the plan, in its order.")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, 1 (the work failed) or 2 (the call was wrong)."""
    return run(app, "gmcr-paper-long", argv)


@app.command()
def work(states: States, names: Names = None, data: Data = None) -> None:
    """Do the runs that nobody else does and that are not finished, one after the other, on one thread.

    As many of these as runs are wanted at a time may work on the same folder; each may be killed.

    \b
    Example:
      nice -n 19 setsid nohup gmcr-paper-long work --states FOLDER --data FOLDER &
    """
    from gmcr_paper.long import plan
    from gmcr_paper.long.work import work as work_on

    with wrong_call():
        runs = [plan.named(name) for name in names or plan.RUNS]
    work_on(runs, states, data)


@app.command()
def status(states: States) -> None:
    """Where every run of the plan stands: the last line of its log."""
    from gmcr_paper.long.collect import standing
    from gmcr_paper.long.plan import known

    for line in standing(known(states), states):
        typer.echo(line)


@app.command()
def collect(
    states: States,
    results: Annotated[Path, typer.Option(help="Folder of finished runs, to which records and logs go.")],
    names: Names = None,
    data: Data = None,
) -> None:
    """Write what the runs have come to, finished or not, as records and small logs.

    \b
    Example:
      gmcr-paper-long collect --states FOLDER --results reproduction/runs --data FOLDER
    """
    from gmcr_paper.long import plan
    from gmcr_paper.long.collect import collect as gather

    with wrong_call():
        runs = [plan.named(name) for name in names] if names else plan.known(states)
    for line in gather(runs, states, results, data):
        typer.echo(line)
