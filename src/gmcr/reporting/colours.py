"""Colours: of series, and of amounts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from gmcr.validation import FloatArray

# Those of assets/look.json, for whoever draws without Python too, on white and on a dark ground. Colours of
# series are told apart by people who see two kinds of colours only, and at least 3 : 1 against the ground
# (tests/test_report.py measures both); lines beyond the sixth are told apart by their dashes. Ramps go from
# what is near the ground to what stands out most: also right in grey, and for every kind of colour vision.
_LOOK: dict[str, Any] = json.loads(files("gmcr.reporting").joinpath("assets", "look.json").read_text("utf-8"))
SCRIPTS: list[str] = _LOOK["scripts"]  # that draw charts and tables on any page
LIGHT: dict[str, Any] = _LOOK["light"]
DARK: dict[str, Any] = _LOOK["dark"]
PALETTE, DASHES, MUTED = LIGHT["palette"], LIGHT["dashes"], LIGHT["muted"]
RAMP, RAMP_NEGATIVE, NO_PIXEL = LIGHT["ramp"], LIGHT["ramp_negative"], LIGHT["no_pixel"]


def colour_of(place: int) -> str:
    return str(MUTED if place < 0 else PALETTE[place % len(PALETTE)])


def dash_of(place: int) -> str:
    return "" if place < 0 else str(DASHES[place // len(PALETTE) % len(DASHES)])


def shades(shares: FloatArray) -> np.ndarray:
    """Colours (..., 3) of amounts between −1 and 1; white for zero."""
    place = np.abs(np.clip(shares, -1, 1))[..., None]
    made = []
    for ramp in (RAMP, RAMP_NEGATIVE):
        stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in ramp], float)
        at = np.linspace(0, 1, len(ramp))
        made.append(np.stack([np.interp(place[..., 0], at, stops[:, k]) for k in range(3)], axis=-1))
    colours = np.where(shares[..., None] < 0, made[1], made[0])
    return np.where(shares[..., None] == 0, 255, np.round(colours)).astype(np.uint8)
