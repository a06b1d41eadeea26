"""`scripts/follow-manual` runs the blocks of the manual, all of them, as they are written."""

from __future__ import annotations

import re
import subprocess

import pytest

from scripts.following import MANUAL, Block, blocks


def test_the_blocks_of_a_shell_are_found_under_their_headings() -> None:
    text = "# Title\n\n## One\n\n```sh\na\nb\n```\n\n```yaml\nno: shell\n```\n\n## Two\n\n```sh\nc\n```\n"
    assert list(blocks(text)) == [Block("One", "a\nb\n"), Block("Two", "c\n")]


def test_no_block_of_the_manual_is_left_out() -> None:
    text = MANUAL.read_text()
    assert len(list(blocks(text))) == len(re.findall("^```sh$", text, re.MULTILINE)) > 5
    assert text.count("```") == 2 * len(list(blocks(text)))


@pytest.mark.parametrize("block", list(blocks(MANUAL.read_text())), ids=lambda block: block.heading)
def test_a_block_of_the_manual_is_shell(block: Block) -> None:
    checked = subprocess.run(("bash", "-n"), input=block.text, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
