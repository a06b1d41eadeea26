"""Names of files: what is cleaned, and what is refused because no honest client sends it."""

import pytest

from handlers.schema.errors import ValidationFailed
from plugins.api import utc_now
from plugins.files.names import KEY, MAX_NAME, STEM, clean_name, disposition, new_key

CLEANED = {
    "合同.pdf": "合同.pdf",
    "folder/sub/photo.png": "photo.png",
    "folder\\photo.png": "photo.png",
    "  spaces .txt ": "spaces .txt",
    "a<b>:c|d?e*.txt": "a_b__c_d_e_.txt",
    ".htaccess": "htaccess",
    "dots...": "dots",
    "e\u0301.txt": "\u00e9.txt",
    "مرحبا.pdf": "مرحبا.pdf",
    "👩‍💻.png": "👩‍💻.png",
    "100%.txt": "100%.txt",
    "console.txt": "console.txt",
}
HOSTILE = {
    "a way up": "../../etc/passwd",
    "a way up in the middle": "a/../../b.txt",
    "a way up with backslashes": "..\\..\\win.ini",
    "an absolute path": "/etc/passwd",
    "an absolute Windows path": "C:\\Windows\\win.ini",
    "a network path": "\\\\server\\share\\a.txt",
    "a home": "~/.ssh/authorized_keys",
    "NUL": "a.png\x00.html",
    "a line break": "a\r\nSet-Cookie: x=1.txt",
    "a control character": "a\x1b[31m.txt",
    "an escaped way up": "%2e%2e%2fetc%2fpasswd",
    "an escaped NUL": "a%00.png",
    "a turned reading direction": "invoice\u202egpj.exe",
    "a hidden mark": "a\u200f.txt",
    "a device": "CON",
    "a device with an extension": "nul.txt",
    "a numbered device": "com1.log",
    "too long": "a" * (MAX_NAME + 1) + ".txt",
    "far too long": "长" * 2000 + ".txt",
    "nothing": "",
    "only dots": "...",
    "only a folder": "folder/",
    "half a surrogate pair": "a\ud800.txt",
}


@pytest.mark.parametrize(("raw", "name"), CLEANED.items())
def test_an_honest_name_is_cleaned(raw: str, name: str) -> None:
    assert clean_name(raw, "file") == name


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_is_refused(raw: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        clean_name(raw, "file")
    assert [fault.field for fault in refused.value.errors] == ["file"]


def test_a_key_is_one_path_segment_that_cannot_be_guessed() -> None:
    keys = {new_key(utc_now(), ".png") for _ in range(1000)}
    assert len({key[:STEM] for key in keys}) == 1000
    assert all(KEY.fullmatch(key) for key in keys)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\r\nX: y", "名", "a%22"])
def test_no_name_can_break_out_of_its_header(name: str) -> None:
    header = disposition(name, inline=False)
    assert header.isascii()
    assert header.isprintable()
    assert header.partition("filename=")[2].partition("; filename*=")[0].strip('"').isascii()
    assert header.count('"') == 2
