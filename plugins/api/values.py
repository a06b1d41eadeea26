"""Amounts, days and times, and the types of records."""

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
    store_price as store_price,  # an amount per unit for MongoDB
    store_quantity as store_quantity,  # a quantity for MongoDB
    times as times,  # quantity times price, to the cent
)
from handlers.schema.values import (
    Payload as Payload,  # what an event carries
    ReadOnlyRecord as ReadOnlyRecord,  # a record of any kind that is only read
    RecordId as RecordId,  # the id of a record
    Row as Row,  # for functions of any `Store[Row]`: the type of its records
    StoredAmount as StoredAmount,  # a money or quantity as it is stored
    StoredId as StoredId,  # an `object_id` as it is stored
    Typed as Typed,  # for functions of any `Collection[Typed]`: the type of its records
    Values as Values,  # the fields to store
)
