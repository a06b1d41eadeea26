"""Secrets that a demo installation makes for itself, in files that only its owner reads."""

from __future__ import annotations

import json
import os
import secrets
import string
from pathlib import Path

_ACCOUNTS = "demo-accounts.json"
_LETTERS = string.ascii_letters + string.digits


def local_secret(folder: Path, name: str) -> str:
    """The secret kept in `folder/name`; made at the first call, the same for every process that shares the folder."""
    path = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f".{name}.{os.getpid()}"
    if not path.exists():
        _write(made, secrets.token_urlsafe(48))
        try:
            os.link(made, path)  # fails where another process was first
        except FileExistsError:
            pass
        finally:
            made.unlink()
    return path.read_text().strip()


def demo_accounts(folder: Path) -> dict[str, str]:
    """User name → password of the demo accounts made so far."""
    path = folder / _ACCOUNTS
    accounts: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return accounts


def demo_password(folder: Path, username: str) -> str:
    """The password of a demo account, made up at the first call and kept in the folder."""
    accounts = demo_accounts(folder)
    if username not in accounts:
        folder.mkdir(parents=True, exist_ok=True)
        accounts[username] = _password()
        _write(folder / _ACCOUNTS, json.dumps(accounts, indent=1))
    return accounts[username]


def _password() -> str:
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(5)) for _ in range(3)) + "-aZ7"


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.new")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    temporary.replace(path)
