"""What there is to show: the lists of records that routes declare, and everything that can be done with a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from plugins.api import SIGNED_IN, Collection, Field, Menu, Message, Route, View
from plugins.api.fields import fields_in
from plugins.api.records import Catalogue, plural_of, transitions_of

DASHBOARDS = "dashboard:chart"
_DASHBOARD = "/api/dashboard/"
APPLY = "apply"  # the field of a body without which nothing is written
ATTACHMENTS = "GET /api/attachments"
_NOT_ACTIONS = ("import", "restore", "notes")


@dataclass(frozen=True)
class Subject:
    """Records of one kind, at one path: the routes that list, read and change them.

    `collection` is None for lists that belong to no collection. `routes` are those at the path and below it, by name.
    `key` is the path parameter of one of the records; a list below a record has the outer record's parameter in `at`.
    """

    at: str
    list: Route
    collection: Collection | None
    routes: Mapping[str, Route]
    key: str = "id"

    @property
    def name(self) -> str:
        """The name of the list in addresses, such as `crm.customers`."""
        return self.at.removeprefix("/api/").removeprefix("v1/").replace("/{id}", "").replace("/", ".")

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The fields of a record in the list."""
        shape = self.list.returns if self.list.paged else self.list.returns.items
        fields = (shape.fields if shape is not None else None) or {}
        known = self.collection.all_fields if self.collection is not None else {}
        named = {name: known[name].label for name, field in fields.items() if field.label is None and name in known}
        return {name: field.but(label=named[name]) if name in named else field for name, field in fields.items()}

    @cached_property
    def shape(self) -> Mapping[str, Field]:
        """The fields of a record that is read individually."""
        return (self.read.returns.fields if self.read is not None else None) or {}

    def route(self, method: str, below: str = "") -> Route | None:
        """Return the route of this method at the path followed by `below`, or None."""
        return self.routes.get(f"{method} {self._base}{below.replace('{id}', f'{{{self.key}}}')}")

    @property
    def read(self) -> Route | None:
        """The route that reads one record, or None."""
        return self.route("GET", "/{id}")

    @property
    def actions(self) -> Iterator[Route]:
        """The routes of actions on one record, besides changing and deleting it."""
        for one in self.routes.values():
            verb = one.path.rpartition("}/")[2]
            takes_json = one.writes and not one.streamed and not one.bare and one.method != "DELETE"
            here = one.path == f"{self._base}/{{{self.key}}}/{verb}" and "{" not in verb and one.path not in self.below
            if here and takes_json and (verb not in _NOT_ACTIONS or self.nested):
                yield one

    @property
    def entries(self) -> Iterator[Route]:
        """The routes besides the plain one that make a record, such as an entry for somebody else, or several at once."""
        create, name = self.route("POST"), self.collection.name if self.collection is not None else ""
        for one in self.routes.values():
            beside = one.method == "POST" and one.path.rpartition("/")[0] == self.at and one.body is not None
            of_list = one.title and name and one.collection == name
            several = of_list and (create is None or one.body is not create.body)
            if beside and self.read is not None and (one.returns is self.read.returns or several):
                yield one

    @property
    def tries(self) -> Iterator[Route]:
        """The routes that store nothing: they return what a new record would do, or a file of it."""
        create = self.route("POST")
        taken = create.body if create is not None else None
        for one in self.routes.values():
            if taken is None or one.body is None or one.method != "POST" or one.path.rpartition("/")[0] != self.at:
                continue
            if one.body is taken or (one.bare and (one.body.fields or {}).keys() <= (taken.fields or {}).keys()):
                yield one

    @property
    def parts(self) -> Iterator[Route]:
        """The routes that read more of one record, each with a title: no lists and no files."""
        for one in self.routes.values():
            last = one.path.removeprefix(f"{self._base}/{{{self.key}}}/")
            if one.reads and one.title and not one.paged and one.bare is None and last != one.path and "/" not in last:
                yield one

    @cached_property
    def computed(self) -> bool:
        """Whether its rows are no records, which somebody could read one by one."""
        return self.read is None and (self.collection is None or self.list.returns is not self.collection.read)

    @property
    def nested(self) -> bool:
        """Whether the list hangs below a record."""
        return "{" in self.at

    @cached_property
    def below(self) -> Mapping[str, Subject]:
        """The lists below one record, by path, without its history."""
        found = {}
        for one in self.routes.values():
            outer, _, last = one.path.rpartition("/")
            if one.paged and outer == f"{self._base}/{{id}}" and last != "history":
                routes = {
                    name: route for name, route in self.routes.items() if f"{route.path}/".startswith(f"{one.path}/")
                }
                keys = {route.parameters[-1] for route in routes.values() if len(route.parameters) > 1}
                found[one.path] = Subject(one.path, one, None, routes, next(iter(keys), "id"))
        return found

    def refers_to(self, target: Collection) -> str | None:
        """Return the filter by which the list shows the records that refer to one of `target`, or None."""
        references = self.collection.references if self.collection is not None else {}
        named = (name for name, to in references.items() if to in (target.name, target.alias or target.name))
        return next((name for name in named if name in self.list.query), None)

    @property
    def _base(self) -> str:
        return self.at.removesuffix("/all")


