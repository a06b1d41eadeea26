"""What plugins of a business tell and ask one another, of which none requires another: sales, purchases, books."""

from __future__ import annotations

from plugins.business.events import (
    DATED as DATED,  # a record is dated on a day, which may be in a closed month
    DEBT_ASKED as DEBT_ASKED,  # ask to report again what is owed for a record
    MONEY_ALLOCATED as MONEY_ALLOCATED,  # a payment was allocated to a record that counts its payments itself
    MONEY_MOVED as MONEY_MOVED,  # money came to an account, or left it
    MONEY_RETURNED as MONEY_RETURNED,  # such money was taken back
    PAYABLE_CHANGED as PAYABLE_CHANGED,  # what is owed to a supplier
    RECEIVABLE_CHANGED as RECEIVABLE_CHANGED,  # what a customer owes
    Debt as Debt,  # what the records of a business type owe, by their entries
    Due as Due,  # what is owed for a record
    due_after as due_after,  # the day on which something is due, so many days after another day
    payment_terms as payment_terms,  # the field with the number of days within which somebody has to pay
)
from plugins.business.ports import (
    CONTACTS_ASKED as CONTACTS_ASKED,  # as `Customers.find_contacts`
    CREDIT_ASKED as CREDIT_ASKED,  # as `Customers.find_credit_excess`
    CREDIT_REFUSALS as CREDIT_REFUSALS,  # the refusals of `Customers.find_credit_excess`
    OF_BOOKS as OF_BOOKS,  # answers to these events, for the plugin that provides `Books`
    OF_CUSTOMERS as OF_CUSTOMERS,  # answers to these events, for the plugin that provides `Customers`
    OF_SUPPLIERS as OF_SUPPLIERS,  # answers to these events, for the plugin that provides `Suppliers`
    OPEN_DAY_ASKED as OPEN_DAY_ASKED,  # as `Books.find_open_day`
    OVER_CREDIT_LIMIT as OVER_CREDIT_LIMIT,  # their message
    OWED_ASKED as OWED_ASKED,  # as `Books.find_owed`
    TERMS_ASKED as TERMS_ASKED,  # as `find_terms` of `Customers` or `Suppliers`
    Books as Books,  # port: closed months, and what is owed
    Contact as Contact,  # whom to call at a customer
    Customers as Customers,  # port: terms, credit and contacts of customers
    Suppliers as Suppliers,  # port: terms of suppliers
    find_booked_on as find_booked_on,  # the day on which the effect of a date is booked
)
