"""Tokens: their claims, which are accepted, and how keys change without a log-out."""

import base64
import json
import math
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from pydantic import ValidationError

from config.settings import EXAMPLE_SECRET, Settings
from plugins.auth.tokens import Tokens, key_id
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.support.servers import KEYS, PROFILE, claims_of, instances, refresh

pytestmark = pytest.mark.gen_test(timeout=30)


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def signed(running: Running, claims: dict[str, Any], **options: Any) -> str:
    """A token as this server would sign it."""
    secret = running.service.signing_secrets[0]
    settings = {"algorithm": "HS256", "headers": {"kid": key_id(secret)}, **options}
    return jwt.encode(claims, settings.pop("key", secret), **settings)


async def profile(url: str, token: str) -> int:
    return (await Client(url, token).get(PROFILE)).code


async def test_tokens_carry_the_claims_of_the_contract_and_no_others(people: People) -> None:
    person = await people.person()
    access, long = claims_of(person.token), claims_of(person.session["refreshToken"])
    assert set(access) == {"user_id", "roles", "exp", "iat", "jti", "sid"}
    assert set(long) == {"user_id", "exp", "jti", "sid"}
    assert access["roles"] == person.user["roles"]
    assert access["sid"] == long["sid"]


async def test_tokens_last_as_long_as_the_login_says(people: People) -> None:
    session = (await people.person()).session
    access = claims_of(session["accessToken"])
    assert access["exp"] - access["iat"] == session["expiresIn"] == 30 * 60
    assert session["refreshExpiresIn"] == 7 * 86_400
    # they are made one after the other, maybe in two different seconds
    assert abs(claims_of(session["refreshToken"])["exp"] - access["iat"] - 7 * 86_400) <= 1


async def test_an_expired_access_token_is_40101(tradewind: Running, people: People) -> None:
    person = await people.person()
    claims = claims_of(person.token)
    expired = signed(tradewind, {**claims, "exp": claims["iat"] - 1})
    reply = await Client(tradewind.url, expired).get(PROFILE)
    assert (reply.status, reply.code) == (401, 40101)


async def test_every_401_says_how_to_come_in(tradewind: Running, people: People) -> None:
    person = await people.person()
    expired = signed(tradewind, {**claims_of(person.token), "exp": 1})
    replies = [await Client(tradewind.url, token).get(PROFILE) for token in (None, "x.y.z", expired)]
    replies.append(await refresh(tradewind.url, "x.y.z"))
    assert [(reply.code, reply.headers["WWW-Authenticate"]) for reply in replies] == [
        (40100, "Bearer"),
        (40100, "Bearer"),
        (40101, 'Bearer error="invalid_token"'),
        (40102, 'Bearer error="invalid_token"'),
    ]


async def test_an_expired_refresh_token_is_40102(tradewind: Running, people: People) -> None:
    person = await people.person()
    claims = claims_of(person.session["refreshToken"])
    expect(await refresh(tradewind.url, signed(tradewind, {**claims, "exp": 1})), 40102)


@pytest.mark.parametrize(
    "changed",
    [
        {"algorithm": "none", "key": "", "headers": {}},
        {"algorithm": "HS512"},
        {"algorithm": "HS384"},
        {"key": "another-key-that-is-long-enough-for-everybody"},
        {"key": KEYS[1], "headers": {"kid": key_id(KEYS[1])}},
        {"headers": {"kid": "../../dev/null"}},
        {"headers": {"kid": ""}},
    ],
    ids=["no signature", "HS512", "HS384", "foreign key", "foreign key and its name", "path as kid", "empty kid"],
)
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
async def test_a_token_not_signed_by_a_listed_key_with_hs256_is_refused(
    tradewind: Running, people: People, changed: dict[str, Any]
) -> None:
    person = await people.person()
    forged = signed(tradewind, claims_of(person.token), **changed)
    assert await profile(tradewind.url, forged) == 40100
    long = signed(tradewind, claims_of(person.session["refreshToken"]), **changed)
    expect(await refresh(tradewind.url, long), 40102)


async def test_changed_claims_under_an_old_signature_are_refused(tradewind: Running, people: People) -> None:
    person = await people.person()
    head, _, signature = str(person.token).split(".")
    forged = f"{head}.{part({**claims_of(person.token), 'user_id': 1})}.{signature}"
    assert await profile(tradewind.url, forged) == 40100


@pytest.mark.parametrize(
    "token", ["x", "x.y", "x.y.z", "é.é.é", f"{part({'alg': 'HS256', 'kid': 7})}.e30.AA", "." * 100]
)
async def test_what_is_no_token_is_refused(tradewind: Running, token: str) -> None:
    expect(await refresh(tradewind.url, token), 40102)
    if token.isascii():
        assert await profile(tradewind.url, token) == 40100


