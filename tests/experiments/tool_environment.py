"""Environments of tools that the service itself does not need; each is made when it is first used, and kept."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path


def python_with(requirements: Path, folder: Path) -> Path:
    """Return the interpreter of the environment in `folder`, after installing what `requirements` lists."""
    stamp, python = folder / "installed.txt", folder / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        print(f"Installing what {requirements.parent.name} needs …", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "-q", "-r", str(requirements)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        stamp.write_text(requirements.read_text())
    return python
