"""Validation that names every field at fault, and the conversion of valid values for MongoDB.

One compiled validator (jsonschema-rs) both accepts values and explains faults, so the two cannot disagree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import jsonschema_rs
import orjson

from handlers.schema.calendar import start_of
from handlers.schema.conversion import EXACT_DIGITS, PLAIN, Undecodable, decode, parse_time, significant_digits
from handlers.schema.errors import BAD_REQUEST, TOO_LARGE, ApiError, FieldError, ValidationFailed
from handlers.schema.fields import Field, fields_in
from handlers.schema.json_schema import PLACES_OF, json_schema
from handlers.schema.messages import MOST_PLACES

MAX_ERRORS = 20
# values explained at once: the validator would explain every fault of a large value before we see the first
_EXCERPT_VALUES = 2000
_HERE = object()
# finds numbers with more digits than a float distinguishes: digits and points become 0, all else a blank
_DIGITS = bytes(0x30 if chr(byte) in "0123456789." else 0x20 for byte in range(256))
_LONG_NUMBER = b"0" * (EXACT_DIGITS + 2)


class Checker:
    """The compiled check of one shape."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._validator = jsonschema_rs.validator_for(json_schema(field, "input"), validate_formats=True)

    def __call__(self, value: Any, raw: bytes | None = None) -> Any:
        """Return `value` converted for MongoDB. Raises `ValidationFailed` with its first 20 faults.

        `raw` is the JSON text of the value, if there is one: it tells at once whether any text contains a NUL.
        """
        if self._validator.is_valid(value):
            faults: list[FieldError] = []
            sound = raw is not None and _ESCAPED_NUL not in raw
            decoded = _decode(self.field, value, None, _SOUND if sound else None, faults)
        else:
            faults, places = self._schema_faults(value)
            if len(faults) < MAX_ERRORS:
                _decode(self.field, value, None, places, faults)
        if faults:
            raise ValidationFailed(faults[:MAX_ERRORS])
        return decoded

    def _schema_faults(self, value: Any) -> tuple[list[FieldError], _Places]:
        """Return the faults that the schema finds, and their places, where values need no further check."""
        faults: list[FieldError] = []
        places: _Places = {}
        excerpt = _excerpt(self.field, value, None, [_EXCERPT_VALUES], faults)
        errors: Iterable[jsonschema_rs.ValidationError] = self._validator.iter_errors(excerpt)
        if not faults and self._validator.is_valid(excerpt):
            errors = self._first_error(value)  # the fault lies beyond the excerpt
        for error in errors:
            faults += _explain(error, places)
        return faults, places

    def _first_error(self, value: Any) -> Iterator[jsonschema_rs.ValidationError]:
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield error


# a tree of the paths with a fault: a name or number → the places below it
_Places = dict[Any, Any]
_SOUND: _Places = {}  # of a valid value in which no text contains a NUL character
_ESCAPED_NUL = b"\\u0000"  # JSON texts contain no other (RFC 8259 section 7)


def _explain(error: jsonschema_rs.ValidationError, places: _Places) -> Iterator[FieldError]:
    kind: Any = error.kind
    path = field_path(error.instance_path)
    if kind.name == "required":
        yield FieldError(_join(path, kind.property), "required")
    elif kind.name == "additionalProperties":
        yield from (FieldError(_join(path, name), "unknown") for name in kind.unexpected)
    else:
        for part in error.instance_path:
            places = places.setdefault(part, {})
        places[_HERE] = True
        most = PLACES_OF.get(kind.pattern) if kind.name == "pattern" else None
        message = MOST_PLACES.filled(places=most) if most is not None else None
        yield FieldError(path, "type" if kind.name == "anyOf" else kind.name, message)


def field_path(parts: Sequence[str | int]) -> str:
    """Join the parts of a path: `["items", 2, "quantity"]` is `items[2].quantity`."""
    path = ""
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _join(path, part)
    return path


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_Place = tuple[Any, str | int] | None  # the place above and the name or number in it; a path is joined only for a fault


