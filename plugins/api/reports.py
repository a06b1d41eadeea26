"""Dashboards, their figures and periods, and the audits of stored sums."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from handlers.reports.audits import (
    Audit as Audit,  # a check of stored sums against their entries, piece by piece
    Difference as Difference,  # a record that does not agree with its entries
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
from handlers.reports.periods import (
    Period as Period,  # the days that a dashboard covers
    end_of_month as end_of_month,  # the last day of the month of a day
    period_of as period_of,  # the period that a query names
)
from plugins.api import find_moved
from plugins.records.printing import (
    Papers as Papers,  # port: makes what is printed
    Printable as Printable,  # a paper: a record, or what is read, as a PDF
)
from plugins.records.tables import (
    report_list as report_list,  # the routes to list the rows that a report computes, and to export them
)

if not TYPE_CHECKING:
    __getattr__ = partial(find_moved, __name__, ("business",))
