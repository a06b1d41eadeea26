"""Who may import whom, read from the source files: config ← handlers ← plugins ← plugins/commands, server.py."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from plugins import api
from plugins.api import business
from plugins.boot.registry import built_in_names, load_plugins

pytestmark = pytest.mark.usefixtures("no_collection")

ROOT = Path(__file__).resolve().parents[2]
RUNS = ("config", "handlers", "plugins")
COMMANDS = "plugins/commands"
OURS = ("config", "handlers", "plugins", "scripts", "server", "tests")
FILES = sorted(
    path.relative_to(ROOT)
    for folder in ("config", "handlers", "plugins", "scripts", ".")
    for path in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py")
)
REQUIRES = {plugin.name: plugin.requires for plugin in load_plugins(built_in_names())}


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
    serve = f"{COMMANDS}/serve.py"  # the entry point by another name
    others = _ours_but("config", "handlers", "plugins")
    assert offences(lambda file: within(file, "plugins") and not within(file, serve), others) == []


def test_nothing_that_serves_imports_a_command() -> None:
    below = [file for file in FILES if within(file, *RUNS) and not within(file, COMMANDS)]
    assert offences(below.__contains__, _packages(COMMANDS.replace("/", "."))) == []


def test_no_string_of_the_product_names_a_module_of_those_above_it() -> None:
    """As an argument of `python -m` would."""
    above = {
        True: re.compile(r"^(scripts|tests)(\.\w+)*$"),
        False: re.compile(r"^(scripts|tests|plugins\.commands)(\.\w+)*$"),
    }
    texts = [(file, text) for file in FILES if within(file, *RUNS) for text in constants(file)]
    assert [f"{file}: {text}" for file, text in texts if above[within(file, COMMANDS)].search(str(text))] == []


def test_a_plugin_imports_the_plugin_api_itself_and_the_api_of_what_it_requires() -> None:
    assert offences(_is_of_a_plugin, _foreign) == []


def test_only_the_driver_seam_imports_a_driver() -> None:
    seam = ("config/database", "config/embedded")
    drivers = _packages("pymongo", "motor", "gridfs")
    assert offences(lambda file: within(file, *RUNS) and not within(file, *seam), drivers) == []


def test_only_the_choice_of_a_driver_imports_the_direct_one() -> None:
    places = ("config/database/direct", "config/database/drivers.py")
    assert (
        offences(lambda file: within(file, *RUNS) and not within(file, *places), _packages("config.database.direct"))
        == []
    )


def test_bson_is_known_to_the_data_layer_alone() -> None:
    backups = (f"{COMMANDS}/backup.py", f"{COMMANDS}/backups")  # they have raw documents, and the clock of MongoDB
    assert offences(lambda file: within(file, "plugins") and not within(file, *backups), _packages("bson")) == []


def test_tornado_web_is_imported_where_it_meets_the_lifecycle_alone() -> None:
    stand_ins = (f"{COMMANDS}/wecom_simulator.py", f"{COMMANDS}/mail_simulator.py")
    places = ("handlers/http/app.py", "handlers/http/sockets.py", *stand_ins)
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


# what every plugin imports: a name that goes, or comes, is a decision, and this list says so
PLUGIN_API = """
    Action Actor anything ApiError Approval array boolean choice Collection CONFLICT conflicts crud day day_of
    Dictionary dictionary EnvironmentSettings ErrorKind Event exact Extends Field FORBIDDEN Handler Index integer invalid
    Job link Listener mapping Menu Message money NOT_FOUND NOTIFY number obj object_id Option Page page Plugin
    PUBLIC quantity Record record_name Refusal Request Response Route route routes_of Service service_fields shape
    SIGNED_IN StateMachine Step Store store_money tables text timestamp Transition transitions utc_now View
