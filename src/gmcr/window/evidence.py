"""The count, and what speaks for it.

Where what is left over is white noise, the cost decides: it is a likelihood, and it was measured against the
truth. Measured data often leave more than noise (scatter, drift, shifts, digitisation). What is correlated along
the channels counts in the cost for as many independent channels as it amounts to. What then still pays for
further slots is real structure, but not of components: profiles fitted to it differ between halves of the
samples. So the cost's count stands if its profiles come back from halves; if not, the count below it beyond
which profiles most clearly stop coming back. Even white noise does not save a count whose profiles do not come
back, where those of a smaller one do and those of none between come near it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from gmcr.noise.correlation import chance
from gmcr.rank import noise_edge
from gmcr.validation import FloatArray
from gmcr.window.first_guess import Guess
from gmcr.window.remembering import storable

COMES_BACK = 0.98  # cosine from which a profile of one half is the same as one of the other
RESEMBLES = 0.8  # cosine from which it speaks for the same component, where the cost does too
FIRM = 0.95  # probability from which a count is firm
TOLD = 0.02  # probability from which another count is told
SPARSE = 0.5  # share of the components that samples hold, up to which they are few
RESOLVED = 0.999  # cosines above this tell nothing more about the count


@storable
@dataclass(frozen=True)
class Evidence:
    """How many components, and how firm that is.

    Attributes
    ----------
    count : the count chosen
    low, high : the smallest range with 95 % of the probability; where there are no probabilities, the range that
        the different kinds of evidence leave
    decided_by : "cost", "rank", "reproducibility", "all" or "you"
    by_cost : count with the lowest cost
    by_rank : count of singular values above the edge of white noise
    by_reproducibility : count beyond which profiles most clearly stop coming back from halves of the samples
    white : whether what is left over looks like white noise
    reproducibility : per count, the smallest cosine between matched profiles of two halves
    costs : per count, the lowest cost found above the lowest of all
    by_rule : count by the rules above, where all evidence together decided for another
    white_rank : whether the singular values below that of `by_rank` look like white noise
    held : share of the components that samples hold where the cost is lowest
    weakest : how many times its price the slot is worth there that is worth the least
    rarest : number of samples that hold the slot held by the fewest
    unexplained : share of the samples that leave more than noise there
    alike : the largest cosine between two profiles there
    agreement : per count, the smallest cosine between matched profiles of fits from different starts
    excess : per count, the squares that the state leaves over those that as many directions leave
    probabilities : of each count, given all evidence; none where the count was asked for
    caution : why no count is firm here, whatever its probability
    doubt : what the last component could be instead, where one fewer or one more is the next likeliest
    rare : how many of the components were found among many samples for what the others leave unexplained of a few
    """

    count: int
    low: int
    high: int
    decided_by: str
    by_cost: int
    by_rank: int
    by_reproducibility: int | None
    white: bool
    reproducibility: dict[int, float] = field(default_factory=dict)
    costs: dict[int, float] = field(default_factory=dict)
    by_rule: int = 0
    white_rank: bool = False
    held: float = 1.0
    weakest: float = 0.0
    rarest: float = 0.0
    unexplained: float = 0.0
    alike: float = 0.0
    agreement: dict[int, float] = field(default_factory=dict)
    excess: dict[int, float] = field(default_factory=dict)
    probabilities: dict[int, float] = field(default_factory=dict)
    caution: str = ""
    doubt: str = ""
    rare: int = 0

    @property
    def firm(self) -> bool:
        """Whether the count is all but certain: with a probability of at least 95 %."""
        if self.caution or self.decided_by == "you":
            return False
        return (
            self.probabilities.get(self.count, 0.0) >= FIRM if self.probabilities else self.low == self.high
        )

    def __str__(self) -> str:
        reasons = {
            "cost": "it has the lowest cost" + self._beside_the_cost,
            "rank": "as many singular values stand above white noise, and samples hold most components",
            "reproducibility": "profiles beyond it do not come back from halves of the samples",
            "all": "all evidence together speaks for it",
            "you": "as asked for",
        }
        lines = [
            f"{self.count} component{'s' if self.count != 1 else ''}: {reasons[self.decided_by]}; {self.spread}.",
            *([f"  {self.caution}"] if self.caution else []),
            *(
                [f"  {self.rare} of them rare: what a few samples hold that others do not explain"]
                * (self.rare > 0)
            ),
            f"  lowest cost                     {self.by_cost}",
            f"  singular values above noise     {self.by_rank}",
        ]
        if self.by_reproducibility is not None:
            shown = ", ".join(f"{count}: {value:.3f}" for count, value in self.reproducibility.items())
            lines.append(f"  profiles come back from halves  {self.by_reproducibility}   ({shown})")
        return "\n".join(lines)

    @property
    def _beside_the_cost(self) -> str:
        if self.white:
            return ", and what is left over is white noise"
        back = self.reproducibility.get(self.count, 0.0) >= RESEMBLES
        return ", and its profiles come back from halves" if back else ""

    @property
    def spread(self) -> str:
        """How sure the count is, in words."""
        if not self.probabilities:
            return (
                f"the evidence leaves {self.low} to {self.high}"
                if self.low < self.high
                else "nothing speaks against"
            )
        sure = f"{_percent(self.probabilities.get(self.count, 0.0))} sure"
        if self.firm:
            return sure
        others = sorted((p, k) for k, p in self.probabilities.items() if k != self.count and p >= TOLD)[::-1][
            :3
        ]
        rest = ", ".join(f"{k} with {_percent(p)}" for p, k in others)
        likelier = bool(others) and others[0][0] > self.probabilities.get(self.count, 0.0)
        said = f"{sure}, {'though it could be ' if likelier else ''}{rest}" if rest else sure
        return f"{said}: {self.doubt}" if self.doubt else said

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """For JSON, whose keys are texts: what goes by count becomes pairs."""
        return {
            name: list(value.items()) if isinstance(value, dict) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def of_dict(cls, stored: dict[str, Any]) -> Evidence:
        by_count = {
            name: dict(stored.get(name, ()))
            for name in ("reproducibility", "costs", "agreement", "excess", "probabilities")
        }
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in (stored | by_count).items() if name in known})


def _percent(p: float) -> str:
    return "over 99 %" if p > 0.99 else f"{p:.0%}".replace("%", " %")


def comes_back(reproducibility: dict[int, float]) -> bool:
    """Whether there is a count above one whose profiles come back."""
    return any(value >= COMES_BACK for count, value in reproducibility.items() if count > 1)


def last_to_come_back(reproducibility: dict[int, float], most: int) -> int:
    """The count, up to `most`, beyond which profiles most clearly stop coming back: by the steepest fall.

    Cosines near one differ in how many digits they agree to one, 0.99 from 0.9 as 0.9 from 0: so are they
    compared.
    """
    digits = {k: -np.log10(1.0 - min(value, RESOLVED)) for k, value in reproducibility.items()}
    falls = {k: digits[k] - digits[k + 1] for k in digits if 2 <= k <= most and k + 1 in digits}
    return max(falls, key=lambda k: falls[k], default=min(most, 1))


def sharp_end(reproducibility: dict[int, float], most: int) -> int | None:
    """The count below `most` whose profiles come back while beyond it they do not even resemble each other."""
    counts = [k for k, value in reproducibility.items() if 1 < k < most and value >= COMES_BACK]
    beyond = {k: max((reproducibility[j] for j in reproducibility if j > k), default=1.0) for k in counts}
    return max((k for k in counts if beyond[k] < RESEMBLES), default=None)


def with_rare(evidence: Evidence, n_rare: int) -> Evidence:
    """The same with so many more components, rare ones that the others leave unexplained in a few samples."""
    return replace(
        evidence,
        count=evidence.count + n_rare,
        low=evidence.low + n_rare,
        high=evidence.high + n_rare,
        probabilities={count + n_rare: p for count, p in evidence.probabilities.items()},
        rare=evidence.rare + n_rare,
    )


def is_white(residual: FloatArray) -> bool:
    """Whether a table of residuals in noise units looks like white noise: (samples, channels).

    No direction may stand out from the Marchenko–Pastur edge, and neighbouring channels may not be correlated.
    """
    n_samples, n_channels = residual.shape
    small = residual if n_samples >= n_channels else residual.T
    top = np.sqrt(np.linalg.eigvalsh(small.T @ small)[-1])
    if top > noise_edge(max(residual.shape), min(residual.shape)):
        return False
    power = float((residual**2).mean())
    pairs = residual[:, 1:] * residual[:, :-1]
    neighbours = float(pairs.mean()) / power if pairs.size and power > 0 else 0.0
    return neighbours < chance(residual.size)


def decide(
    costs: dict[int, float],
    guess: Guess,
    white: bool,
    reproducibility: dict[int, float],
    asked: int | None = None,
    held: float = 1.0,
    given: bool = False,
    lawful: bool = False,
) -> Evidence:
    """Choose the count from what is known, among the counts that have been fitted.

    costs : of these counts
    white : whether what the cheapest count leaves over is white noise, by its residuals or by the singular values
    held : share of its components that samples hold; where few, different samples speak for each of them already
    given : whether some profiles are known beforehand: they count, whether or not singular values and halves of
        the samples show them
    lawful : whether the law of the noise is known, as of counts: then the cost is a likelihood in any case
    """
    sparse = held <= SPARSE
    likely = by_cost = min(costs, key=lambda k: costs[k])
    if guess.white and (lawful or not sparse or not white) and not given and guess.count < by_cost:
        # Samples that hold most components have as many singular values above the noise as components; a slot
        # more can only have paid because the fit with fewer was not the best there is. So has one where few in
        # each sample do not explain what so many directions do.
        likely, white = guess.count, True
    halves = {} if given else reproducibility  # whose pools hold no given profiles
    back = last_to_come_back(halves, likely) if halves else None
    known = likely in halves
    end = sharp_end(halves, likely) if known and not lawful and not (white and sparse) else None
    if asked is not None:
        count, by = asked, "you"
    elif end is not None:
        count, by = end, "reproducibility"
    elif white or lawful or not known or halves[likely] >= RESEMBLES:
        count, by = likely, "cost" if likely == by_cost else "rank"
    else:
        count, by = back or 1, "reproducibility"
    count = min(costs, key=lambda other: (abs(other - count), other))
    votes = [count, by_cost, *([guess.count] if guess.white else [])]
    if back is not None and not white:
        votes.append(back)
    if by == "reproducibility" and not white and halves[count] >= COMES_BACK:
        votes = [count]  # what pays beyond it has been seen not to come back
    return Evidence(
        count,
        min(votes),
        max(votes),
        by,
        by_cost,
        guess.count,
        back,
        white,
        dict(reproducibility),
        costs={k: float(costs[k] - costs[by_cost]) for k in sorted(costs)},
        by_rule=count,
        white_rank=guess.white,
        held=held,
    )
