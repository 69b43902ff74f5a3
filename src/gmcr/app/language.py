"""Every text that the app says, in one file for each language: texts/en.json and others beside it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

USUAL = "en"


def texts(accepted: str) -> tuple[dict[str, str], str]:
    """Texts by name in the first language of a browser's list that there is, and which that is.

    What a language lacks is said in English.
    """
    wanted = [part.split(";")[0].strip().lower().split("-")[0] for part in accepted.split(",")]
    spoken = next((one for one in wanted if one in languages()), USUAL)
    return _texts(USUAL) | _texts(spoken), spoken


@cache
def languages() -> tuple[str, ...]:
    names = (one.name for one in files("gmcr.app").joinpath("texts").iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


@cache
def _texts(name: str) -> dict[str, str]:
    content = files("gmcr.app").joinpath("texts", f"{name}.json").read_text(encoding="utf-8")
    told: dict[str, str] = json.loads(content)
    return told
