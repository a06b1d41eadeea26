"""`python -m config.embedded DATA_DIR CACHE_GIB START_SECONDS`: start the supervisor, as `acquire` does.

Exits with 0 when the database is ready, or with 1 and one line that says why it cannot be.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from config.embedded.folder import Folder
from config.embedded.supervisor import Supervisor, detach


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m config.embedded")
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("cache_gib", type=float)
    parser.add_argument("start_seconds", type=float)
    options = parser.parse_args()
    folder = Folder(options.data_dir)
    failure = detach(folder, Supervisor(folder, options.cache_gib, options.start_seconds).run)
    if failure:
        sys.stdout.write(failure)
    return 1 if failure else 0


if __name__ == "__main__":
    raise SystemExit(main())
