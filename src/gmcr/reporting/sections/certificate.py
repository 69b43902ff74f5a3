"""The certificate: what is proved, and every condition with its number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gmcr.reporting.contents import Contents
from gmcr.reporting.listing import Cell, Listing, number_cell, numbers, texts
from gmcr.reporting.section import SECTIONS, Block, Section, Text, missing
from gmcr.reporting.words import number
from gmcr.theory.certificate import Certificate

# Conditions of the certificate in plain words (docs/trust.md).
PLAINLY = dict.fromkeys(("C1", "C8"), "every sample is explained up to its noise, with few components")
PLAINLY |= dict.fromkeys(("C2", "C4", "C9"), "the answer uses no more components than the truth does")
PLAINLY |= dict.fromkeys(("C5", "C10"), "no handful of profiles can nearly replace each other")
PLAINLY |= dict.fromkeys(("C7", "C11"), "no sample was explained by fewer components than it really has")
PLAINLY |= {
    "C3": "every sample is explained, with few components",
    "C6": "for every component there are two samples that share it and nothing else",
    "R": "such pairs of samples occur often enough, in different proportions",
    "robust window": "the noise is small enough for a proof with learned profiles",
    "fixed-pool window": "the noise is small enough for a proof with known profiles",
    "price window": "the noise is small enough that one price separates noise from components",
    "local optimum": "no sample gets cheaper by adding or removing one component",
    "single samples": "a new sample of usual noise would be decoded with proof",
}


def build(contents: Contents) -> Iterator[Block | None]:
    certificate = contents.certificate
    if certificate is not None:
        yield Text(contents.named(certificate.sentence), "strong")
        constants = ", ".join(f"{name} = {number(value)}" for name, value in certificate.constants.items())
        read_off = f" Read off the solution, not given: {', '.join(certificate.read_off)}."
        read_off = read_off if certificate.read_off else ""
        yield f"Model: {constants}; α = {number(certificate.alpha)}.{read_off}"
        yield _conditions(contents, certificate)
    yield missing(contents, "certificate", "Certificate")


def _conditions(contents: Contents, certificate: Certificate) -> Listing:
    rows = [
        [
            Cell(contents.named(str(row.name))),
            Cell(contents.named(PLAINLY.get(str(row.name), ""))),
            Cell(str(row.status), status=str(row.status)),
            number_cell(row.value),
            number_cell(row.threshold),
            Cell(contents.named(re.sub(r"\binf\b", "∞", str(row.note or "")))),
        ]
        for row in certificate.conditions.itertuples(index=False)
    ]
    columns = texts("condition", "in plain words", "status") + numbers("value", "threshold") + texts("why")
    return Listing("conditions", "Conditions of Theorem 2, and what else was checked", columns, rows)


SECTIONS.add("certificate", Section("Certificate", 80, build))
