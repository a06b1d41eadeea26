"""Jobs at the console, each by the person whose job it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from PIL import Image, ImageDraw
from selenium.webdriver.common.keys import Keys

from handlers.schema.messages import Language
from plugins.testing import unique
from tests.browser.browser import HERE, Console
from tests.experiments.browser.jobs.hand import DESK, PHONE, Hand


@dataclass
class Desk:
    """Where people sit down one after the other: a browser, the company's address and its accounts."""

    console: Console
    url: str
    passwords: Mapping[str, str]
    language: Language
    phone: bool = False
    folder: Path | None = None
    hand: Hand = field(init=False)

    def __post_init__(self) -> None:
        self.hand = Hand(self.console, self.language, phone=self.phone, folder=self.folder)

    def say(self, zh: str, en: str) -> str:
        """What somebody types, in the language of the page."""
        return zh if self.language == "zh" else en

    def sit_down(self, username: str, password: str = "", *, keys: bool = False) -> Hand:
        """Let somebody log in, without a mouse with `keys`; their hand is returned."""
        width, height = PHONE if self.phone else DESK
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if self.phone else 1, "mobile": self.phone}
        self.console.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.console.visit(self.url, language=self.language)
        if username == "sales":
            self.hand.shot("log-in")
        if keys:
            self.hand.console.keys(username, Keys.TAB, self.passwords[username], Keys.ENTER)
            self.hand.console.until(lambda: self.hand.console.count("main .drawn"))
            self.hand.console.robot("rest")
        else:
            self.hand.log_in(username, password or self.passwords[username])
        return self.hand


LARGE = "680000"  # from 500,000 on, the flow of the demo asks the manager, then the administrator


def lead_to_contract(desk: Desk) -> None:
    """Somebody who sells enters a lead, converts it, notes a visit with its position, and makes a contract."""
    hand, name = desk.sit_down("sales"), desk.say("海港贸易", "Harbour Trading")
    hand.shot("home")
    hand.go("crm.lead")
    hand.shot("list")
    hand.press("Create")
    hand.type("name", desk.say("陈丽", "Lily Chen"))
    hand.type("company", name)
    hand.type("phone", "021-5555 0199")
    hand.shot("form")
    hand.confirm()
    hand.row(desk.say("陈丽", "Lily Chen"))
    hand.act("Convert")
    hand.type("customer_name", name)
    hand.confirm()
    hand.press(name, selector="main .antd-Property a")
    hand.press("Open page")
    hand.shown()
    hand.shot("customer")
    hand.tab("Follow-ups")
    hand.press("Create")
    hand.type(
        "content",
        desk.say("拜访客户，确认明年用量。", "Visited the customer and agreed on the quantities of next year."),
    )
    hand.press("Use my position")
    hand.console.until(lambda: str(HERE["accuracy"]) in hand.console.shown(".antd-Drawer .geo-position"))
    hand.shot("check-in")
    hand.confirm()
    hand.tab("Contracts")
    hand.press("Create")
    hand.type("name", f"{name} 2027")
    hand.type("amount", "48000")
    hand.confirm()
    hand.row(f"{name} 2027")
    hand.shot("record")


def contract_approved(desk: Desk) -> None:
    """Somebody who sells submits a large contract; the manager and the administrator find it at the desk and agree."""
    hand, name = desk.sit_down("sales"), unique(desk.say("框架合同", "frame"))
    hand.go("crm.contract")
    hand.press("Create")
    hand.type("name", name)
    hand.pick("customer_id", "晨光科技")
    hand.type("amount", LARGE)
    hand.confirm()
    hand.row(name)
    hand.act("Submit")
    hand.confirm()
    for username in ("manager", "admin"):
        hand = desk.sit_down(username)
        hand.click(".bar a:nth-of-type(2)" if desk.phone else "main .home .card .more", anywhere=True)
        if username == "manager":
            hand.shot("desk")
        hand.press("Agree", within=".cards > *, tbody tr")
        hand.type("comment", "OK")
        hand.shot("decision")
        hand.confirm()


def leads_imported(desk: Desk) -> None:
    """Somebody who sells imports a table with three bad rows, corrects them, and imports these."""
    hand, mark = desk.sit_down("admin"), unique("import")
    names = [f"{mark} {number}" for number in range(7)]
    with TemporaryDirectory() as folder:
        table, corrected = Path(folder) / "leads.csv", Path(folder) / "corrected.csv"
        table.write_text(
            "name,company\n" + "".join(f"{name if at % 2 else ''},c{at}\n" for at, name in enumerate(names[:6]))
        )
        corrected.write_text("name,company\n" + "".join(f"{names[at]},c{at}\n" for at in (0, 2, 4)))
        hand.go("crm.lead")
        hand.press("Import")
        for file, faults in ((table, 3), (corrected, 0)):
            hand.choose(file, part=".importer")
            hand.console.until(
                lambda count=faults: (
                    hand.console.count(".importer .go") and hand.console.count(".importer .faults tbody tr") == count
                )
            )
            hand.shot(f"import-{faults}")
            hand.click(".importer .go")
            hand.console.until(lambda: not hand.console.count(".importer .go, .importer progress"))


def article_published(desk: Desk) -> None:
    """An editor writes an article with a picture and publishes it."""
    hand, title = desk.sit_down("manager"), desk.say("新仓库启用", "The new warehouse opens")
    hand.go("cms.article")
    hand.press("Create")
    hand.type("title", title)
    hand.click(".rich-text .area")
    hand.console.keys(
        desk.say("我们在嘉定的新仓库将于周一启用。", "Our new warehouse in Jiading opens on Monday."), Keys.ENTER
    )
    with picture("warehouse") as drawn:
        hand.choose(drawn, part=".rich-text")
        hand.console.until(lambda: hand.console.count(".rich-text .area img"))
    hand.shot("article-form")
    hand.confirm()
    hand.row(title)
    hand.act("Publish")
    hand.confirm()
    hand.shot("article")


@contextmanager
def picture(text: str) -> Iterator[Path]:
    """A picture with a text, as a camera would make one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{text}.jpg"
        drawn = Image.new("RGB", (480, 320), "#dfe7ee")
        ImageDraw.Draw(drawn).text((200, 150), text, fill="#223344")
        drawn.save(path)
        yield path


def month_of_attendance(desk: Desk) -> None:
    """An employee punches with the position of the phone; HR reads the sheet of the month before."""
    hand = desk.sit_down("staff")
    hand.go("hrm.punch")
    hand.press("Punch")
    hand.shot("punch-form")
    hand.confirm()
    hand.shot("punches")
    if desk.phone:
        return
    hand = desk.sit_down("admin")
    hand.go("hrm.attendance")
    hand.shot("attendance")
    hand.tab("Monthly report")
    hand.day("month", f"{datetime.now(ZoneInfo('Asia/Shanghai')).replace(day=1) - timedelta(days=1):%Y-%m}")
    hand.console.robot("rest")
    hand.shot("month")


def figure_to_history(desk: Desk) -> None:
    """The manager opens the rows behind a figure, one of its records, and its history."""
    hand = desk.sit_down("manager")
    hand.go("dashboard")
    hand.shot("dashboards")
    hand.click("main .dashboard-overview .figure button")
    hand.console.until(lambda: hand.console.count(".antd-Drawer .behind tbody tr td"))
    hand.shot("behind")
    hand.press("Open", within=".antd-Drawer .behind tbody tr")
    hand.shown()
    hand.tab("History")
    hand.shot("history")
