"""The stand-ins for WeCom and a mail server that run beside a demo server: a visitor can log in and see what is sent."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
from collections.abc import Sequence

CORP, AGENT, SECRET = "ww-tradewind-demo", "1000002", "wecom-simulator-secret"
FIRST_PORT, MAIL_PORT, MAIL_PAGE_PORT = 8100, 8025, 8101
_PR_SET_PDEATHSIG = 1


def start_wecom(python: str, arguments: "Sequence[str]") -> None:
    """Start the stand-in and point the settings at it, unless a WeCom is configured already.

    The stand-in ends with this process.
    """
    if os.environ.get("TRADEWIND_WECOM_CORP_ID"):
        return
    port = _free_port(FIRST_PORT)
    address = f"http://127.0.0.1:{port}"
    given = {
        "CORP_ID": CORP,
        "AGENT_ID": AGENT,
        "SECRET": SECRET,
        "REDIRECT_URI": f"{address}/callback",
        "API_BASE": address,
        "LOGIN_BASE": address,
        "OAUTH_BASE": address,
    }
    os.environ.update({f"TRADEWIND_WECOM_{name}": value for name, value in given.items()})
    _start(python, "wecom_simulator", port=port, api=f"http://127.0.0.1:{port_of(arguments)}")
    print(
        f"WeCom log-in to try: {address}/   In its own browser: {address}/inside   Messages: {address}/messages",
        flush=True,
    )


def start_mail(python: str) -> None:
    """Start the stand-in for a mail server and point the settings at it, unless one is configured already."""
    if os.environ.get("TRADEWIND_NOTIFICATION_SMTP"):
        return
    port, page_port = _free_port(MAIL_PORT), _free_port(MAIL_PAGE_PORT)
    os.environ["TRADEWIND_NOTIFICATION_SMTP"] = f"smtp://127.0.0.1:{port}?from=Tradewind%20%3Cno-reply@example.com%3E"
    _start(python, "mail_simulator", port=port, page_port=page_port)
    print(f"Mail that is sent: http://127.0.0.1:{page_port}/", flush=True)


def _start(python: str, module: str, **options: "str | int") -> None:
    """Start a stand-in, which ends with this process."""
    given = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    subprocess.Popen(  # noqa: S603 - our own command
        [python, "-m", f"plugins.commands.{module}", *given],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent,
    )


def end_with_parent() -> None:
    """Let a process of the demo end with the server, and give the server precedence."""
    os.nice(10)  # lower priority, so that the server starts first
    # on systems other than Linux the stand-in receives Ctrl-C itself
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def port_of(arguments: "Sequence[str]") -> str:
    """Return the port of the server: the one given, else the one set, else the default."""
    for at, argument in enumerate(arguments):
        if argument == "--port" and at + 1 < len(arguments):
            return arguments[at + 1]
        if argument.startswith("--port="):
            return argument.removeprefix("--port=")
    return os.environ.get("TRADEWIND_PORT", "8000")


def _free_port(first: int) -> int:
    for wanted in (first, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            port: int = probe.getsockname()[1]
            return port
    raise RuntimeError("no free port on 127.0.0.1")
