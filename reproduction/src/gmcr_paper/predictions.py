"""What each long run was expected to show (reproduction/runs/long/PREDICTIONS.md), beside what it showed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gmcr_paper.claims_solver import twin_look
from gmcr_paper.energy_cells import band_of, success_band
from gmcr_paper.experiment import Found
from gmcr_paper.long.plan import named
from gmcr_paper.results import Record
from gmcr_paper.tables import NONE, NOT_RUN, Table, span

Check = Callable[[Record, Found], tuple[str, bool]]
TRIAL = {200: 231, 600: 117, 1_000: 37, 1_600: 29, 2_400: 28, 3_200: 23, 3_600: 21}  # issue 21, batch 16
EQUAL_STEPS = 14_400  # epochs of batch 64 with as many steps as 3,600 of batch 16


@dataclass(frozen=True)
class Prediction:
    """run : its name in the plan; says : what was expected; check : what came, and whether that is it."""

    run: str
    says: str
    check: Check


def predictions_table(found: Found) -> Table:
    rows = tuple((one.run, one.says, *_outcome(one, found)) for one in PREDICTIONS)
    note = (
        "Written before the runs were started, in reproduction/runs/long/PREDICTIONS.md with their reasons; a "
        "prediction that failed stays as it was."
    )
    columns = ("run", "expected", "came", "as expected")
    return Table("predictions", "What each run was expected to show", columns, rows, (note,))


def _outcome(one: Prediction, found: Found) -> tuple[str, str]:
    record = found.results.get(named(one.run).settings)
    if record is None:
        return NOT_RUN, NONE
    if not record["finished"]:
        return f"not finished: at epoch {record['epochs_run']:,}", NONE
    text, came = one.check(record, found)
    return text, "yes" if came else "no"


def _look(record: Record, epoch: int) -> dict[str, Any] | None:
    return next((look for look in record["course"] if look["epoch"] == epoch), None)


def _trial(record: Record, found: Found) -> tuple[str, bool]:
    looks = {epoch: look for epoch in TRIAL if (look := _look(record, epoch)) is not None}
    text = ", ".join(str(look["count"]) for look in looks.values())
    return text, all(abs(look["count"] / TRIAL[epoch] - 1) <= 0.25 for epoch, look in looks.items())


def _end(low: int, high: int) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        count = record["final"]["count"]
        return str(count), low <= count <= high

    return check


def _in_success_band(low: int, high: int) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        band = success_band(record)
        return ("not entered", False) if band is None else (str(band["count"]), low <= band["count"] <= high)

    return check


def _energy(low: float, high: float, fires: bool = False) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        ratio, fired = record["energy_ratio"], bool(record["terminated"])
        if ratio is None:
            return "never in the tolerance", False
        return (
            f"{ratio:.2f}, the rule {'fired' if fired else 'did not fire'}",
            low <= ratio <= high and fired is fires,
        )

    return check


def _like_first(record: Record, found: Found) -> tuple[str, bool]:
    first = found.results.get(named("n16-30dB").settings)
    if first is None or not first["finished"]:
        return "the first is not finished", False
    other = {band["low"]: band_of(first, band["low"]) for band in record["bands"]}
    pairs = [
        (band["count"], own["count"]) for band in record["bands"] if (own := other[band["low"]]) is not None
    ]
    text = "; ".join(f"{own} for {first}" for own, first in pairs)
    return text, bool(pairs) and all(abs(own - first) <= 3 for own, first in pairs)


def _usage_from(least: float) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        band = success_band(record)
        if band is None:
            return "band not entered", False
        return f"{band['usage_ratio']:.1f} times the truth", band["usage_ratio"] >= least

    return check


def _at_equal_steps(record: Record, found: Found) -> tuple[str, bool]:
    look = _look(record, EQUAL_STEPS)
    if look is None:
        return f"ended before epoch {EQUAL_STEPS:,}", False
    return f"{look['count']} at epoch {EQUAL_STEPS:,}", 30 <= look["count"] <= 45


def _fewest(low: int, high: int) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        counts = [band["count"] for band in record["bands"]]
        return span(counts, "{:d}"), bool(counts) and low <= min(counts) <= high

    return check


def _oscillates(expected: bool) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        at = record["oscillated"]
        return ("no" if at is None else f"from epoch {at:,}"), (at is not None) is expected

    return check


def _beside_twin(least: float, most: float) -> Check:
    """The count at the end over that of the same run in the paper's way, at the same epoch."""

    def check(record: Record, found: Found) -> tuple[str, bool]:
        look = twin_look(found, record)
        if look is None:
            return "the run beside it is not finished", False
        own, other = record["final"]["count"], look["count"]
        return f"{own} beside {other}", least * other <= own <= most * other

    return check


