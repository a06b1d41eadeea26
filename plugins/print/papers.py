"""Makes papers: reads the record, chooses the template, and has a worker process typeset it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from plugins.api import NOT_FOUND, ApiError, Message, Option, Request, Response, Service, invalid, obj, text
from plugins.api.data import ALL_ROWS
from plugins.api.errors import INVALID, TOO_LARGE, UNAVAILABLE, FieldError, ValidationFailed
from plugins.api.fields import Checker
from plugins.api.ports import OptionValues, RateLimit
from plugins.api.records import Catalogue
from plugins.api.reports import Papers, Printable
from plugins.api.requests import SYSTEM, Signatures
from plugins.api.values import Language, ReadOnlyRecord
from plugins.api.workers import Confined, Lane, TooCostly, WorkFailed
from plugins.print.content import Content, content_of, digest_of, example_of
from plugins.print.messages import NOT_INSTALLED, TEMPLATE_FAILS, TOO_COSTLY
from plugins.print.records import STANDARD, TEMPLATES
from plugins.print.tokens import Token, Verdict, read_token

PDF = "application/pdf"
_CHECKS_A_MINUTE = 60
_MAX_FAULT = 500
_EXAMPLE_LINK = "https://example.com/print/paper"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
_TOKEN_HEADER = "X-Print-Token"
_ADDRESS = "print_check_address"
_COMPANY: Mapping[str, Option] = {
    "name": Option("print_company_name", text(max_length=200), Message("打印抬头：公司名称", "Letterhead: name")),
    "address": Option("print_company_address", text(max_length=300), Message("打印抬头：地址", "Letterhead: address")),
    "contact": Option(
        "print_company_contact",
        text(max_length=300),
        Message("打印抬头：电话、邮箱", "Letterhead: phone, e-mail"),
    ),
    "bank": Option("print_company_bank", text(max_length=300), Message("打印的收款账户", "Bank account on papers")),
}
OPTIONS = (
    *_COMPANY.values(),
    Option(
        _ADDRESS,
        text(max_length=200, pattern=r"^$|^https?://[^\s/?#]+$", default="", nullable=False),
        Message(
            "核验二维码所用的本系统网址，如 https://erp.example.com；为空则不打印二维码",
            "Address of this service in the code by which papers are checked, such as https://erp.example.com; without it "
            "papers have no code",
        ),
    ),
)


class TypesetPapers(Papers):
    """Makes papers in worker processes, and says whether one is still what its record prints."""

    def __init__(self, service: Service, lane: Lane) -> None:
        self._lane = lane
        self._signatures = Signatures(service.signing_secrets)
        self.checks = RateLimit(_CHECKS_A_MINUTE, service.settings.rate_limits == "on")

    async def print(self, req: Request, printable: Printable) -> Response:
        """Return the paper as a PDF; its token is also in the header `X-Print-Token`."""
        language: Language = req.query.get("language") or req.language
        name, source = await _choose_template(req, printable, language)
        record = await printable.find(req)
        content = await content_of(req, printable, record, language)
        token = Token(printable.name, _about(req, printable, record), language, digest_of(content))
        signed = token.sign(self._signatures, content["number"], content["values"].get(printable.total, ""))
        address = await req.part(OptionValues).value(_ADDRESS)
        link = f"{address}/print/{signed}" if address else ""
        try:
            pdf = await self._typeset(req, source, content, link)
        except WorkFailed as failure:
            filled = TEMPLATE_FAILS.filled(name=name, fault=failure.text[:_MAX_FAULT])
            raise ApiError(INVALID, filled) from failure
        headers = {"Content-Disposition": f'attachment; filename="{_file_name(content)}"', _TOKEN_HEADER: signed}
        return Response(200, pdf, headers, PDF)

    async def preview(self, req: Request, values: ReadOnlyRecord) -> bytes:
        """Return a template with examples in place of a record's values.

        Raises 40001 for a template that fails, and for an unknown paper.
        """
        printable = self.find(req, values["paper"])
        if printable is None:
            raise invalid("paper", "reference")
        content = example_of(printable, values["language"])
        try:
            return await self._typeset(req, values["source"], content, _EXAMPLE_LINK)
        except WorkFailed as failure:
            fault = FieldError("source", f"template: {failure.text[:_MAX_FAULT]}")
            raise ValidationFailed([fault]) from failure

    async def check(self, req: Request, text: str, number: str | None, total: str | None) -> Verdict:
        """Return what became of the paper with this token; `number` and `total` are compared if one of them is given.

        Raises 40400 for a text that has not the form of a token.
        """
        token, own, whole = read_token(text)
        printable = self.find(req, token.paper)
        if printable is None or not token.agrees(self._signatures, own):
            return "altered"
        given = number is not None or total is not None
        if given and not token.agrees(self._signatures, whole, number or "", total or ""):
            return "altered"
        try:
            asking = _asking(req, printable, token)
            content = await content_of(asking, printable, await printable.find(asking), token.language)
        except ApiError as error:
            if error.kind not in (NOT_FOUND, INVALID):
                raise
            return "older"  # deleted, or no longer printed in this way
        return "equal" if digest_of(content) == token.digest else "older"

    @staticmethod
    def find(req: Request, name: str) -> Printable | None:
        """Return what is printed under this name."""
        return next((one for one in req.part(Catalogue).of_kind(Printable) if one.name == name), None)

    async def _typeset(self, req: Request, source: str, content: Content, link: str) -> bytes:
        paper = {**content, "company": await _describe_company(req, content["language"])}
        data = orjson.dumps({"source": source, "paper": paper, "link": link})
        try:
            return await self._lane.run("plugins.print.typesetting:typeset", data, request=req)
        except TooCostly as error:
            raise ApiError(TOO_LARGE, TOO_COSTLY) from error
        except WorkFailed as failure:
            if failure.kind == "NotInstalled":
                raise ApiError(UNAVAILABLE, NOT_INSTALLED.filled(what=failure.text)) from failure
            raise


def _file_name(content: Content) -> str:
    name = _NOT_IN_NAMES.sub("", f"{content['kind']}-{content['number']}")
    return f"{name.strip('-')}.pdf"


async def _choose_template(req: Request, printable: Printable, language: Language) -> tuple[str, str]:
    """Return name and source of the template that the query names, or the preferred one. Raises 40001."""
    name = req.query.get("template")
    if name != STANDARD:
        asked: dict[str, object] = {"preferred": True} if name is None else {"name": name}
        wanted = {"paper": printable.name, "language": language, **asked}
        found = await req.system_store(TEMPLATES).find(wanted, sort="-updated_at", limit=1)
        if found:
            return found[0]["name"], found[0]["source"]
        if name is not None:
            raise invalid("template", "reference")
    return STANDARD, standard_source()


@cache
def standard_source() -> str:
    """Return the built-in template."""
    return (files("plugins.print") / "standard.typ").read_text(encoding="utf-8")


async def _describe_company(req: Request, language: Language) -> dict[str, Any]:
    options = req.part(OptionValues)
    company = {part: await options.value(option.key) or "" for part, option in _COMPANY.items()}
    told = [
        {"name": one.key, "label": one.on_papers.text(language), "value": await options.value(one.key) or ""}
        for one in req.part(Catalogue).options
        if one.on_papers is not None
    ]
    return {**company, "name": company["name"] or await options.value("site_name") or "", "told": told}


def _about(req: Request, printable: Printable, record: ReadOnlyRecord) -> tuple[str, ...]:
    """Return the id of what is printed, or the parameters by which it was read; the record has those by default."""
    if not printable.query:
        return (str(req.path["id"]),)
    values = (req.query.get(name) or record.get(name) for name in printable.query)
    return tuple(str(value) if value is not None else "" for value in values)


def _asking(req: Request, printable: Printable, token: Token) -> Request:
    """Return the request of the service itself for what a token is about."""
    asking = replace(req, actor=SYSTEM, scope=ALL_ROWS, query={})
    if not printable.query:
        return replace(asking, path={"id": token.about[0]})
    given = {name: value for name, value in zip(printable.query, token.about, strict=False) if value}
    query: Any = Checker(obj(None, printable.query))(given)
    return replace(asking, query=query)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the papers."""
    lane = service.part(Confined).lane("print", cpu_seconds=10, seconds=20, each=2)
    service.provide(Papers, TypesetPapers(service, lane))
    yield
