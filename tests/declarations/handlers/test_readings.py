"""The dictionaries that read Chinese."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

AT_ONCE = """
import json
from concurrent.futures import ThreadPoolExecutor
from handlers.data.lists.normalizing import pinyin

with ThreadPoolExecutor(4) as threads:
    print(json.dumps(list(threads.map(pinyin, ["重庆", "长沙", "银行", "行长"]))))
"""


def test_who_reads_while_they_are_loaded_waits_for_all_of_them() -> None:
    read = json.loads(subprocess.check_output([sys.executable, "-c", AT_ONCE], cwd=ROOT, text=True))
    assert read == [["chong", "qing"], ["chang", "sha"], ["yin", "hang"], ["hang", "zhang"]]
