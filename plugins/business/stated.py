"""What papers state of lines: their units, and the net and tax of each rate, with the reason where none is charged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from handlers.data.collection import Collection
from handlers.request import Request
from handlers.schema.fields import Field, array, obj, text
from handlers.schema.messages import Message
from handlers.schema.money import exact
from handlers.schema.values import ReadOnlyRecord, Record
from plugins.business.lines import TAX, TAX_RATE, TEXT, WITHOUT_TAX
from plugins.business.ports import PricedLines

_ROW = {
    "tax_rate": TAX_RATE,
    "treatment": text(label=("征税方式", "Treatment"), labelled_by="inventory_tax_treatment"),
    "reason": text(label=("依据", "Reason")),
    "net": WITHOUT_TAX,
    "tax": TAX,
}
_WORDS: Mapping[str, None] = dict.fromkeys(("quantity", "net", "tax", "amount"))  # of which words have none
TAX_TABLE = (Message("税额明细", "Tax by rate"), "taxes", tuple(_ROW))


def stated_shape(shape: Field, **further: Field) -> Field:
    """Return the shape of a record that is printed with `TAX_TABLE`, and with `further` fields."""
    return shape.but(fields={**(shape.fields or {}), **further, "taxes": array(obj("TaxOfRate", _ROW))})


def stated_reader(collection: Collection[Any]) -> Callable[[Request], Awaitable[Record]]:
    """Return the reader of a record of a collection as it is printed with `TAX_TABLE`."""

    async def read(req: Request) -> Record:
        return await state_lines(req, await req.store(collection).get(req.path["id"]))

    return read


async def state_lines(req: Request, record: ReadOnlyRecord) -> Record:
    """Return a record whose lines have all that papers state of them, with the rows of `TAX_TABLE`."""
    lines = await req.part(PricedLines).state(req, record.get("lines") or [])
    taxes = _sum_taxes(lines, record.get("freight"))
    return {**record, "lines": [{**one, **_WORDS} if one.get("kind") == TEXT else one for one in lines], "taxes": taxes}


def _sum_taxes(lines: Iterable[Mapping[str, Any]], freight: Any) -> list[Record]:
    """Return net and tax of each rate and reason, the highest rate first; they add up to the sums of the record.

    Nothing where no line has a rate or a tax, or where an earlier version kept no net.
    """
    counted = [line for line in lines if line.get("kind") != TEXT]
    taxed = any(line.get("tax_id") is not None or exact(line.get("tax_rate")) for line in counted)
    if not taxed or any(line.get("net") is None for line in counted):
        return []
    sums: dict[tuple[Any, ...], list[Decimal]] = {}
    for line in (*counted, {"net": freight}):
        key = (exact(line.get("tax_rate")).normalize(), line.get("treatment"), line.get("reason"))
        of = sums.setdefault(key, [Decimal(0), Decimal(0)])
        of[0] += exact(line["net"])
        of[1] += exact(line.get("tax"))
    rows = sorted(sums.items(), key=lambda row: -row[0][0])
    return [dict(zip(_ROW, (*key, *of), strict=True)) for key, of in rows if any(of) or key[1]]
