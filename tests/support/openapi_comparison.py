"""Two OpenAPI documents side by side: what a client that was written for the first would miss in the second.

Operations, parameters, fields, enum values and error codes may be added. Patterns, bounds and words may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

Part = Mapping[str, Any]
Direction = Literal["request", "response"]


def breaks(before: Part, after: Part) -> list[str]:
    """A sentence for each difference that breaks a client of `before`, in the order of that document."""
    return list(_Comparison(before, after).documents())


class _Comparison:
    def __init__(self, before: Part, after: Part) -> None:
        self._before, self._after = before, after
        # a component is compared where it is met first, and trees refer to themselves
        self._compared: set[tuple[str, str, Direction]] = set()

    def documents(self) -> Iterator[str]:
        for path, methods in self._before["paths"].items():
            for method, old in methods.items():
                name, new = f"{method.upper()} {path}", self._after["paths"].get(path, {}).get(method)
                if new is None:
                    yield f"{name} is gone"
                else:
                    yield from self._operation(name, old, new)

    def _operation(self, name: str, old: Part, new: Part) -> Iterator[str]:
        for word in ("operationId", "x-permission"):
            if word in old and old[word] != new.get(word):
                yield f"{name}: {word} {old[word]} became {new.get(word)}"
        if not old["security"] and new["security"]:
            yield f"{name} was public and needs a token now"
        yield from self._parameters(name, old["parameters"], new["parameters"])
        yield from self._body(name, old.get("requestBody"), new.get("requestBody"))
        yield from self._responses(name, old["responses"], new["responses"])

    def _parameters(self, name: str, old: list[Part], new: list[Part]) -> Iterator[str]:
        known = {(parameter["in"], parameter["name"]): parameter for parameter in old}
        offered = {(parameter["in"], parameter["name"]): parameter for parameter in new}
        for key, parameter in known.items():
            at = f"{name} {key[0]} parameter {key[1]}"
            if key in offered:
                yield from self._schema(at, parameter["schema"], offered[key]["schema"], "request")
            else:
                yield f"{at} is gone"
        for key, parameter in offered.items():
            if parameter["required"] and not known.get(key, {}).get("required"):
                yield f"{name} {key[0]} parameter {key[1]} must be given now"

    def _body(self, name: str, old: Part | None, new: Part | None) -> Iterator[str]:
        if new is not None and new.get("required") and not (old or {}).get("required"):
            yield f"{name} needs a body now"
        if old is not None and new is None:
            yield f"{name} takes no body any more"
        if old is not None and new is not None:
            yield from self._content(f"{name} body", old["content"], new["content"], "request")

    def _responses(self, name: str, old: Part, new: Part) -> Iterator[str]:
        for status in old:
            at = f"{name} {status}"
            if status not in new:
                yield f"{at} is gone"
                continue
            (_, known), (_, offered) = _resolved(old[status], self._before), _resolved(new[status], self._after)
            lost = known.get("headers", {}).keys() - offered.get("headers", {}).keys()
            yield from (f"{at} header {header} is gone" for header in sorted(lost))
            yield from self._content(at, known.get("content", {}), offered.get("content", {}), "response")

    def _content(self, at: str, old: Part, new: Part, direction: Direction) -> Iterator[str]:
        for media in old:
            if media in new:
                yield from self._schema(at, old[media]["schema"], new[media]["schema"], direction)
            else:
                yield f"{at} is no {media} any more"

    def _schema(self, at: str, old: Part, new: Part, direction: Direction) -> Iterator[str]:
        known, offered = _alternatives(old, self._before), _alternatives(new, self._after)
        was_null, is_null = known.pop("null", None), offered.pop("null", None)
        if direction == "response" and is_null and not was_null and known:
            yield f"{at} may be null now"
        if direction == "request" and was_null and not is_null and offered:
            yield f"{at} may not be null any more"
        for key, (name, shape) in known.items():
            if key not in offered:
                yield f"{at} error code {key} is gone" if key else f"{at} is another kind of value"
                continue
            counterpart, other = offered[key]
            pair = (name, counterpart, direction)
            if not name or pair not in self._compared:
                self._compared.add(pair)
                yield from self._shape(f"{at} {key}".rstrip(), shape, other, direction)

    def _shape(self, at: str, old: Part, new: Part, direction: Direction) -> Iterator[str]:
        narrow, wide = (old, new) if direction == "request" else (new, old)
        if not _types(narrow) <= _types(wide):
            yield f"{at} was {_named(old)} and is {_named(new)}"
            return
        if wide.get("format", narrow.get("format")) != narrow.get("format"):
            yield f"{at} has the format {new.get('format')}, which was {old.get('format')}"
        yield from self._values(at, old, new, direction)
        yield from self._fields(at, old, new, direction)
        for keyword, place in (("items", "[]"), ("additionalProperties", ".*")):
            known, offered = old.get(keyword), new.get(keyword)
            if isinstance(known, dict) and isinstance(offered, dict):
                yield from self._schema(f"{at}{place}", known, offered, direction)
            elif isinstance(known, dict):
                yield f"{at}{place} is gone"

    def _values(self, at: str, old: Part, new: Part, direction: Direction) -> Iterator[str]:
        known, offered = _enum(old), _enum(new)
        if known and offered:
            yield from (f"{at} value {value!r} is gone" for value in known if value not in offered)
        elif offered and direction == "request":
            yield f"{at} takes only {', '.join(map(str, offered))} now"
        elif known and direction == "response":
            yield f"{at} may be other than {', '.join(map(str, known))} now"

    def _fields(self, at: str, old: Part, new: Part, direction: Direction) -> Iterator[str]:
        known, offered = old.get("properties", {}), new.get("properties", {})
        must_before, must_after = set(old.get("required", ())), set(new.get("required", ()))
        for name in known:
            if name in offered:
                yield from self._schema(f"{at}.{name}", known[name], offered[name], direction)
            else:
                yield f"{at}.{name} is gone"
        if direction == "request":
            yield from (f"{at}.{name} must be given now" for name in sorted(must_after - must_before))
        else:
            left = (must_before - must_after) & offered.keys()
            yield from (f"{at}.{name} may be absent now" for name in sorted(left))


def _resolved(part: Part, document: Part) -> tuple[str, Part]:
    """The name of the component that `part` refers to, or nothing, and the part itself."""
    reference = part.get("$ref", "")
    found: Any = document if reference else part
    for step in reference.removeprefix("#/").split("/") if reference else ():
        found = found[step]
    return reference, found


def _alternatives(schema: Part, document: Part) -> dict[str, tuple[str, Part]]:
    """What a schema may be, by the code of the error; "" where it is no error, "null" for null."""
    choices = schema.get("anyOf") or schema.get("oneOf") or [schema]
    found = {}
    for choice in choices:
        name, shape = _resolved(choice, document)
        types = _listed(shape.get("type", ()))
        if "null" in types:
            found["null"] = ("", shape)
        if types != ["null"]:
            code = shape.get("properties", {}).get("code", {}).get("const") or ""
            found[str(code)] = (name, shape)
    return found


_ANY = frozenset(("string", "integer", "number", "boolean", "object", "array"))


def _types(schema: Part) -> set[str]:
    """The types but null, with all of them where there is no restriction; every integer is a number."""
    types = set(_listed(schema["type"])) - {"null"} if "type" in schema else set(_ANY)
    return types | {"integer"} if "number" in types else types


def _named(schema: Part) -> str:
    return " or ".join(name for name in _listed(schema.get("type", "anything")) if name != "null")


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _enum(schema: Part) -> list[Any]:
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return [value for value in values if value is not None]
