"""Checks that responses have the shape that their route declares, as the OpenAPI document promises to clients.

With `all`, in demo mode and in tests, a response of another shape becomes an error: 50000, with the reason in the log.
With `some`, in production, the first responses of each route and every thousandth later one are checked and logged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import orjson

from handlers.data.lists.filters import Page
from handlers.docs.openapi import page_of
from handlers.route import Route
from handlers.schema.fields import NOTHING, Field
from handlers.schema.json_schema import JsonSchema, Mode, json_schema, object_schema
from handlers.schema.validation import field_path

log = logging.getLogger("tradewind.responses")
_FIRST, _EACH = 10, 1000
_MOST_BYTES = 64 << 10  # the largest response that production checks: a few milliseconds of the event loop
_MOST_FAULTS = 5


class ResponseFault(Exception):
    """A handler returned a shape that its route does not declare; the message says what is wrong and where."""


class ResponseChecks:
    """The checks of one process."""

    def __init__(self, *, every: bool) -> None:
        self._every = every
        self._seen: dict[str, int] = {}
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    def check(self, route: Route, result: Any, body: bytes) -> None:
        """Check an envelope, and what the handler returned. Raises `ResponseFault` with `all`, else logs the fault."""
        if self._is_sampled(route.name, body):
            shape = page_of(route.returns) if route.paged else route.returns
            fault = _unknown_fields(route, result) or self._faults(route.name, shape, orjson.loads(body)["data"])
            self._report(route.name, fault)

    def check_message(self, route: Route, message: Any, body: str) -> None:
        """Check a message that a WebSocket sends. Raises `ResponseFault` with `all`, else logs the fault."""
        kind = message.get("type") if isinstance(message, Mapping) else None
        name = f"{route.name} {kind}"
        if route.messages and self._is_sampled(name, body):
            shape = route.messages.get(str(kind))
            self._report(name, self._faults(name, shape, orjson.loads(body)) if shape else "is no message of the route")

    def _is_sampled(self, name: str, body: bytes | str) -> bool:
        if self._every:
            return True
        count = self._seen[name] = self._seen.get(name, 0) + 1
        return (count <= _FIRST or count % _EACH == 0) and len(body) <= _MOST_BYTES

    def _faults(self, name: str, shape: Field, data: Any) -> str:
        validator = self._validators.get(name)
        if validator is None:
            # values are masked: they may be secrets, and faults are logged
            schema = _schema(shape)
            validator = jsonschema_rs.validator_for(schema, validate_formats=True, mask="the value")
            self._validators[name] = validator
        if validator.is_valid(data):
            return ""
        faults = [
            f"{field_path(fault.instance_path) or 'data'}: {fault.message}" for fault in validator.iter_errors(data)
        ]
        return "; ".join(faults[:_MOST_FAULTS])

    def _report(self, name: str, fault: str) -> None:
        if not fault:
            return
        if self._every:
            raise ResponseFault(f"The response of {name} is not what the route declares: {fault}")
        log.error("a response is not what its route declares", extra={"route": name, "fault": fault})


def _unknown_fields(route: Route, result: object) -> str:
    """Return the fault of a result that has none of the declared fields, which the projection would turn into nulls."""
    shape = route.returns
    if shape is NOTHING or isinstance(result, Page):
        return ""
    if (
        shape.kind == "object"
        and isinstance(result, Mapping)
        and result
        and result.keys().isdisjoint(shape.response_fields)
    ):
        return f"the handler returned {', '.join(map(str, result))}, none of which is a field of it"
    return ""


def _schema(shape: Field) -> JsonSchema:
    """Return the self-contained JSON Schema of a response: its named shapes are definitions within it."""
    definitions: dict[str, JsonSchema] = {}

    def named(field: Field, mode: Mode) -> JsonSchema:
        name = field.title or ""
        if name not in definitions:
            definitions[name] = {}  # recorded before it is written: a tree references itself
            definitions[name] = object_schema(field, mode, named)
        return {"$ref": f"#/$defs/{name}"}

    if shape is NOTHING:
        return {"type": "null"}
    return {"allOf": [json_schema(shape, "reply", named)], "$defs": definitions}
