"""Motor in processes that were forked."""

from __future__ import annotations

import subprocess
import sys

ALL_AT_ONCE = """
import asyncio, os, threading
from config.database.libraries import MOST_CONNECTIONS, motor as use_motor
use_motor()
from motor.frameworks import asyncio as framework

async def hold_each():
    loop, all_of_them = asyncio.get_running_loop(), threading.Barrier(MOST_CONNECTIONS, timeout=10)
    await asyncio.gather(*(framework.run_on_executor(loop, all_of_them.wait) for _ in range(MOST_CONNECTIONS)))

child = os.fork()
if not child:
    asyncio.run(hold_each())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_process_has_a_thread_for_each_connection_of_motor() -> None:
    subprocess.run([sys.executable, "-c", ALL_AT_ONCE], check=True, timeout=30)
