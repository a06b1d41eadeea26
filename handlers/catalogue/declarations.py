"""What plugins declare besides routes and collections, and the catalogue of all declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from handlers.catalogue.dictionaries import Entry
from handlers.catalogue.responsibilities import Holding
from handlers.data.collection import Collection
from handlers.data.states import StateMachine
from handlers.operations.migrations import Migration
from handlers.reports.audits import Audit
from handlers.reports.dashboards import Dashboard
from handlers.route import Route
from handlers.schema.conversion import decode
from handlers.schema.errors import ErrorKind
from handlers.schema.fields import Field
from handlers.schema.messages import Message, as_message
from handlers.schema.validation import Checker
from handlers.schema.values import Body

Parts = Mapping[str, object]  # of a page description, in the form that the renderer expects


@dataclass(frozen=True)
class Makes:
    """Another record that people make from one: the name of the route, such as `POST /api/v1/acme/things`.

    `values` are what its form is filled in with at first, as in `View.proposals`. It is offered while the formula `fits`
    holds for the record. Its form shows the fields `shows` of the record, where they have values.
    """

    route: str
    values: Mapping[str, str]
    fits: str = "true"
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """How pages show the records of a collection. Headings are pairs of Chinese and English.

    `columns`: the columns that a list shows at first, in this order; readers can switch the others on.
    `groups`: by heading, the fields of forms and of the details of a record below it; the other fields come after them.
    `folded`: as `groups`, but after all other fields, and closed in forms until somebody opens them.
    `widgets`: by field, the parts of its control that replace those derived from its declaration; `nodes.mode` is the
    control of `mode` within `nodes`, which has none, and no column of its own, if the parts are empty. Values are shown in the
    words of the control's `options`, or of its `source`. A `Message` is shown in the language of the reader.
    `tabs`: by heading, further pages beside the list; a part with a request (`api`, `initApi`, `source`: method and url)
    that the reader may not send is left out.
    `boxes`: the query parameter whose values divide the list, for example into what waits for the reader and what they
    asked for: each value becomes a tab, and a record opens beside its list.
    `calendar`: a day, a state, and, where the rows are of several records, the reference to them by which the list can be
    filtered: the list has a calendar of the months, with the state of each day.
    `due`: the day or moment by which a record is due, for the lists that can be filtered and sorted by it; the first page
    of the readers shows what is due soon, `due_only` are the parameters that select what is still open.
    `proposals`: by action, the last part of its path, what its form is filled in with at first: templates of the record's
    values by field. The filter `open` of lines leaves what is not done yet, with the fields that it names:
    `${lines | open:delivered:line:product_id}`.
    `makes`: other records that people make from one.
    """

    collection: Collection
    columns: tuple[str, ...] = ()
    groups: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    folded: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    widgets: Mapping[str, Parts] = field(default_factory=dict)
    tabs: Mapping[tuple[str, str], Parts] = field(default_factory=dict)
    boxes: str = ""
    calendar: tuple[str, ...] = ()
    due: str = ""
    due_only: Mapping[str, str] = field(default_factory=dict)
    proposals: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    makes: tuple[Makes, ...] = ()


Declared = TypeVar("Declared")
# the titles of the permissions that `crud` and tables declare
ACTION_TITLES: Mapping[str, Message] = {
    "list": Message("查询", "List"),
    "read": Message("查看", "Read"),
    "create": Message("新增", "Create"),
    "update": Message("修改", "Edit"),
    "delete": Message("删除", "Delete"),
    "restore": Message("恢复", "Restore"),
    "export": Message("导出", "Export"),
    "import": Message("导入", "Import"),
}


@dataclass(frozen=True)
class Item:
    """One entry of a dictionary: the value on the wire, its label, and a colour for tags."""

    value: str
    label: Message
    color: str = ""


@dataclass(frozen=True)
class Dictionary:
    """An enumeration that clients show, such as a list of industries: its type, title and items."""

    type: str
    title: Message
    items: tuple[Item, ...]

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The declared entries by value, before any change by an administrator."""
        return {item.value: Entry(item.label, item.color) for item in self.items}

    @classmethod
    def of_states(cls, type: str, title: Message, machine: StateMachine, colors: Mapping[str, str]) -> Dictionary:
        """Return the dictionary of the states of a machine; `colors` is by state."""
        return cls(
            type, title, tuple(Item(name, label, colors.get(name, "")) for name, label in machine.states.items())
        )


def dictionary(type: str, title: tuple[str, str], /, **items: tuple[str, ...]) -> Dictionary:
    """Return a dictionary; each keyword is a value, with its labels in both languages and perhaps a colour."""
    made = (Item(value, Message(*words[:2]), *words[2:]) for value, words in items.items())
    return Dictionary(type, as_message(title), tuple(made))


@dataclass(frozen=True)
class Menu:
    """A page of the front ends, and the buttons of the resource that it shows.

    `resource`, such as `acme:agreement`: every permission with that prefix becomes a button of the page. `parent` is
    the code of another menu. Without `resource` the menu is a directory, with `link` a link. `granted_with`: when a
    start adds the page to an older database, the roles with this permission get the page and its buttons.
    """

    code: str
    title: Message
    path: str = ""
    icon: str = ""
    parent: str = ""
    resource: str = ""
    component: str = ""
    order: int = 0
    hidden: bool = False
    link: str = ""
    granted_with: str = ""


