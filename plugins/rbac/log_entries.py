"""What the operation log and the log-in log have in common: which entries a user sees, and the filter by outcome."""

from __future__ import annotations

from typing import Any

from plugins.api import Request, choice
from plugins.rbac.directory import visible_users_filter

OUTCOME = choice(
    "success",
    "failure",
    label=("结果", "Outcome"),
    nullable=False,
    example="failure",
    description="`success`: only entries whose `code` is 0; `failure`: only the others.",
)
_CODES: dict[str, dict[str, Any]] = {"success": {"code": 0}, "failure": {"code": {"$gt": 0}}}


async def log_filter(req: Request) -> dict[str, Any]:
    """Return the filter for log entries: by users in the caller's data scope, with the `outcome` of the query."""
    return await visible_users_filter(req) | _CODES.get(req.query.get("outcome", ""), {})
