"""Fields that are declared by stored values: what each type of them is, and the own fields of administrators in force.

`field_of` makes a `Field` of a stored declaration; whoever stores forms can use it too. `CustomFields` keeps the catalogue of
this process as the stored own fields say: every instance follows the collection, which is watched.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from config.database import DatabaseUnavailable, Driver
from config.logs import is_secret_name
from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.dictionaries import Entries
from handlers.catalogue.extending import PREFIX, OwnFields, extend
from handlers.data.collection import Collection, named
from handlers.data.index import LIVE, Index
from handlers.schema.errors import FieldError
from handlers.schema.fields import (
    Field,
    FieldOptions,
    boolean,
    choice,
    day,
    integer,
    money,
    object_id,
    quantity,
    text,
    timestamp,
)
from handlers.schema.messages import Message
from handlers.schema.values import ReadOnlyRecord, Record
from handlers.service import Service

log = logging.getLogger("tradewind.custom_fields")
MOST_FIELDS, MOST_FILTERS = 30, 3  # own fields of a collection, and those of them by which lists filter
_RETRY_SECONDS = 0.5


def _text(options: FieldOptions) -> Field:
    return text(max_length=200, **options)


def _long_text(options: FieldOptions) -> Field:
    return text(max_length=5000, **options)


# what a declaration may choose from
TYPES: Mapping[str, Callable[[FieldOptions], Field]] = {
    "text": _text,
    "long_text": _long_text,
    "integer": lambda options: integer(**options),
    "money": lambda options: money(**options),
    "quantity": lambda options: quantity(**options),
    "boolean": lambda options: boolean(**options),
    "day": lambda options: day(**options),
    "timestamp": lambda options: timestamp(**options),
    "choice": lambda options: text(max_length=64, **options),
    "reference": lambda options: object_id(**options),
}
# the fields of a declaration, apart from where it belongs
DECLARATION: Mapping[str, Field] = {
    "name": text(
        label=("字段名", "Name"),
        required=True,
        max_length=40,
        pattern="^[a-z][a-z0-9]*(_[a-z0-9]+)*$",
        example="membership_number",
    ),
    "label": text(label=("中文名称", "Chinese label"), required=True, max_length=50, search=True, example="会员号"),
    "label_en": text(
        label=("英文名称", "English label"), required=True, max_length=50, search=True, example="Membership number"
    ),
    "type": choice(*TYPES, label=("类型", "Type"), required=True, filter=True, example="text"),
    "dictionary": text(
        label=("字典", "Dictionary"),
        max_length=64,
        example="acme_kind",
        description="The type of the dictionary whose values it holds: for `choice`, and required there.",
    ),
    "target": text(
        label=("引用数据", "Refers to records of"),
        max_length=64,
        example="acme_things",
        description="The collection that it refers to: for `reference`, and required there.",
    ),
    "required": boolean(
        label=("必填", "Required"),
        default=False,
        description="New records must have it, and it cannot be emptied. Older records stay as they are.",
    ),
}
_CALLED = text(read_only=True, history=False, description="What people call them, in the caller's language.")
CUSTOM_FIELDS = Collection(
    name="core_custom_fields",
    title="CustomField",
    noun=Message("自定义字段", "custom field"),
    default_sort="created_at",
    watched=True,
    label="label",
    code="name",
    fields={
        "collection": text(
            label=("所属数据", "Records of"),
            required=True,
            max_length=64,
            filter=True,
            example="acme_things",
            description="The collection whose records have it.",
        ),
        "collection_name": _CALLED.but(label=("所属记录", "Records")),
        **DECLARATION,
        "name": DECLARATION["name"].but(description=f"Bodies and responses have it with the prefix `{PREFIX}`."),
        "filterable": boolean(
            label=("可筛选", "Filterable"),
            default=False,
            description=f"Lists can be filtered and sorted by it, for which it gets an index: at most {MOST_FILTERS} "
            "fields of a collection, and no long text.",
        ),
        "target_name": _CALLED.but(label=("引用记录", "Refers to")),
    },
    indexes=(Index("collection", "name", unique=True),),
)


def in_records(declared: ReadOnlyRecord) -> str:
    """Return the name under which records have the own field that a stored declaration describes."""
    return f"{PREFIX}{declared['name']}"


def field_of(declared: ReadOnlyRecord, collections: Mapping[str, Collection]) -> Field:
    """Return the field that a stored declaration describes.

    `collections` are all by name and alias. Raises KeyError if it refers to one that is not among them.
    """
    filterable = bool(declared.get("filterable"))
    options: FieldOptions = {
        "label": (declared["label"], declared["label_en"]),
        "required": bool(declared["required"]),
        "filter": filterable,
        "sort": filterable,
    }
    if declared["type"] == "choice":
        options["dictionary"] = declared["dictionary"]
    if declared["type"] == "reference":
        target = collections[declared["target"]]
        # what an administrator adds must not change what others may delete
        nullable = not options["required"]
        options |= {"ref": declared["target"], "on_delete": "keep", "read_only": False, "nullable": nullable}
        return target.id_field.but(**options)
    return TYPES[declared["type"]](options)


def declaration_faults(
    declared: ReadOnlyRecord, dictionaries: Entries, collections: Mapping[str, Collection]
) -> list[FieldError]:
    """Return what is wrong with a declaration whose values have their shapes, with the names of the fields."""
    of_choice, of_reference = declared["type"] == "choice", declared["type"] == "reference"
    faults: list[FieldError] = []
    for name, wanted, known in (
        ("dictionary", of_choice, dictionaries),
        ("target", of_reference, {one for one, each in collections.items() if each.label_field and not each.plain}),
    ):
        value = declared.get(name)
        if wanted and value not in known:
            faults.append(FieldError(name, "required" if value is None else "enum"))
        if value is not None and not wanted:
            faults.append(FieldError(name, "unknown"))
    # the list parameters of a range are the names with these endings
    if is_secret_name(declared["name"]) or declared["name"].endswith(("_from", "_to")):
        faults.append(FieldError("name", "pattern"))
    if declared.get("filterable") and declared["type"] == "long_text":
        faults.append(FieldError("filterable", "invalid"))
    return faults


def own_fields_of(rows: Iterable[Mapping[str, Any]], catalogue: Catalogue) -> OwnFields:
    """Return the fields that stored declarations describe.

    Those that cannot be in force are left out: a plugin declares a field of this name, the collection or the one that it
    refers to belongs to a plugin that is not loaded, or the type is of a newer version.
    """
    known, found = named(catalogue.collections.values()), defaultdict[str, dict[str, Field]](dict)
    for row in rows:
        collection, name = catalogue.collections.get(row["collection"]), in_records(row)
        refers = row["type"] != "reference" or row["target"] in known
        if collection is not None and name not in collection.fields and refers and row["type"] in TYPES:
            found[collection.name][name] = field_of(row, known)
    return found


async def with_custom_fields(driver: Driver, catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with the own fields that administrators have stored: for commands."""
    return extend(catalogue, own_fields_of(await _stored(driver), catalogue))


