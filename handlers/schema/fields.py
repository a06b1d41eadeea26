"""The vocabulary of shapes: what a field is on the wire, in a declaration of one line.

A `Field` is a value. From it come the JSON Schema of requests and of answers (`json_schema.py`), the check
(`validation.py`), and the conversion between the wire and MongoDB (`conversion.py`). CONTRACT section 1 fixes the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack

from config.settings import EnvironmentSettings

AnySettings = TypeVar("AnySettings", bound=EnvironmentSettings)

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
# inside a class of a pattern, what is blank to any engine: for Python U+FEFF is not, for ECMA-262 the separators are not
BLANK = r"\s\x1c-\x1f\x85\ufeff"
FIRST_DAY, LAST_DAY = "1970-01-01", "2199-12-31"  # of what comes in; days and moments alike

_AMOUNTS = ("money", "quantity")


class HasSettings(Protocol):
    """The service, as the check of a field sees it."""

    def settings_of(self, kind: type[AnySettings]) -> AnySettings:
        """A plugin's own settings."""


class FieldOptions(TypedDict, total=False):
    """What any field may be declared with; `Field` says what each means."""

    title: str | None
    description: str | None
    example: Any
    required: bool
    nullable: bool
    read_only: bool
    write_only: bool
    default: Any
    filter: bool
    sort: bool | Literal["folded"]
    search: bool
    ref: str | None
    ref_optional: bool
    past: bool
    check: Callable[[HasSettings, str], str | None] | None
    secret: bool
    documented: bool


