"""What is read from the Northwind files, what is mended, and what is reported instead."""

import csv
from collections import Counter
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from tests.experiments.northwind_load.data import Northwind, read, role_of, until, username
from tests.experiments.northwind_load.files import DataError, rejoin
from tests.experiments.northwind_load.orders import price
from tests.experiments.scripts.northwind_folder import FOLDER, needs_folder

DAYS = "1996-07-04 00:00:00.000,1996-08-01 00:00:00.000,1996-07-16 00:00:00.000"
FILES = {
    "regions": "regionID,regionDescription\n1,Eastern\n2,Western\n",
    "territories": "territoryID,regionID\n01581,1\n60179,2\n98004,2\n",
    "employee-territories": "employeeID,territoryID\n1,01581\n2,60179\n3,01581\n3,60179\n3,98004\n",
    "employees": "employeeID,lastName,firstName,title,hireDate\n1,Müller,Zoë,Sales Representative,1992-05-01 00:00:00.000\n"
    '2,Fuller,Andrew,"Vice President, Sales",1992-08-14 00:00:00.000\n3,King,Bob,Sales Manager,NULL\n',
    "customers": "customerID,companyName,contactName,contactTitle,"
    "address,city,region,postalCode,country,phone,fax\n"
    "ALFKI,Alfreds,Maria,Owner,Obere Str. 57,Berlin,NULL,12209,Germany,030-0074321,NULL\n",
    "orders": "orderID,customerID,employeeID,orderDate,requiredDate,shippedDate,shipName,shipAddress\n"
    f"1,ALFKI,1,{DAYS},Alfreds,Obere Str. 57\n",
    "order-details": "orderID,productID,unitPrice,quantity,discount\n1,7,14.00,12,0\n",
    "suppliers": "supplierID,companyName,contactName,address,city,region,postalCode,country,phone\n"
    "3,Kelly's,Regina,707 Oxford Rd.,Ann Arbor,MI,48104,USA,(313) 555-5735\n",
    "categories": "categoryID,categoryName,description\n2,Condiments,Sauces\n",
    "products": "productID,productName,supplierID,categoryID,quantityPerUnit,unitPrice,unitsInStock,unitsOnOrder,"
    "discontinued\n7,Pears,3,2,12 - 1 lb pkgs.,30.00,15,5,0\n",
}


def company(folder: Path, **more: str) -> Northwind:
    """A company of three people and one customer, with `more` lines added to the files of those names."""
    for name, text in FILES.items():
        (folder / f"{name}.csv").write_text(text + more.get(name.replace("-", "_"), ""), "utf-8")
    return read(folder)


def reported(northwind: Northwind) -> list[str]:
    return [note.text for note in northwind.notes if note.kind == "reported"]


def test_a_cell_that_begins_with_a_space_belongs_to_the_one_before() -> None:
    assert rejoin(["BOLID", "C/ Araquil", " 67", "Madrid"], 3) == ["BOLID", "C/ Araquil, 67", "Madrid"]


def test_a_comma_without_a_space_is_not_guessed_at() -> None:
    assert rejoin(["BOLID", "C/ Araquil", "67", "Madrid"], 3) is None


def test_two_candidates_for_one_cell_too_many_are_not_guessed_at() -> None:
    assert rejoin(["BOLID", "C/ Araquil", " 67", " Madrid"], 3) is None


def test_null_is_left_out_of_the_address_and_the_remark(tmp_path: Path) -> None:
    customer = company(tmp_path).customers[0]
    assert customer.address == "Obere Str. 57, Berlin, 12209, Germany"
    assert customer.remark == ""


def test_a_customer_whose_address_holds_a_comma_is_mended(tmp_path: Path) -> None:
    northwind = company(
        tmp_path,
        customers="BLONP,Blondel,NULL,NULL,24, place Kléber,Strasbourg,NULL,67000,France,88.60.15.31,NULL\n",
    )
    assert northwind.customers[1].address == "24, place Kléber, Strasbourg, 67000, France"
    assert [(note.file, note.line) for note in northwind.notes if note.kind == "mended"] == [("customers.csv", 3)]


def test_a_customer_whose_line_cannot_be_mended_is_kept_whole_in_the_remark(tmp_path: Path) -> None:
    northwind = company(tmp_path, customers="BLONP,Blondel,x,24,place Kléber\n")
    assert northwind.customers[1].name == "Blondel"
    assert northwind.customers[1].remark == "As in the file: x,24,place Kléber"
    assert reported(northwind) == ["5 cells instead of 11, only customerID, companyName taken from it"]


