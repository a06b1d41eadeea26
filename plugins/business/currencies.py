"""The currency of a document, and what its amounts are worth in the company's own currency."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from handlers.request import Request
from handlers.schema.errors import FieldError, ValidationFailed, invalid
from handlers.schema.fields import Field, HasSettings, money, text
from handlers.schema.messages import Message
from handlers.schema.money import exact, store_price, times
from handlers.schema.values import ReadOnlyRecord, Record, StoredAmount
from handlers.service import Port, Service
from plugins.business.lines import MAX_AMOUNT
from plugins.business.ports import Contracts, Customers, Suppliers

RATE_PLACES = 8
MAX_RATE = "999999.99"
# the codes of ISO 4217 for the money of countries
_LISTED = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY
    COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS
    INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP
    MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR
    SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND
    VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
CODES = frozenset(_LISTED.split())
# whose fields pages show only where there is another currency
RATES_TABLE = "finance_exchange_rates"
_OWN: ReadOnlyRecord = {"currency": None, "rate": None}
_MOST_TIMES = 10  # how far a typed rate may be from that of the day, up or down
FAR_RATE = Message(
    "汇率与当日汇率 {rate} 相差超过十倍，请核对",
    "The rate is more than ten times, or less than a tenth of, that of the day, {rate}",
)


class Rates(Port):
    """The exchange rates. Without a plugin that keeps them there is one currency only."""

    async def find_base(self) -> str | None:
        """Return the code of the company's own currency, or None if nobody keeps rates."""
        return None

    async def find_rate(self, currency: str, day: str) -> Decimal | None:
        """Return what one unit of a currency is worth in the company's own: the latest rate on or before `day`, or None."""
        return None


def _check_code(_: HasSettings, code: object) -> str | None:
    return None if code in CODES else "invalid"


def currency() -> Field:
    """Return the field with the code of a currency."""
    return text(
        label=("币种", "Currency"),
        max_length=3,
        pattern="^[A-Z]{3}$",
        check=_check_code,
        filter=True,
        only_with=RATES_TABLE,
        description="ISO 4217; null: the company's own.",
        example="USD",
    )


def rate() -> Field:
    """Return the field with what one unit of a currency is worth in the company's own, with up to eight decimals."""
    return money(
        label=("汇率", "Exchange rate"),
        minimum="0.00000001",
        maximum=MAX_RATE,
        places=RATE_PLACES,
        only_with=RATES_TABLE,
        description="Units of the company's currency for one unit; that of the day unless given, and at most ten times that, at least "
        "a tenth.",
        example="7.1234",
    )


def currency_fields() -> dict[str, Field]:
    """Return the fields of a document with its currency; both are null in the company's own."""
    return {"currency": currency(), "rate": rate()}


def base_amount() -> Field:
    """Return the field with what the `amount` of a record is worth in the company's own currency."""
    return money(
        label=("本位币金额", "Amount in own currency"),
        read_only=True,
        only_with=RATES_TABLE,
        description="`amount` in the company's currency; null where it is in that.",
    )


def currency_amount() -> Field:
    """Return the field with an amount in the currency of a document, beside what it is worth in the company's own."""
    return money(label=("原币金额", "Amount in its currency"), only_with=RATES_TABLE)


async def complete_currency(
    req: Request,
    values: ReadOnlyRecord,
    day: str,
    field: str = "currency",
    *,
    draft: ReadOnlyRecord | None = None,
    dated: str = "day",
) -> Record:
    """Return the `currency` and `rate` to store of a document of this day; both are None in the company's own currency.

    The rate is the one in `values`, or else that of the day. `draft` is what the body changes, its day is the field `dated`:
    if it has the rate of its day, nobody typed that, and it gets the rate of the new one. Raises 40001 for a currency, which
    follows from `field`, without a rate on or before that day, or if nobody keeps rates, for a rate without a currency, and
    for one in the body that is far from that of the day.
    """
    code, given = values.get("currency"), values.get("rate")
    rates = req.part(Rates)
    base = await rates.find_base()
    if code is None or code == base:
        if given is not None:
            raise invalid("rate", "invalid")
        return {**_OWN}
    if base is None:
        raise invalid(field, "reference")
    if given is None or (draft is not None and draft[dated] != day and await _follows_day(req, draft, dated)):
        found = await rates.find_rate(code, day)
        if found is None:
            raise invalid(field, "reference")
        given = store_price(found, RATE_PLACES)
    elif (req.body or {}).get("rate") is not None:
        _refuse_far(exact(given), await rates.find_rate(code, day))
    return {"currency": code, "rate": given}


