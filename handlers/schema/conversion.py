"""Converts values between JSON and MongoDB. `decode` expects values that have passed their JSON Schema."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, get_args

from bson import Decimal128, ObjectId
from bson.tz_util import utc as stored_utc

from handlers.schema.fields import AMOUNT_DIGITS, CENTS, FIRST_DAY, LAST_DAY, OF_QUANTITIES, Field, Kind

_CENT = Decimal("0.01")
_LIMIT = Decimal(10) ** AMOUNT_DIGITS
_BITS = struct.Struct("<QQ")  # a Decimal128 (IEEE 754-2008, binary encoding): sign, exponent and an integer
_BIAS = 6176  # the exponent is stored with this offset
_MOST_PLACES = 34
_TWO = tuple(f"{number:02}" for number in range(60))  # the numbers with two, and with three digits
_THREE = tuple(f"{number:03}" for number in range(1000))
EXACT_DIGITS = 15  # a float represents any decimal number with this many digits uniquely (IEEE 754, DBL_DIG)
_FIRST_MOMENT = datetime.fromisoformat(f"{FIRST_DAY}T00:00:00Z")
_LAST_MOMENT = datetime.fromisoformat(f"{LAST_DAY}T23:59:59.999Z")


class Undecodable(ValueError):
    """A value with the right JSON type that is not valid; `rule` is a key of `messages.RULES`."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def decode(field: Field, value: Any) -> Any:
    """Convert a JSON value, which has passed its schema, to the value for MongoDB. Raises `Undecodable`."""
    if value is None:
        return None
    decoder = _DECODERS.get(field.kind)
    return decoder(field, value) if decoder else value


def _decode_amount(field: Field, value: Any) -> Decimal128:
    rules = field.rules
    try:
        amount = Decimal(value if isinstance(value, str) else str(value))
    except InvalidOperation as error:
        raise Undecodable("decimals") from error
    if not amount.is_finite():
        raise Undecodable("decimals")
    if abs(amount) >= _LIMIT:
        raise Undecodable("maximum")
    if isinstance(value, float) and significant_digits(repr(value)) > EXACT_DIGITS:
        raise Undecodable("digits")
    if amount != round(amount, field.places):
        raise Undecodable("decimals")
    if "minimum" in rules and amount < _bound(rules["minimum"]):
        raise Undecodable("minimum")
    if "maximum" in rules and amount > _bound(rules["maximum"]):
        raise Undecodable("maximum")
    return (store_price if field.kind == "money" else store_quantity)(amount, field.places)


@lru_cache(maxsize=200)
def _bound(declared: str) -> Decimal:
    """Return a declared minimum or maximum as a number."""
    return Decimal(declared)


def significant_digits(number: str) -> int:
    """Return how many digits a number in decimal notation has, without leading and trailing zeros."""
    mantissa = number.lower().partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("-").strip("0"))


def store_money(amount: Decimal) -> Decimal128:
    """Convert an exact amount to its value for MongoDB, with two decimals."""
    cents = int(amount.quantize(_CENT).scaleb(2))
    low, high = abs(cents) & 0xFFFFFFFFFFFFFFFF, abs(cents) >> 64
    return Decimal128.from_bid(_BITS.pack(low, (cents < 0) << 63 | (_BIAS - 2) << 49 | high))


def store_price(amount: Decimal, places: int) -> Decimal128:
    """Convert an exact amount to its value for MongoDB: with two decimals, or as many more as it needs up to `places`."""
    if amount == round(amount, CENTS):
        return store_money(amount)
    return Decimal128(amount.quantize(Decimal(1).scaleb(-places)).normalize())


def store_quantity(amount: Decimal, places: int = OF_QUANTITIES) -> Decimal128:
    """Convert an exact quantity to its value for MongoDB, without trailing zeros or an exponent."""
    trimmed = amount.quantize(Decimal(1).scaleb(-places)).normalize() + 0
    exponent = trimmed.as_tuple().exponent
    return Decimal128(trimmed.quantize(Decimal(1)) if isinstance(exponent, int) and exponent > 0 else trimmed)


