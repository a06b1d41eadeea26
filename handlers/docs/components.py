"""The components of the OpenAPI document: schemas, responses and headers, each written once and referenced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from handlers.schema.errors import LOCKED, RATE_LIMITED, UNAVAILABLE, ErrorKind
from handlers.schema.fields import NOTHING, Field
from handlers.schema.json_schema import JsonSchema, Mode, json_schema, object_schema

_HEADERS: Mapping[str, JsonSchema] = {
    "X-Request-ID": {"description": "Identifies this request in all logs.", "schema": {"type": "string"}},
    "Idempotency-Replayed": {
        "description": "`true`: the response to an earlier request with the same `Idempotency-Key`.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "ETag": {"description": "Identifies this version of the response.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Try again after this many seconds.", "schema": {"type": "integer", "minimum": 1}},
}
_WAIT = (LOCKED, RATE_LIMITED, UNAVAILABLE)


class Document(Protocol):
    """The components of an OpenAPI document, as apispec represents them."""

    def schema(self, component_id: str, component: JsonSchema) -> Any:
        """Add a schema."""

    def header(self, component_id: str, component: JsonSchema) -> Any:
        """Add a header."""

    def response(self, component_id: str, component: JsonSchema) -> Any:
        """Add a response."""


class NameTaken(ValueError):
    """Two different components have the same name; the message says which."""


def wrap(code: JsonSchema, data: JsonSchema, aliases: Mapping[str, str] | None = None) -> JsonSchema:
    """Return the schema of the envelope around `data`, with the fields that it repeats under other names."""
    fields = {"code": code, "msg": {"type": "string"}, "data": data}
    fields |= {alias: fields[name] for alias, name in (aliases or {}).items()}
    return {
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }


class Components:
    """Writes each component when it is first referenced. Raises `NameTaken` if a different one has the same name.

    A shape that is the same in requests and responses has one name; one that differs is called `<name>Input` in
    requests. Without a `document` only the names are checked.
    """

    def __init__(self, document: Document | None = None) -> None:
        self._writers: dict[str, Callable[[str, JsonSchema], Any]] = (
            {}
            if document is None
            else {"schemas": document.schema, "headers": document.header, "responses": document.response}
        )
        self._written: dict[tuple[str, str], JsonSchema] = {}
        self._shapes: dict[str, list[tuple[Mode, object]]] = {}

    @property
    def schemas(self) -> dict[str, JsonSchema]:
        """The schemas that were written, by name."""
        return {name: content for (part, name), content in self._written.items() if part == "schemas"}

    def named(self, field: Field, mode: Mode) -> JsonSchema:
        """Return the `$ref` of an object with a name, after writing its schema if it is new."""
        name = field.title or ""
        if mode == "input" and _is_alike(field):
            mode = "reply"
        if mode == "input" and not name.endswith(("Create", "Update", "Body")):
            name = f"{name}Input"
        known = self._shapes.setdefault(name, [])
        if (mode, field.fields) not in known:
            # recorded before it is written: the children of a tree reference it
            known.append((mode, field.fields))
            self._write("schemas", name, object_schema(field, mode, self.named))
        return _reference("schemas", name)

    def headers(self, *names: str) -> JsonSchema:
        """Return references to these response headers."""
        return {name: self._write("headers", name, _HEADERS[name]) for name in names}

    def failures(self, kinds: Iterable[ErrorKind]) -> dict[str, JsonSchema]:
        """Return the error responses by status; each carries one of `kinds`."""
        by_status: dict[int, list[ErrorKind]] = {}
        for kind in sorted(kinds, key=lambda kind: kind.code):
            by_status.setdefault(kind.status, []).append(kind)
        return {str(status): self._failure(alike) for status, alike in sorted(by_status.items())}

    def _failure(self, kinds: list[ErrorKind]) -> JsonSchema:
        choices = [self._error(kind) for kind in kinds]
        waits = ("Retry-After",) if any(kind in _WAIT for kind in kinds) else ()
        response = {
            "description": "; ".join(f"{kind.code} {kind.message.en}" for kind in kinds),
            "headers": self.headers("X-Request-ID", *waits),
            "content": {"application/json": {"schema": choices[0] if len(choices) == 1 else {"oneOf": choices}}},
        }
        return self._write("responses", "Or".join(_pascal(kind.name) for kind in kinds), response)

    def _error(self, kind: ErrorKind) -> JsonSchema:
        # fields that are not in every response are described like those that need not be in a request
        mode: Mode = "input" if kind.data.nullable else "reply"
        data = {"type": "null"} if kind.data is NOTHING else json_schema(kind.data, mode, self.named)
        error = {"description": kind.when, **wrap({"type": "integer", "const": kind.code}, data)}
        return self._write("schemas", f"{_pascal(kind.name)}Error", error)

    def _write(self, part: str, name: str, content: JsonSchema) -> JsonSchema:
        if (part, name) not in self._written:
            self._written[part, name] = content
            if part in self._writers:
                self._writers[part](name, content)
        elif self._written[part, name] != content:
            raise NameTaken(f"two different {part} called {name}")
        return _reference(part, name)


def _reference(part: str, name: str) -> JsonSchema:
    return {"$ref": f"#/components/{part}/{name}"}


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace("-", "_").replace(".", "_").split("_"))


def _is_alike(field: Field, above: tuple[Field, ...] = ()) -> bool:
    """Return whether the shape is the same in a request and in a response."""
    if field in above:
        return True
    if field.kind in ("money", "quantity") or field.default is not None or field.siblings:
        return False
    children = (field.fields or {}).values()
    if not all(child.required and not child.read_only and not child.write_only for child in children):
        return False
    inner = [*children, *([field.items] if field.items else [])]
    return all(_is_alike(child, (*above, field)) for child in inner)
