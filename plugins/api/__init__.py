"""What every plugin imports, with a line for each name. Editors show the rest at the name.

Start with `Plugin`, `Collection`, the fields, `crud` and `route`. The modules beside this one have the rest by subject:
`fields`, `values`, `errors`, `events`, `records`, `data`, `reports`, `spreadsheets`, `requests`, `workers`, `ports`,
`business`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

# -- Declare a plugin
from config.settings import (
    EnvironmentSettings as EnvironmentSettings,  # base of a plugin's settings in the environment
)
from handlers.catalogue.declarations import (
    Dictionary as Dictionary,  # an enumeration that clients show
    Menu as Menu,  # a page of the front ends, with the buttons of its permissions
    Option as Option,  # a setting that administrators change while the service runs
    dictionary as dictionary,  # a dictionary, with its items by their values
    page as page,  # a page of a resource, in the menu of its module
)
from handlers.catalogue.extending import (
    Extends as Extends,  # fields of a plugin on a collection of another one
)
from handlers.catalogue.declarations import (
    View as View,  # how pages show the records of a collection
)
from handlers.data.collection import (
    Collection as Collection,  # records of one kind: fields, indexes, audit fields
)
from handlers.data.index import (
    Index as Index,  # an index of a collection
)
from handlers.data.states import (
    StateMachine as StateMachine,  # the states of a record and the transitions between them
    Transition as Transition,  # one transition: the states that it starts from, and the one that it leads to
)
from handlers.events import (
    Event as Event,  # a message to other plugins, and the fields that it carries
)
from handlers.schema.errors import (
    ErrorKind as ErrorKind,  # declare it: an error with its code, status and message
)
from handlers.schema.messages import (
    Message as Message,  # a text in Chinese and English
)
from plugins.plugin import (
    Job as Job,  # work that one instance at a time does periodically
    Listener as Listener,  # what a plugin does on an event
    Plugin as Plugin,  # the declaration of a module
    routes_of as routes_of,  # the `ROUTES` of modules, one after the other
)
from plugins.records.shared_events import (
    NOTIFY as NOTIFY,  # put a message into inboxes
)

# -- Routes and what records do
from handlers.lifecycle import (
    Response as Response,  # an HTTP response without an envelope
)
from handlers.route import (
    Handler as Handler,  # the type of a handler: a coroutine function of a `Request`
    PUBLIC as PUBLIC,  # access: everybody, without a token
    Refusal as Refusal,  # an error that a handler raises for a caller who has the permission
    Route as Route,  # one endpoint
    SIGNED_IN as SIGNED_IN,  # access: everybody who is logged in
    conflicts as conflicts,  # the refusals (40901) with these messages
    route as route,  # declare an endpoint
)
from plugins.records.approvals import (
    Approval as Approval,  # how records of a kind are approved by flows
)
from plugins.records.crud import (
    crud as crud,  # the routes to list, read, create, update and delete records
)
from plugins.records.lifecycles import (
    Action as Action,  # the route of an action that takes a record from state to state
)
from plugins.records.steps import (
    Step as Step,  # one transition of one record, as the hooks of its action get it
)
from plugins.records.tables import (
    tables as tables,  # the routes to export and import records as tables
)
from plugins.records.transitions import (
    transitions as transitions,  # the routes of the actions of a state machine
)

# -- Requests and data
from handlers.access.actor import (
    Actor as Actor,  # the person behind a request
)
from handlers.data.database import (
    utc_now as utc_now,  # the current time in UTC, as MongoDB stores it
)
from handlers.data.lists.filters import (
    Page as Page,  # one page of a list
)
from handlers.data.store import (
    Store as Store,  # read and write a collection, within a data scope
)
from handlers.request import (
    Request as Request,  # what a handler gets
)
from handlers.schema.calendar import (
    day_of as day_of,  # the business day of a moment
)
from handlers.schema.money import (
    exact as exact,  # a stored amount as a `Decimal`
    store_money as store_money,  # an amount for MongoDB
)
from handlers.schema.values import (
    Record as Record,  # the type of a record
)
from handlers.service import (
    Service as Service,  # what is shared within one process
)

# -- Fields
from handlers.schema.fields import (
    Field as Field,  # the shape of one value, and its use
    anything as anything,  # any JSON value
    array as array,  # a list of values of one shape
    boolean as boolean,  # true or false
    choice as choice,  # one of a fixed set of strings
    day as day,  # a calendar day
    integer as integer,  # an integer
    link as link,  # a URL that clients follow or show
    mapping as mapping,  # an object with any keys
    money as money,  # an exact amount with two decimals
    number as number,  # a floating-point number, never money
    obj as obj,  # an object with exactly these fields
    object_id as object_id,  # the id of a record, perhaps a reference
    quantity as quantity,  # an exact amount of goods, up to four decimals
    text as text,  # a string
    timestamp as timestamp,  # a moment in UTC
)
from handlers.schema.fields import (
    record_name as record_name,  # what people call a record
    service_fields as service_fields,  # fields that only the service writes
    shape as shape,  # the shape of a body or a response: an object that is never null
)

# -- Errors
from handlers.schema.errors import (
    ApiError as ApiError,  # raise it: an error that becomes a response
    CONFLICT as CONFLICT,  # 40901: not allowed in this state
    FORBIDDEN as FORBIDDEN,  # 40300: no permission
    NOT_FOUND as NOT_FOUND,  # 40400: no such record within the caller's data scope
    invalid as invalid,  # make the 40001 for one field
)

_SUBJECTS = (
    "errors",
    "events",
    "fields",
    "values",
    "records",
    "data",
    "reports",
    "spreadsheets",
    "requests",
    "workers",
    "ports",
    "business",
)


def find_moved(former: str, subjects: Iterable[str], name: str) -> Any:
    """Find a name that the module `former` had where it is now, for plugins that were written before it moved."""
    for subject in () if name.startswith("_") else subjects:
        module = import_module(f"plugins.api.{subject}")
        if name in vars(module):
            warnings.warn(f"import {name} from plugins.api.{subject}", DeprecationWarning, stacklevel=2)
            return getattr(module, name)
    raise AttributeError(f"module {former!r} has no attribute {name!r}")


if not TYPE_CHECKING:
    __getattr__ = partial(find_moved, __name__, _SUBJECTS)
