"""WeCom's HTTP API, the two calls of a log-in.

`cgi-bin/gettoken`: https://developer.work.weixin.qq.com/document/path/91039;
`cgi-bin/auth/getuserinfo`: https://developer.work.weixin.qq.com/document/path/98176;
error codes: https://developer.work.weixin.qq.com/document/path/90313.
Addresses carry the secret, the token and the code: they are never logged.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import orjson
from tornado.httpclient import HTTPError, HTTPRequest
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from plugins.api import WECOM_REFUSED, ApiError
from plugins.auth.messages import WECOM_CODE_REFUSED, WECOM_OUTSIDER
from plugins.auth.settings import AuthSettings

_TOKEN_REJECTED = frozenset({40001, 40014, 42001})
# bad or used code, no code, a member that the application is not visible to
_CODE_REFUSED = frozenset({40029, 41008, 50002})
_MAX_ANSWER_BYTES = 1 << 20


class WecomUnavailable(Exception):
    """WeCom did not answer, or not with what it promises; `call` and `reason` hold no secret."""

    def __init__(self, call: str, reason: str) -> None:
        super().__init__(f"{call}: {reason}")
        self.call = call
        self.reason = reason


class TokenRejected(Exception):
    """WeCom does not accept the corporation's token any more."""


class WecomClient:
    """Calls WeCom within the time limits of the settings."""

    def __init__(self, settings: AuthSettings) -> None:
        self._settings = settings
        self._http = SimpleAsyncHTTPClient(force_instance=True, max_clients=100, max_body_size=_MAX_ANSWER_BYTES)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    async def corp_token(self) -> tuple[str, float]:
        """A token of the corporation, and its life in seconds. Raises `WecomUnavailable`."""
        call = "gettoken"
        answer = await self._get(
            call,
            corpid=self._settings.wecom_corp_id,
            corpsecret=self._settings.wecom_secret.get_secret_value(),
        )
        token, life = answer.get("access_token"), answer.get("expires_in")
        if _errcode(call, answer) != 0:
            raise WecomUnavailable(call, f"errcode {answer['errcode']}")
        if not isinstance(token, str) or not token or type(life) is not int or life <= 0:
            raise WecomUnavailable(call, "an answer without a token")
        return token, life

    async def member(self, token: str, code: str) -> str:
        """The `userid` of the member who scanned.

        Raises `TokenRejected`, 40011 for a bad code and for an outsider, and `WecomUnavailable`.
        """
        call = "auth/getuserinfo"
        answer = await self._get(call, access_token=token, code=code)
        errcode = _errcode(call, answer)
        if errcode in _TOKEN_REJECTED:
            raise TokenRejected
        if errcode in _CODE_REFUSED:
            raise ApiError(WECOM_REFUSED, WECOM_CODE_REFUSED)
        if errcode != 0:
            raise WecomUnavailable(call, f"errcode {errcode}")
        userid = answer.get("userid")
        if isinstance(userid, str) and 0 < len(userid) <= 64:
            return userid
        if isinstance(answer.get("openid"), str):
            raise ApiError(WECOM_REFUSED, WECOM_OUTSIDER)
        raise WecomUnavailable(call, "an answer without a person")

    async def _get(self, call: str, **query: str) -> dict[str, Any]:
        request = HTTPRequest(
            f"{self._settings.wecom_api_base}/cgi-bin/{call}?{urlencode(query)}",
            connect_timeout=self._settings.wecom_connect_seconds,
            request_timeout=self._settings.wecom_request_seconds,
            follow_redirects=False,
        )
        try:
            answer = orjson.loads((await self._http.fetch(request)).body)
        except HTTPError as error:
            raise WecomUnavailable(call, f"HTTP {error.code}") from error
        except (OSError, ValueError) as error:
            raise WecomUnavailable(call, type(error).__name__) from error
        if not isinstance(answer, dict):
            raise WecomUnavailable(call, "an answer that is no object")
        return answer


def _errcode(call: str, answer: dict[str, Any]) -> int:
    errcode = answer.get("errcode", 0)
    if type(errcode) is not int:
        raise WecomUnavailable(call, "an answer whose errcode is no number")
    return errcode