def test_an_order_whose_line_cannot_be_mended_still_counts(tmp_path: Path) -> None:
    northwind = company(tmp_path, orders=f"2,ALFKI,3,{DAYS},a,b,c\n3,ALFKI,3,{DAYS},a,b,c\n")
    assert northwind.customers[0].employee == 3
    assert len([text for text in reported(northwind) if "9 cells instead of 8" in text]) == 2


def test_orders_of_unknown_people_and_repeated_ones_do_not_count(tmp_path: Path) -> None:
    northwind = company(
        tmp_path,
        orders=f"1,ALFKI,3,{DAYS},,\n2,ALFKI,99,{DAYS},,\n3,NOONE,3,{DAYS},x,\n4,ALFKI,NULL,{DAYS},,\n",
    )
    assert northwind.customers[0].employee == 1
    assert [text.split(" ", 2)[:2] for text in reported(northwind)] == [["order", n] for n in "1234"]


def test_of_equals_the_lower_employee_number_takes_the_customer(tmp_path: Path) -> None:
    northwind = company(tmp_path, orders=f"2,ALFKI,3,{DAYS},,\n3,ALFKI,3,{DAYS},,\n4,ALFKI,1,{DAYS},,\n")
    assert northwind.customers[0].employee == 1


def test_a_customer_who_never_ordered_goes_to_the_vice_president(tmp_path: Path) -> None:
    northwind = company(tmp_path, customers="PARIS,Paris,NULL,NULL,x,y,NULL,z,France,1,NULL\n")
    assert northwind.customers[1].employee == 2
    assert any(note.kind == "decided" and "PARIS never ordered" in note.text for note in northwind.notes)


def test_a_customer_named_otherwise_on_every_order_is_reported(tmp_path: Path) -> None:
    northwind = company(
        tmp_path,
        customers="BLONP,Blondesddsl,a,b,c,d,e,f,g,h,i\n",
        order_details="2,7,1,1,0\n",
        orders=f"2,BLONP,1,{DAYS},Blondel,x\n",
    )
    assert reported(northwind) == ["BLONP is 'Blondesddsl' here and 'Blondel' on its orders, kept as here"]


def test_a_customer_listed_twice_is_created_once(tmp_path: Path) -> None:
    northwind = company(tmp_path, customers="ALFKI,Another,a,b,c,d,e,f,g,h,i\n")
    assert [customer.name for customer in northwind.customers] == ["Alfreds"]
    assert reported(northwind) == ["ALFKI again, the first line is kept"]


def test_the_region_is_the_one_with_most_territories(tmp_path: Path) -> None:
    people = {person.number: person for person in company(tmp_path).employees}
    assert (people[1].region, people[3].region) == ("Eastern", "Western")


def test_the_department_follows_from_the_territories_for_everybody(tmp_path: Path) -> None:
    assert company(tmp_path).employees[1].region is not None


def test_an_employee_without_a_territory_belongs_to_the_company_and_is_reported(tmp_path: Path) -> None:
    northwind = company(tmp_path, employees="4,Low,Al,Sales Representative,NULL\n", employee_territories="4,99999\n")
    assert northwind.employees[3].region is None
    assert len(reported(northwind)) == 2


def test_the_contact_of_a_customer_is_read(tmp_path: Path) -> None:
    customer = company(tmp_path).customers[0]
    assert (customer.contact, customer.contact_title) == ("Maria", "Owner")


def test_an_order_costs_the_sum_of_its_lines_and_keeps_its_days(tmp_path: Path) -> None:
    order = company(tmp_path, order_details="1,8,2.30,5,0.15\n").orders[0]
    assert order.amount == Decimal("177.78")  # 168.00 and 9.775
    assert (order.ordered, order.required, order.shipped) == ("1996-07-04", "1996-08-01", "1996-07-16")


def test_an_order_that_was_not_shipped_has_no_such_day(tmp_path: Path) -> None:
    orders = company(tmp_path, orders="2,ALFKI,1,1996-07-04 00:00:00.000,NULL,NULL,,\n").orders
    assert orders[1].shipped is None


@pytest.mark.parametrize(
    ("unit_price", "quantity", "discount", "cost"),
    [("2.30", "5", "0.15", "9.78"), ("0.01", "1", "0.5", "0.01"), ("14.00", "12", "0", "168.00")],
)
def test_a_line_is_rounded_to_the_cent_half_a_cent_up(unit_price: str, quantity: str, discount: str, cost: str) -> None:
    assert str(price(Decimal(unit_price), Decimal(quantity), Decimal(discount))) == cost


def test_an_order_without_lines_and_a_line_with_no_number_are_reported(tmp_path: Path) -> None:
    northwind = company(tmp_path, orders=f"2,ALFKI,1,{DAYS},Alfreds,x\n", order_details="2,7,cheap,1,0\n")
    assert northwind.orders[1].amount == 0
    assert reported(northwind) == [
        "a line of order 2 has something that is no number, not counted",
        "order 2 has no lines, no contract for it",
    ]


