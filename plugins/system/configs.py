"""Settings that administrators change while the service runs. Plugins declare them as `options` (CONTRACT 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import (
    SUPER_ONLY,
    ApiError,
    Database,
    FieldError,
    Mirror,
    Option,
    Page,
    Request,
    ValidationFailed,
    invalid,
    json_schema,
)  # fmt: skip
from plugins.system.messages import SETTING_OF_SUPERS
from plugins.system.pages import page_of
from plugins.system.records import CONFIGS

Record = dict[str, Any]
CHANGING_EVENT = "system.config.changing"
_SHOWN = 64  # faults, and characters of an unknown key, that an answer repeats


class Configs:
    """The values in force on this instance, read again after a change on any."""

    def __init__(self, database: Database, options: Sequence[Option]) -> None:
        self.options = {option.key: option for option in sorted(options, key=lambda option: option.key)}
        self._database = database
        self._stored = Mirror(self._load)
        database.changes.listen(CONFIGS.name, self._stored.invalidate)

    async def value(self, key: str) -> Any:
        """The value of an option; KeyError for one that no loaded plugin declares."""
        return _value(self.options[key], await self._stored.current())

    async def public(self) -> Record:
        """Key → value of the public options."""
        stored = await self._stored.current()
        return {key: _value(option, stored) for key, option in self.options.items() if option.public}

    async def stored(self) -> Mapping[str, Record]:
        """The records by key."""
        return await self._stored.current()

    async def prepare(self) -> None:
        """Make a record for each option that has none, so that it has a version to begin with."""
        store = self._database.store(CONFIGS)
        present = {record["id"] for record in await store.find()}
        for key in self.options.keys() - present:
            await store.create({}, id=key)

    async def _load(self) -> dict[str, Record]:
        return {record["id"]: record for record in await self._database.store(CONFIGS).find()}


async def list_configs(req: Request) -> Page:
    """A page of all options with the values in force."""
    configs = req.part(Configs)
    stored = await configs.stored()
    return page_of([_shown(req, option, stored) for option in configs.options.values()], req.query)


async def update(req: Request) -> list[Record]:
    """Set options, all or none; answers those that were set. 40302 for one that super administrators set.

    A listener of the event may refuse the new values.
    """
    configs = req.part(Configs)
    values = _checked(configs, req.body["values"])
    store = req.store(CONFIGS)

    async def work() -> dict[str, Record]:
        if not req.actor.is_super:
            await _refuse_guarded(req, values)
        await req.emit(CHANGING_EVENT, values=values)
        return {key: await store.update(key, {"value": value, "changed": True}) for key, value in values.items()}

    stored = await req.transaction(work)
    return [_shown(req, configs.options[key], stored) for key in sorted(values)]


async def _refuse_guarded(req: Request, values: Record) -> None:
    """A form may send back what it was shown."""
    options = req.part(Configs).options
    guarded = [key for key in values if options[key].super_only]
    stored = {record["id"]: record for record in await req.store(CONFIGS).find({"_id": {"$in": guarded}})}
    changed = [key for key in guarded if values[key] != _value(options[key], stored)]
    if changed:
        raise ApiError(SUPER_ONLY, SETTING_OF_SUPERS.filled(keys=", ".join(sorted(changed))))


async def public(req: Request) -> Record:
    """What every client may know before log-in, and the business time zone."""
    return {**await req.part(Configs).public(), "time_zone": req.service.settings.time_zone}


def _checked(configs: Configs, given: Any) -> Record:
    if not isinstance(given, dict):
        raise invalid("values", "type")
    values: Record = {}
    faults: list[FieldError] = []
    for key, value in given.items():
        option = configs.options.get(key)
        if option is None:
            faults.append(FieldError(f"values.{key[:_SHOWN]}", "unknown"))
            continue
        try:
            values[key] = option.check(value)
        except ValidationFailed as failed:
            faults += [FieldError(_within(key, fault.field), fault.rule) for fault in failed.errors]
    if faults:
        raise ValidationFailed(faults[:_SHOWN])
    return values


def _within(key: str, path: str) -> str:
    return f"values.{key}{path}" if path.startswith("[") or not path else f"values.{key}.{path}"


def _value(option: Option, stored: Mapping[str, Record]) -> Any:
    record = stored.get(option.key, {})
    return record["value"] if record.get("changed") else option.default


def _shown(req: Request, option: Option, stored: Mapping[str, Record]) -> Record:
    return {
        "key": option.key,
        "value": _value(option, stored),
        "public": option.public,
        "super_only": option.super_only,
        "description": option.description.text(req.language),
        "version": stored.get(option.key, {}).get("version", 1),
        "schema": json_schema(option.field, "input"),
    }
