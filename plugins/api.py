"""All that a plugin may import from the core, by task, with a line for each name. Editors show the rest at the name.

Start with `Plugin`, `Collection`, the fields, `crud` and `route`; the other groups are for when you need them.
"""

# -- Declare a plugin
from handlers.reports.audits import (
    Audit as Audit,  # a check of stored sums against their entries, piece by piece
    Debt as Debt,  # what the records of a business type owe, by their entries
    Difference as Difference,  # a record that does not agree with its entries
    Due as Due,  # what is owed for a record
    Piece as Piece,  # the records that a check gets at once, and what to compare them with
    Remark as Remark,  # a record that a check counts, but that is no difference
    audit_piece as audit_piece,  # run a check over the next records
    compare as compare,  # the differences between the fields of a record and what they should be
    difference as difference,  # a difference of a record, in words
)
from handlers.reports.dashboards import (
    OF_A_DEPARTMENT as OF_A_DEPARTMENT,  # the parameter of dashboards whose records have a department
    Dashboard as Dashboard,  # the plugin's part of a dashboard
    narrow_to_department as narrow_to_department,  # read only the records of the department that the query names
    summed as summed,  # a part that consists only of sums over records
)
from handlers.reports.figures import (
    ByTime as ByTime,  # rows for each day or month of a field
    ByValue as ByValue,  # rows for each value of a field
    Figures as Figures,  # sums over the records of a collection, which also give the records behind them
    split_cell as split_cell,  # the array, the key and the figure that a cell names
)
from handlers.data.collection import Collection as Collection  # records of one kind: fields, indexes, audit fields
from handlers.data.index import Index as Index  # an index of a collection
from handlers.data.states import (
    StateMachine as StateMachine,  # the states of a record and the transitions between them
    Transition as Transition,  # one transition: the states that it starts from, and the one that it leads to
)
from handlers.catalogue.declarations import (
    ACTION_TITLES as ACTION_TITLES,  # the titles of the permissions that `crud` and tables make
    Catalogue as Catalogue,  # the declarations of all loaded plugins, checked
    Dictionary as Dictionary,  # an enumeration that clients show
    Item as Item,  # an entry of a dictionary
    Menu as Menu,  # a page of the front ends, with the buttons of its permissions
    dictionary as dictionary,  # a dictionary, with its items by their values
    page as page,  # a page of a resource, in the menu of its module
    Option as Option,  # a setting that administrators change while the service runs
)
from handlers.route import (
    PUBLIC as PUBLIC,  # access: everybody, without a token
    SIGNED_IN as SIGNED_IN,  # access: everybody who is logged in
    SUPER as SUPER,  # access: super administrators
    Handler as Handler,  # the type of a handler: a coroutine function of a `Request`
    Refusal as Refusal,  # an error that a handler raises for a caller who has the permission
    Route as Route,  # one endpoint
    RouteOptions as RouteOptions,  # the optional arguments of `route`, as a `TypedDict`
    conflicts as conflicts,  # the refusals (40901) with these messages
    route as route,  # declare an endpoint
)
from handlers.catalogue.dictionaries import (
    Dictionaries as Dictionaries,  # the current entries of all dictionaries
    Entries as Entries,  # entries of dictionaries, by type and value
    Entry as Entry,  # one entry
)
from handlers.events import Event as Event  # a message to other plugins, and the fields that it carries
from handlers.catalogue.responsibilities import (
    Holding as Holding,  # the records that people are responsible for, to be handed over when somebody leaves
    Move as Move,  # the hand-over of some records to another person, as the `move` of a holding gets it
    replace_person as replace_person,  # the `move` of holdings without further effects
)
from handlers.operations.migrations import (
    Migration as Migration,  # a change of documents that older versions have stored
    Stage as Stage,  # the documents of a collection that a migration changes
)
from handlers.catalogue.numbering import (
    Numbering as Numbering,  # the numbers of one type of document, in a configurable format
)
from plugins.plugin import (
    Job as Job,  # work that one instance at a time does periodically
    Listener as Listener,  # what a plugin does on an event
)
from plugins.records.approvals import Approval as Approval  # how records of a kind are approved by flows
from plugins.records.crud import (
    FINAL as FINAL,  # the description of a deletion without restoring
    crud as crud,  # the routes to list, read, create, update and delete records
    history_of as history_of,  # the route that lists the changes of a record
    with_deleted as with_deleted,  # a list with `?deleted=true`
    with_version as with_version,  # a deletion that takes the version which the client read
)
from plugins.records.demo_data import Demonstration as Demonstration  # enters demonstration data as people would
from plugins.records.on_hold import (
    hold_fields as hold_fields,  # the fields of records that can be put on hold
    holds as holds,  # the routes to put records on hold and to release them
)
from plugins.records.lifecycles import (
    VERSION as VERSION,  # the `version` in the body of an action, which is checked when given
    Action as Action,  # the route of an action that takes a record from state to state
)
from plugins.records.payment_terms import (
    due_after as due_after,  # the day on which something is due, so many days after another day
    payment_terms as payment_terms,  # the field with the number of days within which somebody has to pay
)
from plugins.records.tables import tables as tables  # the routes to export and import records as tables
from plugins.plugin import (
    Plugin as Plugin,  # the declaration of a module
    routes_of as routes_of,  # the `ROUTES` of modules, one after the other
)
from plugins.records.steps import (
    Hook as Hook,  # the type of a hook: a coroutine function of a `Step`
    Step as Step,  # one transition of one record, as the hooks of its action get it
    change_state as change_state,  # make a transition that no request asks for
)
from plugins.records.transitions import (
    approval_fields as approval_fields,  # the fields of a record that its approval shows
    approving_route as approving_route,  # the route that approves a record without a flow
    bars_of as bars_of,  # the fields of a record that forbid the action of such a route, with the reasons
    transitions as transitions,  # the routes of the actions of a state machine
    transitions_of as transitions_of,  # the transitions that such a route may make
)

