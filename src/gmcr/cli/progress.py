"""What a long command tells of its progress to a file, for programs that watch."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gmcr.errors import FileError

if TYPE_CHECKING:
    from gmcr.window.descent import Row


class Progress:
    """Lines of JSON at the end of a file: a stage that begins, or a solution that was met.

    path : of the file; None for nobody who watches
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.started = path, perf_counter()

    def begin(self, stage: str) -> None:
        self._tell({"stage": stage})

    def row(self, row: Row) -> None:
        """A row of the path, as the solver gives it to whoever listens."""
        self._tell({"stage": "fitting", "solution": vars(row)})

    def _tell(self, what: dict[str, Any]) -> None:
        if self.path is None:
            return
        from gmcr.text import plain

        line = json.dumps({"seconds": round(perf_counter() - self.started, 3)} | plain(what))
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise FileError(f"{self.path} could not be written: {error.strerror or error}.") from error
