"""The first front end of the tutorial, typed from its page: a person works with it in a browser."""

import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from plugins.testing import PASSWORD, Client, expect, serving
from tests.browser.browser import Console, do
from tests.support.readme import TUTORIALS, commands_of, write_files

pytestmark = pytest.mark.gen_test(timeout=120)
PAGE = TUTORIALS / "first-front-end.md"
CUSTOMERS = "/api/v1/crm/customers"
REFRESHED = "return performance.getEntriesByType('resource').some((one) => one.name.endsWith('/auth/refresh'))"
TOKEN_SECONDS = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page."""
    write_files(PAGE, tmp_path)
    return tmp_path


@pytest.fixture
def origin(folder: Path) -> Iterator[str]:
    """The address at which the command of the page serves them."""
    (command,) = commands_of(PAGE)
    words = shlex.split(command.replace("python3", sys.executable).replace("5173", "0"))
    process = subprocess.Popen(
        [*words[:1], "-u", *words[1:]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout
    yield process.stdout.readline().partition("(")[2].partition("/)")[0]
    process.terminate()
    process.wait()


@asynccontextmanager
async def opened(console: Console, mongodb_uri: str, folder: Path, origin: str) -> AsyncIterator[Client]:
    """The administrator of a company of seven customers, after they have logged in at the page."""
    minutes = TOKEN_SECONDS / 60
    data = folder / "data"
    async with serving(mongodb_uri, data, cors_origins=(origin,), access_token_minutes=minutes) as running:
        admin = await Client(running.url).log_in("admin")
        for number in range(7):
            expect(await admin.post(CUSTOMERS, {"name": f"Customer {number}"}))
        script = folder / "app" / "api.js"
        script.write_text(script.read_text().replace("http://127.0.0.1:8000", running.url))
        await do(console.browser.get, origin)
        await do(send, console, "#login", PASSWORD, "password")
        await shows(console, "#customers", lambda text: "Customer 6" in text)
        yield admin


def send(console: Console, form: str, text: str, field: str) -> None:
    """Fill in a field of a form, and send it."""
    found = console.browser.find_element(By.CSS_SELECTOR, f"{form} [name={field}]")
    found.send_keys(text)
    console.browser.find_element(By.CSS_SELECTOR, f"{form} button").click()


async def shows(console: Console, selector: str, condition: Callable[[str], bool]) -> None:
    """Wait until the text of this element is as expected."""
    await do(console.until, lambda: condition(console.shown(selector)))


def press(console: Console, selector: str) -> None:
    """Click on a button."""
    console.browser.find_element(By.CSS_SELECTOR, selector).click()


async def test_its_list_continues_and_a_created_customer_is_at_its_beginning(
    console: Console, mongodb_uri: str, folder: Path, origin: str
) -> None:
    async with opened(console, mongodb_uri, folder, origin):
        assert len((await do(console.shown, "#customers")).splitlines()) == 5
        await do(press, console, "#more")
        await shows(console, "#customers", lambda text: len(text.splitlines()) == 7)
        assert await do(console.count, "#more[hidden]")
        await do(send, console, "#create", "Harbour", "name")
        await shows(console, "#customers", lambda text: text.startswith("Harbour"))


async def test_it_says_what_somebody_else_has_changed(
    console: Console, mongodb_uri: str, folder: Path, origin: str
) -> None:
    async with opened(console, mongodb_uri, folder, origin) as admin:
        (newest, *_) = expect(await admin.get(f"{CUSTOMERS}?page_size=1"))["items"]
        expect(await admin.patch(f"{CUSTOMERS}/{newest['id']}", {"version": newest["version"], "phone": "1"}))
        await do(send, console, "#change", "2", "phone")
        await shows(console, "#said", lambda text: "phone" in text)
        await shows(console, "#customers", lambda text: text.startswith("Customer 6 1"))


async def test_it_attaches_a_file_and_shows_a_message_as_it_arrives(
    console: Console, mongodb_uri: str, folder: Path, origin: str
) -> None:
    async with opened(console, mongodb_uri, folder, origin):
        (folder / "quote.txt").write_text("Two lamps")
        await do(send, console, "#attach", str(folder / "quote.txt"), "file")
        await shows(console, "#said", lambda text: text == "quote.txt at Customer 6")
        await do(send, console, "#tell", "The ship is in", "title")
        await shows(console, "#inbox", lambda text: text == "The ship is in")


async def test_it_works_on_after_its_token_has_expired(
    console: Console, mongodb_uri: str, folder: Path, origin: str
) -> None:
    async with opened(console, mongodb_uri, folder, origin):
        await do(console.until, lambda: console.browser.execute_script(REFRESHED))
        await do(send, console, "#create", "After the refresh", "name")
        await shows(console, "#customers", lambda text: text.startswith("After the refresh"))
        await do(send, console, "#tell", "The ship is in", "title")
        await shows(console, "#inbox", lambda text: text == "The ship is in")
