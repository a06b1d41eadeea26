"""The templates of e-mails over HTTP, and the one by which a message is written."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict

from plugins.api import Record, Request, Route, Service, crud, route
from plugins.api.data import CachedSnapshot
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.records import Dictionaries
from plugins.api.values import Language
from plugins.notification.channel_records import EVERY_KIND, PREVIEW, RENDERED, TEMPLATES
from plugins.notification.messages import MAIL_HTML, MAIL_TEXT, WELCOME, WELCOME_BODY
from plugins.notification.record_types import NotificationTemplate
from plugins.notification.templates import MailTemplate, RenderedMail, TemplateRefused, check, render

_AT = "/api/v1/notifications/templates"
log = logging.getLogger("tradewind.notification")
_SOURCES = ("subject", "text", "html")


class Templates:
    """The templates in force on this instance; they are reloaded after a change on any instance."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known = CachedSnapshot(self._load)
        service.database.changes.listen(TEMPLATES.name, self._known.invalidate)

    async def _load(self) -> Mapping[tuple[str, str], MailTemplate]:
        rows = await self._service.database.store(TEMPLATES).find()
        return {(row["kind"], row["language"]): MailTemplate(row["subject"], row["text"], row["html"]) for row in rows}

    async def render(
        self, kind: str, language: Language, values: Mapping[str, str], *, plain: bool = False
    ) -> RenderedMail:
        """Return a message as an e-mail: by the template of its kind, of every kind, or ours; `plain` without any."""
        if plain:
            return RenderedMail(values["title"], values["body"], None)
        kinds = (await self._service.part(Dictionaries).current()).get("notification_kind", {})
        given = {**values, "kind": kinds[kind].label.text(language) if kind in kinds else kind}
        known = await self._known.current()
        chosen = known.get((kind, language)) or known.get((EVERY_KIND, language))
        if chosen is not None:
            try:
                return render(chosen, given)
            except TemplateRefused as refused:
                log.warning("a template of notifications is not used", extra={"kind": kind, "fault": str(refused)})
        return render(_ours(language), given)


def _ours(language: Language) -> MailTemplate:
    return MailTemplate("{{ title }}", MAIL_TEXT.text(language), MAIL_HTML.text(language))


async def create(req: Request) -> NotificationTemplate:
    """Create a template. Raises 40001 for what a template may not have."""
    _check(req.body)
    return await req.store(TEMPLATES).create(req.body)


async def update(req: Request) -> NotificationTemplate:
    """Change a template, with the same checks."""
    values = dict(req.body)
    version = values.pop("version")
    _check(values)
    return await req.store(TEMPLATES).update(req.path["id"], values, version=version)


async def preview(req: Request) -> Record:
    """Return a template with an example filled in. Raises 40001 for what a template may not have."""
    _check(req.body)
    title, body = WELCOME.text(req.language), WELCOME_BODY.text(req.language)
    values = {"title": title, "body": body, "link": "https://example.com/", "name": req.actor.name, "kind": title}
    return asdict(render(MailTemplate(*(req.body.get(name) for name in _SOURCES)), values))


def _check(values: Mapping[str, object]) -> None:
    faults = []
    for name in _SOURCES:
        try:
            check(str(values.get(name) or ""))
        except TemplateRefused as refused:
            faults.append(FieldError(name, f"template: {refused}"))
    if faults:
        raise ValidationFailed(faults)


ROUTES: tuple[Route, ...] = (
    *crud(TEMPLATES, at=_AT, resource="notification:template", create=create, update=update),
    route(
        "POST /api/v1/notifications/templates/preview",
        preview,
        summary="Show an e-mail template with an example filled in",
        title=("预览邮件模板", "Preview"),
        access="notification:template:preview",
        body=PREVIEW,
        returns=RENDERED,
    ),
)
