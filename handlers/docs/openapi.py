"""Builds the OpenAPI 3.1 document from the routes (library: apispec). Front ends generate their types from it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from os.path import commonpath
from typing import Any

from handlers.catalogue.dictionaries import Entries, Entry
from handlers.data.collection import Collection
from handlers.data.lists.filters import make_cursor
from handlers.docs.components import Components, wrap
from handlers.route import PUBLIC, SUPER, Route
from handlers.schema.envelope import PAGE_FIELDS
from handlers.schema.fields import NOTHING, Field, array, mapping, money, obj, text
from handlers.schema.json_schema import LABEL, REFERENCE, JsonSchema, Mode, json_schema, reference_of
from handlers.schema.messages import Language

_LEAST = 3  # operations that a resource needs for its own tag


def tags_of(routes: Iterable[Route]) -> dict[str, str]:
    """Return the tag of each route by its name: that of the route, with the resource if enough routes share it."""
    resources = {route.name: (route.tag, _resource(route)) for route in routes}
    counts = Counter(resources.values())
    return {
        name: f"{tag}: {resource}" if resource and counts[tag, resource] >= _LEAST else tag
        for name, (tag, resource) in resources.items()
    }


def described_tags(routes: Iterable[Route], tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the tags in order, each with the common path of its operations."""
    paths: dict[str, list[str]] = defaultdict(list)
    for route in routes:
        paths[tags[route.name]].append(route.path)
    return [{"name": tag, "description": f"Operations at `{commonpath(paths[tag])}`."} for tag in sorted(paths)]


def _resource(route: Route) -> str:
    """Return the first name in the path after that of the module: `things` of `/api/v1/acme/things/{id}/sign`."""
    names = [name for name in re.sub(r"^/(api/)?(v1/)?", "", route.path).split("/") if "{" not in name]
    own = bool(names) and names[0].removesuffix("s") == route.tag.removesuffix("s")
    return next(iter(names[own:]), "")


_TITLE = "Tradewind"
_ABOUT = """Back end of a business platform.
Every JSON response is an envelope `{code, msg, data}`; `code` 0 is success.
Log in, then send `Authorization: Bearer <accessToken>`.
A 401 with code 40101 means that the access token has expired: refresh it, then repeat the request.
`msg` is Chinese, or English with `Accept-Language: en`.
Amounts of money are strings with two decimals; one that is sent as a number has at most 15 significant digits.
Times are RFC 3339 in UTC. Days and times in requests must lie between 1970-01-01 and 2199-12-31.
Every response has an `X-Request-ID`; send one of your own to follow a request through the logs."""

_BEARER = (
    "The `accessToken` of a log-in; for a program, the key of a service account (`tw_…`), which never needs a refresh."
)
_SUMS = "The amounts that `sum` names, of all pages; null without it, if more than 10,000 records match, or in several currencies."
_SWITCHED = "A WebSocket (RFC 6455). Its messages are JSON; x-websocket-messages describes them."