def test_two_employees_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"2 people would be the user bob\.king"):
        company(tmp_path, employees="4,King,Bob,Sales Representative,NULL\n")


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("Vice President, Sales", "vice-president"),
        ("Sales Manager", "manager"),
        ("Sales Representative", "representative"),
        ("Inside Sales Coordinator", "representative"),
    ],
)
def test_a_title_gives_a_role(title: str, role: str) -> None:
    assert role_of(title) == role


def test_a_username_has_no_accents_and_no_spaces() -> None:
    assert username("Zoë Ann", "O'Müller") == "zoeann.omuller"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"regions\.csv is missing"):
        read(tmp_path)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "regions.csv").write_text("regionID,name\n1,Eastern\n")
    with pytest.raises(DataError, match="has no column regionDescription"):
        read(tmp_path)


def test_a_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "regions.csv").write_bytes("regionID,regionDescription\n1,Östlich\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"regions\.csv cannot be read"):
        read(tmp_path)


@needs_folder
def test_no_customer_of_the_real_files_is_lost() -> None:
    with (FOLDER / "customers.csv").open(encoding="utf-8", newline="") as file:
        codes = [row[0] for row in csv.reader(file)][1:]
    assert [customer.code for customer in read(FOLDER).customers] == codes


@needs_folder
def test_every_line_of_the_real_files_is_mended_and_none_is_left_over() -> None:
    notes = read(FOLDER).notes
    mended = [note.file for note in notes if note.kind == "mended"]
    counts = {"customers.csv": 24, "orders.csv": 176, "suppliers.csv": 9}
    assert Counter(mended) == counts
    assert not [note for note in notes if "cells instead of" in note.text]


@needs_folder
def test_accents_of_the_real_files_survive() -> None:
    customers = {customer.code: customer for customer in read(FOLDER).customers}
    assert customers["BLONP"].address == "24, place Kléber, Strasbourg, 67000, France"
    assert customers["FOLKO"].name == "Folk och fä HB"
    assert customers["SIMOB"].address.startswith("Vinbæltet 34")


@needs_folder
def test_nothing_of_the_real_files_still_says_null() -> None:
    customers = read(FOLDER).customers
    assert not [c.code for c in customers if "NULL" in f"{c.name} {c.phone} {c.address} {c.tags} {c.remark}"]


@needs_folder
def test_all_the_real_orders_come_to_what_their_lines_do() -> None:
    with (FOLDER / "order-details.csv").open(encoding="utf-8", newline="") as file:
        lines = [tuple(map(Decimal, row[2:])) for row in list(csv.reader(file))[1:]]
    exact = [unit_price * quantity * (1 - discount) for unit_price, quantity, discount in lines]
    whole = sum((cost.quantize(Decimal("0.01"), ROUND_HALF_UP) for cost in exact), Decimal(0))
    orders = read(FOLDER).orders
    assert (len(orders), sum(order.amount for order in orders)) == (830, whole)
    assert (whole, abs(whole - sum(exact)) < 1) == (Decimal("1265793.29"), True)
    assert sum(order.amount for order in orders if order.shipped) == Decimal("1239855.85")


def test_products_name_their_supplier_and_category(tmp_path: Path) -> None:
    pears, *others = company(tmp_path, products="8,Jam,9,2,x,1.00,1,0,0\n9,Tea,3,2,x,free,1,0,0\n").goods.products
    assert (pears.supplier, pears.category, pears.price, pears.stock) == ("3", "Condiments", Decimal("30.00"), 15)
    assert others == []
    assert reported(company(tmp_path, products="8,Jam,9,2,x,1.00,1,0,0\n9,Tea,3,2,x,free,1,0,0\n")) == [
        "product 8 of unknown supplier '9', left out",
        "product 9 has something that is no number, left out",
    ]


def test_all_days_are_moved_until_the_last_order_is_on_the_day(tmp_path: Path) -> None:
    later = "1996-07-14 00:00:00.000,NULL,NULL"
    moved = until(company(tmp_path, orders=f"2,ALFKI,1,{later},,\n"), date(2026, 11, 20))
    assert [order.ordered for order in moved.orders] == ["2026-11-10", "2026-11-20"]
    assert (moved.orders[0].shipped, moved.orders[1].shipped) == ("2026-11-22", None)
    assert [person.hired for person in moved.employees][::2] == ["2022-09-07", None]


@needs_folder
def test_the_real_goods_are_all_read() -> None:
    goods = read(FOLDER).goods
    assert (len(goods.suppliers), len(goods.products)) == (29, 77)
    assert sum(one.stock * one.price for one in goods.products) == Decimal("74050.85")
