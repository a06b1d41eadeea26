"""The client of `clients/typescript`, as a test works with it: in a folder of its own, with its packages from npm."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

import jwt
import pytest

from plugins.auth.tokens import key_id
from plugins.boot.runtime import Running

SOURCE = Path(__file__).resolve().parents[2] / "clients" / "typescript"
_NPM_CI = ("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline")
_MADE = ("node_modules", "dist", "schema.ts")


async def run(folder: Path, *command: str, **environment: str) -> str:
    """What `command` prints; fails with all of its output when it does not succeed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    assert process.returncode == 0, f"{' '.join(command)}\n{out.decode()}{error.decode()}"
    return out.decode()


async def copy_client(folder: Path) -> Path:
    """A copy of the client with its packages. Skips the test where node and npm are missing."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not installed")
    copy = shutil.copytree(SOURCE, folder / "client", ignore=shutil.ignore_patterns(*_MADE))
    await run(copy, *_NPM_CI)
    return copy


def expired_token(server: Running) -> str:
    """An access token of the server that has expired."""
    key = server.service.signing_secrets[0]
    claims = {"user_id": 1, "roles": [], "jti": "1", "sid": "1", "exp": int(time.time()) - 60}
    return jwt.encode(claims, key, "HS256", headers={"kid": key_id(key)})
