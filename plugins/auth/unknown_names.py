"""Unknown user names, which are locked like accounts if the setting `lock_unknown_names` hides which names exist.

Unknown and existing names cost the same work, so neither the response nor its time differs. A typed name is stored as
a keyed hash, for as long as a failed log-in counts.
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
    """Return whether unknown names are locked."""
    return req.service.settings_of(AuthSettings).lock_unknown_names


def key_of(req: Request, typed: str) -> str:
    """Return the keyed hash that identifies a name in the database."""
    secret = req.service.signing_secrets[0].encode()
    return hmac.new(secret, b"unknown-name:" + typed.encode(), hashlib.sha256).hexdigest()


async def find(req: Request, typed: str) -> dict[str, Any] | None:
    """Return the record that counts the failed log-ins with a name, or None."""
    return await req.system_store(UNKNOWN_NAMES).find_one({"_id": key_of(req, typed)})


async def begin(req: Request, typed: str, until: datetime) -> None:
    """Create the record that counts the failed log-ins with a name, unless it exists. It expires by itself."""
    fresh = {"failures": 0, "locked_until": None, "failed_at": req.now, "expires_at": until}
    await req.system_store(UNKNOWN_NAMES).upsert(key_of(req, typed), {}, {"$setOnInsert": fresh})