def describe(
    routes: Iterable[Route],
    version: str,
    language: Language = "en",
    dictionaries: Entries | None = None,
    collections: Iterable[Collection] = (),
) -> dict[str, Any]:
    """Return the OpenAPI document of `routes`, in which the titles of fields are their labels in `language`.

    `x-dictionary` of a field names one of the `dictionaries`, whose values the document lists in `x-dictionaries`.
    `x-reference` of a field names one of the `collections`, or its alias if they are not given.
    Raises `NameTaken` if two shapes or two errors have the same name.
    """
    from apispec import APISpec  # imported late: it takes a moment, and most processes never serve the document

    routes = tuple(routes)
    tags = tags_of(routes)
    spec = APISpec(
        title=_TITLE,
        version=version,
        openapi_version="3.1.0",
        info={"description": _ABOUT, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        servers=[{"url": "/"}],
        tags=described_tags(routes, tags),
    )
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": _BEARER}
    spec.components.security_scheme("bearer", bearer)
    components, records = Components(spec.components), _records(routes)
    by_path: dict[str, dict[str, Any]] = {}
    for route in routes:
        by_path.setdefault(route.path, {})[route.method.lower()] = {
            **_operation(route, components, records, language),
            "tags": [tags[route.name]],
        }
    for path, operations in by_path.items():
        spec.path(path=path, operations=operations)
    hooks = {name: _webhook(name, body, components) for route in routes for name, body in route.sends.items()}
    document: dict[str, Any] = {**spec.to_dict(), **({"webhooks": hooks} if hooks else {})}
    document["components"] = {part: dict(sorted(named.items())) for part, named in document["components"].items()}
    titled: dict[str, Any] = _in_language(document, language, _aliases(collections))
    listed = {type: options_of(entries, language) for type, entries in (dictionaries or {}).items()}
    return {**titled, **({"x-dictionaries": listed} if listed else {})}


def options_of(entries: Mapping[str, Entry], language: Language) -> list[dict[str, Any]]:
    """Return the entries of a dictionary as clients get them, in the order of display."""
    return [
        {"value": value, "label": entry.label.text(language), "color": entry.color, "disabled": not entry.enabled}
        for value, entry in entries.items()
    ]


def _aliases(collections: Iterable[Collection]) -> dict[str, str]:
    return {one.alias: one.name for one in collections if one.alias}


def _in_language(part: Any, language: Language, names: Mapping[str, str]) -> Any:
    """Return the part of a document with the labels of fields in one language as titles, and names in place of aliases."""
    if isinstance(part, dict):
        title = {"title": part[LABEL][language]} if isinstance(part.get(LABEL), dict) else {}
        rest = {name: _in_language(one, language, names) for name, one in part.items() if name != LABEL}
        if isinstance(reference := part.get(REFERENCE), dict) and reference.get("collection") in names:
            mode: Mode = "input" if "picker" in reference else "reply"
            rest[REFERENCE] = reference_of(names[reference["collection"]], mode, reference.get("label"))
        return {**rest, **title}
    return [_in_language(one, language, names) for one in part] if isinstance(part, list) else part


def check_names(routes: Iterable[Route], collections: Iterable[Collection] = ()) -> dict[str, JsonSchema]:
    """Return the named schemas of the document. Raises `NameTaken` as `describe` does, in a fifth of its time."""
    routes = tuple(routes)
    components = Components()
    for route in routes:
        for field, mode in _shapes(route):
            json_schema(field, mode, components.named)
    components.failures({kind for route in routes for kind in route.every_error})
    schemas: dict[str, JsonSchema] = _in_language(components.schemas, "en", _aliases(collections))
    return schemas


def _shapes(route: Route) -> Iterator[tuple[Field, Mode]]:
    """Yield the shapes of the requests and responses of a route."""
    yield from ((shape, "input") for shape in (route.body, route.form) if shape is not None)
    yield from ((message, "reply") for message in (*route.messages.values(), *route.sends.values()))
    if not (route.socket or route.bare or route.returns is NOTHING):
        yield page_of(route.returns) if route.paged else route.returns, "reply"


def _operation(
    route: Route, components: Components, records: Mapping[str, Mapping[str, Field]], language: Language
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": operation_id(route),
        "summary": route.summary,
        "description": _description(route, language),
        "parameters": [*_in_path(route, records), *_in_query(route), *_in_header(route)],
        "responses": {**_success(route, components), **components.failures(route.every_error)},
        "security": [] if route.access == PUBLIC else [{"bearer": []}],
    }
    if route.etag:
        operation["responses"]["304"] = {"description": "Unchanged since the response with the `ETag` in If-None-Match"}
    if route.ranges:
        operation["responses"]["206"] = {
            **operation["responses"]["200"],
            "description": "The part that `Range` asks for",
        }
    if route.messages:
        operation["x-websocket-messages"] = {
            name: json_schema(message, "reply", components.named) for name, message in route.messages.items()
        }
    if route.guarded:
        operation["x-permission"] = route.access
    if route.body is not None:
        schema = json_schema(route.body, "input", components.named)
        content = {"application/json": {"schema": schema}}
        operation["requestBody"] = {"required": route.needs_body, "content": content}
    if route.form is not None:
        schema = json_schema(route.form, "input", components.named)
        operation["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    return operation


def _description(route: Route, language: Language) -> str:
    """Return what the route says of itself, who may use it, and the refusals of its own with their messages."""
    if route.guarded:
        who = f"Needs the permission `{route.access}`."
    else:
        who = {PUBLIC: "Needs no log-in.", SUPER: "For super administrators."}.get(route.access, "Needs a log-in.")
    own = ((one.kind.code, one.sentence.text(language)) for one in route.refusals if one.sentence)
    refusals = dict.fromkeys(f"- {code}: {sentence}" for code, sentence in own)
    listed = "\n\nMay be refused with:\n\n" + "\n".join(refusals) if refusals else ""
    return f"{route.description} {who}".strip() + listed


_SIGNED = {
    "webhook-id": "The same when a message is sent again.",
    "webhook-timestamp": "Seconds since 1970, of this attempt.",
    "webhook-signature": "`v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>`, in base64; several have spaces between.",
}


def _webhook(name: str, body: Field, components: Components) -> dict[str, Any]:
    """Return a webhook of the document, by https://www.standardwebhooks.com."""
    headers = [
        {"name": header, "in": "header", "required": True, "schema": {"type": "string"}, "description": says}
        for header, says in _SIGNED.items()
    ]
    content = {"application/json": {"schema": json_schema(body, "reply", components.named)}}
    accepted = {
        "2XX": {"description": "Accepted. Any other response is a failure, and the message is sent again later."}
    }
    operation = {
        "operationId": f"webhook_{name}",
        "summary": f"Receive a {name}",
        "parameters": headers,
        "requestBody": {"required": True, "content": content},
        "responses": accepted,
        "security": [],
    }
    return {"post": operation}


def operation_id(route: Route) -> str:
    """Return a stable name such as `get_acme_agreements_id`."""
    path = re.sub(r"^/(api/)?(v1/)?", "", route.path)
    return route.operation or f"{route.method.lower()}_{re.sub(r'[^a-z0-9]+', '_', path.lower()).strip('_')}"


def _records(routes: Iterable[Route]) -> dict[str, Mapping[str, Field]]:
    """Return the fields of the records of each path, which give the type of an identifier in the path."""
    returned = ((route.path, route.returns.items or route.returns) for route in routes)
    return {path: record.fields for path, record in returned if record.fields}


def _in_path(route: Route, records: Mapping[str, Mapping[str, Field]]) -> list[dict[str, Any]]:
    parameters = []
    for name in route.parameters:
        head = route.path.partition(f"/{{{name}}}")[0]
        record = {**records.get(head, {}), **records.get(f"{head}/{{{name}}}", {})}
        field = record.get(name) or record.get("id") or text()
        schema = {"type": "integer" if field.kind == "integer" else "string"}
        parameters.append({"name": name, "in": "path", "required": True, "schema": schema, "example": example(field)})
    return parameters


def _in_query(route: Route) -> list[dict[str, Any]]:
    return [_query_parameter(name, field, route) for name, field in route.query.items()]


def _query_parameter(name: str, field: Field, route: Route) -> dict[str, Any]:
    # an optional parameter is left out, never null; its description belongs beside the schema
    schema = json_schema(field.but(nullable=False, default=None, description=None, example=None), "input")
    parameter: dict[str, Any] = {"name": name, "in": "query", "required": field.required, "schema": schema}
    if field.default is not None:
        schema["default"] = field.default
    if field.kind == "array":
        parameter |= {"style": "form", "explode": False}
    if field.description:
        parameter["description"] = field.description
    return {**parameter, "example": _cursor(route) if name == "cursor" and "sort" in route.query else example(field)}


def _cursor(route: Route) -> str:
    """Return a cursor for the order that the `sort` parameter shows."""
    order = str(route.query["sort"].example).split(",")
    keys = [(_stored(key.removeprefix("-")), -1 if key.startswith("-") else 1) for key in order]
    if keys[-1][0] != "_id":
        keys.append(("_id", keys[-1][1]))
    shown = {name: example(field) for name, field in (route.returns.fields or {}).items()}
    return make_cursor(keys, {**shown, "_id": shown.get("id")})


def _stored(name: str) -> str:
    return "_id" if name == "id" else name


def _in_header(route: Route) -> list[dict[str, Any]]:
    parameters = []
    if route.keyed:
        parameters.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
                "description": "Within 24 h, a retry with the same path and body just gets the first response.",
                "example": f"{operation_id(route)}-0001",
            }
        )
    if route.etag:
        parameters.append(
            {
                "name": "If-None-Match",
                "in": "header",
                "required": False,
                "schema": {"type": "string"},
                "description": "The `ETag` of a response that the client already has.",
                "example": 'W/"0"',
            }
        )
    if route.ranges:
        parameters.append(
            {
                "name": "Range",
                "in": "header",
                "required": False,
                "schema": {"type": "string"},
                "description": "One range of bytes; with `If-Range`, only if the content is still that which the "
                "client has.",
                "example": "bytes=0-1023",
            }
        )
    return parameters


