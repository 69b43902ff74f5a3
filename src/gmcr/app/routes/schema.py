"""The table of routes as OpenAPI, for whoever tests that the server answers everything as it says."""

from __future__ import annotations

from typing import Any

from gmcr.app.guard import KEY, Door
from gmcr.app.project import PLACES
from gmcr.app.routes.route import BYTES, JSON, Route
from gmcr.app.routes.table import ROUTES
from gmcr.app.shapes import Shape, record, text, word

ERROR = record({"error": text()}, {"sentence": text(10_000)})
PATHS: dict[str, Shape] = {"place": word(*PLACES)}  # of the names in paths, those that are not any text
COMMON = {400: "it is not of the shape that is asked for", 403: "it does not come from our page"}


def openapi() -> dict[str, Any]:
    """All routes, as OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "gmcr app", "version": "1"},
        "paths": paths,
        "components": {
            "securitySchemes": {
                "cookie": {"type": "apiKey", "in": "cookie", "name": "gmcr"},
                "key": {"type": "apiKey", "in": "header", "name": KEY},
            }
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": f"{route.method} {route.path}",
        "summary": route.about,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": _in_path(name)}
                for name in route.names
            ),
            *(
                {"name": name, "in": "query", "required": name in route.needed, "schema": shape}
                for name, shape in route.query.items()
            ),
        ],
        "responses": {"200": {"description": "done", "content": {route.gives: {}}}},
    }
    told["responses"] |= {
        str(code): {"description": what, "content": {JSON: {"schema": ERROR}}}
        for code, what in (COMMON | route.answers).items()
    }
    if route.takes is not None:
        binary: Shape = {"type": "string", "format": "binary"}
        kind, shape = (BYTES, binary) if isinstance(route.takes, str) else (JSON, route.takes)
        told["requestBody"] = {"required": True, "content": {kind: {"schema": shape}}}
    if route.door not in (Door.ENTRANCE, Door.ENTRANCE_PART):
        told["security"] = [{"cookie": [], "key": []} if route.door is Door.CLOSED else {"cookie": []}]
    return told


def _in_path(name: str) -> Shape:
    return PATHS.get(name, text(255, least=1))
