"""Refusals that several routes of approval share."""

from __future__ import annotations

from plugins.api import FORBIDDEN, Refusal, conflicts
from plugins.approval.messages import NOT_ALLOWED, ONLY_INITIATOR

INITIATOR_ONLY = (Refusal(FORBIDDEN, ONLY_INITIATOR), *conflicts(NOT_ALLOWED))
