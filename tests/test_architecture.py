"""Who may import whom, read from the source files (ARCHITECTURE 2): config ← handlers ← plugins ← server.py."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plugins import api
from plugins.registry import built_in_names, load_plugins

ROOT = Path(__file__).resolve().parent.parent
RUNS = ("config", "handlers", "plugins")
OURS = ("config", "handlers", "plugins", "scripts", "server", "tests")
FILES = sorted(
    path.relative_to(ROOT)
    for folder in ("config", "handlers", "plugins", "scripts", ".")
    for path in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py")
)
REQUIRES = {plugin.name: plugin.requires for plugin in load_plugins(())}


def imports(file: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it; `from a import b` is `a.b`."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(file: Path, *places: str) -> bool:
    """Whether the file is one of the places, or below one."""
    return any(file.is_relative_to(place) for place in places)


def offences(applies: Callable[[Path], bool], forbidden: Callable[[Path, str], bool]) -> list[str]:
    """The imports of those files that are forbidden."""
    return [f"{file}: {name}" for file in FILES if applies(file) for name in imports(file) if forbidden(file, name)]


def test_config_imports_nothing_else_of_ours() -> None:
    assert offences(lambda file: within(file, "config"), _ours_but("config")) == []


def test_handlers_import_config_and_handlers_alone() -> None:
    assert offences(lambda file: within(file, "handlers"), _ours_but("config", "handlers")) == []


def test_plugins_and_their_api_import_no_script_and_no_entry_point() -> None:
    assert offences(lambda file: within(file, "plugins"), _ours_but("config", "handlers", "plugins")) == []


def test_a_plugin_imports_the_plugin_api_itself_and_the_api_of_what_it_requires() -> None:
    assert offences(lambda file: within(file, "plugins") and len(file.parts) > 2, _foreign) == []


def test_only_the_driver_seam_imports_a_driver() -> None:
    seam = ("config/database", "config/embedded")
    drivers = _packages("pymongo", "motor", "gridfs")
    assert offences(lambda file: within(file, *RUNS) and not within(file, *seam), drivers) == []


def test_bson_is_known_to_the_data_layer_alone() -> None:
    assert offences(lambda file: within(file, "plugins"), _packages("bson")) == []


def test_tornado_web_is_imported_where_it_meets_the_lifecycle_alone() -> None:
    places = ("handlers/http/app.py", "handlers/http/sockets.py")
    assert offences(lambda file: within(file, *RUNS) and not within(file, *places), _packages("tornado.web")) == []


def test_nothing_that_runs_imports_the_test_fixtures() -> None:
    fixtures = Path("plugins/testing.py")
    assert offences(lambda file: file != fixtures, _packages("plugins.testing", "pytest", "tests")) == []


def _ours_but(*allowed: str) -> Callable[[Path, str], bool]:
    return lambda file, name: name.partition(".")[0] in OURS and name.partition(".")[0] not in allowed


def _packages(*names: str) -> Callable[[Path, str], bool]:
    return lambda file, imported: any(f"{imported}.".startswith(f"{name}.") for name in names)


def _foreign(file: Path, name: str) -> bool:
    """Whether a file of a plugin imports what is not its own, not the API, and not offered by what it requires."""
    if name.partition(".")[0] not in OURS:
        return False
    plugin = file.parts[1]
    offered = ["plugins.api", f"plugins.{plugin}", *(f"plugins.{other}.api" for other in REQUIRES.get(plugin, ()))]
    return not any(f"{name}.".startswith(f"{module}.") for module in offered)


PLUGIN_API = [
    "ACCOUNT_DISABLED",
    "ALL_ROWS",
    "ANONYMOUS",
    "Actor",
    "Answer",
    "ApiError",
    "Authenticator",
    "Authorizer",
    "BAD_REQUEST",
    "BLANK",
    "CONFLICT",
    "Catalogue",
    "Collection",
    "DUPLICATE",
    "Dashboard",
    "Database",
    "Dictionary",
    "EnvironmentSettings",
    "ErrorKind",
    "Events",
    "FORBIDDEN",
    "Field",
    "FieldError",
    "Handler",
    "INVALID",
    "Index",
    "Item",
    "Jobs",
    "LOCKED",
    "LOGIN_REFUSED",
    "Language",
    "Lease",
    "MEDIA_TYPE",
    "Menu",
    "Message",
    "Mirror",
    "NOTHING",
    "NOT_FOUND",
    "OPERATION_LOGS",
    "Option",
    "PASSWORD_CHANGE_REQUIRED",
    "PUBLIC",
    "Page",
    "Period",
    "Plugin",
    "RANGE",
    "RATE_LIMITED",
    "REFRESH_REFUSED",
    "RateLimit",
    "RecordCache",
    "Refusal",
    "Request",
    "Route",
    "Router",
    "SIGNED_IN",
    "STALE",
    "SUPER",
    "SUPER_ONLY",
    "SYSTEM",
    "Scope",
    "Service",
    "Shared",
    "StateMachine",
    "Store",
    "TOKEN_EXPIRED",
    "TOO_LARGE",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "ValidationFailed",
    "WECOM_REFUSED",
    "answer_once",
    "anything",
    "array",
    "boolean",
    "by_day",
    "by_month",
    "choice",
    "conflicts",
    "crud",
    "day",
    "day_of",
    "exact",
    "integer",
    "invalid",
    "json_schema",
    "last_days",
    "last_months",
    "link",
    "mapping",
    "money",
    "network_of",
    "new_id",
    "number",
    "obj",
    "object_id",
    "period_of",
    "quantity",
    "redacted",
    "refusal",
    "rounded",
    "route",
    "rows_before",
    "share",
    "start_of",
    "store_money",
    "store_quantity",
    "text",
    "times",
    "timestamp",
    "tree_of",
    "unavailable",
    "utc_now",
    "FieldOptions",
    "HasSettings",
    "remove_dangling",
    "RouteOptions",
    "Confined",
    "Lane",
    "TooCostly",
    "Work",
    "WorkFailed",
    "DatabaseUnavailable",
    "Form",
    "FormFile",
    "FIRST_DAY",
    "LAST_DAY",
    "RULES",
    "as_json",
    "OwnRequests",
    "REFUSES_OWN",
    "may_decide_on_own",
    "people_behind",
    "refuse_own",
]


def test_what_plugin_authors_import_is_pinned() -> None:
    assert sorted(api.__all__) == sorted(PLUGIN_API)


def test_everything_in_the_plugin_api_is_public() -> None:
    ours = {name for name, value in vars(api).items() if not name.startswith("_") and not isinstance(value, type(ast))}
    assert ours == set(api.__all__)


# -- the core names no plugin

# a plugin by its name, or its collections, permissions, events and paths
NAMES = "|".join(set(built_in_names()) - {"system"})
# `system` is also what the service and MongoDB call themselves
NAMED = re.compile(rf"^({NAMES})$|\b({NAMES})[._:/][a-z]|\b(plugins\.system|system_|system:|/system/)")


@pytest.mark.parametrize("file", [file for file in FILES if within(file, "config", "handlers")], ids=str)
def test_the_core_names_no_plugin(file: Path) -> None:
    texts = [node.value for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str) and NAMED.search(text)] == []


# -- importing does nothing

PROBE = """
import asyncio, importlib, json, os, sys, threading

