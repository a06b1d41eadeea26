"""Numbers of documents: each type has a format, which a setting may change, such as `{prefix}-{yyyy}{MM}-{seq:4}`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from handlers.catalogue.declarations import Option
from handlers.ports import OptionValues
from handlers.request import Request
from handlers.schema.calendar import day_of
from handlers.schema.fields import BLANK, boolean, obj, text
from handlers.schema.messages import Message
from handlers.schema.values import Record

Made = TypeVar("Made")
MAX_NUMBER = 32  # characters of the longest number, with a sequence of nine digits at most
_MAX_FORMAT = 36
_LITERAL = rf"[^{BLANK}{{}}\x00-\x1f\x7f]"
_PART = r"\{(?:prefix|yyyy|yy|MM|dd)\}"
_SEQUENCE = r"\{seq:[1-9]\}"
_PATTERN = (
    # a month needs its year, and a day its month: otherwise numbers would repeat
    r"^(?=.*\{yy|(?!.*\{MM\}))(?=.*\{MM\}|(?!.*\{dd\}))"
    # at most ten other characters, so that the number is no longer than its field
    rf"(?=(?:{_PART}|{_SEQUENCE})*(?:{_LITERAL}(?:{_PART}|{_SEQUENCE})*){{0,10}}$)"
    # the sequence exactly once
    rf"(?:{_LITERAL}|{_PART})*{_SEQUENCE}(?:{_LITERAL}|{_PART})*$"
)
_PLACES = re.compile(r"\{(prefix|yyyy|yy|MM|dd|seq)(?::([1-9]))?\}")
# the date parts, the most specific one first, each with how many digits of a day (20261123) identify its period
_PERIODS = {"{dd}": 8, "{MM}": 6, "{yy": 4}


@dataclass(frozen=True)
class Numbering:
    """The numbers of one type of document, whose format administrators can change in the setting `key`.

    A format consists of literal characters and of `{prefix}`, `{yyyy}`, `{yy}`, `{MM}` and `{dd}` (the business day on
    which the number is taken, or the date of the document), and `{seq:4}`: the sequence, padded with zeros to 4 digits. The sequence starts again
    with each period of the most specific date part. `sequence` is the name of its counter in the database, which must
    not change. `gapless`: the number is taken inside the transaction of its document, so that a failure leaves no gap;
    documents of the type are then created one after the other. `format` and `gapless` are the defaults of the setting.
    Raises ValueError for an invalid format, and for a prefix of more than 4 characters.
    """

    key: str
    noun: Message
    prefix: str
    sequence: str
    format: str = "{prefix}-{seq:8}"
    gapless: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(_PATTERN, self.format) or len(self.format) > _MAX_FORMAT:
            raise ValueError(f"{self.format!r} of {self.key} is no format of numbers")
        if len(self.prefix) > 4:
            raise ValueError(f"the prefix {self.prefix} of {self.key} has more than 4 characters")

    @cached_property
    def option(self) -> Option:
        """The setting with the format."""
        shape = obj(
            None,
            {
                "format": text(required=True, nullable=False, max_length=_MAX_FORMAT, pattern=_PATTERN),
                "gapless": boolean(nullable=False),
            },
            nullable=False,
            default={"format": self.format, "gapless": self.gapless},
        )
        parts = "{prefix}, {yyyy}, {yy}, {MM}, {dd}, {seq:4}"
        about = Message(
            f"{self.noun.zh}的编号格式：{parts}；gapless 表示不跳号",
            f"Format of {self.noun.en} numbers: {parts}; gapless: no number is skipped",
        )
        return Option(self.key, shape, about)

    async def take(self, req: Request, day: str | None = None) -> str:
        """Return the next number. Call this inside the transaction that creates the document, or use `create`.

        `day` is the date of a document, such as `2026-11-23`, whose period counts; today's does unless given.
        """
        chosen = await self._chosen(req)
        day = (day or day_of(req.now, req.service.settings.zone).isoformat()).replace("-", "")
        sequence = await req.service.database.next_number(
            self.count_by(chosen["format"], day), outside_transaction=not chosen.get("gapless", self.gapless)
        )
        return format_number(chosen["format"], self.prefix, day, sequence)

    async def has_own_format(self, req: Request) -> bool:
        """Return whether the setting has a format other than the default."""
        return bool((await self._chosen(req))["format"] != self.format)

    def count_by(self, format: str, day: str) -> str:
        """Return the name of the counter for a format on a day such as `20261123`."""
        period = next((day[:digits] for part, digits in _PERIODS.items() if part in format), None)
        return f"{self.sequence}:{period}" if period else self.sequence

    async def create(self, req: Request, make: Callable[[str], Awaitable[Made]]) -> Made:
        """Call `make` with the next number and return its result, in one transaction if numbers are gapless."""

        async def work() -> Made:
            return await make(await self.take(req))

        gapless = (await self._chosen(req)).get("gapless", self.gapless)
        return await (req.transaction(work) if gapless else work())

    async def _chosen(self, req: Request) -> Record:
        """Return the value of the setting, or the default if no plugin keeps settings."""
        values = req.service.parts.get(OptionValues)
        chosen: Record = await values.value(self.key) if values is not None else self.option.default
        return chosen


def format_number(format: str, prefix: str, day: str, sequence: int) -> str:
    """Return the number of a sequence in a format, on a day such as `20261123`."""
    parts = {"prefix": prefix, "yyyy": day[:4], "yy": day[2:4], "MM": day[4:6], "dd": day[6:8]}

    def fill(place: re.Match[str]) -> str:
        name, width = place.groups()
        return parts[name] if width is None else f"{sequence:0{width}}"

    return _PLACES.sub(fill, format)
