"""A server that sends by mail and WeCom to stand-ins, and the steps of its tests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from plugins.api import utc_now
from plugins.boot.runtime import Running
from plugins.commands.mail_simulator import MailSimulator
from plugins.commands.wecom_simulator import Simulator
from plugins.notification.channel_records import DELIVERIES
from plugins.notification.sending import Sender
from plugins.rbac.api import USERS
from plugins.testing import Client, People, expect, unique
from tests.api.notification.inboxes import AT, send


@dataclass
class Outside:
    """The server and its stand-ins."""

    running: Running
    mail: MailSimulator
    wecom: Simulator
    people: People

    async def person(self, member: str = "", **fields: Any) -> Client:
        """A person with an e-mail address of their own, perhaps bound to a member of WeCom."""
        given = {"email": f"{unique('reader')}@example.com", **fields}
        user = await self.people.account(**given)
        if member:
            self.wecom.members = {**self.wecom.members, member: member}
            await self.running.service.database.store(USERS).update(user["id"], {"wecom_user_id": member})
        client = await self.people.admin.log_in(user["username"])
        client.user["email"] = given["email"]
        return client

    async def notify(self, reader: Client, **values: Any) -> str:
        """Put a message into the inbox of a person; return its id."""
        await send(self.running, [reader.user["userId"]], **values)
        return str(expect(await reader.get(AT))["items"][0]["id"])

    async def deliver(self) -> None:
        """Send what is due."""
        await self.running.service.part(Sender).run()

    async def pass_time(self, reader: Client) -> None:
        """Let what waits for a person be due."""
        self.running.service.part(Sender).forget_pauses()
        past = {"$set": {"next_at": utc_now() - timedelta(seconds=1)}}
        mine = {"user_id": reader.user["userId"], "state": "waiting"}
        await self.running.service.database.store(DELIVERIES).update_many(mine, past)

    async def why(self, reader: Client, message: str, channel: str = "email") -> dict[str, Any]:
        """What became of a message on a channel."""
        told = expect(await reader.get(f"{AT}/{message}/why"))["channels"]
        return next(one for one in told if one["channel"] == channel)

    async def prefer(self, reader: Client, email: str, **more: Any) -> None:
        """Choose for all kinds of messages."""
        kinds = [{"kind": "*", "email": email, "wecom": "on"}]
        expect(await reader.put(f"{AT}/preferences", {"kinds": kinds, **more}))

    def mails_to(self, reader: Client) -> list[Any]:
        """The messages that arrived at a person's address."""
        return [one for one in self.mail.mails if one.recipient == reader.user["email"]]

    def cards_to(self, member: str) -> list[dict[str, Any]]:
        """The messages that arrived at a member of WeCom."""
        return [one for one in self.wecom.messages if one["touser"] == member]
