"""The number of a receipt is used once in the company: by a line of an expense claim, or by an invoice of a supplier.

The same number written a little differently has the same key. Claims and invoices are two collections, so that no index
can tell: whoever enters a number locks it until the end of the transaction, and looks for it among the others. What is
deleted, reversed or void does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from plugins.api import ApiError, Record, Request
from plugins.api.errors import DUPLICATE
from plugins.api.values import ReadOnlyRecord
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.record_types import ExpenseClaim, Invoice
from plugins.finance.records import INVOICES

_DASHES = re.compile(r"[\u00ad\u2010-\u2015\u2043\u2212\u30fc\ufe58\ufe63_]")
# between two digits a dash tells 1-11 from 11-1, elsewhere it is decoration
_DECORATION = re.compile(r"\s+|(?<!\d)-|-(?!\d)")
_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_NOT_WORDS = re.compile(r"[\W_]+")


def keys_of(invoice: ReadOnlyRecord) -> Record:
    """Return the keys of a supplier's invoice, which are the same for the same paper; null for an invoice that is sent.

    They are the supplier, or the name of the counterparty where no supplier is named, and the number.
    """
    if invoice["direction"] != "in" or not invoice.get("number"):
        return {"party_key": None, "number_key": None}
    name = _NOT_WORDS.sub("", _fold(invoice["counterparty"]))
    return {"party_key": str(invoice.get("supplier_id") or name), "number_key": number_key(invoice["number"])}


def name_number(error: ApiError) -> ApiError:
    """Return the error for a write of an invoice: what is a duplicate by its key is one by its number."""
    return ApiError(DUPLICATE, data={"field": "number"}) if error.kind is DUPLICATE else error


def number_key(number: str) -> str:
    """Return a number without differences of case, width, blanks, kinds of dashes, and leading zeros."""
    folded = re.sub(r"\s+", "", _DASHES.sub("-", _fold(number)))
    return _LEADING_ZEROS.sub("", _DECORATION.sub("", folded)) or folded


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


async def find_invoice(req: Request, key: str) -> Invoice | None:
    """Return the supplier's invoice with the number of this key, unless it is void."""
    same = {"number_key": {"$eq": key, "$type": "string"}}  # the type lets the index answer
    return await req.system_store(INVOICES).find_one({**same, "status": {"$ne": "void"}})


async def find_claim(req: Request, key: str) -> ExpenseClaim | None:
    """Return the expense claim with a receipt of this key."""
    same = {"receipt_keys": {"$eq": key, "$type": "string"}}
    return await req.system_store(EXPENSE_CLAIMS).find_one(same)


async def refuse_claimed(req: Request, key: str | None) -> None:
    """Raise 40900 for a number that an expense claim has; until the transaction ends, none gets it."""
    if key is not None:
        await _lock(req, key)
        if await find_claim(req, key) is not None:
            raise ApiError(DUPLICATE, data={"field": "number"})


async def refuse_invoiced(req: Request, fields: Mapping[str, str]) -> None:
    """Raise 40900 for a receipt that is a supplier's invoice; until the transaction ends, none gets its number.

    `fields` names the field of each key.
    """
    for key in sorted(fields):
        await _lock(req, key)
        if await find_invoice(req, key) is not None:
            raise ApiError(DUPLICATE, data={"field": fields[key]})


async def _lock(req: Request, key: str) -> None:
    await req.service.database.lock(EXPENSE_CLAIMS, key)
