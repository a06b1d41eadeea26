"""The embedded MongoDB, with real processes: sharing, every kind of death, and the line for each thing that fails."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from config.embedded import Embedded, EmbeddedError, acquire
from config.embedded.diagnosis import Ending, explain
from config.embedded.folder import Folder
from config.embedded.mongod import LOG_BYTES, find_mongod

PROJECT = Path(__file__).resolve().parents[3]
SMALL_CACHE = 0.25
DEADLINE_SECONDS = 20.0
USER = """
import sys
from pathlib import Path
from config.embedded import acquire
embedded = acquire(Path(sys.argv[1]), cache_gib=0.25)
print(embedded.uri, flush=True)
sys.stdin.read()
embedded.release()
"""


def _await(condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _supervisor_of(folder: Folder) -> int:
    return int(json.loads(folder.record.read_text())["pid"])


def _mongod_of(folder: Folder) -> int:
    return int((folder.database / "mongod.lock").read_text())


@contextlib.contextmanager
def _client(uri: str) -> Iterator[MongoClient[dict[str, Any]]]:
    with MongoClient[dict[str, Any]](uri, timeoutMS=10_000) as client:
        yield client


def _write(uri: str, name: str) -> None:
    with _client(uri) as client:
        client.trade.get_collection("notes").insert_one({"name": name})


def _names(uri: str) -> set[str]:
    with _client(uri) as client:
        return {note["name"] for note in client.trade.notes.find()}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    folder = Folder(tmp_path / "data")
    yield folder
    if folder.supervisor_lock.exists() and folder.is_supervised():
        for pid in (_supervisor_of(folder), _mongod_of(folder)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # nobody wants these data: a clean stop would take a second
        _await(lambda: not folder.is_supervised())
    if folder.path.is_dir():
        shutil.rmtree(folder.path)  # 100 MB of journal


@pytest.fixture(scope="module")
def used_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """A database that has run, holds the note "kept", and was stopped cleanly."""
    folder = Folder(tmp_path_factory.mktemp("used") / "data")
    embedded = acquire(folder.path, SMALL_CACHE)
    _write(embedded.uri, "kept")
    assert embedded.release_and_wait()
    yield folder
    shutil.rmtree(folder.path)


@pytest.fixture
def copied(folder: Folder, used_folder: Folder) -> Folder:
    """`folder` with a copy of that database; its journal, 100 MB, is not needed after a clean stop."""
    shutil.copytree(
        used_folder.path, folder.path, ignore=shutil.ignore_patterns("WiredTigerLog.*", "WiredTigerPreplog.*")
    )
    return folder


@pytest.fixture
def use(folder: Folder) -> Iterator[Callable[[], Embedded]]:
    """Acquire as often as one likes; all is released at the end."""
    with contextlib.ExitStack() as stack:

        def take() -> Embedded:
            embedded = acquire(folder.path, SMALL_CACHE)
            stack.callback(embedded.release)
            return embedded

        yield take


@pytest.fixture
def spawn(folder: Folder) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start processes that acquire the database, print its address and stay."""
    processes: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", USER, str(folder.path)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


# Sharing and ending


def test_two_users_share_one_database_until_the_last_leaves(folder: Folder, use: Callable[[], Embedded]) -> None:
    first, second = use(), use()
    assert first.uri == second.uri
    assert not first.release_and_wait()
    _write(second.uri, "after the first left")
    assert second.release_and_wait()
    assert not folder.is_supervised()


def test_processes_that_start_at_once_get_one_database(spawn: Callable[[], subprocess.Popen[str]]) -> None:
    processes = [spawn() for _ in range(4)]
    assert len({_address(process) for process in processes}) == 1


def test_a_second_start_finds_the_data_on_the_same_port(copied: Folder, use: Callable[[], Embedded]) -> None:
    port = copied.last_port()
    uri = use().uri
    assert f":{port}/" in uri
    assert _names(uri) == {"kept"}


def test_a_taken_port_makes_the_next_start_use_another(copied: Folder, use: Callable[[], Embedded]) -> None:
    port = copied.last_port() or 0
    with socket.create_server(("127.0.0.1", port)):  # one that never says a word
        uri = use().uri
    _write(uri, "new")
    assert f":{port}/" not in uri
    assert _names(uri) == {"kept", "new"}


def test_a_lost_key_is_replaced(copied: Folder, use: Callable[[], Embedded]) -> None:
    copied.key.unlink()
    assert _names(use().uri) == {"kept"}


def test_a_user_that_arrives_while_it_stops_gets_a_working_database(use: Callable[[], Embedded]) -> None:
    for pause in (0.0, 0.25, 0.5):
        leaving = use()
        leaving.release()
        time.sleep(pause)  # not a wait for anything: it lets the newcomer meet another stage of the stop
        _write(use().uri, f"after {pause}")
    assert len(_names(use().uri)) == 3


def test_the_record_of_a_dead_supervisor_is_not_used(folder: Folder, use: Callable[[], Embedded]) -> None:
    folder.create()
    folder.record.write_text(json.dumps({"uri": "mongodb://stale/", "port": 65000, "pid": os.getpid()}))
    assert use().uri != "mongodb://stale/"


