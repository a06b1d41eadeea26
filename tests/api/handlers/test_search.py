"""Search: `q` finds a part of a value however it is written, pinyin and initials, and words in any order."""

import unicodedata
from itertools import permutations
from urllib.parse import quote

import pytest
from hypothesis import example, given, strategies as st
from pypinyin import Style, lazy_pinyin

from handlers.data.lists.normalizing import fold
from handlers.data.lists.search import LONG, search_filter, search_values
from plugins.testing import Client, expect, unique
from tests.support.probe import WIDGETS_AT

pytestmark = pytest.mark.gen_test
NAMES = {
    "晨光科技有限公司": (
        "晨",
        "司",
        "晨光",
        "光科",
        "有限公司",
        "chenguang",
        "chen",
        "CGKJ",
        "cgkjyxgs",
        "晨光科技有限公司",
        "晨光。",
        "晨光 有限公司",
        "科技 晨光",
        "chenguang 科技",
        "晨光,科技",
        "「晨光」科技",
        "chen guang",
    ),
    "Northern Light Ltd": (
        "north",
        "NORTHERN",
        "light l",
        "  northern   light ",
        "td",
        "n",
        "northernlight",
        "Light Northern",
        "ltd north",
        "north|light",
        "ｎｏｒｔｈ",
    ),
    "Café Müller": ("café", "CAFÉ", "müller", "é m", "cafe", "muller", "Cafe\u0301", "MULLER cafe"),
    "ＡＢＣ１２３": ("abc", "123", "ABC１"),
    "50% (off) [a.b*c]": ("50%", "(off)", "[a.b*c]", "a.b", "%", " ％ ", "*", "50 off"),
    "Québec": ("Quebec", "québec", "QUÉBEC", "uébec", "que"),
    "Kelly's": ("Kelly's", "Kelly’s", "Kellys", "kelly`s", "KELLY´S", "Kellyʼs"),
    "Handji Gifts& Co": ("Handji Gifts & Co", "handji gifts&co", "Handji", "gifts co handji", "gifts & co."),
    "Øresund Łódź straße": ("oresund", "Lodz", "strasse", "ŁÓDŹ øresund"),
    "重庆银行": ("chongqing", "yinhang", "cqyh", "重庆 银行"),
    "ガス 한국 ไทย ёлка": ("ガス", "한국", "ไทย", "елка", "ЁЛКА"),
    "★ ☆": ("★", "☆"),
}
NOTHING = (
    "光晨",
    "zhenguang",
    "a.*c",
    ".*",
    "^",
    "$where",
    "\\",
    "。",
    "晨光 东方",
    "カス",
    "north.*light",
    "kelly sons",
)

PHONES = {
    "138-0013-8000": (
        "13800138000",
        "138 0013 8000",
        "+86 13800138000",
        "+86-138-0013-8000",
        "008613800138000",
        "8613800138000",
        "0013-8000",
        "1380",
        "１３８００１３８０００",
        "(138) 0013.8000",
    ),
    "+86 138 0013 8000": ("13800138000", "138-0013-8000", "+8613800138000", "0086 138-0013-8000", "8000"),
    "(0621) 08460": (
        "062108460",
        "0621-08460",
        "0621 08460",
        "0621/08460",
        "(0621) 08460",
        "+49 621 08460",
        "+4962108460",
        "0049 (0)621 08460",
        "08460",
    ),
    "+49 (0)621 08460": ("0621 08460", "+49 621 08460", "062108460", "004962108460"),
    "+49 621 08460": ("0621 08460", "(0621) 08460", "0621", "+49 (0)621-08460"),
    "021-5555 0100": ("02155550100", "+86 21 5555 0100", "55550100", "021 5555"),
    "+1 (212) 555-0100": ("2125550100", "212-555-0100", "+12125550100", "001 212 555 0100"),
    "+852 2345 6789": ("23456789", "+85223456789"),
}
OTHER_NUMBERS = ("13800138001", "+86 139 0013 8000", "0621 08461", "555-0199", "02155550101")


@pytest.mark.parametrize(
    ("name", "query"),
    [(name, query) for names in (NAMES, PHONES) for name, queries in names.items() for query in queries],
)
async def test_a_part_of_a_name_finds_it(probe_admin: Client, name: str, query: str) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": name, "batch": unique("search")}))
    found = expect(await probe_admin.get(f"{WIDGETS_AT}?batch={made['batch']}&q={quote(query)}"))
    assert [row["id"] for row in found["items"]] == [made["id"]]


