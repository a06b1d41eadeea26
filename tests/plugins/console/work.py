"""What people do at the pages of a list: the form that they fill in, the field that they change, the action that they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from handlers.declarations import ACTION_TITLES
from handlers.route import Route
from handlers.schema.fields import Field
from plugins.console.site import Site, Subject
from plugins.testing import unique
from tests.support.catalogue import CATALOGUE
from tests.support.sample_values import scalar
from tests.support.sample_values import text as sample_text

SITE = Site(CATALOGUE)
_TYPED = ("text", "integer", "number", "money", "quantity")
_PLAIN = {"pattern", "format", "enum"}
# what examples do not tell: a beginning and an end; which choice is taken, where it is not the first one
_SPECIAL: Mapping[str, Mapping[str, str]] = {
    "hrm.shifts": {"start": "09:00", "end": "18:00"},
    "hrm.leaves": {"starts_at": "2031-03-03 09:00:00", "ends_at": "2031-03-04 18:00:00"},
    "inventory.transfers": {"to_warehouse_id": "1"},
}
# forms that the first choice of everything does not fill in
_NOT_BY_THE_FIRST_CHOICE = {
    "approvals.definitions",  # approvers, of whom none must be chosen in particular
    "approvals.delegations",  # an end after the beginning, and somebody else
    "crm.payment-plans",  # a contract with something that is not planned
    "crm.payments",  # a contract with something open
    "hrm.punches",  # the position of a device
    "notifications",  # several people
}


@dataclass(frozen=True)
class Work:
    """A list whose records somebody makes: the buttons that they press, and what they type."""

    subject: Subject
    menu: str
    tab: str
    create: str
    typed: Mapping[str, str]
    changed: str
    action: str
    deletes: bool


def work_of(permissions: set[str], modules: tuple[str, ...]) -> Iterator[Work]:
    """What somebody with these permissions does in these parts of the API, or at these lists."""
    for name, subject in SITE.subjects.items():
        create, menu = subject.route("POST"), SITE.menu_of(subject)
        here = name.partition(".")[0] in modules or name in modules
        if not here or create is None or create.body is None or not menu or name in _NOT_BY_THE_FIRST_CHOICE:
            continue
        if _may(permissions, create) and _may(permissions, subject.read):
            lists = SITE.of_menu(SITE.menus[menu])
            title = CATALOGUE.permission_titles.get(create.access, ACTION_TITLES["create"])
            deletes = _may(permissions, subject.route("DELETE", "/{id}"))
            changed = _changed(subject) if _may(permissions, subject.route("PATCH", "/{id}")) else ""
            tab = SITE.title_of(subject).en if len(lists) > 1 else ""
            yield Work(subject, menu, tab, title.en, _typed(subject), changed, _action(subject, permissions), deletes)


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
    label = collection.label_field if collection is not None else ""
    named = {label: unique(label)} if label in fields and not _PLAIN & fields[label].rules.keys() else {}
    return {**made, **named, **_SPECIAL.get(subject.name, {})}


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
    """The text by which a record is called, if people may change it."""
    update, label = subject.route("PATCH", "/{id}"), subject.collection.label_field if subject.collection else ""
    field = (update.body.fields or {}).get(label) if update is not None and update.body is not None else None
    is_plain = field is not None and field.kind == "text" and not _PLAIN & field.rules.keys() and not field.ref
    return label if is_plain else ""


def _action(subject: Subject, permissions: set[str]) -> str:
    """The button of the first action that asks for nothing and that a new record allows."""
    machine = subject.collection.states if subject.collection is not None else None
    for route in subject.actions:
        asks = set((route.body.fields or {}) if route.body is not None else {}) - {"version"}
        verb = route.action or route.path.rpartition("/")[2]
        known = machine.transitions.get(verb) if machine is not None else None
        starts = known is not None and machine is not None and machine.initial in known.sources
        if not asks and starts and _may(permissions, route):
            return SITE.action_title(route).en
    return ""
