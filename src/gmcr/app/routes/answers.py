"""Answers: JSON, and errors by a word that the page has a sentence for."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

# By word: the code of the answer.
ERRORS = {
    "wrong": 400,  # not of the shape that the table says
    "name": 400,  # of a file that cannot be one
    "option": 400,  # a setting that cannot be used
    "unknown": 404,
    "not-made": 404,  # a page that was not computed yet
    "busy": 409,  # a job works on it
    "no-data": 409,
    "no-run": 409,
    "linked": 409,
    "several": 409,  # there are data already
    "too-large": 413,
    "full": 429,
    "failed": 422,  # a file cannot be read, a step cannot be done
    "disk": 507,
}


class Refused(Exception):
    """What a handler ends with if it cannot do what was asked."""

    def __init__(self, error: str, sentence: str = "") -> None:
        super().__init__(error)
        self.error, self.sentence = error, sentence


def refusal(error: Refused) -> Response:
    told: dict[str, Any] = {"error": error.error}
    if error.sentence:
        told["sentence"] = error.sentence
    # What was not read of a body is not read any more.
    end = {"connection": "close"} if error.error == "too-large" else {}
    return JSONResponse(told, ERRORS[error.error], end)


def done(**facts: Any) -> Response:
    return JSONResponse(facts)