class FieldChanges(FieldOptions, total=False):
    """What a copy of a field may differ in."""

    kind: Kind
    rules: Mapping[str, Any]
    fields: Mapping[str, Field] | None
    items: Field | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """One value: its kind, its JSON Schema keywords (`rules`) and what may be done with it.

    `required`: must be given at creation. `read_only`: only the service writes it. `write_only`: never answered.
    `nullable`: null is accepted, and clears. `filter`, `sort`, `search`: what lists offer. `sort="folded"` is the order
    in which people look for names: without case, width and accents, Chinese by pinyin; for texts that are searched too.
    `ref`: the collection whose `id` it holds; a reference to nothing is refused, unless the field is `read_only`.
    `ref_optional`: the plugin of that collection need not be loaded; without it the value is not looked up.
    `past`: a day or moment of what happened: a body that puts it later than tomorrow is refused.
    `documented`: part of the OpenAPI description; a second name of a field, which is still accepted, is not.
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
    sort: bool | Literal["folded"] = False
    search: bool = False
    ref: str | None = None
    ref_optional: bool = False
    past: bool = False
    check: Callable[[HasSettings, str], str | None] | None = None
    secret: bool = False
    documented: bool = True

    @cached_property
    def holds_fields(self) -> bool:
        """Whether there are fields somewhere in it."""
        return self.kind == "object" or (self.items is not None and self.items.holds_fields)

    @cached_property
    def defaulted(self) -> tuple[str, ...]:
        """The names of the fields that have a default."""
        return tuple(name for name, child in (self.fields or {}).items() if child.default is not None)

    @cached_property
    def answered(self) -> tuple[str, ...]:
        """The names of the fields that an answer shows."""
        return tuple(name for name, child in (self.fields or {}).items() if not child.write_only)

    @cached_property
    def checked(self) -> tuple[tuple[str, Field], ...]:
        """The fields of an object that have a `check` of their own."""
        return tuple((name, child) for name, child in (self.fields or {}).items() if child.check is not None)

    @cached_property
    def dates(self) -> bool:
        """Whether it tells when something happened, or something in it does."""
        return self.past or bool(self.dated) or (self.items is not None and self.items.dates)

    @cached_property
    def dated(self) -> tuple[tuple[str, Field], ...]:
        """The fields of an object in which something tells when something happened."""
        return tuple((name, child) for name, child in (self.fields or {}).items() if child.dates)

    @cached_property
    def amounts(self) -> bool:
        """Whether it is an amount, or something in it is."""
        return self.kind in _AMOUNTS or bool(self.priced) or (self.items is not None and self.items.amounts)

    @cached_property
    def priced(self) -> tuple[tuple[str, Field], ...]:
        """The fields of an object in which there are amounts."""
        return tuple((name, child) for name, child in (self.fields or {}).items() if child.amounts)

    @cached_property
    def narrowed(self) -> tuple[tuple[str, Field], ...]:
        """Those of them that have fields of their own."""
        return tuple((name, child) for name in self.answered if (child := (self.fields or {})[name]).holds_fields)

    def but(self, **changes: Unpack[FieldChanges]) -> Field:
        """A copy with `changes`."""
        return replace(self, **changes)


def _field(
    kind: Kind,
    rules: Mapping[str, Any],
    options: FieldOptions,
    *,
    fields: Mapping[str, Field] | None = None,
    items: Field | None = None,
) -> Field:
    nullable = not options.get("required", False) and options.get("default") is None
    given: FieldOptions = {"nullable": nullable, **options}
    known = {key: value for key, value in rules.items() if value is not None}
    return Field(kind=kind, rules=known, fields=fields, items=items, **given)


def text(
    *,
    min_length: int | None = None,
    max_length: int = MAX_TEXT,
    pattern: str | None = None,
    format: str | None = None,
    **options: Unpack[FieldOptions],
) -> Field:
    """A string. A required one holds at least one character that is not blank. `binary` is a file of a form."""
    if options.get("required") and pattern is None and format is None:
        pattern, min_length = rf"[^{BLANK}]", min_length or 1
    most = None if format == "binary" else max_length  # the route that reads the form has its own limit, in bytes
    rules = {"minLength": min_length, "maxLength": most, "pattern": pattern, "format": format}
    return _field("text", rules, options)


_REST = r"""[^\x00-\x20\x7f"'<>\\]*"""
# a path of the service's own: `//` would begin the name of another host (RFC 3986 section 4.2)
_OWN_PATH = rf"/(?![/\\]){_REST}"
_WEB_ADDRESS = rf"""[Hh][Tt][Tt][Pp][Ss]?://[^/?#\x00-\x20\x7f"'<>\\]{_REST}"""
# the key of a file: what begins with a name, and has no colon that would make a scheme of it
_KEY = rf"""[^:/?#\x00-\x20\x7f"'<>\\]+(/{_REST})?"""
_WITHOUT_SCHEME = rf"""[^:/?#@\x00-\x20\x7f"'<>\\]+\.[^:/?#@\x00-\x20\x7f"'<>\\]+(:[0-9]+)?([/?#]{_REST})?"""


def link(
    *,
    web: bool = True,
    own: bool = True,
    bare: bool = False,
    key: bool = False,
    max_length: int = MAX_TEXT,
    **options: Unpack[FieldOptions],
) -> Field:
    """What clients show as an image or follow: nothing that runs, such as `javascript:`. Empty is none.

    `web`: an http or https address. `own`: a path of the service or of its front end. `bare`: `www.example.com` too.
    `key`: the identifier or key of a file too.
    """
    allowed = ((_WEB_ADDRESS, web), (_OWN_PATH, own), (_WITHOUT_SCHEME, bare), (_KEY, key))
    forms = [form for form, taken in allowed if taken]
    given: FieldOptions = {"example": "https://example.com/image.png" if web else "/dashboard", **options}
    return text(pattern=f"^({'|'.join(forms)})?$", max_length=max_length, **given)


def choice(*values: str, **options: Unpack[FieldOptions]) -> Field:
    """One of a fixed set of strings."""
    return _field("text", {"enum": list(values)}, options)


def integer(*, minimum: int = -MAX_INTEGER, maximum: int = MAX_INTEGER, **options: Unpack[FieldOptions]) -> Field:
    """A whole number."""
    return _field("integer", {"minimum": minimum, "maximum": maximum}, options)


def number(*, minimum: float | None = None, maximum: float | None = None, **options: Unpack[FieldOptions]) -> Field:
    """A floating-point number: positions and ratios, never money."""
    return _field("number", {"minimum": minimum, "maximum": maximum}, options)


def boolean(**options: Unpack[FieldOptions]) -> Field:
    """True or false."""
    return _field("boolean", {}, options)


def money(*, minimum: str | None = None, maximum: str | None = None, **options: Unpack[FieldOptions]) -> Field:
    """An amount with two decimals: a string on the wire, Decimal128 in MongoDB."""
    return _field("money", {"minimum": minimum, "maximum": maximum}, options)


def quantity(*, minimum: str | None = None, maximum: str | None = None, **options: Unpack[FieldOptions]) -> Field:
    """An amount of goods with up to four decimals: a string on the wire, Decimal128 in MongoDB."""
    return _field("quantity", {"minimum": minimum, "maximum": maximum}, options)


def timestamp(**options: Unpack[FieldOptions]) -> Field:
    """A moment from `FIRST_DAY` to `LAST_DAY` in UTC: RFC 3339 on the wire, UTC with milliseconds."""
    return _field("timestamp", {}, options)


def day(**options: Unpack[FieldOptions]) -> Field:
    """A calendar day in the business time zone, `2026-11-20`, from `FIRST_DAY` to `LAST_DAY`."""
    return _field("day", {}, options)


def object_id(**options: Unpack[FieldOptions]) -> Field:
    """The identifier of a business record: 24 hexadecimal digits."""
    return _field("object_id", {}, options)


def array(
    items: Field,
    *,
    max_items: int = MAX_ITEMS,
    min_items: int | None = None,
    unique: bool = False,
    **options: Unpack[FieldOptions],
) -> Field:
    """A list of values of one shape."""
    rules = {"maxItems": max_items, "minItems": min_items, "uniqueItems": unique or None}
    return _field("array", rules, options, items=items.but(nullable=False))


def obj(
    name: str | None = None, /, fields: Mapping[str, Field] | None = None, **options: Unpack[FieldOptions]
) -> Field:
    """An object with exactly these fields. `name` makes it a component of the OpenAPI description."""
    return _field("object", {}, {"title": name, **options}, fields=dict(fields or {}))


def tree_of(name: str, fields: Mapping[str, Field]) -> Field:
    """An object whose `children` are objects of the same shape."""
    own = dict(fields)
    node = Field(kind="object", rules={}, title=name, fields=own, nullable=False)
    own["children"] = array(node, max_items=10_000, nullable=False)
    return node


def mapping(values: Field, **options: Unpack[FieldOptions]) -> Field:
    """An object whose keys are names and whose values have one shape. For answers: nothing checks the keys."""
    return _field("mapping", {}, options, items=values)


def anything(**options: Unpack[FieldOptions]) -> Field:
    """Any JSON value: for what a plugin checks by itself."""
    return _field("any", {}, options)


def fields_in(field: Field, path: str = "", above: tuple[Field, ...] = ()) -> Iterator[tuple[str, Field]]:
    """The field and all that is in it, each with the path to it, such as `lines[].sku`."""
    yield path, field
    if field in above:  # the children of a tree
        return
    for name, child in (field.fields or {}).items():
        yield from fields_in(child, f"{path}.{name}" if path else name, (*above, field))
    if field.items is not None:
        yield from fields_in(field.items, f"{path}[]" if field.kind == "array" else f"{path}.*", (*above, field))


NOTHING = anything(description="null")