@pytest.mark.parametrize("query", [*NOTHING, *OTHER_NUMBERS])
async def test_what_is_in_no_name_finds_nothing(probe_admin: Client, query: str) -> None:
    batch = unique("search")
    for name in (*NAMES, *PHONES):
        expect(await probe_admin.post(WIDGETS_AT, {"name": name, "batch": batch}))
    found = expect(await probe_admin.get(f"{WIDGETS_AT}?batch={batch}&q={quote(query)}"))
    assert (found["items"], found["total"]) == ([], 0)


async def test_words_are_found_in_any_order(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "Alfreds Futterkiste 柏林", "batch": unique("search")}))
    for words in permutations(("alfreds", "kiste", "bolin", "柏")):
        at = f"{WIDGETS_AT}?batch={made['batch']}&q={quote(' '.join(words))}"
        assert expect(await probe_admin.get(at))["total"] == 1, words


async def test_a_new_name_is_found_and_the_old_one_is_not(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "前名", "batch": unique("search")}))
    expect(await probe_admin.patch(f"{WIDGETS_AT}/{made['id']}", {"version": 1, "name": "后名"}))
    at = f"{WIDGETS_AT}?batch={made['batch']}&q="
    assert expect(await probe_admin.get(at + quote("前名")))["total"] == 0
    assert expect(await probe_admin.get(at + "houming"))["total"] == 1


def lines(text: str) -> list[str]:
    """The folded text and its pinyin, as they are stored."""
    return [line.removeprefix("NAME:") for line in search_values({"name": text})["search_text"].split("\n")[1:]]


@given(st.text(st.sampled_from("上海重庆银行长乐欸〇㐀あａé-_.，。 abc0 "), max_size=12))
def test_pinyin_is_that_of_the_whole_text(text: str) -> None:
    plain = fold(text)
    whole = ["".join(lazy_pinyin(plain)), "".join(lazy_pinyin(plain, style=Style.FIRST_LETTER))]
    assert lines(text)[1:] in ([], whole)


async def test_blanks_alone_look_for_nothing(probe_admin: Client) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "any", "batch": unique("search")}))
    assert expect(await probe_admin.get(f"{WIDGETS_AT}?batch={made['batch']}&q=%20"))["total"] == 1


LETTERS = st.one_of(st.characters(codec="latin-1"), st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF))


def holds(stored: dict[str, object], wanted: dict[str, object]) -> bool:
    """Whether MongoDB would find `stored`: a key begins so, and the text has the rest."""
    text, keys = str(stored["search_text"]), stored["search_grams"]
    assert isinstance(keys, list)
    conditions = wanted.get("$and", [wanted])
    assert isinstance(conditions, list)
    for condition in conditions:
        if "search_grams" in condition:
            begin = condition["search_grams"]["$regex"].removeprefix("^")
            if not any(key.startswith(begin) for key in keys):
                return False
        elif "search_text" in condition and condition["search_text"]["$regex"] not in text:
            return False
    return wanted != {"_id": {"$in": []}}


@given(name=st.text(LETTERS, max_size=500), start=st.integers(0, 500), length=st.integers(1, 20))
@example(name="".join(chr(0x4E00 + n) for n in range(500)), start=480, length=20)
def test_every_part_of_every_name_is_covered_by_its_index(name: str, start: int, length: int) -> None:
    part = name[start : start + length]
    if fold(part):
        assert holds(search_values({"name": name}), search_filter(part))


@given(st.text(LETTERS, max_size=60))
def test_folding_is_the_same_of_every_normal_form(text: str) -> None:
    forms = {fold(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert forms == {fold(text)} == {fold(text.upper().lower())} | {fold(text)}


WORDS = ("meeting", "with", "the", "kellys", "board", "today", "überall", "晨光")


@given(st.lists(st.sampled_from(WORDS), min_size=LONG // 4, max_size=LONG))
def test_in_a_long_text_every_word_is_found(words: list[str]) -> None:
    stored = search_values({"content": " ".join((*words, "invoice 4711-0815"))})
    for query in {*words, "meeting board", "0815", "4711"} - (
        {"meeting board"} if {"meeting", "board"} - set(words) else set()
    ):
        assert holds(stored, search_filter(query)), query


def test_a_search_in_some_fields_looks_into_no_other() -> None:
    stored = search_values({"name": "Ann", "mobile": "13800138000", "address2": "Ann Arbor"})
    found = search_filter("138", ["name", "address2"])
    assert [one for one in found["$and"] if "search_text" in one] == [
        {"search_text": {"$regex": "^(?:NAME:|ADDRESSΓ:).*138", "$options": "m"}}
    ]
    assert "\nNAME:ann\n" in stored["search_text"]
    assert "\nADDRESSΓ:annarbor" in stored["search_text"]
