"""Runs of the audit of the ledgers: one instance works through all checks, and another continues if it is killed.

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

from pydantic import Field

from plugins.api import (
    NOTIFY,
    Collection,
    EnvironmentSettings,
    Job,
    Message,
    Record,
    Request,
    Route,
    Service,
    array,
    boolean,
    integer,
    mapping,
    money,
    obj,
    object_id,
    route,
    shape,
    store_money,
    text,
    timestamp,
    utc_now,
)
from plugins.api.data import Database, Jobs, Lease, new_id
from plugins.api.errors import DatabaseUnavailable
from plugins.api.records import Catalogue
from plugins.api.reports import Audit, Difference, audit_piece
from plugins.finance.audits import audits_of
from plugins.finance.messages import CHECK_FAILED, LEDGERS_DIFFER
from plugins.rbac.api import people_permitted


class FinanceSettings(EnvironmentSettings):
    """The intervals of the audit of the ledgers."""

    finance_audit_seconds: float = Field(
        86_400, gt=0, description="How often all ledgers are compared with their entries, in seconds."
    )
    finance_audit_resume_seconds: float = Field(
        30, gt=0, description="How often to check whether a comparison is due or was left unfinished, in seconds."
    )


RUN, RESULT = "run", "result"
MOST_OF_A_CHECK = 100
_MESSAGE = {"zh": text(nullable=False), "en": text(nullable=False)}

_FOUND = {
    "check": text(label=("核对项代码", "Check"), nullable=False, example="finance-accounts"),
    "resource_id": text(
        label=("记录", "Record"),
        nullable=False,
        named_by="number",
        description="The id of the record that does not agree.",
    ),
    "number": text(
        label=("单据编号", "Number"), nullable=False, description="The number or code by which people know the record."
    ),
    "about": text(
        label=("差异字段", "Field"),
        nullable=False,
        named_by="message",
        description="What differs, such as `balance`.",
        example="balance",
    ),
    "expected": text(
        label=("应为", "Expected"),
        nullable=False,
        description="The value according to the entries; empty if it is no amount.",
    ),
    "found": text(label=("实际", "Found"), nullable=False, description="The stored value."),
}

# two documents: the run in progress, and the result of the last one
LEDGER_AUDITS = Collection(
    name="finance_audits",
    title="LedgerAuditRecord",
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "run_id": object_id(),
        "started_at": timestamp(),
        "checked_at": timestamp(),
        "next_at": timestamp(),
        "pending": array(text()),
        "after": text(),
        "size": integer(),
        "failures": integer(),
        "records": integer(),
        "differences": array(obj("StoredDifference", {**_FOUND, "message": obj(None, _MESSAGE)})),
        "totals": mapping(integer()),
        "remarks": mapping(obj("StoredRemarks", {"count": integer(), "amount": money()})),
    },
)

_TITLE = text(
    label=("核对项", "Check"),
    nullable=False,
    description="In the caller's language.",
    example="Account balances against vouchers",
)
_CHECK = {"check": _FOUND["check"].but(named_by="title"), "title": _TITLE}

LEDGER_AUDIT = shape(
    "LedgerAudit",
    checked_at=timestamp(
        label=("核对时间", "Checked at"), description="When the last run ended; null before the first one."
    ),
    running=boolean(label=("正在核对", "Running"), nullable=False),
    records=integer(label=("记录数", "Records"), nullable=False, description="How many records the last run has read."),
    total=integer(
        label=("差异总数", "Differences"), nullable=False, description="How many differences there are, listed or not."
    ),
    differences=array(
        obj(
            "LedgerDifference",
            {
                **_CHECK,
                "collection": text(
                    label=("数据类型", "Collection"), nullable=False, named_by="message", example="finance_accounts"
                ),
                **{name: field for name, field in _FOUND.items() if name != "check"},
                "message": text(label=("说明", "Message"), nullable=False, description="In the caller's language."),
            },
            nullable=False,
        ),
        nullable=False,
        description=f"At most {MOST_OF_A_CHECK} of each check.",
        label=("差异", "Differences"),
    ),
    informations=array(
        obj(
            "LedgerInformation",
            {
                **_CHECK,
                "count": integer(label=("数量", "Count"), nullable=False),
                "amount": money(label=("金额", "Amount"), nullable=False),
            },
            nullable=False,
        ),
        nullable=False,
        description="What is worth knowing but is no difference, such as payments without an account.",
        label=("提示", "Information"),
    ),
    checks=array(
        obj(
            "LedgerCheck",
            {**_CHECK, "differences": integer(label=("差异数", "Differences"), nullable=False)},
            nullable=False,
        ),
        nullable=False,
        description="Every check, with how many differences it found.",
        label=("核对项", "Checks"),
    ),
)


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


AUDITING = Job("finance.audit", "finance_audit_resume_seconds", audit_if_due, Message("核对账目", "Audit the ledgers"))


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


async def read(req: Request) -> Record:
    """Return what the last run found, and whether a run is in progress."""
    running = await req.system_store(LEDGER_AUDITS).find_one({"_id": RUN}) is not None
    return _describe(req, await read_result(req.service), running)


async def run(req: Request) -> Record:
    """Start a run unless one is in progress; return the result of the last one."""
    if await begin(req.service):
        req.part(Jobs).spawn("finance.audit", go_on(req.service))
    return _describe(req, await read_result(req.service), True)


def _describe(req: Request, result: Mapping[str, Any], running: bool) -> Record:
    audits = {audit.name: audit for audit in audits_of(req.part(Catalogue))}
    titles = {name: audit.title.text(req.language) for name, audit in audits.items()}
    totals = {name: count for name, count in (result.get("totals") or {}).items() if name in audits}
    found = [one for one in result.get("differences") or () if one["check"] in audits]
    return {
        "checked_at": result.get("checked_at"),
        "running": running,
        "records": result.get("records") or 0,
        "total": sum(totals.values()),
        "differences": [
            {
                **one,
                "title": titles[one["check"]],
                "collection": audits[one["check"]].collection.name,
                "message": Message(**one["message"]).text(req.language),
            }
            for one in found
        ],
        "informations": [
            {"check": name, "title": remarks.text(req.language), **result["remarks"][name]}
            for name, audit in audits.items()
            if (remarks := audit.remarks) and name in (result.get("remarks") or {})
        ],
        "checks": [{"check": name, "title": titles[name], "differences": totals.get(name, 0)} for name in audits],
    }


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/audit",
        read,
        summary="Show where ledgers and their entries do not agree",
        access="finance:audit:read",
        returns=LEDGER_AUDIT,
    ),
    route(
        "POST /api/v1/finance/audit/run",
        run,
        summary="Compare all ledgers with their entries now",
        access="finance:audit:run",
        returns=LEDGER_AUDIT,
    ),
)
