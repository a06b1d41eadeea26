"""The virtual environment of the scripts, made once from a lock file, with Python's standard library alone.

`prepare()` returns the environment's Python; `ensure()` runs the calling script in it, `launch()` a command. The environment is `.venv`, or
the folder that TRADEWIND_VENV names. A second call finds the stamp of the first and takes milliseconds.
"""

# Old Pythons must be able to read this file, to report that they are too old; hence no newer syntax.

import contextlib
import fcntl
import hashlib
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST_PYTHON = (3, 11)
RUN_LOCK = "requirements.lock"
DEV_LOCK = "requirements-dev.lock"  # contains everything in RUN_LOCK, in the same versions
STAMP = "tradewind-installed.json"
UNFINISHED = "tradewind-unfinished"
MADE_HERE = "made here"
QUIET_SECONDS = 2.0
NO_NETWORK = re.compile(
    "Failed to establish a new connection|Temporary failure in name resolution|Name or service not known"
    "|Connection refused|ConnectTimeout|Network is unreachable|Read timed out|Max retries exceeded"
)


class EnvironmentProblem(Exception):
    """The environment cannot be made; the text says why, and what to do."""


def ensure(dev: bool = False) -> None:
    """Make sure that the calling script runs in the environment, and restart it there if it does not.

    With `dev` the environment has the packages for tests and checks too. If there can be no environment, the process
    ends with one line.
    """
    python = prepare(dev)
    if os.path.realpath(sys.prefix) != os.path.realpath(venv_folder()):
        sys.stdout.flush()
        os.execv(python, [python, *sys.argv])  # our own script


def launch(module: str, dev: bool = False, folder_of_project: bool = True, **more: str) -> None:
    """Run `main` of a module in the environment, under the name of the calling script, and end with its exit code.

    It runs in the folder of the project, with the same .env and data folder as scripts/server, or in the current one.
    """
    ensure(dev)
    if folder_of_project:
        os.chdir(ROOT)
    main = importlib.import_module(module).main
    sys.exit(main(sys.argv[1:], "scripts/" + os.path.basename(sys.argv[0]), **more))


def prepare(dev: bool = False) -> str:
    """Make or update the environment, and return its Python; see `ensure`."""
    try:
        _check_python()
        folder = venv_folder()
        lock = DEV_LOCK if dev else RUN_LOCK
        if not _is_current(folder, lock):
            with _alone(folder):
                if not _is_current(folder, lock):
                    _make(folder, lock)
        return _python_of(folder)
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; the next start begins again.")


def venv_folder() -> str:
    """Return the folder of the environment."""
    return os.path.abspath(os.environ.get("TRADEWIND_VENV") or os.path.join(ROOT, ".venv"))


def _check_python() -> None:
    if sys.version_info[:2] >= LEAST_PYTHON:
        return
    newer = [name for name in ("python3.14", "python3.13", "python3.12", "python3.11") if shutil.which(name)]
    hint = f"run `{newer[0]} {sys.argv[0]}`" if newer else "install a newer Python"
    raise EnvironmentProblem(
        "Tradewind needs Python {}.{} or newer and this is {}.{}.{}: {}.".format(
            *LEAST_PYTHON, *sys.version_info[:3], hint
        )
    )


def _python_of(folder: str) -> str:
    return os.path.join(folder, "bin", "python")


