"""Fields: the shape of a value in JSON and in MongoDB, declared in one line.

A `Field` is a value. The JSON Schema of requests and responses (`json_schema.py`), the validation (`validation.py`) and
the conversion between JSON and MongoDB (`conversion.py`) derive from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack

from config.settings import EnvironmentSettings
from handlers.schema.messages import Bilingual, Message
from handlers.schema.values import Keywords


def name_beside(field: str, many: bool = False) -> str:
    """Return the name of the field beside a reference: `owner_id` → `owner_name`, `users` → `user_names`."""
    if not many:
        return f"{field.removesuffix('_id')}_name"
    singular = field.removesuffix("_ids") if field.endswith("_ids") else field.removesuffix("s")
    return f"{singular}_names"


PluginSettings = TypeVar("PluginSettings", bound=EnvironmentSettings)

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

# what the deletion of a record does to one that refers to it; `Field` explains each value
OnDelete = Literal["restrict", "cascade", "clear", "keep"]
MAX_INTEGER = 2**53 - 1  # the largest integer that JavaScript represents exactly
MAX_TEXT = 500
MAX_ITEMS = 100
AMOUNT_DIGITS = 15
CENTS, OF_QUANTITIES = 2, 4  # decimals of an amount of money, and the most of a quantity
# blank characters within a character class, for any engine: Python leaves out U+FEFF, ECMA-262 the separators
BLANK = r"\s\x1c-\x1f\x85\ufeff"
FIRST_DAY, LAST_DAY = "1970-01-01", "2199-12-31"  # the bounds of days and moments that clients send

_AMOUNTS = ("money", "quantity")


class HasSettings(Protocol):
    """The part of the service that the `check` of a field may use."""

    def settings_of(self, kind: type[PluginSettings]) -> PluginSettings:
        """Return the settings of a plugin."""


class FieldOptions(TypedDict, total=False):
    """The options of every kind of field; `Field` explains each of them."""

    label: tuple[str, str] | None
    title: str | None
    description: str | None
    example: object
    required: bool
    nullable: bool
    read_only: bool
    write_only: bool
    default: object
    filter: bool
    sort: bool | Literal["folded"]
    search: bool
    ref: str | None
    ref_optional: bool
    on_delete: OnDelete | None
    held: Message | None
    named_by: str | None
    key_of: str
    labels: Callable[[Any], Mapping[str, Message]] | None
    past: bool
    earliest: str
    person: bool
    dictionary: str | None
    labelled_by: str
    check: Callable[[HasSettings, Any], str | None] | None
    secret: bool
    history: bool
    only_with: str | None


class FieldChanges(FieldOptions, total=False):
    """What may differ in a copy of a field."""

    kind: Kind
    rules: Keywords
    fields: Mapping[str, Field] | None
    items: Field | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """One value: its kind, its JSON Schema keywords (`rules`) and its use.

    `label`: what people call it, as a pair or a `Message`: `("客户名称", "Customer name")`. Headers of tables, the history
    and the titles of the OpenAPI document show it.
    `required`: a new record must have it. `read_only`: only the service writes it. `write_only`: never in a response.
    `nullable`: null is accepted, and clears the field. `filter`, `sort`, `search`: what lists offer. `sort="folded"` is
    the order in which people look for names: it ignores case, width and accents, and sorts Chinese by pinyin; only for
    texts with `search`.
    `person`: the name of a person, which is found and sorted by the reading of the surname.
    `ref`: the collection whose `id` it holds; a dangling reference is refused, unless the field is `read_only`.
    `ref_optional`: the plugin of that collection need not be loaded; without it the reference is not checked.
    `dictionary`: the type of the dictionary whose values it holds; only enabled ones are accepted. Of a mapping, its keys
    are such values, which pages and tables show by their labels.
    `labelled_by`: instead, a dictionary whose labels are shown and offered; other values are accepted too, and the plugin of
    the dictionary need not be loaded.
    `on_delete`: what happens when the record that it refers to is deleted. `restrict`, the default, refuses the
    deletion (40901) with the message `held`, or with one that counts the records; `cascade` deletes this record too;
    `clear` empties the field; `keep`, the default of `read_only` fields, leaves it as it is, as a trace of the past.
    `named_by`: for a list of objects, the reference in each object that gives the list its names, `collaborator_names`;
    of a code, the field beside it that says the same in words, which pages show instead.
    `labels`: returns what people call its values, from the `Catalogue` of all declarations, where neither a dictionary nor
    a state machine has them.
    `key_of`: a list of objects of the record, of one of which it holds the `key`; pages show and offer their `name`s.
    `past`: a day or moment of a past event; a body with one later than tomorrow is refused. `earliest`: the first day that
    clients may send.
    `history`: the history of a record shows it; False for what follows from other records or only traces use.
    `check`: only for top-level fields of a body: returns the rule that a text or list breaks under the settings, or None;
    of a list that the schema refuses too.
    `only_with`: the name of a collection; pages and templates of tables show the field only while that has records.
    """

    kind: Kind
    rules: Keywords
    fields: Mapping[str, Field] | None = None
    items: Field | None = None
    label: Bilingual = Bilingual()  # noqa: RUF009 - a descriptor, no shared default
    title: str | None = None
    description: str | None = None
    example: object = None
    required: bool = False
    nullable: bool = True
    read_only: bool = False
    write_only: bool = False
    default: object = None
    filter: bool = False
    sort: bool | Literal["folded"] = False
    search: bool = False
    ref: str | None = None
    ref_optional: bool = False
    on_delete: OnDelete | None = None
    held: Message | None = None
    named_by: str | None = None
    key_of: str = ""
    labels: Callable[[Any], Mapping[str, Message]] | None = None
    past: bool = False
    earliest: str = FIRST_DAY
    person: bool = False
    dictionary: str | None = None
    labelled_by: str = ""
    check: Callable[[HasSettings, Any], str | None] | None = None
    secret: bool = False
    history: bool = True
    only_with: str | None = None

    @cached_property
    def holds_fields(self) -> bool:
        """Whether it is an object, or contains one."""
        return self.kind == "object" or (self.items is not None and self.items.holds_fields)

    @cached_property
    def defaulted(self) -> tuple[str, ...]:
        """The names of the fields that have a default."""
        return tuple(name for name, child in (self.fields or {}).items() if child.default is not None)

    @cached_property
    def response_fields(self) -> tuple[str, ...]:
        """The names of the fields of an object that a response shows."""
        return tuple(name for name, child in (self.fields or {}).items() if not child.write_only)

    @cached_property
    def sortable_amounts(self) -> tuple[str, ...]:
        """The names of the amounts of money by which lists of such objects can be sorted; pages can add them up."""
        return tuple(name for name, child in (self.fields or {}).items() if child.kind == "money" and child.sort)

    @cached_property
    def checked(self) -> tuple[tuple[str, Field], ...]:
        """The fields of an object that have a `check`."""
        return tuple((name, child) for name, child in (self.fields or {}).items() if child.check is not None)

    @cached_property
    def dates(self) -> bool:
        """Whether it is the time of a past event, or contains one."""
        return self.past or bool(self.dated) or (self.items is not None and self.items.dates)

    @cached_property
    def dated(self) -> tuple[tuple[str, Field], ...]:
        """The fields of an object that are, or contain, times of past events."""
        return tuple((name, child) for name, child in (self.fields or {}).items() if child.dates)

    @cached_property
    def places(self) -> int:
        """The most decimals of an amount or a quantity."""
        return int(self.rules.get("places", CENTS if self.kind == "money" else OF_QUANTITIES))

    @cached_property
    def amounts(self) -> bool:
        """Whether it is an amount, or contains one."""
        return self.kind in _AMOUNTS or bool(self.priced) or (self.items is not None and self.items.amounts)

    @cached_property
    def priced(self) -> tuple[tuple[str, Field], ...]:
        """The fields of an object that are, or contain, amounts."""
        return tuple((name, child) for name, child in (self.fields or {}).items() if child.amounts)

    @cached_property
    def nested_fields(self) -> tuple[tuple[str, Field], ...]:
        """Those of the `response_fields` that are, or contain, objects."""
        fields = self.fields or {}
        return tuple((name, fields[name]) for name in self.response_fields if fields[name].holds_fields)

    @cached_property
    def siblings(self) -> tuple[Sibling, ...]:
        """The names that a response shows beside the references of an object."""
        shown = {name: child for name, child in (self.fields or {}).items() if not child.write_only}
        return tuple(_sibling(shown, name, target) for name, child in shown.items() if (target := _referred(child)))

    @cached_property
    def named_fields(self) -> tuple[tuple[str, Field], ...]:
        """Those of the `nested_fields` that contain references with names."""
        return tuple((name, child) for name, child in self.nested_fields if child.holds_names)

    @cached_property
    def holds_names(self) -> bool:
        """Whether a response shows names within this field."""
        return any(child.siblings for _, child in fields_in(self))

    def but(self, **changes: Unpack[FieldChanges]) -> Field:
        """Return a copy with `changes`."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Sibling:
    """The name of the record, or the names of the records, that the field `beside` refers to.

    `target` is the name or alias of their collection. `many`: a list of names, in the order of the references. `own`:
    the object declares a field of this name itself, whose value is shown if no record is found.
    """

    name: str
    beside: str
    reference: Field
    target: str
    many: bool
    own: bool


