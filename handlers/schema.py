"""The vocabulary of shapes: what a field is on the wire, in a declaration of one line.

A `Field` is a value. From it come the JSON Schema of requests and of answers (OpenAPI 3.1 uses the same dialect),
the check, and the conversion between the wire and MongoDB. CONTRACT section 1 fixes the formats.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from bson import Decimal128, ObjectId
from bson.tz_util import utc as stored_utc

if TYPE_CHECKING:
    from handlers.service import Service

JsonSchema = dict[str, Any]
Mode = Literal["input", "reply"]
Kind = Literal[
    "text",
    "integer",
    "number",
    "boolean",
    "money",
    "quantity",
    "timestamp",
    "day",
    "object_id",
    "object",
    "mapping",
    "array",
    "any",
]

MAX_INTEGER = 2**53 - 1  # what JavaScript clients can hold exactly
MAX_TEXT = 500
MAX_ITEMS = 100
AMOUNT_DIGITS = 15


class Undecodable(ValueError):
    """A value that has the right JSON type and is still wrong; `rule` is a key of `messages.RULES`."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """One value: its kind, its JSON Schema keywords (`rules`) and what may be done with it.

    `required`: must be given at creation. `read_only`: only the service writes it. `write_only`: never answered.
    `nullable`: null is accepted, and clears. `filter`, `sort`, `search`: what lists offer.
    `ref`: the collection whose `id` it holds; a reference to nothing is refused.
    `check`: of a body's own fields, what settings say of a value: the rule that it breaks, or None.
    """

    kind: Kind
    rules: Mapping[str, Any]
    fields: Mapping[str, Field] | None = None
    items: Field | None = None
    title: str | None = None
    description: str | None = None
    example: Any = None
    required: bool = False
    nullable: bool = True
    read_only: bool = False
    write_only: bool = False
    default: Any = None
    filter: bool = False
    sort: bool = False
    search: bool = False
    ref: str | None = None
    check: Callable[[Service, Any], str | None] | None = None
    secret: bool = False

    @cached_property
    def holds_fields(self) -> bool:
        """Whether there are fields somewhere in it."""
        return self.kind == "object" or (self.items is not None and self.items.holds_fields)

    @cached_property
    def answered(self) -> tuple[str, ...]:
        """The names of the fields that an answer shows."""
        return tuple(name for name, child in (self.fields or {}).items() if not child.write_only)

    @cached_property
    def narrowed(self) -> tuple[tuple[str, Field], ...]:
        """Those of them that have fields of their own."""
        return tuple((name, child) for name in self.answered if (child := (self.fields or {})[name]).holds_fields)

    def but(self, **changes: Any) -> Field:
        """A copy with `changes`."""
        return replace(self, **changes)


Options = Any


def _field(kind: Kind, rules: Mapping[str, Any], options: Mapping[str, Any]) -> Field:
    required = bool(options.get("required", False))
    given = {"nullable": not required and options.get("default") is None, **options}
    return Field(kind=kind, rules={key: value for key, value in rules.items() if value is not None}, **given)


def text(
    *, min_length: int | None = None, max_length: int = MAX_TEXT, pattern: str | None = None, format: str | None = None,
    **options: Options,
) -> Field:  # fmt: skip
    """A string. A required one holds at least one character that is not blank. `binary` is a file of a form."""
    if options.get("required") and pattern is None and format is None:
        pattern, min_length = r"\S", min_length or 1
    most = None if format == "binary" else max_length  # the route that reads the form has its own limit, in bytes
    rules = {"minLength": min_length, "maxLength": most, "pattern": pattern, "format": format}
    return _field("text", rules, options)


_REST = r"[^\x00-\x20\x7f\"'<>\\]*"
# a path of the service's own: `//` would begin the name of another host (RFC 3986 section 4.2)
_OWN_PATH = rf"/(?![/\\]){_REST}"
_WEB_ADDRESS = rf"[Hh][Tt][Tt][Pp][Ss]?://[^/?#\x00-\x20\x7f\"'<>\\]{_REST}"
# the key of a file: what begins with a name, and has no colon that would make a scheme of it
_KEY = rf"[^:/?#\x00-\x20\x7f\"'<>\\]+(/{_REST})?"
_WITHOUT_SCHEME = rf"[^:/?#@\x00-\x20\x7f\"'<>\\]+\.[^:/?#@\x00-\x20\x7f\"'<>\\]+(:[0-9]+)?([/?#]{_REST})?"


def link(
    *,
    web: bool = True,
    own: bool = True,
    bare: bool = False,
    key: bool = False,
    max_length: int = MAX_TEXT,
    **options: Options,
) -> Field:
    """What clients show as an image or follow: nothing that runs, such as `javascript:`. Empty is none.

    `web`: an http or https address. `own`: a path of the service or of its front end. `bare`: `www.example.com` too.
    `key`: the identifier or key of a file too.
    """
    allowed = ((_WEB_ADDRESS, web), (_OWN_PATH, own), (_WITHOUT_SCHEME, bare), (_KEY, key))
    forms = [form for form, taken in allowed if taken]
    given = {"example": "https://example.com/image.png" if web else "/dashboard", **options}
    return text(pattern=f"^({'|'.join(forms)})?$", max_length=max_length, **given)


def choice(*values: str, **options: Options) -> Field:
    """One of a fixed set of strings."""
    return _field("text", {"enum": list(values)}, options)


def integer(*, minimum: int = -MAX_INTEGER, maximum: int = MAX_INTEGER, **options: Options) -> Field:
    """A whole number."""
    return _field("integer", {"minimum": minimum, "maximum": maximum}, options)


def number(*, minimum: float | None = None, maximum: float | None = None, **options: Options) -> Field:
    """A floating-point number: positions and ratios, never money."""
    return _field("number", {"minimum": minimum, "maximum": maximum}, options)


def boolean(**options: Options) -> Field:
    """True or false."""
    return _field("boolean", {}, options)


def money(*, minimum: str | None = None, maximum: str | None = None, **options: Options) -> Field:
    """An amount with two decimals: a string on the wire, Decimal128 in MongoDB."""
    return _field("money", {"minimum": minimum, "maximum": maximum}, options)


def quantity(*, minimum: str | None = None, maximum: str | None = None, **options: Options) -> Field:
    """An amount of goods with up to four decimals: a string on the wire, Decimal128 in MongoDB."""
    return _field("quantity", {"minimum": minimum, "maximum": maximum}, options)


def timestamp(**options: Options) -> Field:
    """A moment: RFC 3339 on the wire, UTC with milliseconds."""
    return _field("timestamp", {}, options)


def day(**options: Options) -> Field:
    """A calendar day in the business time zone, `2026-11-20`."""
    return _field("day", {}, options)


def object_id(**options: Options) -> Field:
    """The identifier of a business record: 24 hexadecimal digits."""
    return _field("object_id", {}, options)


def array(
    items: Field, *, max_items: int = MAX_ITEMS, min_items: int | None = None, unique: bool = False, **options: Options
) -> Field:
    """A list of values of one shape."""
    rules = {"maxItems": max_items, "minItems": min_items, "uniqueItems": unique or None}
    return _field("array", rules, {"items": items.but(nullable=False), **options})


def obj(name: str | None = None, /, fields: Mapping[str, Field] | None = None, **options: Options) -> Field:
    """An object with exactly these fields. `name` makes it a component of the OpenAPI description."""
    return _field("object", {}, {"title": name, "fields": dict(fields or {}), **options})


def tree_of(name: str, fields: Mapping[str, Field]) -> Field:
    """An object whose `children` are objects of the same shape."""
    own = dict(fields)
    node = Field(kind="object", rules={}, title=name, fields=own, nullable=False)
    own["children"] = array(node, max_items=10_000, nullable=False)
    return node


def mapping(values: Field, **options: Options) -> Field:
    """An object whose keys are names and whose values have one shape. For answers: nothing checks the keys."""
    return _field("mapping", {}, {"items": values, **options})


def anything(**options: Options) -> Field:
    """Any JSON value: for what a plugin checks by itself."""
    return _field("any", {}, options)


NOTHING = anything(description="null")


def json_schema(
    field: Field, mode: Mode, component: Callable[[Field, Mode], JsonSchema | None] | None = None
) -> JsonSchema:
    """The JSON Schema of `field` as a request carries it (`input`) or an answer does (`reply`).

    `component` may answer a `$ref` for an object that has a name.
    """
    shared = component(field, mode) if component and field.kind == "object" and field.title else None
    schema = shared if shared is not None else _plain_schema(field, mode, component)
    if field.nullable:
        schema = _or_null(schema)
    if shared is None or field.nullable:
        schema = {**schema, **_notes(field, mode)}
    return schema


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
    """The object's own schema, never a `$ref` to itself."""
    fields = {
        name: child
        for name, child in (field.fields or {}).items()
        if not (child.read_only if mode == "input" else child.write_only)
    }
    required = [name for name, child in fields.items() if child.required or mode == "reply"]
    schema: JsonSchema = {
        "type": "object",
        "properties": {name: json_schema(child, mode, component) for name, child in fields.items()},
        "additionalProperties": False,
    }
    return {**schema, "required": required} if required else schema


