"""The check of a flow before it is enabled: its branches, and the people whom it would ask as they are now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from plugins.api import (
    Field,
    Message,
    Request,
    Route,
    anything,
    array,
    boolean,
    choice,
    integer,
    mapping,
    route,
    shape,
    text,
)
from plugins.api.errors import FieldError, ValidationFailed, refusal
from plugins.api.ports import Authorizer
from plugins.api.records import Catalogue, approval_record
from plugins.approval.conditions import matches
from plugins.approval.content import show_values
from plugins.approval.coverage import Coverage, Finding
from plugins.approval.engine import plan
from plugins.approval.facts import conditions_of, fields_of, find_field, gather_facts
from plugins.approval.names import list_names
from plugins.approval.panels import Staff, get_rule
from plugins.approval.people import load_staff
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.tree import Path, parts_of
from plugins.rbac.api import USERS

Flow = Mapping[str, Any]
_MOST_PEOPLE, _MOST_RECORDS = 2_000, 200
_OF_RECORDS = ("uncovered", "nobody_asked", "quorum", "own")
_INITIATOR = Message("发起人", "Initiator")
_YEAR = timedelta(days=366)
_RULES = {
    "uncovered": Message("有取值不符合任何分支", "No branch applies to some values"),
    "unreachable": Message("没有取值会进入该分支或流程", "No value ever leads here"),
    "nobody_asked": Message("有取值无需任何人审批", "Some values pass without anybody being asked"),
    "cost": Message("分支条件过于复杂，无法验证", "The branches are too complex to be checked"),
    "own": Message("有人会审批自己的申请", "Somebody would decide on their own request"),
    "quorum": Message("审批人不足，申请无法提交或会被退回", "Too few people can be asked: requests cannot pass"),
    "not_permitted": Message(
        "审批人的账号已停用，或没有审批权限", "Approvers are disabled, or lack the permission to agree"
    ),
}
_FIELDS = {"uncovered": "branches", "unreachable": "branches", "cost": "branches"}  # of a node; others: `approvers`
# conditions on fields that refer to these are about people: who may not pass a node may never come to it
_PEOPLE = frozenset({"rbac_users", "users", "rbac_departments", "departments", "rbac_roles"})
# what is checked, and the faults that show that it does not hold; the first follows from the tree of nodes
_CHECKS: Mapping[str, tuple[Message, tuple[str, ...]]] = {
    "ends": (Message("每个申请都会结束", "Every request ends"), ()),
    "covered": (Message("分支覆盖所有取值", "The branches cover all values"), ("uncovered", "cost")),
    "reached": (Message("每个分支都可能进入", "Every branch can be reached"), ("unreachable", "cost")),
    "asked": (Message("每个申请都有人审批", "Every request is decided by somebody"), ("nobody_asked", "cost")),
    "others": (Message("没有人审批自己的申请", "Nobody decides on their own request"), ("own",)),
    "quorums": (Message("每个节点的审批人足够", "Every node has enough people"), ("quorum",)),
    "permitted": (Message("审批人都有审批权限", "Everybody who is asked may decide"), ("not_permitted",)),
}

CHECKED = shape(
    "ApprovalCheck",
    passed=boolean(label=("通过", "Passed"), nullable=False),
    checks=array(
        shape(
            "ApprovalCheckItem",
            id=choice(*_CHECKS, nullable=False),
            message=text(label=("检查项", "Check"), nullable=False),
            passed=boolean(label=("通过", "Passed"), nullable=False),
        ),
        label=("检查项", "Checks"),
        nullable=False,
    ),
    problems=array(
        shape(
            "ApprovalProblem",
            message=text(label=("问题", "Fault"), nullable=False),
            node_name=text(label=("节点名称", "Node name")),
            branch=text(label=("分支名称", "Branch name")),
            example=text(label=("反例", "Counterexample"), nullable=False),
            blocks=boolean(label=("不能启用", "Cannot be enabled"), nullable=False),
        ),
        label=("问题", "Faults"),
        nullable=False,
        description="The same in words.",
    ),
    faults=array(
        shape(
            "ApprovalFault",
            rule=choice(*_RULES, nullable=False),
            message=text(nullable=False, description="The rule in words."),
            node=text(label=("节点", "Node"), description="The key of the node at fault; null for the whole flow."),
            branch=text(label=("分支名称", "Branch name")),
            values=mapping(
                anything(), nullable=False, description="Values, by the field of the conditions, that show the fault."
            ),
            resource_id=text(
                label=("业务单据", "Record"),
                description="A record of the last year that shows it, if the caller may read one.",
            ),
            initiator_id=integer(label=("发起人", "Initiator"), ref="users", description="Whose request shows it."),
            people=array(
                shape("ApprovalFaultPerson", id=integer(nullable=False), name=text(nullable=False)), nullable=False
            ),
            blocks=boolean(nullable=False, description="Whether the flow cannot be enabled because of it."),
        ),
        nullable=False,
    ),
    initiators=integer(
        label=("检查的发起人数", "Initiators checked"),
        minimum=0,
        nullable=False,
        description="For how many different initiators it was checked.",
    ),
)


@dataclass(frozen=True)
class _Fault:
    finding: Finding
    initiators: Sequence[int] = ()
    people: Sequence[int] = ()
    blocks: bool = True  # whether a flow with it cannot be enabled
    resource_id: str | None = None
    record_name: str = ""


async def refuse_faulty(req: Request, flow: Flow) -> None:
    """Raise 40001, with the first counterexample in words, for a flow that cannot be enabled as people are now."""
    places, faults = {node["key"]: number for number, node in enumerate(flow["nodes"])}, []
    blocking = [one for one in (await _find_faults(req, flow))[0] if one.blocks]
    for one in (fault.finding for fault in blocking):
        of_flow = "conditions" if one.rule in ("unreachable", "cost") else "nodes"
        where = f"nodes[{places[one.node]}].{_FIELDS.get(one.rule, 'approvers')}" if one.node is not None else of_flow
        faults.append(FieldError(where, one.rule if one.rule != "nobody_asked" else "required"))
    if blocking:
        said = await _say(req, flow, blocking[0])
        parts = [part for part in (said["node_name"], said["message"], said["example"]) if part]
        raise ValidationFailed(faults, Message("：".join(parts), ": ".join(parts)))


async def _find_faults(req: Request, flow: Flow) -> tuple[list[_Fault], int]:
    """Return what is wrong with a flow, the branches first, and for how many initiators its people were checked."""
    catalogue = req.part(Catalogue)
    shown = await fields_of(req.service, flow["biz_type"])

    def field_of(path: str) -> Field | None:
        return find_field(catalogue, shown, path.split(".")) if shown is not None else None

    faults = [_Fault(one) for one in Coverage(flow, field_of).find()]
    of_people = [
        one for one in conditions_of(flow) if (field := field_of(one["field"])) is None or field.ref in _PEOPLE
    ]
    initiators, staff = await _load(req, flow)
    faults += [one async for one in _check_people(flow, initiators, staff, everybody=not of_people)]
    return faults, len(initiators)


async def check(req: Request) -> dict[str, Any]:
    """Check a flow: branches that cover all values and can be reached, and people who can and may decide.

    A request ends because its nodes are a tree of at most 60, of which each is passed once, or sent back by a person.
    """
    flow = await req.store(DEFINITIONS).get(req.path["id"])
    found, initiators = await _find_faults(req, flow)
    faults = await _with_records(req, flow, found)
    broken = {one.finding.rule for one in faults}
    return {
        "passed": not faults,
        "checks": [
            {"id": name, "message": message.text(req.language), "passed": broken.isdisjoint(rules)}
            for name, (message, rules) in _CHECKS.items()
        ],
        "problems": [await _say(req, flow, one) for one in faults],
        "faults": [
            {
                "rule": one.finding.rule,
                "message": _RULES[one.finding.rule].text(req.language),
                "node": one.finding.node,
                "branch": one.finding.branch,
                "values": dict(one.finding.values),
                "resource_id": one.resource_id,
                "initiator_id": next(iter(one.initiators), None),
                "people": await list_names(req, one.people),
                "blocks": one.blocks,
            }
            for one in faults
        ],
        "initiators": initiators,
    }


async def _say(req: Request, flow: Flow, fault: _Fault) -> dict[str, Any]:
    """Return a fault in words, with the values, the person or the record that shows it."""
    one = fault.finding
    people = await list_names(req, fault.people)
    initiator = await list_names(req, fault.initiators[:1])
    shown = await fields_of(req.service, flow["biz_type"]) or {}
    fields = {path: find_field(req.part(Catalogue), shown, path.split(".")) for path in one.values}
    known = {path: field if field is not None else text(label=(path, path)) for path, field in fields.items()}
    values = show_values(req, known, one.values)
    told = [
        *(f"{each['label']} = {each['value']}" for each in values),
        *(f"{_INITIATOR.text(req.language)} {each['name']}" for each in initiator),
        *([fault.record_name] if fault.record_name else []),
        *([] if initiator else [each["name"] for each in people]),
    ]
    return {
        "message": _RULES[one.rule].text(req.language),
        "node_name": next((node["name"] for node in flow["nodes"] if node["key"] == one.node), None),
        "branch": one.branch,
        "example": ("，" if req.language == "zh" else ", ").join(told),
        "blocks": fault.blocks,
    }


async def _load(req: Request, flow: Flow) -> tuple[list[int], Staff]:
    """Return people who stand for all initiators: everybody whom flows treat apart, and one of each department."""
    users = req.system_store(USERS)
    rows = await users.find({"status": "enabled"}, sort="id", limit=_MOST_PEOPLE, fields=["department_id"])
    by_department = {row["department_id"]: row["id"] for row in rows}
    staff = await load_staff(req.service, [*flow["nodes"], flow], by_department.values(), req.now)
    enabled = [one for one in staff.people if staff.is_enabled(one)]
    return sorted({*by_department.values(), *enabled}), staff


async def _check_people(flow: Flow, initiators: Sequence[int], staff: Staff, everybody: bool) -> AsyncIterator[_Fault]:
    """Yield for each node who may not decide, and the initiators whose request cannot pass it or would be theirs to decide.

    What is certain blocks: nobody's request passes a node, or not that of an initiator who comes to it (`everybody` may)
    although its rule for absence would ask others. A node that refuses where people lack does what it says; who may not
    decide is replaced by that rule; and the company's option lets people decide on their own requests.
    """
    for node in (one for one in flow["nodes"] if not parts_of(one)):
        named = {person for one in initiators for person in staff.places(node["approvers"], one) if person is not None}
        unfit = sorted(one for one in named if not staff.may_decide(one))
        if unfit:
            yield _Fault(Finding("not_permitted", node["key"]), people=unfit, blocks=False)
        panels = {one: staff.panel(node, {"initiator_id": one}) for one in initiators}
        asked = {one: [each.user_id for each in panel.people] for one, panel in panels.items()}
        few = [one for one, panel in panels.items() if not panel.is_complete]
        if few:
            certain = len(few) == len(initiators) or (everybody and get_rule(node) != "refuse")
            yield _Fault(Finding("quorum", node["key"]), few, asked[few[0]], certain)
        own = [one for one in initiators if one in asked[one] and not staff.people[one].is_super]
        if own:
            yield _Fault(Finding("own", node["key"]), own, own[:1], blocks=False)
        await asyncio.sleep(0)  # a flow of 60 nodes and hundreds of people takes a while


async def _with_records(req: Request, flow: Flow, faults: Sequence[_Fault]) -> list[_Fault]:
    """Add to each fault a record of the last year that shows it, if the caller may read one."""
    found = list(faults)
    waiting = [at for at, one in enumerate(found) if one.finding.rule in _OF_RECORDS]
    if not waiting:
        return found
    async for id, name, record, initiator_id in _records(req, flow["biz_type"]):
        initiator = initiator_id or req.actor.user_id
        facts = await gather_facts(req.service, flow["biz_type"], flow["conditions"], record, initiator)
        if not matches(flow["conditions"], facts):
            continue
        path = await plan(req.service, flow, record, initiator, {})
        for at in [one for one in waiting if _is_shown(found[one], path, initiator)]:
            # whose record it is comes first among the initiators
            others = [one for one in found[at].initiators if one != initiator]
            first = [initiator] if found[at].initiators else []
            found[at] = replace(found[at], resource_id=str(id), record_name=name, initiators=[*first, *others])
            waiting.remove(at)
        if not waiting:
            break
    return found


def _is_shown(fault: _Fault, path: Path, initiator: int) -> bool:
    """Return whether a record of this initiator, which takes this path, has the fault."""
    if fault.finding.rule == "uncovered":
        return path.open_node == fault.finding.node
    if fault.finding.rule == "nobody_asked":
        return path.open_node is None and not path.nodes
    return initiator in fault.initiators and any(node["key"] == fault.finding.node for node in path.nodes)


async def _records(req: Request, biz_type: str) -> AsyncIterator[tuple[Any, str, Mapping[str, Any], int | None]]:
    """Yield the newest records of the last year that the caller may read, or requests of a type without records."""
    catalogue, recent = req.part(Catalogue), {"created_at": {"$gte": req.now - _YEAR}}
    collection = catalogue.biz_types.get(biz_type)
    if collection is None:
        about = {"biz_type": biz_type, **recent}
        for one in await req.store(INSTANCES).find(about, sort="-created_at", limit=_MOST_RECORDS):
            yield one["id"], one["title"], one["record"], one["initiator_id"]
        return
    reading = [one for one in catalogue.routes if one.collection == collection.name and one.method == "GET"]
    allowed = [await refusal(req.actor, one, req.part(Authorizer)) is None for one in reading]
    if any(allowed):
        for row in await req.store(collection).find(recent, sort="-created_at", limit=_MOST_RECORDS):
            name = str(row.get(collection.code_field) or row.get(collection.label_field) or row["id"])
            yield row["id"], name, await approval_record(req, collection, row), row.get("creator_id")


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/approvals/definitions/{id}/check",
        check,
        summary="Check a flow before it is enabled",
        title=("检查", "Check"),
        access="approval:definition:simulate",
        returns=CHECKED,
        collection=DEFINITIONS.name,
    ),
)
