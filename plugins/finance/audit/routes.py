"""The audit of the ledgers over HTTP: show what does not agree, and start a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Message, Record, Request, Route, route
from plugins.api.data import Jobs
from plugins.api.records import Catalogue
from plugins.finance.audit.book_checks import audits_of
from plugins.finance.audit.records import LEDGER_AUDIT, LEDGER_AUDITS, RUN
from plugins.finance.audit.runs import begin, go_on, read_result


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