def _digest(lock: str) -> str:
    with open(os.path.join(ROOT, lock), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _stamp(folder: str) -> "dict[str, str]":
    try:
        with open(os.path.join(folder, STAMP), encoding="utf-8") as file:
            stamp: dict[str, str] = json.load(file)
            return stamp
    except (OSError, ValueError):
        return {}


def _is_current(folder: str, lock: str) -> bool:
    return _stamp(folder).get(lock) == _digest(lock) and _has_its_python(folder)


def _has_its_python(folder: str) -> bool:
    """Return whether the Python from which the environment was made still exists, in the same version."""
    python = os.path.realpath(_python_of(folder))
    if python != os.path.realpath(sys.executable):
        return os.path.exists(python)
    return _stamp(folder).get("python") == _python_version()


def _python_version() -> str:
    return "{}.{}".format(*sys.version_info[:2])


@contextlib.contextmanager
def _alone(folder: str) -> "Iterator[None]":
    """Let one process at a time make `folder`; the others wait and then find it made."""
    parent = os.path.dirname(folder)
    os.makedirs(parent, exist_ok=True)
    fd = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _make(folder: str, lock: str) -> None:
    unfinished = os.path.join(folder, UNFINISHED)
    # An environment that this module did not make is updated, but never removed.
    is_ours = os.path.exists(unfinished) or MADE_HERE in _stamp(folder)
    if is_ours and (os.path.exists(unfinished) or not _has_its_python(folder)):
        shutil.rmtree(folder)
    if not os.path.exists(_python_of(folder)):
        _create(folder, unfinished)
        is_ours = True
    if is_ours:
        _touch(unfinished)
    _install(folder, lock)
    _write_stamp(folder, lock, is_ours)
    if is_ours:
        os.remove(unfinished)


def _touch(path: str) -> None:
    with open(path, "w", encoding="utf-8"):
        pass


def _create(folder: str, unfinished: str) -> None:
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise EnvironmentProblem(
            "This Python cannot make virtual environments: run `apt-get install python3-venv` (as root; Debian, "
            "Ubuntu), or use a Python that has `venv` and `ensurepip`."
        )
    if os.path.isdir(folder) and os.listdir(folder):
        raise EnvironmentProblem(f"{folder} is no virtual environment that works: remove it, then start again.")
    try:
        os.makedirs(folder, exist_ok=True)
        _touch(unfinished)
    except OSError as error:
        raise EnvironmentProblem(f"Cannot make {folder}: {error.strerror}.") from error
    python = getattr(sys, "_base_executable", sys.executable)
    _run([python, "-m", "venv", folder], "Making a virtual environment")


def _install(folder: str, lock: str) -> None:
    path = os.path.join(ROOT, lock)
    with open(path, encoding="utf-8") as file:
        packages = sum(1 for line in file if re.match("[A-Za-z0-9]", line))
    pip = [_python_of(folder), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    _run([*pip, "--require-hashes", "-r", path], f"Installing {packages} packages")


def _write_stamp(folder: str, lock: str, is_ours: bool) -> None:
    locks = (RUN_LOCK, DEV_LOCK) if lock == DEV_LOCK else (RUN_LOCK,)
    stamp = {name: _digest(name) for name in locks}
    stamp["python"] = _version_of(folder)
    if is_ours:
        stamp[MADE_HERE] = "yes"
    path = os.path.join(folder, STAMP)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(stamp, file)
    os.replace(path + ".new", path)


def _version_of(folder: str) -> str:
    program = "import sys; print('{}.{}'.format(*sys.version_info[:2]))"
    return subprocess.check_output([_python_of(folder), "-c", program], text=True).strip()


def _run(command: "list[str]", title: str) -> None:
    """Run `command`, and show its progress if it is slow. Raises `EnvironmentProblem` with the reason if it fails."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait(process, title, started)
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.returncode:
            output.seek(0)
            raise EnvironmentProblem(_failure(title, output.read()))


def _wait(process: "subprocess.Popen[bytes]", title: str, started: float) -> None:
    told = False
    while True:
        try:
            process.wait(QUIET_SECONDS if not told else 1.0)
            break
        except subprocess.TimeoutExpired:
            if sys.stderr.isatty():
                _tell(f"\r{title} … {time.monotonic() - started:.0f} s")
            elif not told:
                _tell(f"{title} …\n")
            told = True
    if told:
        start = "\r" if sys.stderr.isatty() else ""
        _tell(f"{start}{title} … {time.monotonic() - started:.0f} s\n")


def _tell(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _failure(title: str, output: str) -> str:
    if NO_NETWORK.search(output):
        return f"{title} failed: the package index is out of reach. Check the network (or pip's index), start again."
    lines = [line for line in output.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("ERROR")] or lines
    return "\n".join([f"{title} failed:", *said[-5:]])
