"""The command `tradewind plugin purge`: removes for good what a plugin that is not loaded has left in the database."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable, Document, open_driver
from config.embedded import EmbeddedError
from config.settings import Settings
from handlers.data.database import COUNTERS, LEASES, Database
from handlers.data.history.history import CHANGES
from handlers.data.index import LIVE
from handlers.operations.migrations import MIGRATIONS
from plugins.boot.known_plugins import KNOWN_PLUGINS
from plugins.boot.listen import StartError
from plugins.boot.registry import RegistryError, load_plugins
from plugins.boot.runtime import MARKS, catalogue_of
from plugins.commands.command_parser import command_parser
from plugins.commands.diagnosis.database import collections_in
from plugins.commands.doctor import database_uri
from plugins.commands.user import note_command
from plugins.rbac.records import MENUS
from plugins.system.records import CONFIGS, DICTIONARIES

_BATCH = 5000
DONE, REFUSED, UNREACHABLE = 0, 1, 2
_A_REFERENCE = {"$type": ["objectId", "string", "int", "long"]}  # also among the ids of a list
_EPILOG = """\
Take the plugin out of TRADEWIND_PLUGINS and restart every instance first: while it is only disabled, its data stays.
Records of other plugins that refer to its records keep it: delete these, or make them refer to others. What is merely
about its records, such as approvals and attachments, goes with it where `--also` names the collection.

examples:
  {program} purge acme                             # says what there is, and removes nothing
  {program} purge acme --yes
  {program} purge acme --also approval_instances --also files_attachments --yes

