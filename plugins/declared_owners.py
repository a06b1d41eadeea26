"""Checks of `Collection.owner`: the field with the responsible person, whose department sees the record too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from handlers.data.collection import THE_USERS, Collection

OWNER_ID = "owner_id"  # the name by which every plugin and client knows the responsible person


def owner_problems(where: str, collection: Collection, known: Mapping[str, Collection]) -> Iterator[str]:
    """Yield a sentence for each fault in the owner of `collection`; `known` are all collections by name and alias."""
    if not collection.owner:
        field = collection.fields.get(OWNER_ID)
        if field is not None and not collection.plain:
            yield f'{where} has {OWNER_ID} and does not declare it: write owner="{OWNER_ID}".'
        return
    owner = collection.fields.get(collection.owner)
    if owner is None:
        yield f"{where} has the owner {collection.owner}, which is no field of it."
    elif owner.ref is None or known.get(owner.ref) is not known.get(THE_USERS):
        yield f"{where} has the owner {collection.owner}, which does not refer to {THE_USERS}."
    elif not owner.history:
        yield f"{where} has the owner {collection.owner}, whose changes its history would not show (history=False)."
    if collection.plain:
        yield f"{where} has an owner and is plain: only records with audit fields have a responsible department."
    if collection.scope_department != Collection.scope_department:
        yield f"{where} has an owner and rows by {collection.scope_department}: only one of them can say whose it is."
