"""The contents of a report as a file, to make the report anew without the data.

A file holds what the page shows, in the form that the first version wrote: of the rank rules their counts, of the
bands their ends without the concentrations there. The decomposition has a file of its own.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pandas as pd

from gmcr.calibration import stored
from gmcr.decomposition import Decomposition
from gmcr.errors import FileError
from gmcr.rank import RankReport
from gmcr.reporting.contents import Contents, LibraryMatch
from gmcr.storage import read_model, write_model
from gmcr.theory.certificate import Certificate
from gmcr.theory.conditions import RobustWindow
from gmcr.theory.feasible_bands import Ambiguity, Band
from gmcr.trust import Trust
from gmcr.validation import FloatArray
from gmcr.window.evidence import Evidence

KIND = "report"
PLAIN = (
    "source",
    "made",
    "axis_label",
    "row_label",
    "notes",
    "warnings",
    "groups",
    "left_out",
    "reproduce",
    "shape",
    "steps",
    "runs",
)
OF_RANK = ("count", "agree", "scaling", "white", "notes")
OF_BANDS = ("share", "min", "max", "alike", "closed", "why", "noise", "partners", "within_noise")
EDGE = "marchenko-pastur"  # the rule whose threshold is the edge of white noise

Facts = dict[str, Any]


def save_contents(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Write all but the decomposition, whole or not at all."""
    values = {item.name: getattr(contents, item.name) for item in fields(contents)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    facts: Facts = {name: values[name] for name in PLAIN if values[name] is not None}
    facts["names"] = {str(j): asdict(match) for j, match in contents.names.items()}
    count, rank, ambiguity = contents.count, contents.rank, contents.ambiguity
    if count is not None:
        facts["count"] = count.as_dict()
    if rank is not None:
        facts["rank"] = {name: getattr(rank, name) for name in OF_RANK} | {"edge": edge_of(rank)}
        facts["rank"]["counts"] = [[*place, number] for place, number in rank.counts.items()]
        arrays["singular_values"] = rank.singular_values[rank.scaling]
    if contents.trust is not None:
        facts["trust"] = contents.trust.as_dict()
        if contents.trust.alternatives is not None:
            arrays["alternatives"] = contents.trust.alternatives
    if contents.certificate is not None:
        facts["certificate"] = contents.certificate.to_dict()
    if ambiguity is not None:
        facts["bands"] = [{name: getattr(band, name) for name in OF_BANDS} for band in ambiguity.bands]
        arrays["band_profiles"] = np.stack([band.profiles for band in ambiguity.bands])
    if contents.calibration is not None:
        own, facts["calibration"] = stored.pack(contents.calibration)
        arrays |= own
    write_model(path, arrays, {"kind": KIND, "of": _digest(contents.found), "facts": facts})


def load_contents(path: str | os.PathLike[str], found: Decomposition) -> Contents:
    """Read what `save_contents` wrote about this very decomposition."""
    arrays, header = read_model(path)
    if header["kind"] != KIND or header.get("of") != _digest(found):
        raise FileError(f"{path} does not belong to the model beside it; give the data to make it anew.")
    try:
        facts = header["facts"]
        given = {name: facts[name] for name in PLAIN if name in facts}
        given |= {
            name: tuple(given[name])
            for name in ("notes", "warnings", "shape", "steps", "runs")
            if name in given
        }
        given |= {item.name: arrays[item.name] for item in fields(Contents) if item.name in arrays}
        given["names"] = {int(j): LibraryMatch(**match) for j, match in facts.get("names", {}).items()}
        if "count" in facts:
            given["count"] = Evidence.of_dict(facts["count"])
        if "rank" in facts:
            given["rank"] = _rank(facts["rank"], arrays["singular_values"])
        if "trust" in facts:
            given["trust"] = Trust.of_dict(_filled(facts["trust"]), arrays.get("alternatives"))
        if "certificate" in facts:
            given["certificate"] = _certificate(facts["certificate"])
        if "bands" in facts:
            given["ambiguity"] = _ambiguity(facts["bands"], arrays["band_profiles"], found)
        if "calibration" in facts:
            given["calibration"] = stored.unpack(arrays, facts["calibration"])
        return Contents(found, **given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path} is not valid ({error}); give the data to make it anew.") from error


def edge_of(rank: RankReport) -> float:
    """The singular value up to which white noise reaches, under the scaling that fits best."""
    own = (rank.table["rule"] == EDGE) & (rank.table["scaling"] == rank.scaling)
    return float(rank.table.loc[own, "threshold"].iloc[0])


def _rank(kept: Facts, values: FloatArray) -> RankReport:
    table = pd.DataFrame(kept["counts"], columns=["rule", "scaling", "count"])
    table["threshold"] = np.where(table["rule"] == EDGE, kept["edge"], np.nan)
    return RankReport(
        **({name: kept[name] for name in OF_RANK} | {"notes": tuple(kept["notes"])}),
        counts={(rule, scaling): count for rule, scaling, count in kept["counts"]},
        table=table,
        singular_values={kept["scaling"]: values},
        noise={},
        misfit={},
    )


def _certificate(kept: Facts) -> Certificate:
    told = _filled(kept)
    told["conditions"] = pd.DataFrame(told["conditions"])
    told["components"] = pd.DataFrame(told["components"])
    told["robust"] = None if kept["robust"] is None else RobustWindow(**told["robust"])
    return Certificate(**told)


def _ambiguity(kept: list[Facts], profiles: FloatArray, found: Decomposition) -> Ambiguity:
    names = found.component_names or tuple(str(j) for j in range(found.n_components))
    unknown: Facts = {
        "concentrations": np.full((2, found.n_samples), np.nan),
        "noise": np.nan,
        "partners": (),
    }
    bands = []
    for j, band in enumerate(_filled(kept)):
        told = unknown | {name: band[name] for name in OF_BANDS if name in band and name != "alike"}
        # The first version told this in words alone; its files do not change any more.
        told.setdefault("within_noise", band["why"].startswith("open by no more than noise"))
        told["partners"] = tuple(told["partners"])
        bands.append(Band(component=j, name=names[j], profiles=profiles[j], **told))
    return Ambiguity(tuple(bands))


def _filled(kept: Any) -> Any:
    """With NaN where JSON has no number."""
    if isinstance(kept, dict):
        return {name: _filled(value) for name, value in kept.items()}
    if isinstance(kept, list):
        return [_filled(value) for value in kept]
    return np.nan if kept is None else kept


def _digest(found: Decomposition) -> str:
    """What tells one decomposition from another."""
    digest = hashlib.sha256(str((found.components.shape, found.concentrations.shape)).encode())
    for array in (found.components, found.concentrations):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
