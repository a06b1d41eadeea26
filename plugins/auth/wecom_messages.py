"""Messages of the WeCom application to one member: https://developer.work.weixin.qq.com/document/path/90236."""

from __future__ import annotations

from typing import Any

from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_client import WecomClient, WecomUnavailable
from plugins.auth.wecom_tokens import CorpToken

MAX_TITLE, MAX_TEXT = 128, 512
_REPEAT_SECONDS = 4 * 3600  # the longest time for which WeCom drops what it has been sent already
# no such member, one who may not see the application, or an id that none can have
_NO_SUCH_MEMBER = frozenset({40003, 60111, 81013, 82001})
# HTML is interpreted in the text of a card
_AS_TEXT = str.maketrans({"<": "＜", ">": "＞", "&": "＆"})


class NoSuchMember(Exception):
    """WeCom knows no such member, or the member may not see the application; the message is WeCom's code."""


class WecomMessages:
    """Sends messages with the application of the settings; `is_set_up` says whether there is one."""

    def __init__(self, client: WecomClient, tokens: CorpToken, settings: AuthSettings) -> None:
        self._client = client
        self._tokens = tokens
        self._agent = settings.wecom_agent_id
        self.is_set_up = not settings.wecom_missing

    async def send(self, member: str, title: str, text: str, url: str | None, button: str) -> str:
        """Send a card that leads to `url`, or a text without one; return what WeCom calls the message.

        Longer texts are cut. The same message again within four hours is dropped by WeCom. Raises `NoSuchMember` and
        `WecomUnavailable`.
        """
        title, text = title.translate(_AS_TEXT)[:MAX_TITLE], text.translate(_AS_TEXT)[:MAX_TEXT]
        content: dict[str, Any] = {"msgtype": "text", "text": {"content": f"{title}\n{text}".strip()}}
        if url is not None:
            card = {"title": title, "description": text or title, "url": url, "btntxt": button}
            content = {"msgtype": "textcard", "textcard": card}
        body = {
            "touser": member,
            "agentid": self._agent,
            **content,
            "enable_duplicate_check": 1,
            "duplicate_check_interval": _REPEAT_SECONDS,
        }
        answer = await self._tokens.used_for("message/send", lambda token: self._client.post_message(token, body))
        code = answer.get("errcode", 0)
        if code in _NO_SUCH_MEMBER or (code == 0 and answer.get("invaliduser")):
            raise NoSuchMember(f"errcode {code}")
        if code != 0:
            raise WecomUnavailable("message/send", f"errcode {code}")
        return str(answer.get("msgid", ""))[:100]