def test_a_signal_to_the_supervisor_stops_the_database_cleanly(folder: Folder, use: Callable[[], Embedded]) -> None:
    use()
    os.kill(_supervisor_of(folder), signal.SIGTERM)
    _await(lambda: not folder.is_supervised())
    assert '"exitCode":0' in folder.log.read_text()


def test_a_long_log_is_shelved(folder: Folder, use: Callable[[], Embedded]) -> None:
    folder.create()
    with folder.log.open("wb") as log:
        log.truncate(LOG_BYTES + 1)
    use()
    assert folder.log.with_suffix(".log.1").stat().st_size == LOG_BYTES + 1
    assert folder.log.stat().st_size < LOG_BYTES


def test_a_log_that_grows_long_is_shelved_while_the_database_runs(folder: Folder, use: Callable[[], Embedded]) -> None:
    embedded = use()
    os.truncate(folder.log, LOG_BYTES + 1)
    _await(folder.log.with_suffix(".log.1").exists)
    _await(folder.log.exists)
    _write(embedded.uri, "still there")


# Deaths


def test_a_killed_server_leaves_no_database_behind(folder: Folder, spawn: Callable[[], subprocess.Popen[str]]) -> None:
    server = spawn()
    _address(server)
    supervisor, mongod = _supervisor_of(folder), _mongod_of(folder)
    server.kill()
    _await(lambda: folder.live_record() is None, seconds=3.0)
    _await(lambda: not _runs(supervisor) and not _runs(mongod))


def test_a_killed_supervisor_takes_the_database_along(folder: Folder, use: Callable[[], Embedded]) -> None:
    _write(use().uri, "before")
    mongod = _mongod_of(folder)
    os.kill(_supervisor_of(folder), signal.SIGKILL)
    _await(lambda: folder.live_record() is None)
    after = use()
    assert not _runs(mongod)
    assert _names(after.uri) == {"before"}


def test_acknowledged_writes_outlive_the_death_of_everything(
    folder: Folder, use: Callable[[], Embedded], spawn: Callable[[], subprocess.Popen[str]]
) -> None:
    server = spawn()
    _write(_address(server), "acknowledged")
    for pid in (server.pid, _supervisor_of(folder), _mongod_of(folder)):
        os.kill(pid, signal.SIGKILL)
    _await(lambda: folder.live_record() is None)
    assert _names(use().uri) == {"acknowledged"}


def test_a_killed_mongod_comes_back_at_the_same_address(folder: Folder, use: Callable[[], Embedded]) -> None:
    embedded = use()
    _write(embedded.uri, "before")
    mongod = _mongod_of(folder)
    os.kill(mongod, signal.SIGKILL)
    _await(lambda: (folder.database / "mongod.lock").read_text().strip() not in ("", str(mongod)))
    assert _names(embedded.uri) == {"before"}


def test_a_mongod_that_was_killed_may_start_for_longer_than_others(folder: Folder, use: Callable[[], Embedded]) -> None:
    _write(use().uri, "before")
    for pid in (_supervisor_of(folder), _mongod_of(folder)):
        os.kill(pid, signal.SIGKILL)
    _await(lambda: folder.live_record() is None)
    embedded = acquire(folder.path, SMALL_CACHE, start_seconds=0.1)  # less than any start takes
    try:
        assert _names(embedded.uri) == {"before"}
    finally:
        embedded.release()


# What fails, and the line that says so


def _failure(folder: Folder) -> str:
    with pytest.raises(EmbeddedError) as caught:
        acquire(folder.path, SMALL_CACHE)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize("name", ["WiredTiger.wt", "WiredTiger.turtle", "_mdb_catalog.wt", "storage.bson"])
def test_a_damaged_database_names_the_file(copied: Folder, name: str) -> None:
    (copied.database / name).write_bytes(b"" if name.endswith("bson") else b"garbage" * 10_000)
    assert _failure(copied) == (
        f"The database file {copied.database / name} is damaged or missing: restore {copied.database} "
        "from a backup, or move it away to start empty."
    )


def test_a_missing_data_file_is_named(copied: Folder) -> None:
    (copied.database / "WiredTiger.wt").unlink()
    assert f"{copied.database / 'WiredTiger.wt'} is damaged or missing" in _failure(copied)


def test_another_mongod_in_the_folder_is_named(folder: Folder) -> None:
    folder.create()
    folder.database.mkdir()
    other = subprocess.Popen(
        [find_mongod(), f"--dbpath={folder.database}", "--bind_ip=127.0.0.1", "--port=0", "--nounixsocket"],
        stdout=subprocess.DEVNULL,
    )
    try:
        lock = folder.database / "mongod.lock"
        _await(lambda: lock.exists() and lock.read_text().strip() == str(other.pid))
        assert _failure(folder) == (
            f"Another mongod (process {other.pid}) uses {folder.database}: stop it, then start again."
        )
    finally:
        other.kill()
        other.wait()


