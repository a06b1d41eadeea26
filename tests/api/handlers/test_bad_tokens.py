"""Tokens that are wrong: 40100, 40101 for one that expired, 40102 for refresh tokens (CONTRACT 2, 3)."""

import base64
import json
import time
from typing import Any

import jwt
import pytest

from plugins.auth.tokens import key_id
from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.support.probe import WIDGETS_AT
from tests.support.refusals import nothing_written, refused

pytestmark = pytest.mark.gen_test

FOREIGN_KEY = "a key that this service has never signed anything with"


def claims_of(token: str | None) -> dict[str, Any]:
    decoded: dict[str, Any] = jwt.decode(token or "", options={"verify_signature": False})
    return decoded


def signed(running: Running, claims: dict[str, Any], algorithm: str = "HS256", **headers: Any) -> str:
    """A token by the service's own key."""
    key = running.service.signing_secrets[0]
    return jwt.encode(claims, key, algorithm, headers={"kid": key_id(key), **headers})


def part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def forged(running: Running, client: Client) -> dict[str, str]:
    """Tokens that look like the client's own and are not."""
    token, claims = client.token or "", claims_of(client.token)
    head, body, signature = token.split(".")
    kid = key_id(running.service.signing_secrets[0])
    return {
        "no text": "",
        "nonsense": "nonsense",
        "three dots": "a.b.c",
        "a signature cut short": f"{head}.{body}.{signature[:-2]}",
        "no signature": f"{head}.{body}.",
        "another body": f"{head}.{part({**claims, 'user_id': 2})}.{signature}",
        "alg none": f"{part({'alg': 'none', 'typ': 'JWT', 'kid': kid})}.{body}.",
        "alg None": f"{part({'alg': 'None', 'typ': 'JWT', 'kid': kid})}.{body}.",
        "alg none with a signature": f"{part({'alg': 'none', 'kid': kid})}.{body}.{signature}",
        "another algorithm": signed(running, claims, "HS512"),
        "a foreign key": jwt.encode(claims, FOREIGN_KEY, "HS256"),
        "a foreign key that says it is ours": jwt.encode(claims, FOREIGN_KEY, "HS256", headers={"kid": kid}),
        "a key identifier that is a path": signed(running, claims, kid="../../dev/null"),
        "a key identifier that is no text": f"{part({'alg': 'HS256', 'kid': ['a']})}.{body}.{signature}",
        "a key in the header": jwt.encode(claims, FOREIGN_KEY, "HS256", headers={"jwk": {"kty": "oct", "k": "YQ"}}),
        "no end": signed(running, {name: value for name, value in claims.items() if name != "exp"}),
        "no session": signed(running, {name: value for name, value in claims.items() if name != "sid"}),
        "a session that is none": signed(running, {**claims, "sid": "0" * 32}),
        "a session that is an operator": signed(running, {**claims, "sid": {"$ne": None}}),
        "somebody else's session": signed(running, {**claims, "user_id": 2}),
        "a person that is text": signed(running, {**claims, "user_id": "1"}),
        "a person that is true": signed(running, {**claims, "user_id": True}),
        "a person that is an operator": signed(running, {**claims, "user_id": {"$gt": 0}}),
        "roles that are none": signed(running, {**claims, "roles": "admin"}),
        "a refresh token": client.session["refreshToken"],
    }


KINDS = (
    "no text",
    "nonsense",
    "three dots",
    "a signature cut short",
    "no signature",
    "another body",
    "alg none",
    "alg None",
    "alg none with a signature",
    "another algorithm",
    "a foreign key",
    "a foreign key that says it is ours",
    "a key identifier that is a path",
    "a key identifier that is no text",
    "a key in the header",
    "no end",
    "no session",
    "a session that is none",
    "a session that is an operator",
    "somebody else's session",
    "a person that is text",
    "a person that is true",
    "a person that is an operator",
    "roles that are none",
    "a refresh token",
)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_token_that_is_not_ours_is_refused(probed: Running, probe_admin: Client, kind: str) -> None:
    client = Client(probed.url, token=forged(probed, probe_admin)[kind] or " ")
    async with nothing_written(probed):
        refused(await client.post(WIDGETS_AT, {"name": "a"}), 40100)


def test_every_kind_of_forged_token_is_tried(probed: Running, probe_admin: Client) -> None:
    assert set(forged(probed, probe_admin)) == set(KINDS)


async def test_the_same_claims_rightly_signed_are_let_in(probed: Running, probe_admin: Client) -> None:
    client = Client(probed.url, token=signed(probed, claims_of(probe_admin.token)))
    expect(await client.get(WIDGETS_AT))


async def test_an_expired_token_has_a_code_of_its_own(probed: Running, probe_admin: Client) -> None:
    client = Client(probed.url, token=signed(probed, {**claims_of(probe_admin.token), "exp": int(time.time()) - 1}))
    async with nothing_written(probed):
        refused(await client.post(WIDGETS_AT, {"name": "a"}), 40101)


async def test_an_expired_token_of_a_foreign_key_is_a_foreign_one(probed: Running, probe_admin: Client) -> None:
    claims = {**claims_of(probe_admin.token), "exp": 1}
    refused(await Client(probed.url, token=jwt.encode(claims, FOREIGN_KEY, "HS256")).get(WIDGETS_AT), 40100)


@pytest.mark.parametrize(
    "header", ["Basic YWRtaW46eA==", "Bearer", "Bearer ", "Token {}", "{}", "Bearer {} {}", "Bearer {},", "Bearer\t{}"]
)
async def test_a_header_that_carries_no_bearer_token_is_refused(
    probed: Running, probe_admin: Client, header: str
) -> None:
    sent = {"Authorization": header.replace("{}", probe_admin.token or "")}
    refused(await Client(probed.url).get(WIDGETS_AT, headers=sent), 40100)


async def test_no_header_at_all_is_refused(probed: Running) -> None:
    refused(await Client(probed.url).get(WIDGETS_AT), 40100)


async def test_the_scheme_may_be_written_in_any_case(probed: Running, probe_admin: Client) -> None:
    sent = {"Authorization": f"bEaReR {probe_admin.token}"}
    expect(await Client(probed.url).get(WIDGETS_AT, headers=sent))


async def test_a_token_in_the_address_is_an_unknown_parameter(probed: Running, probe_admin: Client) -> None:
    refused(await Client(probed.url).get(f"{WIDGETS_AT}?access_token={probe_admin.token}"), 40100)


async def test_a_public_route_does_not_look_at_the_token(probed: Running) -> None:
    expect(await Client(probed.url, token="nonsense").get("/api/health"))


async def test_an_access_token_refreshes_nothing(probed: Running, probe_admin: Client) -> None:
    body = {"refreshToken": probe_admin.token}
    refused(await Client(probed.url).post("/api/v1/auth/refresh", body), 40102)


@pytest.mark.parametrize("kind", ["nonsense", "alg none", "another algorithm", "a foreign key that says it is ours"])
async def test_a_forged_refresh_token_is_refused(probed: Running, probe_admin: Client, kind: str) -> None:
    other = Client(probed.url, probe_admin.session["refreshToken"], session=probe_admin.session)
    body = {"refreshToken": forged(probed, other)[kind]}
    async with nothing_written(probed):
        refused(await Client(probed.url).post("/api/v1/auth/refresh", body), 40102)
