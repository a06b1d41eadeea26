"""Channels beside the inbox: what is sent on one, what came back, and the cards of WeCom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from plugins.api import Service
from plugins.auth.api import NoSuchMember, WecomMessages, WecomUnavailable
from plugins.notification.messages import OPEN
from plugins.notification.templates import RenderedMail

CHANNELS = ("email", "wecom")
MAX_ANSWER = 300


def one_line(given: str) -> str:
    """Return a text without line breaks and characters that cannot be seen, for headers and logs; long ones are cut."""
    return " ".join("".join(one if one.isprintable() else " " for one in given).split())[:MAX_ANSWER]


@dataclass(frozen=True)
class Letter:
    """A message to one person on one channel. `id` is the same whenever it is repeated, `link` is absolute."""

    id: str
    address: str
    name: str
    language: Literal["zh", "en"]
    link: str | None
    at: datetime


@dataclass(frozen=True)
class Outcome:
    """What became of an attempt, and the answer of the other side.

    `dead`: there is no such address. `down`: no message can be sent at present.
    """

    state: Literal["sent", "failed", "retry"]
    answer: str
    dead: bool = False
    down: bool = False


class Channel(Protocol):
    """A way to a person."""

    name: str

    def address_of(self, user: Any) -> str | None:
        """Return where a user can be reached, or None."""

    def accepts(self, address: str) -> bool:
        """Return whether it is an address at all."""

    async def send(self, letter: Letter, mail: RenderedMail) -> Outcome:
        """Send once; whatever happens is in the outcome."""

    def close(self) -> None:
        """Close what waits for the next message."""


class Channels(dict[str, Channel]):
    """The channels that are set up in this process, by name."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        super().__init__({one.name: one for one in channels})


class WecomCards:
    """The channel WeCom: cards of the application whose button opens what a message is about."""

    name = "wecom"

    def __init__(self, service: Service) -> None:
        self._messages = service.part(WecomMessages)

    def address_of(self, user: Any) -> str | None:
        """Return the WeCom member that a user is bound to, or None."""
        return user.get("wecom_user_id") or None

    def accepts(self, address: str) -> bool:
        """Return whether it names one member: WeCom separates several by a bar, and means everybody by `@all`."""
        return "|" not in address and not address.startswith("@")

    async def send(self, letter: Letter, mail: RenderedMail) -> Outcome:
        """Send one card."""
        button = OPEN.text(letter.language)
        try:
            answer = await self._messages.send(letter.address, mail.subject, mail.text, letter.link, button)
        except NoSuchMember as error:
            return Outcome("failed", str(error), dead=True)
        except WecomUnavailable as error:
            return Outcome("retry", one_line(str(error)), down="errcode" not in error.reason)
        return Outcome("sent", one_line(answer))

    def close(self) -> None:
        """Nothing waits."""
