"""The table of routes, its schema, and requests that nobody would make: refused or done, never broken."""

import json
import os
import time
from contextlib import suppress
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core import NotSet

from app_server import Client, threaded
from gmcr.app.jobs.queue import Queue
from gmcr.app.routes import table
from gmcr.app.routes.schema import openapi
from gmcr.app.shapes import fits

SECONDS = float(os.environ.get("GMCR_APP_SECONDS", "24"))  # of requests, half of them with the token
PROJECT = "p"
NOT_ASKED = ("/api/quit", "/api/stream")  # one ends the server, the other does not end


def test_the_schema_is_complete():
    told = openapi()
    routes = {(route.method.lower(), route.path) for route in table.ROUTES}
    assert {(method, path) for path, methods in told["paths"].items() for method in methods} == routes
    assert len(routes) == len(table.ROUTES)
    for route in table.ROUTES:
        operation = told["paths"][route.path][route.method.lower()]
        assert {one["name"] for one in operation["parameters"]} == {*route.names, *route.query}
        assert ("requestBody" in operation) == (route.takes is not None)
        assert set(route.needed) <= set(route.query)
        assert {"200", "400", "403"} <= set(operation["responses"])
    identities = [one["operationId"] for methods in told["paths"].values() for one in methods.values()]
    assert len(set(identities)) == len(identities)


def test_every_route_is_found_and_nothing_else_is():
    for route in table.ROUTES:
        path = route.path.format(**dict.fromkeys(route.names, "x%2Fy"))
        found, values = table.find(route.method, path)
        assert found is route
        assert set(values.values()) <= {"x/y"}
    for method, path in (
        ("GET", "/api/projects/a/b/c"),
        ("PATCH", "/"),
        ("GET", "/api/projects/"),
        ("GET", "/static/a/b"),
    ):
        assert table.find(method, path) is None


NUMBERS = {"pattern": "^[0-9]$"}


@pytest.mark.parametrize(
    ("value", "shape", "fine"),
    [
        (3, {"type": "integer", "minimum": 3, "maximum": 3}, True),
        (True, {"type": "integer"}, False),
        (3.0, {"type": "integer"}, False),
        (float("nan"), {"type": "number"}, False),
        ("a", {"type": "string", "maxLength": 1}, True),
        ("ab", {"type": "string", "maxLength": 1}, False),
        ("\ud800", {"type": "string"}, False),
        ("a\0", {"type": "string"}, False),
        ({"a": 1}, {"type": "object", "properties": {}, "additionalProperties": False}, False),
        ({"1": "x"}, {"type": "object", "additionalProperties": {"type": "string"}}, True),
        ({"x": ""}, {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": NUMBERS},
        False), ([1, "a"], {"type": "array", "items": {"type": "integer"}}, False), ([1] * 3, {"type":
        "array", "items": {"type": "integer"}, "maxItems": 2}, False), (None, {"type": "string"}, False),
    ],
)  # fmt: skip
def test_shapes(value, shape, fine):
    assert fits(value, shape) is fine


def test_bodies_that_are_no_json_are_refused(tmp_path):
    with threaded(tmp_path / "gmcr") as (_, _, client):
        for body in (
            b"",
            b"{",
            b"[" * 100_000,
            b"\xff",
            b'{"title": NaN}',
            b'{"title": 1e999}',
            b"9" * 5000,
            b"{}",
        ):
            assert client.ask("POST", "/api/projects", body, content_type="application/json")[0] == 400
        long = b'{"title": "' + b"x" * (1 << 20) + b'"}'
        assert client.ask("POST", "/api/projects", long, content_type="application/json")[0] == 413
        for query in ("name=a&name=b", "name=a&other=b", "other=b", ""):
            path = "/api/projects/p/files/data?" + query
            assert client.ask("PUT", path, b"1")[0] == 400


def operations():
    return [one.ok() for one in schemathesis.openapi.from_dict(openapi()).get_all_operations()]


def ask_all(client, seconds):
    """Everything that the schema has, again and again, with values of its shapes and of others."""
    until, seen = time.monotonic() + seconds, []
    asked = [(one, mode) for one in operations() for mode in GenerationMode if one.path not in NOT_ASKED]
    while time.monotonic() < until:
        for operation, mode in asked:
            seen += ask_some(operation, mode, client, until)
    return seen


def ask_some(operation, mode, client, until):
    """A few requests of one kind; every other one is for a project that is there."""
    seen = []

    @settings(
        max_examples=6,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        if time.monotonic() > until:
            return
        if len(seen) % 2 and case.path_parameters and "project" in case.path_parameters:
            case.path_parameters["project"] = PROJECT
        status, body = answer_to(case, client)
        seen.append((operation.method, operation.path, status))
        assert status < 500, (case.method, case.formatted_path, case.query, case.body, body)

    with suppress(Unsatisfiable):  # nothing can be wrong with what takes nothing
        ask()
    return seen


def answer_to(case, client):
    query = f"?{urlencode(case.query, doseq=True, errors='replace')}" if case.query else ""
    kind = {"content_type": case.media_type} if case.media_type else {}
    if isinstance(case.body, NotSet):
        body = None
    elif isinstance(case.body, bytes | bytearray):
        body = bytes(case.body)
    else:
        body = json.dumps(case.body).encode()
    path = quote(case.formatted_path, safe="/%~:@!$&'()*+,;=")
    status, _, content = client.ask(case.method, path + query, body, **kind)
    return status, content


@pytest.mark.parametrize("who", ["with the token", "without"])
def test_no_request_breaks_the_server(tmp_path, who, monkeypatch):
    """For half of the seconds each; benchmarks/app.py asks for ten minutes."""
    monkeypatch.setattr(Queue, "_begin", lambda self, job: None)  # what jobs do is asked elsewhere
    with threaded(tmp_path / "gmcr") as (_, address, client):
        assert client.create(PROJECT) == PROJECT
        client.give(PROJECT, "mix.csv", b"400,401\n1,2\n3,4\n5,6\n")
        seen = ask_all(client if who == "with the token" else Client(address), SECONDS / 2)
        codes = {code for _, _, code in seen}
        if who == "without":
            assert codes <= {400, 403, 404}  # 404: a part of the way in that is not there
            assert 403 in codes
        else:
            assert {200, 400, 404} <= codes
        assert client.get("/api/projects")["folder"]
