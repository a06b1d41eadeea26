"""Dashboards, their figures and periods, and the audits of stored sums."""

from __future__ import annotations

from handlers.reports.audits import (
    Audit as Audit,  # a check of stored sums against their entries, piece by piece
)
from handlers.reports.audits import (
    Debt as Debt,  # what the records of a business type owe, by their entries
)
from handlers.reports.audits import (
    Difference as Difference,  # a record that does not agree with its entries
)
from handlers.reports.audits import (
    Due as Due,  # what is owed for a record
)
from handlers.reports.audits import (
    Piece as Piece,  # the records that a check gets at once, and what to compare them with
)
from handlers.reports.audits import (
    Remark as Remark,  # a record that a check counts, but that is no difference
)
from handlers.reports.audits import (
    audit_piece as audit_piece,  # run a check over the next records
)
from handlers.reports.audits import (
    compare as compare,  # the differences between the fields of a record and what they should be
)
from handlers.reports.audits import (
    difference as difference,  # a difference of a record, in words
)
from handlers.reports.dashboards import (
    OF_A_DEPARTMENT as OF_A_DEPARTMENT,  # the parameter of dashboards whose records have a department
)
from handlers.reports.dashboards import (
    Dashboard as Dashboard,  # the plugin's part of a dashboard
)
from handlers.reports.dashboards import (
    narrow_to_department as narrow_to_department,  # read only the records of the department that the query names
)
from handlers.reports.dashboards import (
    summed as summed,  # a part that consists only of sums over records
)
from handlers.reports.figures import (
    ByTime as ByTime,  # rows for each day or month of a field
)
from handlers.reports.figures import (
    ByValue as ByValue,  # rows for each value of a field
)
from handlers.reports.figures import (
    Figures as Figures,  # sums over the records of a collection, which also give the records behind them
)
from handlers.reports.figures import (
    split_cell as split_cell,  # the array, the key and the figure that a cell names
)
from handlers.reports.periods import (
    Period as Period,  # the days that a dashboard covers
)
from handlers.reports.periods import (
    end_of_month as end_of_month,  # the last day of the month of a day
)
from handlers.reports.periods import (
    period_of as period_of,  # the period that a query names
)
