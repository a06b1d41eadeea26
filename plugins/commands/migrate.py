"""The command `tradewind migrate`: runs the migrations that are due and shows their progress; `--plan` lists them."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable
from config.embedded import EmbeddedError
from config.settings import Settings
from handlers.operations.migrations import MigrationFailed, Migrations, Progress, StageState
from plugins.boot.listen import StartError
from plugins.boot.registry import RegistryError, load_plugins
from plugins.boot.runtime import started
from plugins.commands.backups.running import run
from plugins.commands.command_parser import command_parser
from plugins.commands.doctor import database_uri

DONE, LEFT, UNREACHABLE, INTERRUPTED = 0, 1, 2, 130
_TELL_SECONDS = 1.0
_NAME = "migrate"
_NOTICE = "Instances of an older version get a minute to notice, before what they cannot read."
_EPILOG = """\
The service does the same by itself, beside requests; here it runs at full speed. It waits for an instance that is doing
so, and goes on from where that one, or an earlier run, has stopped. What older instances write meanwhile is looked for a
day later, or by `--again` when the last of them has ended. `--contract` also runs what older versions cannot
read afterwards: when none of them runs any more, and there is a backup.

examples:
  {program} --plan                 # what is due, and on how many documents
  {program}
  {program} --again                # after the last instance of the older version
  {program} --plan --json | jq .due

exit codes: 0 nothing is due any more; 1 something is due (--plan, or it needs --contract) or failed; 2 settings or
database; 130 interrupted
"""


@dataclass
class _Teller:
    """Prints the progress of the run, at most once a second for each stage."""

    quiet: bool
    said: dict[str, float] = field(default_factory=dict)

    def __call__(self, stage: str, progress: Progress) -> None:
        if not self.quiet and time.monotonic() - self.said.get(stage, 0.0) >= _TELL_SECONDS:
            self.said[stage] = time.monotonic()
            print(f"{stage}: {progress.looked_at} documents, {progress.changed} changed", file=sys.stderr, flush=True)


def main(arguments: Sequence[str], program: str = "tradewind migrate") -> int:
    """Run or plan the migrations, and return the exit code."""
    parser = command_parser(program, "Changes what older versions have stored into the form of this one.", _EPILOG)
    parser.add_argument("--plan", action="store_true", help="say what is due and on how many documents; write nothing")
    parser.add_argument("--contract", action="store_true", help="also what older versions cannot read afterwards")
    parser.add_argument(
        "--again",
        action="store_true",
        help="look again for what older instances wrote now, not a day after the first time",
    )
    parser.add_argument("--json", action="store_true", help="the state of each migration as JSON")
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    chosen = parser.parse_args(arguments)
    given: dict[str, Any] = {"demo": True} if chosen.demo else {}
    try:
        settings = Settings(**given)
        with database_uri(settings) as uri:
            if uri is None:
                raise EmbeddedError(f"there is no database in {settings.data_dir}")
            states, failure = run(_run(settings, uri, chosen))
    except (ValidationError, EmbeddedError, RegistryError, StartError, ValueError, DatabaseUnavailable) as error:
        return _fail(str(error), UNREACHABLE)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _fail("interrupted; the next run goes on from there", INTERRUPTED)
    sys.stdout.write((_as_json(states, failure) if chosen.json else _as_table(states)) + "\n")
    if failure is not None:
        return _fail(failure, LEFT)
    return LEFT if _due(states) else DONE


async def _run(settings: Settings, uri: str, chosen: argparse.Namespace) -> tuple[list[StageState], str | None]:
    plugins = load_plugins(settings.plugins)
    async with started(settings, plugins, uri, reads_only=chosen.plan) as service:
        migrations, failure = service.part(Migrations), None
        try:
            if chosen.contract and not chosen.plan:
                print(_NOTICE, file=sys.stderr)
            if not chosen.plan:
                await migrations.run_due(contract=chosen.contract, again=chosen.again, tell=_Teller(chosen.json))
        except MigrationFailed as error:
            failure = str(error)
        return await migrations.states(count=True), failure


def _due(states: Sequence[StageState]) -> list[StageState]:
    return [one for one in states if one.state == "failed" or (one.state == "due" and one.left)]


def _as_json(states: Sequence[StageState], failure: str | None) -> str:
    told = {"migrations": [asdict(one) for one in states], "due": len(_due(states)), "failure": failure}
    return json.dumps(told, indent=2, ensure_ascii=False)


def _as_table(states: Sequence[StageState]) -> str:
    """Return the migrations that are due, with a summary of each, and a closing line."""
    due, lines = _due(states), []
    for name in dict.fromkeys(one.name for one in due):
        stages = [one for one in due if one.name == name]
        lines.append(f"{name} ({stages[0].plugin}){', needs --contract' * stages[0].contract}: {stages[0].summary}")
        for one in stages:
            why = f", failed: {one.failure}" if one.failure else ""
            lines.append(f"  {one.collection}: {one.left} documents{why}")
    again = sum(one.state == "again" for one in states)
    later = f"; {again} collections are looked through once more, a day after the first time" if again else ""
    return "\n".join([*lines, f"{len(due)} of {len(states)} collections are due{later}."])


def _fail(sentence: str, code: int) -> int:
    print(f"{_NAME}: {sentence}", file=sys.stderr)
    return code
