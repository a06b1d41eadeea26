"""The people of the Northwind company as employees of a running service, with their positions and hire dates."""

from collections.abc import Iterable, Mapping

from tests.experiments.northwind_load.client import Client
from tests.experiments.northwind_load.data import Employee
from tests.experiments.northwind_load.settling import Tally, settle

EMPLOYEES, POSITIONS = "/hrm/employees", "/hrm/positions"


def employ(
    admin: Client, people: Iterable[Employee], departments: Mapping[str | None, int], users: Mapping[str, int]
) -> Tally:
    """Create an employee for each person whose hire date is in the files; `departments` are ids by region."""
    tally = Tally()
    titles = {record["name"]: record for record in admin.every(POSITIONS)}
    there = {record["number"]: record for record in admin.every(EMPLOYEES)}
    for person in people:
        if person.hired is None:
            continue
        if person.title not in titles:
            titles[person.title] = settle(admin, POSITIONS, None, {"name": person.title}, tally)
        number = f"NW-{person.number}"
        wanted = {
            "number": number,
            "name": person.name,
            "user_id": users[person.username],
            "hired_on": person.hired,
            "department_id": departments[person.region],
            "position_id": titles[person.title]["id"],
        }
        settle(admin, EMPLOYEES, there.get(number), wanted, tally)
    return tally
