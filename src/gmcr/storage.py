"""Model files: arrays and a JSON header in one file, written whole or not at all.

A model file is a safetensors file whose metadata hold the format's name and version, the header as JSON
text, and a SHA-256 checksum of all of it. Reading one parses numbers and text; nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from gmcr.errors import FileError, InputError
from gmcr.files import finish, write_whole

FORMAT = "gmcr"
FORMAT_VERSION = 1

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_DTYPES = {"bool", "float16", "float32", "float64"} | _INTEGERS
_MAX_METADATA = 100_000_000  # bytes; safetensors refuses to read back more than this


def write_model(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], header: Header) -> None:
    """Write a model file; whatever fails, the file that was there before stays as it was.

    header : all but the arrays, as `as_json` takes it; its "kind" says what the file holds
    """
    if not isinstance(header.get("kind"), str):
        raise InputError('header must have a text under "kind" that says what the file holds.')
    tensors = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in tensors.items():
        if array.dtype.name not in _DTYPES:
            raise InputError(
                f"array {name!r} holds {array.dtype}; a model file stores real numbers and booleans only."
            )
    texts = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "header": json.dumps(as_json(header, "header")),
    }
    if len(texts["header"]) > _MAX_METADATA // 2:  # quotes and backslashes double when nested in JSON
        raise InputError("header is above 50 MB as text; store long columns of numbers as arrays.")
    texts["sha256"] = _checksum(tensors, texts)
    write_whole(path, safetensors.numpy.save(tensors, texts))


def read_model(path: str | os.PathLike[str]) -> tuple[Arrays, Header]:
    """The arrays and the header of a model file, or a FileError if they are not exactly as written."""
    tensors, texts = _read_tensors(path)
    if texts.get("sha256") != _checksum(tensors, texts):
        raise FileError(
            f"{path} is damaged: its content does not match its checksum; restore it from a copy."
        )
    try:
        header = json.loads(texts["header"])
        if not isinstance(header["kind"], str):
            raise TypeError("kind is no text")
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FileError(f"{path} is not a gmcr model file: its header says not what it holds.") from None
    return tensors, header


def as_json(value: Any, name: str) -> Any:
    """`value` in the types JSON knows, so that it reads back equal; `name` is for the message.

    Tuples and arrays become lists and numpy scalars become Python numbers; NaN and infinity are kept.
    """
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, np.ndarray):
        return as_json(value.tolist(), name)
    if isinstance(value, list | tuple):
        return [as_json(item, f"{name}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {str(key): as_json(item, f"{name}[{key!r}]") for key, item in value.items()}
    raise InputError(
        f"{name} is {value!r:.60}, which a model file cannot hold; "
        "use numbers, text, None, lists, and dicts with text keys."
    )


def pack_table(table: pd.DataFrame, name: str) -> tuple[Arrays, list[dict[str, Any]]]:
    """A table as arrays (columns of numbers, kept bit for bit) and a JSON list of columns; no row labels."""
    if not table.columns.is_unique or not all(isinstance(column, str) for column in table.columns):
        raise InputError(f"{name} must have texts as column names, each once, but has {list(table.columns)}.")
    arrays: Arrays = {}
    columns: list[dict[str, Any]] = []
    for column in table.columns:
        values = table[column]
        if str(values.dtype) in _DTYPES:
            key = f"{name}.{len(columns)}"
            arrays[key] = values.to_numpy()
            columns.append({"name": str(column), "array": key})
        else:
            entries = values.astype(object).where(values.notna(), None).tolist()
            columns.append({"name": str(column), "entries": as_json(entries, f"{name}[{column!r}]")})
    return arrays, columns


def unpack_table(arrays: Arrays, columns: list[dict[str, Any]]) -> pd.DataFrame:
    """The table that `pack_table` took apart."""
    return pd.DataFrame(
        {
            column["name"]: arrays[column["array"]].copy() if "array" in column else column["entries"]
            for column in columns
        }
    )


def _checksum(tensors: Arrays, texts: Mapping[str, str]) -> str:
    """SHA-256 over names, types, shapes and bytes of the tensors, and over the texts."""
    digest = hashlib.sha256(
        json.dumps([texts[key] for key in ("format", "format_version", "header")]).encode()
    )
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        little_endian = array.reshape(-1).astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(little_endian.view(np.uint8).data)
    return digest.hexdigest()


def _read_tensors(path: str | os.PathLike[str]) -> tuple[Arrays, dict[str, str]]:
    finish(Path(path).parent, Path(path).name)
    if not os.path.exists(path):
        raise FileError(f"{path} does not exist.")
    if not os.path.isfile(path):  # also keeps pipes and devices, which would block, from being opened
        raise FileError(f"{path} is not a file; give the model file itself.")
    try:
        with safe_open(path, framework="numpy") as file:
            texts = file.metadata() or {}
            _check_format(path, texts)
            return {name: file.get_tensor(name) for name in file.keys()}, texts  # noqa: SIM118
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror or error}.") from error
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError):
        raise FileError(
            f"{path} is not a gmcr model file, or it is damaged or cut short; restore it from a copy."
        ) from None


def _check_format(path: str | os.PathLike[str], texts: Mapping[str, str]) -> None:
    version = texts.get("format_version", "")
    marked = texts.get("format") == FORMAT and "header" in texts
    if not (marked and version.isascii() and version.isdigit()):
        raise FileError(f"{path} is not a gmcr model file: it does not carry the format's marks.")
    if not 1 <= int(version) <= FORMAT_VERSION:
        raise FileError(
            f"{path} has format version {version} and this gmcr reads versions up to {FORMAT_VERSION}; "
            "upgrade gmcr to open it."
        )
