"""The person for whom a page is made: what they may do, and the words in their language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plugins.api import Collection, Field, Menu, Message, Request, Route, View
from plugins.api.errors import refusal
from plugins.api.ports import Authorizer
from plugins.api.records import ACTION_TITLES, Entries
from plugins.api.spreadsheets import labels_of
from plugins.api.values import Language
from plugins.console.nodes import WORDS, call, plain
from plugins.console.site import Site

_REQUESTS = ("api", "initApi", "source")  # the requests of a part of a page


@dataclass(frozen=True)
class Viewer:
    """One person's view: `allowed` has the names of the routes that they may use.

    `empty`: the collections of `Field.only_with` that have no records.
    """

    site: Site
    language: Language
    entries: Entries
    allowed: frozenset[str]
    empty: frozenset[str] = frozenset()

    def may(self, route: Route | None) -> bool:
        """Return whether they may use the route."""
        return route is not None and route.name in self.allowed

    def hides(self, field: Field | None) -> bool:
        """Return whether the field is of no use yet."""
        return field is not None and field.only_with in self.empty

    def may_pick(self, target: str | None) -> bool:
        """Return whether they may choose among the records of a collection; True for None."""
        return target is None or any(name in self.allowed for name in self.site.writers.get(target, ()))

    def say(self, message: Message) -> str:
        """Return a message in their language, as plain text for a page description."""
        return plain(message.text(self.language))

    def said(self, part: object) -> object:
        """Return a part of a page that a plugin declares, in their language and without what they may not request."""
        if isinstance(part, Message):
            return self.say(part)
        if isinstance(part, Mapping):
            said = {name: self.said(one) for name, one in part.items()}
            return {**said, **call(str(said["method"]), str(said["url"]))} if {"method", "url"} <= said.keys() else said
        if isinstance(part, (list, tuple)):
            return [self.said(one) for one in part if not isinstance(one, Mapping) or self.may_request(one)]
        return part

    def may_request(self, part: Mapping[str, object]) -> bool:
        """Return whether they may send every request that the part of a page itself makes."""
        requests = [one for name in _REQUESTS if isinstance(one := part.get(name), Mapping)]
        return all(self.may(self.site.called(str(one["method"]), str(one["url"]))) for one in requests)

    def word(self, name: str, **values: str) -> str:
        """Return one of the console's own words in their language."""
        return WORDS[name].text(self.language, **values)

    def label(self, name: str, field: Field) -> str:
        """Return the label of a field."""
        label = field.label or self.site.labels.get(name)
        return self.say(label) if label is not None else plain(name.replace("_", " "))

    def values(self, field: Field, name: str = "", view: View | None = None) -> Mapping[str, str]:
        """Return the labels of the values of a field that accepts only certain ones, or those that a view offers."""
        if view is not None and isinstance(options := view.widgets.get(name, {}).get("options"), Sequence):
            return {str(one["value"]): self.say(one["label"]) for one in options}
        if name == "biz_type":
            nouns = {biz_type: self.noun(one) for biz_type, one in self.site.catalogue.biz_types.items()}
            return {**nouns, **{value: self.say(one.label) for value, one in self.entries.get(name, {}).items()}}
        known = labels_of(self.site.catalogue, self.entries, field)
        listed: tuple[str, ...] = tuple(known) or tuple(field.rules.get("enum") or ())
        return {value: self.say(known[value]) if value in known else plain(value) for value in listed}

    def colors(self, field: Field) -> Mapping[str, str]:
        """Return the colours of the values of a field, from its dictionary, or from the states that it holds."""
        values, entries = set(field.rules.get("enum") or ()), self.entries.get(field.dictionary or "", {})
        known = (one.type for one in self.site.catalogue.dictionaries if set(one.entries) == values)
        shown = entries or self.entries.get(next(known, ""), {})
        named = {value: entry.color for value, entry in shown.items() if entry.color}
        machines = [one for one in self.site.catalogue.state_machines if not named and set(one.states) == values]
        return named or {state: one.color_of(state) for one in machines for state in one.states}

    def page_of(self, collection: Collection, id: str) -> str:
        """Return the address of the page of a record, or an empty string if they may not read it."""
        found = (one for one in self.site.subjects.values() if one.collection is collection and self.may(one.read))
        return next((f"#/records/{one.name}/{id}" for one in found), "")

    def pages_of(self, target: str | None) -> str:
        """Return what the addresses of the records begin with to which a field refers, or an empty string."""
        known = self.site.catalogue.collections.values()
        collection = next((one for one in known if target and target in (one.name, one.alias)), None)
        return self.page_of(collection, "") if collection is not None else ""

    def noun(self, collection: Collection) -> str:
        """Return the noun for a record of a collection, with a capital letter."""
        noun = self.say(Message(*collection.noun))
        return noun[:1].upper() + noun[1:]

    def menu_title(self, menu: Menu) -> str:
        """Return the title of a menu behind that of its directory."""
        group = self.site.menus.get(menu.parent)
        return " › ".join(self.say(one.title) for one in (group, menu) if one is not None)

    def heading(self, title: str, collection: Collection | None) -> str:
        """Return what an action is called with the noun of the records, as the heading of what it asks."""
        if collection is None or " " in title or title.lower() in self.say(Message(*collection.noun)).lower():
            return title
        word = "called" if title in map(self.say, ACTION_TITLES.values()) else "acts"
        return self.word(word, action=title, noun=self.say(Message(*collection.noun)))

    def offered(self, field: Field) -> Mapping[str, str]:
        """Return the labels of the values that can be chosen now."""
        entries, labels = self.entries.get(field.dictionary or field.labelled_by, {}), self.values(field)
        allowed = field.rules.get("enum") or labels
        return {
            value: labels[value]
            for value in labels
            if value in allowed and getattr(entries.get(value), "enabled", True)
        }


async def view(req: Request, site: Site, entries: Entries) -> Viewer:
    """Return the view of the caller."""
    authorizer = req.part(Authorizer)
    allowed = [one.name for one in site.catalogue.routes if await refusal(req.actor, one, authorizer) is None]
    empty = await req.service.database.find_empty(site.conditions)
    return Viewer(site, req.language, entries, frozenset(allowed), empty)
