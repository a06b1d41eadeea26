"""Sends what waits in the queue: decides, claims, sends, and notes what came back; again after failures.

A delivery is claimed by a conditional write that moves its next attempt past the longest one, so two instances never
send the same. If the process ends between sending and noting, it is sent again after that time, with the same id, by
which mail programs and WeCom recognise the repetition.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from plugins.api import Service, utc_now
from plugins.api.data import retry_at
from plugins.api.errors import DatabaseUnavailable
from plugins.api.ports import DirectLinks
from plugins.api.values import Language
from plugins.notification.channel_records import ADDRESSES, DELIVERIES
from plugins.notification.channels import Channel, Channels, Letter, Outcome
from plugins.notification.inbox import Inbox, localise
from plugins.notification.mail_templates import Templates
from plugins.notification.messages import DEAD_ADDRESS, DEAD_ADDRESS_BODY, DIGEST_LINE, DIGEST_TITLE
from plugins.notification.preferences import Company, Decision, Person, address_id, decide, load_people
from plugins.notification.record_types import Notification, NotificationDelivery
from plugins.notification.records import MESSAGES
from plugins.rbac.api import people_permitted

log = logging.getLogger("tradewind.notification")
RETRY_SECONDS: Sequence[float] = (30, 300, 1800, 7200, 21_600, 43_200)
_CLAIMED = timedelta(seconds=120)  # longer than any attempt
_AFTER_FAULT = timedelta(minutes=10)
_PAUSE_SECONDS = 15.0  # of a channel on which nothing can be sent
_BATCH = 200
_AT_ONCE = 8  # on one channel
_IN_DIGEST = 50


@dataclass(frozen=True)
class _Known:
    """What is decided by, for a batch."""

    messages: Mapping[str, Notification]
    people: Mapping[int, Person]
    company: Company
    now: datetime


class Sender:
    """The work of the job on this instance."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._channels = service.part(Channels)
        self._deliveries = service.database.store(DELIVERIES)
        self._paused: dict[str, float] = {}

    def forget_pauses(self) -> None:
        """Try every channel again now."""
        self._paused.clear()

    async def run(self) -> None:
        """Send what is due until nothing is. A slow channel does not hold up the others."""
        try:
            sending = (self._send_due(name) for name in self._channels)
            faults = [one for one in await asyncio.gather(*sending, return_exceptions=True) if one is not None]
        finally:
            for channel in self._channels.values():
                channel.close()
        if faults:
            raise faults[0]

    async def _send_due(self, channel: str) -> None:
        while not self._is_paused(channel) and (rows := await self._find_due(channel)):
            known = await self._load(rows)
            rows.sort(key=lambda row: row["digest"] or "")
            groups = [[*of] for digest, of in groupby(rows, lambda row: row["digest"] or row["id"])]
            for start in range(0, len(groups), _AT_ONCE):
                await asyncio.gather(*(self._try(group, known) for group in groups[start : start + _AT_ONCE]))

    def _is_paused(self, channel: str) -> bool:
        return self._paused.get(channel, 0) > time.monotonic()

    async def _find_due(self, channel: str) -> list[NotificationDelivery]:
        """Return what is due now on a channel; of a digest that is due, all of it."""
        due: dict[str, Any] = {"state": "waiting", "channel": channel, "next_at": {"$lte": utc_now()}}
        rows = await self._deliveries.find(due, limit=_BATCH)
        digests = sorted({row["digest"] for row in rows if row["digest"]})
        if not digests:
            return rows
        gathered = await self._deliveries.find({**due, "digest": {"$in": digests}}, sort="created_at")
        return [*(row for row in rows if not row["digest"]), *gathered]

    async def _load(self, rows: Sequence[NotificationDelivery]) -> _Known:
        store = self._service.database.store(MESSAGES)
        found = await store.find({"_id": {"$in": [MESSAGES.parse_id(row["message"]) for row in rows]}})
        people = await load_people(self._service, [row["user_id"] for row in rows])
        company = await Company.load(self._service)
        return _Known({str(one["id"]): one for one in found}, people, company, utc_now())

    async def _try(self, rows: Sequence[NotificationDelivery], known: _Known) -> None:
        """Handle rows so that what fails for another reason than the database waits, and stops no other."""
        try:
            await self._handle(rows, known)
        except DatabaseUnavailable:
            raise
        except Exception as error:
            log.exception("a notification is not sent", extra={"delivery": rows[0]["id"]})
            due = {"_id": {"$in": [row["id"] for row in rows]}, "state": "waiting"}
            later = {"next_at": utc_now() + _AFTER_FAULT, "waits_for": "retry", "answer": type(error).__name__}
            await self._deliveries.update_many(due, {"$set": later})

    async def _handle(self, rows: Sequence[NotificationDelivery], known: _Known) -> None:
        ready = [(row, rule) for row in rows if (rule := await self._decide(row, known))]
        if not ready:
            return
        channel = self._channels[rows[0]["channel"]]
        if self._is_paused(channel.name):
            return
        until = utc_now() + _CLAIMED
        person = known.people[rows[0]["user_id"]]
        taken = {"next_at": until, "address": channel.address_of(person.user)}
        claimed = [row for row, rule in ready if await self._claim(row, {**taken, "rule": rule})]
        if not claimed:
            return
        messages = [known.messages[row["message"]] for row in claimed]
        outcome = await self._send(channel, person, claimed, messages, known.company)
        if outcome.down:
            self._paused[channel.name] = time.monotonic() + _PAUSE_SECONDS
        await self._note(claimed, until, outcome)
        await self._note_address(channel, person, outcome)

    async def _decide(self, row: NotificationDelivery, known: _Known) -> str | None:
        """Return the rule by which a delivery is sent now; otherwise note why it is not, and when it is due."""
        message, person = known.messages.get(row["message"]), known.people.get(row["user_id"])
        decision = self._decision(row, message, person, known)
        values: dict[str, Any] = {"rule": decision.rule, "waits_for": decision.waits_for}
        if not decision.sent:
            values |= {"state": "skipped", "ended_at": utc_now(), "waits_for": None}
        elif decision.until is not None:
            digest = f"{row['user_id']}:{row['channel']}:{decision.until:%Y%m%dT%H%M}"
            values |= {"next_at": decision.until, "digest": digest if decision.waits_for == "digest" else None}
        else:
            return decision.rule
        await self._deliveries.update_where(_unchanged(row), values)
        return None

    def _decision(
        self, row: NotificationDelivery, message: Notification | None, person: Person | None, known: _Known
    ) -> Decision:
        if message is None:
            return Decision(False, "gone")
        if person is None:
            return Decision(False, "disabled")
        if row["waits_for"] is not None and not message["unread"]:
            return Decision(False, "read")
        zone = self._service.settings.zone
        channel = self._channels[row["channel"]]
        decision = decide(person, row["kind"], channel, self._channels, known.company, known.now, zone)
        if decision.waits_for == "digest" and row["digest"]:
            return Decision(True, decision.rule)  # its time has come
        return decision

    async def _claim(self, row: NotificationDelivery, taken: Mapping[str, Any]) -> bool:
        attempts = row["attempts"] + 1
        return await self._deliveries.update_where(_unchanged(row), {**taken, "attempts": attempts}) is not None

    async def _send(
        self,
        channel: Channel,
        person: Person,
        rows: Sequence[NotificationDelivery],
        messages: Sequence[Notification],
        company: Company,
    ) -> Outcome:
        language: Language = person.preferences["language"]
        shown = [localise(message, language) for message in messages]
        first, link = shown[0], company.front_end or None
        if len(shown) == 1:
            title, body = first["title"], first["body"] or ""
            link = _absolute(company.front_end, await self._direct(person, messages[0]) or first["link"])
        else:
            title = DIGEST_TITLE.filled(count=len(shown)).text(language)
            lines = [DIGEST_LINE.filled(title=one["title"]).text(language) for one in shown[:_IN_DIGEST]]
            body = "\n".join(lines)
        user = person.user
        letter = Letter(
            (rows[0]["digest"] or rows[0]["id"]).replace(":", "."),
            channel.address_of(user) or "",
            user.get("real_name") or user["username"],
            language,
            link,
            messages[-1]["created_at"],
        )
        values = {"title": title, "body": body, "link": link or "", "name": letter.name}
        mail = await self._service.part(Templates).render(
            first["kind"], language, values, plain=channel.name != "email"
        )
        return await channel.send(letter, mail)

    async def _direct(self, person: Person, message: Notification) -> str | None:
        """Return the link that is signed for this person, if the message is about something for which there is one."""
        links, about = self._service.part(DirectLinks), message["data"] or {}
        return await links.link(person.user["id"], message["kind"], about, message["created_at"])

    async def _note(self, rows: Sequence[NotificationDelivery], until: datetime, outcome: Outcome) -> None:
        now, attempts = utc_now(), rows[0]["attempts"] + 1
        values: dict[str, Any] = {"answer": outcome.answer, "waits_for": None}
        if outcome.state == "retry" and attempts <= len(RETRY_SECONDS):
            values |= {"waits_for": "retry", "next_at": retry_at(now, attempts, RETRY_SECONDS)}
        else:
            values |= {"state": "sent" if outcome.state == "sent" else "failed", "ended_at": now}
        still = {"_id": {"$in": [row["id"] for row in rows]}, "state": "waiting", "next_at": until}
        await self._deliveries.update_many(still, {"$set": values})

    async def _note_address(self, channel: Channel, person: Person, outcome: Outcome) -> None:
        """Keep that an address is dead, and tell whoever may change it; forget it once something was delivered."""
        id, address = address_id(person.user["id"], channel.name), channel.address_of(person.user)
        store = self._service.database.store(ADDRESSES)
        if outcome.state == "sent" and channel.name in person.dead:
            await store.remove({"_id": id})
        if not outcome.dead or address is None:
            return
        await store.upsert(id, {"address": address, "dead_since": utc_now(), "answer": outcome.answer})
        name = person.user.get("real_name") or person.user["username"]
        await self._service.part(Inbox).send(
            await people_permitted(self._service, "system:user:update"),
            "dead_address",
            DEAD_ADDRESS.filled(name=name),
            DEAD_ADDRESS_BODY.filled(address=address, answer=outcome.answer),
            f"/system/users/{person.user['id']}",
            key=f"dead:{id}:{address}",
        )


def _unchanged(row: NotificationDelivery) -> Mapping[str, Any]:
    return {"_id": row["id"], "state": "waiting", "next_at": row["next_at"]}


def _absolute(front_end: str, link: str | None) -> str | None:
    """Return a link for outside: one of our pages below the front end, or a web address; None if it is neither."""
    if link and link.startswith(("http://", "https://")):
        return link
    own = link if link and link.startswith("/") and not link.startswith("//") else ""
    return f"{front_end}{own}" if front_end else None
