"""The argument parser of a command, whose help ends with examples and exit codes as they are written."""

from __future__ import annotations

import argparse


def command_parser(program: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """Return the parser of the command `program`; `epilog` may refer to it as `{program}`."""
    return argparse.ArgumentParser(
        prog=program,
        description=description,
        epilog=epilog.format(program=program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
