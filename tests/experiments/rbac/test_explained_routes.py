"""What the explanation says of a person and a route is what the service answers that person there."""

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People
from tests.api.rbac.test_explain import of_person
from tests.support.denials import ClientWithoutHooks

pytestmark = pytest.mark.gen_test(timeout=60)


async def test_the_response_is_the_real_one_for_every_route(tradewind: Running, admin: Client, people: People) -> None:
    granted = [code for code in tradewind.catalogue.permissions if code.endswith((":list", ":delete"))]
    person = await people.person(granted, "self")
    # every denial is explained below, so nobody else need ask why
    plain = ClientWithoutHooks(person.url, person.token, person.user, person.session)
    for route in tradewind.catalogue.routes:
        if route.path.endswith(("/logout", "/password", "/profile", "{asset}")):
            continue  # these would end the session that the others are asked with
        path = route.path.replace("{id}", "0" * 24).replace("{value}", "none")
        answer = await of_person(admin, person, route.method, route.path)
        real = await plain.call(route.method, path, {} if route.body is not None else None)
        doors = (40300, 40301, 40302)
        code = real.code if real.status in (401, 403) else 0
        assert answer["code"] == (code if code in doors else 0), (route.method, route.path, real.body[:200])
