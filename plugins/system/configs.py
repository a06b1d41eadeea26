"""Settings that administrators change while the service runs. Plugins declare them as `options`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import (
    NOT_FOUND,
    PUBLIC,
    ApiError,
    Option,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    anything,
    array,
    invalid,
    mapping,
    route,
)
from plugins.api.data import CachedSnapshot, Database
from plugins.api.errors import STALE, SUPER_ONLY, FieldError, ValidationFailed
from plugins.api.events import CONFIG_CHANGING
from plugins.api.fields import json_schema
from plugins.api.ports import OptionValues
from plugins.api.records import Catalogue, Dictionaries
from plugins.api.spreadsheets import labels_of
from plugins.system.messages import NO_SETTING, SETTING_OF_SUPERS
from plugins.system.pages import PAGING, page_of
from plugins.system.records import CONFIG, CONFIG_BODY, CONFIG_UPDATE, CONFIGS

_SHOWN = 64  # the most errors, and the most characters of an unknown key, that a response contains


class Configs(OptionValues):
    """The settings in force, cached on this instance and reloaded after a change on any instance."""

    def __init__(self, database: Database, options: Sequence[Option]) -> None:
        self.options = {option.key: option for option in sorted(options, key=lambda option: option.key)}
        self._database = database
        self._stored = CachedSnapshot(self._load)
        database.changes.listen(CONFIGS.name, self._stored.invalidate)

    async def value(self, key: str) -> Any:
        """Return the value of an option. Raises KeyError if no loaded plugin declares it."""
        return _effective_value(self.options[key], await self._stored.current())

    async def public(self) -> Record:
        """Return the values of the public options by key."""
        stored = await self._stored.current()
        return {key: _effective_value(option, stored) for key, option in self.options.items() if option.public}

    async def stored(self) -> Mapping[str, Record]:
        """Return the stored records by key."""
        return await self._stored.current()

    async def put(self, values: Mapping[str, Any]) -> None:
        """Set options without a request, while the service starts."""
        for key, value in values.items():
            await self._database.store(CONFIGS).update(key, {"value": self.options[key].check(value), "changed": True})

    async def prepare(self) -> None:
        """Create a record for each option that has none, so that it has a version."""
        store = self._database.store(CONFIGS)
        present = {record["id"] for record in await store.find()}
        for key in self.options.keys() - present:
            await store.create({}, id=key)

    async def _load(self) -> dict[str, Record]:
        return {record["id"]: record for record in await self._database.store(CONFIGS).find()}


async def list_configs(req: Request) -> Page:
    """Return a page of all options with the values in force."""
    configs = req.part(Configs)
    stored = await configs.stored()
    return page_of([await _present(req, option, stored) for option in configs.options.values()], req.query)


async def read(req: Request) -> Record:
    """Return one option with the value in force."""
    configs = req.part(Configs)
    return await _present(req, _named(configs, req.path["id"]), await configs.stored())


async def update_one(req: Request) -> Record:
    """Set one option, and return it. Raises 40302 if only super administrators may change it."""
    option = _named(req.part(Configs), req.path["id"])
    try:
        values = {option.key: option.check(req.body["value"])}
    except ValidationFailed as failed:
        raise ValidationFailed(
            [FieldError(_fault_path("value", one.field), one.rule) for one in failed.errors]
        ) from failed
    versions = {option.key: req.body["version"]}
    return await _present(req, option, await req.transaction(lambda: change_configs(req, values, versions)))


async def update(req: Request) -> list[Record]:
    """Set options, all or none, and return them. Raises 40302 if only super administrators may change one of them."""
    configs = req.part(Configs)
    values = _validate(configs, req.body["values"])
    versions = _validate_versions(req.body.get("versions"), values)
    stored = await req.transaction(lambda: change_configs(req, values, versions))
    return [await _present(req, configs.options[key], stored) for key in sorted(values)]


async def change_configs(
    req: Request, values: Mapping[str, Any], versions: Mapping[str, int] | None = None
) -> dict[str, Record]:
    """Set valid values of options in the running transaction; return the records by key.

    Raises 40302 if only super administrators may change one of them, and 40902 if one has another version than the one
    in `versions`. A listener of `system.config.changing` may refuse the new values.
    """
    if not req.actor.is_super:
        await _refuse_guarded(req, values)
    await req.emit(CONFIG_CHANGING, values=values)
    store, known = req.store(CONFIGS), versions or {}
    return {
        key: await store.update(key, {"value": value, "changed": True}, version=known.get(key))
        for key, value in values.items()
    }


async def _refuse_guarded(req: Request, values: Mapping[str, Any]) -> None:
    """Raise 40302 if a `super_only` option changes; a form may send the current value back."""
    options = req.part(Configs).options
    guarded = [key for key in values if options[key].super_only]
    stored = {record["id"]: record for record in await req.store(CONFIGS).find({"_id": {"$in": guarded}})}
    changed = [key for key in guarded if values[key] != _effective_value(options[key], stored)]
    if changed:
        raise ApiError(SUPER_ONLY, SETTING_OF_SUPERS.filled(keys=", ".join(sorted(changed))))


async def public(req: Request) -> Record:
    """Return the public settings and the business time zone."""
    return {**await req.part(Configs).public(), "time_zone": req.service.settings.time_zone}


def _named(configs: Configs, key: str) -> Option:
    """Return the option with this key. Raises 40400 if no loaded plugin declares it."""
    if key not in configs.options:
        raise ApiError(NOT_FOUND)
    return configs.options[key]


def _validate(configs: Configs, given: Any) -> Record:
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
            faults += [FieldError(_fault_path(f"values.{key}", one.field), one.rule) for one in failed.errors]
    if faults:
        raise ValidationFailed(faults[:_SHOWN])
    return values


def _validate_versions(given: Any, values: Record) -> dict[str, int]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise invalid("versions", "type")
    faults = [FieldError(f"versions.{key[:_SHOWN]}", "unknown") for key in given if key not in values]
    faults += [
        FieldError(f"versions.{key}", "type")
        for key, version in given.items()
        if key in values and (not isinstance(version, int) or isinstance(version, bool))
    ]
    if faults:
        raise ValidationFailed(faults[:_SHOWN])
    return dict(given)


def _fault_path(at: str, path: str) -> str:
    return f"{at}{path}" if path.startswith("[") or not path else f"{at}.{path}"


def _effective_value(option: Option, stored: Mapping[str, Record]) -> Any:
    record = stored.get(option.key, {})
    return record["value"] if record.get("changed") else option.default


async def _present(req: Request, option: Option, stored: Mapping[str, Record]) -> Record:
    labels = labels_of(req.part(Catalogue), await req.part(Dictionaries).current(), option.field)
    return {
        "id": option.key,
        "key": option.key,
        "value": _effective_value(option, stored),
        "default": option.default,
        "public": option.public,
        "super_only": option.super_only,
        "description": option.description.text(req.language),
        "version": stored.get(option.key, {}).get("version", 1),
        "schema": json_schema(option.field, "input"),
        "labels": {value: label.text(req.language) for value, label in labels.items()},
    }


_OF_SUPERS = Refusal(SUPER_ONLY, SETTING_OF_SUPERS, exempt_super=True)
_NO_SETTING = Refusal(NOT_FOUND, hint=NO_SETTING)
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/configs",
        list_configs,
        summary="List settings",
        access="system:config:list",
        query=PAGING,
        returns=CONFIG,
        paged=True,
    ),
    route(
        "PATCH /api/v1/system/configs",
        update,
        summary="Change settings",
        access="system:config:update",
        body=CONFIG_BODY,
        returns=array(CONFIG, max_items=1000, nullable=False),
        events=(CONFIG_CHANGING,),
        errors=(STALE,),
        refusals=(_OF_SUPERS,),
    ),
    route(
        "GET /api/v1/system/configs/{id}",
        read,
        summary="Read a setting",
        access="system:config:list",
        returns=CONFIG,
        refusals=(_NO_SETTING,),
    ),
    route(
        "PATCH /api/v1/system/configs/{id}",
        update_one,
        summary="Change a setting",
        access="system:config:update",
        body=CONFIG_UPDATE,
        returns=CONFIG,
        events=(CONFIG_CHANGING,),
        errors=(STALE,),
        refusals=(_OF_SUPERS, _NO_SETTING),
    ),
    route(
        "GET /api/configs/public",
        public,
        summary="Read the public settings",
        access=PUBLIC,
        returns=mapping(anything(), nullable=False, description="Key → value of the public settings, and `time_zone`."),
        etag=True,
        tag="system",
    ),
)
