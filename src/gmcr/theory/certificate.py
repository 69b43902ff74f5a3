"""The certificate: what is proved about a solution, under which conditions, and what speaks against it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from gmcr.decoding.prices import usage_price
from gmcr.decomposition import Decomposition
from gmcr.text import plain
from gmcr.theory import conditions as check
from gmcr.theory.conditions import FAILS, HOLDS, UNCHECKED, Condition, RobustWindow
from gmcr.theory.facts import Facts, gather
from gmcr.theory.pairs import never_separated
from gmcr.threads import threads

SAID = {
    "proved": "Proved",
    "conditional": "Proved if",
    "consistent": "Consistent with the data, not proved",
    "unsupported": "Not supported",
}


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """What can be said about a decomposition of given samples.

    Attributes
    ----------
    verdict : "proved", "conditional", "consistent" or "unsupported"
    sentence : the verdict with its reason
    alpha : probability that the noise exceeds the levels used here, in which case nothing is proved
    known_pool : whether the profiles were taken as known
    constants : k, c_min and the other constants of the model
    read_off : which of them nobody gave, so that they come from the solution itself
    concentration_error : what is guaranteed of concentrations where the verdict is "proved" or "conditional"
    profile_error : the same of profiles, as distance from the true direction
    robust : the robust window of a learned pool, None for a known one
    conditions : table with columns name, status ("holds", "fails", "unchecked"), value, threshold, note
    components : table with holders, isolating pairs, diversity level and detection limits of each component
    groups : components that the samples never separate
    """

    verdict: str
    sentence: str
    alpha: float
    known_pool: bool
    constants: dict[str, float]
    read_off: tuple[str, ...]
    concentration_error: float
    profile_error: float
    robust: RobustWindow | None
    conditions: pd.DataFrame
    components: pd.DataFrame
    groups: list[tuple[int, ...]]

    def __repr__(self) -> str:
        return f"<Certificate: {self.verdict}>"

    def __str__(self) -> str:
        lines = [self.sentence, "", *self._facts(), ""]
        widths = [max(len(str(name)) for name in self.conditions["name"]), 9]
        for name, status, value, threshold, note in self._rows():
            lines.append(f"{name:<{widths[0]}}  {status:<{widths[1]}} {value:>10} {threshold:>10}  {note}")
        return "\n".join(lines)

    def to_html(self) -> str:
        """A table for notebooks and reports; text is escaped."""
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows()
        )
        facts = "<br>".join(escape(fact) for fact in self._facts())
        head = "<tr><th>condition</th><th>status</th><th>value</th><th>threshold</th><th>why</th></tr>"
        return f"<p><b>{escape(self.sentence)}</b></p><p>{facts}</p><table>{head}{rows}</table>"

    _repr_html_ = to_html

    def to_dict(self) -> dict[str, Any]:
        """JSON types throughout; numbers that are not finite become None."""
        tables = {name: getattr(self, name).to_dict("records") for name in ("conditions", "components")}
        return plain(vars(self) | tables | {"robust": self.robust and vars(self.robust)})

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        """The conditions as texts: name, status, value, threshold, note."""
        return [
            (str(name), str(status), _number(value), _number(threshold), str(note))
            for name, status, value, threshold, note in self.conditions.itertuples(index=False, name=None)
        ]

    def _facts(self) -> list[str]:
        constants = ", ".join(f"{name} = {_number(value)}" for name, value in self.constants.items())
        lines = [f"Model: {constants}; α = {self.alpha:g}."]
        if self.read_off:
            lines.append(f"Read off the solution, not given: {', '.join(self.read_off)}.")
        if self.groups:
            shown = "; ".join(", ".join(map(str, group)) for group in self.groups[:6])
            lines.append(f"Never separated by the samples: {shown}{' …' * (len(self.groups) > 6)}.")
        return lines


def certify(
    D: Any,
    decomposition: Decomposition,
    noise: Any = None,
    alpha: float = 0.05,
    k: int | None = None,
    c_min: float | None = None,
    c_max: float | None = None,
    eps_fit: float | None = None,
    floor: float | None = None,
    diversity: float | None = None,
    known_pool: bool = False,
    *,
    seconds: float = 0.1,
) -> Certificate:
    """Check a decomposition, whoever made it, against the samples (Theorem 2).

    What is None is read off the solution, and the certificate says so: it then speaks of samples that hold at
    most as many components as the solution found in one, in concentrations no smaller than it found.

    Parameters
    ----------
    D : (samples, channels) the samples that were decomposed; NaN means missing
    decomposition : the solution to check
    noise : standard deviation of the noise, one number or one per sample
    alpha : probability that the noise is larger than assumed anywhere
    k : most components that a sample holds
    c_min, c_max : least and largest concentration of a component that is there
    eps_fit : fit tolerance; by default what the noise's norm stays below
    floor : ϑ, from which a concentration counts (C8)
    diversity : γ_c, the level of Conjecture R
    known_pool : whether the profiles are known rather than learned from these samples
    seconds : for the search that tightens the spark margin of large pools

    Examples
    --------
    >>> from gmcr import Decomposition, certify, make_mixtures
    >>> mix = make_mixtures(n_components=8, n_samples=64, snr_db=55, random_state=0)
    >>> truth = Decomposition.from_factors(mix.C, mix.S)
    >>> certify(mix.D, truth, noise=mix.sigma, known_pool=True).verdict
    'proved'
    """
    constants = {
        "k": k,
        "c_min": c_min,
        "c_max": c_max,
        "eps_fit": eps_fit,
        "floor": floor,
        "diversity": diversity,
    }
    with threads():
        facts = gather(D, decomposition, noise, alpha, constants, seconds)
        robust = None if known_pool else check.robust_window(facts)
        found = _known(facts) if known_pool else _learned(facts, robust)
        components = _components(facts, decomposition)
        lonely = facts.pairs.active & ~facts.pairs.isolated
        groups = never_separated(facts.C != 0) if lonely.any() else []
    verdict, reason = _verdict(facts, found, robust)
    proved_errors = _errors(facts, verdict, robust)
    return Certificate(
        verdict=verdict,
        sentence=f"{SAID[verdict]}{reason}",
        conditions=pd.DataFrame([asdict(condition) for condition in found.values()]),
        alpha=alpha,
        known_pool=known_pool,
        constants=_constants(facts),
        read_off=facts.read_off,
        concentration_error=proved_errors[0],
        profile_error=proved_errors[1],
        robust=robust,
        components=components,
        groups=groups,
    )


Found = dict[str, Condition]


def _known(facts: Facts) -> Found:
    """All conditions, those of Theorem 2(a) checked."""
    window = check.fixed_pool_window(facts)
    checked = [
        check.fit_condition("C1", facts),
        check.usage_condition(facts, window),
        check.spark_condition("C5", facts),
        check.pairs_condition(facts),
    ]
    return _in_order(facts, [*checked, window], "for learned pools; the pool is known")


def _learned(facts: Facts, robust: RobustWindow | None) -> Found:
    """All conditions, those of Theorem 2(b) and (c) checked as far as data allow."""
    spark = check.spark_condition("C10", facts)
    span = "asks how the learned spans meet the true ones, which nothing in the data shows"
    noisy = Condition("C3", UNCHECKED, note="for data without noise")
    conditions = [
        check.fit_condition("C3", facts) if facts.noiseless else noisy,
        Condition("C4", UNCHECKED, note=check.AGAINST_TRUTH),
        replace(spark, name="C5"),
        check.pairs_condition(facts),
        Condition("C7", UNCHECKED, note=span),
        check.fit_condition("C8", facts, with_floor=True),
        Condition("C9", UNCHECKED, float((facts.C != 0).sum()), note=check.AGAINST_TRUTH),
        spark,
        Condition("C11", UNCHECKED, note=check.AGAINST_TRUTH),
        check.diversity_condition(facts),
    ]
    if robust is not None and not facts.noiseless:
        note = _missing(robust, "{:.0f} dB more SNR would open it", "no SNR would open it")
        note = "all five inequalities" if robust.is_open else note
        status = HOLDS if robust.is_open else FAILS
        conditions.append(Condition("robust window", status, sum(robust.holds), 5, note))
    return _in_order(facts, conditions, "for known pools; this one was learned")


def _in_order(facts: Facts, conditions: list[Condition], elsewhere: str) -> Found:
    """By name, C1 to C11 first, those of any pool last; those of the other kind are unchecked, with this note."""
    found = {f"C{number}": Condition(f"C{number}", UNCHECKED, note=elsewhere) for number in range(1, 12)}
    common = [check.price_condition(facts), check.optimum_condition(facts), check.reuse_condition(facts)]
    return found | {condition.name: condition for condition in (*conditions, *common)}


def _verdict(facts: Facts, found: Found, robust: RobustWindow | None) -> tuple[str, str]:
    """The verdict and the rest of its sentence; never more than the conditions allow."""
    if facts.has_missing:
        return "consistent", ": entries are missing, which the theorems do not cover."
    against = _against(found)
    if against:
        return "unsupported", f": {against}."
    model = f"samples hold at most {facts.k} components, none below {facts.c_min:.3g}, in noise as stated"
    if robust is None:
        window, usage = found["fixed-pool window"], found["C2"]
        if window.status == HOLDS and usage.status == HOLDS:
            return "proved", f" with probability {1 - facts.alpha:g}: every support is right, if {model}."
        if window.status == UNCHECKED and not facts.spare.any():
            return "conditional", f" the spark condition holds: {window.note}; and if {model}."
        return "consistent", f": {'; '.join([window.note, *_suspicious(found)])}."
    spark, pairs = found["C10"], found["C6"]
    if facts.noiseless:
        if spark.status == HOLDS and pairs.status == HOLDS:
            return "conditional", f" C4 and C7 hold, and C6 on the true supports; and if {model}."
        failing = [c.name for c in (spark, pairs) if c.status != HOLDS]
        return "consistent", f": {' and '.join(failing)} not met ({found[failing[0]].note})."
    if robust.is_open and all(found[name].status == HOLDS for name in ("C6", "C10", "R")):
        return "conditional", f" C9 and C11 hold, and C6 on the true supports; and if {model}."
    failing = [f"{name} fails ({found[name].note})" for name in ("C6", "R") if found[name].status == FAILS]
    gap = _missing(robust, "the robust window is {:.0f} dB away", "no SNR would open the robust window")
    return "consistent", f": {'; '.join([*_suspicious(found), *failing, gap])}."


def _missing(robust: RobustWindow, finite: str, never: str) -> str:
    """How far away the robust window is, in words."""
    return finite.format(robust.missing_db) if np.isfinite(robust.missing_db) else never


def _suspicious(found: Found) -> list[str]:
    """What does not fit the solution, yet could happen to the truth where the price window is closed."""
    condition = found["local optimum"]
    return [f"{condition.name} fails, {condition.note}"] if condition.status == FAILS else []


def _against(found: Found) -> str:
    """What speaks against the solution: a condition that the truth meets with probability 1 − α."""
    names = ["C1", "C3", "C8", "C2", "C10"]
    if found["price window"].status == HOLDS:
        names.append("local optimum")
    failing = [found[name] for name in names if name in found and found[name].status == FAILS]
    return "; ".join(f"{condition.name} fails, {condition.note}" for condition in failing)


def _errors(facts: Facts, verdict: str, robust: RobustWindow | None) -> tuple[float, float]:
    """Guaranteed errors of concentrations and profiles; NaN where nothing is guaranteed."""
    if verdict not in ("proved", "conditional"):
        return np.nan, np.nan
    if robust is None:
        return float((facts.eps_fit + facts.levels.projected).max() / facts.spark.lower), 0.0
    return (0.0, 0.0) if facts.noiseless else (robust.concentration_error, robust.profile_error)


def _constants(facts: Facts) -> dict[str, float]:
    return {
        "k": facts.k,
        "c_min": facts.c_min,
        "c_max": facts.c_max,
        "s_min": facts.spark.lower,
        "σ": float(np.median(facts.sigma)),
        "noise correlation": facts.correlated,
        "ε_fit": float(np.median(facts.eps_fit)),
        "ε_ns": float(np.median(facts.levels.norm)),
        "ε_prj": float(np.median(facts.levels.projected)),
        "ε_ns (paper)": float(np.median(facts.net.norm)),
        "ε_prj (paper)": float(np.median(facts.net.projected)),
        "ϑ": facts.floor,
        "γ_c": facts.diversity,
    }


def _components(facts: Facts, decomposition: Decomposition) -> pd.DataFrame:
    price = usage_price(facts.n_slots, facts.n_samples, facts.alpha)
    # From which concentration on a component pays for its selection, in each sample that holds it.
    limits = pd.DataFrame(np.sqrt(facts.inverse * price) * facts.sigma[:, None])
    names = decomposition.component_names or tuple(str(j) for j in range(facts.n_slots))
    return pd.DataFrame(
        {
            "component": list(names),
            "samples": np.count_nonzero(facts.C, axis=0),
            "isolating_pairs": facts.pairs.count,
            "diversity": facts.pairs.level,
            "detection_limit": limits.median(),
            "worst_detection_limit": limits.max(),
        }
    )


def _number(value: Any) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
