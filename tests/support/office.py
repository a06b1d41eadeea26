"""Five colleagues in a department tree, the views that a person can have of their rows, and those rows.

department ── me, mate
├─ below
sibling's department ── sibling
no department ── nowhere
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handlers.data.collection import Collection
from handlers.data.database import Database
from plugins.testing import Client, People, expect
from tests.support.valid_requests import Maker

NAMES = ("me", "mate", "below", "sibling", "nowhere")


@dataclass(frozen=True)
class View:
    """The data scopes of the viewer's roles, and the colleagues whose rows they show."""

    scopes: tuple[str, ...]
    sees: frozenset[str]
    viewer: str = "me"


def _view(scopes: str, sees: str, viewer: str = "me") -> View:
    return View(tuple(scopes.split()), frozenset(sees.split()), viewer)


VIEWS: Mapping[str, View] = {
    "all": _view("all", "me mate below sibling nowhere"),
    "department": _view("department", "me mate"),
    "department_and_below": _view("department_and_below", "me mate below"),
    "self": _view("self", "me"),
    "custom": _view("custom", "sibling"),
    "two roles": _view("self custom", "me sibling"),
    "a custom scope of no department": _view("nothing", ""),
    "a department scope without a department": _view("department", "nowhere", "nowhere"),
}
FIVE_SCOPES = ("all", "department", "department_and_below", "self", "custom")


@dataclass
class Colleague:
    """A person: the account, its department, and a client that is logged in."""

    id: int
    department_id: int | None
    client: Client


@dataclass
class Office:
    """The colleagues, one role for each data scope, and a row of each colleague in every collection asked for."""

    maker: Maker
    database: Database
    colleagues: dict[str, Colleague]
    roles: Mapping[str, int]
    _rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    _current: str = ""

    async def look(self, name: str) -> Colleague:
        """The viewer, holding just the roles of this view."""
        viewer = self.colleagues[VIEWS[name].viewer]
        if name != self._current:
            at = f"/api/v1/system/users/{viewer.id}"
            account = expect(await self.maker.admin.get(at))
            role_ids = [self.roles[scope] for scope in VIEWS[name].scopes]
            expect(await self.maker.admin.patch(at, {"version": account["version"], "role_ids": role_ids}))
            self._current = name
        return viewer

    async def rows(self, collection: Collection) -> dict[str, Any]:
        """Colleague → `id` of their row; rows that are gone are made again."""
        rows = self._rows.setdefault(collection.name, {})
        if collection.scope_person == "id" and not rows:
            rows |= {name: colleague.id for name, colleague in self.colleagues.items()}
        for name, colleague in self.colleagues.items():
            if name not in rows or not await self.live(collection, rows[name]):
                rows[name] = await self._row_of(collection, colleague)
        return rows

    async def _row_of(self, collection: Collection, owner: Colleague) -> Any:
        """A record made through the API and then given to its owner, whatever the fields of data scope are."""
        key = collection.parse_id((await self.maker.record(collection.name))["id"])
        owned: dict[str, Any] = {collection.scope_department: owner.department_id}
        if collection.scope_person != "id":
            owned[collection.scope_person] = owner.id
        if collection.shared:
            owned["shared_with"] = []
        await self.database.driver.update_one(collection.name, {"_id": key}, {"$set": owned})
        self.database.tell(collection.name, key)
        return str(key) if collection.ids == "object_id" else key

    async def stored(self, collection: Collection, id: Any) -> dict[str, Any]:
        """The document as it is in the database, deleted or not."""
        found = await self.database.driver.find_one(collection.name, {"_id": collection.parse_id(id)})
        assert found is not None
        return found

    async def live(self, collection: Collection, id: Any) -> bool:
        """Whether the record is there and not deleted."""
        return not (await self.stored(collection, id))["deleted"]

    def is_viewer(self, collection: Collection, name: str) -> bool:
        """Whether the row is the account of somebody who looks: it must stay."""
        return collection.scope_person == "id" and name in {view.viewer for view in VIEWS.values()}


async def open_office(maker: Maker, people: People, database: Database) -> Office:
    """Departments, accounts and roles; every role grants every menu, so that data scope alone decides."""
    department, apart = await people.department(), await people.department()
    departments = {"me": department, "mate": department, "below": await people.department(department), "sibling": apart}
    colleagues = {name: await _colleague(people, departments.get(name)) for name in NAMES}
    everything = [menu["permission"] for menu in await people.menus() if menu["permission"]]
    roles = {scope: await people.role(everything, scope, [apart] if scope == "custom" else ()) for scope in FIVE_SCOPES}
    roles["nothing"] = await people.role(everything, "custom")
    return Office(maker, database, colleagues, roles)


async def _colleague(people: People, department_id: int | None) -> Colleague:
    account = await people.account((), department_id)
    return Colleague(account["id"], department_id, await people.admin.log_in(account["username"]))
