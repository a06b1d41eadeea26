"""A walk over every menu of a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from handlers.schema.fields import fields_in
from handlers.schema.messages import Language
from plugins.api.reports import Printable
from plugins.finance.audits import audits_of
from plugins.testing import Client
from plugins.webhook.events import titles_of_events
from tests.browser.browser import Console, do
from tests.browser.work import PEOPLE
from tests.support.catalogue import CATALOGUE

# names and abbreviations that Chinese readers know as they are
_KNOWN = re.compile(r"\b(ID|IP|SKU|URL|API|SEO|ICP|GPS|JSON|CSV|XLSX|Excel|HTTP|WebSocket|WiFi|Tradewind)\b")
LEAVE_TYPES = "hrm_leave_type"  # whose list shows their codes
_CODE = re.compile(r"[a-z][a-z0-9_.-]+")
_ENGLISH, _CHINESE = re.compile(r"[A-Za-z]{2,}"), re.compile(r"[\u4e00-\u9fff]")


async def walk(console: Console, url: str, person: Client, language: Language) -> tuple[set[str], list[str]]:
    """Open every menu; returns their codes, and the texts of the pages that are in the other language.

    AssertionError names the requests that were refused, what the browser complained of, and codes that are shown raw.
    """
    await do(lambda: console.visit(url, person, language=language))
    found = await do(console.robot, "walk")
    await do(console.check, "the menus")
    raw = codes_in(found["values"])
    assert raw == [], raw
    return set(found["codes"]), sorted(of_other_language(found["texts"], language))


def codes_in(values: Iterable[str]) -> list[str]:
    """Those of the shown values that are codes of choices, which people know by their labels."""
    types = next(one for one in CATALOGUE.dictionaries if one.type == LEAVE_TYPES)
    known = {code for code in _codes() if _CODE.fullmatch(code)} - PEOPLE.keys() - types.entries.keys()
    return sorted({one for value in values for one in value.split(", ")} & known)


def _codes() -> Iterator[str]:
    """The codes of states, of choices, of entries of dictionaries, of papers, audits, collections and their changes."""
    for machine in CATALOGUE.state_machines:
        yield from machine.states
    for collection in CATALOGUE.collections.values():
        for _, field in fields_in(collection.read):
            yield from field.rules.get("enum", ())
    for dictionary in CATALOGUE.dictionaries:
        yield from (item.value for item in dictionary.items)
    yield from (one.name for one in (*CATALOGUE.of_kind(Printable), *audits_of(CATALOGUE)))
    yield from (*CATALOGUE.collections, *titles_of_events(CATALOGUE))


def of_other_language(texts: Iterable[str], language: Language) -> Iterable[str]:
    """Those of the texts that people who read just this language do not understand."""
    other = _ENGLISH if language == "zh" else _CHINESE
    return (text for text in texts if other.search(_KNOWN.sub("", text)))