exit codes: 0 removed; 1 not removed, as a sentence says; 2 arguments, settings or the database
"""


class Refused(Exception):
    """The plugin cannot be purged; the message says why."""


@dataclass(frozen=True)
class Part:
    """Something that goes with the plugin: documents of a collection, or the whole of it if there is no filter.

    With `fields`, the documents stay and only lose these.
    """

    collection: str
    filter: Mapping[str, Any] | None = None
    fields: Sequence[str] = ()


class Purge:
    """One plugin that is not loaded; `notes` say what every known plugin keeps, `also` what may go with it."""

    def __init__(self, database: Database, name: str, notes: Mapping[str, Document], also: Sequence[str]) -> None:
        self._database = database
        self._driver = database.driver
        self._name = name
        self._notes = notes
        self._note = notes[name]
        self._also = also

    async def refuse(self) -> None:
        """Raise `Refused` if other plugins need this one, or records of others refer to its records."""
        if unknown := sorted({*self._also} - {part.collection for part in self._about()}):
            raise Refused(f"no other plugin keeps anything about records of {self._name} in {', '.join(unknown)}")
        requiring = sorted(name for name, note in self._notes.items() if self._name in note["requires"])
        if requiring:
            raise Refused(f"{', '.join(requiring)} requires {self._name}: purge that plugin first")
        own = {name for one in self._note["collections"] for name in (one["name"], one["alias"]) if name}
        others = [note for name, note in self._notes.items() if name != self._name]
        held = [
            (f"{one['collection']}.{one['path']}", Part(one["collection"], {**_live(one), one["path"]: _A_REFERENCE}))
            for note in others
            for one in note["references"]
            if one["target"] in own
        ]
        held += [
            (f"{part.collection} (about them)", part) for part in self._about() if part.collection not in self._also
        ]
        found = [f"{what}: {count}" for what, part in held if (count := await self._count(part))]
        if found:
            raise Refused(f"records of others refer to those of {self._name}: {', '.join(found)}")

    async def parts(self) -> Mapping[str, tuple[int, Sequence[Part]]]:
        """Return what would be removed, each with its number of documents."""
        there = await collections_in(self._database)
        parts = {one["name"]: [Part(one["name"])] for one in self._note["collections"] if one["name"] in there}
        histories = [{"_id": {"$gte": f"{name}/", "$lt": f"{name}0"}} for name in parts]
        parts |= {f"{part.collection} about them": [part] for part in self._about() if part.collection in self._also}
        parts["histories of records"] = [Part(CHANGES.name, one) for one in histories]
        own = [(one["collection"], one["names"]) for one in self._note.get("own_fields", ())]
        with_values = [Part(name, {"$or": [{one: {"$exists": True}} for one in names]}, names) for name, names in own]
        parts["records of others with values in its fields"] = with_values
        parts["menus and buttons, with what roles may do"] = [Part(MENUS.name, self._of_menus)]
        parts["dictionaries"] = [Part(DICTIONARIES.name, {"type": {"$in": self._note["dictionaries"]}})]
        parts["settings"] = [Part(CONFIGS.name, {"_id": {"$in": self._note["options"]}})]
        parts["jobs"] = [Part(LEASES, {"_id": {"$in": [f"job:{job}" for job in self._note["jobs"]]}})]
        parts["counters"] = [Part(COUNTERS, {"_id": {"$in": await self._counters()}})]
        parts["migrations and marks"] = [
            Part(MIGRATIONS, {"plugin": self._name}),
            Part(MARKS, {"_id": f"demo:{self._name}"}),
        ]
        return {what: (sum([await self._count(part) for part in those]), those) for what, those in parts.items()}

    async def run(self, parts: Mapping[str, tuple[int, Sequence[Part]]]) -> None:
        """Remove these parts, and what is known of the plugin last: a run that was killed is repeated as a whole."""
        await self._free_menus()
        for part in (part for _, those in parts.values() for part in those):
            if part.filter is None:
                await self._driver.command({"drop": part.collection})
            elif part.fields:
                await self._driver.update_many(part.collection, part.filter, {"$unset": dict.fromkeys(part.fields, "")})
            else:
                await self._remove(part.collection, part.filter)
        counts = {what: count for what, (count, _) in parts.items() if count}
        await note_command(self._database, "tradewind plugin purge", self._name, {"removed": counts})
        await self._driver.delete_many(KNOWN_PLUGINS, {"_id": self._name})

    async def _remove(self, collection: str, filter: Mapping[str, Any]) -> None:
        while rows := await self._driver.find(collection, filter, limit=_BATCH, fields=["_id"]):
            await self._driver.delete_many(collection, {"_id": {"$in": [row["_id"] for row in rows]}})

    @property
    def _of_menus(self) -> Mapping[str, Any]:
        """Its pages and buttons, and those that administrators made for its permissions."""
        return {"$or": [{"code": {"$in": self._note["menus"]}}, {"permission": {"$in": self._note["permissions"]}}]}

    def _about(self) -> list[Part]:
        about = {"biz_type": {"$in": self._note["biz_types"]}, "resource_id": {"$ne": None}}
        others = [note for name, note in self._notes.items() if name != self._name]
        named = [name for note in others for name in note["about_others"]] if self._note["biz_types"] else []
        return [Part(name, about) for name in sorted(named)]

    async def _free_menus(self) -> None:
        """Move menus that administrators put below those of the plugin to the top."""
        gone = [row["_id"] for row in await self._driver.find(MENUS.name, self._of_menus, fields=["_id"])]
        below = {"parent_id": {"$in": gone}, "_id": {"$nin": gone}}
        await self._database.store(MENUS).update_many(below, {"$set": {"parent_id": None}})

    async def _counters(self) -> list[str]:
        """Return the counters with the name of the plugin, without those of a plugin whose longer name begins so."""
        found = [str(row["_id"]) for row in await self._driver.find(COUNTERS, {})]
        return [one for one in found if self._owner(one) == self._name]

    def _owner(self, counter: str) -> str:
        names = [name for name in self._notes if counter.startswith((f"{name}_", f"{name}:", f"{name}."))]
        return max(names, key=len, default="")

    async def _count(self, part: Part) -> int:
        return await self._driver.count(part.collection, part.filter or {})


def _live(reference: Document) -> Mapping[str, Any]:
    return {} if reference["plain"] else LIVE


def main(arguments: Sequence[str], program: str = "tradewind plugin") -> int:
    """Show what a plugin left and, with `--yes`, remove it; return the exit code."""
    given = _parser(program).parse_args(arguments)
    shown: dict[str, Any] = {"demo": True} if given.demo else {}
    try:
        settings = Settings(**shown)
        with database_uri(settings) as uri:
            if uri is None:
                raise EmbeddedError(f"there is no database in {settings.data_dir}")
            counts = asyncio.run(_purged(settings, uri, given))
    except (ValidationError, EmbeddedError, RegistryError, StartError, ValueError, DatabaseUnavailable) as error:
        return _fail(str(error), UNREACHABLE)
    except Refused as error:
        return _fail(str(error), REFUSED)
    told = {"plugin": given.name, "removed": given.yes, "counts": counts}
    print(json.dumps(told, ensure_ascii=False) if given.json else _as_table(counts))
    return DONE if given.yes else _fail("nothing was removed; --yes removes all of this for good", REFUSED)


async def _purged(settings: Settings, uri: str, given: argparse.Namespace) -> Mapping[str, int]:
    plugins = load_plugins(settings.plugins)
    if given.name in [plugin.name for plugin in plugins]:
        raise Refused(f"{given.name} is enabled: take it out of TRADEWIND_PLUGINS and restart every instance first")
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, settings.mongodb_timeout_ms)
    try:
        notes = {row["_id"]: row for row in await driver.find(KNOWN_PLUGINS, {})}
        if given.name not in notes:
            known = ", ".join(sorted(notes.keys() - {plugin.name for plugin in plugins})) or "none"
            raise Refused(f"no start has noted a plugin {given.name}; noted and not enabled: {known}")
        database = Database(driver, catalogue_of(settings, plugins).collections.values())
        purge = Purge(database, given.name, notes, given.also)
        await purge.refuse()
        parts = await purge.parts()
        if given.yes:
            await purge.run(parts)
        return {what: count for what, (count, _) in parts.items()}
    finally:
        await driver.close()


def _as_table(counts: Mapping[str, int]) -> str:
    there = {what: count for what, count in counts.items() if count}
    width = max(map(len, there), default=0)
    return "\n".join(f"{what:<{width}}  {count}" for what, count in there.items())


def _parser(program: str) -> argparse.ArgumentParser:
    parser = command_parser(program, "Plugins that are not enabled any more.", _EPILOG)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    purge = commands.add_parser("purge", help="remove for good what a plugin has left")
    purge.add_argument("name", help="the plugin, as TRADEWIND_PLUGINS named it")
    purge.add_argument("--yes", action="store_true", help="remove it; without, only say what there is")
    purge.add_argument(
        "--also", metavar="COLLECTION", action="append", default=[], help="with what is about its records; repeatable"
    )
    purge.add_argument("--json", action="store_true", help="the numbers as JSON")
    purge.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    return parser


def _fail(sentence: str, code: int) -> int:
    print(f"plugin: {sentence}", file=sys.stderr)
    return code
