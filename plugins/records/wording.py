"""What a record is called in the summary of a route."""

from __future__ import annotations

import re

from handlers.data.collection import Collection

_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HISSING = ("s", "x", "ch", "sh")


def noun_of(collection: Collection) -> str:
    """Return the English noun of one record, by default the words of the title: `PurchaseOrder` → `purchase order`."""
    return collection.noun.en or _BETWEEN_WORDS.sub(" ", collection.title).lower()


def with_article(noun: str) -> str:
    """Return the noun with its article, such as `an order` or `a user`."""
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def plural_of(noun: str) -> str:
    """Return the plural of the noun, such as `deliveries` or `places of attendance`."""
    thing, of, rest = noun.partition(" of ")
    if thing.endswith("y") and thing[-2] not in "aeiou":
        return f"{thing[:-1]}ies{of}{rest}"
    return f"{thing}{'es' if thing.endswith(_HISSING) else 's'}{of}{rest}"
