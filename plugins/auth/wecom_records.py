"""Collections, bodies and responses of WeCom log-in: states of log-ins in progress, and the corporation's token."""

from __future__ import annotations

from plugins.api import Collection, Index, shape, text, timestamp

# `id` is the SHA-256 of the state and `browser` that of the browser's cookie, so that someone who reads the
# database cannot finish another user's log-in
WECOM_STATES = Collection(
    name="auth_wecom_states",
    title="WecomState",
    plain=True,
    ids="text",
    default_sort="-expires_at",
    fields={
        "expires_at": timestamp(nullable=False, sort=True),
        "used_at": timestamp(),
    },
    indexes=(Index("expires_at", expire_seconds=0),),
    internal=("session_id", "browser"),
)

# one document for each application, so that all instances share its token
WECOM_TOKENS = Collection(
    name="auth_wecom_tokens",
    title="WecomToken",
    plain=True,
    ids="text",
    default_sort="-expires_at",
    fields={"expires_at": timestamp(nullable=False, sort=True)},
    indexes=(Index("expires_at", expire_seconds=0),),
    internal=("encrypted",),
)

SCAN_BODY = shape(
    "WecomScanBody",
    code=text(required=True, max_length=512, secret=True, example="the code of the callback address"),
    state=text(required=True, max_length=128, secret=True, example="the state of /wecom/qr"),
)
QR = shape(
    "WecomQr",
    url=text(nullable=False, max_length=4096, description="The page with the QR code: show it, or open it."),
    state=text(nullable=False, description="Valid once, for 5 minutes; WeCom returns it with the code."),
)
BINDING = shape("WecomBinding", wecom_user_id=text(nullable=False))
