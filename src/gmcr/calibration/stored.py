"""A calibration as arrays and JSON, for a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.calibration.coordinates import Coordinates
from gmcr.calibration.features import blocks_of
from gmcr.calibration.pooling import Blocks, Column, Strengths
from gmcr.calibration.result import Calibration
from gmcr.errors import InputError
from gmcr.schema import Check, array, flag, many, number, record, text, whole
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
    return {PREFIX + name: np.ascontiguousarray(one) for name, one in arrays.items()}, header


def unpack(arrays: Arrays, header: Header) -> Calibration:
    """The calibration that `pack` took apart, if its parts go together; arrays of other names are ignored."""
    own = {name.removeprefix(PREFIX): one for name, one in arrays.items() if name.startswith(PREFIX)}
    _check(own, header)
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


def _check(own: Arrays, header: Header) -> None:
    """Every field's type and range, and how they agree."""
    record({"names": many(text)})(header, "calibration")
    n = len(header["names"])
    if n == 0:
        raise InputError("calibration.names is empty.")
    record(
        {
            "units": many(text, n),
            "components": many(whole(0), n),
            "typical": number(0.0),
            "runs": many(text),
            "cleaned": flag,
            "single": many(number(0.0), n),
            "blocks": many(many(whole(-1)), 2),
        }
    )(header, "calibration")
    shapes = _shapes(own, header, n)
    for name, check in shapes.items():
        if name not in own and name != "T":
            raise InputError(f"the array {PREFIX}{name} is missing.")
        if name in own:
            check(own[name], f"{PREFIX}{name}")
    k = len(own["scale"])
    blocks = blocks_of(k, len(header["runs"]))
    if header["blocks"] != [list(blocks.of), list(blocks.optional)] or max(header["components"]) >= k:
        raise InputError("calibration speaks of other components than there are.")
    if header["typical"] == 0.0 or not (own["scale"] > 0).all() or not (own["sizes"] > 0).all():
        raise InputError("calibration has a scale of zero.")


def _shapes(own: Arrays, header: Header, n: int) -> dict[str, Check]:
    """What each array must be, for n known components."""

    def length(name: str) -> int:
        return len(own[name]) if name in own and own[name].ndim else -1

    k, m = length("scale"), length("known")
    features = len(header["blocks"][0])
    samples = array(m, n, missing=True)
    shapes: dict[str, Check] = {
        "correlations": array(n, least=-1.01, most=1.01, missing=True),
        "scale": array(k, least=0.0),
        "sizes": array(n, least=0.0),
        "solver_limits": array(n, least=0.0, missing=True),
        "known": samples,
        "mixture": array(m, kinds="iu"),
        "left_out": samples,
        "predicted": samples,
        "low": samples,
        "high": samples,
        "covariance": array(k, k),
        "T": array(-1, k),
    }
    for a in range(n):
        groups, points = length(f"{a}.y"), length(f"{a}.weight")
        shapes |= {
            f"{a}.X": array(groups, features),
            f"{a}.y": array(groups),
            f"{a}.noise": array(groups, least=0.0),
            f"{a}.ratio": array(points, least=0.0),
            f"{a}.tau": array(points, max(header["blocks"][0], default=-1) + 1, least=0.0),
            f"{a}.weight": array(points, least=0.0, most=1.0 + 1e-6),
        }
    return shapes