""".split()  # noqa: SIM905  a list literal has a line for each of them
# the names that were in `plugins.api` in the version before: plugins that import them there still run
ONCE_THERE = """
    Accounts ACTION_TITLES ALL_ROWS ANONYMOUS APPROVAL_CANCELLED approval_fields APPROVAL_FINISHED
    APPROVAL_REQUESTED Approvals approving_route as_json AtOnce Audit audit_piece Authenticator Authorizer bars_of
    BLANK by_day by_month ByTime ByValue CachedSnapshot Catalogue caused_by change_state check_keeper compare
    Confined CONTACTS_ASKED CREDIT_ASKED csv_response Dashboard DATA_RESET Database DatabaseUnavailable DATED Debt
    DEBT_ASKED Demonstration Departments Dictionaries Difference difference DryRun Due due_after DUPLICATE
    encode_once Encoded end_of_month Entries Entry Events FieldError FieldOptions fields_in Figures Filter FINAL
    find_booked_on FIRST_DAY follow_at_once Form FormFile HasSettings history_of hold_fields Holding holds Hook
    import_rows_of imported_tables ImportLimits ImportNotices ImportReport imports_of INVALID is_placeholder Item
    Jobs json_schema labels_of Lane Language LAST_DAY LastRun Lease LOCKED may_decide_on_own
    MEDIA_TYPE Metrics Migration missing_permission MONEY_ALLOCATED MONEY_MOVED MONEY_RETURNED Move name_of
    name_references narrow_to_department network_of new_id NOTHING NOTIFY_PROGRESS Numbering OF_A_DEPARTMENT
    OPEN_DAY_ASKED OPERATION_LOGS OptionValues OWED_ASKED OwnRequests parse_row pass_for Passage Passes
    PASSWORD_CHANGE_REQUIRED PAYABLE_CHANGED payment_terms people_behind Period period_of Periodic Piece Processes
    ProcessState RANGE RATE_LIMITED RateLimit reading_from_secondaries RECEIVABLE_CHANGED record_code RecordCache
    RecordNames refusal refuse_own REFUSES_OWN Remark remove_dangling respond_once restore
    resume_imports rounded RouteOptions Router row_body rows_before Scope share SingleFlight span split_cell Stage
    STALE start_of StartError store_quantity summed SUPER SUPER_ONLY SYSTEM Table TableColumn TableReferences
    TableRows TERMS_ASKED times TOKEN_EXPIRED TOO_LARGE TooCostly trace_headers transitions_of tree_of
    try_transition UNAUTHENTICATED UNAVAILABLE unavailable undone ValidationFailed ValueLabels VERSION
    with_deleted with_version Work WorkFailed
""".split()  # noqa: SIM905  as above


def test_what_plugin_authors_import_is_pinned() -> None:
    lines = ast.parse((ROOT / "plugins/api/__init__.py").read_text()).body
    offered = [name.asname for line in lines if isinstance(line, ast.ImportFrom) for name in line.names]
    assert sorted(filter(None, offered)) == sorted(PLUGIN_API)


def test_a_name_of_the_version_before_is_found_and_says_where_it_is_now() -> None:
    for name in ONCE_THERE:
        with pytest.warns(DeprecationWarning, match=rf"import {name} from plugins\.api\.[a-z]+"):
            assert getattr(api, name) is not None


def test_a_name_that_moved_between_the_subjects_is_found_where_it_was() -> None:
    for subject, name in (("events", "RECEIVABLE_CHANGED"), ("records", "payment_terms"), ("reports", "Debt")):
        with pytest.warns(DeprecationWarning, match=rf"import {name} from plugins\.api\.business"):
            assert getattr(import_module(f"plugins.api.{subject}"), name) is getattr(business, name)


def test_every_name_of_the_plugin_api_has_a_line_that_says_what_it_is() -> None:
    lines = [line for path in sorted((ROOT / "plugins/api").glob("*.py")) for line in path.read_text().splitlines()]
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


def test_what_plugins_are_made_with_names_no_business() -> None:
    places = ("plugins/boot", "plugins/checks", "plugins/plugin.py", "plugins/records", "plugins/testing")
    texts = [(file, text) for file in FILES if within(file, *places) for text in constants(file)]
    business = re.compile(r"\b(crm|finance|hrm|inventory)\b")
    assert [f"{file}: {text}" for file, text in texts if isinstance(text, str) and business.search(text)] == []
    assert offences(lambda file: within(file, "plugins/records"), _packages("plugins.business")) == []


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


def test_every_plugin_with_records_offers_them_to_plugins_that_require_it() -> None:
    plugins = {plugin.name: plugin for plugin in load_plugins(())}
    keeping = {name for name, plugin in plugins.items() if plugin.biz_types}
    assert [name for name in keeping if not (ROOT / "plugins" / name / "api.py").is_file()] == []