modules = json.loads(sys.argv[1])
for name in modules:  # libraries may do as they like when they are imported for the first time
    importlib.import_module(name)
for name in [name for name in sys.modules if name.partition(".")[0] in ("config", "handlers", "plugins", "server")]:
    del sys.modules[name]

found, at = [], [""]

def is_ours(file):
    return file.startswith(os.getcwd() + "/") and "site-packages" not in file

class Watched(dict):
    def note(self, key):
        frame = sys._getframe(2)
        while frame.f_code.co_filename in ("<frozen os>", os.__file__):
            frame = frame.f_back
        if str(key).startswith("TRADEWIND_") or is_ours(frame.f_code.co_filename):
            found.append(f"{at[0]} reads the environment: {key}")
    def __getitem__(self, key):
        self.note(key)
        return super().__getitem__(key)
    def get(self, key, default=None):
        self.note(key)
        return super().get(key, default)

def audit(event, arguments):
    if at[0] and event in ("socket.__new__", "socket.connect", "subprocess.Popen", "os.mkdir", "os.remove"):
        found.append(f"{at[0]} does {event}")
    if at[0] and event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        if ".pyc" not in str(arguments[0]):
            found.append(f"{at[0]} writes {arguments[0]}")

def loop(*arguments):
    found.append(f"{at[0]} makes an event loop")

sys.addaudithook(audit)
os.environ = Watched(os.environ)
asyncio.new_event_loop = asyncio.get_event_loop = loop
threads = threading.active_count()
for name in modules:
    at[0] = name
    importlib.import_module(name)
    if threading.active_count() > threads:
        found.append(f"{name} starts a thread")
        threads = threading.active_count()
at[0] = ""
print(json.dumps(found))
"""


def test_importing_does_nothing() -> None:
    modules = [
        ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        for file in FILES
        if not within(file, "scripts") and file.stem != "__main__"
    ]
    probe = subprocess.run(
        [sys.executable, "-B", "-c", PROBE, json.dumps(modules)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert probe.returncode == 0, probe.stderr
    assert json.loads(probe.stdout) == []
