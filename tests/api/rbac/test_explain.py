"""The explanation of an authorisation: it equals the response of the real request, with the true reason."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pytest

from plugins.boot.runtime import Running
from plugins.rbac.records import MENUS
from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
EXPLAIN = "/api/v1/system/authorization/explain"
CUSTOMERS = "/api/v1/crm/customers"
READ = "crm:customer:read"


async def explained(client: Client, user_id: int, method: str, path: str, **more: Any) -> dict[str, Any]:
    """The explanation in English."""
    query = urlencode({"user_id": user_id, "method": method, "path": path, **more})
    answer: dict[str, Any] = expect(await client.get(f"{EXPLAIN}?{query}", headers={"Accept-Language": "en"}))
    return answer


async def of_person(admin: Client, person: Client, method: str, path: str, **more: Any) -> dict[str, Any]:
    return await explained(admin, person.user["userId"], method, path, **more)


async def test_a_grant_is_named_role_menu_and_api(admin: Client, people: People) -> None:
    role = await people.role([READ])
    user = await people.account([role])
    answer = await explained(admin, user["id"], "GET", f"{CUSTOMERS}/{{id}}")
    assert answer["allowed"] is True
    (grant,) = answer["grants"]
    assert grant["role"]["id"] == role
    assert (grant["menu"]["code"], grant["menu"]["permission"]) == (READ, READ)
    assert grant["api"] == {"method": "GET", "path": f"{CUSTOMERS}/{{id}}"}
    assert answer["missing"] == []
    assert answer["route"]["permission"] == READ


@pytest.mark.parametrize("end", ["{id}", ":id", "0" * 24])
async def test_a_path_may_be_concrete_or_a_template(admin: Client, people: People, end: str) -> None:
    user = await people.account()
    answer = await explained(admin, user["id"], "GET", f"{CUSTOMERS}/{end}?with=query")
    assert answer["route"]["path"] == f"{CUSTOMERS}/{{id}}"


async def test_what_is_missing_is_named_with_the_roles_that_have_it(admin: Client, people: People) -> None:
    holder = await people.role([READ])
    user = await people.account([await people.role()])
    answer = await explained(admin, user["id"], "GET", f"{CUSTOMERS}/{{id}}")
    assert (answer["allowed"], answer["code"], answer["grants"]) == (False, 40300, [])
    (need,) = answer["missing"]
    assert need["menu"]["code"] == READ
    assert holder in [role["id"] for role in need["roles"]]


async def reasons_of(admin: Client, people: People, roles: Sequence[int], **fields: Any) -> list[str]:
    user = await people.account(roles, **fields)
    reasons: list[str] = (await explained(admin, user["id"], "GET", f"{CUSTOMERS}/{{id}}"))["reasons"]
    return reasons


async def test_the_explanation_says_that_somebody_has_no_role(admin: Client, people: People) -> None:
    assert await reasons_of(admin, people, []) == ["The user has no role"]


async def test_a_disabled_role_that_would_grant_it_is_named(admin: Client, people: People) -> None:
    role = await people.role([READ], status="disabled")
    every, one = await reasons_of(admin, people, [role])
    assert every == "Every role of the user is disabled"
    assert one.endswith("would grant it, but is disabled")


async def test_a_role_that_does_not_grant_it_is_named(admin: Client, people: People) -> None:
    (reason,) = await reasons_of(admin, people, [await people.role(["crm:customer:list"])])
    assert reason.startswith("None of the enabled roles role-")


async def test_a_disabled_user_is_refused_whatever_the_roles(admin: Client, people: People) -> None:
    reasons = await reasons_of(admin, people, [await people.role([READ])], status="disabled")
    assert reasons == ["The account is disabled: its tokens are not accepted"]


async def test_a_password_that_must_be_changed_comes_first(admin: Client, people: People) -> None:
    user = await people.account([await people.role([READ])], must_change_password=True)
    refused = await explained(admin, user["id"], "GET", f"{CUSTOMERS}/{{id}}")
    assert (refused["code"], refused["reasons"]) == (40301, ["The password must be changed first"])
    assert (await explained(admin, user["id"], "PUT", "/api/v1/auth/password"))["allowed"] is True


async def test_a_super_administrator_skips_the_check(admin: Client) -> None:
    answer = await explained(admin, 1, "DELETE", f"{CUSTOMERS}/{{id}}")
    assert (answer["allowed"], answer["user"]["is_super"]) == (True, True)
    assert answer["reasons"] == ["A super administrator: the API check is skipped"]
    assert answer["data_scope"]["words"] == "all rows"


@pytest.mark.parametrize(
    ("method", "path", "allowed", "reason"),
    [
        ("GET", "/api/health", True, "The route is public: no log-in is needed"),
        ("GET", "/api/v1/auth/profile", True, "Open to every logged-in user"),
        ("POST", "/api/v1/system/data-reset", False, "The route is for super administrators only"),
        ("GET", "/api/v1/nothing", False, "No route matches GET /api/v1/nothing"),
        ("DELETE", "/api/v1/auth/profile", False, "This path accepts only GET, HEAD, OPTIONS, PATCH"),
    ],
)
async def test_other_routes_are_explained_by_what_they_are(
    admin: Client, people: People, method: str, path: str, allowed: bool, reason: str
) -> None:
    user = await people.account()
    answer = await explained(admin, user["id"], method, path)
    assert (answer["allowed"], answer["reasons"]) == (allowed, [reason])


async def test_further_refusals_of_the_handler_are_explained_to_all_but_super_administrators(
    admin: Client, people: People
) -> None:
    user = await people.account([await people.role(["system:role:create"])])
    answer = await explained(admin, user["id"], "POST", "/api/v1/system/roles")
    assert answer["allowed"] is True
    wider = {"code": 40300, "reason": "You cannot grant menus that you do not have yourself", "when": None}
    assert wider in answer["conditions"]
    assert wider not in (await explained(admin, 1, "POST", "/api/v1/system/roles"))["conditions"]


async def test_what_not_even_a_super_administrator_may_do_is_explained_to_them(admin: Client) -> None:
    answer = await explained(admin, 1, "DELETE", "/api/v1/system/users/{id}")
    assert (answer["allowed"], {condition["code"] for condition in answer["conditions"]}) == (True, {40901})
    assert {condition["reason"] for condition in answer["conditions"]} >= {
        "The built-in super administrator cannot be deleted, disabled or demoted",
        "At least one enabled super administrator must remain",
        "You cannot delete or disable your own account",
    }


async def test_what_a_40400_keeps_to_itself_the_explanation_tells(admin: Client, people: People) -> None:
    person = await people.person()
    path = f"/api/v1/auth/sessions/{'0' * 32}"
    assert expect(await person.delete(path), 40400) is None
    conditions = (await of_person(admin, person, "DELETE", path))["conditions"]
    assert [one for one in conditions if one["code"] == 40400] == [
        {"code": 40400, "reason": "Not found", "when": "The session does not exist, has ended, or is not yours"}
    ]


async def test_a_path_without_a_route_has_none(admin: Client) -> None:
    answer = await explained(admin, 1, "GET", "/api/v1/nothing")
    assert (answer["route"], answer["code"]) == (None, 40400)


async def test_reasons_are_chinese_for_chinese_callers(admin: Client, people: People) -> None:
    user = await people.account()
    query = urlencode({"user_id": user["id"], "method": "GET", "path": CUSTOMERS})
    assert expect(await admin.get(f"{EXPLAIN}?{query}"))["reasons"] == ["该用户没有角色"]


async def test_a_withdrawn_menu_differs_from_a_missing_grant(tradewind: Running, admin: Client, people: People) -> None:
    path = f"/api/v1/{unique('gone')}/{{id}}"
    await tradewind.service.database.store(MENUS).create(
        {
            "type": "button",
            "code": unique("gone"),
            "title": "旧按钮",
            "title_en": "Old button",
            "withdrawn": True,
            "apis": [{"method": "GET", "path": path}],
            "role_ids": [],
        }
    )
    user = await people.account()
    reasons = (await explained(admin, user["id"], "GET", path.replace("{id}", "7")))["reasons"]
    assert '"Old button" declared this API, but is withdrawn: no loaded plugin declares the menu' in reasons


async def test_the_data_scope_is_given_in_words_and_as_the_filter_in_force(admin: Client, people: People) -> None:
    department = await people.department()
    below = await people.department(department)
    person = await people.person([READ], "department_and_below", department)
    scope = (await of_person(admin, person, "GET", f"{CUSTOMERS}/{{id}}"))["data_scope"]
    assert [one["id"] for one in scope["departments"]] == [department, below]
    assert scope["words"].startswith("the rows of the departments ")
    assert scope["words"].endswith(", and rows that are shared with them")
    assert scope["filter"] == {
        "$or": [
            {"creator_department_id": {"$in": [department, below]}},
            {"second_department_id": {"$in": [department, below]}},  # the owner's, where it is another one
            {"shared_with": person.user["userId"]},
        ]
    }


async def test_the_scope_of_users_goes_by_their_department_and_themselves(admin: Client, people: People) -> None:
    person = await people.person(["system:user:list"], "self")
    scope = (await of_person(admin, person, "GET", "/api/v1/system/users"))["data_scope"]
    assert scope["filter"] == {"_id": person.user["userId"]}


async def test_records_that_are_not_under_data_scope_say_so(admin: Client, people: People) -> None:
    person = await people.person(["system:role:list"], "self")
    scope = (await of_person(admin, person, "GET", "/api/v1/system/roles"))["data_scope"]
    assert (scope["filter"], scope["words"]) == ({}, "all rows: data scope does not apply to these records")


async def test_no_enabled_role_sees_no_rows(admin: Client, people: People) -> None:
    user = await people.account()
    scope = (await explained(admin, user["id"], "GET", CUSTOMERS))["data_scope"]
    assert (scope["words"], scope["filter"]) == ("no rows", {"_id": {"$in": []}})


@pytest.mark.parametrize(
    ("scope", "why"), [("self", "their own rows"), ("department", "the rows of the departments "), ("all", "all rows")]
)
async def test_a_visible_record_is_explained_by_the_part_of_the_scope_that_shows_it(
    admin: Client, people: People, scope: str, why: str
) -> None:
    codes = ["crm:customer:create", READ]
    person = await people.person(codes, scope, await people.department())
    made = expect(await person.post(CUSTOMERS, {"name": "mine"}))
    answer = await of_person(admin, person, "GET", f"{CUSTOMERS}/{made['id']}")
    assert answer["allowed"] is True
    assert answer["record"]["visible"] is True
    assert answer["record"]["why"].startswith(f"The record is within the data scope: {why}")


async def test_a_record_that_was_handed_over_is_visible_for_that(admin: Client, people: People) -> None:
    person = await people.person([READ])
    made = expect(await admin.post(CUSTOMERS, {"name": "yours", "owner_id": person.user["userId"]}))
    answer = await of_person(admin, person, "GET", f"{CUSTOMERS}/{{id}}", resource_id=made["id"])
    assert answer["record"]["why"].endswith(": rows that are shared with them")


async def test_a_record_outside_the_scope_is_refused_as_the_request_would_be(admin: Client, people: People) -> None:
    person = await people.person([READ])
    path = f"{CUSTOMERS}/{expect(await admin.post(CUSTOMERS, {'name': 'not yours'}))['id']}"
    answer = await of_person(admin, person, "GET", path)
    assert (answer["allowed"], answer["code"]) == (False, (await person.get(path)).code)
    assert answer["grants"] != []
    assert answer["record"]["visible"] is False
    assert answer["reasons"][-1] == answer["record"]["why"]


@pytest.mark.parametrize("id", ["0" * 24, "nonsense"])
async def test_a_record_that_does_not_exist_is_missing_for_somebody_who_sees_everything(
    admin: Client, people: People, id: str
) -> None:
    person = await people.person([READ])
    answer = await of_person(admin, person, "GET", f"{CUSTOMERS}/{{id}}", resource_id=id)
    assert answer["record"] == {"visible": False, "why": "There is no such record"}


async def test_a_record_that_the_asking_person_does_not_see_is_not_revealed(admin: Client, people: People) -> None:
    department = await people.department()
    chief = await people.person(["system:authorization:explain"], "department", department)
    member = await people.account([await people.role([READ], "all")], department)
    made = expect(await admin.post(CUSTOMERS, {"name": "secret"}))
    for id in (made["id"], "0" * 24):
        answer = await explained(chief, member["id"], "GET", f"{CUSTOMERS}/{id}")
        assert answer["record"]["visible"] is None
        assert "outside your own data scope" in answer["record"]["why"]


async def test_a_route_about_no_kind_of_record_has_no_record(admin: Client) -> None:
    assert (await explained(admin, 1, "GET", "/api/v1/auth/profile", resource_id="1"))["record"] is None


async def test_a_person_outside_the_askers_scope_is_not_explained(people: People) -> None:
    asker = await people.person(["system:authorization:explain"], "self")
    query = urlencode({"user_id": 1, "method": "GET", "path": CUSTOMERS})
    expect(await asker.get(f"{EXPLAIN}?{query}"), 40400)
    own = await explained(asker, asker.user["userId"], "GET", EXPLAIN)
    assert own["allowed"] is True


async def test_explaining_needs_the_permission(people: People) -> None:
    query = urlencode({"user_id": 1, "method": "GET", "path": CUSTOMERS})
    expect(await (await people.person()).get(f"{EXPLAIN}?{query}"), 40300)


async def test_the_question_must_be_whole(admin: Client) -> None:
    assert (await admin.get(f"{EXPLAIN}?method=BREW&path=crm")).fields == {"user_id", "method", "path"}


async def test_the_longest_path_fits_into_a_reason(admin: Client) -> None:
    path = "/" + "x" * 1999
    assert path in (await explained(admin, 1, "GET", path))["reasons"][0]


async def test_the_names_of_many_roles_fit_into_a_reason(admin: Client, people: People) -> None:
    roles = [await people.role() for _ in range(8)]
    for number, role in enumerate(roles):
        expect(await admin.patch(f"/api/v1/system/roles/{role}", {"version": 1, "name": f"{number}{'r' * 99}"}))
    person = await people.account(roles)
    answer = await explained(admin, person["id"], "DELETE", f"{CUSTOMERS}/{{id}}")
    assert any(len(reason) > 700 for reason in answer["reasons"])
