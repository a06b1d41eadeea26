"""A walk over every menu of a person."""

from __future__ import annotations

import re
from collections.abc import Iterable

from handlers.schema.messages import Language
from plugins.testing import Client
from tests.browser.browser import Console, do

# names and abbreviations that Chinese readers know as they are
_KNOWN = re.compile(r"\b(ID|IP|SKU|URL|API|SEO|ICP|GPS|JSON|CSV|XLSX|Excel|HTTP|WebSocket|WiFi|Tradewind)\b")
_ENGLISH, _CHINESE = re.compile(r"[A-Za-z]{2,}"), re.compile(r"[\u4e00-\u9fff]")


async def walk(console: Console, url: str, person: Client, language: Language) -> tuple[set[str], list[str]]:
    """Open every menu; returns their codes, and the texts of the pages that are in the other language.

    AssertionError names the requests that were refused, and what the browser complained of.
    """
    await do(lambda: console.visit(url, person, language=language))
    found = await do(console.robot, "walk")
    await do(console.check, "the menus")
    return set(found["codes"]), sorted(of_other_language(found["texts"], language))


def of_other_language(texts: Iterable[str], language: Language) -> Iterable[str]:
    """Those of the texts that people who read just this language do not understand."""
    other = _ENGLISH if language == "zh" else _CHINESE
    return (text for text in texts if other.search(_KNOWN.sub("", text)))