def _excerpt(field: Field, value: Any, place: _Place, left: list[int], faults: list[FieldError]) -> Any:
    """Copy the start of `value`: as many values as are `left`, with all known fields of every object among them.

    Also adds to `faults` the one that the excerpt hides: an array that is too long.
    """
    left[0] -= 1
    if isinstance(value, dict) and field.kind == "object":
        known = field.fields or {}
        kept = {
            name: _excerpt(known[name], item, (place, name), left, faults)
            for name, item in value.items()
            if name in known
        }
        return {
            **kept,
            **{name: value[name] for name in islice((name for name in value if name not in known), MAX_ERRORS)},
        }
    if isinstance(value, dict) and field.kind == "mapping":
        return dict(islice(value.items(), max(left[0], 1)))
    if isinstance(value, list) and field.kind == "array" and field.items is not None:
        least, most = field.rules.get("minItems", 0), field.rules.get("maxItems", len(value))
        items: list[Any] = []
        for number, item in enumerate(value):
            if left[0] <= 0 and number >= least:
                break
            items.append(_excerpt(field.items, item, (place, number), left, faults))
        if len(items) <= most < len(value):
            faults.append(FieldError(_path(place), "maxItems"))
        return items
    return value


def _decode(field: Field, value: Any, place: _Place, wrong: _Places | None, faults: list[FieldError]) -> Any:
    """Convert a value for MongoDB. `wrong` holds places with a known fault; `faults` gets further ones, up to 20."""
    if wrong is not None and _HERE in wrong:
        return None
    if isinstance(value, str) and field.kind in PLAIN and "\x00" not in value:
        return value
    if field.kind == "object" and isinstance(value, dict):
        known = field.fields or {}
        # defaults of the outermost fields are filled in by the store, which knows whether the record is new
        decoded = {} if place is None else {name: decode(known[name], known[name].default) for name in field.defaulted}
        if _is_sound(wrong, value.values()) and value.keys() <= known.keys():
            decoded.update(value)  # most values are texts, which are stored as they are
            for name, child in _converted_fields(field):
                if name in value:
                    decoded[name] = _decode(child, value[name], (place, name), wrong, faults)
            return decoded
        for name, item in value.items():
            if name in known:
                inside = None if wrong is None else wrong.get(name)
                decoded[name] = _decode(known[name], item, (place, name), inside, faults)
        return decoded
    if field.kind == "array" and field.items is not None and isinstance(value, list):
        if field.items.kind == "text" and _is_sound(wrong, value):
            return [*value]
        return [
            _decode(field.items, item, (place, i), None if wrong is None else wrong.get(i), faults)
            for i, item in enumerate(value)
        ]
    rule = _unstorable(value)
    if rule is None:
        try:
            return decode(field, value)
        except Undecodable as error:
            rule = error.rule
        except (TypeError, ValueError, KeyError):
            if not faults:
                raise
            return None
    faults.append(FieldError(_path(place), rule))
    if len(faults) >= MAX_ERRORS:
        raise ValidationFailed(faults)
    return None


@cache
def _converted_fields(field: Field) -> Sequence[tuple[str, Field]]:
    """Return the fields of an object whose values are more than texts."""
    return [(name, child) for name, child in (field.fields or {}).items() if child.kind != "text"]


def _is_sound(wrong: _Places | None, values: Iterable[object]) -> bool:
    """Return whether an object or array is valid, and no text among its values contains a NUL character."""
    if wrong is None:
        return "\x00" not in "".join([value for value in values if isinstance(value, str)])
    return wrong is _SOUND


def _path(place: _Place) -> str:
    return field_path(_parts(place))


def _parts(place: _Place) -> list[str | int]:
    parts: list[str | int] = []
    while place is not None:
        place, part = place
        parts.append(part)
    return parts[::-1]


def _unstorable(value: Any) -> str | None:
    """Return the rule that a value breaks if MongoDB cannot store it, or would read it as something else; else None."""
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
    """Yield a fault for each past event in a body, as sent, that is later than `tomorrow`; skip invalid values."""
    for place, child, value in _leaves(field, given, lambda one: one.dated, None):
        if isinstance(value, str) and _is_later(child, value, tomorrow, zone):
            yield FieldError(_path(place), "future")


