"""The demonstration company: a year of its business, which a process enters after the first start of `scripts/server`.

The server serves meanwhile, with the demo data of the plugins. The process ends with the server.
"""

import subprocess
from collections.abc import Sequence

from plugins.commands.wecom_demo import end_with_parent, port_of


def start_company(python: str, arguments: Sequence[str]) -> None:
    """Start the process, which waits for the server."""
    command = [python, "-m", "plugins.commands.demo_company", port_of(arguments)]
    subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=end_with_parent
    )