def _sibling(fields: Mapping[str, Field], beside: str, target: str) -> Sibling:
    many = fields[beside].kind == "array"
    name = name_beside(beside, many)
    return Sibling(name, beside, fields[beside], target, many, own=name in fields)


def _referred(field: Field) -> str | None:
    """Return the name of the collection that a field, or each item of a list, refers to."""
    if field.kind != "array" or field.items is None:
        return field.ref
    if field.named_by is not None:
        by = (field.items.fields or {}).get(field.named_by)
        return by.ref if by is not None else None
    return field.ref or field.items.ref


def _field(
    kind: Kind,
    rules: Keywords,
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
    """Declare a string; a required one has at least one non-blank character. Format `binary` is a file of a form."""
    if options.get("required") and pattern is None and format is None:
        pattern, min_length = rf"[^{BLANK}]", min_length or 1
    most = None if format == "binary" else max_length  # the route that reads the form limits its bytes
    rules = {"minLength": min_length, "maxLength": most, "pattern": pattern, "format": format}
    return _field("text", rules, options)


_REST = r"""[^\x00-\x20\x7f"'<>\\]*"""
# a path on this host: `//` would start the name of another one (RFC 3986 section 4.2)
_OWN_PATH = rf"/(?![/\\]){_REST}"
_WEB_ADDRESS = rf"""[Hh][Tt][Tt][Pp][Ss]?://[^/?#\x00-\x20\x7f"'<>\\]{_REST}"""
# the key of a file: it starts with a name, without a colon, which would make it a scheme
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
    """Declare a URL that clients follow or show as an image, never one that runs code, such as `javascript:`.

    It may be empty. `web`: allows http and https. `own`: allows a path of the service or of its front end. `bare`:
    allows `www.example.com`. `key`: allows the identifier or key of a file.
    """
    allowed = ((_WEB_ADDRESS, web), (_OWN_PATH, own), (_WITHOUT_SCHEME, bare), (_KEY, key))
    forms = [form for form, taken in allowed if taken]
    given: FieldOptions = {"example": "https://example.com/image.png" if web else "/dashboard", **options}
    return text(pattern=f"^({'|'.join(forms)})?$", max_length=max_length, **given)


def takes_file(field: Field, *, private: bool = False) -> bool:
    """Return whether it holds the address or the key of a stored file: a `link` with `key`.

    `private`: only the key, as of a private file, which has no address.
    """
    pattern = str(field.rules.get("pattern", ""))
    return _KEY in pattern and not (private and _WEB_ADDRESS in pattern)


def choice(*values: str, **options: Unpack[FieldOptions]) -> Field:
    """Declare one of a fixed set of strings."""
    return _field("text", {"enum": list(values)}, options)


def integer(*, minimum: int = -MAX_INTEGER, maximum: int = MAX_INTEGER, **options: Unpack[FieldOptions]) -> Field:
    """Declare an integer."""
    return _field("integer", {"minimum": minimum, "maximum": maximum}, options)


def number(*, minimum: float | None = None, maximum: float | None = None, **options: Unpack[FieldOptions]) -> Field:
    """Declare a floating-point number: positions and ratios, never money."""
    return _field("number", {"minimum": minimum, "maximum": maximum}, options)


def boolean(**options: Unpack[FieldOptions]) -> Field:
    """Declare a boolean."""
    return _field("boolean", {}, options)


def money(
    *, minimum: str | None = None, maximum: str | None = None, places: int = CENTS, **options: Unpack[FieldOptions]
) -> Field:
    """Declare an amount with two decimals: a string in JSON, Decimal128 in MongoDB.

    `places`: the most decimals, for what is an amount per unit. It always has two, and more only where it needs them.
    """
    finer = places if places != CENTS else None
    return _field("money", {"minimum": minimum, "maximum": maximum, "places": finer}, options)


def quantity(
    *,
    minimum: str | None = None,
    maximum: str | None = None,
    places: int = OF_QUANTITIES,
    **options: Unpack[FieldOptions],
) -> Field:
    """Declare an amount of goods or a rate with up to four decimals, or `places`: a string in JSON, Decimal128 in MongoDB."""
    finer = places if places != OF_QUANTITIES else None
    return _field("quantity", {"minimum": minimum, "maximum": maximum, "places": finer}, options)


def timestamp(**options: Unpack[FieldOptions]) -> Field:
    """Declare a moment from `FIRST_DAY` to `LAST_DAY` in UTC: RFC 3339 in JSON, UTC with milliseconds."""
    return _field("timestamp", {}, options)


def day(**options: Unpack[FieldOptions]) -> Field:
    """Declare a calendar day in the business time zone, such as `2026-11-20`, from `earliest` to `LAST_DAY`."""
    return _field("day", {}, options)


def object_id(**options: Unpack[FieldOptions]) -> Field:
    """Declare the identifier of a business record: 24 hexadecimal digits."""
    return _field("object_id", {}, options)


def array(
    items: Field,
    *,
    max_items: int = MAX_ITEMS,
    min_items: int | None = None,
    unique: bool = False,
    **options: Unpack[FieldOptions],
) -> Field:
    """Declare a list of values of one shape."""
    rules = {"maxItems": max_items, "minItems": min_items, "uniqueItems": unique or None}
    return _field("array", rules, options, items=items.but(nullable=False))


def obj(
    name: str | None = None, /, fields: Mapping[str, Field] | None = None, **options: Unpack[FieldOptions]
) -> Field:
    """Declare an object with exactly these fields. `name` makes it a component of the OpenAPI document."""
    return _field("object", {}, {"title": name, **options}, fields=dict(fields or {}))


def tree_of(name: str, fields: Mapping[str, Field]) -> Field:
    """Declare an object whose `children` are objects of the same shape."""
    own = dict(fields)
    node = Field(kind="object", rules={}, title=name, fields=own, nullable=False)
    own["children"] = array(node, max_items=10_000, nullable=False)
    return node


def mapping(values: Field, **options: Unpack[FieldOptions]) -> Field:
    """Declare an object with any keys, whose values have one shape. For responses only: nothing checks the keys."""
    return _field("mapping", {}, options, items=values)


def anything(**options: Unpack[FieldOptions]) -> Field:
    """Declare any JSON value, which the plugin itself checks."""
    return _field("any", {}, options)


def fields_in(field: Field, path: str = "", above: tuple[Field, ...] = ()) -> Iterator[tuple[str, Field]]:
    """Yield the field and all fields within it, each with its path, such as `lines[].sku`."""
    yield path, field
    if field in above:  # the children of a tree
        return
    for name, child in (field.fields or {}).items():
        yield from fields_in(child, f"{path}.{name}" if path else name, (*above, field))
    if field.items is not None:
        yield from fields_in(field.items, f"{path}[]" if field.kind == "array" else f"{path}.*", (*above, field))


NOTHING = anything(description="null")


def shape(name: str, /, **fields: Field) -> Field:
    """Declare an object with exactly these fields, never null, and a component of this name in the OpenAPI document."""
    return obj(name, fields, nullable=False)


def service_fields(**fields: Field) -> dict[str, Field]:
    """Return these fields as ones that only the service writes, and that always have a value."""
    return {name: field.but(read_only=True, nullable=False) for name, field in fields.items()}


def record_name(*, max_length: int = 200, **options: Unpack[FieldOptions]) -> Field:
    """Declare what people call a record: required, searched, and sorted in the order in which they look for names."""
    given: FieldOptions = {"required": True, "search": True, "sort": "folded", **options}
    return text(max_length=max_length, **given)


def record_code(*, max_length: int = 64, **options: Unpack[FieldOptions]) -> Field:
    """Declare the code of a record: required, and lists can be searched, sorted and filtered by it."""
    given: FieldOptions = {"required": True, "search": True, "sort": True, "filter": True, **options}
    return text(max_length=max_length, **given)
