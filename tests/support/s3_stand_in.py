"""An S3 for tests and measurements: `moto[server]` in a separate process, over HTTP. It checks no signatures."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import botocore.session  # type: ignore[import-untyped]

ACCESS_KEY, SECRET_KEY, REGION = "an-access-key", "a-secret-key-of-the-stand-in", "eu-central-1"
_PROGRAM = """
import time
from datetime import UTC, datetime
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer

listed = S3Response.list_multipart_uploads

def list_multipart_uploads(response):
    # moto dates every upload to 2010, and the sweep would abort one that has just begun
    status, headers, body = listed(response)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return status, headers, body.replace("2010-11-10T20:48:33.000Z", now)

S3Response.list_multipart_uploads = list_multipart_uploads
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
while True:
    time.sleep(60)
"""


@dataclass(frozen=True)
class S3Server:
    """A running S3."""

    endpoint: str

    @cached_property
    def client(self) -> Any:
        """A client of botocore, to look at what the service did."""
        return botocore.session.get_session().create_client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )

    def buckets(self) -> dict[str, str]:
        """Create two buckets, and return the settings for them."""
        mark = secrets.token_hex(4)
        names = {"s3_public_bucket": f"public-{mark}", "s3_private_bucket": f"private-{mark}"}
        for name in names.values():
            self.client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.client.put_bucket_policy(Bucket=names["s3_public_bucket"], Policy=_readable(names["s3_public_bucket"]))
        return {
            "storage": "s3",
            "s3_endpoint": self.endpoint,
            "s3_region": REGION,
            "s3_access_key": ACCESS_KEY,
            "s3_secret_key": SECRET_KEY,
            **names,
        }

    def holds(self, bucket: str) -> set[str]:
        """Return everything in a bucket: objects, and multipart uploads that were begun and not completed."""
        objects = self.client.list_objects_v2(Bucket=bucket).get("Contents", ())
        begun = self.client.list_multipart_uploads(Bucket=bucket).get("Uploads", ())
        return {found["Key"] for found in objects} | {f"{found['Key']} in parts" for found in begun}


def _readable(bucket: str) -> str:
    """Return the policy of a bucket that everybody may read and nobody may list."""
    statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{bucket}/*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Start an S3 that ends with the block."""
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as moto:
        try:
            assert moto.stdout is not None
            port = int(moto.stdout.readline())
            yield S3Server(f"http://127.0.0.1:{port}")
        finally:
            moto.kill()
