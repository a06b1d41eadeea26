"""What people do at the pages of a list: the form that they fill in, the field that they change, the action that they take."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from handlers.catalogue.declarations import ACTION_TITLES
from handlers.route import Route
from handlers.schema.fields import Field
from plugins.console.pages import menu_page
from plugins.console.records import record_page
from plugins.console.site import Site, Subject
from plugins.console.viewer import Viewer
from plugins.testing import unique
from tests.browser.walk import nodes
from tests.support.catalogue import CATALOGUE
from tests.support.sample_values import accepts, scalar, text as sample_text

Named = TypeVar("Named", bound=Hashable)
SITE = Site(CATALOGUE)
# somebody who sees all of every page
VIEWER = Viewer(
    SITE,
    "en",
    {dictionary.type: dictionary.entries for dictionary in CATALOGUE.dictionaries},
    frozenset(route.name for route in CATALOGUE.routes),
)
_UNTOUCHED = ("hidden", "text", "tpl", "mapping")  # which show values, or nothing
# who works at which parts of the API, or at which lists, so that every list has somebody
PEOPLE: Mapping[str, tuple[str, ...]] = {
    "staff": ("finance.expense-claims", "approvals.instances"),
    "sales": ("crm",),
    "manager": ("approvals.delegations", "cms", "inventory", "notifications", "hrm.punches", "hrm.requests"),
    "admin": ("system", "finance", "hrm", "approvals.forms"),
}
_EMPLOYED = ("hrm.punches", "hrm.requests")  # which only employees make
_TYPED = ("text", "integer", "number", "money", "quantity")
# what examples do not tell: which choice is taken, where it is not the first one, and what depends on it
_SPECIAL: Mapping[str, Mapping[str, str]] = {
    "approvals.instances": {"definition_id": "通用审批"},  # the other flow is for contracts of a large amount
    "approvals.delegations": {
        "delegate_id": "李销售",
        "starts_at": "2031-03-03 09:00",
        "ends_at": "2031-03-04 18:00",
    },
    "crm.contract-amendments": {"description": "Other terms"},  # what changes no field needs words
    "hrm.shifts": {"start": "09:00", "end": "18:00"},
    "hrm.leaves": {"starts_at": "2031-03-03 09:00", "ends_at": "2031-03-04 18:00"},
    "hrm.requests": {"kind": "Outside duty", "starts_at": "2031-03-05 09:00", "ends_at": "2031-03-05 18:00"},
    "hrm.punches": {"lng": "121.47", "lat": "31.23"},
    # an open shift, for a day after the months that are closed
    "hrm.rosters": {"day": "2026-12-24", "shift_id": "0"},
    "inventory.transfers": {"to_warehouse_id": "1"},
    # required where no customer or supplier is chosen, and where no lines come to it
    "inventory.purchase-orders": {"product_id": "1", "quantity": "1", "price": "1"},
    "inventory.quotations": {"customer_name": "A customer", "product_id": "1", "quantity": "1"},
    "inventory.sales-orders": {"customer_name": "A customer", "product_id": "1", "quantity": "1"},
    "finance.invoices": {"direction": "Sent", "counterparty": "A party", "amount": "1"},
    "finance.opening-items": {"counterparty": "A party"},
    "finance.exchange-rates": {"currency": "JPY"},
    "system.custom-fields": {"collection": "1"},
    "notifications": {"user_ids": "王经理"},
    "notifications.templates": {"kind": "Approval task"},
    "notifications.announcements": {"users": "王经理"},
}
# an action that a new record allows, where no state says which, and what is typed into its form
_ACTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "approvals.instances": ("submit", {}),
    "cms.manage.articles": ("publish", {}),
    "crm.customers": ("release", {}),
    "crm.leads": ("convert", {"customer_name": "A new customer"}),
    "crm.opportunities": ("lose", {}),
    "crm.payments": ("reverse", {}),
    "finance.payments": ("reverse", {}),
    "finance.vouchers": ("reverse", {}),
    "inventory.stock-counts": ("reverse", {}),
    "inventory.transfers": ("reverse", {}),
    "notifications": ("read", {}),
    "system.roles": ("menus", {}),
    "system.users": ("unlock", {}),
}

# what is done at the lists in which nobody makes records by a form: an action, or `DELETE`
TAKEN: Mapping[str, str] = {
    "approvals.definitions": "DELETE",  # made in their diagram, by `test_flows.py`
    "finance.adjustments": "reverse",
    "finance.credit-notes": "reverse",
    "finance.payables": "pay",
    "finance.periods": "close",
    "inventory.receipts": "reverse",
    "inventory.deliveries": "reverse",
    "inventory.purchase-returns": "reverse",
    "inventory.sales-returns": "reverse",
    "inventory.reorder-proposals": "order",
    "print.templates": "DELETE",  # whose source is a program
    "system.sessions": "DELETE",
    "system.webhooks": "DELETE",  # which a service account must exist for
}


@dataclass(frozen=True)
class Work:
    """A list whose records somebody makes: the buttons that they press, and what they type.

    `typed_in` is what is typed into the form of the action; None if it has no form.
    """

    subject: Subject
    menu: str
    tab: str
    create: str
    typed: Mapping[str, str]
    changed: str
    action: str
    typed_in: Mapping[str, str] | None
    deletes: bool

    @property
    def shown_as(self) -> str:
        """What a row of the list shows of the record, which has no page of its own."""
        return "" if self.subject.read is not None else self.typed[_label_of(self.subject)]

    def again(self) -> Work:
        """The same with another record."""
        return replace(self, typed=_typed(self.subject))


def made_by_hand(site: Site = SITE) -> Iterator[Subject]:
    """The lists in which somebody makes records by a form."""
    for subject in site.subjects.values():
        create = subject.route("POST")
        if create is not None and create.body is not None and site.menu_of(subject):
            yield subject


def taken_at(subject: Subject) -> tuple[str, bool]:
    """The button of what is done at a list of `TAKEN`, and whether it opens a form."""
    taken = TAKEN[subject.name]
    for route in subject.actions:
        if route.path.endswith(f"/{taken}"):
            return SITE.action_title(route).en, bool(
                set((route.body.fields if route.body else None) or {}) - {"version"}
            )
    return ACTION_TITLES["delete"].en, False


def work_of(permissions: set[str], modules: tuple[str, ...], site: Site = SITE) -> Iterator[Work]:
    """What somebody with these permissions does in these parts of the API, or at these lists."""
    for subject in (one for one in made_by_hand(site) if one.name not in TAKEN):
        create, menu = subject.route("POST"), site.menu_of(subject)
        here = subject.name in modules or (subject.name.partition(".")[0] in modules and subject.name not in _EMPLOYED)
        if here and create is not None and _may(permissions, create):
            lists = site.of_menu(site.menus[menu])
            title = site.catalogue.permission_titles.get(create.access, ACTION_TITLES["create"])
            deletes = _may(permissions, subject.route("DELETE", "/{id}"))
            changed = _changed(subject) if _may(permissions, subject.route("PATCH", "/{id}")) else ""
            tab = site.title_of(subject).en if len(lists) > 1 else ""
            action, typed_in = _action(site, subject, permissions)
            yield Work(subject, menu, tab, title.en, _typed(subject), changed, action, typed_in, deletes)


def _may(permissions: set[str], route: Route | None) -> bool:
    return route is not None and (route.access in permissions or "*:*:*" in permissions or not route.guarded)


def _typed(subject: Subject) -> dict[str, str]:
    """What is typed into the fields that must have a value and are no choices."""
    create, collection = subject.route("POST"), subject.collection
    assert create is not None
    assert create.body is not None
    fresh = {name for index in collection.indexes if index.unique for name in index.keys} if collection else set()
    fields = dict(_written(create.body))
    made = {
        name: sample_text(field, fresh=True) if name in fresh and field.kind == "text" else str(scalar(field))
        for name, field in fields.items()
    }
    label = _label_of(subject)
    named = {label: unique(label)} if label in fields and _is_any(fields[label]) else {}
    return {**made, **named, **_SPECIAL.get(subject.name, {})}


def _label_of(subject: Subject) -> str:
    """The field by which a record is called."""
    return subject.collection.label_field if subject.collection is not None else ""


def _written(shape: Field) -> Iterator[tuple[str, Field]]:
    for name, field in (shape.fields or {}).items():
        inside = field.items if field.kind == "array" else field
        if field.required and inside is not None and inside.kind == "object":
            yield from _written(inside)
        elif field.required and inside is not None and inside.kind in _TYPED and not _is_choice(field, inside):
            yield name, inside


def _is_choice(field: Field, inside: Field) -> bool:
    return bool(inside.ref or field.ref or inside.dictionary or "enum" in inside.rules)


def _changed(subject: Subject) -> str:
    """The text by which a record is called, if people may change it, or else the first other text that they may."""
    update, label = subject.route("PATCH", "/{id}"), _label_of(subject)
    fields = (update.body.fields or {}) if update is not None and update.body is not None else {}
    free = [name for name, field in fields.items() if _is_any(field)]
    return label if label in free else next(iter(free), "")


def _is_any(field: Field) -> bool:
    """Whether people may write there what they like."""
    return field.kind == "text" and not field.ref and not field.dictionary and accepts(field, unique("any"))


def _action(site: Site, subject: Subject, permissions: set[str]) -> tuple[str, Mapping[str, str] | None]:
    """The button of the first action that a new record allows, and what is typed into its form."""
    machine = subject.collection.states if subject.collection is not None else None
    chosen, typed_in = _ACTIONS.get(subject.name, ("", {}))
    for route in subject.actions:
        asks = set((route.body.fields or {}) if route.body is not None else {}) - {"version"}
        verb = route.action or route.path.rpartition("/")[2]
        known = machine.transitions.get(verb) if machine is not None else None
        starts = known is not None and machine is not None and machine.initial in known.sources and not asks
        if (verb == chosen or (starts and not chosen)) and _may(permissions, route):
            return site.action_title(route).en, typed_in if asks else None
    return "", None


def kinds_of(work: Work) -> set[str]:
    """What a person meets in a work: each control of its forms, drawn or filled in, and each way to do something."""
    place = "row" if work.shown_as else "page"
    steps = {"tab": work.tab, f"act at {place}": work.action, f"delete at {place}": work.deletes}
    found = {step for step, taken in steps.items() if taken}
    forms = {
        "create": work.create,
        "change": "Edit" if work.changed else "",
        "act": "" if work.typed_in is None else work.action,
    }
    for step, button in forms.items():
        for control in _controls(work.subject, work.menu, button) if button else ():
            found |= {step, f"{'fill' if _is_filled(control, work.typed) else 'draw'} {_kind(control)}"}
    return found | ({"confirm"} if work.action and work.typed_in is None else set())


def _controls(subject: Subject, menu: str, button: str) -> Iterator[Mapping[str, Any]]:
    """The controls of the form that a button opens."""
    record = _record_page(subject.name) if subject.read is not None else None
    pages = [*nodes(_menu_page(menu)), *nodes(record)]
    opening = (one for one in pages if one.get("label") == button and {"drawer", "dialog"} & one.keys())
    for one in nodes(next(opening)):
        if "name" in one and one.get("type", "hidden") not in _UNTOUCHED:
            yield one


@cache
def _menu_page(menu: str) -> Any:
    return menu_page(VIEWER, menu)


@cache
def _record_page(name: str) -> Any:
    return record_page(VIEWER, SITE.subjects[name])


def _is_filled(control: Mapping[str, Any], typed: Mapping[str, str]) -> bool:
    return bool(control.get("required")) or control["name"] in typed


def _kind(control: Mapping[str, Any]) -> str:
    several, searched = control.get("multiple", False), "autoComplete" in control
    return f"{control['type']}{' of several' if several else ''}{' that is searched' if searched else ''}"


def covering(kinds: Mapping[Named, set[str]]) -> list[Named]:
    """A few that have every kind which any has: first that with the most kinds, then that with the most others."""
    missing, chosen = set[str]().union(*kinds.values()), list[Named]()
    while missing:
        chosen.append(max(kinds, key=lambda name: len(kinds[name] & missing)))
        missing -= kinds[chosen[-1]]
    return chosen
