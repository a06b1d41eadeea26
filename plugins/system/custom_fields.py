"""Own fields: what administrators add to the records of other plugins, without code. The core brings them into force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    SIGNED_IN,
    ApiError,
    Collection,
    Page,
    Record,
    Request,
    Route,
    View,
    array,
    choice,
    conflicts,
    crud,
    dictionary,
    page,
    route,
)
from plugins.api.data import restore as restore_record
from plugins.api.errors import DUPLICATE, STALE, FieldError, ValidationFailed
from plugins.api.fields import declaration_faults
from plugins.api.records import (
    CUSTOM_FIELDS,
    MOST_FIELDS,
    MOST_FILTERS,
    Catalogue,
    CustomFields,
    Dictionaries,
    in_records,
)
from plugins.system.messages import FIELD_DELETED, TOO_MANY_FIELDS, TOO_MANY_FILTERS
from plugins.system.records import CUSTOM_FIELD_REHEARSAL, CUSTOM_FIELD_TRIAL, CUSTOM_FIELD_UPDATE, EXTENSIBLE

AT = "/api/v1/system/custom-fields"
TYPES = dictionary(
    "system_field_type",
    ("自定义字段类型", "Types of custom fields"),
    text=("文本", "Text"),
    long_text=("长文本", "Long text"),
    integer=("整数", "Whole number"),
    money=("金额", "Amount of money"),
    quantity=("数量", "Quantity"),
    boolean=("是/否", "Yes or no"),
    day=("日期", "Day"),
    timestamp=("时间", "Date and time"),
    choice=("字典选项", "Choice from a dictionary"),
    reference=("引用其他记录", "Another record"),
)
USES = dictionary(
    "system_field_use",
    ("自定义字段用途", "Use of a collection"),
    extend=("扩展", "Extend"),
    target=("引用", "Refer to"),
)
INDEXES = dictionary(
    "system_field_index", ("索引变化", "Change of an index"), created=("新建", "Created"), removed=("移除", "Removed")
)
MENU = page(
    "system:custom-field", ("自定义字段", "Custom fields"), "/system/custom-fields", "lucide:text-cursor-input", 7
)
_CHOSEN: Mapping[str, Any] = {"type": "select", "searchable": True, "joinValues": False, "extractValue": True}
_COLLECTIONS: Mapping[str, Any] = {**_CHOSEN, "labelField": "name", "valueField": "collection"}
VIEW = View(
    CUSTOM_FIELDS,
    columns=("label", "label_en", "collection_name", "name", "type", "required", "filterable"),
    widgets={
        "collection": {**_COLLECTIONS, "source": {"method": "get", "url": f"{AT}/collections"}},
        "dictionary": {
            **_CHOSEN,
            "source": {"method": "get", "url": "/api/v1/system/dictionaries?page_size=200"},
            "labelField": "name",
            "valueField": "type",
            "visibleOn": "${type == 'choice'}",
        },
        "target": {
            **_COLLECTIONS,
            "source": {"method": "get", "url": f"{AT}/collections?use=target"},
            "visibleOn": "${type == 'reference'}",
        },
    },
)


async def list_fields(req: Request) -> Page:
    """Return a page of the own fields."""
    found = await req.store(CUSTOM_FIELDS).page(req.query)
    return Page([_shown(req, one) for one in found.items], found.total, found.page, found.page_size, found.next_cursor)


async def read(req: Request) -> Record:
    """Return an own field."""
    return _shown(req, await req.store(CUSTOM_FIELDS).get(req.path["id"]))


async def create(req: Request) -> Record:
    """Declare an own field. Raises 40001 for what cannot be, 40901 for too many and for the name of a deleted one."""
    values = await _checked(req)

    async def work() -> Record:
        await _refuse(req, values)
        return await req.store(CUSTOM_FIELDS).create(values)

    return await _in_force(req, await req.transaction(work))


async def update(req: Request) -> Record:
    """Change the labels of an own field, whether it is required, or whether lists filter by it."""
    given = dict(req.body)
    version = given.pop("version")

    async def work() -> Record:
        before = await req.store(CUSTOM_FIELDS).get(req.path["id"])
        await _check(req, {**before, **given}, before)
        await _refuse(req, {**before, **given}, before)
        return await req.store(CUSTOM_FIELDS).update(before["id"], given, version=version)

    return await _in_force(req, await req.transaction(work))


async def delete(req: Request) -> None:
    """Take an own field away. The values stay in the records, and are there again when it is restored."""
    await req.store(CUSTOM_FIELDS).delete(req.path["id"])
    await req.part(CustomFields).renew()


async def restore(req: Request) -> Record:
    """Restore an own field, with the values of the records. Raises 40901 if there are too many now."""

    async def work() -> Record:
        record = await req.store(CUSTOM_FIELDS).deleted.get(req.path["id"])
        await _refuse(req, record, record)
        return await restore_record(req.service.database, req.store(CUSTOM_FIELDS), record["id"])

    return await _in_force(req, await req.transaction(work))


async def rehearse_creation(req: Request) -> Record:
    """Return what declaring an own field would do. Raises what declaring it would raise."""
    values = await _checked(req)
    await _refuse(req, values)
    return await _rehearsal(req, {}, values)


async def rehearse_change(req: Request) -> Record:
    """Return what a change of an own field, or taking it away, would do."""
    before = await req.store(CUSTOM_FIELDS).get(req.path["id"])
    after = {**before, **req.body}
    if not after.get("removed"):
        await _check(req, after, before)
        await _refuse(req, after, before)
    return await _rehearsal(req, before, after)


async def list_collections(req: Request) -> list[Record]:
    """Return the collections that can have own fields, or those that own fields can refer to."""
    catalogue, as_target = req.part(Catalogue), req.query["use"] == "target"
    named = (one for one in catalogue.collections.values() if one.label_field and not one.plain)
    shown = named if as_target else extensible(catalogue)
    return [
        {
            "collection": one.name,
            "name": _called(req, one.name),
            "fields": len(one.own),
            "filterable": sum(one.fields[name].filter for name in one.own),
        }
        for one in shown
    ]


def extensible(catalogue: Catalogue) -> list[Collection]:
    """Return the collections whose records people list, with a permission, and create: these can have own fields."""
    bodies = {id(one.body) for one in catalogue.routes if one.method == "POST"}
    lists = {one.collection for one in catalogue.routes if one.paged and one.guarded}
    return [
        one
        for one in catalogue.collections.values()
        if id(one.create) in bodies and one.name in lists and not one.plain and one.name != CUSTOM_FIELDS.name
    ]


async def _checked(req: Request) -> Record:
    values = {**CUSTOM_FIELDS.defaults, **req.body}
    await _check(req, values)
    return values


async def _check(req: Request, values: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> None:
    """Raise 40001 for a declaration that cannot be; `before` is what it changes."""
    catalogue = req.part(Catalogue)
    entries, database = await req.part(Dictionaries).current(), req.service.database
    faults = declaration_faults(values, entries, database.referred)
    collection = next((one for one in extensible(catalogue) if one.name == values["collection"]), None)
    if collection is None:
        faults.append(FieldError("collection", "enum"))
    elif before is None and in_records(values) in collection.all_fields:
        if await req.store(CUSTOM_FIELDS).count({"collection": collection.name, "name": values["name"]}):
            raise ApiError(DUPLICATE, data={"field": "name"})
        faults.append(FieldError("name", "duplicate"))  # of a plugin
    if collection is not None:
        own = in_records(values)
        labels = {
            text for name, one in collection.all_fields.items() if name != own and one.label for text in one.label
        }
        faults += [FieldError(name, "duplicate") for name in ("label", "label_en") if values[name] in labels]
    if faults:
        raise ValidationFailed(faults)


async def _refuse(req: Request, values: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> None:
    """Raise 40901 if the collection would have too many own fields, or if a deleted one has the name."""
    database, store = req.service.database, req.store(CUSTOM_FIELDS)
    collection, others = values["collection"], {"_id": {"$ne": before["id"] if before else None}}
    if database.driver.in_transaction:
        await database.lock(CUSTOM_FIELDS, collection)
    rows = await store.find({"collection": collection, **others})
    declared = database.collections.get(collection)
    stored = {in_records(row) for row in (*rows, values)}
    of_plugins = [declared.fields[name] for name in declared.own if name not in stored] if declared else []
    if len(rows) + len(of_plugins) >= MOST_FIELDS:
        raise ApiError(CONFLICT, TOO_MANY_FIELDS.filled(most=MOST_FIELDS))
    filters = sum(bool(one["filterable"]) for one in (*rows, values)) + sum(field.filter for field in of_plugins)
    if values["filterable"] and filters > MOST_FILTERS:
        raise ApiError(CONFLICT, TOO_MANY_FILTERS.filled(most=MOST_FILTERS))
    if before is None and await store.deleted.count({"collection": collection, "name": values["name"]}):
        raise ApiError(CONFLICT, FIELD_DELETED)


async def _in_force(req: Request, record: Record) -> Record:
    await req.part(CustomFields).renew()
    return _shown(req, record)


def _shown(req: Request, record: Record) -> Record:
    target = record["target"]
    names = {"collection_name": _called(req, record["collection"]), "target_name": target and _called(req, target)}
    return {**record, **names}


def _called(req: Request, collection: str) -> str:
    known = req.service.database.referred.get(collection)
    noun = known.noun.text(req.language) if known is not None else collection
    return noun[:1].upper() + noun[1:]


async def _rehearsal(req: Request, before: Mapping[str, Any], after: Mapping[str, Any]) -> Record:
    store = req.system_store(req.service.database.collections[after["collection"]])
    records, filled = await store.count(), await store.count({in_records(after): {"$ne": None}})
    removed = bool(after.get("removed"))
    had, has = bool(before.get("filterable")), bool(after["filterable"]) and not removed
    return {
        "records": records,
        "with_value": filled,
        "incomplete": records - filled if after["required"] and not removed else 0,
        "hidden": filled if removed else 0,
        "index": None if had == has else "created" if has else "removed",
    }


_LIMITS = conflicts(TOO_MANY_FIELDS, TOO_MANY_FILTERS)
_MADE = (*_LIMITS, *conflicts(FIELD_DELETED))
_CRUD = crud(
    CUSTOM_FIELDS,
    at=AT,
    resource="system:custom-field",
    only=("list", "read", "create", "delete"),
    list=list_fields,
    read=read,
    create=create,
    delete=delete,
    restore=restore,
    refusals_of={"create": _MADE, "restore": _LIMITS},
)
ROUTES: tuple[Route, ...] = (
    *_CRUD,
    route(
        "PATCH /api/v1/system/custom-fields/{id}",
        update,
        summary="Change a custom field",
        access="system:custom-field:update",
        body=CUSTOM_FIELD_UPDATE,
        record=CUSTOM_FIELDS,
        errors=(DUPLICATE, STALE),
        refusals=_LIMITS,
        description="Where it belongs, its name and its type stay: values of that type are stored under that name.",
    ),
    route(
        "POST /api/v1/system/custom-fields/rehearse",
        rehearse_creation,
        summary="Rehearse a new custom field",
        title=("预演新增", "Rehearse"),
        access="system:custom-field:create",
        body=CUSTOM_FIELDS.create,
        returns=CUSTOM_FIELD_REHEARSAL,
        errors=(DUPLICATE,),
        refusals=_MADE,
        description="Nothing is written. It is refused as the creation would be.",
    ),
    route(
        "POST /api/v1/system/custom-fields/{id}/rehearse",
        rehearse_change,
        summary="Rehearse a change of a custom field",
        title=("预演修改", "Rehearse"),
        access="system:custom-field:update",
        body=CUSTOM_FIELD_TRIAL,
        returns=CUSTOM_FIELD_REHEARSAL,
        collection=CUSTOM_FIELDS.name,
        refusals=_LIMITS,
        description="Nothing is written. `removed: true` says what deleting it would hide.",
    ),
    route(
        "GET /api/v1/system/custom-fields/collections",
        list_collections,
        summary="List the collections that can have custom fields",
        title=("可扩展的数据", "Extensible records"),
        access=SIGNED_IN,
        query={
            "use": choice(
                "extend",
                "target",
                default="extend",
                nullable=False,
                label=("用途", "Use"),
                description="`target`: those that a custom field can refer to.",
            )
        },
        returns=array(EXTENSIBLE, max_items=1000, nullable=False),
    ),
)
