"""What a body or a query may be: a few words of JSON Schema, which the table of routes is written in."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

Shape = dict[str, Any]

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def text(most: int = 200, pattern: str = "", least: int = 0) -> Shape:
    """A text of so many characters."""
    shape: Shape = {"type": "string", "maxLength": most}
    return shape | ({"minLength": least} if least else {}) | ({"pattern": pattern} if pattern else {})


def word(*allowed: str) -> Shape:
    return {"type": "string", "enum": list(allowed)}


def whole(least: int, most: int) -> Shape:
    return {"type": "integer", "minimum": least, "maximum": most}


def number(least: float, most: float) -> Shape:
    return {"type": "number", "minimum": least, "maximum": most}


def flag() -> Shape:
    return {"type": "boolean"}


def several(item: Shape, most: int = 100) -> Shape:
    return {"type": "array", "items": item, "maxItems": most}


def record(needed: dict[str, Shape], more: dict[str, Shape] | None = None) -> Shape:
    """An object with these entries and no others."""
    return {
        "type": "object",
        "properties": needed | (more or {}),
        "required": list(needed),
        "additionalProperties": False,
    }


def fits(value: Any, shape: Shape) -> bool:
    """Whether a value is of a shape."""
    kind = shape["type"]
    if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind in ("integer", "number")):
        return False
    if "enum" in shape and value not in shape["enum"]:
        return False
    if isinstance(value, str):
        fine = shape.get("minLength", 0) <= len(value) <= shape.get("maxLength", 1 << 20)
        return fine and _encodes(value) and re.search(shape.get("pattern", ""), value) is not None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return isfinite(value) and shape.get("minimum", value) <= value <= shape.get("maximum", value)
    if isinstance(value, list):
        return len(value) <= shape.get("maxItems", 1000) and all(fits(one, shape["items"]) for one in value)
    if isinstance(value, dict):
        return _fits_record(value, shape)
    return True


def _fits_record(value: dict[str, Any], shape: Shape) -> bool:
    known = shape.get("properties", {})
    named = re.compile(shape.get("propertyNames", {}).get("pattern", ""))
    if any(named.search(name) is None for name in value):
        return False
    others = shape.get("additionalProperties", False)
    if any(name not in value for name in shape.get("required", ())):
        return False
    if len(value) > shape.get("maxProperties", 1000):
        return False
    return all(
        fits(one, known[name]) if name in known else bool(others) and _encodes(name) and fits(one, others)
        for name, one in value.items()
    )


def _encodes(value: str) -> bool:
    """Whether a text can be written to a file and told to a process: no half characters, no NUL."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value
