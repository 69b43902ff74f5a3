"""Whether an answer may be used: a verdict in three words, what it rests on, and what to do about it.

    numbers.py   numbers of a solution that tell right answers from wrong ones
    learned.py   what simulated tables, whose truth is known, taught about these numbers (weights.npz)
    checks.py    the named checks: their limits, and what to do where one is not met
    verdict.py   `Trust`: the verdict, checks and components, for people

What does not belong here: fitting, files, pages.
"""

from gmcr.trust.numbers import Answer, Numbers, numbers_of
from gmcr.trust.verdict import Trust, trusted

__all__ = ["Answer", "Numbers", "Trust", "numbers_of", "trusted"]
