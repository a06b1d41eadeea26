"""Two people work at the pages; that all of them do is an experiment (`test_all_pages.py`)."""

from __future__ import annotations

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from tests.browser.browser import Console
from tests.browser.work import PEOPLE, TAKEN, Work, covering, kinds_of, made_by_hand
from tests.browser.working_day import work_through, works_of

pytestmark = pytest.mark.gen_test(timeout=180)


@pytest.fixture(scope="module")
def works(io_loop: IOLoop, company: Running) -> dict[tuple[str, str], Work]:
    """What all people of the company do."""
    found: dict[tuple[str, str], Work] = io_loop.run_sync(lambda: works_of(company))
    return found


def test_every_list_with_a_form_is_worked_at_by_somebody(works: dict[tuple[str, str], Work]) -> None:
    assert {name for _, name in works} == {subject.name for subject in made_by_hand()} - TAKEN.keys()


@pytest.mark.parametrize("username", ["staff", "sales"])
async def test_records_are_made_changed_acted_on_and_deleted_at_their_pages(
    console: Console, company: Running, works: dict[tuple[str, str], Work], username: str
) -> None:
    chosen = covering({key: kinds_of(work) for key, work in works.items()})
    assert {person for person, _ in chosen} == PEOPLE.keys()
    await work_through(console, company, username, [works[key] for key in chosen if key[0] == username])