@pytest.mark.parametrize(
    "claims",
    [
        {"user_id": "1"},
        {"user_id": True},
        {"user_id": None},
        {"sid": 7},
        {"jti": None},
        {"roles": "admin"},
        {"exp": None},
        {"exp": "4102444800"},
        {"exp": []},
        {"exp": {}},
        {"exp": math.inf},
        {"exp": math.nan},
        {"nbf": []},
        {"nbf": "4102444800"},
        {"aud": "others"},
        {"jti": []},
        {"sid": {}},
        {"user_id": 1.0},
    ],
    ids=str,
)
async def test_a_signed_token_of_another_shape_is_refused(
    tradewind: Running, people: People, claims: dict[str, Any]
) -> None:
    person = await people.person()
    shaped = {name: value for name, value in {**claims_of(person.token), **claims}.items() if value is not None}
    for _ in range(2):  # the second time it would come from memory
        assert await profile(tradewind.url, signed(tradewind, shaped)) == 40100
    long = {**claims_of(person.session["refreshToken"]), **{name: claims[name] for name in claims if name != "roles"}}
    if long != claims_of(person.session["refreshToken"]):
        shaped = {name: value for name, value in long.items() if value is not None}
        expect(await refresh(tradewind.url, signed(tradewind, shaped)), 40102)


async def test_the_two_kinds_of_tokens_do_not_stand_in_for_each_other(tradewind: Running, people: People) -> None:
    person = await people.person()
    assert await profile(tradewind.url, person.session["refreshToken"]) == 40100
    expect(await refresh(tradewind.url, str(person.token)), 40102)


async def test_a_token_of_one_person_with_the_session_of_another_is_refused(tradewind: Running, people: People) -> None:
    first, second = await people.person(), await people.person()
    mixed = {**claims_of(first.token), "user_id": second.user["userId"]}
    assert await profile(tradewind.url, signed(tradewind, mixed)) == 40100


async def test_a_token_issued_by_an_instance_whose_clock_is_ahead_is_believed(
    tradewind: Running, people: People
) -> None:
    claims = claims_of((await people.person()).token)
    assert await profile(tradewind.url, signed(tradewind, {**claims, "iat": claims["iat"] + 90})) == 0


async def test_a_new_key_logs_nobody_out_and_a_dropped_one_does(mongodb_uri: str, tmp_path: Path) -> None:
    before, during, after = (
        {"jwt_secret": KEYS[0]},
        {"jwt_secret": KEYS[1], "jwt_old_secrets": (KEYS[0],)},
        {"jwt_secret": KEYS[1]},
    )
    async with instances(mongodb_uri, tmp_path, before, during, after) as (old, both, new):
        person = await Client(old.url).log_in("admin")
        assert await profile(both.url, str(person.token)) == 0
        renewed = expect(await refresh(both.url, person.session["refreshToken"]))
        assert jwt.get_unverified_header(renewed["accessToken"])["kid"] == key_id(KEYS[1])
        assert await profile(new.url, renewed["accessToken"]) == 0
        expect(await refresh(new.url, renewed["refreshToken"]))
        assert await profile(new.url, str(person.token)) == 40100
        expect(await refresh(new.url, person.session["refreshToken"]), 40102)


async def test_two_tabs_racing_over_a_change_of_keys_get_the_same_successor(mongodb_uri: str, tmp_path: Path) -> None:
    first, second = ({"jwt_secret": KEYS[n], "jwt_old_secrets": (KEYS[1 - n],)} for n in (0, 1))
    async with instances(mongodb_uri, tmp_path, first, second) as (one, other):
        token = (await Client(one.url).log_in("admin")).session["refreshToken"]
        successors = [expect(await refresh(running.url, token))["refreshToken"] for running in (one, other)]
        assert len({claims_of(successor)["jti"] for successor in successors}) == 1
        expect(await refresh(other.url, successors[1]))


def test_a_key_is_not_revealed_by_its_name() -> None:
    assert key_id(KEYS[0]) not in KEYS[0]
    assert key_id(KEYS[0]) != key_id(KEYS[1])


def test_somebody_who_holds_no_key_cannot_tell_the_successor_of_a_token() -> None:
    one, other = (Tokens([key], timedelta(minutes=1), timedelta(days=1)).successors("jti") for key in KEYS[:2])
    assert not set(one) & set(other)


@pytest.mark.parametrize("weak", ["", "short", "x" * 31, "abcdefg" * 9, "a" * 64, EXAMPLE_SECRET])
def test_a_weak_key_is_refused_outside_demo_mode(weak: str) -> None:
    with pytest.raises(ValidationError, match="TRADEWIND_JWT_SECRET"):
        made(jwt_secret=weak)


@pytest.mark.parametrize("weak", ["short", "a" * 64, EXAMPLE_SECRET])
def test_a_weak_key_is_refused_in_demo_mode_too(weak: str) -> None:
    with pytest.raises(ValidationError, match="TRADEWIND_JWT_SECRET"):
        made(jwt_secret=weak, demo=True)


def test_a_weak_old_key_is_refused_because_its_tokens_are_believed() -> None:
    with pytest.raises(ValidationError, match="TRADEWIND_JWT_OLD_SECRETS"):
        made(jwt_secret=KEYS[0], jwt_old_secrets=f"{KEYS[1]}, short")


def test_a_random_key_of_32_bytes_is_accepted() -> None:
    assert made(jwt_secret=secrets.token_hex(16)).jwt_secret


def made(**settings: Any) -> Settings:
    environment: Any = Settings
    built: Settings = environment(_env_file=None, **settings)
    return built


async def test_a_client_of_the_tests_outlives_its_access_token(tradewind: Running, people: People) -> None:
    person = await people.person()
    expired = signed(tradewind, {**claims_of(person.token), "exp": 1})
    client = Client(tradewind.url, expired, person.user, dict(person.session))
    expect(await client.get(PROFILE))
    assert client.token != expired
