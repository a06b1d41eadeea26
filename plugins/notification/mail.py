"""The channel e-mail: one SMTP server, over TLS unless it is on this machine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPConnectError,
    SMTPException,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPServerDisconnected,
)

from plugins.notification.channels import Letter, Outcome, one_line
from plugins.notification.templates import RenderedMail

MAX_ADDRESS = 254
_SECONDS = 20.0
_LOCAL = ("localhost", "127.0.0.1", "::1")
# an address without quotes, comments and literal addresses; a domain with a dot, so no name of the inside
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@((?!-)[A-Za-z0-9-]{1,63}(?<!-)\.)+(?!-)[A-Za-z0-9-]{2,63}"
)
_IN_ADDRESSES = str.maketrans(dict.fromkeys('()<>[]:;@,\\"', " "))
_NO_MAILBOX = (550, 551, 553)
_POLICY = SMTP_POLICY.clone(cte_type="7bit", raise_on_defect=True)


def clean_address(given: str) -> str | None:
    """Return an address as SMTP takes it, its domain in ASCII; None if it is none that can be sent to."""
    local, at, domain = given.strip().rpartition("@")
    try:
        address = f"{local}{at}{domain.encode('idna').decode()}"
    except UnicodeError:
        return None
    return address if len(address) <= MAX_ADDRESS and _ADDRESS.fullmatch(address) else None


@dataclass(frozen=True)
class SmtpServer:
    """Where mail is handed in, and from whom it comes.

    `smtps://user:password@host:465?from=Tradewind <no-reply@example.com>` uses TLS from the start, `smtp://host:587?from=…`
    after STARTTLS; without TLS only on this machine. User, password and sender are percent-encoded.
    """

    host: str
    port: int
    tls: bool
    username: str
    password: str
    sender: Address

    @classmethod
    def parse(cls, url: str) -> SmtpServer:
        """Return the server of a setting. Raises ValueError with the part that is wrong."""
        parts = urlsplit(url)
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
            raise ValueError("the address of the mail server begins with smtps:// or smtp:// and has a host")
        name, address = parseaddr((parse_qs(parts.query).get("from") or [""])[0])
        known = clean_address(address)
        if known is None:
            raise ValueError("the address of the mail server needs ?from= with the sender's e-mail address")
        tls = parts.scheme == "smtps"
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        port = parts.port or (465 if tls else 587)
        return cls(parts.hostname, port, tls, user, password, Address(one_line(name), addr_spec=known))

    @property
    def start_tls(self) -> bool:
        """Whether TLS begins with STARTTLS."""
        return not self.tls and self.host not in _LOCAL


class Mailer:
    """Hands messages in, over connections that it keeps until `close`. It never sends to several people at once."""

    name = "email"

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        self._idle: list[SMTP] = []

    def address_of(self, user: Any) -> str | None:
        """Return the address of a user as it is stored, or None."""
        return user.get("email") or None

    def accepts(self, address: str) -> bool:
        """Return whether an address can be sent to."""
        return clean_address(address) is not None

    async def send(self, letter: Letter, mail: RenderedMail) -> Outcome:
        """Hand in one message; whatever happens is in the outcome."""
        address = clean_address(letter.address)
        if address is None:
            return Outcome("failed", "the address cannot be sent to", dead=True)
        try:
            message = self._message(letter, mail, address)
        except (ValueError, TypeError) as error:
            return Outcome("failed", one_line(f"{type(error).__name__}: {error}"))
        client: SMTP | None = None
        try:
            async with asyncio.timeout(_SECONDS):
                client = self._idle.pop() if self._idle else await self._connect()
                _, answer = await client.send_message(
                    message, sender=self._server.sender.addr_spec, recipients=[address]
                )
        except (SMTPException, OSError, TimeoutError) as error:
            if client is not None:
                client.close()
            return _outcome_of(error)
        self._idle.append(client)
        return Outcome("sent", one_line(answer))

    async def _connect(self) -> SMTP:
        server = self._server
        client = SMTP(
            hostname=server.host,
            port=server.port,
            use_tls=server.tls,
            start_tls=server.start_tls,
            username=server.username or None,
            password=server.password or None,
            timeout=_SECONDS,
        )
        try:
            await client.connect()
        except BaseException:
            client.close()
            raise
        return client

    def close(self) -> None:
        """Close the connections that wait."""
        while self._idle:
            self._idle.pop().close()

    def _message(self, letter: Letter, mail: RenderedMail, address: str) -> EmailMessage:
        message = EmailMessage(policy=_POLICY)
        message["From"] = self._server.sender
        # long names are folded without their quotes, so nothing in one may look like an address
        name = " ".join(_in_header(letter.name).translate(_IN_ADDRESSES).split())
        message["To"] = Address(name, addr_spec=address)
        message["Subject"] = _in_header(mail.subject)
        message["Date"] = format_datetime(letter.at)
        message["Message-ID"] = f"<{letter.id}@{self._server.sender.domain}>"
        message["Auto-Submitted"] = "auto-generated"  # no automatic replies (RFC 3834)
        message.set_content(mail.text)
        if mail.html:
            message.add_alternative(mail.html, subtype="html")
        return message


def _in_header(given: str) -> str:
    """Return a text for a header: the library decodes encoded words (RFC 2047) in it, and writes line breaks in them."""
    return one_line(given).replace("=?", "= ?")


def _outcome_of(error: Exception) -> Outcome:
    """Return what an error means: for the address, for the message, or for every message."""
    refused: Sequence[SMTPResponseException] = error.recipients if isinstance(error, SMTPRecipientsRefused) else ()
    if refused:
        code, answer = refused[0].code, one_line(f"{refused[0].code} {refused[0].message}")
        dead = code in _NO_MAILBOX and " 5.7." not in answer
        return Outcome("failed" if code >= 500 and code != 552 else "retry", answer, dead=dead)
    answer = one_line(f"{type(error).__name__}: {error}")
    down = isinstance(
        error, SMTPConnectError | SMTPServerDisconnected | SMTPAuthenticationError | OSError | TimeoutError
    )
    if isinstance(error, SMTPResponseException) and not down:
        return Outcome("failed" if error.code >= 500 else "retry", answer)
    return Outcome("retry", answer, down=True)
