"""More about the life of records: history, holding, numbering, people who are responsible, demonstration data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from handlers.access.requests import (
    PEOPLE_BEHIND as PEOPLE_BEHIND,  # the fields with the people whose own request a record is
)
from handlers.catalogue.custom_fields import (
    CUSTOM_FIELDS as CUSTOM_FIELDS,  # the collection of the fields that administrators add to records
    MOST_FIELDS as MOST_FIELDS,  # own fields of a collection
    MOST_FILTERS as MOST_FILTERS,  # those of them by which lists filter
    CustomFields as CustomFields,  # these fields, as they are in force
    in_records as in_records,  # the name under which records have such a field
)
from handlers.catalogue.declarations import (
    ACTION_TITLES as ACTION_TITLES,  # the titles of the permissions that `crud` and tables make
    Catalogue as Catalogue,  # the declarations of all loaded plugins, checked
    Item as Item,  # an entry of a dictionary
    Makes as Makes,  # another record that people make from one, in a `View`
)
from handlers.catalogue.dictionaries import (
    Dictionaries as Dictionaries,  # the current entries of all dictionaries
    Entries as Entries,  # entries of dictionaries, by type and value
    Entry as Entry,  # one entry
)
from handlers.catalogue.numbering import (
    Numbering as Numbering,  # the numbers of one type of document, in a configurable format
)
from handlers.catalogue.responsibilities import (
    Holding as Holding,  # the records that people are responsible for, to be handed over when somebody leaves
    Move as Move,  # the hand-over of some records to another person, as the `move` of a holding gets it
)
from plugins.api import find_moved
from plugins.records.crud import (
    FINAL as FINAL,  # the description of a deletion without restoring
    history_of as history_of,  # the route that lists the changes of a record
    with_deleted as with_deleted,  # a list with `?deleted=true`
    with_version as with_version,  # a deletion that takes the version which the client read
)
from plugins.records.demo_data import (
    Demonstration as Demonstration,  # enters demonstration data as people would
)
from plugins.records.lifecycles import (
    VERSION as VERSION,  # the `version` in the body of an action, which is checked when given
)
from plugins.records.on_hold import (
    hold_fields as hold_fields,  # the fields of records that can be put on hold
    holds as holds,  # the routes to put records on hold and to release them
)
from plugins.records.steps import (
    ON_HOLD as ON_HOLD,  # why a record on hold refuses what waits
    Announced as Announced,  # base of what a hook keeps for later ones, and the event of the transition carries
    Hook as Hook,  # the type of a hook: a coroutine function of a `Step`
    change_state as change_state,  # make a transition that no request asks for
)
from plugins.records.transitions import (
    approval_fields as approval_fields,  # the fields of a record that its approval shows
    approval_record as approval_record,  # what the conditions of flows would see of a record now
    approving_route as approving_route,  # the route that approves a record without a flow
    bars_of as bars_of,  # the fields of a record that forbid the action of such a route, with the reasons
    is_withdrawal as is_withdrawal,  # whether such a route takes back what was submitted for approval
    transitions_of as transitions_of,  # the transitions that such a route may make
)
from plugins.records.wording import (
    plural_of as plural_of,  # the English plural of a noun
)

if not TYPE_CHECKING:
    __getattr__ = partial(find_moved, __name__, ("business",))
