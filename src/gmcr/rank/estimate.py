"""The quick look itself: every rule under every scaling, and what follows from all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
from numpy.random import Generator

from gmcr.errors import InputError
from gmcr.rank.edge import marchenko_pastur
from gmcr.rank.preparation import prepare, scalings
from gmcr.rank.report import RankReport
from gmcr.rank.rules import RULES, Answer, Rule, Seen
from gmcr.rank.white_noise import WHITE_MISFIT, misfit
from gmcr.validation import FloatArray, as_generator, check_samples

MOST_TO_PERMUTE = 600_000  # entries; beyond that, slow rules (parallel analysis) are skipped


def estimate_rank(
    D: Any, random_state: int | Generator | None = 0, *, most_to_permute: int | None = None
) -> RankReport:
    """The number of components by rules on the singular values, each under up to three scalings.

    The scalings: "as is" (white when the noise is constant), "rows scaled" (every sample to unit power: white
    when the noise is proportional to the sample) and "poisson scaled" (white for counting noise; only when
    no entry is negative).

    Parameters
    ----------
    D : (samples, channels) array-like, NaN where an entry is missing
    random_state : for the permutations of the parallel analysis
    most_to_permute : entries beyond which slow rules, such as parallel analysis, are skipped; by default 600,000

    Returns
    -------
    RankReport

    Examples
    --------
    >>> from gmcr.mixtures import make_mixtures
    >>> from gmcr.rank import estimate_rank
    >>> estimate_rank(make_mixtures(n_components=16, n_samples=64, random_state=0).D).count
    16
    """
    rng = as_generator(random_state)
    table, notes = prepare(check_samples(D, allow_constant=False), rng)
    limit = MOST_TO_PERMUTE if most_to_permute is None else most_to_permute
    rules = {name: rule for name, rule in RULES.items() if table.size <= limit or not rule.slow}
    looks = {name: _look(scaled, rng, rules) for name, scaled in scalings(table).items()}
    for title in [rule.title for name, rule in RULES.items() if name not in rules]:
        notes.append(f"{title[0].upper()}{title[1:]} was skipped: the table has more than {limit:,} entries.")
    shares = {name: look.misfit / (len(look.values) - look.count) for name, look in looks.items()}
    best = min(shares, key=lambda name: shares[name])
    # One of less than half of the values is no evidence.
    white = looks[best].misfit <= WHITE_MISFIT and 2 * looks[best].count <= len(looks[best].values)
    answers = looks[best].answers
    votes = sorted(answers[name].count for name, rule in rules.items() if white or not rule.needs_white)
    counts = {(rule, name): a.count for name, look in looks.items() for rule, a in look.answers.items()}
    return RankReport(
        count=votes[(len(votes) - 1) // 2],  # the median; of two middle ones, the smaller
        agree=len({answer.count for answer in answers.values()}) == 1,
        scaling=best,
        white=white,
        counts=counts,
        table=_tabulate(looks),
        singular_values={name: look.values for name, look in looks.items()},
        noise={name: look.noise for name, look in looks.items()},
        misfit={name: look.misfit for name, look in looks.items()},
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _Look:
    """One scaled table; `misfit` is that of the values after `count`, those under the edge of white noise."""

    values: FloatArray
    noise: float
    count: int
    misfit: float
    answers: dict[str, Answer]


def _look(table: FloatArray, rng: Generator, rules: dict[str, Rule]) -> _Look:
    """Every rule on one scaled table."""
    U, values, Vt = scipy.linalg.svd(table, full_matrices=False, check_finite=False)
    # Below this the values are rounding errors, and no rule may read anything into them.
    resolution = values[0] * np.finfo(float).eps * max(table.shape)
    values = np.maximum(values, resolution)
    edge, noise = marchenko_pastur(values, table.shape)
    out_of_place = 0.0 if values[edge.count] <= resolution else misfit(values, edge.count, noise, table.shape)
    seen = Seen(U, values, Vt, rng)
    answers = {name: rule.ask(seen) for name, rule in rules.items()}
    for name, answer in answers.items():
        if not 0 <= answer.count < len(values):
            raise InputError(
                f"the rank rule {name!r} counts {answer.count} of {len(values)} values; leave one."
            )
    return _Look(values, noise, edge.count, out_of_place, answers)


def _tabulate(looks: dict[str, _Look]) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for scaling, look in looks.items():
        for rule in RULES:
            answer = look.answers.get(rule)
            if answer is None:
                rows.append((rule, scaling, pd.NA, np.nan, np.nan, np.nan))
                continue
            kept = look.values[answer.count - 1] if answer.count else np.nan
            rows.append((rule, scaling, answer.count, answer.threshold, kept, look.values[answer.count]))
    table = pd.DataFrame(rows, columns=["rule", "scaling", "count", "threshold", "kept", "dropped"])
    return table.astype({"count": "Int64"})
