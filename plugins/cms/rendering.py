"""The HTML of articles: cleaned on the way in, in a worker process unless it is short and plain."""

from __future__ import annotations

from plugins.api import Lane, Request, TooCostly, WorkFailed, invalid
from plugins.cms.cleaning import clean
from plugins.cms.complexity import TooComplex, most_elements
from plugins.cms.records import MAX_HTML

_SHORT, _FEW_ELEMENTS = 4000, 5000  # cleaned in under 5 ms whatever it holds, so that no process is worth it


class Renderer:
    """Makes the HTML of articles; `lane` is where the work is done that takes its time."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    async def from_html(self, html: str, req: Request | None = None) -> str:
        """`html` without anything that could run or leave its place; 40001 when that grows or costs too much."""
        if len(html) > _SHORT:
            return await self._made("content", "plugins.cms.cleaning:clean_html", html, req)
        try:
            if most_elements(html) <= _FEW_ELEMENTS:
                return clean(html)
        except TooComplex as error:
            raise invalid("content", "cost") from error
        return await self._made("content", "plugins.cms.cleaning:clean_html", html, req)

    async def from_markdown(self, source: str, req: Request | None = None) -> str:
        """The HTML of `source` (CommonMark, with tables and strikethrough), sanitised as other HTML."""
        return await self._made("source", "plugins.cms.cleaning:clean_markdown", source, req)

    async def _made(self, field: str, function: str, text: str, req: Request | None) -> str:
        try:
            html = (await self._lane.run(function, text.encode(), request=req)).decode()
        except TooCostly as error:
            raise invalid(field, "cost") from error
        except WorkFailed as failure:
            raise _refusal(field, failure) from failure
        # a character may become six: "<" is stored as "&lt;", and Markdown as tags
        if len(html) > MAX_HTML:
            raise invalid(field, "maxLength")
        return html


def _refusal(field: str, failure: WorkFailed) -> Exception:
    return invalid(field, "cost") if failure.kind == TooComplex.__name__ else failure
