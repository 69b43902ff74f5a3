"""The answer of a report in two sentences, and how far to trust it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gmcr.reporting.contents import Contents
from gmcr.reporting.words import SURE, listed, several
from gmcr.trust import Trust
from gmcr.trust.checks import NOT_THERE, USE, WORDS

GOOD, CARE, BAD, NONE = "good", "care", "bad", "none"
STATUS = dict(zip(WORDS, (GOOD, CARE, BAD))) | {"": NONE}
SECTION_OF = {"count": "count", "fit": "fit", "samples explained": "fit", "supports": "supports"}
SECTION_OF |= {"uniqueness": "separation", "stability": "profiles", "starts": "profiles"}


@dataclass(frozen=True)
class Check:
    """One thing to look at before trusting the answer; `section` is where the page tells more."""

    status: str
    subject: str
    text: str
    section: str


def verdict_of(contents: Contents) -> str:
    """One of the three words; empty where nothing was judged."""
    return "" if contents.trust is None else contents.trust.verdict


def means(contents: Contents) -> str:
    """What the verdict means, in a sentence or two."""
    if contents.trust is None:
        return f"Not judged: {contents.left_out.get('trust', contents.NOT_KEPT)}"
    decided, like_this = contents.trust.decided_by, contents.trust.like_this
    by = f"Because of {listed(decided)}. " if decided else ""
    return contents.named(f"{by}{like_this.capitalize()}. {contents.trust.rate}")


def answer(contents: Contents) -> tuple[str, str]:
    """The answer in two sentences: what there is, and what is left over."""
    found = contents.found
    held = found.supports.sum(axis=1)
    span = f"{held.min()}" if held.min() == held.max() else f"{held.min()} to {held.max()}"
    held_by = f"{several(found.n_samples, contents.row)} hold {several(found.n_components, 'component')}"
    named = [match.name for _, match in sorted(contents.names.items()) if match.name]
    by_spectra = f"; {'its name' if len(named) == 1 else 'names'} by spectra: {listed(named)}"
    first = f"{held_by}, {span} in each {contents.row}{by_spectra if named else ''}."
    r2 = found.fit.get("r2")
    what = f"{_per_cent(r2)} of the variance" if isinstance(r2, float) else f"the {contents.row}s"
    if contents.known is None:
        return first, f"They explain {what}."
    strange = int((~contents.known).sum())
    those = f"{several(strange, contents.row)} of {found.n_samples:,} {'leaves' if strange == 1 else 'leave'}"
    rest = f"{those} more than noise" if strange else f"no {contents.row} leaves more than noise"
    return first, f"They explain {what}, and {rest}."


def checks(contents: Contents) -> list[Check]:
    """What to look at before using the answer."""
    if contents.trust is None:
        judged = [check(contents) for check in (_count, _fit, _supports, _uniqueness)]
    else:
        judged = [*_named(contents, contents.trust), *_components(contents, contents.trust)]
    warned = [Check(CARE, "Warning", warning, "reproduce") for warning in contents.warnings]
    return [*judged, *_certificate(contents), *_lonely(contents), *warned]


def _named(contents: Contents, trust: Trust) -> Iterator[Check]:
    """The checks of the verdict, with what to do where one is not met."""
    for row in trust.checks.to_dict("records"):
        name, word, todo = row["name"], row["verdict"], row["todo"]
        own = OWN_WORDS.get(name)
        text = f"{row['number']}." if own is None else own(contents, f"{row['number']}.")
        advice = "" if word == USE else f" {todo[0].upper()}{todo[1:]}."
        status = NONE if row["number"] == NOT_THERE else STATUS[word]
        subject = contents.named(name.capitalize())
        yield Check(status, subject, f"{text}{contents.named(advice)}", SECTION_OF.get(name, "answer"))


def _components(contents: Contents, trust: Trust) -> Iterator[Check]:
    """Components that are not to be used, or with care."""
    for name, row in zip(contents.component_names, trust.components.to_dict("records"), strict=True):
        if row["verdict"] != USE:
            text = contents.named(f"{row['verdict']}: {row['todo']}.")
            yield Check(STATUS[row["verdict"]], name, text, "profiles")


def _count(contents: Contents) -> Check:
    evidence = contents.count
    if evidence is None:
        return Check(NONE, "Count", "What speaks for the count was not kept.", "count")
    if evidence.decided_by == "you":
        return Check(NONE, "Count", "It was asked for, not found.", "count")
    if evidence.firm:
        return Check(GOOD, "Count", f"{evidence.count}, {evidence.spread}.", "count")
    text = f"{evidence.count}, {evidence.spread}. {evidence.caution}".strip()
    return Check(CARE, "Count", text, "count")


def _fit(contents: Contents) -> Check:
    if contents.known is None:
        return _not_done("Fit", contents, "fit")
    strange, n = int((~contents.known).sum()), len(contents.known)
    if not strange:
        return Check(GOOD, "Fit", f"Every {contents.row} is explained within its noise.", "fit")
    text = (
        f"{several(strange, contents.row)} of {n:,} ({strange / n:.1%}) are not explained within their noise."
    )
    # One in 200 is flagged by chance (gmcr.decoder.UNKNOWN_LEVEL).
    status = GOOD if strange <= max(1, 0.01 * n) else CARE if strange < 0.5 * n else BAD
    return Check(status, "Fit", text, "fit")


def _supports(contents: Contents) -> Check:
    confidence = contents.confidence
    if confidence is None:
        return _not_done(f"Which {contents.row} holds what", contents, "fit", "supports")
    wrong, n = float(np.sum(1 - confidence)), len(confidence)
    doubtful = int((confidence < SURE).sum())
    expected = "none" if wrong < 0.5 else f"about {wrong:.0f}"
    text = f"Of {n:,} lists of components, {expected} should be wrong; {doubtful:,} are less than 90 % sure."
    status = GOOD if wrong <= 0.02 * n + 0.5 else CARE if wrong < 0.5 * n else BAD
    return Check(status, f"Which {contents.row} holds what", text, "supports")


def _uniqueness(contents: Contents) -> Check:
    subject, names = "Uniqueness", contents.component_names
    if contents.ambiguity is not None:
        bands = contents.ambiguity.bands
        loose = [j for j, band in enumerate(bands) if not (band.closed or band.within_noise)]
        if not loose:
            text = "No component could look different and fit as well, if the supports are right."
            return Check(GOOD, subject, text, "separation")
        which = listed([names[j] for j in loose])
        verb = "could look different" if len(loose) == 1 else "could each look different"
        text = f"At the ends of the bands, {which} {verb} and fit as well."
        return Check(CARE, subject, text, "separation")
    why = contents.left_out.get("bands")
    rest = "" if why is None else f" Bands of what would fit as well are missing: {why}"
    lonely = sorted({j for group in contents.groups for j in group})
    if lonely:
        which = listed([names[j] for j in lonely])
        text = f"The {contents.row}s never separate {which} from each other.{rest}"
        return Check(CARE, subject, text, "separation")
    if contents.pair_counts is not None:
        text = f"Every component is singled out by two {contents.row}s.{rest}"
        return Check(GOOD, subject, text, "separation")
    return _not_done(subject, contents, "separation")


def _explained(contents: Contents, number: str) -> str:
    if contents.known is None:
        return number
    return f"{int(contents.known.sum()):,} of {len(contents.known):,}."


def _sure(contents: Contents, number: str) -> str:
    """How sure supports are, or why that is not said."""
    if contents.confidence is None:
        why = contents.left_out.get("confidence") or contents.left_out.get("fit", "not found out.")
        return contents.named(f"{why[0].upper()}{why[1:]}")
    return f"{contents.confidence.mean():.1%} of the lists should be right."


def _different(contents: Contents, number: str) -> str:
    """How far profiles drawn about those found go, and what the bands say, or why there are none."""
    drawn = "" if number == f"{NOT_THERE}." else f"Profiles drawn about these and fitted again: {number} "
    return f"{drawn}{_uniqueness(contents).text}"


OWN_WORDS: dict[str, Callable[[Contents, str], str]] = {
    "count": lambda contents, number: _count(contents).text,
    "samples explained": _explained,
    "supports": _sure,
    "uniqueness": _different,
}


def _lonely(contents: Contents) -> list[Check]:
    """A component that one sample holds may be a mixture, or what is odd about that sample."""
    held = contents.found.supports
    alone = np.flatnonzero(held.sum(axis=0) == 1).tolist()
    if not alone or contents.found.n_samples == 1:
        return []
    told = [f"{contents.component_names[j]} (in {contents.sample_names[held[:, j].argmax()]})" for j in alone]
    text = f"{listed(told, 5)}: held by one {contents.row} each, so no other confirms what it looks like."
    if len(alone) == 1:
        text = f"{told[0]} is held by one {contents.row} only, so no other confirms what it looks like."
    return [Check(CARE, f"Single {contents.row}s", text, "profiles")]


def _certificate(contents: Contents) -> list[Check]:
    """The theorems' own verdict stands in its section; here only what speaks against the answer."""
    certificate = contents.certificate
    if certificate is None or certificate.verdict != "unsupported":
        return []
    return [Check(CARE, "Certificate", contents.named(certificate.sentence), "certificate")]


def _not_done(subject: str, contents: Contents, key: str, section: str = "") -> Check:
    why = contents.left_out.get(key, "it was left out.")
    return Check(NONE, subject, f"Not checked: {why}", section or key)


def _per_cent(share: float) -> str:
    """As many digits as it takes to see how far it is from all: 99.98 %."""
    rest = max(1.0 - share, 1e-12)
    digits = int(np.clip(np.ceil(-np.log10(rest)) - 1, 0, 6)) if share < 1 else 0
    return f"{100 * share:.{digits}f} %"
