"""Names that nobody has, locked like accounts where a setting wants that a log-in does not tell which names exist.

For a name that exists the same work is done, so that neither the answers nor their time differ. What was typed is kept
as a keyed hash, for as long as a failure counts.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import Any

from plugins.api import Request
from plugins.auth.records import UNKNOWN_NAMES
from plugins.auth.settings import AuthSettings


def are_locked(req: Request) -> bool:
    """Whether the setting is on."""
    return req.service.settings_of(AuthSettings).lock_unknown_names


def key_of(req: Request, typed: str) -> str:
    """What stands for a name in the database."""
    secret = req.service.signing_secrets[0].encode()
    return hmac.new(secret, b"unknown-name:" + typed.encode(), hashlib.sha256).hexdigest()


async def find(req: Request, typed: str) -> dict[str, Any] | None:
    """What is known of the failures of a name."""
    return await req.system_store(UNKNOWN_NAMES).find_one({"_id": key_of(req, typed)})


async def begin(req: Request, typed: str, until: datetime) -> None:
    """See to it that the failures of a name can be counted; it is forgotten by itself."""
    fresh = {"failures": 0, "locked_until": None, "failed_at": req.now, "expires_at": until}
    await req.system_store(UNKNOWN_NAMES).upsert(key_of(req, typed), {}, {"$setOnInsert": fresh})
