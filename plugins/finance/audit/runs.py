"""Runs of the audit: one instance works through all checks, piece by piece, and another continues if it is killed.

The place that a run has reached and what it has found so far are written in one update, so every piece counts once.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

from plugins.api import NOTIFY, Record, Service, store_money, utc_now
from plugins.api.data import Database, Lease, new_id
from plugins.api.errors import DatabaseUnavailable
from plugins.api.records import Catalogue
from plugins.api.reports import Audit, Difference, audit_piece
from plugins.finance.audit.book_checks import audits_of
from plugins.finance.audit.records import LEDGER_AUDITS, MOST_OF_A_CHECK, RESULT, RUN
from plugins.finance.messages import CHECK_FAILED, LEDGERS_DIFFER
from plugins.finance.settings import FinanceSettings
from plugins.rbac.api import people_permitted

log = logging.getLogger("tradewind.finance")
READ = "finance:audit:read"
_LEASE_SECONDS = 5.0  # how long the others wait for an instance that was killed
_FIRST_SIZE, _MOST_RECORDS = 50, 500
_PIECE_SECONDS = 0.2
_MOST_FAILURES = 8  # of one piece
_PLACE = ("run_id", "pending", "after", "size", "failures", "totals")


async def audit_if_due(service: Service) -> None:
    """Continue a run that was left unfinished, or start a new one if it is due."""
    store, now = service.database.store(LEDGER_AUDITS), utc_now()
    every = timedelta(seconds=service.settings_of(FinanceSettings).finance_audit_seconds)
    kept = {one["id"]: one for one in await store.find({"_id": {"$in": [RUN, RESULT]}})}
    if RUN not in kept and RESULT not in kept:
        await store.upsert(RESULT, {}, {"$setOnInsert": {"next_at": now + every}})
        return
    if RUN not in kept:
        if now < (kept[RESULT]["next_at"] or now):
            return
        await begin(service)
    await go_on(service)


async def begin(service: Service) -> bool:
    """Start a run unless one is in progress; return whether it was started."""
    run = {
        "run_id": new_id(),
        "started_at": utc_now(),
        "pending": [audit.name for audit in audits_of(service.part(Catalogue))],
        "after": None,
        "size": _FIRST_SIZE,
        "failures": 0,
        "records": 0,
        "differences": [],
        "totals": {},
        "remarks": {},
    }
    kept = await service.database.store(LEDGER_AUDITS).upsert(RUN, {}, {"$setOnInsert": run})
    return bool(kept["run_id"] == run["run_id"])


async def go_on(service: Service) -> None:
    """Work through the run to its end; wait while another instance does so."""
    audits = {audit.name: audit for audit in audits_of(service.part(Catalogue))}
    async with Lease(service.database, "finance.audit", _LEASE_SECONDS):
        while found := await service.database.store(LEDGER_AUDITS).find({"_id": RUN}, fields=_PLACE):
            began, run = time.monotonic(), found[0]
            if not run["pending"]:
                await _finish(service, run["run_id"])
            else:
                await _check_piece(service, run, audits.get(run["pending"][0]))
            # pause as long as the piece took, so that people's requests come first
            await asyncio.sleep(time.monotonic() - began)


async def _check_piece(service: Service, run: Record, audit: Audit | None) -> None:
    """Check one piece, and write what was found together with the place that the run has reached."""
    if audit is None:  # its plugin is not loaded any more
        await _advance(service.database, run, _next_check(run), {})
        return
    began = time.monotonic()
    try:
        found = await audit_piece(service.database, service.part(Catalogue).biz_types, audit, run["after"], run["size"])
    except DatabaseUnavailable:
        # perhaps the piece takes longer than the time limit of the database: a smaller one is next
        if run["failures"] < _MOST_FAILURES:
            smaller = {"size": max(1, run["size"] // 4), "failures": run["failures"] + 1}
            await _advance(service.database, run, smaller, {})
            raise
        await _give_up(service.database, run, audit)
        return
    except Exception:
        log.exception("audit failed", extra={"audit": audit.name})
        await _give_up(service.database, run, audit)
        return
    size = _next_size(run["size"], time.monotonic() - began)
    place = _next_check(run) if found.last is None else {"after": found.last, "size": size, "failures": 0}
    sums: Record = {"records": found.count}
    if found.remarks:
        sums[f"remarks.{audit.name}.count"] = len(found.remarks)
        sums[f"remarks.{audit.name}.amount"] = store_money(sum((one.amount for one in found.remarks), Decimal(0)))
    await _advance(service.database, run, place, _adding(run, audit, found.differences, sums))


def _next_check(run: Record) -> Record:
    return {"pending": run["pending"][1:], "after": None, "size": _FIRST_SIZE, "failures": 0}


async def _give_up(database: Database, run: Record, audit: Audit) -> None:
    """Go on to the next check, and report the failure of this one as a difference, so that somebody looks into it."""
    place = str(run["after"] or "")
    failure = Difference(place, place, "check", "", "", CHECK_FAILED.filled(check=audit.name, place=place))
    await _advance(database, run, _next_check(run), _adding(run, audit, (failure,), {}))


def _adding(run: Record, audit: Audit, differences: Sequence[Difference], sums: Record) -> Record:
    """Return the operators that add what was found to the run: all counts, and the first differences of each check."""
    if not differences:
        return {"$inc": sums} if sums else {}
    before = run["totals"].get(audit.name, 0)
    rows = [{**asdict(one), "message": one.message._asdict(), "check": audit.name} for one in differences]
    return {
        "$inc": {**sums, f"totals.{audit.name}": len(rows)},
        "$push": {"differences": {"$each": rows[: max(0, MOST_OF_A_CHECK - before)]}},
    }


def _next_size(size: int, seconds: float) -> int:
    """Return how many records take about `_PIECE_SECONDS`, at most twice as many as before."""
    return max(1, min(_MOST_RECORDS, 2 * size, int(size * _PIECE_SECONDS / max(seconds, 0.001))))


async def _advance(database: Database, run: Record, place: Record, operators: Mapping[str, Any]) -> None:
    """Write the place that the run has reached, unless another instance has continued from the same place."""
    same = {"_id": RUN, **{name: run[name] for name in ("run_id", "pending", "after")}}
    await database.store(LEDGER_AUDITS).update_unversioned(same, {"$set": place, **operators})


async def _finish(service: Service, run_id: object) -> None:
    """Store the result, and notify people if it has differences that the last result did not have."""
    every = timedelta(seconds=service.settings_of(FinanceSettings).finance_audit_seconds)
    names = ("run_id", "started_at", "records", "differences", "totals", "remarks")

    async def work() -> None:
        store = service.database.store(LEDGER_AUDITS)
        before = await store.find_one({"_id": RESULT}) or {}
        run = await store.find_one({"_id": RUN, "run_id": run_id})
        if run is None:
            return
        await store.remove({"_id": RUN})
        now = utc_now()
        result = {**{name: run[name] for name in names}, "checked_at": now, "next_at": now + every}
        await store.upsert(RESULT, result)
        if _keys(run) - _keys(before):
            await _notify(service, run)

    await service.database.transaction(work)


def _keys(result: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    return {(one["check"], one["resource_id"], one["about"]) for one in result.get("differences") or ()}


async def _notify(service: Service, run: Record) -> None:
    total = sum(run["totals"].values())
    payload = {
        "user_ids": await people_permitted(service, READ),
        "kind": "ledger_difference",
        "title": LEDGERS_DIFFER.filled(count=total),
        "link": "/finance/audit",
        "data": {"total": total},
        "key": f"ledger-audit:{run['run_id']}",
    }
    await service.events.emit(NOTIFY, payload)


async def read_result(service: Service) -> Record:
    """Return the result of the last run; before the first one it has no `checked_at`."""
    return await service.database.store(LEDGER_AUDITS).find_one({"_id": RESULT}) or {}


async def count_differences(service: Service) -> Mapping[str, float]:
    """Return how many differences each check has found in the last run."""
    totals = (await read_result(service)).get("totals") or {}
    return {audit.name: totals.get(audit.name, 0) for audit in audits_of(service.part(Catalogue))}


async def measure_age(service: Service) -> Mapping[str, float]:
    """Return the seconds since the last run ended, under the empty name; infinity before the first one."""
    checked_at = (await read_result(service)).get("checked_at")
    return {"": (utc_now() - checked_at).total_seconds() if checked_at else math.inf}