# -- Events between plugins that need not be loaded together
from plugins.records.shared_events import (
    APPROVAL_CANCELLED as APPROVAL_CANCELLED,  # end the approval of a record
    APPROVAL_FINISHED as APPROVAL_FINISHED,  # how an approval ended
    APPROVAL_REQUESTED as APPROVAL_REQUESTED,  # start the approval of a record
    CONTACTS_ASKED as CONTACTS_ASKED,  # ask whom to call at some customers
    CREDIT_ASKED as CREDIT_ASKED,  # ask whether a customer may order for this amount
    DATA_RESET as DATA_RESET,  # all records of some plugins were removed
    DATED as DATED,  # a record is dated on a day, which may be in a closed month
    DEBT_ASKED as DEBT_ASKED,  # ask to report again what is owed for a record
    MONEY_ALLOCATED as MONEY_ALLOCATED,  # a payment was allocated to a record that counts its payments itself
    MONEY_MOVED as MONEY_MOVED,  # money came to an account, or left it
    MONEY_RETURNED as MONEY_RETURNED,  # such money was taken back
    NOTIFY as NOTIFY,  # put a message into inboxes
    NOTIFY_PROGRESS as NOTIFY_PROGRESS,  # show the progress of work
    OPEN_DAY_ASKED as OPEN_DAY_ASKED,  # ask on which day the effect of a date in a closed month is booked
    OWED_ASKED as OWED_ASKED,  # ask what a customer owes now
    PAYABLE_CHANGED as PAYABLE_CHANGED,  # what is owed to a supplier
    RECEIVABLE_CHANGED as RECEIVABLE_CHANGED,  # what a customer owes
    TERMS_ASKED as TERMS_ASKED,  # ask within how many days a customer pays or a supplier is paid
)

