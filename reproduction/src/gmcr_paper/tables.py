"""Tables as text, Markdown and LaTeX. A cell is text; what it holds is escaped for each format."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

NOT_RUN = "not run"
NONE = "–"  # the paper gives no value, or the quantity does not exist here

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "²": r"$^2$",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "≈": r"$\approx$",
    "φ": r"$\varphi$",
    "ϑ": r"$\vartheta$",
    "λ": r"$\lambda$",
    "σ": r"$\sigma$",
    "…": r"\dots{}",
}
MARKDOWN = "\\`*_{}[]<>#|~"


@dataclass(frozen=True)
class Table:
    """A table of texts.

    name : what its files are called
    title : one line above it
    columns : headings
    rows : texts, as many as headings each
    notes : lines below it
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {self.name} has {len(row)} cells for {len(self.columns)} columns")

    def as_text(self) -> str:
        lines = _aligned(self.columns, self.rows, "  ", str.strip)
        rule = "-" * max(map(len, lines))
        body = [lines[0], rule, *lines[1:]] if self.rows else [f"({NOT_RUN})"]
        return "\n".join([self.title, "", *body, *(("", *self.notes) if self.notes else ())])

    def as_markdown(self) -> str:
        parts = [f"**{markdown(self.title)}**"] if self.title else []
        if self.rows:
            header, *rows = _aligned(self.columns, self.rows, " | ", markdown)
            rule = "|".join("-" * (width + 2) for width in _widths(self.columns, self.rows, markdown))
            parts.append("\n".join([f"| {header} |", f"|{rule}|", *(f"| {row} |" for row in rows)]))
        else:
            parts.append(NOT_RUN)
        return "\n\n".join([*parts, *map(markdown, self.notes)])

    def as_latex(self) -> str:
        def line(cells: Sequence[str]) -> str:
            return " & ".join(map(latex, cells)) + r" \\"

        return "\n".join(
            [
                r"\begin{table}[t]",
                r"\centering",
                rf"\caption{{{' '.join(map(latex, (self.title, *self.notes)))}}}",
                rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
                r"\toprule",
                line(self.columns),
                r"\midrule",
                *(line(row) for row in self.rows),
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row)) for row in self.rows]
        return {"name": self.name, "title": self.title, "rows": rows, "notes": list(self.notes)}


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "text": (".txt", Table.as_text),
    "markdown": (".md", Table.as_markdown),
    "latex": (".tex", Table.as_latex),
}


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return "".join("\\" + letter if letter in MARKDOWN else letter for letter in _one_line(text))


def latex(text: str) -> str:
    """Text that LaTeX shows as it is; an accent over a letter becomes a mathematical one."""
    out: list[str] = []
    for letter in unicodedata.normalize("NFD", _one_line(text)):
        if letter == "\u0302":  # ĉ
            out[-1] = rf"$\hat{{{out[-1]}}}$"
        elif letter == "\u0304":  # Ē
            out[-1] = rf"$\bar{{{out[-1]}}}$"
        else:
            out.append(LATEX.get(letter, unicodedata.normalize("NFC", letter)))
    return unicodedata.normalize("NFC", "".join(out))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], shown: Callable[[str], str]) -> list[int]:
    return [max(len(shown(cell)) for cell in column) for column in zip(columns, *rows)]


def _aligned(
    columns: Sequence[str], rows: Sequence[Sequence[str]], gap: str, shown: Callable[[str], str]
) -> list[str]:
    widths = _widths(columns, rows, shown)
    return [
        gap.join(shown(cell).ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in (columns, *rows)
    ]


# Cells


def number(value: float | None, form: str = "{:.3f}") -> str:
    """A measured number; nothing where it does not exist."""
    return NONE if value is None or value != value else form.format(value)


def mean_sd(values: Sequence[float | None], form: str = "{:.3f}") -> str:
    """Mean ± one standard deviation over runs, as in the paper; of one run, its value alone."""
    there = [value for value in values if value is not None and value == value]
    if not there:
        return NONE if values else NOT_RUN
    spread = f"±{form.format(stdev(there))}" if len(there) > 1 else ""
    return form.format(fmean(there)) + spread


def span(values: Sequence[float], form: str = "{:.3g}") -> str:
    """Smallest to largest."""
    there = [value for value in values if value is not None and value == value]
    ends = dict.fromkeys(form.format(end) for end in (min(there), max(there))) if there else [NONE]
    return "–".join(ends)
