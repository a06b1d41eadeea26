"""`following` runs the blocks of the manual and of the rehearsals, all of them, as they are written."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.experiments.following import MANUAL, Block, blocks
from tests.experiments.rehearsing import REHEARSALS

PAGES = {page.stem: page for page in (MANUAL, REHEARSALS)}
BY_HAND = "```text"  # what no script can do


def test_the_blocks_of_a_shell_are_found_under_their_headings() -> None:
    text = "# Title\n\n## One\n\n```sh\na\nb\n```\n\n```yaml\nno: shell\n```\n\n## Two\n\n```sh\nc\n```\n"
    assert list(blocks(text)) == [Block("One", "a\nb\n"), Block("Two", "c\n")]


@pytest.mark.parametrize(("page", "by_hand"), [("manual", 0), ("rehearsals", 1)])
def test_no_block_of_a_page_is_left_out(page: str, by_hand: int) -> None:
    text = PAGES[page].read_text()
    assert len(list(blocks(text))) == len(re.findall("^```sh$", text, re.MULTILINE)) > 5
    assert text.count(BY_HAND) == by_hand
    assert text.count("```") == 2 * (len(list(blocks(text))) + by_hand)


@pytest.mark.parametrize(
    "block",
    [block for page in PAGES.values() for block in blocks(page.read_text())],
    ids=lambda block: block.heading,
)
def test_a_block_of_a_page_is_shell(block: Block) -> None:
    checked = subprocess.run(("bash", "-n"), input=block.text, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
