"""A small plugin for tests of permissions and data scope: notes, which are listed, read, written and archived."""

from __future__ import annotations

from typing import Any

from plugins.api import Actor, Collection, Menu, Message, Plugin, Request, array, boolean, crud, route, text
from plugins.boot.runtime import Running

AT = "/api/v1/notes/notes"

NOTES = Collection(
    name="notes_notes",
    title="Note",
    noun=Message("便签", "note"),
    scoped=True,
    shared=True,
    fields={
        "name": text(label=("名称", "Name"), required=True, max_length=100),
        "tags": array(text(max_length=50, min_length=1), label=("标签", "Tags"), default=[], filter=True),
        "archived": boolean(label=("已归档", "Archived"), default=False, read_only=True),
    },
)


async def archive(req: Request) -> dict[str, Any]:
    """Put a note away."""
    return await req.store(NOTES).update(req.path["id"], {"archived": True})


NOTES_PLUGIN = Plugin(
    name="notes",
    title=Message("便签", "Notes"),
    requires=("rbac",),
    collections=(NOTES,),
    routes=(
        *crud(NOTES, at=AT, resource="notes:note"),
        route(
            f"POST {AT}/{{id}}/archive",
            archive,
            summary="Archive a note",
            access="notes:note:archive",
            returns=NOTES.read,
            collection=NOTES.name,
        ),
    ),
    menus=(
        Menu("notes", Message("便签", "Notes"), path="/notes"),
        Menu("notes.note", Message("便签", "Notes"), path="/notes/notes", parent="notes", resource="notes:note"),
    ),
    permissions={"notes:note:archive": Message("归档", "Archive")},
)


async def note_by(running: Running, user_id: int, department_id: int | None, **fields: Any) -> str:
    """The id of a new note made by this user in this department."""
    store = running.service.database.store(NOTES, Actor(user_id=user_id, department_id=department_id))
    return str((await store.create({"name": "note", "shared_with": [], **fields}))["id"])
