"""Explains why a user may or may not make a request, with the functions that decide about real requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from plugins.api import (
    FORBIDDEN,
    NOT_FOUND,
    PUBLIC,
    SIGNED_IN,
    Actor,
    ApiError,
    ErrorKind,
    Message,
    Record,
    Refusal,
    Request,
    Route,
    route,
)
from plugins.api.errors import PASSWORD_CHANGE_REQUIRED, SUPER_ONLY, UNAUTHENTICATED, refusal
from plugins.api.ports import Router
from plugins.api.records import Catalogue
from plugins.api.values import Language
from plugins.rbac import messages
from plugins.rbac.directory import Directory
from plugins.rbac.explain_pass import explain_pass
from plugins.rbac.explain_scope import View
from plugins.rbac.explain_shapes import EXPLANATION, OWN_QUERY, QUERY
from plugins.rbac.policy import Policy, Rules
from plugins.rbac.records import MENUS, USERS

_PLACE = re.compile(r"\{\w+\}")


@dataclass(frozen=True)
class Verdict:
    """How the authorisation of a request ends: the error kind, or None if it is allowed."""

    kind: ErrorKind | None
    reasons: tuple[str, ...]


async def explain(req: Request) -> Record:
    """Return whether a user may make a request, and why. The user must lie within the caller's data scope."""
    return await _explain(req, await req.store(USERS).get(req.query["user_id"]))


async def explain_own(req: Request) -> Record:
    """Return whether the caller may make a request, and why. A record that they cannot see counts as missing."""
    user = await req.part(Directory).user(req.actor.user_id)
    if user is None:
        raise ApiError(UNAUTHENTICATED)
    explanation = await _explain(req, user)
    if explanation["missing"] and not await req.part(Policy).holds(req.actor, "system:role:list"):
        # only those who may list roles may learn which ones exist
        explanation["missing"] = [{**need, "roles": []} for need in explanation["missing"]]
    # the record is described only if the request itself would show it or not find it
    return explanation if explanation["code"] in (0, NOT_FOUND.code) else {**explanation, "record": None}


async def _explain(req: Request, user: Record) -> Record:
    case = await Case.of(req, user)
    verdict = await case.decide()
    collection = req.part(Catalogue).collections.get(case.route.collection) if case.route else None
    view = View(req, case.actor, await req.part(Policy).scope_of(case.actor), case.rules, collection)
    resource_id = req.query.get("resource_id") or case.own_id
    record = await view.record(resource_id) if resource_id else None
    if record is not None and verdict.kind is None:
        hidden = NOT_FOUND if record["visible"] is False else None
        verdict = Verdict(hidden, (*verdict.reasons, record["why"]))
    if resource_id and (verdict.kind == FORBIDDEN or (record is not None and not record["visible"])):
        passed = await explain_pass(req, case.actor, case.route, collection, resource_id)
        if passed is not None and case.is_passed(verdict):
            verdict, record = Verdict(None, (passed,)), {"visible": True, "why": passed}
    return {
        "user": case.describe_user(),
        "route": case.describe_route(),
        "allowed": verdict.kind is None,
        "code": verdict.kind.code if verdict.kind else 0,
        "reasons": list(verdict.reasons),
        "conditions": case.conditions(),
        "grants": list(case.grants()),
        "missing": list(case.missing()) if verdict.kind == FORBIDDEN else [],
        "data_scope": view.describe(),
        "record": record,
    }


