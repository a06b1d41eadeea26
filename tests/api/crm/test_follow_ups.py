"""Follow-ups, their positions, and the customers near a place."""

import itertools

import pytest

from plugins.testing import Client, expect
from tests.api.crm.sales import CUSTOMERS, FOLLOW_UPS, OPPORTUNITIES, customer

pytestmark = pytest.mark.gen_test(timeout=20)
_south = itertools.count(1)


def nowhere_else() -> tuple[float, float]:
    """A place that no other test uses."""
    return -150.0, -60.0 + next(_south) / 10


async def test_a_follow_up_sets_the_last_and_the_next_follow_up_of_its_customer(admin: Client) -> None:
    of = await customer(admin)
    body = {
        "customer_id": of["id"],
        "content": "拜访",
        "method": "visit",
        "position": {"lat": 31.23, "lng": 121.47},
        "next_follow_at": "2030-01-01T00:00:00.000Z",
    }
    made = expect(await admin.post(FOLLOW_UPS, body))
    after = expect(await admin.get(f"{CUSTOMERS}/{of['id']}"))
    assert (after["last_follow_at"], after["next_follow_at"]) == (made["created_at"], body["next_follow_at"])
    assert made["position"] == {"lng": 121.47, "lat": 31.23}
    assert after["version"] == of["version"]


async def test_a_position_outside_the_world_is_refused(admin: Client) -> None:
    of = await customer(admin)
    body = {"customer_id": of["id"], "content": "x", "position": {"lng": 181, "lat": 91}}
    assert expect(await admin.post(FOLLOW_UPS, body), 40001)["errors"][0]["field"].startswith("position")


async def test_an_opportunity_of_another_customer_is_refused(admin: Client) -> None:
    mine, other = await customer(admin), await customer(admin)
    foreign = expect(await admin.post(OPPORTUNITIES, {"customer_id": other["id"], "name": "x"}))
    body = {"customer_id": mine["id"], "content": "x", "opportunity_id": foreign["id"]}
    reply = await admin.post(FOLLOW_UPS, body)
    expect(reply, 40001)
    assert reply.fields == {"opportunity_id"}


async def test_a_follow_up_moved_to_another_customer_cannot_keep_its_opportunity(admin: Client) -> None:
    of, other = await customer(admin), await customer(admin)
    opportunity = expect(await admin.post(OPPORTUNITIES, {"customer_id": of["id"], "name": "x"}))
    body = {"customer_id": of["id"], "content": "x", "opportunity_id": opportunity["id"]}
    made = expect(await admin.post(FOLLOW_UPS, body))
    at = f"{FOLLOW_UPS}/{made['id']}"
    reply = await admin.patch(at, {"version": 1, "customer_id": other["id"]})
    expect(reply, 40001)
    assert reply.fields == {"opportunity_id"}
    expect(await admin.patch(at, {"version": 1, "customer_id": other["id"], "opportunity_id": None}))


async def test_nearby_customers_come_in_order_of_distance_within_the_radius(admin: Client) -> None:
    lng, lat = nowhere_else()
    places = {"far": lat + 0.02, "near": lat + 0.001, "beyond": lat + 0.05}
    for name, at in places.items():
        await customer(admin, name=name, location={"lat": at, "lng": lng})
    found = expect(await admin.get(f"{CUSTOMERS}/nearby?lng={lng}&lat={lat}&radius=3000"))
    assert [(row["name"], round(row["distance"] / 10)) for row in found["items"]] == [("near", 11), ("far", 223)]
    assert found["total"] == 2


async def test_pages_of_nearby_customers_show_each_once_and_count_them_all(admin: Client) -> None:
    lng, lat = nowhere_else()
    # several at one place: only the query itself keeps their order from page to page
    made = [await customer(admin, location={"lng": lng, "lat": at}) for at in (lat, lat, lat, lat + 0.001, lat)]
    around = f"{CUSTOMERS}/nearby?lng={lng}&lat={lat}&page_size=2"
    pages = [expect(await admin.get(f"{around}&page={page}")) for page in (1, 2, 3, 4)]
    shown = [row["id"] for page in pages for row in page["items"]]
    assert (sorted(shown), shown[-1]) == (sorted(row["id"] for row in made), made[3]["id"])
    assert [(page["total"], page["page"]) for page in pages] == [(5, n) for n in (1, 2, 3, 4)]


async def test_cursor_pages_show_each_nearby_customer_once(admin: Client) -> None:
    lng, lat = nowhere_else()
    made = [await customer(admin, location={"lng": lng, "lat": lat}) for _ in range(5)]
    around, shown, cursor = f"{CUSTOMERS}/nearby?lng={lng}&lat={lat}&page_size=2", [], "0"
    while cursor is not None:
        page = expect(await admin.get(f"{around}&cursor={cursor}"))
        shown += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert sorted(shown) == sorted(row["id"] for row in made)
    assert (await admin.get(f"{around}&cursor=x")).fields == {"cursor"}


async def test_nearby_customers_are_counted_only_on_request(admin: Client) -> None:
    lng, lat = nowhere_else()
    assert expect(await admin.get(f"{CUSTOMERS}/nearby?lng={lng}&lat={lat}&with_total=false"))["total"] is None


async def test_a_page_of_nearby_customers_that_is_too_deep_is_refused(admin: Client) -> None:
    reply = await admin.get(f"{CUSTOMERS}/nearby?lng=0&lat=0&page=501")
    expect(reply, 40001)
    assert reply.fields == {"page"}


async def test_a_customer_that_moved_is_found_at_its_new_place(admin: Client) -> None:
    (lng, lat), (new_lng, new_lat) = nowhere_else(), nowhere_else()
    made = await customer(admin, location={"lng": lng, "lat": lat})
    body = {"version": 1, "location": {"lng": new_lng, "lat": new_lat}}
    expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", body))
    totals = [
        expect(await admin.get(f"{CUSTOMERS}/nearby?lng={x}&lat={y}"))["total"]
        for x, y in ((lng, lat), (new_lng, new_lat))
    ]
    assert totals == [0, 1]
