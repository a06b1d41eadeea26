"""Exchange rates by currency and day, and the company's own currency.

A document takes the latest rate on or before its day when it is entered, and keeps it whatever becomes of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Collection, Index, Message, Option, Route, Service, crud, day, exact
from plugins.api.business import RATES_TABLE, Rates, currency, rate
from plugins.api.ports import OptionValues
from plugins.finance.messages import BASE_FIXED
from plugins.finance.record_types import ExchangeRate

EXCHANGE_RATES: Collection[ExchangeRate] = Collection(
    name=RATES_TABLE,
    title="ExchangeRate",
    noun=Message("汇率", "exchange rate"),
    default_sort="-day",
    fields={
        "currency": currency().but(required=True, nullable=False, only_with=None, description="ISO 4217."),
        "day": day(
            label=("生效日期", "Date"),
            required=True,
            nullable=False,
            sort=True,
            filter=True,
            description="From which day on it is the rate, until the next one.",
        ),
        "rate": rate().but(
            required=True,
            nullable=False,
            only_with=None,
            description="Units of the company's own currency for one unit.",
        ),
    },
    indexes=(Index("currency", "day", unique=True),),
)

BASE = Option(
    "finance_currency",
    currency().but(nullable=False, filter=False, default="CNY", description=None),
    Message(
        "本位币（ISO 4217）；录入汇率后不能更改",
        "The company's own currency (ISO 4217), which is fixed once exchange rates were entered",
    ),
)


@dataclass(frozen=True)
class KeptRates(Rates):
    """The rates of the table."""

    service: Service

    async def find_base(self) -> str:
        """Return the code of the company's own currency."""
        values = self.service.parts.get(OptionValues)
        return str(await values.value(BASE.key) if values is not None else BASE.default)

    async def find_rate(self, currency: str, day: str) -> Decimal | None:
        """Return the latest rate of a currency on or before a day."""
        known = {"currency": currency, "day": {"$lte": day}}
        found = await self.service.database.store(EXCHANGE_RATES).find(known, sort="-day", limit=1)
        return exact(found[0]["rate"]) if found else None


async def keep_base(service: Service, payload: Mapping[str, Any]) -> None:
    """Refuse another currency of the company after exchange rates were entered, which are stated in the present one."""
    wanted = payload["values"].get(BASE.key)
    if wanted is None or wanted == await KeptRates(service).find_base():
        return
    rates = service.database.store(EXCHANGE_RATES)
    if await rates.find({}, limit=1) or await rates.deleted.find({}, limit=1):
        raise ApiError(CONFLICT, BASE_FIXED)


ROUTES: tuple[Route, ...] = crud(EXCHANGE_RATES, at="/api/v1/finance/exchange-rates", resource="finance:exchange-rate")
