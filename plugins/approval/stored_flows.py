"""Says which flows of older versions break the rules of today. Only administrators know what was meant."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from plugins.api import Service, utc_now
from plugins.api.data import Migration, Stage
from plugins.approval.condition_checks import find_faults
from plugins.approval.people import names_anybody
from plugins.approval.records import DEFINITIONS
from plugins.approval.tree import parts_of

log = logging.getLogger("tradewind.approval")


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(DEFINITIONS, partial(_report, service), {"deleted": False})


FITTING = Migration(
    "2026-11-flows-that-fit",
    "Logs the approval flows that never apply, or whose nodes name nobody; it changes none, so that people decide.",
    _stages,
)


async def _report(service: Service, rows: Sequence[dict[str, Any]]) -> int:
    """Log a line for each flow that could not be saved today, with the fields at fault."""
    for row in rows:
        faults = [fault.field for fault in await find_faults(service, row)]
        for number, node in enumerate(row["nodes"]):
            if not parts_of(node) and not await names_anybody(service, node["approvers"], utc_now()):
                faults.append(f"nodes[{number}].approvers")
        if faults:
            log.warning("The approval flow %s (%s) needs mending: %s", row["name"], row["_id"], ", ".join(faults))
    return 0
