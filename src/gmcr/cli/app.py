"""The command `gmcr`: its commands, one file each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from gmcr.cli.ambiguity import ambiguity
from gmcr.cli.app_command import app as app_command
from gmcr.cli.certify import certify
from gmcr.cli.compare import compare
from gmcr.cli.console import run, say
from gmcr.cli.decode import decode
from gmcr.cli.demo import demo
from gmcr.cli.fit import fit
from gmcr.cli.info import info
from gmcr.cli.match import match
from gmcr.cli.name import name
from gmcr.cli.rank import rank
from gmcr.cli.report import report
from gmcr.cli.synth import synth

app = typer.Typer(
    help="Unmix spectra: how many components, their profiles, and which sample holds which.",
    rich_markup_mode=None,
    add_completion=False,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, 1 (the work failed), 2 (the call was wrong) or 128 + a signal."""
    return run(app, "gmcr", argv)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        say(f"gmcr {version_of('gmcr')}")
    elif context.invoked_subcommand is None:
        say(context.get_help())


for command in (
    app_command,
    demo,
    fit,
    decode,
    match,
    name,
    compare,
    certify,
    ambiguity,
    report,
    synth,
    rank,
    info,
):
    app.command()(command)
