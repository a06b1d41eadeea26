"""What is gained or lost because a document is settled at another exchange rate than its own. Rows never change.

A document is settled at its own rate, and the money counts at the rate of its payment. What is given back, by a reversal
or because an allocation is taken back, has a row with the opposite amounts on that day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import (
    Actor,
    Collection,
    Index,
    Message,
    Page,
    Record,
    Request,
    Route,
    day,
    exact,
    money,
    object_id,
    route,
    service_fields,
    store_money,
    text,
)
from plugins.api.business import RATES_TABLE, currency, in_base, rate
from plugins.api.data import page_of_rows, query_of_rows
from plugins.api.reports import Piece
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.finance.payment_records import OPEN_ITEMS, PAYMENTS
from plugins.finance.record_types import ExchangeDifference

_ZERO, _ROUNDING = Decimal(0), Decimal("0.02")  # the money and the document are each rounded as parts of a whole
_GAIN = money(
    label=("汇兑损益", "Difference"),
    sort=True,
    description="In the company's currency: above zero a gain, below zero a loss.",
)
EXCHANGE_DIFFERENCES: Collection[ExchangeDifference] = Collection(
    name="finance_exchange_differences",
    title="ExchangeDifference",
    noun=Message("汇兑损益", "exchange difference"),
    scoped=True,
    default_sort="-day",
    fields={
        **service_fields(
            day=day(label=("日期", "Date"), filter=True, sort=True),
            payment_id=object_id(label=("收付款单", "Payment"), ref=PAYMENTS.name, filter=True, only_with=RATES_TABLE),
            currency=currency().but(description=None),
            amount=money(label=("原币金额", "Amount settled"), description="In that currency; below zero: given back."),
            payment_rate=rate().but(label=("收付款汇率", "Rate of the payment"), description=None),
            document_rate=rate().but(
                label=("单据汇率", "Rate of the document"),
                description="That of the open item, or of the advance that is paid back.",
            ),
            difference=_GAIN,
        ),
        "open_item_id": object_id(
            label=("应收应付款项", "Open item"),
            ref=OPEN_ITEMS.name,
            read_only=True,
            filter=True,
            only_with=RATES_TABLE,
            description="Null: an advance is paid back.",
        ),
        "number": text(label=("单据编号", "Document number"), max_length=64, read_only=True),
    },
    indexes=(Index("payment_id"), Index("open_item_id"), Index("day", "currency", "difference")),
)
# rows as responses have them; nothing is stored in this shape
_MONTHS = Collection(
    name=EXCHANGE_DIFFERENCES.name,
    title="ExchangeDifferenceMonth",
    noun=Message("月度汇兑损益", "exchange differences of a month"),
    plain=True,
    ids="text",
    default_sort="-id",
    fields=service_fields(
        month=text(label=("月份", "Month"), max_length=7, example="2026-11"),
        currency=currency().but(filter=False, description=None),
        gain=money(label=("汇兑收益", "Gains")),
        loss=money(label=("汇兑损失", "Losses")),
        difference=_GAIN,
    ),
)


async def realise(
    req: Request, payment: ReadOnlyRecord, item: ReadOnlyRecord, amount: Decimal, day: str, *, undo: bool = False
) -> None:
    """Enter the difference when `amount` of a payment settles an item on `day`, in the transaction; `undo`: is given back.

    The item is as it was before, and so is what is left of the payment. Parts are taken off the whole, so that the rows of
    all parts add up to the difference of the whole to the cent.
    """
    if item["currency"] is None:
        return
    used = -amount if undo else amount
    sign = 1 if payment["direction"] != item["direction"] else -1  # one of the same direction pays back
    left, paid = exact(payment["unallocated"]), exact(item["paid"])
    money = in_base(left, payment) - in_base(left - used, payment)
    settled = in_base(paid + sign * used, item) - in_base(paid, item)
    await _enter(req, payment, item, used, money - sign * settled, day, open_item_id=item["id"])


async def realise_repaid(
    req: Request, payment: ReadOnlyRecord, advance: ReadOnlyRecord, amount: Decimal, day: str
) -> None:
    """Enter the difference when a payment has paid back `amount` of an advance; below zero, that is reversed."""
    if advance["currency"] is None:
        return
    left = exact(advance["unallocated"])
    released = in_base(left + amount, advance) - in_base(left, advance)
    await _enter(req, payment, advance, amount, in_base(amount, payment) - released, day)


async def _enter(
    req: Request,
    payment: ReadOnlyRecord,
    document: ReadOnlyRecord,
    amount: Decimal,
    more: Decimal,
    day: str,
    **links: object,
) -> None:
    """Write a row: `more` is by how much the money is worth more than the document. Who sees this sees the row."""
    owner = Actor(user_id=document["creator_id"], department_id=document["creator_department_id"])
    values: Record = {
        "day": day,
        "payment_id": payment["id"],
        "number": document["number"],
        "currency": document["currency"],
        "amount": store_money(amount),
        "payment_rate": payment["rate"],
        "document_rate": document["rate"],
        "difference": store_money(more if payment["direction"] == "in" else -more),
        **links,
    }
    await req.service.database.store(EXCHANGE_DIFFERENCES, owner).create(values)


async def sum_realised(piece: Piece) -> Mapping[RecordId, Sequence[ExchangeDifference]]:
    """Return the rows of the payments of a piece of an audit, by the id of the payment."""
    ids = [one["id"] for one in piece.records if one["currency"] is not None]
    rows: defaultdict[RecordId, list[ExchangeDifference]] = defaultdict(list)
    for row in await piece.store(EXCHANGE_DIFFERENCES).find({"payment_id": {"$in": ids}}) if ids else ():
        rows[row["payment_id"]].append(row)
    return rows


def is_realised(payment: ReadOnlyRecord, rows: Sequence[ExchangeDifference]) -> bool:
    """Return whether the rows of a payment settle what it settles now, and follow from their rates but for cents."""
    settled: defaultdict[RecordId | None, Decimal] = defaultdict(Decimal)
    for row in rows:
        settled[row["open_item_id"]] += exact(row["amount"])
        rates = exact(row["payment_rate"]) - exact(row["document_rate"])
        gain = exact(row["amount"]) * (rates if payment["direction"] == "in" else -rates)
        if abs(gain - exact(row["difference"])) > _ROUNDING:
            return False
    if payment["status"] == "booked":
        for part in payment["allocations"] or ():
            settled[part["open_item_id"]] -= exact(part["amount"])
        settled[None] -= exact(payment["amount"]) if payment["repays_id"] is not None else _ZERO
    return not any(settled.values())


async def list_differences(req: Request) -> Page:
    """Return a page of the rows."""
    return await req.store(EXCHANGE_DIFFERENCES).page(req.query)


async def list_months(req: Request) -> Page:
    """Return a page of the months with gains and losses by currency, the last month first."""
    key = {"month": {"$substrBytes": ["$day", 0, 7]}, "currency": "$currency"}
    sums = {name: {"$sum": {one: [0, "$difference"]}} for name, one in (("gain", "$max"), ("loss", "$min"))}
    found = await req.store(EXCHANGE_DIFFERENCES).aggregate(
        [{"$group": {"_id": key, **sums}}, {"$sort": {"_id.month": -1, "_id.currency": 1}}]
    )
    return page_of_rows(req.query, [_describe(row) for row in found])


def _describe(row: Mapping[str, Any]) -> Record:
    gain, loss = exact(row["gain"]), -exact(row["loss"])
    amounts = {"gain": gain, "loss": loss, "difference": gain - loss}
    return {
        **row["_id"],
        "id": "-".join(row["_id"].values()),
        **{name: store_money(amount) for name, amount in amounts.items()},
    }


_ACCESS = "finance:exchange-rate:differences"
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/exchange-differences",
        list_differences,
        summary="List realised exchange differences",
        access=_ACCESS,
        query=EXCHANGE_DIFFERENCES.list_query,
        record=EXCHANGE_DIFFERENCES,
        paged=True,
    ),
    route(
        "GET /api/v1/finance/exchange-differences/months",
        list_months,
        summary="List realised exchange differences by month and currency",
        title=("月度汇兑损益", "By month"),
        access=_ACCESS,
        query=query_of_rows(_MONTHS),
        returns=_MONTHS.read,
        paged=True,
        collection=EXCHANGE_DIFFERENCES.name,
    ),
)