# -- Fields: the shapes of records, bodies, queries and responses
from handlers.schema.fields import (
    BLANK as BLANK,  # blank characters, for a character class in a pattern
    FIRST_DAY as FIRST_DAY,  # the earliest day that clients may send
    LAST_DAY as LAST_DAY,  # the latest day that clients may send
    NOTHING as NOTHING,  # the shape of a response without data
    Field as Field,  # the shape of one value, and its use
    FieldOptions as FieldOptions,  # the options of every field, as a `TypedDict`
    HasSettings as HasSettings,  # what the `check` of a field gets
    anything as anything,  # any JSON value
    array as array,  # a list of values of one shape
    boolean as boolean,  # true or false
    choice as choice,  # one of a fixed set of strings
    day as day,  # a calendar day
    fields_in as fields_in,  # the fields within a shape, with their paths
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
    tree_of as tree_of,  # an object with `children` of the same shape
)
from handlers.schema.shapes import (
    record_code as record_code,  # the code of a record
    record_name as record_name,  # what people call a record
    service_fields as service_fields,  # fields that only the service writes
    shape as shape,  # the shape of a body or a response: an object that is never null
)

# -- Errors and messages
from config.database import DatabaseUnavailable as DatabaseUnavailable  # the database cannot be reached: 50300
from handlers.schema.errors import (
    ACCOUNT_DISABLED as ACCOUNT_DISABLED,  # 40303
    BAD_REQUEST as BAD_REQUEST,  # 40000: a malformed request
    CONFLICT as CONFLICT,  # 40901: not allowed in this state
    DUPLICATE as DUPLICATE,  # 40900: a value that must be unique exists
    FORBIDDEN as FORBIDDEN,  # 40300: no permission
    INVALID as INVALID,  # 40001: invalid fields
    LOCKED as LOCKED,  # 42300: too many failed log-ins
    LOGIN_REFUSED as LOGIN_REFUSED,  # 40010: wrong user name or password
    MEDIA_TYPE as MEDIA_TYPE,  # 41500: a media type that is not accepted
    NOT_FOUND as NOT_FOUND,  # 40400: no such record within the caller's data scope
    PASSWORD_CHANGE_REQUIRED as PASSWORD_CHANGE_REQUIRED,  # 40301
    RANGE as RANGE,  # 41600: a range that cannot be satisfied
    RATE_LIMITED as RATE_LIMITED,  # 42900: too many requests
    REFRESH_REFUSED as REFRESH_REFUSED,  # 40102: an invalid refresh token
    STALE as STALE,  # 40902: a `version` that is not the current one
    SUPER_ONLY as SUPER_ONLY,  # 40302: for super administrators only
    TOKEN_EXPIRED as TOKEN_EXPIRED,  # 40101: an expired access token
    TOO_LARGE as TOO_LARGE,  # 41300: a body or file that is too large
    UNAUTHENTICATED as UNAUTHENTICATED,  # 40100: no valid token
    UNAVAILABLE as UNAVAILABLE,  # 50300: a back end that cannot be reached
    WECOM_REFUSED as WECOM_REFUSED,  # 40011: a refused WeCom log-in
    ApiError as ApiError,  # raise it: an error that becomes a response
    ErrorKind as ErrorKind,  # declare it: an error with its code, status and message
    FieldError as FieldError,  # a field at fault and the rule that it breaks
    ValidationFailed as ValidationFailed,  # raise it: 40001 with several fields
    invalid as invalid,  # make the 40001 for one field
    unavailable as unavailable,  # make a 50300 with `Retry-After`
)
from handlers.schema.messages import (
    RULES as RULES,  # the message of each validation rule
    Language as Language,  # `zh` or `en`
    Message as Message,  # a text in Chinese and English
)
from handlers.catalogue.views import View as View  # how pages show the records of a collection

from plugins.records.booking_days import (
    find_booked_on as find_booked_on,  # the day on which the effect of a date is booked
)

# -- Requests and responses
from handlers.access.actor import (
    ANONYMOUS as ANONYMOUS,  # the actor of a request without a token
    SYSTEM as SYSTEM,  # the actor of jobs and of the start
    Actor as Actor,  # the person behind a request
)
from handlers.reports.periods import (
    Period as Period,  # the days that a dashboard covers
    end_of_month as end_of_month,  # the last day of the month of a day
    period_of as period_of,  # the period that a query names
)
from handlers.data.lists.filters import (
    Page as Page,  # one page of a list
    rows_before as rows_before,  # the rows before the page that a query names
)
from handlers.idempotency import respond_once as respond_once  # run a write once for each idempotency key
from handlers.lifecycle import Response as Response  # an HTTP response without an envelope
from handlers.request import Request as Request  # what a handler gets
from handlers.schema.values import (
    Query as Query,  # the type of a validated query string
    Record as Record,  # the type of a record
)

