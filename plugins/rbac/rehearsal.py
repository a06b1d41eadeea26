"""Rehearsals: who would gain or lose which operations and rows by a change of roles, users, menus or departments.

The change is made by its own handler, in a transaction that is rolled back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.api import Handler, Message, Request, Route, array, boolean, integer, mapping, obj, route, text
from plugins.api.data import follow_at_once, undone
from plugins.api.ports import AtOnce
from plugins.api.records import Catalogue
from plugins.rbac import departments, menu_records, roles, users
from plugins.rbac.company import Company, Operation, codes_of
from plugins.rbac.records import USERS
from plugins.rbac.rehearsed_rows import MOST_COUNTS, RowChanges, RowComparison, TooManyCounts

MOST_PEOPLE = 5_000
_CHANGE = obj(
    "RehearsedChange",
    {
        "user_id": integer(nullable=False, ref="rbac_users"),
        "permissions": array(
            text(nullable=False),
            label=("权限标识", "Permission codes"),
            named_by="permission_names",
            max_items=5_000,
            nullable=False,
            description="The codes of the operations.",
        ),
        "permission_names": array(
            text(nullable=False),
            label=("权限", "Permissions"),
            max_items=5_000,
            nullable=False,
            description="What the operations are called, in the caller's language and the same order.",
        ),
        "rows": mapping(
            integer(nullable=False),
            label=("可见数据行", "Rows"),
            named_by="row_names",
            nullable=False,
            description="The number of rows that the data scope shows, by collection, even if the user may not list "
            "them.",
        ),
        "row_names": mapping(
            integer(nullable=False),
            label=("各类数据行", "Rows by name"),
            nullable=False,
            description="The same, by the name of the records in the caller's language.",
        ),
    },
    nullable=False,
)
REHEARSAL = obj(
    "Rehearsal",
    {
        "gains": array(_CHANGE, label=("新增权限", "Gains"), max_items=MOST_PEOPLE, nullable=False),
        "losses": array(_CHANGE, label=("失去权限", "Losses"), max_items=MOST_PEOPLE, nullable=False),
        "people": integer(
            label=("受影响人数", "People affected"),
            nullable=False,
            description=f"How many people gain or lose anything; {MOST_PEOPLE:,} of them at most are listed.",
        ),
        "rows_counted": boolean(
            label=("已统计数据行", "Rows counted"),
            nullable=False,
            description=f"False if rows were not counted because this would take more than {MOST_COUNTS:,} counts.",
        ),
    },
    nullable=False,
)


@dataclass(frozen=True)
class _Outcome:
    """The company before and after a change, and the comparison of rows, or None if they are not counted."""

    before: Company
    after: Company
    rows: RowComparison | None


class RunningRehearsals(AtOnce):
    """The rehearsals that run in this process; real changes of the same records wait for them."""


def rehearser(change: Handler) -> Handler:
    """Return a handler that returns what `change` would do with the same request, and raises what `change` raises.

    It raises 42900 for a person who has too many of them running.
    """

    async def rehearse(req: Request) -> dict[str, Any]:
        with req.part(RunningRehearsals).counted(req.actor.user_id):
            outcome = await undone(req.service.database, lambda: _make(req, change))
            rows = await outcome.rows.finish() if outcome.rows is not None else RowChanges()
            return await _describe(req, outcome, rows)

    return rehearse


async def _make(req: Request, change: Handler) -> _Outcome:
    """Make the change in the current transaction, and return the company before and after it."""
    database, catalogue = req.service.database, req.part(Catalogue)
    before = await Company.load(database, catalogue)
    await change(req)
    after = await Company.load(database, catalogue)
    # without a rehearsal this happens in the background, after the commit
    await follow_at_once(database, dict(_moved(before, after)))
    rows = RowComparison(database, [one for one in catalogue.collections.values() if one.scoped or one.follows])
    try:
        await rows.count_after(before, after)
    except TooManyCounts:
        return _Outcome(before, after, None)
    return _Outcome(before, after, rows)


def _moved(before: Company, after: Company) -> Iterator[tuple[int, int | None]]:
    """Yield the id of each person whose department changes, and the new department."""
    for id, user in after.people.items():
        if id in before.people and before.people[id]["department_id"] != user["department_id"]:
            yield id, user["department_id"]


async def _describe(req: Request, outcome: _Outcome, rows: RowChanges) -> dict[str, Any]:
    gained, lost = _operations(outcome.after, outcome.before), _operations(outcome.before, outcome.after)
    affected = {*gained, *lost, *rows.gains, *rows.losses}
    if not req.scope.everything:
        affected &= {user["id"] for user in await req.store(USERS).find(fields=["id"])}
    listed = sorted(affected)[:MOST_PEOPLE]
    return {
        "gains": list(_list(req, listed, gained, rows.gains)),
        "losses": list(_list(req, listed, lost, rows.losses)),
        "people": len(affected),
        "rows_counted": outcome.rows is not None,
    }


def _operations(there: Company, here: Company) -> dict[int, frozenset[Operation]]:
    """Return what people may do in `there` but not in `here`, by user; people without such operations are left out."""
    people = (id for id in there.people if not (there.is_super(id) and here.is_super(id)))
    differences = ((id, there.allowed(id) - here.allowed(id)) for id in people)
    return {id: operations for id, operations in differences if operations}


def _list(
    req: Request,
    people: Iterable[int],
    operations: Mapping[int, frozenset[Operation]],
    rows: Mapping[int, Mapping[str, int]],
) -> Iterable[dict[str, Any]]:
    catalogue = req.part(Catalogue)
    known = {code: title.text(req.language) for code, title in catalogue.operations.items()}
    for id in people:
        if id in operations or id in rows:
            codes, counts, named = codes_of(operations.get(id, ())), rows.get(id, {}), Counter[str]()
            for name, count in counts.items():
                named[Message(*catalogue.collections[name].noun).text(req.language)] += count
            yield {
                "user_id": id,
                "permissions": codes,
                "permission_names": [known.get(code, code) for code in codes],
                "rows": dict(counts),
                "row_names": dict(named),
            }


def _rehearsal(endpoint: str, access: str, changing: Sequence[Route], noun: str) -> Route:
    """Return the route that rehearses the PATCH in `changing`, with the same body and the same refusals."""
    patch = next(one for one in changing if one.method == "PATCH")
    return route(
        endpoint,
        rehearser(patch.handler),
        summary=f"Rehearse a change of a {noun}",
        title=("预演修改", "Rehearse"),
        access=access,
        body=patch.body,
        returns=REHEARSAL,
        collection=patch.collection,
        errors=patch.errors,
        refusals=patch.refusals,
        events=patch.events,
        description="Takes the body of the PATCH and lists who would gain or lose what by it. Nothing is written. "
        "It is refused as the PATCH would be. People outside the caller's data scope are left out.",
    )


ROUTES: tuple[Route, ...] = (
    _rehearsal("POST /api/v1/system/roles/{id}/rehearse", "system:role:update", roles.ROUTES, "role"),
    _rehearsal("POST /api/v1/system/users/{id}/rehearse", "system:user:update", users.ROUTES, "user"),
    _rehearsal("POST /api/v1/system/menus/{id}/rehearse", "system:menu:update", menu_records.ROUTES, "menu"),
    _rehearsal(
        "POST /api/v1/system/departments/{id}/rehearse", "system:department:update", departments.ROUTES, "department"
    ),
)
