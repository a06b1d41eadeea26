"""Protocols that plugins implement for the core, and what the built-in ones need for that."""

from __future__ import annotations

from handlers.access.rate_limit import (
    AtOnce as AtOnce,  # limits what one person does at the same time
    RateLimit as RateLimit,  # limits the calls a minute for each key
)
from handlers.access.requests import (
    REFUSES_OWN as REFUSES_OWN,  # declare it: the refusal of `refuse_own`
    may_decide_on_own as may_decide_on_own,  # whether people may decide on their own requests
    pass_for as pass_for,  # why a pass admits a record
    people_behind as people_behind,  # the people whose own request a record is
    refuse_own as refuse_own,  # refuse a decision by these people
)
from handlers.data.visible.delegated_access import (
    Passage as Passage,  # what the passes of one person admit
)
from handlers.operations.jobs import (
    LastRun as LastRun,  # when a periodic job last ran, and when it is due next
    Periodic as Periodic,  # a periodic job
)
from handlers.operations.metrics import (
    Metrics as Metrics,  # the figures that monitoring reads
)
from handlers.operations.operation_log import (
    OPERATION_LOGS as OPERATION_LOGS,  # the collection of the operation log
)
from handlers.operations.processes import (
    Processes as Processes,  # the processes of this port
    ProcessState as ProcessState,  # what a process reports about itself
)
from handlers.ports import (
    Absences as Absences,  # port: who is away, such as on leave
    Accounts as Accounts,  # port: finds people, for work on their behalf
    Approvals as Approvals,  # port: which records wait in a flow
    AttachedFile as AttachedFile,  # a file of a record
    Attachments as Attachments,  # port: the files of records
    Authenticator as Authenticator,  # port: who the caller is
    Authorizer as Authorizer,  # port: what a caller may do and see
    Departments as Departments,  # port: the tree of departments
    DirectLinks as DirectLinks,  # port: where a message leads that is sent to one person outside
    OptionValues as OptionValues,  # port: the settings that administrators change
    OwnRequests as OwnRequests,  # port: whether people may decide on their own requests
    Passes as Passes,  # port: what people may read because they are asked about it
    WorkingTime as WorkingTime,  # port: when people work
)
from handlers.routing import (
    Router as Router,  # finds the route of a path
)
from handlers.service import (
    Port as Port,  # a question to a plugin that need not be loaded; derive your own from it
)
