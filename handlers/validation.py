"""Checks that name every field at fault, and the conversion of what passed.

One compiled validator (jsonschema-rs) both accepts and explains, so the two cannot disagree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import jsonschema_rs
import orjson

from handlers.calendar import start_of
from handlers.conversion import EXACT_DIGITS, PLAIN, Undecodable, decode, parse_time, significant_digits
from handlers.errors import BAD_REQUEST, ApiError, FieldError, ValidationFailed
from handlers.json_schema import json_schema
from handlers.schema import Field

MAX_ERRORS = 50
# what a number that a float may not tell from another looks like, once digits and points are all that is looked at
_DIGITS = bytes(0x30 if chr(byte) in "0123456789." else 0x20 for byte in range(256))
_LONG_NUMBER = b"0" * (EXACT_DIGITS + 2)


class Checker:
    """The compiled check of one shape."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._validator = jsonschema_rs.validator_for(json_schema(field, "input"), validate_formats=True)

    def __call__(self, value: Any) -> Any:
        """Answer `value` converted for MongoDB, or raise `ValidationFailed` with every fault."""
        faults = [] if self._validator.is_valid(value) else list(self._schema_faults(value))
        at_fault = {fault.field for fault in faults}
        decoded = _decode(self.field, value, None, at_fault, faults)
        if faults:
            raise ValidationFailed(faults[:MAX_ERRORS])
        return decoded

    def _schema_faults(self, value: Any) -> Iterator[FieldError]:
        for error in self._validator.iter_errors(value):
            kind: Any = error.kind
            rule = kind.name
            path = field_path(error.instance_path)
            if rule == "required":
                yield FieldError(_join(path, kind.property), "required")
            elif rule == "additionalProperties":
                yield from (FieldError(_join(path, name), "unknown") for name in kind.unexpected)
            elif rule == "anyOf":
                yield FieldError(path, "type")
            else:
                yield FieldError(path, rule)


def field_path(parts: Sequence[str | int]) -> str:
    """`["items", 2, "quantity"]` as `items[2].quantity`."""
    path = ""
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _join(path, part)
    return path


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_Place = tuple[Any, str | int] | None  # the place above and the name or number in it; a path is joined when it is told


def _decode(field: Field, value: Any, place: _Place, at_fault: set[str], faults: list[FieldError]) -> Any:
    if at_fault and _path(place) in at_fault:
        return None
    if isinstance(value, str) and field.kind in PLAIN and "\x00" not in value:
        return value
    if field.kind == "object" and isinstance(value, dict):
        known = field.fields or {}
        return {
            name: _decode(known[name], item, (place, name), at_fault, faults)
            for name, item in value.items()
            if name in known
        }
    if field.kind == "array" and field.items is not None and isinstance(value, list):
        return [_decode(field.items, item, (place, i), at_fault, faults) for i, item in enumerate(value)]
    rule = _unstorable(value)
    if rule:
        faults.append(FieldError(_path(place), rule))
        return None
    try:
        return decode(field, value)
    except Undecodable as error:
        faults.append(FieldError(_path(place), error.rule))
    except (TypeError, ValueError, KeyError):
        if not faults:
            raise
    return None


def _path(place: _Place) -> str:
    parts: list[str | int] = []
    while place is not None:
        place, part = place
        parts.append(part)
    return field_path(parts[::-1])


def _unstorable(value: Any) -> str | None:
    """The rule that a value breaks which MongoDB cannot hold, or would read as something else."""
    if isinstance(value, str):
        return "nul" if "\x00" in value else None
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**63 else "maximum"
    if isinstance(value, dict):
        if any(name.startswith("$") for name in value):
            return "pattern"
        return next(filter(None, map(_unstorable, (*value, *value.values()))), None)
    if isinstance(value, list):
        return next(filter(None, map(_unstorable, value)), None)
    return None


def future_faults(field: Field, given: Any, tomorrow: date, zone: ZoneInfo) -> Iterator[FieldError]:
    """The fields of a body as it was sent that put what happened later than `tomorrow`; broken values are none of them."""
    for place, child, value in _leaves(field, given, lambda one: one.dated, None):
        if isinstance(value, str) and _is_later(child, value, tomorrow, zone):
            yield FieldError(_path(place), "future")