def _usage_between(low: float, high: float) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        ratio = record["final"]["usage_ratio"]
        return f"{ratio:.2f} times the truth", low <= ratio <= high

    return check


def _enters_before(epoch: int) -> Check:
    def check(record: Record, found: Found) -> tuple[str, bool]:
        at = record["entered"]
        return ("never" if at is None else f"epoch {at:,}"), at is not None and at < epoch

    return check


PREDICTIONS = (
    Prediction("n16-30dB", "within a quarter of the trial's 231, 117, 37, 29, 28, 23, 21 components", _trial),
    Prediction("n16-30dB", "16 to 19 components at the end", _end(16, 19)),
    Prediction("n16-30dB", "15 to 17 in the success band", _in_success_band(15, 17)),
    Prediction("n16-30dB", "energy ratio 0.5 to 0.7, the rule does not fire", _energy(0.5, 0.7)),
    Prediction("n16-30dB-second", "every band within 3 components of the first run's", _like_first),
    Prediction("n16-20dB", "usage in the success band several times the truth", _usage_from(3.0)),
    Prediction("n16-20dB", "17 to 24 in the success band", _in_success_band(17, 24)),
    Prediction(
        "n16-30dB-batch64",
        "30 to 45 components where batch 16 has made as many steps (21 to 23 if steps alone mattered)",
        _at_equal_steps,
    ),
    Prediction("carbs", "3 to 5 components at the end", _end(3, 5)),
    Prediction("carbs", "fewest of any band 3 or 4", _fewest(3, 4)),
    Prediction("carbs", "no oscillation", _oscillates(False)),
    Prediction("nir", "5 components or more at the end, not 2", _end(5, 128)),
    Prediction("n16-30dB-without-usage", "at least 1.5 times the count with the term", _beside_twin(1.5, 1e9)),
    Prediction("n16-30dB-without-energy", "the count as with it, within a quarter", _beside_twin(0.75, 1.25)),
    Prediction("n16-30dB-without-energy", "energy ratio near 1 or above", _energy(0.95, 1e9)),
    Prediction("n32-30dB", "40 to 60 components at the end", _end(40, 60)),
    Prediction("n32-30dB", "fewest of any band above 36", _fewest(37, 1024)),
    Prediction("n16-30dB-noise", "25 to 45 components at the end", _end(25, 45)),
    Prediction("n16-30dB-noise", "usage 1.3 to 3 times the truth", _usage_between(1.3, 3.0)),
    Prediction("n16-30dB-slots", "17 to 21 components at the end", _end(17, 21)),
    Prediction("n16-30dB-slots", "fewer than in the paper's way at the same epoch", _beside_twin(0.0, 0.999)),
    Prediction("n16-30dB-samples", "in the tolerance before epoch 300", _enters_before(300)),
    Prediction("n16-30dB-samples", "50 components or more at the end", _end(50, 1024)),
    Prediction("n16-30dB-singular", "the count as in the paper's way within 5", _beside_twin(0.8, 1.2)),
)  # fmt: skip
