"""How long people wait for the console: from the clone, from the log-in, for a list of a million, while scrolling."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bson import ObjectId
from pymongo import MongoClient
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from config.embedded import acquire
from tests.experiments.benchmark.compare import CACHE, ROOT, Figures, about, free_port, wait_for
from tests.experiments.benchmark.servers import DATABASE, WIDE
from tests.experiments.benchmark.world import audited, batches, make_world, new_secret, remember, remembered

PATIENCE_SECONDS = 300
TYPING_SECONDS = 3  # the time to type name and password
WIDE_ROWS = 10_000
_SLOW_PIXELS, _FAST_PIXELS = 280, 4000  # per frame: ten rows, and several screens
_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1400,900", "--lang=en-GB")
_WATCH = """
const first = { dialog: "dialog form", frame: "nav", page: "main .drawn", row: "main .antd-Table-table tbody td .antd-TplField, main .antd-Table-table tbody td .antd-PlainField" };
const all = (selector, drawn) => { const found = [...document.querySelectorAll(selector)]; return found.length > 0 && found.every(drawn); };
const home = () => all("main .figures .figure", (one) => /\\d/.test(one.textContent)) && all("main .card:has(table)", (one) => one.querySelector("tbody td"));
const seen = { ...Object.fromEntries(Object.entries(first).map(([name, selector]) => [name, () => document.querySelector(selector)])), home };
window.marks = {};
new MutationObserver(() => {
  for (const [name, is] of Object.entries(seen)) {
    if (window.marks[name] || !is()) continue;
    window.marks[name] = performance.now();
    requestAnimationFrame(() => setTimeout(() => { window.marks[`${name} painted`] = performance.now(); }));
  }
}).observe(document, { childList: true, characterData: true, subtree: true });
"""
_LOG_IN = """
const set = (name, value) => { document.querySelector(`dialog [name=${name}]`).value = value; };
set("username", "admin");
set("password", arguments[0]);
window.marks.submit = performance.now();
document.querySelector("dialog form").requestSubmit();
"""
_TRANSFERRED = "return performance.getEntriesByType('resource').reduce((sum, one) => sum + one.encodedBodySize, 0)"
_OPEN = "window.marks = { open: performance.now() }; location.hash = arguments[0]"
_REQUEST = """
const asked = performance.getEntriesByType("resource").filter((one) => one.name.includes(arguments[0]) && one.startTime > window.marks.open);
return Math.max(...asked.map((one) => one.duration));
"""
# scrolls through all of an element, a step for each frame, and returns the durations of the frames
_SCROLL = """
const [selector, step, done] = arguments;
const part = document.querySelector(selector), frames = [];
let last = performance.now();
part.scrollTop = 0;
const next = (now) => {
  frames.push(now - last);
  last = now;
  if (part.scrollTop + part.clientHeight >= part.scrollHeight - 1) return done(frames.slice(2));
  part.scrollTop += step;
  requestAnimationFrame(next);
};
requestAnimationFrame(next);
"""


def console(what: str, customers: int, rounds: int, seed_only: bool = False) -> Figures:
    """Measure `clone`, `login`, `lists`, or all if `what` is empty; `seed_only` only makes the data for `lists`."""
    parts: Mapping[str, Callable[[], Figures]] = {
        "clone": _clone,
        "login": lambda: _log_ins(rounds),
        "lists": lambda: _lists(customers, rounds, seed_only),
    }
    CACHE.mkdir(parents=True, exist_ok=True)
    figures = about(rounds, 0, customers)
    for name in ["lists"] if seed_only else [name for name in parts if what in ("", name)]:
        figures[name] = parts[name]()
        print(name, json.dumps(figures[name], indent=1), flush=True)
    return figures


def _clone() -> Figures:
    """Return the seconds from `git clone` to the drawn home page: without an environment, and again with the one made."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        checkout, seconds = Path(folder) / "tradewind", {}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRADEWIND_")}
        for start in ("cold", "warm"):
            began = time.monotonic()
            if start == "cold":
                subprocess.run(["git", "clone", "-q", str(ROOT), str(checkout)], check=True)
            command = ["scripts/server", "--port", str(port := free_port())]
            with _process(command, checkout, environment, port), _browser(f"http://127.0.0.1:{port}") as chrome:
                _wait(chrome, "return window.marks.dialog")
                passwords = json.loads((checkout / ".data" / "demo-accounts.json").read_text())
                chrome.execute_script(_LOG_IN, passwords["admin"])
                _wait(chrome, "return window.marks['home painted']")
                seconds[start] = round(time.monotonic() - began, 1)
        return seconds


def _log_ins(rounds: int) -> Figures:
    """Return the milliseconds from the log-in to the drawn home page, for a person who types and one who does not."""
    found: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as data:
        environment = {
            **os.environ,
            "TRADEWIND_DEMO": "true",
            "TRADEWIND_DATA_DIR": data,
            "TRADEWIND_RATE_LIMITS": "off",
        }
        command = [sys.executable, "server.py", "--port", str(port := free_port())]
        with _process(command, ROOT, environment, port):
            password = json.loads((Path(data) / "demo-accounts.json").read_text())["admin"]
            for _ in range(rounds):
                for kind, wait in (("typed", TYPING_SECONDS), ("at once", 0)):
                    with _browser(f"http://127.0.0.1:{port}") as chrome:
                        for cache in ("empty cache", "cached"):
                            found.setdefault(f"{kind}, {cache}", []).append(_log_in(chrome, password, wait))
    return {
        name: {part: round(statistics.median(one[part] for one in seen)) for part in seen[0]}
        for name, seen in found.items()
    }


