"""All people at all pages: every menu, every form and action, attacks everywhere, every page for axe."""

from __future__ import annotations

import pytest

from handlers.schema.fields import takes_file
from handlers.schema.messages import Language
from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.cms.xss_vectors import HTML, MARKDOWN
from tests.browser.accessible import ALL, DESK, PHONE, nothing_serious_is_found
from tests.browser.browser import Console, do
from tests.browser.hostile import MARKED, PAGE, dealt, longest, packed, places, see
from tests.browser.menus import walk
from tests.browser.work import PEOPLE, TAKEN
from tests.browser.working_day import person_of, take, work_through, works_of
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=480)


# the daily walk of the administrator, who has all pages, is in Chinese; the pages of the others are parts of those
@pytest.mark.parametrize(
    ("username", "language"), [("admin", "en"), ("manager", "zh"), ("sales", "en"), ("staff", "zh")]
)
async def test_every_menu_opens_for_everybody(
    console: Console, company: Running, username: str, language: Language
) -> None:
    codes, foreign = await walk(console, company.url, await person_of(company, username), language)
    assert len(codes) > 10
    assert foreign == []


@pytest.mark.parametrize("username", PEOPLE)
async def test_records_of_every_list_are_made_changed_acted_on_and_deleted_at_their_pages(
    console: Console, company: Running, username: str
) -> None:
    works = [work for (person, _), work in (await works_of(company)).items() if person == username]
    assert len(works) >= (2 if username == "staff" else 5)
    await work_through(console, company, username, works)


async def test_every_record_that_nobody_makes_by_a_form_is_acted_on(
    console: Console, company: Running, admin: Client, maker: Maker
) -> None:
    await do(console.visit, company.url, admin)
    for name in TAKEN:
        await take(console, name, admin, maker)


async def test_attacks_are_shown_as_text_in_lists_of_every_part(
    console: Console, company: Running, admin: Client, maker: Maker
) -> None:
    subjects = places()
    assert {"crm", "cms", "finance", "hrm", "inventory", "system", "approvals"} <= subjects.keys()
    await do(console.visit, company.url, admin)
    hands = dealt(HTML + MARKDOWN, subjects)
    for name, subject in sorted(subjects.items()):
        create, mark = subject.route("POST"), unique("hostile")
        assert create is not None
        assert subject.collection is not None
        label, made = subject.collection.label_field, {}
        texts = [f"{mark} {text}" for text in packed(hands[name], longest(subject) - MARKED)]
        assert len(texts) <= PAGE
        for text in texts:
            exercise = await maker.exercise(create, only_required=True)
            fields = create.body.fields if create.body is not None and create.body.fields is not None else {}
            pictures = {name: None for name in exercise.body if name in fields and takes_file(fields[name])}
            made = expect(await admin.post(exercise.path, {**exercise.body, **pictures, label: text}))
        await do(see, console, subject, label, mark, str(made["id"]), texts)
        assert await do(console.complaints) == [], name


# each theme at one size: contrast depends on the theme alone, and what there is on the page on its width
@pytest.mark.parametrize(("theme", "size"), [("light", PHONE), ("dark", DESK)], ids=["phone", "desk"])
async def test_nothing_serious_is_found_on_any_page(
    console: Console, company: Running, admin: Client, theme: str, size: tuple[int, int]
) -> None:
    await nothing_serious_is_found(console, company, admin, theme, size, ALL)