async def _stored(driver: Driver) -> list[Record]:
    return await driver.find(CUSTOM_FIELDS.name, LIVE, sort=[("_id", 1)])


class CustomFields:
    """The own fields of administrators, in force in this process."""

    def __init__(self, service: Service, declared: Catalogue) -> None:
        self._service = service
        self._declared = declared
        self._rows: list[Record] = []
        self._changing = asyncio.Lock()
        self._changed = asyncio.Event()

    async def load(self) -> set[str]:
        """Bring the stored fields into force; return the names of the collections that changed."""
        async with self._changing:
            database = self._service.database
            rows = await _stored(database.driver)
            if rows == self._rows:
                return set()
            # a tenth of a second, during which others are served
            catalogue, parts = await asyncio.to_thread(self._made_of, rows)
            database.take(catalogue.collections.values())
            self._service.parts.update(parts)
            changed, self._rows = {row["collection"] for row in (*rows, *self._rows)}, rows
            return changed & catalogue.collections.keys()

    def _made_of(self, rows: Sequence[Record]) -> tuple[Catalogue, Mapping[type, object]]:
        catalogue = extend(self._declared, own_fields_of(rows, self._declared))
        return catalogue, self._service.derived_from(catalogue)

    async def renew(self) -> None:
        """Bring the stored fields into force, with their indexes."""
        changed = await self.load()
        await self._service.database.prepare(sorted(changed))

    async def follow(self) -> None:
        """Do as `renew` whenever an instance has changed the fields, for ever."""
        self._service.database.changes.listen(CUSTOM_FIELDS.name, lambda _: self._changed.set())
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self.renew()
            except DatabaseUnavailable as error:
                log.warning("own fields are not read", extra={"reason": str(error)[:300]})
                self._changed.set()
                await asyncio.sleep(_RETRY_SECONDS)
