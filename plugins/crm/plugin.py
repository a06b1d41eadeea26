"""Customer relations: from the first lead to the last payment (SPEC 4.4, CONTRACT 7)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from plugins.api import (
    CONFLICT,
    DUPLICATE,
    FORBIDDEN,
    INVALID,
    MEDIA_TYPE,
    NOT_FOUND,
    REFUSES_OWN,
    STALE,
    TOO_LARGE,
    Collection,
    Confined,
    Field,
    Handler,
    Jobs,
    Menu,
    Message,
    Option,
    Plugin,
    Refusal,
    Route,
    Service,
    conflicts,
    crud,
    integer,
    route,
)  # fmt: skip
from plugins.crm import (
    bodies,
    contacts,
    contracts,
    customer_export,
    customers,
    demo,
    duplicates,
    follow_ups,
    imports,
    leads,
    messages,
    nearby,
    opportunities,
    payment_plans,
    payments,
    pool,
    reminders,
)  # fmt: skip
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS, VERSION_BODY
from plugins.crm.dashboards import DASHBOARDS
from plugins.crm.dictionaries import DICTIONARIES
from plugins.crm.import_records import FORM, IMPORT_ROWS, IMPORT_SUMMARY, IMPORTS
from plugins.crm.import_run import resume
from plugins.crm.lanes import Lanes
from plugins.crm.pool import CLAIMANTS
from plugins.crm.records import CONTACTS, CUSTOMERS, FOLLOW_UPS, LEADS, OPPORTUNITIES
from plugins.crm.settings import CrmSettings
from plugins.crm.states import CONTRACT_STATES, LEAD_STATES, OPPORTUNITY_STAGES

AT = "/api/v1/crm"
_CUSTOMERS = f"{AT}/customers"
# a person with whom a customer was shared for reading may change nothing of it
_READ_ONLY = Refusal(FORBIDDEN, messages.READ_ONLY, spares_super=True)
_changes: dict[str, Any] = {"tag": "crm", "errors": (DUPLICATE, STALE, INVALID)}
# a change of the owner takes the permission of the route that is there for it
_NO_TRANSFER = Refusal(FORBIDDEN, messages.NO_TRANSFER, spares_super=True)
_PLANNED = conflicts(messages.OVERPLANNED, messages.WRONG_STATE)
_REPLANNED = (*_PLANNED, *conflicts(messages.PLAN_PAID))


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Hear how approvals end; return customers to the pool; go on with imports; have tables read and written."""
    settings, jobs = service.settings_of(CrmSettings), service.part(Jobs)
    service.provide(Lanes, Lanes.of(service.part(Confined)))
    service.events.listen(contracts.DECISION_EVENT, partial(contracts.after_approval, service))
    jobs.every(settings.crm_pool_seconds, "crm.pool", partial(pool.return_neglected, service))
    jobs.every(settings.crm_reminder_seconds, "crm.reminders", partial(reminders.remind, service))
    jobs.every(settings.crm_import_resume_seconds, "crm.imports", partial(resume, service))
    yield


def _refusals(*states: Message | Refusal) -> tuple[Refusal, ...]:
    """What a change may be refused for: the person may only read the record, or its state does not allow it."""
    return (_READ_ONLY, *(one if isinstance(one, Refusal) else Refusal(CONFLICT, one) for one in states))