def _amount_schema(field: Field, mode: Mode) -> JsonSchema:
    places = 2 if field.kind == "money" else 4
    if mode == "reply":
        decimals = r"\.[0-9]{2}" if field.kind == "money" else r"(\.[0-9]{1,4})?"
        return {"type": "string", "pattern": f"^-?[0-9]+{decimals}$"}
    return {"type": ["string", "number"], "pattern": rf"^-?[0-9]{{1,{AMOUNT_DIGITS}}}(\.[0-9]{{1,{places}}})?$"}


def _or_null(schema: JsonSchema) -> JsonSchema:
    if not schema:
        return schema
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"], **({"enum": [*schema["enum"], None]} if "enum" in schema else {})}


def _notes(field: Field, mode: Mode) -> JsonSchema:
    notes: JsonSchema = {}
    words = [field.description] if field.description else []
    if mode == "input" and field.default is not None:
        # in words: openapi-typescript makes a property that has the keyword `default` one that must be given
        words.append(f"Default: `{json.dumps(field.default, ensure_ascii=False, default=str)}`.")
    if words:
        notes["description"] = " ".join(words)
    if field.example is not None:
        notes["examples"] = [field.example]
    return notes


def decode(field: Field, value: Any) -> Any:
    """Turn one wire value that passed its schema into what MongoDB stores; raises `Undecodable`."""
    if value is None:
        return None
    decoder = _DECODERS.get(field.kind)
    return decoder(field, value) if decoder else value


