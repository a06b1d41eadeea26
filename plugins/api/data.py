"""The data layer below `Store`: transactions, leases, caches, migrations, scopes."""

from __future__ import annotations

from config.database import (
    Filter as Filter,  # the type of a filter of MongoDB
    reading_from_secondaries as reading_from_secondaries,  # for figures that a secondary may compute
)
from handlers.data.collection import (
    new_id as new_id,  # a new id for a record
)
from handlers.data.database import (
    Database as Database,  # transactions, and stores without a request
    Lease as Lease,  # a lock that one instance holds for a time
)
from handlers.data.dry_run import (
    undone as undone,  # do work in a transaction that is rolled back
)
from handlers.data.history.history import (
    Change as Change,  # one change of a record, as its history has it
)
from handlers.data.history.restoring import (
    restore as restore,  # undo a soft delete
)
from handlers.data.lists.filters import (
    page_of_rows as page_of_rows,  # the page that a query names of rows that a report has computed
    query_of_rows as query_of_rows,  # its paging parameters
    rows_before as rows_before,  # the rows before the page that a query names
)
from handlers.data.lists.series import (
    by_day as by_day,  # sums for each day
    by_month as by_month,  # sums for each month
)
from handlers.data.references.dangling import (
    remove_dangling as remove_dangling,  # remove references to lost records
)
from handlers.data.references.record_names import (
    RecordNames as RecordNames,  # what records are called now, by their ids
    name_of as name_of,  # what a record is called: its label, or its code
)
from handlers.data.sync.cached_snapshot import (
    CachedSnapshot as CachedSnapshot,  # a snapshot of a whole collection in memory
    RecordCache as RecordCache,  # some records of a collection in memory
)
from handlers.data.sync.single_flight import (
    SingleFlight as SingleFlight,  # single-flight: concurrent callers share one call
)
from handlers.data.transitions import (
    try_transition as try_transition,  # make a transition if the state allows it
)
from handlers.data.visible.keepers import (
    check_keeper as check_keeper,  # refuse a record that has keepers other than the caller
)
from handlers.data.visible.owner_moves import (
    follow_at_once as follow_at_once,  # give records their owners' new departments
)
from handlers.data.visible.scope import (
    ALL_ROWS as ALL_ROWS,  # the data scope without a limit
    Scope as Scope,  # the rows that a caller may see
)
from handlers.operations.jobs import (
    Jobs as Jobs,  # background tasks, and periodic jobs on one instance
    retry_at as retry_at,  # when to try again after failures
)
from handlers.operations.migrations import (
    Migration as Migration,  # a change of documents that older versions have stored
    Stage as Stage,  # the documents of a collection that a migration changes
)
