"""`gmcr app`: the page in the browser, for people who do not code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gmcr.cli.console import print_json, print_notes, say, wrong_call
from gmcr.cli.options import Json, option
from gmcr.errors import GMCRError

if TYPE_CHECKING:
    from gmcr.app.server import Opened

PORT = "Port to listen at, on this machine alone."
NO_BROWSER = "Open no browser, but tell which file leads one in."
MEMORY = "Most memory that a fit may take, such as 4G."
NEEDED = ("starlette", "uvicorn")


def app(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Where projects are kept.", show_default="gmcr, in your documents"
        ),
    ] = None,
    port: Annotated[int | None, option(PORT, default="the one of last time, or any", least=1)] = None,
    no_browser: Annotated[bool, option(NO_BROWSER, "--no-browser")] = False,
    memory: Annotated[str | None, option(MEMORY, default="half of what is free")] = None,
    as_json: Json = False,
) -> None:
    """Open a page in the browser, on this machine alone: drop a file, look, unmix, and read the answer.

    FOLDER holds the projects, each a run folder that every other command takes too; it is made readable for you
    alone. Fits run in processes of their own and go on when the page or this command is closed; they are there
    when it is started again.

    \b
    Example:
      gmcr app
      gmcr app spectra --no-browser
    """
    if missing := next((name for name in NEEDED if find_spec(name) is None), None):
        raise GMCRError(f"gmcr app needs {missing}; install it with: pip install 'gmcr[app]'.")
    from gmcr.app.home import usual_folder
    from gmcr.app.server import serve

    with wrong_call():
        allowed = None if memory is None else _bytes(memory)
        if port is not None and port > 65_535:
            raise typer.BadParameter(f"--port must be at most 65535, not {port}.")

    def opened(way: Opened) -> None:
        print_notes(way.told)
        if as_json:
            print_json({"address": way.address, "open": str(way.opening), "running": way.runs})
        elif way.runs:
            say(f"gmcr app runs here already, at {way.address}.")
        else:
            say(f"gmcr app is at {way.address}; projects are in {way.opening.parents[1]}.")
            say("Close it with Ctrl+C; fits go on, and are there when it is started again.")
        if no_browser:
            say(f"Open this file in a browser; it leads in once: {way.opening.as_uri()}", err=True)
        else:
            import webbrowser

            webbrowser.open(way.opening.as_uri())

    serve(usual_folder() if folder is None else folder, port, allowed, opened)


def _bytes(memory: str) -> int | None:
    from gmcr.io.limits import as_memory  # and numpy with it, which the server does without

    return as_memory(memory)
