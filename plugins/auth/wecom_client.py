"""A client of WeCom's HTTP API, for the calls that a log-in, messages and the directory need.

`cgi-bin/gettoken`: https://developer.work.weixin.qq.com/document/path/91039;
`cgi-bin/auth/getuserinfo`: https://developer.work.weixin.qq.com/document/path/98176;
`cgi-bin/department/list`: https://developer.work.weixin.qq.com/document/path/90208;
`cgi-bin/user/list`: https://developer.work.weixin.qq.com/document/path/90201;
error codes: https://developer.work.weixin.qq.com/document/path/90313.
The addresses contain the secret, the token and the code, so they are never logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import orjson
from tornado.httpclient import HTTPError, HTTPRequest
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from plugins.api import ApiError
from plugins.api.requests import span, trace_headers
from plugins.auth.errors import WECOM_CODE_REFUSED, WECOM_OUTSIDER, WECOM_REFUSED
from plugins.auth.settings import AuthSettings

_TOKEN_REJECTED = frozenset({40001, 40014, 42001})
# invalid or used code, no code, a member who may not use the application
_CODE_REFUSED = frozenset({40029, 41008, 50002})
_MAX_RESPONSE_BYTES = 1 << 20


class WecomUnavailable(Exception):
    """WeCom sent no response or an unexpected one; `call` and `reason` contain no secret."""

    def __init__(self, call: str, reason: str) -> None:
        super().__init__(f"{call}: {reason}")
        self.call = call
        self.reason = reason


class TokenRejected(Exception):
    """WeCom no longer accepts the corporation's token."""


class WecomClient:
    """Calls WeCom within the time limits of the settings."""

    def __init__(self, settings: AuthSettings) -> None:
        self._settings = settings
        self._http = SimpleAsyncHTTPClient(force_instance=True, max_clients=100, max_body_size=_MAX_RESPONSE_BYTES)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    async def corp_token(self) -> tuple[str, float]:
        """Return a token of the corporation and its lifetime in seconds. Raises `WecomUnavailable`."""
        call = "gettoken"
        response = await self._get(
            call,
            corpid=self._settings.wecom_corp_id,
            corpsecret=self._settings.wecom_secret.get_secret_value(),
        )
        token, life = response.get("access_token"), response.get("expires_in")
        if _errcode(call, response) != 0:
            raise WecomUnavailable(call, f"errcode {response['errcode']}")
        if not isinstance(token, str) or not token or type(life) is not int or life <= 0:
            raise WecomUnavailable(call, "a response without a token")
        return token, life

    async def member(self, token: str, code: str) -> str:
        """Return the `userid` of the member who scanned.

        Raises `TokenRejected`, `WecomUnavailable`, and 40011 for an invalid code or somebody who is not a member.
        """
        call = "auth/getuserinfo"
        response = await self._get(call, access_token=token, code=code)
        errcode = _errcode(call, response)
        if errcode in _TOKEN_REJECTED:
            raise TokenRejected
        if errcode in _CODE_REFUSED:
            raise ApiError(WECOM_REFUSED, WECOM_CODE_REFUSED)
        if errcode != 0:
            raise WecomUnavailable(call, f"errcode {errcode}")
        userid = response.get("userid")
        if isinstance(userid, str) and 0 < len(userid) <= 64:
            return userid
        if isinstance(response.get("openid"), str):
            raise ApiError(WECOM_REFUSED, WECOM_OUTSIDER)
        raise WecomUnavailable(call, "a response without a person")

    async def post_message(self, token: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a message of the application; return the response. Raises `TokenRejected` and `WecomUnavailable`."""
        call = "message/send"
        with span(f"WeCom {call}", "CLIENT", http_request_method="POST"):
            response = await self._asked(call, {"access_token": token}, body)
        if _errcode(call, response) in _TOKEN_REJECTED:
            raise TokenRejected
        return response

    async def departments(self, token: str) -> list[dict[str, Any]]:
        """Return the departments that the application may see, with `id`, `name` and `parentid`."""
        return await self._list("department/list", "department", {"id": int, "name": str, "parentid": int}, token)

    async def members(self, token: str, department_id: int) -> list[dict[str, Any]]:
        """Return the members of a department itself, with `userid` and `name`; what the application may not see lacks."""
        kinds = {"userid": str, "name": str}
        return await self._list("user/list", "userlist", kinds, token, department_id=str(department_id))

    async def _list(
        self, call: str, name: str, kinds: Mapping[str, type], token: str, **query: str
    ) -> list[dict[str, Any]]:
        """Return a list of objects with values of these kinds. Raises `TokenRejected` and `WecomUnavailable`."""
        response = await self._get(call, access_token=token, **query)
        errcode, rows = _errcode(call, response), response.get(name)
        if errcode in _TOKEN_REJECTED:
            raise TokenRejected
        if errcode != 0 or not isinstance(rows, list):
            raise WecomUnavailable(call, f"errcode {errcode}" if errcode else f"a response without {name}")
        if not all(
            isinstance(one, dict) and all(type(one.get(key)) is kind for key, kind in kinds.items()) for one in rows
        ):
            raise WecomUnavailable(call, f"a {name} of another form")
        return rows

    async def _get(self, call: str, **query: str) -> dict[str, Any]:
        with span(f"WeCom {call}", "CLIENT", http_request_method="GET"):
            return await self._asked(call, query)

    async def _asked(
        self, call: str, query: Mapping[str, str], body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        request = HTTPRequest(
            f"{self._settings.wecom_api_base}/cgi-bin/{call}?{urlencode(query)}",
            "GET" if body is None else "POST",
            body=None if body is None else orjson.dumps(body),
            connect_timeout=self._settings.wecom_connect_seconds,
            request_timeout=self._settings.wecom_request_seconds,
            follow_redirects=False,
            headers={**trace_headers(), **({} if body is None else {"Content-Type": "application/json"})},
        )
        try:
            response = orjson.loads((await self._http.fetch(request)).body)
        except HTTPError as error:
            raise WecomUnavailable(call, f"HTTP {error.code}") from error
        except (OSError, ValueError) as error:
            raise WecomUnavailable(call, type(error).__name__) from error
        if not isinstance(response, dict):
            raise WecomUnavailable(call, "a response that is no object")
        return response


def _errcode(call: str, response: dict[str, Any]) -> int:
    errcode = response.get("errcode", 0)
    if type(errcode) is not int:
        raise WecomUnavailable(call, "a response whose errcode is no number")
    return errcode
