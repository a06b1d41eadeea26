"""Processes of a supervisor over Motor."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.database.libraries import MOST_CONNECTIONS
from tests.support.processes import forked_servers
from tests.support.replica_sets import free_ports
from tests.support.server_process import environment
from tests.support.supervisors import supervised


@pytest.mark.gen_test(timeout=60)
async def test_a_forked_process_has_a_thread_for_each_connection_of_motor(mongodb_uri: str, tmp_path: Path) -> None:
    settings = {"PLUGINS": "auth,rbac", "MONGODB_DRIVER": "motor"}
    env = environment(mongodb_uri, tmp_path, PORT=str(*free_ports(1)), **settings)
    async with supervised(env, tmp_path / "output") as supervisor:
        servers = forked_servers(supervisor.process.pid)
        assert min(len(list(Path(f"/proc/{pid}/task").iterdir())) for pid in servers) > MOST_CONNECTIONS