def bound_values(field: Field, given: Any) -> Iterator[tuple[list[str | int], Field, Any]]:
    """Yield the values of a body whose fields are bound to dictionaries, each with the parts of its path."""
    for place, child, value in _leaves(field, given, bound_fields, None) if bound_fields(field) else ():
        yield _parts(place), child, value


@cache
def bound_fields(field: Field) -> Sequence[tuple[str, Field]]:
    """Return the fields of an object that are, or contain, values of dictionaries."""
    return [
        (name, child)
        for name, child in (field.fields or {}).items()
        if any(part.dictionary for _, part in fields_in(child))
    ]


def may_have_digit_faults(field: Field, raw: bytes) -> bool:
    """Return whether `digit_faults` may find any: whether amounts are expected, and the body has a long number."""
    return field.amounts and _LONG_NUMBER in raw.translate(_DIGITS)


def digit_faults(field: Field, raw: bytes) -> Iterator[FieldError]:
    """Yield a fault for each amount in a JSON body that is a number with more digits than a float distinguishes."""
    numbers = json.loads(raw, parse_float=_Literal, parse_int=_Literal)
    for place, _, value in _leaves(field, numbers, lambda one: one.priced, None):
        if isinstance(value, _Literal) and "." in value and significant_digits(value) > EXACT_DIGITS:
            yield FieldError(_path(place), "digits")


class _Literal(str):
    """A number as it is written in JSON."""

    __slots__ = ()


def _leaves(
    field: Field, given: Any, leading: Callable[[Field], Sequence[tuple[str, Field]]], place: _Place
) -> Iterator[tuple[_Place, Field, Any]]:
    """Yield the values of a body below the fields that `leading` selects, each with its place and field."""
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


# strings, including an unterminated one
_STRING = rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_STRINGS = re.compile(_STRING, re.DOTALL)
_TOKENS = re.compile(_STRING + rb"|[,{\[]", re.DOTALL)
_AS_BRACES = bytes.maketrans(b"[]", b"{}")
_NO_BRACES = bytes(byte for byte in range(256) if byte not in b"{}")


def parse_json(raw: bytes, max_depth: int, max_values: int) -> Any:
    """Parse a JSON body.

    Raises 40000 for broken JSON, wrong encoding, or nesting beyond `max_depth`, 41300 for more than about `max_values`
    values and names.
    """
    brackets = raw.count(b"{") + raw.count(b"[")
    # a value takes at least two bytes
    if len(raw) > 2 * max_values and brackets + raw.count(b",") + raw.count(b'"') > max_values:
        _check_count(raw, max_values)
    if brackets > max_depth:
        _check_depth(raw, max_depth)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ApiError(BAD_REQUEST) from error


def _check_count(raw: bytes, max_values: int) -> None:
    # every value and every name is a string, or follows one of these characters
    most = 2 * max_values
    if sum(1 for _ in islice(_TOKENS.finditer(raw), most + 1)) > most:
        raise ApiError(TOO_LARGE)


def _check_depth(raw: bytes, max_depth: int) -> None:
    # strings are removed first, because brackets in them do not nest; each round removes the innermost level
    braces = _STRINGS.sub(b"", raw).translate(_AS_BRACES).translate(None, _NO_BRACES)
    for _ in range(max_depth):
        braces = braces.replace(b"{}", b"")
    if braces:
        raise ApiError(BAD_REQUEST)


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
        """Return typed values, with defaults. Raises `ValidationFailed` for unknown, repeated or invalid ones."""
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


# Python also accepts `1_0`, `٣` or `nan` as numbers; here these are texts
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?\Z")
_NUMBER_LETTERS = 40


def _of_parameter(fault: FieldError) -> FieldError:
    # the client sent one parameter, which commas split into the values of a list
    return replace(fault, field=fault.field.partition("[")[0])


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
    if field.kind == "number" and len(value) <= _NUMBER_LETTERS and _NUMBER.match(value):
        return float(value)
    return value
