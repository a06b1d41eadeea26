"""Runs the blocks of docs/operations/manual.md in a new folder, and checks their results."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from plugins.commands.command_parser import command_parser
from scripts.monitoring import ALERTS, PANELS, metrics_in, metrics_told

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = ROOT / "docs" / "operations"
MANUAL = OPERATIONS / "manual.md"
_PORTS = (8000, 8001, 9090)
_PROMETHEUS = "http://127.0.0.1:9090"
_STEP_SECONDS = 600
_SCRAPES_SECONDS = 60
_BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
_PARTS = ("config", "handlers", "plugins", "pyproject.toml", "README.md", "LICENSE", "server.py")
_NOT_TOLD = "up"  # Prometheus itself makes this metric
_EPILOG = """\
examples:
  {program}
  {program} --keep /tmp/afternoon     # the folder stays
  {program} --rehearsals              # the disasters of docs/operations/rehearsals.md, four minutes

exit codes: 0 every block ended well and every figure is there; 1 something is not, as lines say; 2 a port is in use
"""


@dataclass(frozen=True)
class Block:
    """A block of the manual, and the heading above it."""

    heading: str
    text: str


def main(arguments: Sequence[str], program: str = "python -m tests.experiments.following") -> int:
    """Follow the manual, and return the exit code."""
    parser = command_parser(program, __doc__, _EPILOG)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="do it in this new folder, and leave it")
    parser.add_argument("--rehearsals", action="store_true", help="follow the page of rehearsals instead")
    given = parser.parse_args(arguments)
    for port in _PORTS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                print(f"{program}: port {port} of this machine is in use, and the manual takes it.", file=sys.stderr)
                return 2
    follow = _follow
    if given.rehearsals:
        from tests.experiments.rehearsing import is_possible, rehearse  # imported late, because it imports this module

        if why := is_possible():
            print(f"{program}: {why}", file=sys.stderr)
            return 1
        follow = rehearse
    if given.keep is not None:
        given.keep.mkdir(parents=True)
        return follow(given.keep.absolute())
    with tempfile.TemporaryDirectory(prefix="tradewind-manual-", ignore_cleanup_errors=True) as folder:
        return follow(Path(folder))


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a manual that a shell runs, in order."""
    heading = ""
    for found in re.finditer(r"^## ([^\n]+)$|^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if found[1]:
            heading = found[1]
        else:
            yield Block(heading, found[2])


def _follow(folder: Path) -> int:
    began = time.monotonic()
    build_wheel(folder)
    shutil.copytree(OPERATIONS, folder / "operations")
    print(f"      {time.monotonic() - began:6.1f} s  the wheel is built", flush=True)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    shell = subprocess.Popen(
        ["bash", "-eu", "-o", "pipefail"],
        cwd=folder,
        env=kept,
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        problems = list(_run_blocks(shell, folder))
        code = _ended(shell)
    finally:
        with suppress(ProcessLookupError):  # processes that the manual has started and not ended
            os.killpg(shell.pid, signal.SIGTERM)
    problems += [f"the shell ended with {code}"] if code else []
    print("\n".join(f"FAIL  {one}" for one in problems) or "The manual leads to the dashboards.", flush=True)
    return int(bool(problems))


def build_wheel(folder: Path) -> None:
    """Build the wheel of this checkout into a folder."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "source"
        source.mkdir()
        for part in _PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / part, source)
        subprocess.run([sys.executable, "-c", _BUILD, str(folder)], cwd=source, check=True, capture_output=True)


def _run_blocks(shell: subprocess.Popen[str], folder: Path) -> Iterator[str]:
    """Run the blocks one after the other in one shell, and yield the problems."""
    has_prometheus = shutil.which("prometheus") is not None
    for number, block in enumerate(blocks(MANUAL.read_text())):
        if "prometheus --config" in block.text and not has_prometheus:
            print("      left out: Prometheus is not installed on this machine", flush=True)
            continue
        began, done = time.monotonic(), folder / f".done-{number}"
        (folder / f".block-{number}").write_text(block.text)
        if not _run_block(shell, f". ./.block-{number} < /dev/null", done):
            yield f"{block.heading}: this block fails:\n{block.text}"
            return
        first = block.text.partition("\n")[0]
        print(f"ok    {time.monotonic() - began:6.1f} s  {block.heading}: {first}", flush=True)
        if (folder / "metrics.txt").exists() and "metrics.txt" in block.text:
            yield from _missing_metrics((folder / "metrics.txt").read_text())
        if "prometheus --config" in block.text:
            yield from _not_green()


def _run_block(shell: subprocess.Popen[str], text: str, done: Path) -> bool:
    """Let the shell run a block, and wait for its end; return False if the shell has ended or the time is up."""
    if shell.stdin is None:
        raise RuntimeError("the shell has no input")
    with suppress(BrokenPipeError):
        shell.stdin.write(f"{text}\ntouch {done.name}\n")
        shell.stdin.flush()
    end = time.monotonic() + _STEP_SECONDS
    while not done.exists():
        if shell.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _ended(shell: subprocess.Popen[str]) -> int:
    if shell.stdin is not None:
        with suppress(BrokenPipeError):
            shell.stdin.close()
    return shell.wait(_STEP_SECONDS)


def _expressions() -> list[str]:
    return [one for panel in PANELS for one in panel.queries.values()] + [alert.expression for alert in ALERTS]


def _missing_metrics(text: str) -> Iterator[str]:
    """Yield a problem for each metric of the dashboard and the alerts that the service does not have."""
    wanted = {name for expression in _expressions() for name in metrics_in(expression)} - {_NOT_TOLD}
    missing = sorted(wanted - metrics_told(text))
    print(f"ok    {len(wanted) - len(missing)} of {len(wanted)} metrics of dashboard and alerts are told", flush=True)
    yield from (f"/metrics has no {name}" for name in missing)


def _not_green() -> Iterator[str]:
    """Yield what Prometheus shows to be wrong: the service cannot be scraped, or an alert is active."""
    end = time.monotonic() + _SCRAPES_SECONDS
    while not _query("count_over_time(tradewind_build_info[1m]) > 5") and time.monotonic() < end:
        time.sleep(1)
    if not _query('up{job="tradewind"} == 1'):
        yield "Prometheus does not reach the service"
    alerts = [f"{one['metric']['alertname']} is {one['metric']['alertstate']}" for one in _query("ALERTS")]
    yield from alerts
    panels = [expression for panel in PANELS for expression in panel.queries.values()]
    empty = [expression for expression in panels if not _query(expression)]
    print(
        f"ok    {len(panels) - len(empty)} of {len(panels)} queries of the dashboard have values, {len(alerts)} alerts"
    )
    print("".join(f"      without a value yet: {expression}\n" for expression in empty), end="", flush=True)


def _query(expression: str) -> list[Any]:
    """Return the result of a query to Prometheus. An invalid expression raises an error."""
    with urlopen(f"{_PROMETHEUS}/api/v1/query?{urlencode({'query': expression})}", timeout=10) as response:
        result: list[Any] = json.load(response)["data"]["result"]
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
