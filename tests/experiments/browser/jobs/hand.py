"""The hand of a person at the console: it clicks and types as people do, and counts that."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from handlers.catalogue.declarations import ACTION_TITLES
from handlers.schema.messages import Language, Message
from plugins.console.nodes import WORDS
from tests.browser.browser import Console
from tests.browser.work import SITE

DESK, PHONE = (1280, 800), (390, 844)
_TRIES, _COLOURS, _STILL_SECONDS = 5, 64, 1.5
_WORDS_OF_THE_SHELL = Path(__file__).parents[4] / "plugins" / "console" / "static" / "words.js"
# what is on top: an open form or question, a panel, or else the page; then what is seen there and matches
_FIND = """
const [selector, text, anywhere, within, whole] = arguments;
const seen = (one) => one.getClientRects().length > 0 && one.checkVisibility({ visibilityProperty: true });
const boxes = [...document.querySelectorAll("dialog[open], :popover-open, .antd-Drawer, .antd-Modal")].filter((one) => seen(one) && !one.querySelector(":scope > .out"));
const top = anywhere ? document : boxes.at(-1) ?? document.querySelector("main") ?? document;
const places = within ? [...top.querySelectorAll(within)].filter(seen) : [top];
const said = (one) => (one.innerText || one.ariaLabel || one.title || "").replace(/\\s+/g, " ").trim();
const found = places.flatMap((place) => [...place.querySelectorAll(selector)]).filter((one) => seen(one) && !one.disabled && !one.matches(".is-disabled"));
const named = text ? found.filter((one) => said(one) === text) : found;
return (named.length || !text || whole ? named : found.filter((one) => said(one).includes(text)))[0] ?? null;
"""
# whether an element stays where it is: forms and questions come into sight
_STAYS = """
const [one] = arguments, place = () => JSON.stringify(one.getBoundingClientRect()), before = place();
return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(place() === before))));
"""
_PRESSED = "button, a, summary, [role=tab], [role=button], label"


def _titles() -> Iterator[Message]:
    """Every title that the declarations and the console give to something."""
    yield from ACTION_TITLES.values()
    yield from WORDS.values()
    yield from SITE.catalogue.permission_titles.values()
    yield from (menu.title for menu in SITE.menus.values())
    for subject in SITE.subjects.values():
        yield SITE.title_of(subject)
        yield from (SITE.action_title(route) for route in subject.actions)
        yield from (one.label for one in subject.shape.values() if one.label is not None)
    for dictionary in SITE.catalogue.dictionaries:
        yield from (item.label for item in dictionary.items)
    for machine in SITE.catalogue.state_machines:
        yield from (Message(*label) for label in machine.states.values())
    for zh, en in re.findall(r'\w+: \["([^"]+)", "([^"]+)"\]', _WORDS_OF_THE_SHELL.read_text()):
        yield Message(zh, en)


_CHINESE = {message.en: message.zh for message in reversed([*_titles()])}


class Hand:
    """Works at a console in one language, at the desk or on a phone. `clicks` and `fields` count what was done.

    Texts of buttons are given in English. With a `folder`, pictures of what is seen are saved there.
    """

    def __init__(
        self, console: Console, language: Language, *, phone: bool = False, folder: Path | None = None
    ) -> None:
        self.console, self.browser, self.language = console, console.browser, language
        self.phone, self.folder = phone, folder
        self.clicks = self.fields = 0

    def text(self, english: str) -> str:
        """What is written on a button in the language of the page."""
        return _CHINESE.get(english, english) if self.language == "zh" else english

    def find(
        self, selector: str, text: str = "", *, anywhere: bool = False, within: str = "", whole: bool = False
    ) -> WebElement:
        """The first of these elements that a person sees in what is on top, once there is one; `whole`: with no other text."""
        found: list[WebElement] = []

        def look() -> bool:
            one = self.browser.execute_script(_FIND, selector, text, anywhere, within, whole)
            found[:] = [one] if one is not None else []
            return bool(found)

        try:
            self.console.until(look)
        except AssertionError as error:
            raise AssertionError(f"nobody sees {selector} {text}: {error}") from error
        return found[0]

    def sees(self, text: str) -> None:
        """Wait until the page says this."""
        self.console.until(lambda: text in self.console.shown())

    def tap(self, find: Callable[[], WebElement]) -> None:
        """Click on what is found, as the mouse does: it must be in sight, and nothing may lie above it."""
        for tried in range(_TRIES):
            try:
                one = find()
                self.browser.execute_script("arguments[0].scrollIntoView({ block: 'nearest' })", one)
                self.console.until(lambda one=one: self.browser.execute_script(_STAYS, one))
                one.click()
                break
            except (ElementClickInterceptedException, StaleElementReferenceException) as error:
                if tried == _TRIES - 1:
                    raise AssertionError(f"cannot be clicked: {error.msg}") from error
                self.console.robot("rest")
        self.clicks += 1
        self.console.robot("rest")

    def press(self, english: str, *, within: str = "", selector: str = _PRESSED) -> None:
        """Click on a button, a link or a tab that says this."""
        self.tap(lambda: self.find(selector, self.text(english), within=within))

    def tab(self, english: str) -> None:
        """Click on a tab of the page."""
        self.press(english, selector="[role=tab]")

    def click(self, selector: str, *, anywhere: bool = False) -> None:
        """Click on the first of these elements."""
        self.tap(lambda: self.find(selector, anywhere=anywhere))

    def act(self, english: str) -> None:
        """Click on a button of the record's page, which may be in its menu."""
        text = self.text(english)
        in_sight = self.browser.execute_script(
            _FIND, "button", text, False, "main .antd-Page-body, .antd-Drawer, .antd-Modal"
        )
        if in_sight is None:
            self.press("More")
        self.press(english)

    def confirm(self) -> None:
        """Confirm the form or the question on top, and wait until it is gone."""
        boxes = "document.querySelectorAll('.antd-Drawer, .antd-Modal').length"
        before = self.browser.execute_script(f"return {boxes}")
        self.click(
            ":is(.antd-Drawer-footer, .antd-Modal-footer) .antd-Button--primary, :is(.antd-Drawer-footer, .antd-Modal-footer) .antd-Button--danger"
        )
        self.console.until(lambda: self.browser.execute_script(f"return {boxes}") < before)
        self.console.robot("rest")

    def go(self, menu: str) -> None:
        """Open a page by the menu."""
        entry = f'nav.menu a[data-menu="{menu}"]'
        if self.phone:
            self.click(".bar .more", anywhere=True)
        seen = (
            "const one = document.querySelector(arguments[0]); return one.checkVisibility({ visibilityProperty: true })"
        )
        if not self.browser.execute_script(seen, entry):
            self.click(f"nav.menu details:has(> ul {entry[9:]}):not([open]) > summary", anywhere=True)
        self.click(entry, anywhere=True)
        self.console.until(lambda: self.console.count(f"{entry}[aria-current]"))
        self.console.robot("rest")

    def title(self) -> str:
        """What the record is called whose page is shown."""
        return self.console.shown("main .trail [aria-current]")

    def open_news(self, text: str) -> None:
        """Open what a message under the bell speaks of."""
        self.click(".bar .inbox" if self.phone else "header .inbox", anywhere=True)
        self.press(text, selector=":popover-open li a, :popover-open li button")
        self.shown()

    def row(self, text: str) -> None:
        """Open the record that the list on top names so."""
        self.tap(lambda: self.find("tbody tr a, [class*=Card] a, .cards a", text))
        self.shown()

    def shown(self) -> None:
        """Wait until the page of a record is drawn."""
        self.console.until(lambda: self.console.count("main .trail"))
        self.console.robot("rest")

    def search(self, text: str) -> None:
        """Search the list for a text."""
        self.type("", text, selector="main .antd-SearchBox input")
        self.console.keys(Keys.ENTER)
        self.console.robot("rest")

    def type(self, name: str, text: str, *, selector: str = "") -> None:
        """Type into a field of what is on top."""
        field = self.find(selector or f'[name="{name}"]')
        self.browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", field)
        self.browser.execute_script("arguments[0].focus()", field)
        if field.get_attribute("value"):
            field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        self.fields += 1

    def pick(self, name: str, text: str = "", *, typed: bool = True) -> None:
        """Choose one of what a field offers: the first that is left after typing, or the first at all."""
        item = f'[data-amis-name="{name}"]'
        self.click(f"{item} .antd-Select")
        offered = ".antd-Select-option, .antd-Select-menu [role=option], .antd-Select-popup [class*=columnItem]"
        self.find(offered, anywhere=True)
        field = self.browser.execute_script(
            _FIND,
            ".antd-Select-popover input[type=text], .antd-Select-popup input[type=text], .antd-Select-menu input[type=text]",
            "",
            True,
            "",
        )
        if field is not None and text and typed:
            field.send_keys(text)
            self.fields += 1
            self.console.robot("rest")
        self.tap(lambda: self.find(offered, self.text(text), anywhere=True))
        if self.phone:
            self.tap(lambda: self.find(".antd-Select-popup button", self.text("Confirm"), anywhere=True))

    def day(self, name: str, text: str, *turns: tuple[int, int]) -> None:
        """Type a day or a moment into its control; on a phone, turn its wheels: each by so many steps from now."""
        item = f'[data-amis-name="{name}"]'
        self.click(f"{item} .antd-DatePicker")
        if self.phone:
            for wheel, steps in turns:
                wanted = "li.is-selected + li" if steps > 0 else "li:has(+ li.is-selected)"
                for _ in range(abs(steps)):
                    self.tap(
                        lambda wheel=wheel, wanted=wanted: self.find(
                            wanted,
                            within=f"[class*=PickerColumns-columns] > :nth-child({wheel})",
                            anywhere=True,
                        )
                    )
            self.tap(lambda: self.find("[class*=PickerColumns-confirm]", anywhere=True))
            return
        self.type("", text, selector=f"{item} .antd-DatePicker input")
        self.console.keys(Keys.TAB)

    def choose(self, *paths: Path, part: str = "") -> None:
        """Choose files where the page on top asks for them."""
        chooser = self.browser.find_elements(By.CSS_SELECTOR, f"{part} input[type=file]")[0]
        chooser.send_keys("\n".join(str(path) for path in paths))
        self.clicks += 1
        self.console.robot("rest")

    def log_in(self, username: str, password: str) -> None:
        """Log in by the dialogue; who logs in first chooses a new password, the given one with `2` behind it."""
        self.type("username", username)
        self.type("password", password)
        self._submit("main .drawn, dialog [name=newPassword]")
        if self.console.count("dialog [name=newPassword]"):
            self.type("oldPassword", password)
            self.type("newPassword", f"{password}2")
            self._submit("main .drawn")
        self.console.robot("rest")

    def _submit(self, shown: str) -> None:
        self.find("dialog [type=submit]").click()
        self.clicks += 1
        self.console.until(lambda: self.console.count(shown))

    def reach(self, condition: str, *, press: bool = False) -> None:
        """Go to the element with the tabulator, from where the focus is, and `press` Enter there."""
        self.console.reach(condition)
        if press:
            self.console.keys(Keys.ENTER)
            self.console.robot("rest")

    def point_at(self, element: WebElement) -> None:
        """Click on the middle of what is drawn, such as a bar of a chart."""
        ActionChains(self.browser).move_to_element(element).click().perform()
        self.clicks += 1
        self.console.robot("rest")

    def shot(self, name: str) -> None:
        """Keep a picture of what is seen, for whoever asks for it."""
        if self.folder is None:
            return
        time.sleep(_STILL_SECONDS)  # charts and drawers move for a moment
        self.keep(name, self.browser.get_screenshot_as_png())

    def keep(self, name: str, picture: bytes) -> None:
        """Keep a picture, for whoever asks for it."""
        if self.folder is None:
            return
        at = self.folder / self.language / f"{name}{'-phone' if self.phone else ''}.webp"
        at.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(BytesIO(picture)) as taken:
            taken.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).convert("RGB").save(
                at, lossless=True, method=6
            )

    def spent(self) -> float:
        """For how many seconds the page has been at work, by the clock of its own thread: nothing else slows that down."""
        self.browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        metrics = self.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    def save(self, english: str) -> bytes:
        """Press a button of the record's page that saves a PDF; returns the file."""
        with TemporaryDirectory() as folder:
            place = {"behavior": "allow", "downloadPath": folder}
            self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", place)
            self.act(english)
            self.console.until(lambda: [*Path(folder).glob("*.pdf")])
            return next(Path(folder).glob("*.pdf")).read_bytes()