_EXAMPLES = {
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "money": "100.00",
    "quantity": "1",
    "day": "2026-11-20",
    "timestamp": "2026-11-20T08:00:00.000Z",
    "object_id": "65f0c0ffee65f0c0ffee65f0",
    "text": "text",
    "any": "text",
}


def example(field: Field) -> Any:
    """Return an example of a value that `field` accepts, as a client sends it."""
    if field.example is not None:
        return field.example
    if field.default is not None:
        return field.default
    if field.kind == "array" and field.items is not None:
        return [example(field.items)]
    return field.rules["enum"][0] if "enum" in field.rules else _EXAMPLES.get(field.kind)


def _success(route: Route, components: Components) -> dict[str, Any]:
    """Return the response to a successful request, by its status."""
    if route.socket:
        return {"101": {"description": _SWITCHED}}
    if route.bare:
        content = {media: {"schema": _bare_schema(media)} for media in _media_types(route.bare)}
    else:
        envelope = wrap({"type": "integer", "const": 0}, _data(route, components), route.aliases)
        content = {"application/json": {"schema": envelope}}
        content |= {media: {"schema": _bare_schema(media)} for media in _media_types(route.instead or "") if media}
    names = ["X-Request-ID"]
    if route.etag:
        names.append("ETag")
    if route.keyed:
        names.append("Idempotency-Replayed")
    return {"200": {"description": "OK", "headers": components.headers(*names), "content": content}}


def _data(route: Route, components: Components) -> JsonSchema:
    if route.returns is NOTHING:
        return {"type": "null"}
    return json_schema(page_of(route.returns) if route.paged else route.returns, "reply", components.named)


def page_of(record: Field) -> Field:
    """Return the shape of one page of a list of `record`."""
    fields = {"items": array(record, max_items=200, nullable=False), **PAGE_FIELDS}
    if record.sortable_amounts:
        fields["sums"] = mapping(money(nullable=False), description=_SUMS)
    return obj(record.title and f"{record.title}Page", fields, nullable=False)


def _media_types(bare: str) -> list[str]:
    return [media.partition(";")[0].strip() for media in bare.split(",")]


def _bare_schema(media: str) -> JsonSchema:
    if media == "application/json":
        return {"type": "object", "additionalProperties": True}
    if media.startswith("text/") or media.endswith("xml"):
        return {"type": "string"}
    return {"type": "string", "format": "binary"}
