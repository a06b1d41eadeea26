"""Who may import whom, read from the source files: config ← handlers ← plugins ← server.py."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from plugins import api
from plugins.boot.registry import built_in_names, load_plugins

ROOT = Path(__file__).resolve().parents[2]
RUNS = ("config", "handlers", "plugins")
OURS = ("config", "handlers", "plugins", "scripts", "server", "tests")
FILES = sorted(
    path.relative_to(ROOT)
    for folder in ("config", "handlers", "plugins", "scripts", ".")
    for path in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py")
)
REQUIRES = {plugin.name: plugin.requires for plugin in load_plugins(())}


@cache
def imports(file: Path) -> list[str]:
    """Every module that a file imports, wherever in it; `from a import b` is `a.b`."""
    return list(_imported(file))


def _imported(file: Path) -> Iterator[str]:
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
    assert offences(_is_of_a_plugin, _foreign) == []


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
    assert (
        offences(lambda file: not within(file, "plugins/testing"), _packages("plugins.testing", "pytest", "tests"))
        == []
    )


def _is_of_a_plugin(file: Path) -> bool:
    return within(file, "plugins") and (ROOT / Path(*file.parts[:2]) / "plugin.py").exists()


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


# what plugin authors rely on: a name that goes, or comes, is a decision, and this list says so
PLUGIN_API = """
    ACCOUNT_DISABLED ACTION_TITLES ALL_ROWS ANONYMOUS BAD_REQUEST BLANK CONFLICT DUPLICATE FIRST_DAY FORBIDDEN INVALID
    LAST_DAY LOCKED LOGIN_REFUSED MEDIA_TYPE NOTHING NOT_FOUND OPERATION_LOGS PASSWORD_CHANGE_REQUIRED PUBLIC RANGE
    RATE_LIMITED REFRESH_REFUSED REFUSES_OWN RULES SIGNED_IN STALE SUPER SUPER_ONLY SYSTEM TOKEN_EXPIRED TOO_LARGE
    UNAUTHENTICATED UNAVAILABLE VERSION WECOM_REFUSED

    Audit Debt Difference Due Metrics Piece Remark audit_piece compare difference

    Migration Stage

    Action Actor Approval AtOnce Demonstration Response ApiError Authenticator Authorizer Catalogue Collection Confined
    Dashboard Database DatabaseUnavailable Dictionary EnvironmentSettings ErrorKind Events Field FieldError FieldOptions
    Form FormFile Handler HasSettings Hook Index Item Jobs Lane Language Lease Menu Message CachedSnapshot Option
    OwnRequests Page Passage Passes Period Plugin Query RateLimit Record RecordCache RecordNames Refusal Request Route
    RouteOptions Router Scope Service SingleFlight StartError StateMachine Step Store TooCostly Transition ValidationFailed View Work
    WorkFailed

    Accounts DryRun ImportLimits ImportNotices ImportReport Table TableColumn TableReferences TableRows
    ValueLabels import_rows_of imported_tables imports_of parse_row resume_imports row_body tables

    APPROVAL_CANCELLED APPROVAL_FINISHED APPROVAL_REQUESTED CONTACTS_ASKED CREDIT_ASKED DATA_RESET DATED DEBT_ASKED
    MONEY_ALLOCATED MONEY_MOVED MONEY_RETURNED NOTIFY NOTIFY_PROGRESS OPEN_DAY_ASKED OWED_ASKED PAYABLE_CHANGED
    RECEIVABLE_CHANGED TERMS_ASKED Event Holding Job Listener Move caused_by due_after payment_terms
    replace_person

    Encoded encode_once respond_once anything array as_json boolean by_day by_month change_state choice conflicts crud csv_response day day_of
    exact find_booked_on follow_at_once
    integer invalid is_placeholder json_schema last_days last_months link mapping may_decide_on_own missing_permission money
    name_references network_of new_id number obj object_id pass_for people_behind period_of quantity redacted refusal
    reading_from_secondaries refuse_own remove_dangling restore rounded route rows_before share span start_of store_money store_quantity text times
    timestamp trace_headers transitions tree_of unavailable undone utc_now

    Numbering OptionValues check_keeper dictionary hold_fields holds page record_code record_name routes_of service_fields shape try_transition

    Dictionaries Entries Entry fields_in labels_of bars_of transitions_of with_version FINAL history_of with_deleted

    ByTime ByValue Figures Filter end_of_month name_of split_cell summed

    Approvals approval_fields approving_route

    Departments LastRun OF_A_DEPARTMENT Periodic Processes ProcessState narrow_to_department
""".split()  # noqa: SIM905  a list literal has a line for each of them


def test_what_plugin_authors_import_is_pinned() -> None:
    public = [
        name for name, value in vars(api).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    assert sorted(public) == sorted(PLUGIN_API)


def test_every_name_of_the_plugin_api_has_a_line_that_says_what_it_is() -> None:
    lines = (ROOT / "plugins/api.py").read_text().splitlines()
    assert [line for line in lines if " as " in line and "  # " not in line] == []


# -- the core names no plugin

# a plugin by its name, or its collections, permissions, events and paths
NAMES = "|".join(set(built_in_names()) - {"system"})
# `system` is also what the service and MongoDB call themselves
NAMED = re.compile(rf"^({NAMES})$|\b({NAMES})[._:/][a-z]|\b(plugins\.system|system_|system:|/system/)")


def constants(file: Path) -> list[object]:
    return [node.value for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.Constant)]


def test_the_core_names_no_plugin() -> None:
    texts = [(file, text) for file in FILES if within(file, "config", "handlers") for text in constants(file)]
    assert [f"{file}: {text}" for file, text in texts if isinstance(text, str) and NAMED.search(text)] == []


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
