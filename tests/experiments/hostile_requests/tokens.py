"""Tokens that are wrong in many ways, on every operation that needs one."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import warnings
from typing import Any

import jwt

from plugins.auth.tokens import key_id
from tests.experiments.hostile_requests.target import Attack, Judge, Part, Target, json_attack

_FOREIGN_KEY = "a key that this service has never signed anything with"
_EXPECTED = frozenset({"40100", "40101", "40102"})


def _encode(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def forged(token: str, refresh_token: str, key: str) -> dict[str, str]:
    """Return tokens that look like `token` but are not valid; some are signed with the right `key`."""
    head, body, signature = token.split(".")
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    kid, now = key_id(key), int(time.time())
    made = {
        "empty": " ",
        "nonsense": "nonsense",
        "dots": "..",
        "three letters": "a.b.c",
        "no signature": f"{head}.{body}.",
        "no signature and no dot": f"{head}.{body}",
        "four parts": f"{token}.{signature}",
        "cut signature": f"{head}.{body}.{signature[:-2]}",
        "longer signature": f"{head}.{body}.{signature}AA",
        "another body": f"{head}.{_encode({**claims, 'user_id': 2})}.{signature}",
        "a super administrator": f"{head}.{_encode({**claims, 'is_super': True})}.{signature}",
        "header that is no JSON": f"{_encode(b'{')}.{body}.{signature}",
        "body that is no JSON": f"{head}.{_encode(b'[')}.{signature}",
        "header that is a list": f"{_encode([1])}.{body}.{signature}",
        "8 KB of base64": f"{head}.{'A' * 8000}.{signature}",
        "refresh token": refresh_token,
        "foreign key": jwt.encode(claims, _FOREIGN_KEY, "HS256"),
        "foreign key with our kid": jwt.encode(claims, _FOREIGN_KEY, "HS256", headers={"kid": kid}),
        "key in the header": jwt.encode(claims, _FOREIGN_KEY, "HS256", headers={"jwk": {"kty": "oct", "k": "YQ"}}),
        "address of a key": jwt.encode(claims, _FOREIGN_KEY, "HS256", headers={"jku": "http://127.0.0.1:1/keys"}),
        "certificate address": jwt.encode(claims, _FOREIGN_KEY, "HS256", headers={"x5u": "http://127.0.0.1:1/c"}),
        "empty key": f"{_encode({'alg': 'HS256', 'kid': kid})}.{body}.{_encode(hashlib.sha256(b'').digest())}",
    }
    for alg in ("none", "None", "NONE", "nOnE", "", "HS1", "RS256", "ES256", "PS256", "EdDSA", "HS256\x00", None, 1):
        for label, end in (("", ""), (" with a signature", signature)):
            made[f"alg {alg!r}{label}"] = f"{_encode({'alg': alg, 'typ': 'JWT', 'kid': kid})}.{body}.{end}"
    for other in ("HS384", "HS512"):
        with warnings.catch_warnings(action="ignore", category=jwt.InsecureKeyLengthWarning):
            made[f"signed with {other}"] = jwt.encode(claims, key, other, headers={"kid": kid})
    for name in ("../../dev/null", "' OR 1=1", {"$ne": None}, ["a"], 1, True, "", "\x00", "a" * 4000):
        text = _encode({"alg": "HS256", "typ": "JWT", "kid": name})
        made[f"kid {str(name)[:20]!r}"] = f"{text}.{body}.{signature}"
    return made | _signed(claims, key, kid, now)


def _signed(claims: dict[str, Any], key: str, kid: str, now: int) -> dict[str, str]:
    """Return wrong claims with valid signatures, such as a leaked library or a careless integrator could make."""
    wrong: dict[str, dict[str, Any]] = {
        "expired": {"exp": now - 1},
        "exp as text": {"exp": "tomorrow"},
        "exp as a number in text": {"exp": str(now + 600)},
        "exp as a list": {"exp": [now]},
        "not yet": {"nbf": now + 3600},
        "nbf as text": {"nbf": "x"},
        "user as text": {"user_id": "1"},
        "user true": {"user_id": True},
        "user as an operator": {"user_id": {"$gt": 0}},
        "user as a fraction": {"user_id": 1.5},
        "somebody else": {"user_id": claims["user_id"] + 1},
        "session as an operator": {"sid": {"$ne": None}},
        "session of nobody": {"sid": "0" * 32},
        "session as a list": {"sid": ["a"]},
        "jti as a number": {"jti": 5},
        "roles as text": {"roles": "admin"},
        "audience": {"aud": "other"},
    }
    made = {}
    for name, change in wrong.items():
        head, body = _encode({"alg": "HS256", "typ": "JWT", "kid": kid}), _encode({**claims, **change})
        signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
            f"{head}.{body}".encode(), key.encode()
        )
        made[f"signed: {name}"] = f"{head}.{body}.{_encode(signature)}"
    for name in ("exp", "sid", "user_id", "jti"):
        rest = {key_: value for key_, value in claims.items() if key_ != name}
        made[f"signed: no {name}"] = jwt.encode(rest, key, "HS256", headers={"kid": kid})
    return made


async def attack_tokens(target: Target) -> Part:
    """Send every forged token to every operation that needs a token; each must be refused with 401."""
    part = Part("tokens")
    key = target.server.env["TRADEWIND_JWT_SECRET"]
    tokens = forged(target.person.token, target.person.refresh_token, key)
    guarded = [each for each in target.operations if not each.is_public and not each.path.endswith("/ws")]
    judge = Judge(part, target.server.port)
    attacks: list[tuple[str, Attack]] = []
    for operation in guarded:
        for name, token in tokens.items():
            headers = {"Authorization": f"Bearer {token}"}
            body: Any = {} if operation.method in ("POST", "PUT", "PATCH") else None
            attack = json_attack(operation.method, operation.at("1"), body, headers)
            attacks.append((f"{operation.name} with {name}", attack))
    await judge.send_all(attacks, accepted=False)
    let_in = {outcome: count for outcome, count in part.outcomes.items() if outcome not in _EXPECTED}
    part.notes = {"kinds of tokens": len(tokens), "operations": len(guarded), "outcomes other than 401": let_in}
    for outcome in let_in:
        part.fault(f"{let_in[outcome]} responses are {outcome}, not 401")
    return part
