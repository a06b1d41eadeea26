"""Notices by e-mail and WeCom: each once, as people and the company choose, and what is told of those that failed."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from plugins.api import Message, utc_now
from plugins.notification.channel_records import DELIVERIES
from plugins.notification.sending import Sender
from plugins.rbac.api import USERS
from plugins.testing import Client, expect, unique
from tests.api.approval.flows import EVERYTHING, ask, define, node
from tests.api.notification.inboxes import AT, send, titles
from tests.api.notification.outside import Outside

pytestmark = pytest.mark.gen_test(timeout=30)
CONFIGS = "/api/v1/system/configs"
HEADERS = {"From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"}


async def configure(outside: Outside, **values: Any) -> None:
    expect(await outside.people.admin.patch(CONFIGS, {"values": values}))


async def test_a_notice_arrives_by_mail_once_as_text_and_html(outside: Outside) -> None:
    await configure(outside, notification_front_end="https://erp.example.com")
    reader = await outside.person(real_name="王经理")
    message = await outside.notify(reader, title="<合同> 待审批", body="金额 100", link="/approval/7")
    await outside.deliver()
    await outside.deliver()
    (mail,) = outside.mails_to(reader)
    assert (mail.message["Subject"], mail.message["Message-ID"]) == (
        "<合同> 待审批",
        f"<{message}.email@example.com>",
    )
    assert "王经理" in str(mail.message["To"])
    assert "https://erp.example.com/approval/7" in mail.body("plain")
    assert "&lt;合同&gt; 待审批" in mail.body("html")
    told = await outside.why(reader, message)
    assert (told["state"], told["rule"], told["attempts"], told["address"]) == (
        "sent",
        "default",
        1,
        reader.user["email"],
    )


async def test_people_of_wecom_get_a_card_instead_in_their_language(outside: Outside) -> None:
    await configure(outside, notification_front_end="https://erp.example.com")
    member = unique("Member")
    reader = await outside.person(member)
    expect(await reader.put(f"{AT}/preferences", {"language": "en"}))
    message = await outside.notify(reader, title=Message("标题", "<Title>"), link="/approval/7")
    outside.wecom.expire_tokens()
    await outside.deliver()
    (card,) = outside.cards_to(member)
    assert card["textcard"] == {
        "title": "＜Title＞",
        "description": "＜Title＞",
        "url": "https://erp.example.com/approval/7",
        "btntxt": "Open",
    }
    assert (await outside.why(reader, message))["rule"] == "preferred"
    assert outside.mails_to(reader) == []


async def test_who_is_asked_to_approve_gets_a_link_to_just_that_task(outside: Outside) -> None:
    await configure(outside, notification_front_end="https://erp.example.com")
    admin, boss = outside.people.admin, await outside.person(role_ids=[await outside.people.role(EVERYTHING)])
    made = await ask(admin, await define(admin, node("first", boss), biz_type="GENERAL"))
    await outside.deliver()
    (mail,) = outside.mails_to(boss)
    (token,) = re.findall(r"https://erp\.example\.com/links/approvals/(\S+)", mail.body("plain"))
    assert expect(await boss.post("/api/v1/approvals/links/decide", {"token": token, "action": "agree"})) == {
        "id": made["id"],
        "status": "approved",
    }


async def test_what_was_accepted_without_an_answer_is_repeated_under_the_same_id(outside: Outside) -> None:
    reader = await outside.person()
    outside.mail.broken = "drop"
    message = await outside.notify(reader)
    await outside.deliver()
    assert (await outside.why(reader, message))["waits_for"] == "retry"
    outside.mail.broken = ""
    await outside.pass_time(reader)
    await outside.deliver()
    assert len({one.message["Message-ID"] for one in outside.mails_to(reader)}) == 1
    assert (await outside.why(reader, message))["attempts"] == 2 == len(outside.mails_to(reader))


async def test_two_instances_never_send_the_same(outside: Outside) -> None:
    readers = [await outside.person() for _ in range(3)]
    for _ in range(10):
        await send(outside.running, [one.user["userId"] for one in readers])
    await asyncio.gather(*(Sender(outside.running.service).run() for _ in range(3)))
    assert [len(outside.mails_to(one)) for one in readers] == [10, 10, 10]


async def test_a_dead_address_is_told_to_an_administrator_and_not_tried_again(outside: Outside) -> None:
    reader = await outside.person()
    outside.mail.refused = {reader.user["email"]: "550 5.1.1 no such mailbox"}
    messages = []
    for _ in range(2):
        messages.append(await outside.notify(reader))
        await outside.deliver()
    told = [await outside.why(reader, one) for one in messages]
    assert [(one["state"], one["rule"]) for one in told] == [("failed", "default"), ("skipped", "dead_address")]
    assert "no such mailbox" in told[0]["answer"]
    news = expect(await outside.people.admin.get(f"{AT}?kind=dead_address"))["items"]
    assert [reader.user["email"] in one["body"] for one in news].count(True) == 1
    changed = {"version": 1, "email": f"{unique('new')}@example.com"}
    expect(await outside.people.admin.patch(f"/api/v1/system/users/{reader.user['userId']}", changed))
    again = await outside.notify(reader)
    await outside.deliver()
    assert (await outside.why(reader, again))["state"] == "sent"


async def test_a_refusal_for_now_is_tried_again_and_at_last_given_up(outside: Outside) -> None:
    reader = await outside.person()
    outside.mail.refused = {reader.user["email"]: "451 4.3.0 later"}
    message = await outside.notify(reader)
    for _ in range(7):
        await outside.deliver()
        await outside.pass_time(reader)
    told = await outside.why(reader, message)
    assert (told["state"], told["attempts"], told["waits_for"]) == ("failed", 7, None)


async def test_what_people_switched_off_is_not_sent_unless_the_company_says_so(outside: Outside) -> None:
    reader = await outside.person()
    await outside.prefer(reader, "off")
    await configure(outside, notification_always=["payment_reminder:email"])
    off = await outside.notify(reader)
    fixed = await outside.notify(reader, kind="payment_reminder")
    await outside.deliver()
    assert [(await outside.why(reader, one))["rule"] for one in (off, fixed)] == ["off", "always"]
    assert len(outside.mails_to(reader)) == 1
    kinds = [{"kind": "payment_reminder", "email": "off", "wecom": "on"}]
    reply = await reader.put(f"{AT}/preferences", {"kinds": kinds})
    expect(reply, 40001)
    assert reply.fields == {"kinds[0].email"}


async def test_quiet_hours_hold_back_until_their_end_and_what_was_read_meanwhile_is_not_sent(outside: Outside) -> None:
    reader = await outside.person()
    now = datetime.now(outside.running.service.settings.zone)
    start, end = (f"{now + timedelta(hours=hours):%H:%M}" for hours in (-1, 1))
    await outside.prefer(reader, "on", quiet_from=start, quiet_to=end)
    message = await outside.notify(reader)
    await outside.deliver()
    told = await outside.why(reader, message)
    due = datetime.fromisoformat(told["next_at"])
    assert (told["waits_for"], timedelta(minutes=58) < due - utc_now() < timedelta(hours=1)) == ("quiet", True)
    expect(await reader.post(f"{AT}/{message}/read"))
    await outside.pass_time(reader)
    await outside.deliver()
    assert (await outside.why(reader, message))["rule"] == "read"
    assert outside.mails_to(reader) == []


async def test_what_cannot_be_handled_waits_and_stops_no_other(outside: Outside) -> None:
    broken, reader = await outside.person(), await outside.person()
    await outside.running.service.database.driver.update_one(
        "notification_preferences", {"_id": broken.user["userId"]}, {"$set": {"kinds": 7}}, upsert=True
    )
    stuck, message = await outside.notify(broken), await outside.notify(reader)
    await outside.deliver()
    assert (await outside.why(reader, message))["state"] == "sent"
    told = await outside.why(broken, stuck)
    assert (told["state"], told["waits_for"], told["answer"]) == ("waiting", "retry", "TypeError")


async def test_a_digest_is_one_mail_with_everything_until_then(outside: Outside) -> None:
    reader = await outside.person()
    now = datetime.now(outside.running.service.settings.zone)
    await outside.prefer(reader, "digest", digest_at=f"{now + timedelta(hours=2):%H:%M}")
    messages = [await outside.notify(reader, title=f"notice {number}") for number in range(3)]
    await outside.deliver()
    assert (outside.mails_to(reader), (await outside.why(reader, messages[0]))["waits_for"]) == ([], "digest")
    await outside.pass_time(reader)
    await outside.deliver()
    (mail,) = outside.mails_to(reader)
    assert mail.message["Subject"] == "您有 3 条新消息"
    assert [f"notice {number}" in mail.body("plain") for number in range(3)] == [True] * 3


async def test_what_is_rolled_back_is_not_sent(outside: Outside) -> None:
    reader = await outside.person()
    database = outside.running.service.database

    async def work() -> None:
        await send(outside.running, [reader.user["userId"]])
        raise LookupError

    with pytest.raises(LookupError):
        await database.transaction(work)
    assert await database.store(DELIVERIES).count({"user_id": reader.user["userId"]}) == 0


@pytest.mark.parametrize(
    ("email", "rule"),
    [
        ("root@localhost", "bad_address"),
        ("root@[127.0.0.1]", "bad_address"),
        ("a,b@example.com", "bad_address"),
        (None, "no_address"),
    ],
)
async def test_addresses_of_the_inside_and_lists_of_them_are_not_sent_to(
    outside: Outside, email: str | None, rule: str
) -> None:
    reader = await outside.person()
    users = outside.running.service.database.driver
    await users.update_one("rbac_users", {"_id": reader.user["userId"]}, {"$set": {"email": email}})
    message = await outside.notify(reader)
    await outside.deliver()
    assert ((await outside.why(reader, message))["rule"], outside.mails_to(reader)) == (rule, [])


@pytest.mark.parametrize(
    "evil",
    [
        "Eve\r\nBcc: victim@example.com\r\n\r\n<script>",
        "=?utf-8?q?Eve=0D=0ABcc:_victim@example.com=0D=0A?=<script>",
        "=?utf-8?b?RXZlDQpCY2M6IHZpY3RpbUBleGFtcGxlLmNvbQ0KDQo=?=<script>",
    ],
    ids=["line breaks", "encoded words", "encoded words in Base64"],
)
async def test_names_and_titles_add_no_header_and_no_recipient(outside: Outside, evil: str) -> None:
    reader = await outside.person()
    users = outside.running.service.database.driver
    await users.update_one("rbac_users", {"_id": reader.user["userId"]}, {"$set": {"real_name": f'"{evil}" <x@y.z>,'}})
    await outside.notify(reader, title=evil, body=f"{evil}\r\n.\r\nMAIL FROM:<a@b.c>")
    await outside.deliver()
    (mail,) = outside.mails_to(reader)
    assert (mail.message["Bcc"], len(mail.message["To"].addresses), len(outside.mail.mails)) == (None, 1, 1)
    assert mail.message["To"].addresses[0].addr_spec == reader.user["email"]
    assert {*mail.message.keys()} == HEADERS
    assert "<script>" not in mail.body("html")


@pytest.mark.parametrize("member", ["@all", "one|two"])
async def test_no_name_of_a_member_stands_for_several(outside: Outside, member: str) -> None:
    reader = await outside.person(member)
    message = await outside.notify(reader)
    await outside.deliver()
    assert ((await outside.why(reader, message, "wecom"))["rule"], outside.cards_to(member)) == ("bad_address", [])
    await outside.running.service.database.store(USERS).update(reader.user["userId"], {"wecom_user_id": None})


async def test_the_card_of_wecom_has_a_link_that_decides_just_that_task(outside: Outside) -> None:
    await configure(outside, notification_front_end="https://erp.example.com")
    member, role = unique("Member"), await outside.people.role(EVERYTHING)
    admin, boss = outside.people.admin, await outside.person(member, role_ids=[role])
    title = '<a href="https://evil.example">request</a>'
    made = await ask(admin, await define(admin, node("first", boss), biz_type="GENERAL"), title=title)
    await outside.deliver()
    (card,) = [one["textcard"] for one in outside.cards_to(member)]
    assert not {*"<>&"}.intersection(card["title"] + card["description"])
    token = card["url"].removeprefix("https://erp.example.com/links/approvals/")
    other = await outside.person(role_ids=[role])
    deciding = {"token": token, "action": "agree"}
    expect(await other.post("/api/v1/approvals/links/decide", deciding), 40300)
    assert expect(await boss.post("/api/v1/approvals/links/decide", deciding))["id"] == made["id"]
    expect(await boss.post("/api/v1/approvals/links/decide", deciding), 40901)


async def test_an_administrators_template_writes_the_mails_of_its_kind(outside: Outside) -> None:
    at = f"{AT}/templates"
    body = {
        "kind": "handover",
        "language": "zh",
        "subject": "[{{ kind }}] {{ title }}",
        "text": "{{ name }}: {{ body }}",
    }
    made = expect(await outside.people.admin.post(at, body))
    reader = await outside.person(real_name="赵员工")
    await outside.notify(reader, kind="handover", title="交接", body="三个客户")
    await outside.deliver()
    (mail,) = outside.mails_to(reader)
    assert (mail.message["Subject"], mail.body("plain").strip()) == ("[工作交接] 交接", "赵员工: 三个客户")
    change = {"version": made["version"], "text": "{{ title.__class__ }}", "html": "{% include '/etc/passwd' %}"}
    reply = await outside.people.admin.patch(f"{at}/{made['id']}", change)
    expect(reply, 40001)
    assert reply.fields == {"text", "html"}


async def test_what_was_sent_is_listed_in_the_data_scope_and_explained_to_the_recipient_alone(outside: Outside) -> None:
    reader = await outside.person()
    message = await outside.notify(reader)
    await outside.deliver()
    watcher = await outside.people.person(["notification:delivery:list"])
    everything = f"{AT}/deliveries?message={message}"
    assert [one["state"] for one in expect(await outside.people.admin.get(everything))["items"]].count("sent") == 1
    assert expect(await watcher.get(everything))["items"] == []
    expect(await outside.people.admin.get(f"{AT}/{message}/why"), 40400)


async def test_without_channels_only_the_inbox_is_told(admin: Client) -> None:
    title = unique("alone")
    expect(await admin.post(AT, {"user_ids": [1], "title": title}))
    assert title in await titles(admin)
    row = next(one for one in expect(await admin.get(f"{AT}?page_size=200"))["items"] if one["title"] == title)
    told = expect(await admin.get(f"{AT}/{row['id']}/why"))
    assert (told["kind"], told["caused_by"]) == ("announcement", 1)
    assert [one.get("rule") for one in told["channels"]] == [None, "not_set_up", "not_set_up"]
