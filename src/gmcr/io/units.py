"""Units of the channel axis, as files spell them and as gmcr does."""

from __future__ import annotations

import re

# Spellings, in lower case, of each unit; those of JCAMP-DX and of spectrometers' exports among them.
_SPELLINGS = {
    "nm": ("nm", "nanometer", "nanometers", "nanometre", "nanometres", "нм", "纳米"),
    "µm": ("µm", "μm", "um", "micrometer", "micrometers", "micrometre", "micrometres", "micron", "microns"),
    "cm⁻¹": ("cm⁻¹", "cm-1", "cm^-1", "cm^{-1}", "cm−1", "cm**-1", "1/cm", "rcm-1", "rel. 1/cm"),
    "m/z": ("m/z", "mz", "m/e"),
    "ppm": ("ppm",),
    "meV": ("mev",),
    "eV": ("ev", "electronvolt", "electron volt"),
    "keV": ("kev",),
    "Hz": ("hz", "hertz"),
    "kHz": ("khz",),
    "MHz": ("mhz",),
    "GHz": ("ghz",),
    "THz": ("thz",),
    "s": ("s", "sec", "second", "seconds", "sek", "сек", "秒"),
    "ms": ("ms", "millisecond", "milliseconds"),
    "min": ("min", "mins", "minute", "minutes", "minuten", "мин", "分"),
    "h": ("h", "hr", "hrs", "hour", "hours", "stunden", "ч"),
    "°": ("°", "deg", "degree", "degrees", "2theta", "°2θ", "° 2θ"),
}
_UNITS = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings}
LONGEST = 80  # characters of a heading that may hold a unit
_PLAIN = re.compile(r"[\w\s./^*⁻¹{}°−-]+")  # what a unit is spelt with


def as_unit(text: str) -> str | None:
    """The unit a text stands for; an unknown one as it is, None if there is none."""
    text = text.strip().strip("()[]").strip()
    known = _UNITS.get(text.lower())
    if known or not text or text.lower() in ("arbitrary units", "arbitrary", "unknown", "none", "1", "a.u."):
        return known
    return text if _PLAIN.fullmatch(text) and len(text) <= 30 else None


def unit_in(text: str) -> str | None:
    """The known unit in a heading such as "Wavelength (nm)", "Raman shift / cm-1" or "nm"."""
    text = text.strip()
    if len(text) > LONGEST:
        return None
    if len(text) > 1 and text.lower() in _UNITS:  # a single letter may stand for anything
        return _UNITS[text.lower()]
    bracketed = re.search(r"[\(\[（]([^\(\)\[\]（）]+)[\)\]）]\s*$", text)
    after_slash = re.search(r"\s/\s*(\S.*)$|\bin\s+(\S+)$|[,_]\s*(\S+)$|\s(\S{2,})$", text)
    for found in (bracketed, after_slash):
        for part in found.groups() if found else ():
            if part and part.strip().lower() in _UNITS:
                return _UNITS[part.strip().lower()]
    slashed = text.split("/", 1)[-1].strip().lower()  # "wavenumber/cm-1", but not "m/z", which is known whole
    return _UNITS.get(slashed) if "/" in text else None


def as_unit_alone(text: str) -> str | None:
    """The known unit that a text is; a single letter is one too. µM and mM are of concentrations."""
    text = text.strip().strip("()[]").strip()
    return None if text.endswith("M") else _UNITS.get(text.lower())