def records(
    of: Collection,
    path: str,
    noun: str,
    module: Any,
    refusals: Mapping[str, tuple[Refusal, ...]] | None = None,
    asks: tuple[str, ...] = (),
    **options: Any,
) -> tuple[Route, ...]:
    """List, read, create, change and delete, by the handlers of the noun's module; `refusals` by action."""
    at = f"{AT}/{path}"
    resource = options.setdefault("resource", f"crm:{path.removesuffix('s')}")
    only = options.pop("only", ("list", "read", "delete"))
    made = {"read": module.read} if hasattr(module, "read") else {}
    refused = {name: (_READ_ONLY, *(refusals or {}).get(name, ())) for name in ("create", "update", "delete")}
    routes = crud(of, at=at, noun=noun, only=only, delete=module.delete, refusals_of={"delete": refused["delete"]}, asks=asks,
                  **made, **options)  # fmt: skip
    write: dict[str, Any] = {"returns": of.read, "collection": of.name, **_changes}
    create = route(f"POST {at}", module.create, summary=f"Create a {noun}", access=f"{resource}:create", body=of.create,
                   refusals=refused["create"], asks=asks, **write)  # fmt: skip
    if not hasattr(module, "update"):
        return (*routes, create)
    change = route(f"PATCH {at}/{{id}}", module.update, summary=f"Change a {noun}", access=f"{resource}:update",
                   body=of.update, refusals=refused["update"], asks=asks, **write)  # fmt: skip
    return (*routes, create, change)


def action(
    of: Collection,
    path: str,
    name: str,
    handler: Handler,
    summary: str,
    body: Field | None,
    *states: Message | Refusal,
    **options: Any,
) -> Route:
    """`POST /…/{id}/<name>`, guarded by `crm:<entity>:<name>`, which answers the record; `states` refuse it."""
    given: dict[str, Any] = {
        **_changes,
        "returns": of.read,
        "collection": of.name,
        "refusals": _refusals(*states),
        **options,
    }
    access = f"crm:{of.title.lower()}:{name}"
    return route(f"POST {AT}/{path}/{{id}}/{name}", handler, summary=summary, access=access, body=body, **given)


