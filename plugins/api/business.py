"""What plugins of a business tell and ask one another, of which none requires another: sales, purchases, books."""

from __future__ import annotations

from plugins.business.amounts import (
    BY_DOCUMENT as BY_DOCUMENT,  # the tax is rounded of the sum of all lines with the same tax
    BY_LINE as BY_LINE,  # or of each line
    ROUNDINGS as ROUNDINGS,  # these two rules
    TERMS as TERMS,  # the fields of a document that change its amounts
    check_amounts as check_amounts,  # refuse amounts of lines that are too large
    compute_amounts as compute_amounts,  # net, tax and amount of a document and its lines
    compute_part as compute_part,  # what some of the units of a line come to
    compute_value as compute_value,  # their price, before the discounts that are amounts
    includes_tax as includes_tax,  # whether the price of a line includes its tax
    share_out as share_out,  # an amount in proportion to weights, to the cent
)
from plugins.business.currencies import (
    RATE_PLACES as RATE_PLACES,  # the decimals of an exchange rate
    RATES_TABLE as RATES_TABLE,  # the collection that has records where there is another currency
    Rates as Rates,  # port: the exchange rates, and the company's own currency
    base_amount as base_amount,  # the field with what the amount of a record is worth in the company's currency
    base_expression as base_expression,  # as `in_base`, for sums that are made in the database
    cents_expression as cents_expression,  # an amount rounded to the cent there
    choose_currency as choose_currency,  # the currency and rate of a draft, by default those of its party and day
    complete_currency as complete_currency,  # the currency and rate of a document, as they are stored
    currency as currency,  # the field with the code of a currency
    currency_amount as currency_amount,  # the field with an amount in the currency of a document, beside its worth
    currency_fields as currency_fields,  # the fields of a document with its currency and rate
    find_party_currency as find_party_currency,  # the currency of new documents of a contract, customer or supplier
    in_base as in_base,  # an amount of a document in the company's currency
    limit_in_base as limit_in_base,  # refuse what is worth too much in the company's currency
    rate as rate,  # the field with an exchange rate
    replace_currency as replace_currency,  # a change of the currency of a document
    value_all_for_limits as value_all_for_limits,  # several such documents
    value_for_limits as value_for_limits,  # a document at the rate of the day, for limits, if a lower one was typed
)
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
)
from plugins.business.lines import (
    GOODS as GOODS,  # the kind of a line, or a product, that moves stock
    LINE_CELLS as LINE_CELLS,  # the widgets of a `View` for such lines: which of their cells are shown at once
    LINE_DESCRIPTION as LINE_DESCRIPTION,  # the field with the words of a line
    LINE_KIND as LINE_KIND,  # the field with its kind
    LINE_NUMBER as LINE_NUMBER,  # the field with its number in the document
    LINE_UNIT as LINE_UNIT,  # the field with the unit that its quantity counts
    MAX_AMOUNT as MAX_AMOUNT,  # of a line and of a document
    MAX_PRICE as MAX_PRICE,  # of a unit
    MAX_QUANTITY as MAX_QUANTITY,  # of a line
    MOST_LINES as MOST_LINES,  # of a document
    NARROW_CELL as NARROW_CELL,  # the widget of another cell, shown when it is asked for
    PRICE_PLACES as PRICE_PLACES,  # the decimals of a price
    SERVICE as SERVICE,  # the kind of a line, or a product, of which nothing moves
    TAX as TAX,  # the field with the tax of a document or a line
    TAX_RATE as TAX_RATE,  # the field with a rate of tax
    TAX_RATE_PLACES as TAX_RATE_PLACES,  # the decimals of a rate of tax
    TEXT as TEXT,  # the kind of a line of words alone
    UNIT_FACTOR as UNIT_FACTOR,  # the field with how many of the product's own unit that is
    WIDE_CELL as WIDE_CELL,  # the same of a wide one
    WITHOUT_TAX as WITHOUT_TAX,  # the field with an amount without tax
    price as price,  # the field for an amount per unit
    priced_line as priced_line,  # the fields of a line with a price
)
from plugins.business.parties import (
    DELIVERY as DELIVERY,  # the use of an address to which goods go
    Party as Party,  # what documents copy of a customer or supplier
    address_fields as address_fields,  # the fields of a document with one address of its party
    choose_address as choose_address,  # which address a document takes
    copied_fields as copied_fields,  # the fields of a document with these copies
    copy_party as copy_party,  # what a document copies of its party
    party_fields as party_fields,  # the fields of the customer or supplier itself
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
    BillableOrder as BillableOrder,  # what invoices may bill of an order, line by line
    BilledOrder as BilledOrder,  # what they bill of it
    Books as Books,  # port: closed months, and what is owed
    Contact as Contact,  # whom to call at a customer
    Contracts as Contracts,  # port: drafts of contracts, and their currency
    Customers as Customers,  # port: terms, credit and contacts of customers
    PricedLines as PricedLines,  # port: lines with prices and taxes, and those of orders
    ShippedLine as ShippedLine,  # what was shipped of a line of an order
    Suppliers as Suppliers,  # port: terms of suppliers
    find_booked_on as find_booked_on,  # the day on which the effect of a date is booked
)
from plugins.business.stated import (
    TAX_TABLE as TAX_TABLE,  # the table of a paper with net and tax of each rate
    state_lines as state_lines,  # a record with what papers state of its lines
    stated_reader as stated_reader,  # the reader of what is printed so
    stated_shape as stated_shape,  # its shape
)
from plugins.business.terms import (
    FURTHER_TERMS as FURTHER_TERMS,  # the group of forms with the terms that few agree on
    TERMS_FROM as TERMS_FROM,  # from which days terms count, with labels
    PaymentTerms as PaymentTerms,  # when what a document comes to is due, and what is off before
    copy_terms as copy_terms,  # the terms that a document takes of its party
    discount_fields as discount_fields,  # the fields of an invoice with its cash discount
    due_after as due_after,  # the day on which something is due, so many days after another day
    payment_terms as payment_terms,  # the field with the number of days within which somebody has to pay
    replace_terms as replace_terms,  # a change of the terms of a document
    schedule_of as schedule_of,  # the schedule of an open item that is due in parts
    terms_fields as terms_fields,  # the fields with terms of payment
)
from plugins.business.versions import (
    date_versions as date_versions,  # versions of a document, with the days on which they are in force
    version_days as version_days,  # the fields with these days
)