def _log_in(chrome: Chrome, password: str, wait: float) -> dict[str, float]:
    _wait(chrome, "return window.marks.dialog")
    time.sleep(wait)
    chrome.execute_script(_LOG_IN, password)
    _wait(chrome, "return window.marks['home painted']")
    marks = chrome.execute_script("return window.marks")
    since = {name: marks[name] - marks["submit"] for name in ("frame", "page", "home", "home painted")}
    transferred = chrome.execute_script(_TRANSFERRED)
    chrome.execute_script("sessionStorage.clear()")
    chrome.refresh()  # for the next round, in which the scripts are in the cache
    return {"dialog after": marks["dialog"], **since, "from the address": marks["home painted"], "bytes": transferred}


def _lists(customers: int, rounds: int, seed_only: bool) -> Figures:
    """Return the milliseconds until a list of all customers shows rows, and the frames of scrolling 10,000 rows."""
    folder = CACHE / f"console-{customers}"
    folder.mkdir(parents=True, exist_ok=True)
    embedded = acquire(folder)
    try:
        world = _world(folder, embedded.uri, customers)
        if seed_only:
            return {}
        with _serving(embedded.uri, folder, world) as port, _browser(f"http://127.0.0.1:{port}") as chrome:
            _wait(chrome, "return window.marks.dialog")
            chrome.execute_script(_LOG_IN, world["admin_password"])
            _wait(chrome, "return window.marks.page")
            return {"customers": _list_of_all(chrome, rounds), "sheet": _sheet(chrome)}
    finally:
        embedded.release_and_wait(15)


def _list_of_all(chrome: Chrome, rounds: int) -> Figures:
    seen: dict[str, list[float]] = {"rows": [], "request": []}
    for _ in range(rounds + 1):
        chrome.execute_script("location.hash = '#/bench.record'")
        time.sleep(1)
        chrome.execute_script(_OPEN, "#/crm.customer")
        _wait(chrome, "return window.marks['row painted']")
        seen["rows"].append(chrome.execute_script("return window.marks['row painted'] - window.marks.open"))
        seen["request"].append(chrome.execute_script(_REQUEST, "/crm/customers?"))
    return {
        **{name: round(statistics.median(values[1:])) for name, values in seen.items()},
        "first time": round(seen["rows"][0]),
    }


def _sheet(chrome: Chrome) -> Figures:
    chrome.execute_script(_OPEN, "#/bench.wide")
    _wait(chrome, "return [...document.querySelectorAll('main button')].some((one) => one.textContent === 'All rows')")
    _wait(chrome, "return window.marks['row painted']")
    chrome.execute_script(
        "[...document.querySelectorAll('main button')].find((one) => one.textContent === 'All rows').click()"
    )
    _wait(chrome, "return document.querySelector('.sheet [role=rowgroup] [role=row]')")
    slow, fast = (chrome.execute_async_script(_SCROLL, ".sheet", step) for step in (_SLOW_PIXELS, _FAST_PIXELS))
    return {"slow": _frames(slow), "fast": _frames(fast)}


def _frames(frames: list[float]) -> Figures:
    ordered = sorted(frames)
    return {
        "frames": len(ordered),
        "p99_ms": round(ordered[len(ordered) * 99 // 100], 1),
        "longest_ms": round(ordered[-1], 1),
        "over_50_ms": sum(one > 50 for one in ordered),
    }


def _world(folder: Path, uri: str, customers: int) -> Figures:
    """Return the data set of customers and wide records, made in the first run."""
    path = folder / "world.json"
    world = remembered(path, customers)
    if world is None:
        with MongoClient[Figures](uri) as client:
            client.drop_database(DATABASE)
            world = {"secret": new_secret(), "admin_password": secrets.token_urlsafe(12) + "-aZ7"}
            with _serving(uri, folder, world) as port:
                world |= make_world(port, uri, world["admin_password"], customers, 0)
                for numbers in batches(WIDE_ROWS):
                    client[DATABASE][WIDE.name].insert_many([_wide(number) for number in numbers])
    remember(path, world)
    return world


def _wide(number: int) -> dict[str, Any]:
    values = {name: f"{name} of row {number}" for name in WIDE.fields}
    return {"_id": ObjectId(), **values, **audited(1, 1, datetime.now(UTC))}


@contextmanager
def _serving(uri: str, folder: Path, world: Figures) -> Iterator[int]:
    environment = {"TRADEWIND_JWT_SECRET": world["secret"], "TRADEWIND_ADMIN_PASSWORD": world["admin_password"]}
    command = [
        sys.executable,
        "-m",
        "tests.experiments.benchmark.servers",
        str(port := free_port()),
        uri,
        str(folder),
        DATABASE,
    ]
    with _process(command, ROOT, {**os.environ, **environment}, port):
        yield port


@contextmanager
def _process(command: list[str], folder: Path, environment: Mapping[str, str], port: int) -> Iterator[None]:
    """Run a server that listens on this port during the block."""
    with (CACHE / "console.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait_for("console", process, port)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@contextmanager
def _browser(url: str) -> Iterator[Chrome]:
    """Open the console in a browser with an empty profile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        chrome = Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            chrome.set_script_timeout(PATIENCE_SECONDS)
            chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
            chrome.get(f"{url}/console")
            yield chrome
        finally:
            chrome.quit()


def _wait(chrome: Chrome, condition: str) -> None:
    WebDriverWait(chrome, PATIENCE_SECONDS, poll_frequency=0.02).until(lambda _: chrome.execute_script(condition))
