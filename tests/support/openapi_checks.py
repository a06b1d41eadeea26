"""Checks responses against the OpenAPI document of the server."""

from __future__ import annotations

import json
import re
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from handlers.route import Route
from plugins.testing import Reply

CONFLICT_SCHEMA = "/components/schemas/ConflictError"
_ROOT = "urn:openapi"
# RFC 3339 in UTC with milliseconds, and plain days
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_OWN_FIELD = re.compile(r'"(x_[a-z0-9_]+)"')
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
FORMATS = FormatChecker(("email", "idn-email"))
FORMATS.checks("date-time")(lambda value: not isinstance(value, str) or _MOMENT.fullmatch(value) is not None)
FORMATS.checks("date")(lambda value: not isinstance(value, str) or _DAY.fullmatch(value) is not None)


class Described:
    """The document, and the check of a response against it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._own_fields = set(_OWN_FIELD.findall(json.dumps(document)))
        self._registry = Registry().with_resource(_ROOT, DRAFT202012.create_resource(document))
        self._validators: dict[str, Draft202012Validator] = {}

    def operation(self, route: Route) -> dict[str, Any]:
        """What the document says of a route."""
        found: dict[str, Any] = self.document["paths"][route.path][route.method.lower()]
        return found

    def check(self, route: Route, reply: Reply) -> Reply:
        """Return `reply`; fail unless its status, media type and body are declared for the route."""
        media = reply.headers["Content-Type"].partition(";")[0]
        at = f"/paths/{escaped(route.path)}/{route.method.lower()}/responses/{reply.status}"
        declared = self.operation(route)["responses"].get(str(reply.status))
        assert declared is not None, f"{reply.status} is not declared: {reply.body[:500]!r}"
        if "$ref" in declared:
            at = declared["$ref"].removeprefix("#")
            declared = self._at(at)
        assert media in declared["content"], f"{media} is not declared for {reply.status}"
        if media == "application/json":
            faults = self.faults(f"{at}/content/application~1json/schema", self._declared(reply.json))
            assert not faults, faults
        return reply

    def faults(self, pointer: str, value: Any) -> list[str]:
        """The faults of `value` by the schema at `pointer`."""
        validator = self._validators.get(pointer)
        if validator is None:
            schema = {"$ref": f"{_ROOT}#{pointer}"}
            validator = Draft202012Validator(schema, registry=self._registry, format_checker=FORMATS)
            self._validators[pointer] = validator
        return [f"{fault.json_path}: {fault.message}"[:500] for fault in validator.iter_errors(value)]

    def _declared(self, value: Any) -> Any:
        """A value without the custom fields that other tests have added since the document was made."""
        if isinstance(value, list):
            return [self._declared(one) for one in value]
        if isinstance(value, dict):
            known = {name: one for name, one in value.items() if not name.startswith("x_") or name in self._own_fields}
            return {name: self._declared(one) for name, one in known.items()}
        return value

    def _at(self, pointer: str) -> Any:
        found: Any = self.document
        for part in pointer.split("/")[1:]:
            found = found[part.replace("~1", "/").replace("~0", "~")]
        return found


def escaped(path: str) -> str:
    """A name as it stands in a JSON pointer."""
    return path.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