# -- Data
from config.database import Filter as Filter  # the type of a filter of MongoDB
from config.database import (
    reading_from_secondaries as reading_from_secondaries,  # for figures that a secondary may compute
)
from handlers.data.history.cause import (
    caused_by as caused_by,  # let the history name a request for writes that outlive it
)
from handlers.data.collection import new_id as new_id  # a new id for a record
from handlers.data.references.dangling import remove_dangling as remove_dangling  # remove references to lost records
from handlers.data.references.record_names import (
    RecordNames as RecordNames,  # what records are called now, by their ids
    name_of as name_of,  # what a record is called: its label, or its code
)
from handlers.data.database import (
    Database as Database,  # transactions, and stores without a request
    utc_now as utc_now,  # the current time in UTC, as MongoDB stores it
)
from handlers.data.sync.cached_snapshot import (
    CachedSnapshot as CachedSnapshot,  # a snapshot of a whole collection in memory
    RecordCache as RecordCache,  # some records of a collection in memory
)
from handlers.data.visible.keepers import (
    check_keeper as check_keeper,  # refuse a record that has keepers other than the caller
)
from handlers.data.history.restoring import restore as restore  # undo a soft delete
from handlers.data.visible.scope import (
    ALL_ROWS as ALL_ROWS,  # the data scope without a limit
    Scope as Scope,  # the rows that a caller may see
)
from handlers.data.lists.series import (
    by_day as by_day,  # sums for each day
    by_month as by_month,  # sums for each month
)
from handlers.data.sync.single_flight import (
    SingleFlight as SingleFlight,  # single-flight: concurrent callers share one call
)
from handlers.data.visible.owner_moves import (
    follow_at_once as follow_at_once,  # give records their owners' new departments
)
from handlers.data.dry_run import undone as undone  # do work in a transaction that is rolled back
from handlers.data.transitions import try_transition as try_transition  # make a transition if the state allows it
from handlers.data.store import Store as Store  # read and write a collection, within a data scope

# -- Money and time
from handlers.schema.calendar import (
    day_of as day_of,  # the business day of a moment
    last_days as last_days,  # the last days up to today
    last_months as last_months,  # the last months up to this one
    start_of as start_of,  # the moment at which a business day starts
)
from handlers.schema.money import (
    exact as exact,  # a stored amount as a `Decimal`
    rounded as rounded,  # round to the cent
    share as share,  # the share of an amount, to the cent
    store_money as store_money,  # an amount for MongoDB
    store_quantity as store_quantity,  # a quantity for MongoDB
    times as times,  # quantity times price, to the cent
)

# -- Background work and costly work
from handlers.confined.pool import (
    Confined as Confined,  # worker processes with limits of time and memory
    Lane as Lane,  # one kind of work for worker processes
    TooCostly as TooCostly,  # raised for work beyond the limits of its lane
    Work as Work,  # a job in a worker process
    WorkFailed as WorkFailed,  # raised if the function of a job raised
)
from handlers.data.database import Lease as Lease  # a lock that one instance holds for a time
from handlers.operations.jobs import (
    Jobs as Jobs,  # background tasks, and periodic jobs on one instance
    LastRun as LastRun,  # when a periodic job last ran, and when it is due next
    Periodic as Periodic,  # a periodic job
)
from handlers.operations.processes import (
    Processes as Processes,  # the processes of this port
    ProcessState as ProcessState,  # what a process reports about itself
)

