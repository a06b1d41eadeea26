"""What flows can be about, and who would be asked: the business types with their fields, and simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plugins.api import (
    NOT_FOUND,
    SIGNED_IN,
    ApiError,
    Collection,
    Field,
    Message,
    Refusal,
    Request,
    Route,
    array,
    invalid,
    obj,
    object_id,
    route,
)
from plugins.api.errors import refusal
from plugins.api.ports import Authorizer, people_behind
from plugins.api.records import Catalogue, Dictionaries, Entries, approval_fields, approval_record
from plugins.api.spreadsheets import labels_of
from plugins.approval.condition_checks import EQUALITY, operators_of
from plugins.approval.conditions import matches
from plugins.approval.engine import plan
from plugins.approval.facts import conditions_of, gather_facts
from plugins.approval.flow import Assignee, Panel
from plugins.approval.form_records import FORMS, MOST_FIELDS, fields_in_form, find_form_fields
from plugins.approval.names import list_names
from plugins.approval.panels import Staff
from plugins.approval.people import load_staff
from plugins.approval.records import APPROVERS, DEFINITIONS
from plugins.approval.requests import find_enabled, first_of
from plugins.approval.simulated import SIMULATE_BODY, SIMULATION, TRIAL, TRIAL_BODY, TYPE_FIELD, TYPES
from plugins.rbac.api import Directory

_NEVER = ("id", "version")
_NO_RECORD = Message("没有这条记录，或没有查看权限", "There is no such record, or you may not see it")


async def list_types(req: Request) -> dict[str, Any]:
    """Return the business types that flows may be about, with the fields that their conditions may name."""
    catalogue, entries, language = req.part(Catalogue), await req.part(Dictionaries).current(), req.language
    stored = await req.service.database.store(FORMS).find()
    forms = {one["biz_type"]: fields_in_form(req.service, one) for one in stored}
    types: list[dict[str, Any]] = []
    for biz_type, collection in catalogue.biz_types.items():
        shown = approval_fields(catalogue.routes, collection)
        if shown is not None:
            noun = Message(*collection.noun).text(language)
            fields = [*_fields(req, entries, shown)]
            known = {"name": noun[:1].upper() + noun[1:], "collection": collection.name, "fields": fields}
            types.append({"biz_type": biz_type, **known})
    for value, entry in entries.get("biz_type", {}).items():
        if entry.enabled and all(one["biz_type"] != value for one in types):
            fields = [*_fields(req, entries, forms.get(value, {}))]
            types.append({"biz_type": value, "name": entry.label.text(language), "collection": None, "fields": fields})
    operators = entries.get("approval_operator", {}).items()
    named = [{"value": value, "label": entry.label.text(language)} for value, entry in operators]
    return {"items": types, "operators": named}


async def list_form_fields(req: Request) -> list[dict[str, Any]]:
    """Return the fields that requests of a flow have; empty if it is about records, or if they may have any."""
    definition = await req.system_store(DEFINITIONS).find_one({"_id": req.query["definition_id"]})
    fields = await find_form_fields(req.service, definition["biz_type"]) if definition is not None else None
    return [*_fields(req, await req.part(Dictionaries).current(), fields or {})]


def _fields(req: Request, entries: Entries, fields: Mapping[str, Field], within: str = "") -> Iterator[dict[str, Any]]:
    """Yield what conditions may name: no lists of objects, and no names beside references."""
    beside = {one.name for one in obj(None, fields).siblings}
    for name, field in fields.items():
        compared = field.items if field.kind == "array" else field
        if name in (*_NEVER, *beside) or field.secret or field.write_only or compared is None:
            continue
        if field.kind == "object":
            yield from _fields(req, entries, field.fields or {}, f"{within}{name}.")
        elif compared.kind not in ("any", "mapping", "object"):
            labels = labels_of(req.part(Catalogue), entries, compared)
            values = (*labels, *(one for one in compared.rules.get("enum") or () if one not in labels))
            named = [
                {"value": one, "label": labels[one].text(req.language) if one in labels else one} for one in values
            ]
            yield {
                "field": within + name,
                "label": field.label.text(req.language) if field.label else name.replace("_", " "),
                "kind": compared.kind,
                "operators": [one for one in operators_of(field) if one in EQUALITY or not (named or field.ref)],
                "values": named,
                "ref": field.ref or compared.ref,
                "required": field.required,
            }


async def simulate_flow(req: Request) -> dict[str, Any]:
    """Return the people that each node of a flow would ask now, and who would be copied."""
    definition = await req.store(DEFINITIONS).get(req.path["id"])
    initiator_id = await _initiator(req, req.actor.user_id)
    record, biz_type = req.body.get("record") or {}, definition["biz_type"]
    asked = await _ask(req, definition, {"initiator_id": initiator_id, "record": record})
    facts = await gather_facts(req.service, biz_type, definition["conditions"], record, initiator_id)
    return {"matches": matches(definition["conditions"], facts), **asked}


async def simulate(req: Request) -> dict[str, Any]:
    """Return which flow a record, or values, would go through if it were submitted now, who would be asked, and why."""
    biz_type, catalogue = req.body["biz_type"], req.part(Catalogue)
    collection, record = catalogue.biz_types.get(biz_type), req.body.get("record") or {}
    creator, behind = req.actor.user_id, frozenset[int]()
    if req.body.get("resource_id") is not None:
        found = await _read(req, collection, req.body["resource_id"])
        creator, behind = found.get("creator_id") or creator, people_behind(found)
        record = {**await approval_record(req, collection, found), **record} if collection is not None else record
    flows = await find_enabled(req.service, biz_type)
    initiator_id = await _initiator(req, creator)
    conditions = [each for one in flows for each in conditions_of(one)]
    facts = await gather_facts(req.service, biz_type, conditions, record, initiator_id)
    first = first_of(flows, facts)
    approval = {"initiator_id": initiator_id, "behind": behind, "record": record}
    asked = await _ask(req, first, approval) if first is not None else {"nodes": [], "taken": [], "copies": []}
    failed = {one["id"]: [each for each in one["conditions"] if not matches([each], facts)] for one in flows}
    tried = [{"id": one["id"], "name": one["name"], "failed": failed[one["id"]]} for one in flows]
    return {
        "definition_id": first["id"] if first is not None else None,
        **asked,
        "initiator_id": initiator_id,
        "flows": tried,
    }


async def _read(req: Request, collection: Collection | None, id: str) -> dict[str, Any]:
    """Return a record that the caller may read. Raises 40400 for another one, 40001 for a type without records."""
    if collection is None:
        raise invalid("resource_id", "unknown")
    authorizer = req.part(Authorizer)
    for one in req.part(Catalogue).routes:
        reads = one.collection == collection.name and one.method == "GET"
        if reads and await refusal(req.actor, one, authorizer) is None:
            return await req.store(collection).get(collection.parse_id(id))
    raise ApiError(NOT_FOUND)


async def _initiator(req: Request, otherwise: int | None) -> int:
    """Return the initiator whom the body names. Raises 40001 for somebody unknown."""
    initiator_id = req.body.get("initiator_id") or otherwise
    if initiator_id is None or await req.part(Directory).user(initiator_id) is None:
        raise invalid("initiator_id", "reference")
    return int(initiator_id)


async def _ask(req: Request, definition: Mapping[str, Any], approval: Mapping[str, Any]) -> dict[str, Any]:
    nodes, initiator_id = [], approval["initiator_id"]
    path = await plan(req.service, definition, approval["record"], initiator_id, {})
    behind = approval.get("behind") or ()
    staff = await load_staff(req.service, [*path.nodes, definition], [initiator_id], req.now, *behind)
    for node in path.nodes:
        panel = staff.panel(node, approval) if not node.get("lanes") else Panel((), 0)
        reasons = await _reasons(req, staff, node, initiator_id)
        nodes.append({**node, "approvers": await _add_names(req, panel.people, reasons), "needed": panel.needed})
    copies = staff.named(definition["copies"], initiator_id)
    return {
        "nodes": nodes,
        "taken": path.taken,
        "open_node": path.open_node,
        "copies": await _add_names(req, [*map(Assignee, copies)], {}),
    }


async def _reasons(req: Request, staff: Staff, node: Mapping[str, Any], initiator_id: int) -> dict[int | str, str]:
    """Return why a node names each person, and what its rule for absence is called."""
    entries = (await req.part(Dictionaries).current()).get("approval_absent", {})
    found: dict[int | str, str] = {rule: entry.label.text(req.language) for rule, entry in entries.items()}
    for name, given in node["approvers"].items():
        label = (APPROVERS.fields or {})[name].label
        if label is not None and given:
            for user_id in staff.places({name: given}, initiator_id):
                found.setdefault(user_id or "", label.text(req.language))
    return found


async def _add_names(req: Request, asked: Sequence[Assignee], reasons: Mapping[int | str, str]) -> list[dict[str, Any]]:
    named = await list_names(req, (one.user_id for one in asked))
    return [
        {
            "user_id": one.user_id,
            "name": person["name"],
            "on_behalf_of": one.on_behalf_of,
            "absent": one.absent,
            "because": reasons.get(one.absent or one.user_id),
        }
        for one, person in zip(asked, named, strict=True)
    ]


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/approvals/types",
        list_types,
        summary="List what flows can be about, and what their conditions may name",
        access=SIGNED_IN,
        returns=TYPES,
    ),
    route(
        "GET /api/v1/approvals/forms/fields",
        list_form_fields,
        summary="List the fields that requests of a flow have",
        access="approval:instance:create",
        query={"definition_id": object_id(label=("审批流程", "Approval flow"), required=True, ref=DEFINITIONS.name)},
        returns=array(TYPE_FIELD, max_items=MOST_FIELDS, nullable=False),
    ),
    route(
        "POST /api/v1/approvals/simulate",
        simulate,
        summary="Show which flow a record would go through, and whom it would ask",
        title=("试运行", "Try"),
        access="approval:definition:simulate",
        body=TRIAL_BODY,
        returns=TRIAL,
        refusals=(Refusal(NOT_FOUND, hint=_NO_RECORD),),
    ),
    route(
        "POST /api/v1/approvals/definitions/{id}/simulate",
        simulate_flow,
        summary="Show whom a flow would ask",
        access="approval:definition:simulate",
        body=SIMULATE_BODY,
        returns=SIMULATION,
        collection=DEFINITIONS.name,
    ),
)
