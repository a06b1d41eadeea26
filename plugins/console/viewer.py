"""The person for whom a page is made: what they may do, and the words in their language."""

from collections.abc import Mapping
from dataclasses import dataclass

from plugins.api import Collection, Field, Message, Request, Route
from plugins.api.errors import refusal
from plugins.api.ports import Authorizer
from plugins.api.records import Entries
from plugins.api.spreadsheets import labels_of
from plugins.api.values import Language
from plugins.console.nodes import WORDS, plain
from plugins.console.site import Site


@dataclass(frozen=True)
class Viewer:
    """One person's view: `allowed` has the names of the routes that they may use."""

    site: Site
    language: Language
    entries: Entries
    allowed: frozenset[str]

    def may(self, route: Route | None) -> bool:
        """Return whether they may use the route."""
        return route is not None and route.name in self.allowed

    def may_pick(self, target: str | None) -> bool:
        """Return whether they may choose among the records of a collection; True for None."""
        return target is None or any(name in self.allowed for name in self.site.writers.get(target, ()))

    def say(self, message: Message) -> str:
        """Return a message in their language, as plain text for a page description."""
        return plain(message.text(self.language))

    def word(self, name: str, **values: str) -> str:
        """Return one of the console's own words in their language."""
        return WORDS[name].text(self.language, **values)

    def label(self, name: str, field: Field) -> str:
        """Return the label of a field."""
        label = field.label or self.site.labels.get(name)
        return self.say(label) if label is not None else plain(name.replace("_", " "))

    def values(self, field: Field, name: str = "") -> Mapping[str, str]:
        """Return the labels of the values of a field that accepts only certain ones."""
        if name == "biz_type":
            nouns = {biz_type: self.noun(one) for biz_type, one in self.site.catalogue.biz_types.items()}
            return {**nouns, **{value: self.say(one.label) for value, one in self.entries.get(name, {}).items()}}
        known = labels_of(self.site.catalogue, self.entries, field)
        listed: tuple[str, ...] = tuple(known) or tuple(field.rules.get("enum") or ())
        return {value: self.say(known[value]) if value in known else plain(value) for value in listed}

    def page_of(self, collection: Collection, id: str) -> str:
        """Return the address of the page of a record, or an empty string if they may not read it."""
        found = (one for one in self.site.subjects.values() if one.collection is collection and self.may(one.read))
        return next((f"#/records/{one.name}/{id}" for one in found), "")

    def noun(self, collection: Collection) -> str:
        """Return the noun for a record of a collection, with a capital letter."""
        noun = self.say(Message(*collection.noun))
        return noun[:1].upper() + noun[1:]

    def offered(self, field: Field) -> Mapping[str, str]:
        """Return the labels of the values that can be chosen now."""
        entries, labels = self.entries.get(field.dictionary or "", {}), self.values(field)
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
    return Viewer(site, req.language, entries, frozenset(allowed))
