"""Checks of keepers: that their field refers to users, and that what a record follows has keepers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from handlers.data.collection import THE_USERS, Collection


def keeper_problems(where: str, collection: Collection, known: Mapping[str, Collection]) -> Iterator[str]:
    """Yield a sentence for each fault; `known` are all collections by their names and aliases."""
    people = collection.fields.get(collection.keepers)
    target = collection.references.get(collection.keepers, "")
    if collection.keepers and (people is None or people.kind != "array" or known.get(target) != known.get(THE_USERS)):
        yield f"{where} has the keepers {collection.keepers}, which is no list of references to users among its fields."
    followed = known.get(collection.references.get(collection.follows, ""))
    if collection.follows and (followed is None or not followed.keepers):
        yield f"{where} follows {collection.follows}, which is no reference to records with keepers."