def _refuse_far(typed: Decimal, known: Decimal | None) -> None:
    if known is not None and not known <= typed * _MOST_TIMES <= known * _MOST_TIMES**2:
        fault = FieldError("rate", "minimum" if typed < known else "maximum")
        raise ValidationFailed([fault], FAR_RATE.filled(rate=f"{known.normalize():f}"))


async def _follows_day(req: Request, draft: ReadOnlyRecord, dated: str) -> bool:
    """Return whether a draft has the rate of its day, and the body of the request has none."""
    if "rate" in req.body or draft["rate"] is None or draft[dated] is None:
        return False
    return exact(draft["rate"]) == await req.part(Rates).find_rate(draft["currency"], draft[dated])


async def choose_currency(
    req: Request, values: ReadOnlyRecord, day: str, before: ReadOnlyRecord | None = None, *, dated: str = "day"
) -> Record:
    """Return the currency and rate of a draft: those that it names, or else those of `find_party_currency` and of its `day`.

    `values` are those of the body, `before` is the draft that they change, which keeps its own until it is given others; a rate
    of its day, the field `dated`, follows that. Raises 40001 for what `complete_currency` refuses.
    """
    draft = {**(before or {}), **values}
    kept = {name: draft.get(name) for name in _OWN}
    if before is None and kept["currency"] is None:
        kept["currency"] = await find_party_currency(req, draft)
    return await complete_currency(req, kept, day, draft=before, dated=dated)


async def value_for_limits(service: Service, record: ReadOnlyRecord, day: str) -> Record:
    """Return a document with the rate at which limits compare it: that of `day` if its own, which anybody may type, is lower."""
    return (await value_all_for_limits(service, [record], day))[0]


async def value_all_for_limits(service: Service, records: Sequence[ReadOnlyRecord], day: str) -> list[Record]:
    """Return documents as `value_for_limits` does; the rate of each currency is read once."""
    codes = {record["currency"] for record in records if record["currency"] is not None}
    known = {code: await service.part(Rates).find_rate(code, day) for code in codes}
    return [{**record, "rate": _raise_rate(record["rate"], known.get(record["currency"]))} for record in records]


def _raise_rate(own: StoredAmount | None, known: Decimal | None) -> StoredAmount | None:
    return own if known is None else store_price(max(known, exact(own)), RATE_PLACES)


async def find_party_currency(req: Request, document: ReadOnlyRecord) -> str | None:
    """Return the currency of new documents of the contract, customer or supplier of a document; None: the company's own."""
    if document.get("contract_id") is not None:
        return await req.part(Contracts).find_currency(document["contract_id"])
    if document.get("supplier_id") is not None:
        return await req.part(Suppliers).find_currency(document["supplier_id"])
    if document.get("customer_id") is not None:
        return await req.part(Customers).find_currency(document["customer_id"])
    return None


def limit_in_base(amount: Decimal, record: ReadOnlyRecord, field: str = "amount") -> None:
    """Raise 40001 for `field` if an amount of a document is worth more than `MAX_AMOUNT` in the company's currency."""
    if in_base(amount, record) > Decimal(MAX_AMOUNT):
        raise invalid(field, "maximum")


def replace_currency(body: ReadOnlyRecord) -> Record:
    """Return the values of a change of a document; a `currency` without `rate` has that of the day again."""
    return {**({"rate": None} if "currency" in body else {}), **body}


def in_base(amount: Decimal, record: ReadOnlyRecord) -> Decimal:
    """Return an amount of a document in the company's currency, rounded to the cent: the amount itself if it has no rate."""
    stored = record.get("rate")
    return amount if stored is None else times(amount, exact(stored))


def cents_expression(amount: object) -> dict[str, Any]:
    """Return the expression of MongoDB that rounds an amount above zero to the cent, half a cent up as in Python."""
    # `$round` rounds half to even
    return {"$trunc": [{"$add": [amount, {"$toDecimal": "0.005"}]}, 2]}


def base_expression(amount: object) -> dict[str, Any]:
    """Return the expression of MongoDB for `in_base` of an amount above zero of a record with a `rate`."""
    return {"$cond": [{"$lte": ["$rate", None]}, amount, cents_expression({"$multiply": [amount, "$rate"]})]}
