"""The check of a flow before it is enabled: its branches, and the people whom it would ask as they are now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from plugins.api.errors import FieldError, refusal
from plugins.api.ports import Authorizer
from plugins.api.records import Catalogue, approval_record
from plugins.approval.conditions import matches
from plugins.approval.coverage import Coverage, Finding
from plugins.approval.engine import plan
from plugins.approval.facts import fields_of, find_field, gather_facts
from plugins.approval.names import list_names
from plugins.approval.panels import Staff
from plugins.approval.people import load_staff
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.tree import parts_of
from plugins.rbac.api import USERS

Flow = Mapping[str, Any]
_MOST_PEOPLE, _MOST_RECORDS = 2_000, 200
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
# what no change of people can mend: such a flow cannot be enabled
_FIELDS = {"uncovered": "branches", "unreachable": "branches", "nobody_asked": None, "cost": "branches"}

CHECKED = shape(
    "ApprovalCheck",
    passed=boolean(label=("通过", "Passed"), nullable=False),
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
    initiator_id: int | None = None
    people: Sequence[int] = ()
    resource_id: str | None = None


def find_coverage(req: Request, flow: Flow) -> list[Finding]:
    """Return what is wrong with the branches of a flow."""
    catalogue = req.part(Catalogue)
    shown = fields_of(catalogue, flow["biz_type"])

    def field_of(path: str) -> Field | None:
        return find_field(catalogue, shown, path.split(".")) if shown is not None else None

    return Coverage(flow, field_of).find()


def coverage_faults(req: Request, flow: Flow) -> Iterator[FieldError]:
    """Yield the faults for which a flow with branches cannot be enabled."""
    places = {node["key"]: number for number, node in enumerate(flow["nodes"])}
    if not any(node.get("branches") for node in flow["nodes"]):
        return
    for one in find_coverage(req, flow):
        part = _FIELDS[one.rule]
        where = f"nodes[{places[one.node]}].{part}" if one.node is not None else "nodes"
        yield FieldError(where, one.rule if one.rule != "nobody_asked" else "required")


async def check(req: Request) -> dict[str, Any]:
    """Check a flow: branches that cover all values and can be reached, and people who can and may decide.

    A request ends because its nodes are a tree of at most 60, of which each is passed once, or sent back by a person.
    """
    flow = await req.store(DEFINITIONS).get(req.path["id"])
    faults = [_Fault(one) for one in find_coverage(req, flow)]
    faults = [await _with_record(req, flow, one) for one in faults]
    initiators, staff = await _load(req, flow)
    faults += [one async for one in _check_people(req, flow, initiators, staff)]
    return {
        "passed": not faults,
        "faults": [await _shown(req, one) for one in faults],
        "initiators": len(initiators),
    }


async def _shown(req: Request, fault: _Fault) -> dict[str, Any]:
    one = fault.finding
    return {
        "rule": one.rule,
        "message": _RULES[one.rule].text(req.language),
        "node": one.node,
        "branch": one.branch,
        "values": dict(one.values),
        "resource_id": fault.resource_id,
        "initiator_id": fault.initiator_id,
        "people": await list_names(req, fault.people),
        "blocks": one.rule in _FIELDS,
    }


async def _load(req: Request, flow: Flow) -> tuple[list[int], Staff]:
    """Return people who stand for all initiators: everybody whom flows treat apart, and one of each department."""
    users = req.system_store(USERS)
    rows = await users.find({"status": "enabled"}, sort="id", limit=_MOST_PEOPLE, fields=["department_id"])
    by_department = {row["department_id"]: row["id"] for row in rows}
    staff = await load_staff(req.service, [*flow["nodes"], flow], by_department.values(), req.now)
    enabled = [one for one in staff.people if staff.is_enabled(one)]
    return sorted({*by_department.values(), *enabled}), staff


async def _check_people(req: Request, flow: Flow, initiators: Sequence[int], staff: Staff) -> AsyncIterator[_Fault]:
    """Yield for each node the first initiator whose request it could not decide, or would let them decide."""
    for node in (one for one in flow["nodes"] if not parts_of(one)):
        named = {person for one in initiators for person in staff.places(node["approvers"], one) if person is not None}
        unfit = sorted(one for one in named if not staff.may_decide(one))
        if unfit:
            yield _Fault(Finding("not_permitted", node["key"]), people=unfit)
        seen = set[str]()
        for initiator in initiators:
            panel = staff.panel(node, {"initiator_id": initiator})
            asked = [one.user_id for one in panel.people]
            if not panel.is_complete and "quorum" not in seen:
                seen.add("quorum")
                yield _Fault(Finding("quorum", node["key"]), initiator, asked)
            if initiator in asked and not staff.people[initiator].is_super and "own" not in seen:
                seen.add("own")
                yield _Fault(Finding("own", node["key"]), initiator, [initiator])
        await asyncio.sleep(0)  # a flow of 60 nodes and hundreds of people takes a while


async def _with_record(req: Request, flow: Flow, fault: _Fault) -> _Fault:
    """Add a record of the last year that no branch of the node applies to, if the caller may read one."""
    if fault.finding.rule != "uncovered":
        return fault
    async for id, record, initiator_id in _records(req, flow["biz_type"]):
        initiator, conditions = initiator_id or req.actor.user_id, flow["conditions"]
        facts = await gather_facts(req.service, flow["biz_type"], conditions, record, initiator)
        path = await plan(req.service, flow, record, initiator, {})
        if matches(conditions, facts) and path.open_node == fault.finding.node:
            return _Fault(fault.finding, resource_id=str(id))
    return fault


async def _records(req: Request, biz_type: str) -> AsyncIterator[tuple[Any, Mapping[str, Any], int | None]]:
    """Yield the newest records of the last year that the caller may read, or requests of a type without records."""
    catalogue, recent = req.part(Catalogue), {"created_at": {"$gte": req.now - _YEAR}}
    collection = catalogue.biz_types.get(biz_type)
    if collection is None:
        about = {"biz_type": biz_type, **recent}
        for one in await req.store(INSTANCES).find(about, sort="-created_at", limit=_MOST_RECORDS):
            yield one["id"], one["record"], one["initiator_id"]
        return
    reading = [one for one in catalogue.routes if one.collection == collection.name and one.method == "GET"]
    allowed = [await refusal(req.actor, one, req.part(Authorizer)) is None for one in reading]
    if any(allowed):
        for row in await req.store(collection).find(recent, sort="-created_at", limit=_MOST_RECORDS):
            yield row["id"], await approval_record(req, collection, row), row.get("creator_id")


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
