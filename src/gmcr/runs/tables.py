"""What a run tells in tables and in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gmcr.decomposition import Decomposition
from gmcr.estimators.window import GMCR
from gmcr.io.table import Table, corner

if TYPE_CHECKING:
    from gmcr.estimators.eb import EBgMCR  # needs torch

AMOUNTS = "amounts.csv"  # in units, of a calibrated model
TABLES = (
    "profiles.csv", "concentrations.csv", "supports.csv", "path.csv", "fractions.csv", "rates.csv", AMOUNTS,
    "bands.csv", "history.csv",
)  # fmt: skip


def in_short(model: GMCR | EBgMCR) -> str:
    """What came out, in a few lines."""
    if isinstance(model, GMCR):
        found, law = model.decomposition_, model.noise_law_
        whole = model.of_all_ or {"r2": found.fit["r2"], "usage": found.usage, "samples": found.n_samples}
        n_passes = whole.get("passes", 0)
        passes = f", in {n_passes} pass{'es' * (n_passes > 1)} over them" if n_passes else ""
        return (
            f"{model.count_}\nNoise: {law.sentence()}{model.noise_correlation_.sentence()}. "
            f"R² {whole['r2']:.6f}. "
            f"{whole['usage']} selections in {whole['samples']} samples{passes}."
            + ("" if model.rates_ is None else f"\nRate constants:\n{model.rates_}")
        )
    end = "ended by the termination rule" if model.terminated_ else "not ended by the termination rule"
    last = model.history_.iloc[-1]
    text = (
        f"{model.n_epochs_} epochs, {end}; final state: {last['count']:.0f} components, R² {last['r2']:.4f}, "
        f"{last['usage']:.0f} selections, {last['single_users']:.0f} slots used by one sample."
    )
    if not model.bands_:
        return f"{text} No band of R² was entered; the final state is what was written."
    return f"{text} Written: the checkpoint with the fewest components, {model.n_components_}."


def summary(model: GMCR | EBgMCR, table: Table, source: str, warned: Sequence[str]) -> str:
    """What came out and how, as a text to keep."""
    bands = [] if isinstance(model, GMCR) else [repr(band) for band in model.bands_]
    known = getattr(model, "calibration_", None)
    amounts = [] if known is None else ["", str(known)]
    told = source, *table.notes, *model.chain_.did, *warned
    return "\n".join([*told, "", in_short(model), *bands, *amounts, "", str(model.decomposition_), ""])


Tables = dict[str, tuple[list[Any], Any]]  # by file name: header and rows


def tables_of(model: GMCR | EBgMCR, table: Table) -> Tables:
    """The tables of a run on these samples, as they are after the model's steps."""
    return _common_tables(model.decomposition_, table) | _own_tables(model, table)


def _common_tables(found: Decomposition, table: Table) -> Tables:
    components, names = found.names, names_of(table)
    over, header = [corner("component", table.axis_unit), *table.labels], ["sample", *components]
    return {
        "profiles.csv": (over, _labelled(components, found.components)),
        "concentrations.csv": (header, _labelled(names, found.concentrations)),
        "supports.csv": (header, _labelled(names, found.supports.astype(int))),
    }


def _own_tables(model: GMCR | EBgMCR, table: Table) -> Tables:
    """Those that one solver has and the other has not."""
    if isinstance(model, GMCR):
        tables: Tables = {"path.csv": (list(model.path_.columns), model.path_.itertuples(index=False))}
        if model.fractions_ is not None:
            rows = _labelled(names_of(table), model.fractions_)
            tables["fractions.csv"] = (["sample", *model.decomposition_.names], rows)
        if model.calibration_ is not None and hasattr(model, "decoding_"):
            amounts = model.decoding_.amounts.table()
            tables[AMOUNTS] = (["sample", *amounts.columns], _labelled(names_of(table), amounts.to_numpy()))
        areas = model.areas_
        if areas is not None:
            tables["areas.csv"] = (["run", *areas.columns], _labelled(areas.index, areas.to_numpy()))
        if model.rates_ is not None:
            rates = model.rates_
            columns = (rates.steps, rates.values, rates.errors, *rates.intervals())
            tables["rates.csv"] = (["step", "rate", "error", "low", "high"], zip(*columns))
        return tables
    of_bands = ["low", "high", "epoch", "count", "r2", "usage"]
    return {
        "bands.csv": (of_bands, ([getattr(band, name) for name in of_bands] for band in model.bands_)),
        "history.csv": (list(model.history_.columns), model.history_.itertuples(index=False)),
    }


def names_of(table: Table) -> Sequence[str]:
    """The samples' names, or their numbers."""
    return table.sample_names or [str(index) for index in range(len(table.samples))]


def _labelled(labels: Any, rows: Any) -> Iterator[list[Any]]:
    """Rows of a table, each behind its label."""
    return ([label, *row] for label, row in zip(labels, rows, strict=True))
