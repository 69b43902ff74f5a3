"""Checkpoints: the best pool so far on disk, so that a run that was killed goes on from it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from gmcr.constraints import Constraints, Layout
from gmcr.errors import FileError, InputError
from gmcr.noise import NoiseLaw, Sigma
from gmcr.storage import read_model, write_model
from gmcr.validation import FloatArray
from gmcr.window.descent import Row
from gmcr.window.problem import State
from gmcr.window.search import Options

KIND = "checkpoint"


class Checkpoint:
    """Listens to a run and writes each pool that is the cheapest so far; `pool` is what an earlier run left.

    path : the file; one of an earlier run is taken up if that was on the same data with the same options, and
        refused otherwise
    """

    def __init__(
        self, path: str | os.PathLike[str], D: FloatArray, repeats: FloatArray, options: Options
    ) -> None:
        self.path = path
        self.pool: FloatArray | None = None
        self._lowest = np.inf
        self._n_fixed = options.constraints.n_fixed
        self._fingerprint = fingerprint(D, repeats, options)
        if not os.path.exists(path):
            return
        arrays, header = read_model(path)
        if header["kind"] != KIND:
            raise FileError(f"{path} is no checkpoint but a model file of kind {header['kind']!r}.")
        if header["fingerprint"] != self._fingerprint:
            raise InputError(
                f"checkpoint {path} was written by a run on other data or with other options; "
                "remove it, or give another file."
            )
        self.pool = arrays["pool"]

    def __call__(self, row: Row, state: State) -> None:
        learned = state.S[self._n_fixed :]
        if row.cost < self._lowest and len(learned):
            self._lowest = row.cost
            header = {"kind": KIND, "fingerprint": self._fingerprint, "row": vars(row)}
            write_model(self.path, {"pool": learned}, header)

    def remove(self) -> None:
        Path(self.path).unlink(missing_ok=True)


def fingerprint(D: FloatArray, repeats: FloatArray, options: Options) -> str:
    """SHA-256 of what a run is given, save for the pool it starts from."""
    digest = hashlib.sha256()
    given = {field.name: getattr(options, field.name) for field in fields(options) if field.name != "pool"}
    for name, value in {"D": D, "repeats": repeats, **given}.items():
        plain = _plain(value)
        is_array = isinstance(plain, np.ndarray)
        digest.update(json.dumps([name, plain.shape if is_array else plain]).encode())
        digest.update(np.ascontiguousarray(plain).data if is_array else b"")
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """What a run is given as an array or in JSON's types."""
    if isinstance(value, Sigma):
        return value.values
    if isinstance(value, NoiseLaw):
        return value.as_dict()
    if isinstance(value, Constraints):
        return [one.as_dict() for one in value.given]
    if isinstance(value, Layout):
        return [None if part is None else part.tolist() for part in (value.runs, value.order)]
    return value