# -- Tables: for an import that writes rows in its own way; `tables` does not need these names
from handlers.tables.columns import TableColumn as TableColumn  # a column of a table
from handlers.tables.conversion import (
    parse_row as parse_row,  # the cells of a row as values
    row_body as row_body,  # these values as the body of a request that creates a record
)
from handlers.tables.dry_run import DryRun as DryRun  # counts rows of a dry run that name records of rows above them
from handlers.tables.exporting import csv_response as csv_response  # stream rows as a CSV file, without formulas
from handlers.tables.handlers import imported_tables as imported_tables  # the tables that some routes import
from handlers.tables.records import (
    import_rows_of as import_rows_of,  # a collection of rows that wait to be written
    imports_of as imports_of,  # a collection of imports
)
from handlers.tables.report import (
    ImportReport as ImportReport,  # the outcome of some rows
    TableRows as TableRows,  # rows of a table: their numbers and cells
)
from handlers.tables.rows import TableReferences as TableReferences  # the records that cells refer to
from handlers.tables.running import resume_imports as resume_imports  # continue imports that another instance left
from handlers.tables.table import (
    ImportLimits as ImportLimits,  # limits of an import
    Table as Table,  # the tables of a collection
)
from handlers.tables.values import (
    ValueLabels as ValueLabels,  # the labels of states, choices and dictionaries
    labels_of as labels_of,  # the labels of the values of one field
)
from plugins.records.tables import (
    ImportNotices as ImportNotices,  # notifies the person behind an import of its progress
)

# -- Advanced: ports, services, uploads, permissions
from config.settings import EnvironmentSettings as EnvironmentSettings  # base of a plugin's settings in the environment
from config.settings import is_placeholder as is_placeholder  # whether a secret is that of an example
from config.tracing import (
    span as span,  # a span of a trace, for calls of other services
    trace_headers as trace_headers,  # the header fields by which other services join the trace
)
from handlers.events import Events as Events  # listeners and emitters of events
from handlers.http.addresses import network_of as network_of  # the network of an address, to group clients
from handlers.http.multipart import (
    Form as Form,  # a multipart form that is read piece by piece
    FormFile as FormFile,  # a file of such a form
)
from handlers.operations.metrics import Metrics as Metrics  # the figures that monitoring reads
from handlers.access.missing_permission import (
    missing_permission as missing_permission,  # the 40300 that names a permission
)
from handlers.lifecycle import refusal as refusal  # why a person may not use a route
from handlers.results import (
    Encoded as Encoded,  # the body of a response, encoded already
    encode_once as encode_once,  # encode what several responses share
    name_references as name_references,  # add the names beside the references in values of a shape
)
from handlers.data.visible.delegated_access import Passage as Passage  # what the passes of one person admit
from handlers.access.delegated_requests import pass_for as pass_for  # why a pass admits a record
from handlers.operations.operation_log import OPERATION_LOGS as OPERATION_LOGS  # the collection of the operation log
from handlers.access.own_requests import (
    REFUSES_OWN as REFUSES_OWN,  # declare it: the refusal of `refuse_own`
    may_decide_on_own as may_decide_on_own,  # whether people may decide on their own requests
    people_behind as people_behind,  # the people whose own request a record is
    refuse_own as refuse_own,  # refuse a decision by these people
)
from handlers.ports import (
    Accounts as Accounts,  # port: finds people, for work on their behalf
    Approvals as Approvals,  # port: which records wait in a flow
    Authenticator as Authenticator,  # port: who the caller is
    Authorizer as Authorizer,  # port: what a caller may do and see
    Departments as Departments,  # port: the tree of departments
    OptionValues as OptionValues,  # port: the settings that administrators change
    OwnRequests as OwnRequests,  # port: whether people may decide on their own requests
    Passes as Passes,  # port: what people may read because they are asked about it
)
from handlers.access.rate_limit import AtOnce as AtOnce  # limits what one person does at the same time
from handlers.access.rate_limit import RateLimit as RateLimit  # limits the calls a minute for each key
from handlers.routing import Router as Router  # finds the route of a path
from handlers.schema.envelope import as_json as as_json  # a record in JSON types
from handlers.schema.json_schema import json_schema as json_schema  # the JSON Schema of a field
from handlers.schema.redaction import redacted as redacted  # a copy without secrets
from handlers.service import Service as Service  # what is shared within one process
from handlers.service import StartError as StartError  # refuses the start with a sentence
