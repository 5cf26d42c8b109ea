"""Real servers of a cluster on loopback: a broker and an object store. Tests are skipped, with the reason, without."""

from __future__ import annotations

import logging
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def running_redis(folder: Path) -> Iterator[str]:
    """A Redis server with a password; the URL of it."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no Redis on this machine: redis-server is not on the path (apt-get install redis-server)")
    port, password = free_port(), secrets.token_urlsafe(18)
    said = (folder / "redis.log").open("wb")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    with said:
        server = subprocess.Popen([program, *options, "--requirepass", password], stdout=said, stderr=said)
        try:
            _wait_for(port, server)
            yield f"redis://:{password}@127.0.0.1:{port}/0"
        finally:
            server.kill()
            server.wait()


class ObjectStore:
    """An S3-compatible server (moto) on a port of its own, which can be stopped and started again.

    Attributes:
        port: where.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self._server: Any = None

    @property
    def environment(self) -> dict[str, str]:
        """What the environment of its clients says."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def start(self) -> None:
        """Listen; what was stored before is still there."""
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        server.start()
        self._server = server

    def stop(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def make_bucket(self, name: str, versioned: bool = False) -> None:
        """Make a bucket."""
        client = self.client()
        client.create_bucket(Bucket=name)
        if versioned:
            client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})

    def client(self) -> Any:
        """A client of another make than the one that is tested."""
        import boto3

        found = self.environment
        return boto3.client(
            "s3",
            endpoint_url=found["AWS_ENDPOINT_URL"],
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
        )


@contextmanager
def running_object_store() -> Iterator[ObjectStore]:
    """An object store while the block runs, empty at first."""
    pytest.importorskip("moto.server", reason="moto, the S3-compatible server of tests, is not installed")
    import urllib.request

    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()  # a process keeps its clients, and with them the address of an earlier store
    store = ObjectStore()
    store.start()
    try:
        urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{store.port}/moto-api/reset", method="POST"), timeout=30
        )
        yield store
    finally:
        store.stop()


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"the server on port {port} did not come up")
