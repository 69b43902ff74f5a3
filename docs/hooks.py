"""Pages that mkdocs makes while it builds: the command reference, from the commands' own help."""

from __future__ import annotations

import re
from typing import Any

import typer

from gmcr.cli.app import app

WIDTH = 100  # characters of a line of help

INTRODUCTION = """\
# Commands

What `gmcr COMMAND --help` prints. Every command takes `--json` to print for machines, ends with 0 (done), 1 (the
work failed) or 2 (the call was wrong), and says in one sentence what went wrong; `--debug` shows where.
"""


def command_reference() -> str:
    """The page of all commands, as Markdown."""
    root: Any = typer.main.get_command(app)
    parts = [INTRODUCTION, _help(root, "gmcr")]
    for name, command in root.commands.items():
        parts += [f"## gmcr {name}", _help(command, f"gmcr {name}")]
    return "\n".join(parts)


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs with the files it found."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "commands.md", content=command_reference()))
    return files


def _help(command: Any, name: str) -> str:
    context = type(command).context_class(
        command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
    )
    return f"```text\n{_plain(command.get_help(context))}\n```\n"


def _plain(text: str) -> str:
    """Text without the colours of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip()
