"""What a person wants to get on which channel, and when: the routes, and the rules by which it is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from plugins.api import SIGNED_IN, Option, Record, Request, Route, Service, day_of, link, route, utc_now
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.ports import OptionValues
from plugins.api.values import ReadOnlyRecord, start_of
from plugins.notification.channel_records import (
    ADDRESSES,
    ALWAYS,
    EVERY_KIND,
    OWN_PREFERENCES,
    PREFERENCES,
)
from plugins.notification.channels import CHANNELS, Channel, Channels
from plugins.notification.messages import ALWAYS_SENT, FRONT_END
from plugins.notification.record_types import NotificationPreferences
from plugins.rbac.api import USERS

RETRIED_AFTER = timedelta(days=7)
_ALWAYS, _FRONT_END = "notification_always", "notification_front_end"
OPTIONS = (
    Option(_ALWAYS, ALWAYS, ALWAYS_SENT),
    Option(_FRONT_END, link(own=False, default="", nullable=False, max_length=200), FRONT_END),
)


@dataclass(frozen=True)
class Company:
    """What administrators have set: `always` are `kind:channel`, `front_end` begins the links of messages."""

    always: frozenset[str]
    front_end: str

    @classmethod
    async def load(cls, service: Service) -> Company:
        """Return the settings in force; without a plugin that keeps settings, the defaults."""
        values = service.parts.get(OptionValues)
        always, front_end = [option.default if values is None else await values.value(option.key) for option in OPTIONS]
        return cls(frozenset(always), front_end.rstrip("/"))

    def always_sends(self, kind: str, channel: str) -> bool:
        """Return whether the company has this kind sent on this channel, whatever a person chooses."""
        return not self.always.isdisjoint((f"{kind}:{channel}", f"{EVERY_KIND}:{channel}"))


@dataclass(frozen=True)
class Decision:
    """Whether a message is sent on a channel, by which `rule`, and not before `until`; `waits_for` says why not now."""

    sent: bool
    rule: str
    until: datetime | None = None
    waits_for: str | None = None


@dataclass(frozen=True)
class Person:
    """Whom a message is for: the user, their preferences, and their dead addresses by channel."""

    user: Mapping[str, Any]
    preferences: NotificationPreferences
    dead: Mapping[str, ReadOnlyRecord]

    def reached_by(self, channel: Channel) -> str:
        """Return the rule by which a channel does not reach the person; empty if it does."""
        address = channel.address_of(self.user)
        if self.user["status"] != "enabled":
            return "disabled"
        if address is None:
            return "no_address"
        if not channel.accepts(address):
            return "bad_address"
        dead = self.dead.get(channel.name)
        is_dead = dead is not None and dead["address"] == address and utc_now() - dead["dead_since"] < RETRIED_AFTER
        return "dead_address" if is_dead else ""

    def chosen(self, kind: str, channel: str) -> str | None:
        """Return what the person has chosen for a kind: `on`, `off`, `digest`, or None."""
        by_kind: dict[str, ReadOnlyRecord] = {one["kind"]: one for one in self.preferences["kinds"]}
        chosen = by_kind.get(kind) or by_kind.get(EVERY_KIND)
        return chosen[channel] if chosen is not None else None


def decide(
    person: Person, kind: str, channel: Channel, channels: Channels, company: Company, now: datetime, zone: ZoneInfo
) -> Decision:
    """Return whether and when a message of a kind goes out on one of the channels that are set up."""
    if unreached := person.reached_by(channel):
        return Decision(False, unreached)
    chosen, fixed = person.chosen(kind, channel.name), company.always_sends(kind, channel.name)
    if not fixed and chosen == "off":
        return Decision(False, "off")
    if not fixed and chosen is None and _is_reached_better(person, channel, channels):
        return Decision(False, "preferred")
    rule = "always" if fixed else "default" if chosen is None else "own"
    if chosen == "digest" and person.preferences["digest_at"]:
        return Decision(True, rule, _next(person.preferences["digest_at"], now, zone), "digest")
    quiet = end_of_quiet(person.preferences, now, zone)
    return Decision(True, rule, quiet, None if quiet is None else "quiet")


def _is_reached_better(person: Person, channel: Channel, channels: Channels) -> bool:
    """Return whether another channel comes first where nobody has chosen: WeCom before e-mail."""
    better = channels.get("wecom")
    return better is not None and channel is not better and not person.reached_by(better)


def end_of_quiet(preferences: ReadOnlyRecord, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return when the quiet hours end that hold now, or None. Hours may go over midnight."""
    start, end = preferences["quiet_from"], preferences["quiet_to"]
    if not start or not end or start == end:
        return None
    clock = f"{now.astimezone(zone):%H:%M}"
    inside = start <= clock < end if start < end else clock >= start or clock < end
    return _next(end, now, zone) if inside else None