def page(resource: str, title: tuple[str, str], path: str, icon: str, order: int, *, granted_with: str = "") -> Menu:
    """Return a resource's page in its module's menu: `page("acme:agreement", ("协议", "Agreements"), "/acme", …)`."""
    module = resource.partition(":")[0]
    code = resource.replace(":", ".")
    return Menu(
        code, as_message(title), path, icon, parent=module, resource=resource, order=order, granted_with=granted_with
    )


@dataclass(frozen=True)
class Option:
    """A setting that administrators can change while the service runs.

    `field` is its shape, with the default value. `public`: everybody may read it, even before log-in. `super_only`: it
    widens what people may do, so only super administrators may change it. `on_papers`: the label under which printed papers
    say it of the company.
    """

    key: str
    field: Field
    description: Message
    public: bool = False
    super_only: bool = False
    on_papers: Message | None = None

    @cached_property
    def check(self) -> Checker:
        """The compiled check of a value."""
        return Checker(self.field)

    @cached_property
    def default(self) -> Body:
        """The value until an administrator sets one."""
        return decode(self.field, self.field.default)


@dataclass(frozen=True)
class Catalogue:
    """The declarations of all loaded plugins together, checked and in order."""

    plugins: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ()
    collections: Mapping[str, Collection] = field(default_factory=dict)
    menus: tuple[Menu, ...] = ()
    errors: tuple[ErrorKind, ...] = ()
    dictionaries: tuple[Dictionary, ...] = ()
    state_machines: tuple[StateMachine, ...] = ()
    biz_types: Mapping[str, Collection] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    dashboards: tuple[Dashboard, ...] = ()
    holdings: tuple[Holding, ...] = ()
    audits: tuple[Audit, ...] = ()
    migrations: tuple[tuple[str, Migration], ...] = ()  # each with the name of its plugin
    views: tuple[View, ...] = ()
    permission_titles: Mapping[str, Message] = field(default_factory=dict)
    transition_labels: Mapping[str, Message] = field(default_factory=dict)  # by the name of the route
    further: tuple[object, ...] = ()  # of kinds that the core does not know

    def of_kind(self, kind: type[Declared]) -> tuple[Declared, ...]:
        """Return the declarations of a kind that the core does not know."""
        return tuple(one for one in self.further if isinstance(one, kind))

    def collections_of(self, modules: Sequence[str]) -> Iterator[Collection]:
        """Yield the collections that these plugins declare."""
        for name, collection in self.collections.items():
            # the longest matching name, so that `crm_plus_…` is not taken for a collection of `crm`
            owner = max((plugin for plugin in self.plugins if name.startswith(f"{plugin}_")), key=len, default="core")
            if owner in modules:
                yield collection

    @cached_property
    def summaries(self) -> Mapping[str, Message]:
        """What each route does, by method and path, in both languages as far as the declarations provide them."""
        return {route.name: self._summary(route) for route in self.routes}

    def _summary(self, route: Route) -> Message:
        collection = self.collections.get(route.collection) or self._by_resource.get(route.access.rpartition(":")[0])
        noun = collection.noun.zh if collection else ""
        if route.title is not None:
            return Message(route.title[0], route.summary)
        if title := self.transition_labels.get(route.name) or self.permission_titles.get(route.access):
            return Message(f"{noun}：{title.zh}" if noun else title.zh, route.summary)
        action = ACTION_TITLES.get(route.access.rpartition(":")[2])
        return Message(f"{action.zh}{noun}" if action and noun else route.summary, route.summary)

    @cached_property
    def _by_resource(self) -> Mapping[str, Collection]:
        found: dict[str, Collection] = {}
        for route in self.routes:
            resource, _, action = route.access.rpartition(":")
            if action in ("list", "read") and route.collection in self.collections:
                found.setdefault(resource, self.collections[route.collection])
        return found

    def permission_title(self, code: str) -> Message:
        """Return the text on the button of a permission code: `Export` for `acme:agreement:export`."""
        action = code.rpartition(":")[2]
        plain = Message(action, action.replace("-", " ").capitalize())
        return self.permission_titles.get(code) or ACTION_TITLES.get(action) or plain

    @cached_property
    def operations(self) -> Mapping[str, Message]:
        """What each permission code permits, in the words of its button and menu: `export agreements`."""
        menus = {menu.resource: menu.title for menu in reversed(self.menus) if menu.resource}
        named = ((code, menus.get(code.rpartition(":")[0])) for code in self.permissions)
        return {code: self._operation(code, menu) for code, menu in named}

    def _operation(self, code: str, menu: Message | None) -> Message:
        title = self.permission_title(code)
        button, page = (_inside_sentence(one) for one in (title, menu or Message("", "")))
        if not page.en:
            return button
        if title == ACTION_TITLES.get(code.rpartition(":")[2]):
            return Message(f"{button.zh}{page.zh}", f"{button.en} {page.en}")
        return Message(f"{page.zh}：{button.zh}", f"{button.en} ({page.en})")

    @property
    def permissions(self) -> tuple[str, ...]:
        """Every permission code, sorted."""
        return tuple(sorted({route.access for route in self.routes if route.guarded}))


def _inside_sentence(title: Message) -> Message:
    """Return a title for use inside a sentence: with a small initial, if its second letter is small too."""
    return Message(title.zh, title.en[:1].lower() + title.en[1:] if title.en[1:2].islower() else title.en)
