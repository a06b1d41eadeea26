"""A stand-in for a mail server: it accepts every message and shows it on a page. For tests, and for trying it out.

`python -m plugins.commands.mail_simulator --port 8025 --page-port 8101`. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from html import escape

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

_KEPT = 200
_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Mail:
    """A message that was accepted: the addresses of its envelope, and its content."""

    sender: str
    recipient: str
    content: bytes

    @property
    def message(self) -> EmailMessage:
        """The parsed content."""
        parsed = message_from_bytes(self.content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)  # noqa: S101  by the policy
        return parsed

    def body(self, kind: str) -> str:
        """Return the text of the `plain` or `html` part, or an empty string."""
        part = self.message.get_body((kind,))
        return str(part.get_content()) if part is not None else ""


@dataclass
class MailSimulator:
    """`mails` are the accepted messages, the newest last.

    `refused` maps addresses to the replies by which they are refused. `broken` replaces the reply to every new message,
    or, if it is `drop`, closes the connection after a message was accepted and before that is said. `port` is set when
    it serves.
    """

    mails: deque[Mail] = field(default_factory=lambda: deque(maxlen=_KEPT))
    refused: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    port: int = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection (RFC 5321, without extensions)."""
        sender = recipient = ""
        try:
            await _say(writer, "220 stand-in for a mail server")
            while line := (await reader.readline()).decode(errors="replace").strip():
                command, _, argument = line.partition(" ")
                reply = "250 ok"
                match command.upper():
                    case "MAIL":
                        sender, recipient = _address_in(argument), ""
                        reply = self.broken if self.broken not in ("", "drop") else reply
                    case "RCPT":
                        recipient = _address_in(argument)
                        reply = self.refused.get(recipient, reply)
                    case "DATA":
                        await _say(writer, "354 end with a dot")
                        content = (await reader.readuntil(b"\r\n.\r\n"))[:-3]
                        self.mails.append(Mail(sender, recipient, content.replace(b"\r\n..", b"\r\n.")))
                        if self.broken == "drop":
                            return
                        reply = f"250 queued as {len(self.mails)}"
                    case "QUIT":
                        await _say(writer, "221 bye")
                        return
                await _say(writer, reply)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            with suppress(ConnectionError):
                writer.close()


async def _say(writer: asyncio.StreamWriter, reply: str) -> None:
    writer.write(f"{reply}\r\n".encode())
    await writer.drain()


def _address_in(argument: str) -> str:
    return argument.partition("<")[2].partition(">")[0]


class Page(RequestHandler):
    """`/`: what was accepted, the newest first."""

    def initialize(self, simulator: MailSimulator) -> None:
        """Tornado's constructor."""
        self.simulator = simulator

    def get(self) -> None:
        """Return the page."""
        self.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'")
        shown = "".join(_shown(one) for one in reversed(self.simulator.mails)) or "<p>还没有邮件 · No mail yet</p>"
        style = "body{font:16px/1.6 sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}"
        style += (
            "article{border:1px solid #ccc;border-radius:6px;padding:0 1rem 1rem;margin:1rem 0;overflow-wrap:anywhere}"
        )
        style += "iframe{width:100%;height:16rem;border:1px solid #eee}"
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mail</title><style>{style}</style>'
        self.finish(f"<!doctype html>{head}<h1>邮件（模拟） · Mail (stand-in)</h1>{shown}")


def _shown(mail: Mail) -> str:
    message = mail.message
    names = ("From", "To", "Subject", "Date", "Message-ID")
    heads = "".join(f"<b>{name}:</b> {escape(str(message[name] or ''))}<br>" for name in names)
    # in a frame without any right, so nothing of a message runs here
    html = mail.body("html")
    frame = f'<iframe sandbox srcdoc="{escape(html)}"></iframe>' if html else ""
    return f"<article><p>{heads}</p><pre>{escape(mail.body('plain'))}</pre>{frame}</article>"


@asynccontextmanager
async def receiving_mail(
    simulator: MailSimulator, port: int = 0, page_port: int | None = None
) -> AsyncIterator[MailSimulator]:
    """Serve `simulator` on loopback until the block is left; port 0 lets the system choose. No page without its port."""
    server = await asyncio.start_server(simulator.talk, "127.0.0.1", port, limit=_MAX_BYTES)
    simulator.port = server.sockets[0].getsockname()[1]
    pages = HTTPServer(Application([("/", Page, {"simulator": simulator})], log_function=lambda _: None))
    if page_port is not None:
        pages.listen(page_port, "127.0.0.1")
    try:
        yield simulator
    finally:
        server.close()
        pages.stop()


async def serve(options: argparse.Namespace) -> None:
    """Run until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with receiving_mail(MailSimulator(), options.port, options.page_port):
        await stopping.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m plugins.commands.mail_simulator", description="A stand-in for a mail server."
    )
    parser.add_argument("--port", type=int, default=8025)
    parser.add_argument("--page-port", type=int, default=8101)
    asyncio.run(serve(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
