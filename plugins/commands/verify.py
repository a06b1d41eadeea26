"""The command `tradewind verify`: runs the audits of all plugins at once, and prints the differences.

The service runs the same audits by itself. The command reads one database and changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable, Driver, open_driver
from config.embedded import EmbeddedError
from config.settings import Settings
from handlers.data.database import Database
from handlers.reports.audits import audit_piece
from plugins.boot.listen import StartError
from plugins.boot.registry import RegistryError, freeze, load_plugins
from plugins.commands.command_parser import command_parser
from plugins.commands.doctor import database_uri
from plugins.finance.audits import audits_of
from plugins.plugin import Plugin

_TIMEOUT_MS = 60_000
_RECORDS = 200
_EPILOG = """\
examples:
  {program}
  {program} --json | jq length

exit codes: 0 everything agrees; 1 something differs; 2 settings or the database
"""


def main(arguments: Sequence[str], program: str = "tradewind verify") -> int:
    """Print every difference; return 0 if there is none, 1 if there is one, 2 if the database cannot be read."""
    parser = command_parser(
        program, "Compares stock with its ledger and balances with vouchers, in the server's database.", _EPILOG
    )
    parser.add_argument("--json", action="store_true", help="a list of what differs as JSON")
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    given: dict[str, Any] = {"demo": True} if chosen.demo else {}
    try:
        settings = Settings(**given)
        with database_uri(settings) as uri:
            if uri is None:
                raise EmbeddedError(f"there is no database in {settings.data_dir}")
            found = asyncio.run(_verified(settings, uri))
    except (ValidationError, EmbeddedError, StartError, RegistryError, ValueError, DatabaseUnavailable) as error:
        print(f"verify-ledgers: {error}", file=sys.stderr)
        return 2
    agreed = "Stock, balances, voucher numbers and what was paid agree with their entries."
    print(json.dumps(found, ensure_ascii=False) if chosen.json else "\n".join(found) or agreed)
    return 1 if found else 0


async def _verified(settings: Settings, uri: str) -> list[str]:
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, _TIMEOUT_MS)
    try:
        return await differences(driver, load_plugins(settings.plugins))
    finally:
        await driver.close()


async def differences(driver: Driver, plugins: Sequence[Plugin] | None = None) -> list[str]:
    """Return a sentence for each difference that the audits of these plugins, or of the built-in ones, find."""
    catalogue = freeze(load_plugins(()) if plugins is None else plugins, check=False)
    database = Database(driver, catalogue.collections.values())
    found: list[str] = []
    for audit in audits_of(catalogue):
        after, first = None, True
        while first or after is not None:
            piece = await audit_piece(database, catalogue.biz_types, audit, after, _RECORDS)
            found += [one.message.en for one in piece.differences]
            after, first = piece.last, False
    return found
