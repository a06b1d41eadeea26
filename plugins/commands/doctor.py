"""The command `tradewind doctor`: reads the settings, looks into the database, and reports what is wrong."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable, open_driver
from config.embedded import EmbeddedError, acquire
from config.embedded.folder import Folder
from config.settings import EnvironmentSettings, Settings
from handlers.catalogue.custom_fields import with_custom_fields
from handlers.data.database import Database, utc_now
from plugins.auth.settings import AuthSettings
from plugins.boot.connect import check_connection
from plugins.boot.listen import StartError
from plugins.boot.registry import RegistryError, load_plugins
from plugins.boot.runtime import catalogue_of
from plugins.boot.unknown_settings import unknown_settings
from plugins.commands.command_parser import command_parser
from plugins.commands.diagnosis.access import check_access, check_default_roles
from plugins.commands.diagnosis.dangling import check_references
from plugins.commands.diagnosis.database import check_database, check_running, check_sharding
from plugins.commands.diagnosis.findings import Finding, as_json, as_table, exit_code
from plugins.commands.diagnosis.settings import check_settings
from plugins.commands.diagnosis.storage import check_backups, check_storage
from plugins.files.settings import FilesSettings
from plugins.plugin import Plugin
from plugins.rbac.policy import Policy
from plugins.rbac.records import MENUS, USERS

_EPILOG = """\
examples:
  {program}
  {program} --json | jq -r '.findings[] | select(.level == "error") | .advice'

exit codes: 0 nothing must be done; 1 something must, or the database cannot be read
"""


def main(arguments: Sequence[str], program: str = "tradewind doctor") -> int:
    """Print every finding; return 0 if nothing must be done, else 1."""
    parser = command_parser(
        program, "Looks for what is wrong, with the settings of the server. Changes nothing.", _EPILOG
    )
    parser.add_argument("--json", action="store_true", help="findings as JSON")
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    findings = diagnose({"demo": True} if chosen.demo else {})
    sys.stdout.write((as_json(findings) if chosen.json else as_table(findings)) + "\n")
    return exit_code(findings)


def diagnose(given: dict[str, Any]) -> list[Finding]:
    """Return all findings; `given` takes precedence over the settings of the environment."""
    try:
        settings = Settings(**given)
        plugins = load_plugins(settings.plugins)
        own = {kind: _made(kind) for plugin in plugins if (kind := plugin.settings) is not None}
    except ValidationError as error:
        return [_invalid(fault) for fault in error.errors()]
    except RegistryError as error:
        return [Finding("error", "plugin", "plugins", problem) for problem in error.problems]
    findings = [
        *check_settings(settings, own),
        *check_backups(settings),
        *(Finding("warning", "setting", name, advice) for name, advice in unknown_settings(plugins).items()),
    ]
    auth: Any = own.get(AuthSettings)
    default_roles = auth.wecom_default_role if auth is not None and auth.wecom_first_scan == "create" else ()
    try:
        with database_uri(settings) as uri:
            if uri is None:
                return [*findings, Finding("error", "database", str(settings.data_dir), _NEVER_STARTED)]
            return [
                *findings,
                *asyncio.run(_looked_into(settings, plugins, uri, default_roles, own.get(FilesSettings))),
            ]
    except (EmbeddedError, StartError, ValueError, DatabaseUnavailable) as error:
        advice = "MongoDB does not respond" if isinstance(error, DatabaseUnavailable) else str(error)
        return [*findings, Finding("error", "database", settings.mongodb_database, advice)]


_NEVER_STARTED = "there is no database yet: start the server once"


def _made(kind: type[EnvironmentSettings]) -> EnvironmentSettings:
    return kind()


def _invalid(fault: Any) -> Finding:
    name = "_".join(map(str, fault["loc"])).upper()
    advice = fault["msg"].removeprefix("Value error, ")
    return Finding("error", "setting", f"TRADEWIND_{name}" if name else "settings", advice)


@contextmanager
def database_uri(settings: Settings) -> Iterator[str | None]:
    """Give the block the address of the database, or None if there is none: an embedded one is never created.

    An embedded database is joined if it runs, else started. Raises `StartError` with the reason if it cannot be used.
    """
    uri = settings.mongodb_uri.get_secret_value()
    if uri:
        asyncio.run(check_connection(settings, uri))
        yield uri
    elif not Folder(settings.data_dir).database.exists():
        yield None
    else:
        embedded = acquire(settings.data_dir, database=settings.mongodb_database)
        try:
            yield embedded.uri
        finally:
            embedded.release_and_wait(15)


async def _looked_into(
    settings: Settings, plugins: Sequence[Plugin], uri: str, default_roles: Sequence[str], files: Any
) -> list[Finding]:
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, settings.mongodb_timeout_ms)
    try:
        catalogue = await with_custom_fields(driver, catalogue_of(settings, plugins))
        database = Database(driver, catalogue.collections.values())
        findings = [finding async for finding in check_database(database)]
        findings += [finding async for finding in check_references(database)]
        findings += [finding async for finding in check_sharding(database)]
        findings += [finding async for finding in check_running(database, catalogue, settings.data_dir)]
        if files is not None:
            findings += [finding async for finding in check_storage(driver, settings, files)]
        if MENUS.name not in catalogue.collections:
            return findings
        if not await database.store(MENUS).count():
            return [Finding("error", "database", settings.mongodb_database, _NEVER_STARTED)]
        rules = await Policy(database).rules()
        findings += check_access(catalogue, rules, await database.store(USERS).find(), utc_now())
        return [*findings, *check_default_roles(default_roles, rules)]
    finally:
        await driver.close()
