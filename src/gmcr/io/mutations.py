"""Mutation types as channels: how the programs of that field write them, and one way for all.

A type may stand in one cell or be spread over up to four, and every program has an order of its own. The key of a
channel is as COSMIC and SigProfiler write it: A[C>A]A, AC>CA, 1:Del:C:0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_LABELS = 4  # cells that one mutation type is spread over: type, subtype, size and repeats of an indel
MOST_TYPES = 10_000  # lines; more are no catalogue, and need not be looked at
STRANDS = ("T", "U", "N", "B", "Q")  # transcribed, untranscribed, neither, both, unknown

_BETWEEN = re.compile(r"[\s|:;,_]+")
_SUBSTITUTION = re.compile(r"([ACGT]{1,2})\[([ACGT])>([ACGT])\]([ACGT]{1,2})")
_DOUBLET = re.compile(r"([ACGT]{2})>([ACGT]{2})")
_UNITS = {"C": "C", "T": "T", "R": "R", "REPEATS": "R", "M": "M", "MH": "M"}


def mutation_type(*cells: str) -> str | None:
    """The key of the mutation type that cells spell together; None if they spell none.

    >>> mutation_type("C>A", "ACA"), mutation_type("AC", "GT"), mutation_type("DEL", "MH", "5+", "2")
    ('A[C>A]A', 'AC>GT', '5:Del:M:2')
    """
    parts = [part for cell in cells for part in _BETWEEN.split(cell.strip().upper()) if part]
    return _indel(parts) or _substitution(parts)


def kind_of(key: str) -> str:
    """What a mutation type is."""
    return "single-base" if "[" in key else "doublet-base" if ">" in key else "insertion and deletion"


def mutation_types(labels: Sequence[str]) -> tuple[str, ...] | None:
    """The keys of labels that are all mutation types, each another one; else None."""
    if len(labels) < 2 or len(labels) > MOST_TYPES or mutation_type(labels[0]) is None:
        return None
    keys = tuple(key for label in labels if (key := mutation_type(label)) is not None)
    return keys if len(keys) == len(labels) == len(set(keys)) else None


def leading_types(columns: Sequence[Sequence[str]]) -> tuple[int, list[str | None]]:
    """How many of the first columns spell mutation types, as many as do, and each line's key; 0 if none do."""
    height = len(columns[0]) if columns else 0
    if not 2 <= height <= MOST_TYPES:
        return 0, []
    for width in range(min(MOST_LABELS, len(columns)), 0, -1):
        if mutation_type(*(column[height // 2] for column in columns[:width])) is None:
            continue  # no other line needs a look: a total or a footer does not stand in the middle
        keys = [mutation_type(*cells) for cells in zip(*columns[:width])]
        if 2 * sum(key is not None for key in keys) > height:
            return width, keys
    return 0, []


def _indel(parts: Sequence[str]) -> str | None:
    """1:Del:C:0, or DEL C 1 0 with sizes such as 5+ and units such as repeats and MH."""
    if len(parts) != 4:
        return None
    size, kind, unit, repeats = parts if parts[0][0].isdigit() else (parts[2], *parts[:2], parts[3])
    known = kind in ("DEL", "INS") and unit in _UNITS
    if not (known and re.fullmatch(r"[1-5]\+?", size) and re.fullmatch(r"[0-5]\+?", repeats)):
        return None
    return f"{size[0]}:{kind.title()}:{_UNITS[unit]}:{repeats[0]}"


def _substitution(parts: Sequence[str]) -> str | None:
    """A[C>A]A and AC>CA, whole or from parts such as C>A and ACA; before it the strand, where one is told."""
    strand = ""
    if len(parts) > 1 and parts[0] in STRANDS:
        strand, parts = f"{parts[0]}:", parts[1:]
    changes = [part for part in parts if re.fullmatch("[ACGT]>[ACGT]", part)]
    contexts = [part for part in parts if re.fullmatch("[ACGT]{3}|[ACGT]{5}", part)]
    whole = [part for part in parts if "[" in part or _DOUBLET.fullmatch(part)]
    if changes and contexts and not whole:
        flank = len(contexts[0]) // 2
        whole = [f"{contexts[0][:flank]}[{changes[0]}]{contexts[0][-flank:]}"]
    elif len(parts) == 2 and not whole:
        whole = [">".join(parts)]
    if not whole:
        return None
    if found := _SUBSTITUTION.fullmatch(whole[0]):
        before, base, other, after = found.groups()
        same = {whole[0], f"{base}>{other}", before + base + after}
        fine = base != other and len(before) == len(after)
    elif found := _DOUBLET.fullmatch(whole[0]):
        same, fine = {whole[0], *found.groups()}, found[1] != found[2]
    else:
        return None
    return strand + whole[0] if fine and same.issuperset(parts) else None