class Site:
    """Everything that pages show, by menus and by names, computed when it is first needed."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    @cached_property
    def subjects(self) -> Mapping[str, Subject]:
        """All lists, by name."""
        found = [self._subject(one) for one in self.catalogue.routes if _lists(one, self._named)]
        return {subject.name: subject for subject in found}

    @cached_property
    def _named(self) -> Mapping[str, Route]:
        return {one.name: one for one in self.catalogue.routes}

    @cached_property
    def menus(self) -> Mapping[str, Menu]:
        """The declared menus by their codes."""
        return {menu.code: menu for menu in self.catalogue.menus}

    def of_menu(self, menu: Menu) -> Sequence[Subject]:
        """Return the lists that a menu shows, those with the shortest paths first."""
        found = (one for one in self.subjects.values() if menu.resource and menu.resource in _resources(one))
        return sorted(found, key=lambda one: (one.at.count("/"), one.list.access.rpartition(":")[2] != "list"))

    def lists_of(self, target: str) -> Iterator[tuple[Subject, Collection]]:
        """Yield the lists of the records to which a field refers, with their collection."""
        for one in self.subjects.values():
            if one.collection is not None and target in (one.collection.name, one.collection.alias):
                yield one, one.collection

    def records_of(self, subject: Subject) -> Subject:
        """Return the list of a list's records: itself or, if they cannot be read there, one with the same rows."""
        alike = (one for one in self.subjects.values() if one.read and one.list.returns is subject.list.returns)
        return subject if subject.read is not None else next(alike, subject)

    @cached_property
    def inbox(self) -> Subject | None:
        """The list whose news are sent by a WebSocket below it, or None if no plugin has one."""
        sockets = {one.path for one in self.catalogue.routes if one.socket}
        return next((one for one in self.subjects.values() if f"{one.at}/ws" in sockets), None)

    @cached_property
    def desk(self) -> Subject | None:
        """The list of what waits for the reader: its view divides it into boxes, and its records are in another list."""
        with_boxes = (
            (one, view)
            for one in self.subjects.values()
            if one.read is None and (view := self.view_of(self.records_of(one).collection)) is not None
        )
        return next((one for one, view in with_boxes if view.boxes in one.list.query), None)

    @cached_property
    def stamps(self) -> frozenset[str]:
        """The names of the fields that record who created and changed a record, and when."""
        return frozenset(name for one in self.catalogue.collections.values() for name in one.audit_fields)

    @cached_property
    def conditions(self) -> frozenset[str]:
        """The collections that have records while certain fields are shown."""
        fields = (field for one in self.catalogue.collections.values() for field in one.fields.values())
        return frozenset(field.only_with for field in fields if field.only_with is not None)

    def reports_of(self, menu: Menu) -> Sequence[Route]:
        """Return the routes of a menu without lists; each returns one object, such as a report."""
        of_menu = (one for one in self.catalogue.routes if menu.resource and one.access.startswith(f"{menu.resource}:"))
        reads = (one for one in of_menu if one.reads and not one.parameters and one.bare is None and not one.paged)
        return [one for one in reads if one.returns.fields]

    def menu_of(self, subject: Subject) -> str:
        """Return the code of the menu that shows a list, or an empty string if none does."""
        return next((menu.code for menu in self.menus.values() if menu.resource in _resources(subject)), "")

    def group_of(self, subject: Subject) -> Message | None:
        """Return the title of the directory that contains a list's menu, or None."""
        menu = self.menus.get(self.menu_of(subject))
        directory = self.menus.get(menu.parent) if menu is not None else None
        return directory.title if directory is not None else None

    @cached_property
    def dashboards(self) -> Sequence[Route]:
        """The routes of the dashboards."""
        named = ((one, one.access.removeprefix(f"{DASHBOARDS}:")) for one in self.catalogue.routes)
        return [one for one, name in named if one.path == _DASHBOARD + name]

    @cached_property
    def labels(self) -> Mapping[str, Message]:
        """The label that most records give a field, by field name, for shapes whose field has no label."""
        fields = (item for one in self.catalogue.collections.values() for item in one.all_fields.items())
        counted = Counter((name, label) for name, field in fields if (label := field.label) is not None)
        return {name: label for (name, label), _ in reversed(counted.most_common())}

    @cached_property
    def verbs(self) -> Mapping[str, Message]:
        """What histories call actions, by their names: an approval, for example, changes the record that it is about."""
        named = ((one.action, self.action_title(one)) for one in self.catalogue.routes if one.writes and one.action)
        return {verb: title for (verb, title), _ in reversed(Counter(named).most_common())}

    def rehearsed(self, subject: Subject) -> Iterator[Route]:
        """Yield the routes at other paths that change many records of a list at once, but only if `apply` is given."""
        for one in self.catalogue.routes:
            of_list = not subject.nested and one.access.rpartition(":")[0] in _resources(subject)
            if of_list and one.writes and one.body is not None and APPLY in (one.body.fields or {}):
                yield one

    @cached_property
    def attachments(self) -> Subject | None:
        """The list of the files of a record, or None if no plugin has it."""
        found = self._named.get(ATTACHMENTS)
        return self._subject(found) if found is not None else None

    @cached_property
    def biz_types(self) -> Mapping[str, str]:
        """The business types, by the names of their collections."""
        return {collection.name: name for name, collection in self.catalogue.biz_types.items()}

    def tree_of(self, target: str | None) -> Route | None:
        """Return the route that returns all records of a collection as one tree, or None."""
        for one in self.subjects.values():
            named = (one.collection.name, one.collection.alias) if one.collection is not None else ()
            if target in named and "children" in one.fields:
                return one.list
        return None

    def view_of(self, collection: Collection | None) -> View | None:
        """Return how a plugin wants the records of a collection to be shown, or None."""
        name = collection.name if collection is not None else ""
        return next((one for one in self.catalogue.views if one.collection.name == name), None)

    def called(self, method: str, address: str) -> Route | None:
        """Return the route of a request in a plugin's page, or None; `${id}` in its address stands for any value."""
        steps = address.partition("?")[0].split("/")
        found = (one for one in self.catalogue.routes if one.method == method.upper())
        return next((one for one in found if _leads(one.path.split("/"), steps)), None)

    @cached_property
    def writers(self) -> Mapping[str, Sequence[str]]:
        """The names of the routes whose bodies refer to a collection, by collection; callers may use its picker."""
        found: dict[str, list[str]] = {}
        for one in self.catalogue.routes:
            shapes = [shape for shape in (one.body, one.form) if shape is not None]
            referred = {field.ref for shape in shapes for _, field in fields_in(shape) if not field.read_only}
            for target in referred - {None}:
                found.setdefault(str(target), []).append(one.name)
        for known in self.catalogue.collections.values():
            if known.alias:  # some fields refer to `rbac_users`, others to `users`
                both = [*found.get(known.name, ()), *found.get(known.alias, ())]
                found[known.name] = found[known.alias] = both
        return found

    def title_of(self, subject: Subject) -> Message:
        """Return the title of a list: its own, its menu's, its permission's, its noun, or the summary of its route."""
        one, menu = subject.list, self.menus.get(self.menu_of(subject))
        if one.title is not None:
            return Message(*one.title)
        if menu is not None and self.of_menu(menu)[0] is subject:
            return menu.title
        declared = self.catalogue.permission_titles.get(one.access)
        if declared is not None:
            return declared
        if subject.collection is not None:
            noun = subject.collection.noun
            return Message(noun.zh, plural_of(noun.en[:1].upper() + noun.en[1:]))
        return self.catalogue.summaries[one.name]

    def action_title(self, action: Route) -> Message:
        """Return the text of an action's button: its title, or that of its transition or permission, or its summary."""
        if action.title is not None:
            return Message(*action.title)
        collection = self.catalogue.collections.get(action.collection)
        names = transitions_of(action, collection) if collection is not None else ()
        if collection is not None and names:
            return collection.machine.label_of(names[0])
        alike = sum(one.access == action.access and one.writes for one in self.catalogue.routes)
        if action.path.rpartition("/")[2] == action.access.rpartition(":")[2] or alike == 1:
            return self.catalogue.permission_title(action.access)
        return self.catalogue.summaries[action.name]

    def _subject(self, listing: Route) -> Subject:
        base = listing.path.removesuffix("/all")
        below = {name: one for name, one in self._named.items() if one.path == base or one.path.startswith(f"{base}/")}
        alike = (one for one in self.catalogue.collections.values() if one.read is listing.returns)
        collection = self.catalogue.collections.get(listing.collection) or next(alike, None)
        keys = (one.parameters[0] for one in below.values() if one.path.startswith(f"{base}/{{"))
        return Subject(listing.path, listing, collection, below, next(keys, "id"))


def _leads(path: Sequence[str], steps: Sequence[str]) -> bool:
    alike = (one.startswith("{") or one == step for one, step in zip(path, steps, strict=False))
    return len(path) == len(steps) and all(alike)


def _lists(one: Route, named: Mapping[str, Route]) -> bool:
    """Return whether the route is a list that a page can show, which needs no parameters to be given."""
    if one.method != "GET" or one.parameters or one.bare or one.path.endswith("/imports") or f"{one.name}/all" in named:
        return False
    if not (one.guarded or (one.access == SIGNED_IN and f"POST {one.path}" in named)):
        return False
    holds_records = one.paged or (one.returns.items is not None and bool(one.returns.items.fields))
    return holds_records and not any(field.required for field in one.query.values())


def _resources(subject: Subject) -> set[str]:
    """Return the resources whose menus show the list: its own, or else that of the route that creates its records."""
    if subject.list.guarded:
        return {subject.list.access.rpartition(":")[0]}
    writer = subject.route("POST")
    return {writer.access.rpartition(":")[0]} if writer is not None and writer.guarded else set()
