"""A calibration as arrays and JSON, for a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.calibration.coordinates import Coordinates
from gmcr.calibration.pooling import Blocks, Column, Strengths
from gmcr.calibration.result import Calibration
from gmcr.storage import Arrays, Header

PREFIX = "calibration."
PLAIN = ("names", "units", "components", "typical", "runs", "cleaned")
ARRAYS = (
    "correlations",
    "scale",
    "sizes",
    "solver_limits",
    "known",
    "mixture",
    "left_out",
    "predicted",
    "low",
    "high",
)
OF_COLUMN, OF_STRENGTHS = ("X", "y", "noise"), ("ratio", "tau", "weight")


def pack(calibration: Calibration) -> tuple[Arrays, Header]:
    arrays: Arrays = {name: getattr(calibration, name) for name in ARRAYS}
    arrays["covariance"] = calibration.coordinates.covariance
    if calibration.coordinates.T is not None:
        arrays["T"] = calibration.coordinates.T
    for a, (column, one) in enumerate(zip(calibration.columns, calibration.strengths)):
        arrays |= {f"{a}.{name}": getattr(column, name) for name in OF_COLUMN}
        arrays |= {f"{a}.{name}": getattr(one, name) for name in OF_STRENGTHS}
    header: dict[str, Any] = {name: getattr(calibration, name) for name in PLAIN}
    header["single"] = [column.single for column in calibration.columns]
    header["blocks"] = [list(calibration.blocks.of), list(calibration.blocks.optional)]
    return {PREFIX + name: np.ascontiguousarray(array) for name, array in arrays.items()}, header


def unpack(arrays: Arrays, header: Header) -> Calibration:
    """The calibration that `pack` took apart; arrays of other names are ignored."""
    own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    plain: dict[str, Any] = {name: header[name] for name in PLAIN} | {name: own[name] for name in ARRAYS}
    plain |= {name: tuple(plain[name]) for name in ("names", "units", "components", "runs")}
    columns, strengths = [], []
    for a, single in enumerate(header["single"]):
        X, y, noise, ratio, tau, weight = (own[f"{a}.{name}"] for name in (*OF_COLUMN, *OF_STRENGTHS))
        columns.append(Column(X, y, noise, single))
        strengths.append(Strengths(ratio, tau, weight))
    of, optional = header["blocks"]
    return Calibration(
        **plain,
        coordinates=Coordinates(own.get("T"), own["covariance"]),
        blocks=Blocks(tuple(of), tuple(optional)),
        columns=tuple(columns),
        strengths=tuple(strengths),
    )
