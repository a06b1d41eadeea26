"""The JSON Schema of a field in requests and in responses; OpenAPI 3.1 uses the same dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

from handlers.schema.fields import AMOUNT_DIGITS, CENTS, FIRST_DAY, Field, Kind
from handlers.schema.naming import name_shape

JsonSchema = dict[str, Any]
Mode = Literal["input", "reply"]
DICTIONARY = "x-dictionary"  # our own keyword: the type of the dictionary that a field is bound to
REFERENCE = "x-reference"  # our own keyword: the collection that a field refers to, its picker, the name beside it
LABEL = "x-label"  # our own keyword: the label of a field in both languages; documents have a title instead


def json_schema(
    field: Field, mode: Mode, component: Callable[[Field, Mode], JsonSchema | None] | None = None
) -> JsonSchema:
    """Return the JSON Schema of `field` in a request (`input`) or in a response (`reply`).

    `component` may return a `$ref` for an object that has a name.
    """
    shared = component(field, mode) if component and field.kind == "object" and field.title else None
    schema = shared if shared is not None else _plain_schema(field, mode, component)
    if field.nullable:
        schema = _or_null(schema)
    return {**schema, **_notes(field, mode)}


def _plain_schema(field: Field, mode: Mode, component: Callable[[Field, Mode], JsonSchema | None] | None) -> JsonSchema:
    if field.kind == "object":
        return object_schema(field, mode, component)
    if field.kind == "array" and field.items is not None:
        return {"type": "array", "items": json_schema(field.items, mode, component), **field.rules}
    if field.kind == "mapping" and field.items is not None:
        return {"type": "object", "additionalProperties": json_schema(field.items, mode, component)}
    if field.kind in ("money", "quantity"):
        return _amount_schema(field, mode)
    return {**_BASE[field.kind], **field.rules}


_BASE: dict[Kind, JsonSchema] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "timestamp": {"type": "string", "format": "date-time", "maxLength": 40},
    "day": {"type": "string", "format": "date", "maxLength": 10},
    "object_id": {"type": "string", "pattern": "^[0-9a-f]{24}$"},
    "any": {},
}


def object_schema(field: Field, mode: Mode, component: Callable[[Field, Mode], JsonSchema | None] | None) -> JsonSchema:
    """Return the object's own schema, never a `$ref` to itself."""
    fields = {
        name: child
        for name, child in (field.fields or {}).items()
        if not (child.read_only if mode == "input" else child.write_only)
    }
    if mode == "reply":
        fields |= {sibling.name: name_shape(sibling) for sibling in field.siblings if not sibling.own}
    required = [name for name, child in fields.items() if child.required or mode == "reply"]
    properties = {name: json_schema(child, mode, component) for name, child in fields.items()}
    for sibling in field.siblings:
        if sibling.beside in properties:
            properties[sibling.beside][REFERENCE] = reference_of(sibling.target, mode, sibling.name)
    schema: JsonSchema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def reference_of(collection: str, mode: Mode, label: str | None = None) -> JsonSchema:
    """Return the value of `x-reference`. Only what a body may refer to surely has a picker; `label` is in responses."""
    picker = {"picker": f"/api/v1/meta/options/{collection}"} if mode == "input" else {}
    return {"collection": collection, **picker, **({"label": label} if label else {})}


_AMOUNT = rf"^-?[0-9]{{{{1,{AMOUNT_DIGITS}}}}}(\.[0-9]{{{{1,{{}}}}}})?$"
# how many decimals an amount of such a pattern has at most
PLACES_OF = {_AMOUNT.format(places): places for places in range(1, AMOUNT_DIGITS)}


def _amount_schema(field: Field, mode: Mode) -> JsonSchema:
    places = field.places
    if mode == "reply":
        most = f",{places}" if places != CENTS else ""
        decimals = rf"\.[0-9]{{{CENTS}{most}}}" if field.kind == "money" else rf"(\.[0-9]{{1,{places}}})?"
        return {"type": "string", "pattern": f"^-?[0-9]+{decimals}$"}
    return {"type": ["string", "number"], "pattern": _AMOUNT.format(places)}


def _or_null(schema: JsonSchema) -> JsonSchema:
    if not schema:
        return schema
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"], **({"enum": [*schema["enum"], None]} if "enum" in schema else {})}


def _notes(field: Field, mode: Mode) -> JsonSchema:
    notes: JsonSchema = {LABEL: field.label._asdict()} if field.label else {}
    if field.dictionary:
        notes[DICTIONARY] = field.dictionary
    words = [field.description] if field.description else []
    if mode == "input" and field.past:
        words.append("Not later than tomorrow.")
    if mode == "input" and field.earliest != FIRST_DAY:
        words.append(f"Not before {field.earliest}.")
    if mode == "input" and field.default is not None:
        # as text: openapi-typescript makes a property with the keyword `default` a required one
        words.append(f"Default: `{json.dumps(field.default, ensure_ascii=False, default=str)}`.")
    if words:
        notes["description"] = " ".join(words)
    if field.example is not None:
        notes["examples"] = [field.example]
    return notes
