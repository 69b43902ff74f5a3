"""The steps before unmixing as options: what is said about them, and the steps that this stands for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gmcr.asking.known import column_of
from gmcr.asking.wrong import WrongOption

if TYPE_CHECKING:
    from gmcr.io.table import Table
    from gmcr.preprocessing import Step

WINDOW = 11  # channels of a derivative that no window was told for
COMMON = "common"  # a word among the options of --baseline
ORDER = 2  # of local polynomials, or that of the derivative where it is more


@dataclass(frozen=True)
class Told:
    """What the options say."""

    range: str | None = None
    drop: list[str] | None = None
    baseline: str | None = None
    despike: bool = False
    smooth: int | None = None
    derivative: int = 0
    snv: bool = False
    msc: bool = False
    normalise: str | None = None
    blank: Path | None = None
    average: bool = False
    measured_again: str | None = None

    def steps(self, table: Table) -> list[Step] | None:
        """In the order in which they go, whatever that of the options; None where there are none."""
        from gmcr import preprocessing as prep

        found: list[Step] = []
        if self.blank is not None:
            found.append(prep.SubtractBlank(_read_blank(self.blank, table)))
        if self.despike:
            found.append(prep.Despike())
        if self.range is not None:
            found.append(prep.Crop(*_range(self.range, "--range")))
        found += [prep.Cut(*_range(one, "--drop")) for one in self.drop or ()]
        if self.average:
            found.append(prep.AverageReplicates())
        if self.baseline is not None:
            found.append(prep.Baseline(**_method(self.baseline)))
        if self.smooth is not None or self.derivative:
            window = WINDOW if self.smooth is None else self.smooth
            found.append(prep.SavitzkyGolay(window, max(ORDER, self.derivative), self.derivative))
        found += [prep.MSC()] if self.msc else []
        found += [prep.SNV()] if self.snv else []
        found += [prep.Normalise(self.normalise)] if self.normalise is not None else []
        return found or None

    def replicates(self, table: Table) -> list[str] | None:
        """Labels of samples, the same for measurements of one thing, where that was told."""
        by = self.measured_again or ("names" if self.average else None)
        if by != "names":
            return None if by is None else [str(label) for label in column_of(by, table)]
        if table.sample_names is None:
            asked = "--average" if self.measured_again is None else "--replicates names"
            raise WrongOption(f"{asked} needs samples with names; the file has none.")
        return list(table.sample_names)


def _range(text: str, name: str) -> tuple[float | None, float | None]:
    """What LOW:HIGH says; an end left out is the axis' own."""
    try:
        low, high = (float(end) if end.strip() else None for end in text.split(":"))
    except ValueError:
        raise WrongOption(f"{name} must be LOW:HIGH, such as 400:1800, not {text!r}.") from None
    return low, high


def _method(text: str) -> dict[str, Any]:
    """The arguments of Baseline that METHOD:name=value,… says."""
    method, _, rest = text.partition(":")
    told = [one.strip() for one in rest.split(",") if rest]
    options: dict[str, Any] = {}
    for one in told:
        if one == COMMON:
            continue
        name, _, value = (part.strip() for part in one.partition("="))
        try:
            number = float(value)
        except ValueError:
            raise WrongOption(
                f"--baseline must be METHOD or METHOD:option=number,…, such as asls:lam=1e6, not {text!r}."
            ) from None
        options[name] = int(number) if value.lstrip("-").isdigit() else number
    return {"method": method.strip(), "options": options or None, "common": COMMON in told}


def _read_blank(path: Path, table: Table) -> Any:
    from gmcr.io.reading import read_table
    from gmcr.validation import check_same_axis

    blank = read_table(path)
    check_same_axis(blank.axis, table.axis, "the blank")
    return blank.ordered_as(table.channels, "the samples").samples.tolist()
