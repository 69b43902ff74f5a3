"""`gmcr name`: names of components that reach every table and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gmcr.cli.console import print_json, print_table, say, wrong_call
from gmcr.cli.options import Json, place, run_at

GIVEN = 'Components by number or name, and their names: "2=lactose".'


def name(
    run: Annotated[Path, place("RUN", "Run folder.")],
    names: Annotated[list[str], typer.Argument(metavar="NAMES...", help=GIVEN)],
    as_json: Json = False,
) -> None:
    """Give components names: model, tables, workbook, figures and report then have them.

    \b
    Example:
      gmcr name run "2=lactose" "0=glucose"
    """
    given: dict[int | str, str] = {}
    for text in names:
        which, equals, chosen = (part.strip() for part in text.partition("="))
        if not equals:
            raise typer.BadParameter(f"{text!r:.40} names nothing; write it as 2=lactose.")
        given[int(which) if which.isdecimal() else which] = chosen
    folder = run_at(run)
    with wrong_call():
        now = folder.rename(given)
    if as_json:
        print_json({"run": str(run), "components": now})
        return
    print_table(("component", "name"), enumerate(now))
    say(f"\nWrote {run}.")
