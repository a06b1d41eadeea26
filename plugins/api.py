"""All that a plugin author imports."""

from config.database import DatabaseUnavailable
from config.settings import EnvironmentSettings
from handlers.actor import ANONYMOUS, SYSTEM, Actor
from handlers.confined.pool import Confined, Lane, TooCostly, Work, WorkFailed
from handlers.dashboards import Dashboard, Period, period_of
from handlers.data.collection import Collection, Index, new_id
from handlers.data.dangling import remove_dangling
from handlers.data.database import Database, Lease, utc_now
from handlers.data.listing import Page, rows_before
from handlers.data.mirror import Mirror, RecordCache
from handlers.data.scope import ALL_ROWS, Scope
from handlers.data.series import by_day, by_month
from handlers.data.shared import Shared
from handlers.data.store import Store
from handlers.declarations import Catalogue, Dictionary, Item, Menu, Option, StateMachine
from handlers.events import Events
from handlers.http.addresses import network_of
from handlers.http.multipart import Form, FormFile
from handlers.idempotency import answer_once
from handlers.jobs import Jobs
from handlers.lifecycle import Answer, refusal
from handlers.operation_log import OPERATION_LOGS
from handlers.own_requests import REFUSES_OWN, may_decide_on_own, people_behind, refuse_own
from handlers.ports import Authenticator, Authorizer, OwnRequests
from handlers.rate_limit import RateLimit
from handlers.request import Request
from handlers.route import PUBLIC, SIGNED_IN, SUPER, Handler, Refusal, Route, RouteOptions, conflicts, route
from handlers.routing import Router
from handlers.schema.calendar import day_of, last_days, last_months, start_of
from handlers.schema.envelope import as_json
from handlers.schema.errors import (
    ACCOUNT_DISABLED,
    BAD_REQUEST,
    CONFLICT,
    DUPLICATE,
    FORBIDDEN,
    INVALID,
    LOCKED,
    LOGIN_REFUSED,
    MEDIA_TYPE,
    NOT_FOUND,
    PASSWORD_CHANGE_REQUIRED,
    RANGE,
    RATE_LIMITED,
    REFRESH_REFUSED,
    STALE,
    SUPER_ONLY,
    TOKEN_EXPIRED,
    TOO_LARGE,
    UNAUTHENTICATED,
    UNAVAILABLE,
    WECOM_REFUSED,
    ApiError,
    ErrorKind,
    FieldError,
    ValidationFailed,
    invalid,
    unavailable,
)  # fmt: skip
from handlers.schema.fields import (
    BLANK,
    FIRST_DAY,
    LAST_DAY,
    NOTHING,
    Field,
    FieldOptions,
    HasSettings,
    anything,
    array,
    boolean,
    choice,
    day,
    integer,
    link,
    mapping,
    money,
    number,
    obj,
    object_id,
    quantity,
    text,
    timestamp,
    tree_of,
)  # fmt: skip
from handlers.schema.json_schema import json_schema
from handlers.schema.messages import RULES, Language, Message
from handlers.schema.money import exact, rounded, share, store_money, store_quantity, times
from handlers.schema.redaction import redacted
from handlers.service import Service
from plugins.crud import crud
from plugins.plugin import Plugin

__all__ = [
    "ACCOUNT_DISABLED",
    "ALL_ROWS",
    "ANONYMOUS",
    "BAD_REQUEST",
    "BLANK",
    "CONFLICT",
    "DUPLICATE",
    "FIRST_DAY",
    "FORBIDDEN",
    "INVALID",
    "LAST_DAY",
    "LOCKED",
    "LOGIN_REFUSED",
    "MEDIA_TYPE",
    "NOTHING",
    "NOT_FOUND",
    "OPERATION_LOGS",
    "PASSWORD_CHANGE_REQUIRED",
    "PUBLIC",
    "RANGE",
    "RATE_LIMITED",
    "REFRESH_REFUSED",
    "REFUSES_OWN",
    "RULES",
    "SIGNED_IN",
    "STALE",
    "SUPER",
    "SUPER_ONLY",
    "SYSTEM",
    "TOKEN_EXPIRED",
    "TOO_LARGE",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "WECOM_REFUSED",
    "Actor",
    "Answer",
    "ApiError",
    "Authenticator",
    "Authorizer",
    "Catalogue",
    "Collection",
    "Confined",
    "Dashboard",
    "Database",
    "DatabaseUnavailable",
    "Dictionary",
    "EnvironmentSettings",
    "ErrorKind",
    "Events",
    "Field",
    "FieldError",
    "FieldOptions",
    "Form",
    "FormFile",
    "Handler",
    "HasSettings",
    "Index",
    "Item",
    "Jobs",
    "Lane",
    "Language",
    "Lease",
    "Menu",
    "Message",
    "Mirror",
    "Option",
    "OwnRequests",
    "Page",
    "Period",
    "Plugin",
    "RateLimit",
    "RecordCache",
    "Refusal",
    "Request",
    "Route",
    "RouteOptions",
    "Router",
    "Scope",
    "Service",
    "Shared",
    "StateMachine",
    "Store",
    "TooCostly",
    "ValidationFailed",
    "Work",
    "WorkFailed",
    "answer_once",
    "anything",
    "array",
    "as_json",
    "boolean",
    "by_day",
    "by_month",
    "choice",
    "conflicts",
    "crud",
    "day",
    "day_of",
    "exact",
    "integer",
    "invalid",
    "json_schema",
    "last_days",
    "last_months",
    "link",
    "mapping",
    "may_decide_on_own",
    "money",
    "network_of",
    "new_id",
    "number",
    "obj",
    "object_id",
    "people_behind",
    "period_of",
    "quantity",
    "redacted",
    "refusal",
    "refuse_own",
    "remove_dangling",
    "rounded",
    "route",
    "rows_before",
    "share",
    "start_of",
    "store_money",
    "store_quantity",
    "text",
    "times",
    "timestamp",
    "tree_of",
    "unavailable",
    "utc_now",
]  # fmt: skip
