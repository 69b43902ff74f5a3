"""Colours: of series, and of amounts."""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray

# Told apart by people who see two kinds of colours only, and at least 3 : 1 against white (tests/test_report.py
# measures both); lines beyond the sixth are told apart by their dashes.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#882255", "#7A5CD6", "#333333")
DASHES = ("", "7 3", "2 2", "8 3 2 3")
MUTED = "#6B7280"
# From pale to dark: also right in grey, and for every kind of colour vision.
RAMP = ("#E6EFF7", "#B5CFE6", "#73A8D1", "#3B7FB8", "#155A96", "#08305C")
RAMP_NEGATIVE = ("#FBEBDD", "#F6C79B", "#E8954F", "#CB6418", "#963F05", "#5E2400")
NO_PIXEL = "#D4D4D4"


def colour_of(place: int) -> str:
    return MUTED if place < 0 else PALETTE[place % len(PALETTE)]


def dash_of(place: int) -> str:
    return "" if place < 0 else DASHES[place // len(PALETTE) % len(DASHES)]


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
