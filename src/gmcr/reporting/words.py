"""Numbers and sentences of a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.reporting.contents import Contents

SURE = 0.9  # confidence from which a support counts as sure


def number(value: Any, digits: int = 4) -> str:
    """A number for reading; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    return (
        f"{float(text):,.0f}"
        if "e" in text and abs(value) < 1e9 and float(text) == int(float(text))
        else text
    )


def clean(text: str) -> str:
    """Text from a file without control characters and marks that change the direction of writing."""
    return "".join(character if character.isprintable() else "�" for character in text)


def several(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(words: list[str], most: int = 8) -> str:
    """a, b and c; beyond `most`, how many more."""
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


# The sections


def expected_wrong(contents: Contents) -> str:
    if contents.confidence is None:
        return ""
    wrong = float(np.sum(1 - contents.confidence))
    told = f"{wrong:.1f}" if wrong >= 0.05 else "fewer than 0.1"
    return f"Of {several(len(contents.confidence), 'list')}, {told} should be wrong on average."


def rank_verdict(rank: dict[str, Any]) -> str:
    """What the rank rules say together."""
    place = (
        "for samples as they are" if rank["scaling"] == "as is" else f"under the scaling “{rank['scaling']}”"
    )
    if not rank["white"]:
        return (
            f"The rank rules suggest {rank['count']}, with little weight: what they leave over does not look "
            f"like white noise under any scaling (closest: {place}), so rules that need it count too many."
        )
    if rank["agree"]:
        return f"All rank rules agree on {rank['count']} {place}, where the remainder looks like white noise."
    own = sorted({count for _, scaling, count in rank["counts"] if scaling == rank["scaling"]})
    told = ", ".join(map(str, own))
    return f"The rank rules do not agree: {place} they say {told}; the median is {rank['count']}."


def count_verdict(evidence: dict[str, Any]) -> str:
    reasons = {
        "cost": "it has the lowest cost, and "
        + ("what is left over is white noise" if evidence["white"] else "its profiles come back from halves"),
        "rank": "as many singular values stand above white noise, and samples hold most components",
        "reproducibility": "profiles beyond it do not come back from halves of the samples",
        "you": "as asked for",
    }
    return f"{several(evidence['count'], 'component')}: {reasons.get(evidence['decided_by'], 'chosen')}."


def match_words(match: dict[str, Any] | None) -> str:
    """What a library says about a component."""
    if match is None:
        return ""
    score = "" if match.get("score") is None else f", HQI {number(match['score'], 3)}"
    if match.get("name"):
        return f"{match.get('verdict') or 'named'}{score}"
    nearest = f" (nearest: {match['hit']}{score})" if match.get("hit") else ""
    return f"{match.get('verdict') or 'none'}{nearest}"


LAWS = {
    "constant": "The noise is the same in every sample and channel: σ = {level}.",
    "proportional": "The noise of a sample is proportional to its size: σ is {share} of its root mean square.",
    "poisson": "The noise is that of counting: its variance is {level} times the signal.",
    "given": "The noise was given.",
}


def noise_law(law: dict[str, Any] | None) -> str:
    """The noise law in words."""
    if law is None:
        return "No law of the noise was learned."
    level = law.get("level")
    share = "–" if level is None else f"{100 * level:.3g} %"
    return LAWS.get(str(law.get("kind")), "").format(level=number(level), share=share)


def groups_mean(contents: Contents) -> str:
    """What it means that samples never separate some components."""
    members = {j for group in contents.groups for j in group}
    if contents.bands is not None and all(contents.bands[j]["closed"] for j in members):
        return "No two samples single out these components; all samples together do, if their supports are right:"
    return (
        "Some components are never separated by these samples, so that part of one may be counted to another and "
        "the samples still fit:"
    )


def groups(contents: Contents) -> list[str]:
    """A sentence for each group of components that the samples never separate."""
    held, names = contents.found.supports.sum(axis=0), contents.component_names
    told = []
    for group in contents.groups:
        # Those with the fewest samples are in no sample without all the others.
        bound = [j for j in group if held[j] == held[group].min()]
        free = [j for j in group if j not in bound]
        which = listed([names[j] for j in bound], 12)
        if len(group) == 1:
            told.append(f"{which}: nothing always comes with it, yet no two samples have it alone in common.")
        elif not free:
            told.append(f"{which} always occur together.")
        else:
            others = listed([names[j] for j in free], 12)
            told.append(f"{which} never {'occurs' if len(bound) == 1 else 'occur'} without {others}.")
    return told