def parse_time(value: str) -> datetime:
    """Parse an RFC 3339 moment as an aware UTC time, truncated to milliseconds.

    Raises ValueError for an invalid moment or one without an offset, and `Undecodable` for one that is in the year 0 or
    10000 in UTC.
    """
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset")
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        raise Undecodable("bounds") from error
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _decode_timestamp(field: Field, value: Any) -> datetime:
    try:
        moment = parse_time(value)
    except Undecodable:
        raise
    except ValueError as error:
        raise Undecodable("format") from error
    if not _FIRST_MOMENT <= moment <= _LAST_MOMENT:
        raise Undecodable("bounds")
    return moment


def _decode_day(field: Field, value: Any) -> str:
    try:
        date.fromisoformat(value)  # the schema accepts the year 0, which Python does not
    except ValueError as error:
        raise Undecodable("format") from error
    if not field.earliest <= value <= LAST_DAY:
        of_all = field.earliest == FIRST_DAY
        raise Undecodable("bounds" if of_all else "minimum" if value < field.earliest else "maximum")
    return str(value)


def _decode_integer(field: Field, value: Any) -> int:
    # in JSON Schema, 1.0 and 1e3 are integers
    return int(value)


def _decode_id(field: Field, value: Any) -> ObjectId:
    return ObjectId(value)


def _decode_array(field: Field, value: Sequence[Any]) -> list[Any]:
    return [decode(field.items, item) for item in value] if field.items is not None else list(value)


def _decode_object(field: Field, value: Mapping[str, Any]) -> dict[str, Any]:
    fields = field.fields or {}
    return {name: decode(fields[name], item) for name, item in value.items()}


_DECODERS: dict[Kind, Callable[[Field, Any], Any]] = {
    "integer": _decode_integer,
    "money": _decode_amount,
    "quantity": _decode_amount,
    "timestamp": _decode_timestamp,
    "day": _decode_day,
    "object_id": _decode_id,
    "array": _decode_array,
    "object": _decode_object,
}


def decode_stored(field: Field, value: Any) -> Any:
    """Convert a value that `encode` wrote, even one that its field would not accept now. Raises ValueError."""
    if field.kind == "timestamp":
        return parse_time(value)
    if field.kind == "object_id":
        if not ObjectId.is_valid(value):
            raise Undecodable("pattern")
        return ObjectId(value)
    if field.kind in ("money", "quantity"):
        try:
            amount = Decimal(value)
        except InvalidOperation as error:
            raise Undecodable("decimals") from error
        if not amount.is_finite() or len(amount.as_tuple().digits) > _MOST_PLACES:
            raise Undecodable("decimals")
        return Decimal128(amount)
    return value


PLAIN = frozenset(get_args(Kind)) - _DECODERS.keys()  # the kinds whose values are stored unchanged


def encode(value: Any) -> Any:
    """Convert a value that orjson does not know: BSON types and times. Raises TypeError on others."""
    try:
        encoder = _ENCODERS[type(value)]
    except KeyError:
        raise TypeError(type(value).__name__) from None
    return encoder(value)


def encode_time(moment: datetime) -> str:
    """Format a moment as RFC 3339 in UTC with milliseconds. A moment without a zone, as MongoDB returns it, is UTC."""
    zone = moment.tzinfo
    utc = moment if zone is stored_utc or zone is None or zone is UTC else moment.astimezone(UTC)
    # `isoformat` takes twice as long: it asks the zone, or needs a copy without one
    return f"{utc.date()}T{_TWO[utc.hour]}:{_TWO[utc.minute]}:{_TWO[utc.second]}.{_THREE[utc.microsecond // 1000]}Z"


def encode_amount(amount: Decimal128) -> str:
    """Format a stored amount with all its digits, without an exponent.

    The library takes eight times as long, and a list has many amounts.
    """
    low, high = _BITS.unpack(amount.bid)
    exponent = (high >> 49 & 0x3FFF) - _BIAS
    if not -_MOST_PLACES < exponent <= 0 or high >> 61 & 3 == 3:
        return format(amount.to_decimal(), "f")
    digits = str((high & 0x1FFFFFFFFFFFF) << 64 | low)
    if exponent:
        digits = digits.zfill(1 - exponent)
        digits = f"{digits[:exponent]}.{digits[exponent:]}"
    return f"-{digits}" if high >> 63 else digits


_ENCODERS: Mapping[type, Callable[[Any], str]] = {
    datetime: encode_time,
    ObjectId: str,
    Decimal128: encode_amount,
    Decimal: lambda amount: format(amount, "f"),
}
