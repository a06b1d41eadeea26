"""Attacks as texts of records, and how people see them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from selenium.webdriver.common.keys import Keys

from plugins.console.site import Subject
from plugins.testing import Client, expect, unique
from tests.browser.browser import Console
from tests.browser.work import SITE

SHORT, MARKED, PAGE = 100, 20, 20  # characters of a short name, and of the mark before the attacks; rows of a page
NOTES, LONGEST_NOTE = SITE.subjects["crm.follow-ups"], 5000


def spaced(text: str) -> str:
    """The text as pages show it, where all blank characters are one space."""
    return re.sub(r"\s+", " ", text).strip()


def packed(attacks: Sequence[str], most: int) -> list[str]:
    """The texts of at most so many characters that hold as many attacks as fit, one after the other."""
    texts = [""]
    for one in map(spaced, attacks):
        if len(texts[-1]) + len(one) + 1 > most:
            texts.append("")
        texts[-1] = f"{texts[-1]} {one}".strip()
    return texts


async def written_notes(admin: Client, attacks: Sequence[str]) -> tuple[str, str, list[str]]:
    """Keep attacks as notes about a customer; returns what is in all notes, the id of the last one, and the notes."""
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    mark, made = unique("hostile"), {}
    texts = [f"{mark} {text}" for text in packed(attacks, LONGEST_NOTE - MARKED)]
    assert len(texts) <= PAGE
    for text in texts:
        made = expect(await admin.post("/api/v1/crm/follow-ups", {"customer_id": customer, "content": text}))
    return mark, str(made["id"]), texts


def places() -> dict[str, Subject]:
    """For each part of the API the list with the longest names, whose records people make, change, read and search."""
    found: dict[str, Subject] = {}
    for subject in SITE.subjects.values():
        writes = subject.route("POST") and subject.route("PATCH", "/{id}") and subject.read
        part = subject.name.partition(".")[0]
        if writes and "q" in subject.list.query and "box" not in subject.list.query and longest(subject):
            found[part] = max((subject, found.get(part, subject)), key=longest)
    return found


def longest(subject: Subject) -> int:
    """How many characters the name of a record may have; 0 if it is not any text."""
    label = subject.collection.label_field if subject.collection is not None else ""
    field = (subject.collection.create.fields or {}).get(label) if subject.collection is not None else None
    is_any = field is not None and field.kind == "text" and not {"format", "enum"} & field.rules.keys()
    return int(field.rules["maxLength"]) if is_any and field is not None else 0


def dealt(attacks: Sequence[str], places: Mapping[str, Subject]) -> dict[str, list[str]]:
    """The attacks of each place in turn, where they fit: lists with longer names get more, each at least one."""
    turns = [name for name, subject in sorted(places.items()) for _ in range(longest(subject) // SHORT)]
    hands: dict[str, list[str]] = {name: [] for name in places}
    for at, attack in enumerate(attacks):
        order = (turns[(at + later) % len(turns)] for later in range(len(turns)))
        fits = next((name for name in order if len(spaced(attack)) < longest(places[name]) - MARKED), None)
        if fits is not None:
            hands[fits].append(attack)
    short = min(attacks, key=len)
    return {name: hand or [short] for name, hand in hands.items()}


def see(console: Console, subject: Subject, label: str, mark: str, record: str, texts: Sequence[str]) -> None:
    """See the texts in the list, and the last of them in the record and in its form."""
    console.open(f"#/{SITE.menu_of(subject)}", "main .antd-SearchBox input")
    console.robot("rest")
    console.type("main .antd-SearchBox input", mark, Keys.ENTER)
    console.until(lambda: spaced(console.shown()).count(mark) >= len(texts))
    listed = spaced(console.shown())
    assert [text for text in texts if text not in listed] == []
    console.open(f"#/records/{subject.name}/{record}", "main .antd-Property")
    console.until(lambda: texts[-1] in spaced(console.shown()))
    console.press("main .antd-Flex button")
    field = f".antd-Drawer [name={label}]"
    console.until(lambda: console.value(field))
    assert texts[-1] in spaced(console.value(field)), subject.name
