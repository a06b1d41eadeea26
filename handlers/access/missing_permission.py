"""The 40300 that names what is missing: the permission code, and the operation in the words of menus and buttons."""

from __future__ import annotations

from handlers.catalogue.declarations import Catalogue
from handlers.request import Request
from handlers.schema.errors import MissingPermission
from handlers.schema.messages import MISSING_PERMISSION, Message


def missing_permission(req: Request, permission: str, reason: Message | None = None) -> MissingPermission:
    """Return the 40300 for a missing permission code; `reason` is the message of a rule that has its own message."""
    operation = req.part(Catalogue).operations.get(permission, Message(permission, permission))
    sentences = (
        template.format(operation=words) for template, words in zip(MISSING_PERMISSION, operation, strict=True)
    )
    return MissingPermission(permission, Message(*sentences), reason)