def test_a_data_folder_that_is_a_file_is_named(folder: Folder) -> None:
    folder.path.write_text("")
    assert f"Cannot use the data folder {folder.path} (File exists)" in _failure(folder)


def _in_a_small_world(mount: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Acquire in `folder` after `mount`, in a mount namespace of its own; the error is what it prints."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("`unshare -rm` is not permitted here, so no small or read-only disk can be made")
    folder.mkdir()
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from config.embedded import EmbeddedError, acquire
        try:
            acquire(Path(sys.argv[1]), 0.25).release()
        except EmbeddedError as error:
            print(error)
    """)
    return subprocess.run(
        [
            "unshare",
            "-rm",
            "sh",
            "-c",
            f'mount {mount} "$1" && exec "$2" -c "$3" "$1/data"',
            "sh",
            folder,
            sys.executable,
            program,
        ],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("size", ["16k", "400k"])
def test_a_full_disk_is_named(tmp_path: Path, size: str) -> None:
    result = _in_a_small_world(f"-t tmpfs -o size={size} none", tmp_path / "disk")
    assert result.stdout.startswith(f"The disk that holds {tmp_path / 'disk' / 'data'}")
    assert result.stdout.count("\n") == 1


def test_a_read_only_disk_is_named(tmp_path: Path) -> None:
    result = _in_a_small_world("-t tmpfs -o ro none", tmp_path / "disk")
    assert result.stdout.startswith(f"Cannot use the data folder {tmp_path / 'disk' / 'data'} (Read-only file system)")


@pytest.fixture
def fake_mongod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the packaged `mongod` be a shell script."""

    def install(script: str) -> None:
        program = tmp_path / "packages" / "fiftyone" / "db" / "bin" / "mongod"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))

    return install


@pytest.mark.parametrize(
    ("library", "line"),
    [
        (
            "libcurl.so.4",
            "mongod needs the library libcurl4: run `apt-get install libcurl4` (as root), then start again.",
        ),
        (
            "libssl.so.3",
            "mongod needs the library libssl.so.3: install the package that has it, or set TRADEWIND_MONGODB_URI.",
        ),
    ],
)
def test_a_missing_library_is_named(
    folder: Folder, fake_mongod: Callable[[str], None], library: str, line: str
) -> None:
    complaint = f"{library}: cannot open shared object file: No such file or directory"
    fake_mongod(f'echo "mongod: error while loading shared libraries: {complaint}" >&2; exit 127')
    assert _failure(folder) == line


def test_a_mongod_that_hangs_is_given_up_after_the_time_limit(
    folder: Folder, fake_mongod: Callable[[str], None]
) -> None:
    fake_mongod("exec sleep 60")
    with pytest.raises(EmbeddedError, match="did not start in time"):
        acquire(folder.path, SMALL_CACHE, start_seconds=0.5)
    assert not folder.is_supervised()


def _fatal(identifier: int, message: str, reason: str) -> str:
    return json.dumps({"s": "F", "c": "CONTROL", "id": identifier, "msg": message, "attr": {"error": reason}})


@pytest.mark.parametrize(
    ("code", "printed", "log", "part"),
    [
        (
            62,
            "",
            _fatal(
                20573,
                "Wrong mongod version",
                'UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document (… version: "8.0" …)',
            ),
            "of another MongoDB version",
        ),
        (
            14,
            "",
            _fatal(
                22435,
                "WiredTiger error",
                "unsupported WiredTiger file version: this build only supports "
                "versions up to 1, and the file is version 2",
            ),
            "of another MongoDB version",
        ),
        (
            100,
            "",
            _fatal(
                20557,
                "DBException in initAndListen, terminating",
                "IllegalOperation: Attempted to create a lock file on a read-only directory: /data",
            ),
            "may not write in",
        ),
        (1, "mongod: /lib/libc.so.6: version `GLIBC_2.34' not found (required by mongod)", "", "GLIBC_2.34 is missing"),
        (-signal.SIGILL, "", "", "AVX"),
        (-signal.SIGKILL, "", "", "want of memory"),
        (2, "Error parsing command line: unrecognised option '--new'", "", "unrecognised option '--new'"),
        (3, "", "", "it gave no reason"),
    ],
)
def test_what_cannot_be_provoked_here_is_read_from_what_mongod_says(
    tmp_path: Path, code: int, printed: str, log: str, part: str
) -> None:
    line = explain(Ending(code, printed, log, database=tmp_path, log_file=tmp_path / "mongod.log"))
    assert part in line
    assert "\n" not in line


def _find_without_packages(path: str) -> str:
    program = "from config.embedded.mongod import EmbeddedError, find_mongod\ntry: print(find_mongod())\n"
    program += "except EmbeddedError as error: print(error)"
    found = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=PROJECT,
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


def test_without_a_mongod_the_line_says_what_to_install(tmp_path: Path) -> None:
    line = _find_without_packages(str(tmp_path))
    assert "pip install -e '.[embedded]'" in line
    assert "TRADEWIND_MONGODB_URI" in line


def test_without_the_package_the_mongod_on_the_path_is_taken(tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "mongod")
    assert _find_without_packages(str(tmp_path)) == str(tmp_path / "mongod")
