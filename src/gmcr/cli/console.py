"""What the commands share: text, tables and JSON on the terminal, and errors in one sentence."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gmcr.cli.terminal import INTERRUPTED, Kept, NoReader, prepare_streams, signals, silence, speaks_unicode
from gmcr.errors import GMCRError, InputError, printable

if TYPE_CHECKING:
    from gmcr.reporting.contents import Contents

IN_SHELL = {
    "signed=True": "--signed",
    "signed=False": "--unsigned",
    'samples_in="rows" or "columns"': "--samples-in rows|columns",
    'samples_in="rows"': "--samples-in rows",
    'samples_in="columns"': "--samples-in columns",
    'name="*"': "--sheets",
    'disturbances="keep"': "--disturbances keep",
}


def run(app: typer.Typer, name: str, argv: Sequence[str] | None) -> int:
    """Run a command line; errors are one line each.

    Returns 0, 1 (the work failed), 2 (the call was wrong) or 128 + the signal that interrupted it; the last line
    then says whether the best found so far was kept.
    """
    prepare_streams()
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = [argument for argument in given if argument != "--debug"]
    kept, lost = "interrupted; the best found so far was kept.", "interrupted before it was done."
    with signals() as came:
        try:
            code = typer.main.get_command(app).main(arguments, prog_name=name, standalone_mode=False)
            code = code if isinstance(code, int) else 0
            sys.stdout.flush()
            last = (
                lost if code == INTERRUPTED else kept if came else ""
            )  # typer gives an interruption its code
        except Kept:
            code, last = INTERRUPTED, kept
        except (typer.Abort, KeyboardInterrupt):
            code, last = INTERRUPTED, lost
        except (
            NoReader,
            BrokenPipeError,
        ):  # whoever read our output has seen enough, as with `gmcr ... | head`
            silence()
            code, last = 128 + getattr(signal, "SIGPIPE", 13), ""
        except Exception as error:
            if len(arguments) < len(given):
                raise
            code, last = int(getattr(error, "exit_code", 1)), sentence(error)
    if last:
        print(f"{name}: {last}", file=sys.stderr)
    return 128 + came[0] if came else code


@contextmanager
def wrong_call() -> Iterator[None]:
    """Within this, what cannot be used came from the command's own options: exit code 2."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def check_suffix(path: Path | None, *allowed: str) -> None:
    if path is not None and path.suffix.lower() not in allowed:
        raise typer.BadParameter(f"{path} must end in {' or '.join(allowed)}.")


def in_shell(text: str) -> str:
    """A message of Python's as it is said in the shell."""
    for python, shell in IN_SHELL.items():
        text = text.replace(python, shell)
    return text


def sentence(error: Exception) -> str:
    """An error as one line: gmcr's and typer's own say what to do, any other is unexpected."""
    if hasattr(error, "format_message"):
        text = error.format_message()
    elif isinstance(error, GMCRError):
        text = in_shell(str(error))
    elif isinstance(error, OSError) and not error.filename and error.strerror:  # of standard output
        text = f"standard output could not be written: {error.strerror}."
    else:
        text = f"unexpected {type(error).__name__}: {error}; run again with --debug to see where."
    return printable(" ".join(text.split()))


def say(text: str, *, err: bool = False) -> None:
    """A text and a line break, in what characters the stream has; typer's echo takes another one for ASCII."""
    try:
        print(text, file=sys.stderr if err else sys.stdout, flush=True)
    except BrokenPipeError as error:
        raise NoReader from error  # typer would end the process


def print_notes(notes: Sequence[str]) -> None:
    """What was inferred, on standard error."""
    for note in notes:
        say(printable(note), err=True)


def figure_notes() -> list[str]:
    """That there are no figure files, where there cannot be."""
    from gmcr.reporting.files import NO_FIGURES, can_draw

    return [] if can_draw() else [NO_FIGURES]


def print_json(value: Any) -> None:
    from gmcr.text import plain

    say(json.dumps(plain(value), indent=2, ensure_ascii=not speaks_unicode(), allow_nan=False))


def print_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Text to the left, numbers to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(header))
    for index, heading in enumerate(header):
        text = all(isinstance(row[index], str | bool) for row in rows)
        table.add_column(Text(heading), justify="left" if text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(value)) for value in row))
    console = Console()
    with console.capture() as shown:  # and said by us: rich ends the process where nobody reads
        console.print(table)
    say(shown.get().rstrip("\n"))


def verdict(contents: Contents) -> str:
    """Whether the answer may be used, in a sentence."""
    if contents.trust is None:
        return f"Not judged: {printable(contents.left_out.get('trust', contents.NOT_KEPT))}"
    return printable(contents.trust.sentence)


def verdict_as_dict(contents: Contents) -> dict[str, Any]:
    """The same for machines, and what is proved."""
    trust, proof = contents.trust, contents.certificate
    return {
        "verdict": trust and trust.verdict,
        "verdict_sentence": trust and trust.sentence,
        "trust": trust and trust.as_dict(),
        "certificate": proof and proof.verdict,
        "certificate_sentence": proof and proof.sentence,
    }


def reproduction(
    context: typer.Context, seconds: float, data: Path | None = None, *, checked: bool = True
) -> dict[str, str]:
    """What it takes to do it again: the command, the data by their checksum, and how long it took.

    checked : whether the data are read once more for their checksum
    """
    import hashlib

    told = {"command": _command_line(context)}
    if data is not None:
        told["data"] = data.name
    if data is not None and data.is_file() and checked:
        with open(data, "rb") as file:
            told["SHA-256 of the data"] = hashlib.file_digest(file, "sha256").hexdigest()
    return told | {"time": f"{seconds:.2f} s"}


def _command_line(context: typer.Context) -> str:
    """The command that runs, with what was given to it; of paths the names alone, since reports are sent on."""
    import shlex

    words = ["gmcr", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        default = parameter.get_default(context)
        if value in (None, default, [], ()) or parameter.name in ("as_json", "force", "progress"):
            continue
        several = isinstance(value, list)  # an option that was given several times
        for given in value if several else [value]:
            if parameter.param_type_name == "option":
                words.append(parameter.opts[0])
            if given is not True:
                values = given if isinstance(given, tuple) else (given,)
                words += [
                    one.name if isinstance(one, Path) else str(getattr(one, "value", one)) for one in values
                ]
    return shlex.join(words)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))