def digit_faults(field: Field, raw: bytes) -> Iterator[FieldError]:
    """The amounts of a JSON body that are numbers of more digits than a float tells apart: read, they may be others."""
    if not field.amounts or _LONG_NUMBER not in raw.translate(_DIGITS):
        return
    numbers = json.loads(raw, parse_float=_Written, parse_int=_Written)
    for place, _, value in _leaves(field, numbers, lambda one: one.priced, None):
        if isinstance(value, _Written) and "." in value and significant_digits(value) > EXACT_DIGITS:
            yield FieldError(_path(place), "digits")


class _Written(str):
    """A number as it is written."""

    __slots__ = ()


def _leaves(
    field: Field, given: Any, leading: Callable[[Field], Sequence[tuple[str, Field]]], place: _Place
) -> Iterator[tuple[_Place, Field, Any]]:
    """The values of a body to which `leading` fields lead, with their place and field."""
    if isinstance(given, dict) and field.kind == "object":
        for name, child in leading(field):
            yield from _leaves(child, given.get(name), leading, (place, name))
    elif isinstance(given, list) and field.items is not None:
        for number, item in enumerate(given):
            yield from _leaves(field.items, item, leading, (place, number))
    else:
        yield place, field, given


def _is_later(field: Field, given: str, tomorrow: date, zone: ZoneInfo) -> bool:
    if field.kind == "day":
        return given > tomorrow.isoformat()
    try:
        return parse_time(given) >= start_of(tomorrow + timedelta(days=1), zone)
    except ValueError:
        return False


def parse_json(raw: bytes, max_depth: int) -> Any:
    """The value of a JSON body. Raises 40000 for broken JSON, wrong encoding, or nesting beyond `max_depth`."""
    if raw.count(b"{") + raw.count(b"[") > max_depth:
        _check_depth(raw, max_depth)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ApiError(BAD_REQUEST) from error


def _check_depth(raw: bytes, max_depth: int) -> None:
    # quotes decide what is structure, so that brackets inside strings do not count
    depth, in_text, escaped = 0, False, False
    for byte in raw:
        if in_text:
            in_text = escaped or byte != 0x22
            escaped = byte == 0x5C and not escaped
        elif byte == 0x22:
            in_text = True
        elif byte in b"{[":
            depth += 1
            if depth > max_depth:
                raise ApiError(BAD_REQUEST)
        elif byte in b"}]":
            depth -= 1


class QueryChecker:
    """The compiled check of a route's query string."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = fields
        self._checker = Checker(Field(kind="object", rules={}, fields=fields, nullable=False))
        self._defaults = {
            name: decode(field, field.default) for name, field in fields.items() if field.default is not None
        }
        self._required = any(field.required for field in fields.values())

    def __call__(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Answer typed values with defaults filled in; raise `ValidationFailed` for unknown, repeated or bad ones."""
        if not given and not self._required:
            return dict(self._defaults)
        faults = [
            FieldError(name, "duplicate")
            for name, values in given.items()
            if len(values) > 1 and name in self.fields and self.fields[name].kind != "array"
        ]
        raw = {
            name: _coerce(self.fields[name], values) if name in self.fields else None for name, values in given.items()
        }
        try:
            checked = self._checker(raw)
        except ValidationFailed as failed:
            faults += [fault if fault.field in given else _of_parameter(fault) for fault in failed.errors]
        if faults:
            raise ValidationFailed(faults)
        return {**self._defaults, **checked}


def _of_parameter(fault: FieldError) -> FieldError:
    # one of several values: the client sent a parameter, and commas made a list of it here
    return FieldError(fault.field.partition("[")[0], fault.rule)


def _coerce(field: Field, values: Sequence[str]) -> Any:
    if field.kind == "array" and field.items is not None:
        return [_coerce_one(field.items, part) for value in values for part in value.split(",") if part]
    return _coerce_one(field, values[-1])


def _coerce_one(field: Field, value: str) -> Any:
    if (
        field.kind == "integer"
        and len(value) <= 16
        and value.removeprefix("-").isascii()
        and value.removeprefix("-").isdigit()
    ):
        return int(value)
    if field.kind == "boolean" and value in ("true", "false"):
        return value == "true"
    if field.kind == "number":
        try:
            return float(value)
        except ValueError:
            return value
    return value
