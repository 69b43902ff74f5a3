"""The process that reads a project's files and tries steps on them: `python -m gmcr.app.previews.child`.

It is asked on standard input, a line of JSON each, and answers on standard output: the length of the answer on a
line, then the answer. What goes wrong is an answer too. It ends when nobody asks any more.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from gmcr.app.limits import cap_memory, cap_seconds, read_memory
from gmcr.app.previews import pictures
from gmcr.asking.samples import Reading
from gmcr.asking.wrong import WrongOption
from gmcr.errors import GMCRError
from gmcr.io.limits import held
from gmcr.io.table import Table

# Seconds of the processor for one answer, and further ones for each MB of the data: many times what any file
# takes.
SECONDS, PER_MB = 60.0, 10.0
READING = ("samples_in", "sheets", "unit", "metadata")


class Child:
    """Holds the samples that were read last."""

    def __init__(self) -> None:
        self.asked: Any = None
        self.table: Table | None = None

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        settings, data = question["settings"], Path(question["data"])
        table = self._samples(data, settings)
        if question["do"] == "read":
            return pictures.reading(table, settings)
        return pictures.steps(table, settings, Path(question["given"]))

    def _samples(self, data: Path, settings: dict[str, Any]) -> Table:
        told = {name: settings[name] for name in READING if settings.get(name)}
        if self.table is None or self.asked != told:
            self.table = None  # so that two are never held
            self.table = Reading(**told).read(data)
            self.asked = told
        return self.table


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints is no answer
    data = Path(sys.argv[1])
    cap_memory(read_memory(data))
    child, seconds = Child(), SECONDS + PER_MB * held(data) / 1e6
    for line in sys.stdin.buffer:
        try:
            cap_seconds(seconds)
            told = child.answer(json.loads(line))
        except WrongOption as error:
            told = {"error": "said", "sentence": str(error)}
        except GMCRError as error:
            told = {"error": "said", "sentence": str(error).replace(str(data), data.name)}
        except MemoryError:
            told = {"error": "memory"}
        except Exception as error:  # of a file that nobody thought of
            told = {"error": "unexpected", "sentence": f"{type(error).__name__}: {error}"}
        content = json.dumps(told, allow_nan=False).encode()
        answers.write(f"{len(content)}\n".encode() + content)
        answers.flush()


if __name__ == "__main__":
    main()
