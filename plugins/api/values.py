"""Amounts, days and times."""

from __future__ import annotations

from handlers.schema.calendar import (
    start_of as start_of,  # the moment at which a business day starts
)
from handlers.schema.messages import (
    Language as Language,  # `zh` or `en`
)
from handlers.schema.money import (
    rounded as rounded,  # round to the cent
    share as share,  # the share of an amount, to the cent
    store_quantity as store_quantity,  # a quantity for MongoDB
    times as times,  # quantity times price, to the cent
)