def _decode_amount(field: Field, value: Any) -> Decimal128:
    places = 2 if field.kind == "money" else 4
    # a float so large does not tell one more decimal: what was sent may be another amount
    if isinstance(value, float) and math.ulp(value) > 10 ** -(places + 1):
        raise Undecodable("decimals")
    try:
        amount = Decimal(str(value))
    except InvalidOperation as error:
        raise Undecodable("decimals") from error
    if not amount.is_finite() or abs(amount) >= 10**AMOUNT_DIGITS or amount != round(amount, places):
        raise Undecodable("decimals")
    for rule, outside in (("minimum", amount.__lt__), ("maximum", amount.__gt__)):
        if rule in field.rules and outside(Decimal(field.rules[rule])):
            raise Undecodable(rule)
    return store_money(amount) if field.kind == "money" else store_quantity(amount)


def store_money(amount: Decimal) -> Decimal128:
    """An exact amount as it is stored: two decimals."""
    return Decimal128(amount.quantize(Decimal("0.01")) + 0)


def store_quantity(amount: Decimal) -> Decimal128:
    """An exact quantity as it is stored: no trailing zeros, no exponent."""
    trimmed = amount.quantize(Decimal("0.0001")).normalize() + 0
    exponent = trimmed.as_tuple().exponent
    return Decimal128(trimmed.quantize(Decimal(1)) if isinstance(exponent, int) and exponent > 0 else trimmed)


def parse_time(value: str) -> datetime:
    """An RFC 3339 moment as an aware UTC time cut to milliseconds; raises ValueError."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset")
    moment = moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _decode_timestamp(field: Field, value: Any) -> datetime:
    try:
        return parse_time(value)
    except (ValueError, OverflowError) as error:
        raise Undecodable("format") from error


def _decode_day(field: Field, value: Any) -> str:
    try:
        date.fromisoformat(value)  # the schema lets the year 0 pass, which no calendar here has
    except ValueError as error:
        raise Undecodable("format") from error
    return str(value)


def _decode_integer(field: Field, value: Any) -> int:
    # JSON Schema takes 1.0 and 1e3 for integers
    return int(value)


def _decode_id(field: Field, value: Any) -> ObjectId:
    return ObjectId(value)


def _decode_array(field: Field, value: Sequence[Any]) -> list[Any]:
    return [decode(field.items, item) for item in value] if field.items is not None else list(value)


def _decode_object(field: Field, value: Mapping[str, Any]) -> dict[str, Any]:
    fields = field.fields or {}
    return {name: decode(fields[name], item) for name, item in value.items()}


_DECODERS: dict[Kind, Callable[[Field, Any], Any]] = {
    "integer": _decode_integer,
    "money": _decode_amount,
    "quantity": _decode_amount,
    "timestamp": _decode_timestamp,
    "day": _decode_day,
    "object_id": _decode_id,
    "array": _decode_array,
    "object": _decode_object,
}


def encode(value: Any) -> Any:
    """What orjson does not know: BSON types and times, as CONTRACT 1 writes them. Raises TypeError on others."""
    encoder = _ENCODERS.get(type(value))
    if encoder is None:
        raise TypeError(type(value).__name__)
    return encoder(value)


def encode_time(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds. What MongoDB gives without a zone is UTC."""
    zone = moment.tzinfo
    # the zones that are UTC by themselves need not be asked, which costs more than all the rest
    utc = moment if zone is None or zone is stored_utc or zone is UTC else moment.astimezone(UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


_ENCODERS: Mapping[type, Callable[[Any], str]] = {
    datetime: encode_time,
    ObjectId: str,
    Decimal128: lambda amount: format(amount.to_decimal(), "f"),
    Decimal: lambda amount: format(amount, "f"),
}
