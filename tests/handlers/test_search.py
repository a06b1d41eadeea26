"""Search: `q` finds a part of a word, pinyin and initials (CONTRACT 1)."""

import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pypinyin import Style, lazy_pinyin

from handlers.data.search import search_filter, search_values
from plugins.testing import Client, expect, unique
from tests.handlers.probe import WIDGETS_AT

pytestmark = pytest.mark.gen_test
NAMES = {
    "晨光科技有限公司": ("晨", "晨光", "光科", "有限公司", "chenguang", "chen", "CGKJ", "cgkjyxgs", "晨光科技有限公司"),
    "Northern Light Ltd": ("north", "NORTHERN", "light l", "  northern   light ", "td", "n"),
    "Café Müller": ("café", "CAFÉ", "müller", "é m"),
    "ＡＢＣ１２３": ("abc", "123", "ABC１"),
    "50% (off) [a.b*c]": ("50%", "(off)", "[a.b*c]", "a.b", "%"),
}
NOTHING = ("光晨", "zhenguang", "northernlight", "a.*c", ".*", "^", "north|light", "$where", "\\", "晨光。")


@pytest.mark.parametrize(("name", "query"), [(name, query) for name, queries in NAMES.items() for query in queries])
async def test_a_part_of_a_name_finds_it(probe_admin: Client, name: str, query: str) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": name, "batch": unique("search")}))
    found = expect(await probe_admin.get(f"{WIDGETS_AT}?batch={made['batch']}&q={quote(query)}"))
    assert [row["id"] for row in found["items"]] == [made["id"]]


@pytest.mark.parametrize("query", NOTHING)
async def test_what_is_in_no_name_finds_nothing(probe_admin: Client, query: str) -> None:
    batch = unique("search")
    for name in NAMES:
        expect(await probe_admin.post(WIDGETS_AT, {"name": name, "batch": batch}))
    found = expect(await probe_admin.get(f"{WIDGETS_AT}?batch={batch}&q={quote(query)}"))
    assert (found["items"], found["total"]) == ([], 0)


async def test_a_new_name_is_found_and_the_old_one_is_not(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "前名", "batch": unique("search")}))
    expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "name": "后名"}))
    at = f"{WIDGETS_AT}?batch={made['batch']}&q="
    assert expect(await probe_admin.get(at + quote("前名")))["total"] == 0
    assert expect(await probe_admin.get(at + "houming"))["total"] == 1


@given(st.text(st.sampled_from("上海重庆银行长乐欸〇々㐀あａé-_.，。 abc0 "), max_size=12))
def test_pinyin_is_that_of_the_whole_text(text: str) -> None:
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    forms = search_values([text])["search_text"].split("\n")
    whole = ["".join(lazy_pinyin(plain)), "".join(lazy_pinyin(plain, style=Style.FIRST_LETTER))]
    assert forms[1:] in ([], whole)


async def test_blanks_alone_look_for_nothing(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "any", "batch": unique("search")}))
    assert expect(await probe_admin.get(f"{WIDGETS_AT}?batch={made['batch']}&q=%20"))["total"] == 1


LETTERS = st.one_of(st.characters(codec="latin-1"), st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF))


@given(name=st.text(LETTERS, max_size=500), start=st.integers(0, 500), length=st.integers(1, 20))
@example(name="".join(chr(0x4E00 + n) for n in range(500)), start=480, length=20)
def test_every_part_of_every_name_is_covered_by_its_index(name: str, start: int, length: int) -> None:
    stored = search_values([name])
    wanted = search_filter(name[start : start + length])
    assert set(wanted.get("search_grams", {}).get("$all", [])) <= set(stored["search_grams"])
