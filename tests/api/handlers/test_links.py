"""Addresses that clients show or follow: http, https, paths of the service itself, and nothing that runs."""

from collections.abc import Iterator

import pytest

from handlers.schema.errors import ValidationFailed
from handlers.schema.fields import Field, link
from handlers.schema.validation import Checker
from plugins.testing import Client, People, expect, unique
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=30)
NAMES = {"avatar", "cover", "home_path", "link", "logo", "path", "redirect", "url", "website"}
# it must be the public link of a stored file
CHECKED_OTHERWISE = {"POST /api/attachments url"}
RUNS = (
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "javascript:1/alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    'https://example.com/"onerror="alert(1)',
    "/a'b",
    "https://example.com/a b",
)
ELSEWHERE = ("//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example")


def taken(field: Field, value: str) -> bool:
    try:
        return bool(Checker(field)(value) == value)
    except ValidationFailed:
        return False


@pytest.mark.parametrize("value", [*RUNS, *ELSEWHERE, "https://", "http:example.com", "image.png"])
def test_what_runs_or_leads_somewhere_else_is_no_link(value: str) -> None:
    assert not taken(link(), value)
    assert not taken(link(bare=True, own=False), value) or value == "image.png"
    assert not taken(link(key=True), value) or value == "image.png"


@pytest.mark.parametrize(
    "value",
    [
        "https://cdn.example.com/a.png?v=1#x",
        "http://localhost:9000/public/a",
        "HTTPS://例子.中国/图",
        "/api/files/public/a.png",
        "/",
    ],
)
def test_web_addresses_and_own_paths_are_links(value: str) -> None:
    assert taken(link(), value)
    assert taken(link(own=False), value) is not value.startswith("/")
    assert taken(link(web=False), value) is value.startswith("/")


@pytest.mark.parametrize("value", ["www.example.com", "example.com:8080/about?a=b"])
def test_an_address_without_its_scheme_is_taken_where_people_write_it_so(value: str) -> None:
    assert taken(link(own=False, bare=True), value)
    assert not taken(link(), value)


@pytest.mark.parametrize("value", ["0123456789abcdef01234567", "2026/11/a.png", "晨光.png"])
def test_the_key_of_a_file_is_taken_where_files_are_shown(value: str) -> None:
    assert taken(link(key=True), value)


def test_an_empty_text_is_no_link_at_all() -> None:
    assert taken(link(), "")


def links() -> Iterator[tuple[str, Field]]:
    """Every field of a body, and every setting, that is named like an address."""

    def within(where: str, field: Field) -> Iterator[tuple[str, Field]]:
        for name, child in (field.fields or {}).items():
            if name in NAMES and child.kind == "text" and not child.read_only:
                yield f"{where} {name}", child
            yield from within(where, child)

    for route in CATALOGUE.routes:
        if route.body is not None:
            yield from within(route.name, route.body)
    for option in CATALOGUE.options:
        if option.key.rpartition("_")[2] in NAMES:
            yield option.key, option.field


LINKS = {name: field for name, field in links() if name not in CHECKED_OTHERWISE}


def test_the_fields_that_are_named_like_addresses_are_found() -> None:
    assert {"site_logo", "PATCH /api/v1/auth/profile avatar", "POST /api/v1/crm/customers website"} <= set(LINKS)


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("value", [RUNS[0], RUNS[1], RUNS[5], RUNS[7]])
def test_no_field_of_any_plugin_takes_what_runs(name: str, value: str) -> None:
    assert not taken(LINKS[name], value)


async def test_an_avatar_that_runs_is_refused_by_name(admin: Client, people: People) -> None:
    person = await people.person()
    assert (await person.patch("/api/v1/auth/profile", {"avatar": RUNS[0]})).fields == {"avatar"}
    body = {"username": unique("user"), "password": "Correct-horse-8", "avatar": RUNS[0], "home_path": "//evil.example"}
    reply = await admin.post("/api/v1/system/users", body)
    assert (reply.code, reply.fields) == (40001, {"avatar", "home_path"})
    logo = await admin.patch("/api/v1/system/configs", {"values": {"site_logo": RUNS[0]}})
    assert (logo.code, logo.fields) == (40001, {"values.site_logo"})
    expect(await person.patch("/api/v1/auth/profile", {"avatar": None}))
