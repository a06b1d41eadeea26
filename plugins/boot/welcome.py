"""What a demo prints once it serves."""

from __future__ import annotations

import sys

from config.local_secrets import demo_accounts
from plugins.boot.runtime import Running


def welcome(service: Running) -> None:
    """Print the addresses and accounts of a demo."""
    accounts = {"admin": "as in TRADEWIND_ADMIN_PASSWORD", **demo_accounts(service.service.settings.data_dir)}
    console = [f"  Console    {service.url}/console"] if "console" in service.catalogue.plugins else []
    lines = [
        "",
        *console,
        f"  Tradewind  {service.url}",
        f"  Docs       {service.url}/api/docs",
        "",
        "  Log in as",
        *(f"    {username:<10} {password}" for username, password in accounts.items()),
        "",
        "  Ctrl-C stops the server and its database.",
        "",
        "",
    ]
    # in one piece, because another thread writes log lines
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()
