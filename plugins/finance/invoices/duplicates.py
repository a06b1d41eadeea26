"""The same paper of a supplier, typed a little differently: it is entered once, or it would be paid twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial

from plugins.api import ApiError, Record, Service
from plugins.api.data import Migration, Stage
from plugins.api.errors import DUPLICATE
from plugins.api.values import ReadOnlyRecord
from plugins.finance.invoices.records import INVOICES

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


def number_key(number: str) -> str:
    """Return a number without differences of case, width, blanks, kinds of dashes, and leading zeros."""
    folded = re.sub(r"\s+", "", _DASHES.sub("-", _fold(number)))
    return _LEADING_ZEROS.sub("", _DECORATION.sub("", folded)) or folded


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def name_number(error: ApiError) -> ApiError:
    """Return the error for a write of an invoice: what is a duplicate by its key is one by its number."""
    return ApiError(DUPLICATE, data={"field": "number"}) if error.kind is DUPLICATE else error


def _stages(service: Service) -> Iterator[Stage]:
    older = {"direction": "in", "number_key": None, "deleted": False}
    yield Stage(INVOICES, partial(_complete, service), older)


KEYS = Migration(
    "2026-11-same-papers",
    "Gives invoices of suppliers the keys by which the same paper is recognised. Of papers that were entered twice, the "
    "first has them: it cannot decide which of them is right, and leaves both.",
    _stages,
)


async def _complete(service: Service, rows: Sequence[Record]) -> int:
    changed, invoices = 0, service.database.store(INVOICES)
    for row in rows:
        keys = keys_of(row)
        if await invoices.find_one(keys) is None:
            unset = {"_id": row["_id"], "number_key": None, "version": row["version"]}
            changed += await invoices.update_unversioned(unset, {"$set": keys}) is not None
    return changed
