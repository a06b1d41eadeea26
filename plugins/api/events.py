"""Events between plugins that need not be loaded together: every plugin may emit them and listen to them."""

from __future__ import annotations

from handlers.data.history.cause import (
    caused_by as caused_by,  # let the history name a request for writes that outlive it
)
from handlers.events import (
    Events as Events,  # listeners and emitters of events
)
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
    NOTIFY_PROGRESS as NOTIFY_PROGRESS,  # show the progress of work
    OPEN_DAY_ASKED as OPEN_DAY_ASKED,  # ask on which day the effect of a date in a closed month is booked
    OWED_ASKED as OWED_ASKED,  # ask what a customer owes now
    PAYABLE_CHANGED as PAYABLE_CHANGED,  # what is owed to a supplier
    RECEIVABLE_CHANGED as RECEIVABLE_CHANGED,  # what a customer owes
    TERMS_ASKED as TERMS_ASKED,  # ask within how many days a customer pays or a supplier is paid
)