plugin = Plugin(
    name="crm",
    title=Message("客户关系", "Customers"),
    requires=("rbac", "system"),
    settings=CrmSettings,
    start=start,
    demo=demo.load,
    collections=(CUSTOMERS, CONTACTS, LEADS, OPPORTUNITIES, FOLLOW_UPS, CONTRACTS, PLANS, PAYMENTS, CLAIMANTS, IMPORTS,
                 IMPORT_ROWS),
    biz_types={"CUSTOMER": CUSTOMERS, contracts.BIZ_TYPE: CONTRACTS},
    state_machines=(LEAD_STATES, OPPORTUNITY_STAGES, CONTRACT_STATES),
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    routes=(
        # -- customers
        route(f"GET {_CUSTOMERS}/pool", pool.list_pool, summary="List the public pool", access="crm:customer:claim", paged=True,
              query=CUSTOMERS.list_query, returns=CUSTOMERS.read, tag="crm"),
        route(f"GET {_CUSTOMERS}/duplicates", duplicates.find, summary="Find customers with the same name or phone",
              access="crm:customer:list", paged=True, query=duplicates.QUERY, returns=duplicates.CANDIDATE, tag="crm",
              collection=CUSTOMERS.name),
        *records(CUSTOMERS, "customers", "customer", customers,
                 {"update": (_NO_TRANSFER,), "delete": conflicts(messages.HAS_BUSINESS)}),
        route(f"GET {_CUSTOMERS}/nearby", nearby.find, summary="List the customers near a place", access="crm:customer:list",
              paged=True, query=nearby.QUERY, returns=nearby.NEARBY, tag="crm", collection=CUSTOMERS.name,
              description=nearby.DESCRIPTION),
        action(CUSTOMERS, "customers", "claim", pool.claim, "Claim a customer from the pool", None, collection="",
               refusals=(Refusal(NOT_FOUND, when=messages.NOT_FOR_YOU),
                         *conflicts(messages.NOT_IN_POOL, messages.CLAIM_LIMIT))),
        action(CUSTOMERS, "customers", "release", pool.release, "Release a customer to the pool", None, messages.IN_POOL),
        action(CUSTOMERS, "customers", "transfer", customers.transfer, "Give a customer to another owner", bodies.TRANSFER,
               messages.SAME_OWNER),
        route(f"POST {_CUSTOMERS}/transfer", customers.transfer_many, summary="Give several customers to another owner",
              access="crm:customer:transfer", body=bodies.TRANSFER_MANY, returns=bodies.TRANSFERRED,
              refusals=_refusals(messages.SAME_OWNER), **_changes),
        route(f"PUT {_CUSTOMERS}/{{id}}/collaborators", customers.share, summary="Set who works on a customer with its owner",
              access="crm:customer:share", body=bodies.COLLABORATORS, returns=CUSTOMERS.read, collection=CUSTOMERS.name,
              refusals=_refusals(), **_changes),
        route(f"GET {_CUSTOMERS}/export", customer_export.export, summary="Export customers as a table",
              access="crm:customer:export", query=customer_export.QUERY, tag="crm", bare=", ".join(customer_export.MEDIA.values())),
        route(f"POST {_CUSTOMERS}/import", imports.start, summary="Import customers from a table", access="crm:customer:import",
              streamed=True, form=FORM, returns=IMPORTS.read, tag="crm", errors=(INVALID, MEDIA_TYPE, TOO_LARGE)),
        route(f"GET {_CUSTOMERS}/imports", imports.list_imports, summary="List imports", access="crm:customer:import",
              paged=True, query=IMPORTS.list_query, returns=IMPORT_SUMMARY, tag="crm"),
        route(f"GET {_CUSTOMERS}/imports/{{id}}", imports.read, summary="Read how far an import is",
              access="crm:customer:import", returns=IMPORTS.read, tag="crm", collection=IMPORTS.name),
        # -- around a customer
        *records(CONTACTS, "contacts", "contact", contacts),
        *records(LEADS, "leads", "lead", leads, {"update": conflicts(messages.NO_SUCH_STEP)}),
        action(LEADS, "leads", "convert", leads.convert, "Make a customer, a contact and an opportunity of a lead",
               bodies.CONVERT, messages.LEAD_CLOSED, returns=bodies.CONVERTED),
        *records(OPPORTUNITIES, "opportunities", "opportunity", opportunities,
                 {"update": conflicts(messages.OPPORTUNITY_CLOSED, messages.OPPORTUNITY_FIXED, messages.HAS_CONTRACTS),
                  "delete": conflicts(messages.HAS_CONTRACTS)},
                 plural="opportunities", resource="crm:opportunity"),
        action(OPPORTUNITIES, "opportunities", "advance", opportunities.advance, "Move an opportunity to a stage", bodies.ADVANCE,
               messages.OPPORTUNITY_CLOSED),
        action(OPPORTUNITIES, "opportunities", "win", opportunities.win, "Close an opportunity as won", bodies.WIN,
               messages.OPPORTUNITY_CLOSED),
        action(OPPORTUNITIES, "opportunities", "lose", opportunities.lose, "Close an opportunity as lost", bodies.LOSE,
               messages.OPPORTUNITY_CLOSED),
        *records(FOLLOW_UPS, "follow-ups", "follow-up", follow_ups),
        # -- money
        *records(CONTRACTS, "contracts", "contract", contracts,
                 {"update": conflicts(messages.CONTRACT_FIXED), "delete": conflicts(messages.CONTRACT_FIXED)}),
        action(CONTRACTS, "contracts", "submit", contracts.submit, "Submit a contract for approval", VERSION_BODY,
               messages.WRONG_STATE, asks=(contracts.REQUESTED_EVENT,)),
        action(CONTRACTS, "contracts", "withdraw", contracts.withdraw, "Take a contract back from approval", VERSION_BODY,
               messages.WRONG_STATE),
        action(CONTRACTS, "contracts", "approve", contracts.approve, "Approve a contract", VERSION_BODY,
               messages.WRONG_STATE, REFUSES_OWN),
        action(CONTRACTS, "contracts", "reject", contracts.reject, "Reject a contract", bodies.REJECT,
               messages.WRONG_STATE, REFUSES_OWN),
        action(CONTRACTS, "contracts", "complete", contracts.complete, "Close a contract that was fulfilled", VERSION_BODY,
               messages.WRONG_STATE),
        action(CONTRACTS, "contracts", "terminate", contracts.terminate, "End a contract before its time", bodies.TERMINATE,
               messages.WRONG_STATE),
        route(f"GET {AT}/payment-plans", payment_plans.list_plans, summary="List payment plans", access="crm:payment-plan:list",
              paged=True, query=payment_plans.LIST_QUERY, returns=PLANS.read, tag="crm", collection=PLANS.name),
        *records(PLANS, "payment-plans", "payment plan", payment_plans,
                 {"create": _PLANNED, "update": _REPLANNED, "delete": _REPLANNED},
                 only=("read", "delete")),
        *records(PAYMENTS, "payments", "payment", payments,
                 {"create": conflicts(messages.OVERPAID, messages.NOT_PAYABLE)}, asks=(payments.DATED_EVENT,)),
    ),
    menus=(
        Menu("crm", Message("客户管理", "CRM"), path="/crm", icon="lucide:handshake", order=100),
        Menu("crm.customer", Message("客户", "Customers"), path="/crm/customers", parent="crm", resource="crm:customer",
             icon="lucide:building-2", order=1),
        Menu("crm.contact", Message("联系人", "Contacts"), path="/crm/contacts", parent="crm", resource="crm:contact",
             icon="lucide:contact", order=2),
        Menu("crm.lead", Message("线索", "Leads"), path="/crm/leads", parent="crm", resource="crm:lead",
             icon="lucide:magnet", order=3),
        Menu("crm.opportunity", Message("商机", "Opportunities"), path="/crm/opportunities", parent="crm",
             resource="crm:opportunity", icon="lucide:target", order=4),
        Menu("crm.follow-up", Message("跟进记录", "Follow-ups"), path="/crm/follow-ups", parent="crm",
             resource="crm:follow-up", icon="lucide:map-pin", order=5),
        Menu("crm.contract", Message("合同", "Contracts"), path="/crm/contracts", parent="crm", resource="crm:contract",
             icon="lucide:file-signature", order=6),
        Menu("crm.payment-plan", Message("回款计划", "Payment plans"), path="/crm/payment-plans", parent="crm",
             resource="crm:payment-plan", icon="lucide:calendar-clock", order=7),
        Menu("crm.payment", Message("回款", "Payments"), path="/crm/payments", parent="crm", resource="crm:payment",
             icon="lucide:banknote", order=8),
    ),
    permissions={
        "crm:customer:claim": Message("领取", "Claim"),
        "crm:customer:release": Message("释放", "Release"),
        "crm:customer:transfer": Message("转移", "Transfer"),
        "crm:customer:share": Message("设置协作人", "Set collaborators"),
        "crm:customer:export": Message("导出", "Export"),
        "crm:customer:import": Message("导入", "Import"),
        "crm:lead:convert": Message("转化", "Convert"),
        "crm:opportunity:advance": Message("推进阶段", "Advance"),
        "crm:opportunity:win": Message("赢单", "Win"),
        "crm:opportunity:lose": Message("输单", "Lose"),
        "crm:contract:submit": Message("提交审批", "Submit"),
        "crm:contract:withdraw": Message("撤回", "Withdraw"),
        "crm:contract:approve": Message("批准", "Approve"),
        "crm:contract:reject": Message("驳回", "Reject"),
        "crm:contract:complete": Message("完成", "Complete"),
        "crm:contract:terminate": Message("终止", "Terminate"),
    },
    options=(
        Option(pool.CLAIM_LIMIT_KEY, integer(minimum=0, maximum=100_000, default=200),
               Message("每人最多持有的领取客户数，0 为不限", "Claimed customers that one person may hold; 0: any number")),
        Option(pool.RETURN_DAYS_KEY, integer(minimum=0, maximum=3650, default=0),
               Message("超过多少天未跟进自动退回公海，0 为不退回",
                       "Days without follow-up after which a customer returns to the pool; 0: never")),
        Option(reminders.DAYS_KEY, integer(minimum=0, maximum=365, default=3),
               Message("回款到期前多少天提醒", "Days before a payment is due on which its owner is reminded")),
    ),
)  # fmt: skip
