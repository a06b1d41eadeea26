"""The dictionaries that read Chinese: those of pypinyin, in half of its memory."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
MOST_MIB = 40  # the library itself would take 52

MEASURED = """
import json
from importlib.resources import files
from handlers.data.lists.pinyin import reader

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

before = resident()
reader()
grown = resident() - before
from pypinyin.constants import PHRASES_DICT
print(json.dumps([grown, PHRASES_DICT == json.loads((files("pypinyin") / "phrases_dict.json").read_text())]))
"""
KEPT = """
import json, sys
from importlib.resources import files
from pathlib import Path
from handlers.data.lists.pinyin import phrases

sys.dont_write_bytecode = False
whole = json.loads((files("pypinyin") / "phrases_dict.json").read_text())

def read(kept):  # whether they are whole, and were packed, and what is there then
    sys.modules.pop("pypinyin.phrases_dict", None)
    found = phrases(kept)
    return [found == whole, "pypinyin.phrases_dict" in sys.modules, [path.name for path in kept.parent.iterdir()]]

kept, in_the_way = Path({kept!r}), Path({in_the_way!r})
told = [read(kept), read(kept)]
packed = kept.read_bytes()
kept.write_bytes(packed[: len(packed) // 2])
told.append(read(kept))
print(json.dumps([told, kept.read_bytes() == packed, read(in_the_way)]))
"""
AT_ONCE = """
import json
from concurrent.futures import ThreadPoolExecutor
from handlers.data.lists.normalizing import pinyin

with ThreadPoolExecutor(4) as threads:
    print(json.dumps(list(threads.map(pinyin, ["重庆", "长沙", "银行", "行长"]))))
"""


def result_of(program: str) -> list[object]:
    """What a new process prints."""
    return list(json.loads(subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True)))


def test_the_dictionaries_are_whole_and_take_much_less_memory_than_those_of_the_library() -> None:
    grown, whole = result_of(MEASURED)
    assert whole
    assert isinstance(grown, float)
    assert grown < MOST_MIB


def test_phrases_are_packed_once_and_again_where_the_file_is_damaged_and_always_whole(tmp_path: Path) -> None:
    kept, in_the_way = tmp_path / "kept" / "phrases", tmp_path / "odd" / "phrases"
    kept.parent.mkdir()
    in_the_way.mkdir(parents=True)
    (in_the_way / "file").touch()
    told, same, nothing_kept = result_of(KEPT.format(kept=str(kept), in_the_way=str(in_the_way)))
    assert told == [[True, packed, ["phrases"]] for packed in (True, False, True)]
    assert same
    assert nothing_kept == [True, True, ["phrases"]]


def test_who_reads_while_they_are_loaded_waits_for_all_of_them() -> None:
    assert result_of(AT_ONCE) == [["chong", "qing"], ["chang", "sha"], ["yin", "hang"], ["hang", "zhang"]]
