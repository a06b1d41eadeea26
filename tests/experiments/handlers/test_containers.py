"""The service as compose.yaml confines it: nothing to be written but its data and a temporary folder, no capability."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plugins.testing import Client, expect
from tests.api.crm.tables import as_xlsx, import_table, read_xlsx
from tests.api.files.samples import note
from tests.support.server_process import environment, server_process

pytestmark = pytest.mark.gen_test(timeout=60)
CONFINED = """
for kept in "$1" "$2"; do mount --bind "$kept" "$kept"; done
for place in / /dev/shm /tmp; do
    mountpoint -q "$place" && mount -o remount,bind,ro "$place"
done
shift 2
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
"""


def confined(*kept: Path) -> list[str]:
    """The command that runs another one without capabilities, with these folders alone to write in."""
    return ["unshare", "-rm", "sh", "-ec", CONFINED, "sh", *map(str, kept)]


async def test_the_service_works_read_only_and_without_capabilities(mongodb_uri: str, tmp_path: Path) -> None:
    data, temporary = tmp_path / "data", tmp_path / "temporary"
    for folder in (data, temporary):
        folder.mkdir()
    within = confined(data, temporary)
    nowhere = tmp_path / "nowhere"
    tried = subprocess.run([*within, "touch", nowhere], capture_output=True, text=True, check=False)
    if "Operation not permitted" in tried.stderr:
        pytest.skip("`unshare -rm` is not permitted here, so nothing can be made read-only")
    assert "Read-only file system" in tried.stderr
    env = environment(mongodb_uri, data, PLUGINS="") | {"TMPDIR": str(temporary)}
    async with server_process(env, tmp_path / "output", within=within) as server:
        admin = await Client(await server.url()).log_in("admin")
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        assert "CapBnd:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        report = await import_table(admin, as_xlsx([["name"], ["from a workbook"]]), "customers.xlsx")
        assert report["created"] == 1
        exported = await admin.get("/api/v1/crm/customers/export?format=xlsx")
        assert "from a workbook" in str(read_xlsx(exported.body))
        stored = await note(admin)
        assert (await admin.get(f"/api/file/dl?object_key={stored['objectKey']}")).status == 200
        article = {"title": "confined", "content": "<p>" + "long " * 5000 + "</p>"}
        expect(await admin.post("/api/v1/cms/manage/articles", article))
        assert await server.stop() == 0
        assert server.lines("unhandled error") == []
