"""Whether a paper is still what its record prints: for whoever holds it, by the code on it, without a log-in."""

from __future__ import annotations

from html import escape
from typing import cast

from plugins.api import NOT_FOUND, PUBLIC, Record, Refusal, Request, Response, Route, route, text
from plugins.api.errors import RATE_LIMITED
from plugins.api.reports import Papers
from plugins.api.requests import network_of
from plugins.print.messages import CHECK, NO_TOKEN, NUMBER, PAGE_ASKS, PAGE_NOTE, PAGE_TITLE, TOTAL, VERDICTS
from plugins.print.papers import TypesetPapers
from plugins.print.records import CHECKED
from plugins.print.tokens import Token, Verdict, read_token

_HTML = "text/html; charset=utf-8"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STYLE = (
    "body{font:16px/1.6 system-ui,sans-serif;color:#1d2939;background:#f2f4f7;margin:0;padding:24px 16px}"
    "main{max-width:420px;margin:0 auto;background:#fff;border-radius:12px;padding:24px;box-shadow:0 1px 4px #0002}"
    "h1{font-size:20px;margin:0 0 8px}p{margin:0 0 12px}label{display:block;margin-bottom:12px;font-size:14px}"
    "input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:10px;border:1px solid #98a2b3;border-radius:8px}"
    "button{width:100%;font:inherit;padding:11px;border:0;border-radius:8px;background:#1f3a5f;color:#fff}"
    "strong{display:block;padding:12px;border-radius:8px;margin-bottom:16px}small{color:#475467}"
    ".equal{background:#dcfae6;color:#074d31}.older{background:#fef0c7;color:#7a2e0e}.altered{background:#fee4e2;color:#912018}"
)
_NO_TOKEN = (Refusal(NOT_FOUND, hint=NO_TOKEN),)
_QUERY = {
    "number": text(max_length=100, nullable=False, description="As the paper says; nothing where it has none."),
    "total": text(
        max_length=40,
        nullable=False,
        example="1,172.94",
        description="As the paper says. With it or `number`, both are compared; without, only the record is.",
    ),
}


async def check(req: Request) -> Record:
    """Return what became of the paper with this token, and nothing else about it. Raises 40400 for no token."""
    return {"status": await _find_verdict(req)}


async def page(req: Request) -> Response:
    """Return the page that asks for number and total, or says what became of the paper."""
    token, _, _ = read_token(req.path["token"])
    asked = "number" in req.query or "total" in req.query
    verdict = await _find_verdict(req) if asked else None
    return Response(200, _write_page(req, token, verdict).encode(), _HEADERS, _HTML)


async def _find_verdict(req: Request) -> Verdict:
    papers = cast(TypesetPapers, req.part(Papers))
    return await papers.check(req, req.path["token"], req.query.get("number"), req.query.get("total"))


def _write_page(req: Request, token: Token, verdict: Verdict | None) -> str:
    language, printable = token.language, TypesetPapers.find(req, token.paper)
    fields = [
        f'<label>{label.text(language)}<input name="{name}" required maxlength="{_QUERY[name].rules["maxLength"]}" '
        f'autocomplete="off" value="{escape(req.query.get(name) or "")}"></label>'
        for name, label in (("number", NUMBER), ("total", TOTAL))
        if printable is not None and getattr(printable, name)
    ]
    said = f'<strong class="{verdict}">{VERDICTS[verdict].text(language)}</strong>' if verdict is not None else ""
    form = f'<form method="get">{"".join(fields)}<button>{CHECK.text(language)}</button></form>' if fields else ""
    asks = f"<p>{PAGE_ASKS.text(language)}</p>" if fields else ""
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><meta name="robots" content="noindex">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{PAGE_TITLE.text(language)}</title><style>{_STYLE}</style><main><h1>{PAGE_TITLE.text(language)}</h1>"
        f"{said}{asks}{form}<p><small>{PAGE_NOTE.text(language)}</small></p></main></html>"
    )


async def take_check(req: Request) -> None:
    """Count a check of this network. Raises 42900."""
    cast(TypesetPapers, req.part(Papers)).checks.take(network_of(req.remote_ip))


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/print/check/{token}",
        check,
        summary="Check whether a paper equals its record",
        title=("核验单据", "Check a paper"),
        access=PUBLIC,
        query=_QUERY,
        returns=CHECKED,
        attempt=take_check,
        errors=(RATE_LIMITED,),
        refusals=_NO_TOKEN,
    ),
    route(
        "GET /print/{token}",
        page,
        summary="The page that the code on a paper opens",
        title=("单据核验页", "The page that the code on a paper opens"),
        access=PUBLIC,
        query=_QUERY,
        bare=_HTML,
        attempt=take_check,
        refusals=_NO_TOKEN,
        tag="print",
    ),
)
