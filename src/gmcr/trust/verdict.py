"""The verdict on an answer, its checks and its components, for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from gmcr.counting.weighing import SMALLEST
from gmcr.trust.checks import (
    CARE,
    CHECKS,
    COUNT,
    DONT,
    NOT_THERE,
    SUPPORTS,
    USE,
    WORDS,
    Check,
    percent,
    weakest,
    word,
)
from gmcr.trust.learned import RIGHT, WRONG, Learned, stored
from gmcr.trust.numbers import Answer, Numbers, numbers_of
from gmcr.validation import FloatArray

TOGETHER = "all together"


@dataclass(frozen=True, eq=False, repr=False)
class Trust:
    """Whether an answer may be used.

    Attributes
    ----------
    verdict : "use it", "use with care" or "do not use": the weakest of the checks
    right, wrong : how many of simulated answers like this one were right (count and every profile, at a cosine of
        0.98), and how many wrong (the count, or a profile below 0.9)
    checks : table: name, number, limit, verdict, what to do
    components : table: component, verdict, probability that its profile is right, range, what to do
    alternatives : (components, channels) how each profile could look too and fit as well; None where none does
    rates : table: of simulated answers with each verdict, the share that was right and that was wrong
    """

    verdict: str
    right: float
    wrong: float
    checks: pd.DataFrame
    components: pd.DataFrame
    rates: pd.DataFrame
    alternatives: FloatArray | None = field(default=None)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, with the checks that decided it."""
        by = f" ({', '.join(self.decided_by)})" if self.decided_by else ""
        return f"{self.verdict.capitalize()}{by}: {self.like_this}."

    @property
    def decided_by(self) -> list[str]:
        """The names of the checks that are no better than the verdict; none where it is "use it"."""
        return (
            []
            if self.verdict == USE
            else self.checks[self.checks["verdict"] == self.verdict]["name"].tolist()
        )

    @property
    def like_this(self) -> str:
        """How many answers with such numbers are right."""
        right, wrong = percent(self.right), percent(self.wrong)
        return f"of simulated answers like this one, {right} are right and {wrong} wrong"

    @property
    def rate(self) -> str:
        """How far the word itself is to be trusted."""
        right, wrong = (percent(float(self.rates[what][self.verdict])) for what in ("right", "wrong"))
        return (
            f'Of simulated answers that were headed "{self.verdict}", {right} were right and {wrong} wrong.'
        )

    def __str__(self) -> str:
        lines = [self.sentence]
        for check in self.checks.to_dict("records"):
            line = f"  {check['name']:<18} {check['number']:<50} {check['verdict']}"
            lines.append(line if check["verdict"] == USE else f"{line}: {check['todo']}")
        for row in self.components.to_dict("records"):
            if row["verdict"] != USE:
                lines.append(f"  {row['component']}: {row['verdict']}, {row['todo']}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """All but the alternatives; JSON types."""
        return {
            "verdict": self.verdict,
            "right": self.right,
            "wrong": self.wrong,
            "checks": self.checks.to_dict("records"),
            "components": self.components.to_dict("records"),
            "rates": self.rates.to_dict("index"),
        }

    @classmethod
    def of_dict(cls, kept: dict[str, Any], alternatives: FloatArray | None = None) -> Trust:
        """What `as_dict` gave."""
        tables = {name: pd.DataFrame(kept[name]) for name in ("checks", "components")}
        rates = pd.DataFrame.from_dict(kept["rates"], orient="index")
        return cls(**(kept | tables | {"rates": rates}), alternatives=alternatives)

    def __repr__(self) -> str:
        return f"Trust({self.verdict!r}, right={self.right:.2f}, wrong={self.wrong:.2f})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def trusted(answer: Answer, names: Sequence[str] | None = None, learned: Learned | None = None) -> Trust:
    """Judge an answer.

    names : of the components;  learned : what is known of such numbers, by default what comes with gmcr
    """
    learned = stored() if learned is None else learned
    numbers = numbers_of(answer)
    # It takes a while: a check by itself, and not one of the numbers that answers are judged by.
    confidence = answer.decoding.confidence
    numbers.table[SUPPORTS] = np.nan if confidence is None else float(np.mean(confidence))
    chances = learned.of_answer(numbers)
    rows = [_unweighed(row, answer) for row in _rows(numbers, chances, learned)]
    return Trust(
        verdict=_weakest_of(rows),
        right=float(chances[RIGHT]),
        wrong=float(chances[WRONG]),
        checks=pd.DataFrame(rows),
        components=_components(numbers, learned, names, len(answer.S)),
        rates=pd.DataFrame(learned.rates, index=list(WORDS), columns=["right", "in between", "wrong"]),
        alternatives=None if numbers.spread is None else numbers.spread.farthest,
    )


def words_of(numbers: Numbers, chances: FloatArray, learned: Learned) -> str:
    """The weakest of the checks, and of all numbers together."""
    return _weakest_of(_rows(numbers, chances, learned))


def _weakest_of(rows: list[dict[str, str]]) -> str:
    return weakest([row["verdict"] for row in rows])


def together(chances: FloatArray, words: FloatArray) -> str:
    """What chances to be right, in between and wrong say; words : as in `Learned`."""
    use, dont = words
    return DONT if chances[WRONG] >= dont else USE if chances[RIGHT] >= use else CARE


def _rows(numbers: Numbers, chances: FloatArray, learned: Learned) -> list[dict[str, str]]:
    rows = [
        _row(check, check.of(numbers), limits) for check, limits in zip(CHECKS, learned.limits, strict=True)
    ]
    last = {
        "name": TOGETHER,
        "number": f"{percent(chances[RIGHT])} of such answers are right, {percent(chances[WRONG])} wrong",
        "limit": f"{percent(learned.words[0, 0])} right",
        "verdict": together(chances, learned.words[0]),
        "todo": "look at the weakest checks and components first",
    }
    return [*rows, last]


def _row(check: Check, number: float, limits: FloatArray) -> dict[str, str]:
    return {
        "name": check.name,
        "number": NOT_THERE if np.isnan(number) else check.shown(number),
        "limit": check.shown(limits[0]),
        "verdict": word(number, limits),
        "todo": check.todo,
    }


def _unweighed(row: dict[str, str], answer: Answer) -> dict[str, str]:
    """A count of so few samples or channels that nothing could be weighed is to be used with care at best."""
    if row["name"] != COUNT or min(answer.D.shape) >= SMALLEST or answer.evidence.decided_by == "you":
        return row
    return row | {"verdict": weakest([row["verdict"], CARE]), "todo": answer.evidence.caution or row["todo"]}


def _components(
    numbers: Numbers, learned: Learned, names: Sequence[str] | None, n_components: int
) -> pd.DataFrame:
    chances = learned.of_components(numbers)
    words = [together(p, learned.words[1]) for p in chances]
    named = names or [f"component {j + 1}" for j in range(n_components)]
    todo = [_advice(numbers.components, j) for j in range(n_components)]
    return pd.DataFrame(
        {
            "component": named,
            "verdict": words,
            "right": chances[:, RIGHT],
            "wrong": chances[:, WRONG],
            "todo": todo,
        }
    )


def _advice(columns: dict[str, FloatArray], j: int) -> str:
    """What the doubt about a component rests on, by the number that is the lowest, and what would help."""
    reasons = {
        "range": "it could look different and fit as well; a sample without it, or nearly pure, would tell",
        "halves": "it looks different in halves of the samples; more samples that hold it would tell",
        "other starts": "other starts end with another profile; say what you know of it",
    }
    known = {name: columns[name][j] for name in reasons if not np.isnan(columns[name][j])}
    if not known:
        return "too few samples or too many components to say why"
    return reasons[min(known, key=lambda name: known[name])]