def _next(clock: str, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the next moment at which the clock of the business shows this time."""
    today = day_of(now, zone)
    moments = (_moment(today + timedelta(days=days), clock, zone) for days in (0, 1, 2))
    return next(moment for moment in moments if moment > now)


def _moment(day: Any, clock: str, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time.fromisoformat(clock), zone).astimezone(start_of(day, zone).tzinfo)


async def load_people(service: Service, user_ids: Sequence[int]) -> dict[int, Person]:
    """Return the people with these ids who exist."""
    database, ids = service.database, sorted(set(user_ids))
    users = await database.store(USERS).find({"_id": {"$in": ids}})
    stored = await database.store(PREFERENCES).find({"_id": {"$in": ids}})
    names = [address_id(id, channel) for id in ids for channel in CHANNELS]
    dead = {one["id"]: one for one in await database.store(ADDRESSES).find({"_id": {"$in": names}})}
    chosen = {one["id"]: one for one in stored}
    return {
        user["id"]: Person(
            user,
            _completed(chosen.get(user["id"])),
            {name: found for name in CHANNELS if (found := dead.get(address_id(user["id"], name))) is not None},
        )
        for user in users
    }


def _completed(stored: ReadOnlyRecord | None) -> NotificationPreferences:
    """Return preferences with the defaults for what was never chosen."""
    chosen = {name: value for name, value in (stored or {}).items() if value is not None}
    return cast(NotificationPreferences, {**PREFERENCES.blank, **PREFERENCES.defaults, **chosen})


def address_id(user_id: int, channel: str) -> str:
    """Return the `_id` of what is known of a person's address on a channel."""
    return f"{user_id}:{channel}"


async def read(req: Request) -> Record:
    """Return the caller's preferences, what the company has fixed, and where each channel reaches the caller."""
    company = await Company.load(req.service)
    person = (await load_people(req.service, [req.actor.user_id]))[req.actor.user_id]
    chosen: ReadOnlyRecord = person.preferences
    return {
        **{name: chosen[name] for name in PREFERENCES.fields},
        "always": sorted(company.always),
        "channels": [_reached(req.part(Channels), person, name) for name in CHANNELS],
    }


def _reached(channels: Channels, person: Person, name: str) -> Record:
    channel, dead = channels.get(name), person.dead.get(name)
    address = channel.address_of(person.user) if channel is not None else None
    since = dead["dead_since"] if dead is not None and dead["address"] == address else None
    return {"channel": name, "set_up": channel is not None, "address": address, "dead_since": since}


async def replace(req: Request) -> Record:
    """Replace the caller's preferences. Raises 40001 for what the company has fixed, and for a digest without a time."""
    body, company = req.body, await Company.load(req.service)
    chosen = body.get("kinds") or []
    faults = [
        FieldError(f"kinds[{at}].{channel}", "enum")
        for at, one in enumerate(chosen)
        for channel in CHANNELS
        if one[channel] == "off" and company.always_sends(one["kind"], channel)
    ]
    if len({one["kind"] for one in chosen}) < len(chosen):
        faults.append(FieldError("kinds", "uniqueItems"))
    if not body.get("digest_at") and any("digest" in one.values() for one in chosen):
        faults.append(FieldError("digest_at", "required"))
    for given, missing in (("quiet_from", "quiet_to"), ("quiet_to", "quiet_from")):
        if body.get(given) and not body.get(missing):
            faults.append(FieldError(missing, "required"))
    if faults:
        raise ValidationFailed(faults)
    values = {**PREFERENCES.defaults, **dict.fromkeys(PREFERENCES.fields.keys() - PREFERENCES.defaults.keys()), **body}
    await req.system_store(PREFERENCES).upsert(req.actor.user_id, values)
    return await read(req)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/notifications/preferences",
        read,
        summary="Read my notification preferences",
        access=SIGNED_IN,
        returns=OWN_PREFERENCES,
        tag="notification",
    ),
    route(
        "PUT /api/v1/notifications/preferences",
        replace,
        summary="Replace my notification preferences",
        title=("修改通知偏好", "Change my notification preferences"),
        access=SIGNED_IN,
        body=PREFERENCES.create,
        returns=OWN_PREFERENCES,
        tag="notification",
        description="Times are those of the business. What is chosen for `*` holds for all kinds that are not named; "
        "without a choice a message goes out by WeCom, and by e-mail to people who are not reached there.",
    ),
)
