"""`Collection`: declares the fields, row rules and indexes of a kind of record; all schemas derive from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal

from bson import ObjectId
from bson.errors import InvalidId

from config.database import IndexSpec
from config.logs import is_secret_name
from handlers.data.index import Index, index_on, spec_of
from handlers.data.lists.normalizing import sort_key
from handlers.data.lists.search import FORM, FORM_NAME, search_values
from handlers.data.references.links import Link, find_links
from handlers.data.states import StateMachine
from handlers.data.visible.scope import OWNER_DEPARTMENT, SECOND_DEPARTMENT
from handlers.schema.conversion import decode
from handlers.schema.errors import NOT_FOUND, ApiError
from handlers.schema.fields import (
    Field,
    array,
    boolean,
    choice,
    fields_in,
    integer,
    obj,
    object_id,
    text,
    timestamp,
    tree_of,
)
from handlers.schema.messages import Message
from handlers.schema.values import Declared, Record, RecordId, Values

THE_USERS, THE_DEPARTMENTS = "users", "departments"  # the aliases that the audit fields refer to
SEARCH_FIELDS = ("search_text", "search_grams")
HISTORY = "_history"  # the field of a record that holds those of its changes that are not in `core_history` yet
UNSENT = "unsent"  # in that field: the number of the first change that the outbox has to hand on
_OUTBOX = IndexSpec("outbox", ((f"{HISTORY}.{UNSENT}", 1),), partial={f"{HISTORY}.{UNSENT}": {"$type": "number"}})
# records whose search and sort fields were stored by an older version of the service
OUTDATED: Mapping[str, Any] = {"search_text": {"$lt": FORM}}
_OF_THE_STORE = ("_id", "shared_with", "deleted", "deleted_at", HISTORY, OWNER_DEPARTMENT, SECOND_DEPARTMENT)
_SEARCH = (
    "Search: words in any order, each a part of a value. Case, width, accents, apostrophes, punctuation and spaces do "
    "not matter; digits find phone numbers however they are written; Chinese is found by pinyin and by initials too."
)
_SUM = "Amounts whose sums over all matching records `sums` answers; null where more than 10,000 match, or of several currencies."
_SORT = "Fields to sort by, separated by commas; `-` before a field sorts it in descending order. Any of"
MAX_PAGE_SIZE = 200
MAX_DEPTH = 10_000
_TIMES = ("timestamp", "day")
_RANGES = (*_TIMES, "money", "quantity", "number")
_SETS = ("integer", "object_id")
_OWNER_DEPARTMENT = integer(
    label=("负责部门", "Owner's department"), minimum=1, read_only=True, filter=True, ref=THE_DEPARTMENTS
)
_VERSION = Message("版本号", "Version")
_UNNAMED = Message("", "")

# without `_id`: no search sorts by this index, and almost every entry would store it in full
SEARCHED = IndexSpec("search_1", (("deleted", 1), ("search_grams", 1)))
# holds only the records that `SearchIndexing` has to rebuild; the index of each form has its own name
OUTDATED_INDEX = IndexSpec(f"search_outdated_{FORM_NAME}", (("_id", 1), ("deleted", 1)), False, OUTDATED)


@dataclass(frozen=True, eq=False)
class Collection(Generic[Declared]):
    """A kind of record. `Collection[Thing]` says that `Thing` from the plugin's `record_types.py` has its fields.

    `scoped`: data scope filters the rows, and the indexes that this needs are created. `shared`: a row can be shared
    with people (`shared_with`), who then see it in addition to their scope. `scope_department` and `scope_person` are
    the fields that data scope filters on. `ids`: the type of `id`. `watched`: every instance is notified of changes.
    `plain`: no audit fields, versions or soft delete, for technical collections such as sessions and logs.
    `internal`: stored fields that never leave the service. `title` names the schemas; `noun` is what people call one
    record within a sentence: `Message("付款计划", "payment plan")`.
    `label`: the field that holds a record's name; `label_field` has the default.
    `code`: the field that holds its code; `code_field` has the default. A record without a label is called by its code.
    `alias`: a second name for references. The core refers to people as `users`, to departments as `departments`.
    `keepers`: a field that lists people. Rows that follow a record with keepers are visible only to these people and to
    those who see every row. `follows`: the reference by which rows of this collection follow such a record.
    `owner`: the field with the person who is responsible for a record. The core stores that person's department beside
    it (`owner_department_id`), whose people see the record too. `states`: the state machine of the records.
    `dated`: the field with the day or moment by which a record belongs to a month: whoever closes the month is told of those in it
    that are `undecided`.
    `disabled`: a field, and its value in records that can no longer be chosen; `disabled_value` has the default.
    `own`: those of the fields that others have added.
    """

    name: str
    title: str
    fields: Mapping[str, Field]
    noun: Message = _UNNAMED
    indexes: tuple[Index, ...] = ()
    scoped: bool = False
    scope_department: str = "creator_department_id"
    scope_person: str = "creator_id"
    shared: bool = False
    ids: Literal["object_id", "integer", "text"] = "object_id"
    plain: bool = False
    default_sort: str = "-created_at"
    watched: bool = False
    internal: tuple[str, ...] = ()
    label: str = ""
    code: str = ""
    alias: str = ""
    owner: str = ""
    states: StateMachine | None = None
    keepers: str = ""
    follows: str = ""
    dated: str = ""
    disabled: tuple[str, object] | None = None
    own: tuple[str, ...] = ()

    @cached_property
    def label_field(self) -> str:
        """The name of the field that holds a record's name; empty if there is none."""
        return self.label or self._first_text("name", "title", "number")

    @cached_property
    def code_field(self) -> str:
        """The name of the field that holds a record's code; empty if there is none."""
        return self.code or self._first_text("code", "number")

    @cached_property
    def disabled_value(self) -> tuple[str, object] | None:
        """The field that marks a record as disabled, and that value; by default `status` or `enabled`, None without."""
        status, enabled = self.fields.get("status"), self.fields.get("enabled")
        if self.disabled is None and status is not None and "disabled" in status.rules.get("enum", ()):
            return "status", "disabled"
        return ("enabled", False) if self.disabled is None and enabled is not None else self.disabled

    def _first_text(self, *names: str) -> str:
        return next((name for name in names if name in self.fields and self.fields[name].kind == "text"), "")

    @cached_property
    def owned(self) -> bool:
        """Whether records have a responsible department besides the creator's."""
        return bool(self.owner)

    @property
    def machine(self) -> StateMachine:
        """The state machine. Raises LookupError if the collection has none."""
        if self.states is None:
            raise LookupError(f"{self.name} has no states")
        return self.states

    @cached_property
    def id_field(self) -> Field:
        """The shape of `id`."""
        shapes = {"integer": integer(minimum=1), "object_id": object_id(), "text": text(max_length=100)}
        return shapes[self.ids].but(label=("ID", "ID"), read_only=True, nullable=False, sort=True)

    @cached_property
    def audit_fields(self) -> dict[str, Field]:
        """The fields that the core writes into every record: its version, who created and last changed it, and when."""
        if self.plain:
            return {}
        person = integer(minimum=0, read_only=True, nullable=False, ref=THE_USERS)
        moment = timestamp(read_only=True, nullable=False)
        return {
            "version": integer(label=_VERSION, minimum=1, read_only=True, nullable=False),
            "creator_id": person.but(label=("创建人", "Created by"), filter=True),
            "creator_department_id": integer(
                label=("创建部门", "Creator's department"),
                minimum=1,
                read_only=True,
                filter=True,
                ref=THE_DEPARTMENTS,
            ),
            "created_at": moment.but(label=("创建时间", "Created at"), sort=True, filter=True),
            "updated_at": moment.but(label=("修改时间", "Updated at"), sort=True, filter=True),
            "updater_id": person.but(label=("修改人", "Updated by")),
            **({OWNER_DEPARTMENT: _OWNER_DEPARTMENT} if self.owner else {}),
        }

    @cached_property
    def all_fields(self) -> dict[str, Field]:
        """Every field of a record, `id` first."""
        own = {name: self.fields[name].but(nullable=True) for name in self.own}  # older records lack even required ones
        return {"id": self.id_field, **self.fields, **own, **self.audit_fields}

    @cached_property
    def read(self) -> Field:
        """The record as responses contain it."""
        return obj(self.title, self.all_fields, nullable=False)

    @cached_property
    def tree(self) -> Field:
        """The record with the `children` of a tree, which have the same shape."""
        return tree_of(f"{self.title}Node", self.all_fields)

    @cached_property
    def create(self) -> Field:
        """The body that creates a record."""
        return obj(f"{self.title}Create", self.writable, nullable=False)

    @cached_property
    def update(self) -> Field:
        """The body of a PATCH: any of the fields, and `version`."""
        optional = {name: child.but(required=False, default=None) for name, child in self.writable.items()}
        stale = "The version that was read; if the record has changed since, the response is 40902."
        version = integer(label=_VERSION, minimum=1, required=True, description=stale)
        return obj(f"{self.title}Update", {"version": version, **optional}, nullable=False)

    @cached_property
    def writable(self) -> dict[str, Field]:
        """The fields that clients write."""
        return {name: child for name, child in self.fields.items() if not child.read_only}

    @cached_property
    def searchable(self) -> tuple[str, ...]:
        """The fields that `q` searches."""
        return tuple(name for name, child in self.fields.items() if child.search)

    @cached_property
    def stored_orders(self) -> dict[str, str]:
        """Maps each field that is sorted by another stored field to the name of that field."""
        if self.plain:
            return {}
        return {name: order_field(name) for name, child in self.fields.items() if child.sort == "folded"}

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """Fields that are stored only for search and sort, and never read into records."""
        return (*SEARCH_FIELDS, *self.stored_orders.values()) if self.searchable else ()

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """Every stored field that is never read into records."""
        if self.plain:
            return self.unread
        return (*self.unread, HISTORY, *([SECOND_DEPARTMENT] if self.owner else []))

    @cached_property
    def stored(self) -> frozenset[str]:
        """The names of every field that a stored record may have."""
        return frozenset((*self.fields, *self.audit_fields, *self.internal, *self.unread, *_OF_THE_STORE))

    @cached_property
    def recorded(self) -> dict[str, Field]:
        """The fields whose changes the history of a record shows; never one that is, or contains, a secret."""
        return {} if self.plain else {name: child for name, child in self.fields.items() if _is_recorded(name, child)}

    def derived(self, values: Values) -> Record:
        """Return the stored search and sort fields of a record with these values."""
        return _derived(self, values) if self.searchable else {}

    @cached_property
    def sortable(self) -> dict[str, Field]:
        """The fields that `sort` may name."""
        return {name: child for name, child in self.all_fields.items() if child.sort}

    @cached_property
    def defaults(self) -> Record:
        """The stored values of fields that a creation leaves out."""
        return {name: decode(child, child.default) for name, child in self.fields.items() if child.default is not None}

    @cached_property
    def references(self) -> dict[str, str]:
        """Maps each reference field, except audit fields, to the name or alias of the collection that it refers to."""
        nested = {name: child.items.ref for name, child in self.fields.items() if child.items and child.items.ref}
        return {**{name: child.ref for name, child in self.fields.items() if child.ref}, **nested}

    def referring(self, collections: Iterable[Collection]) -> Iterator[tuple[Collection, str]]:
        """Yield each collection whose records refer to this one, and the field that does; plain ones are left out."""
        for collection in collections:
            for name, target in collection.references.items():
                if target in (self.name, self.alias) and not collection.plain:
                    yield collection, name

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Every reference, including those within objects and lines, with what deleting its target does."""
        return find_links(self.fields)

    @cached_property
    def acting_links(self) -> tuple[Link, ...]:
        """The references that restrict the deletion of the record they refer to, or that the deletion acts on."""
        return tuple(link for link in self.links if link.acts)

    @cached_property
    def looked_up(self) -> dict[str, str]:
        """The references that a write checks; those that only the service writes are not checked."""
        return (
            {}
            if self.plain
            else {name: target for name, target in self.references.items() if not self.fields[name].read_only}
        )

    @cached_property
    def optional_references(self) -> frozenset[str]:
        """The reference fields whose collection may belong to a plugin that is not loaded."""
        return frozenset(
            name
            for name, child in self.fields.items()
            if child.ref_optional or (child.items and child.items.ref_optional)
        )

    @cached_property
    def filters(self) -> dict[str, Field]:
        """The query parameters that filter a list."""
        parameters: dict[str, Field] = {}
        for name, child in self.all_fields.items():
            if child.filter:
                parameters |= _filter_parameters(name, child)
        return parameters

    @cached_property
    def list_query(self) -> dict[str, Field]:
        """The query parameters of the list route: paging, sort, search and filters."""
        search = {"q": text(max_length=100, description=_SEARCH, example="a")} if self.searchable else {}
        return {name: child.but(nullable=False) for name, child in {**_paging(self), **search, **self.filters}.items()}

    @cached_property
    def blank(self) -> Record:
        """A null for every field of a response, `id` first, because a stored record may lack some of them."""
        names = [name for name, child in self.fields.items() if not child.write_only]
        return dict.fromkeys(["id", *names, *([OWNER_DEPARTMENT] if self.owner else [])])

    def parse_id(self, value: object) -> RecordId:
        """Return `value` as the `_id` of a record; raise 40400 if it is not valid."""
        if self.ids == "text":
            return str(value)
        if self.ids == "integer":
            if isinstance(value, int):
                return int(value)
            if (digits := str(value)).isascii() and digits.isdigit() and len(digits) < 16:
                return int(digits)
        elif isinstance(value, str):
            try:
                return ObjectId(value)
            except InvalidId as error:
                raise ApiError(NOT_FOUND) from error
        elif isinstance(value, ObjectId):
            return value
        raise ApiError(NOT_FOUND)

    @cached_property
    def index_specs(self) -> tuple[IndexSpec, ...]:
        """The declared indexes, and those that data scope, search, the default order and deletions need."""
        declared = [spec_of(index, self.plain) for index in self.indexes]
        name = self.default_sort.removeprefix("-")
        order = self.default_sort.removesuffix(name) + self.stored_orders.get(name, name)
        derived = [] if self.plain else [Index(order), *(Index(name) for name in self.own if self.fields[name].filter)]
        if self.scoped:
            derived += [Index(self.scope_department, order), Index(self.scope_person, order)]
        if self.shared:
            derived += [Index("shared_with", order)]
        if self.owner:
            # the second is not partial, though few records have the field: MongoDB merges only indexes of all records
            derived += [Index(OWNER_DEPARTMENT, order), Index(SECOND_DEPARTMENT, order)]
        if self.searchable and not self.plain:
            derived += map(Index, self.stored_orders.values())
            declared += [SEARCHED, OUTDATED_INDEX]
        declared += [] if self.plain else [_OUTBOX]
        specs = {spec.keys: spec for spec in [*(spec_of(index, self.plain) for index in derived), *declared]}
        for link in self.acting_links:
            # a deletion looks for the records that refer to what it deletes
            if index_on(specs.values(), link.path) is None:
                spec = spec_of(Index(link.path), self.plain)
                specs[spec.keys] = spec
        return tuple(specs.values())


def extended(collection: Collection[Declared], own: Mapping[str, Field]) -> Collection[Declared]:
    """Return a copy that has these fields of others too, with an index on each by which lists filter."""
    return replace(collection, fields={**collection.fields, **own}, own=(*collection.own, *own))


def _paging(collection: Collection[Declared]) -> dict[str, Field]:
    sort = f"{_SORT} {', '.join(collection.sortable)}."
    paging = {
        "page": integer(minimum=1, default=1, example=1),
        "page_size": integer(minimum=1, maximum=MAX_PAGE_SIZE, default=20, example=20),
        "sort": text(max_length=200, example=collection.default_sort, description=sort),
        "with_total": boolean(default=True, description="`false` omits the count: `total` is then null."),
        "cursor": text(max_length=2000, description="`next_cursor` of the previous page.", example=None),
    }
    if amounts := collection.read.sortable_amounts:
        paging["sum"] = array(choice(*amounts), max_items=len(amounts), unique=True, description=_SUM)
    return paging


def _derived(collection: Collection, values: Values) -> Record:
    fields = collection.fields
    orders = {
        stored: sort_key(value, fields[name].person) if isinstance(value := values.get(name), str) else None
        for name, stored in collection.stored_orders.items()
    }
    persons = {name for name in collection.searchable if fields[name].person}
    return {**search_values({name: values.get(name) for name in collection.searchable}, persons), **orders}


def named(collections: Iterable[Collection]) -> dict[str, Collection]:
    """Map every name by which a reference may call a collection, including its alias, to the collection."""
    known = list(collections)
    return {**{one.alias: one for one in known if one.alias}, **{one.name: one for one in known}}


def _is_recorded(name: str, field: Field) -> bool:
    return field.history and not any(
        part.secret or part.write_only or is_secret_name(re.split(r"[.\[]", path)[-1])
        for path, part in fields_in(field, name)
    )


def order_field(name: str) -> str:
    """Return the name of the stored field by which a folded field is sorted."""
    return f"{name}_order"


def new_id() -> ObjectId:
    """Return an `id` for a business record that is referred to before it is written."""
    return ObjectId()


def _filter_parameters(name: str, child: Field) -> dict[str, Field]:
    value = child.items if child.kind == "array" and child.items is not None else child
    value = value.but(
        label=None, required=False, nullable=False, read_only=False, default=None, description=None, ref=None
    )
    if value.kind in _RANGES:
        more, less = ("a later", "an earlier") if value.kind in _TIMES else ("a larger", "a smaller")
        return {
            f"{name}_from": value.but(description=f"Only records with this or {more} `{name}`."),
            f"{name}_to": value.but(description=f"Only records with this or {less} `{name}`."),
        }
    # without a pattern, the values of a dictionary may contain commas
    if value.kind in _SETS or "enum" in value.rules or (value.dictionary and "pattern" in value.rules):
        several = "One value, or several with commas."
        return {name: array(value, min_items=1, max_items=50, description=several, nullable=False)}
    return {name: value}
