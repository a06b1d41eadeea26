"""What clients were written for stays: the served document against docs/openapi.json, that of the last release."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.support.document import DOCUMENT
from tests.support.openapi_comparison import breaks

RELEASED: dict[str, Any] = json.loads((Path(__file__).resolve().parents[2] / "docs" / "openapi.json").read_text())

# sentence → why clients do not miss it; agreed with those who use the API
_KINDS = "may be other than annual, sick, personal, compensatory, marriage, maternity, bereavement, other now"
_OF_COMPANY = "companies add their own types of leave; nobody gets one who has none"
_NO_PRODUCT = (
    "a line of text, and a service that is no product, has no product: such lines are only in documents that have them"
)
AGREED: dict[str, str] = {
    f"GET /api/v1/hrm/employees/{{id}}/leave-balances 200.data.items[].type {_KINDS}": _OF_COMPANY,
    f"GET /api/v1/hrm/leave-allowances 200.data.items[].type {_KINDS}": _OF_COMPANY,
    f"GET /api/v1/hrm/leaves 200.data.items[].type {_KINDS}": _OF_COMPANY,
    f"POST /api/v1/hrm/leaves/{{id}}/submit 200.data.type {_KINDS}": _OF_COMPANY,
    "GET /api/v1/finance/invoices 200.data.items[].number may be null now": (
        "only drafts have none, whose author left it out, which was refused before"
    ),
    **{
        f"{where}.product_id may be null now": _NO_PRODUCT
        for where in (
            "POST /api/v1/inventory/deliveries/{id}/returns 200.data.lines[]",
            *(
                f"GET /api/v1/inventory/{documents} 200.data.items[].lines[]"
                for documents in ("deliveries", "purchase-orders", "purchase-returns", "receipts", "sales-orders")
            ),
        )
    },
}


def test_a_client_of_the_last_release_finds_all_it_knows() -> None:
    found = breaks(RELEASED, DOCUMENT)
    assert [sentence for sentence in found if sentence not in AGREED] == [], (
        "clients of docs/openapi.json break: keep what it says, or agree on it and add the sentence to AGREED"
    )
    assert AGREED.keys() - set(found) == set(), "agreed, but not so"


# -- what is a break, and what is none, shown at a small document


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def error(code: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"code": {"type": "integer", "const": code}}, "required": ["code"]}


def json_content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


THING = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "weight": {"type": "number"},
        "made_at": {"type": ["string", "null"], "format": "date-time"},
        "parts": {"type": "array", "items": {"anyOf": [ref("Thing"), {"type": "null"}]}},
        "sums": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["id", "colour"],
}
BODY = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": ["integer", "null"]}, "kind": {"enum": ["a", "b"]}},
    "required": ["name"],
}
SMALL: dict[str, Any] = {
    "paths": {
        "/api/things": {
            "post": {
                "operationId": "post_things",
                "x-permission": "acme:thing:create",
                "security": [{"bearer": []}],
                "parameters": [{"name": "page", "in": "query", "required": False, "schema": {"type": "integer"}}],
                "requestBody": {"required": True, "content": json_content(ref("ThingBody"))},
                "responses": {
                    "200": {"headers": {"ETag": {}}, "content": json_content(ref("Thing"))},
                    "409": {"content": json_content({"oneOf": [error(40900), error(40901)]})},
                },
            },
            "get": {"operationId": "get_things", "security": [], "parameters": [], "responses": {"200": {}}},
        }
    },
    "components": {"schemas": {"Thing": THING, "ThingBody": BODY}},
}
POST = ("paths", "/api/things", "post")
FIELDS = ("components", "schemas", "Thing", "properties")
GIVEN = ("components", "schemas", "ThingBody", "properties")


def at(document: dict[str, Any], *steps: str | int) -> Any:
    for step in steps:
        document = document[step]  # type: ignore[index]
    return document


def removed(*steps: str | int) -> Callable[[dict[str, Any]], None]:
    """The change that takes away what is there."""

    def change(document: dict[str, Any]) -> None:
        del at(document, *steps[:-1])[steps[-1]]

    return change


def put(value: Any, *steps: str | int) -> Callable[[dict[str, Any]], None]:
    """The change that puts `value` there."""

    def change(document: dict[str, Any]) -> None:
        at(document, *steps[:-1])[steps[-1]] = value

    return change


BREAKS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "path": (removed("paths", "/api/things"), "POST /api/things is gone"),
    "method": (removed("paths", "/api/things", "get"), "GET /api/things is gone"),
    "operation": (put("make", *POST, "operationId"), "POST /api/things: operationId post_things became make"),
    "permission": (removed(*POST, "x-permission"), "POST /api/things: x-permission acme:thing:create became None"),
    "public": (
        put([{"bearer": []}], "paths", "/api/things", "get", "security"),
        "GET /api/things was public and needs a token now",
    ),
    "parameter": (put([], *POST, "parameters"), "POST /api/things query parameter page is gone"),
    "parameter that must be given": (
        put(True, *POST, "parameters", 0, "required"),
        "POST /api/things query parameter page must be given now",
    ),
    "type of a parameter": (
        put("boolean", *POST, "parameters", 0, "schema", "type"),
        "POST /api/things query parameter page was integer and is boolean",
    ),
    "body": (removed(*POST, "requestBody"), "POST /api/things takes no body any more"),
    "new body": (
        put({"required": True, "content": {}}, "paths", "/api/things", "get", "requestBody"),
        "GET /api/things needs a body now",
    ),
    "media type": (
        put({"text/csv": {}}, *POST, "responses", "200", "content"),
        "POST /api/things 200 is no application/json any more",
    ),
    "status": (removed(*POST, "responses", "409"), "POST /api/things 409 is gone"),
    "header": (put({}, *POST, "responses", "200", "headers"), "POST /api/things 200 header ETag is gone"),
    "error code": (
        put(json_content(error(40900)), *POST, "responses", "409", "content"),
        "POST /api/things 409 error code 40901 is gone",
    ),
    "field of a request": (removed(*GIVEN, "size"), "POST /api/things body.size is gone"),
    "field that must be given": (
        put(["name", "size"], *GIVEN[:-1], "required"),
        "POST /api/things body.size must be given now",
    ),
    "null in a request": (
        put("integer", *GIVEN, "size", "type"),
        "POST /api/things body.size may not be null any more",
    ),
    "type in a request": (
        put("integer", *GIVEN, "name", "type"),
        "POST /api/things body.name was string and is integer",
    ),
    "value in a request": (put(["a"], *GIVEN, "kind", "enum"), "POST /api/things body.kind value 'b' is gone"),
    "values where all were taken": (
        put(["a"], *GIVEN, "name", "enum"),
        "POST /api/things body.name takes only a now",
    ),
    "field of a response": (removed(*FIELDS, "colour"), "POST /api/things 200.colour is gone"),
    "field that may be absent": (
        put(["id"], *FIELDS[:-1], "required"),
        "POST /api/things 200.colour may be absent now",
    ),
    "null in a response": (put(["string", "null"], *FIELDS, "id", "type"), "POST /api/things 200.id may be null now"),
    "type in a response": (put("integer", *FIELDS, "id", "type"), "POST /api/things 200.id was string and is integer"),
    "another number": (
        put("string", *FIELDS, "weight", "type"),
        "POST /api/things 200.weight was number and is string",
    ),
    "anything": (removed(*FIELDS, "id", "type"), "POST /api/things 200.id was string and is anything"),
    "value in a response": (
        put(["red"], *FIELDS, "colour", "enum"),
        "POST /api/things 200.colour value 'blue' is gone",
    ),
    "values no longer named": (
        removed(*FIELDS, "colour", "enum"),
        "POST /api/things 200.colour may be other than red, blue now",
    ),
    "format": (
        put("date", *FIELDS, "made_at", "format"),
        "POST /api/things 200.made_at has the format date, which was date-time",
    ),
    "items": (
        put({"type": "string"}, *FIELDS, "parts", "items"),
        "POST /api/things 200.parts[] was object and is string",
    ),
    "map": (removed(*FIELDS, "sums", "additionalProperties"), "POST /api/things 200.sums.* is gone"),
}

ADDITIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "path": put({"get": {}}, "paths", "/api/more"),
    "method": put({}, "paths", "/api/things", "put"),
    "permission": put("acme:thing:list", "paths", "/api/things", "get", "x-permission"),
    "parameter": put(
        [*at(SMALL, *POST, "parameters"), {"name": "q", "in": "query", "required": False, "schema": {}}],
        *POST,
        "parameters",
    ),
    "error code": put(
        json_content({"oneOf": [error(code) for code in (40900, 40901, 40902)]}), *POST, "responses", "409", "content"
    ),
    "status": put({}, *POST, "responses", "423"),
    "body that need not be given": put({"content": {}}, "paths", "/api/things", "get", "requestBody"),
    "field of a response": put({"type": "string"}, *FIELDS, "name"),
    "field of a request": put({"type": "string"}, *GIVEN, "remark"),
    "field that need not be given": put([], *GIVEN[:-1], "required"),
    "more types in a request": put(["string", "number"], *GIVEN, "name", "type"),
    "null in a request": put(["string", "null"], *GIVEN, "name", "type"),
    "no null in a response": put("string", *FIELDS, "made_at", "type"),
    "value": put(["red", "blue", "green"], *FIELDS, "colour", "enum"),
    "whole numbers": put("integer", *FIELDS, "weight", "type"),
    "pattern": put("^[a-z]$", *GIVEN, "name", "pattern"),
    "words": put("What it is", *FIELDS, "id", "description"),
}


def reported(change: Callable[[dict[str, Any]], None]) -> list[str]:
    """The breaks that are reported of the small document with this change."""
    changed = deepcopy(SMALL)
    change(changed)
    return breaks(SMALL, changed)


def test_a_break_is_reported() -> None:
    assert [name for name, (change, sentence) in BREAKS.items() if sentence not in reported(change)] == []


def test_an_addition_is_no_break() -> None:
    assert {name: reported(change) for name, change in ADDITIONS.items() if reported(change)} == {}