@dataclass(frozen=True)
class Case:
    """One user and one request, with the rules that are in force."""

    req: Request
    user: Record
    actor: Actor
    rules: Rules
    route: Route | None
    own_id: str | None
    unmatched: ApiError | None

    @classmethod
    async def of(cls, req: Request, user: Record) -> Case:
        """Return the case that the query of `req` describes."""
        actor = await req.part(Directory).actor(user, "")
        rules = await req.part(Policy).rules()
        try:
            route, values = req.part(Router).match(req.query["method"], _path(req))
        except ApiError as error:
            return cls(req, user, actor, rules, None, None, error)
        id = values.get("id", "")
        return cls(req, user, actor, rules, route, None if id.startswith(("{", ":")) else id, None)

    async def decide(self) -> Verdict:
        """Return the outcome of the real request, by the same checks in the same order."""
        route = self.route
        if route is None:
            return await self._explain_no_route()
        if route.access == PUBLIC:
            return self._conclude(None, messages.PUBLIC_ROUTE)
        if self.user["status"] != "enabled":
            return self._conclude(UNAUTHENTICATED, messages.USER_DISABLED)
        kind = await refusal(self.actor, route, self.req.part(Policy))
        if kind == PASSWORD_CHANGE_REQUIRED:
            return self._conclude(kind, messages.MUST_CHANGE_PASSWORD)
        if kind == SUPER_ONLY:
            return self._conclude(kind, messages.FOR_SUPER_ONLY)
        if kind is not None:
            return Verdict(kind, tuple(await self._explain_forbidden()))
        if route.access == SIGNED_IN:
            return self._conclude(None, messages.LOG_IN_IS_ENOUGH)
        if self.actor.is_super:
            return self._conclude(None, messages.SUPER_BYPASS)
        reasons = [
            messages.ROLE_GRANTS.text(self._language, role=grant["role"]["name"], menu=grant["menu"]["title"])
            for grant in self.grants()
        ]
        return Verdict(None, tuple(reasons))

    def is_passed(self, verdict: Verdict) -> bool:
        """Return whether a pass for the record overrules this verdict."""
        passable = self.route is not None and self.route.passable
        return verdict.kind in (None, NOT_FOUND) or (verdict.kind == FORBIDDEN and passable)

    async def _explain_no_route(self) -> Verdict:
        error = self.unmatched or ApiError(NOT_FOUND)
        method, path = self.req.query["method"], _path(self.req)
        if "Allow" in error.headers:
            return self._conclude(error.kind, messages.WRONG_METHOD, methods=error.headers["Allow"])
        missing = messages.NO_ROUTE.text(self._language, method=method, path=path)
        return Verdict(error.kind, (missing, *await self._explain_withdrawn(method, path)))

    async def _explain_forbidden(self) -> list[str]:
        roles, declaring = self._roles(), list(self._menus_declaring())
        disabled = [role for role in roles if role["id"] not in self.actor.roles]
        held = self._explain_roles(roles, [role for role in roles if role not in disabled])
        would_grant = [role for role in disabled if any(role["id"] in menu["role_ids"] for menu in declaring)]
        api = self._api()
        return [
            held,
            *(messages.ROLE_DISABLED.text(self._language, role=role["name"]) for role in would_grant),
            *([] if declaring else [messages.NOT_DECLARED.text(self._language)]),
            *await self._explain_withdrawn(api["method"], api["path"]),
        ]

    def _explain_roles(self, roles: list[Record], enabled: list[Record]) -> str:
        if not roles:
            return messages.NO_ROLE.text(self._language)
        if not enabled:
            return messages.NO_ENABLED_ROLE.text(self._language)
        names = ", ".join(role["name"] for role in enabled)
        return messages.ROLES_DO_NOT_GRANT.text(self._language, roles=names)

    async def _explain_withdrawn(self, method: str, path: str) -> list[str]:
        """Return a reason for each withdrawn menu that declared this API."""
        menus = await self.req.system_store(MENUS).find({"withdrawn": True, "apis.method": method}, sort="order")
        return [
            messages.MENU_WITHDRAWN.text(self._language, menu=self._menu(menu)["title"])
            for menu in menus
            if any(api["method"] == method and _matches(api["path"], path) for api in menu["apis"])
        ]

    def conditions(self) -> list[Record]:
        """Return the refusals of the handler itself, which a request that is allowed may still get."""
        refusals = self.route.refusals if self.route else ()
        return [self._condition(one) for one in refusals if not (one.exempt_super and self.actor.is_super)]

    def _condition(self, refusal: Refusal) -> Record:
        when = refusal.hint.text(self._language) if refusal.hint else None
        reason = _PLACE.sub("…", refusal.message.text(self._language))
        return {"code": refusal.kind.code, "reason": reason, "when": when}

    def grants(self) -> Iterator[Record]:
        """Yield each enabled role → menu → API entry that allows the request."""
        for menu in self._menus_declaring():
            for role in self._roles():
                if role["id"] in self.actor.roles and role["id"] in menu["role_ids"]:
                    yield {"role": role, "menu": self._menu(menu), "api": self._api()}

    def missing(self) -> Iterator[Record]:
        """Yield each menu or button that would allow the request, with the roles that grant it."""
        for menu in self._menus_declaring():
            roles = [self.rules.roles[id] for id in sorted(menu["role_ids"]) if id in self.rules.roles]
            yield {"menu": self._menu(menu), "roles": roles}

    def _menus_declaring(self) -> Iterator[Record]:
        for menu in self.rules.menus.values():
            if self.route is not None and self._api() in (menu["apis"] or ()):
                yield menu

    def _api(self) -> Record:
        return {"method": self.route.method, "path": self.route.path} if self.route else {}

    def _roles(self) -> list[Record]:
        return [self.rules.roles[id] for id in sorted(self.user["role_ids"] or ()) if id in self.rules.roles]

    def _menu(self, menu: Record) -> Record:
        english = self._language == "en" and menu.get("title_en")
        return {**menu, "title": menu["title_en"] if english else menu["title"]}

    def describe_user(self) -> Record:
        """Return the user, with the roles held."""
        return {**self.user, "is_super": self.actor.is_super, "roles": self._roles()}

    def describe_route(self) -> Record | None:
        """Return the route, or None if no route matches."""
        route = self.route
        if route is None:
            return None
        return {
            "method": route.method,
            "path": route.path,
            "summary": route.summary,
            "access": "guarded" if route.guarded else route.access,
            "permission": route.access if route.guarded else None,
            "collection": route.collection or None,
        }

    def _conclude(self, kind: ErrorKind | None, reason: Message, **values: object) -> Verdict:
        return Verdict(kind, (reason.text(self._language, **values),))

    @property
    def _language(self) -> Language:
        return self.req.language


def _path(req: Request) -> str:
    path: str = req.query["path"]
    return path.partition("?")[0]


def _matches(template: str, path: str) -> bool:
    """Return whether a path equals the template, or fills in its placeholders."""
    wanted, given = template.split("/"), path.split("/")
    return len(wanted) == len(given) and all(
        part == other or part.startswith("{") for part, other in zip(wanted, given, strict=True)
    )


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/authorization/explain",
        explain,
        summary="Explain why a user may or may not do something",
        access="system:authorization:explain",
        query=QUERY,
        returns=EXPLANATION,
        refusals=(Refusal(NOT_FOUND, hint=messages.USER_OUTSIDE),),
    ),
    route(
        "GET /api/v1/auth/explain",
        explain_own,
        summary="Explain why I may or may not do something",
        access=SIGNED_IN,
        query=OWN_QUERY,
        returns=EXPLANATION,
        description="The same explanation as for administrators, about the caller. A record that the caller does "
        "not see is explained as one that does not exist.",
    ),
)
