"""The batch interface of the loopback server: files and batches in OpenAI's style, with faults on request."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class StoredFile:
    """A file at the provider."""

    file_id: str
    name: str
    purpose: str
    content: bytes

    def described(self) -> dict[str, Any]:
        """The file as the API describes it."""
        return {
            "id": self.file_id, "object": "file", "bytes": len(self.content), "created_at": 1,
            "filename": self.name, "purpose": self.purpose, "status": "processed",
        }  # fmt: skip


@dataclass
class StoredBatch:
    """A batch at the provider."""

    batch_id: str
    input_file_id: str
    metadata: dict[str, str]
    lines: list[dict[str, Any]]
    status: str = "in_progress"
    output_file_id: str | None = None
    error_file_id: str | None = None
    counts: tuple[int, int] = (0, 0)
    errors: list[dict[str, Any]] = field(default_factory=list)

    def described(self) -> dict[str, Any]:
        """The batch as the API describes it."""
        completed, failed = self.counts
        return {
            "id": self.batch_id, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h",
            "created_at": 1, "input_file_id": self.input_file_id, "status": self.status, "metadata": self.metadata,
            "output_file_id": self.output_file_id, "error_file_id": self.error_file_id,
            "request_counts": {"total": len(self.lines), "completed": completed, "failed": failed},
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
        }  # fmt: skip


@dataclass(frozen=True)
class HttpFault:
    """What becomes of one call of an operation: an error before or after the server has acted, or no answer at all."""

    status: int = 500
    message: str = "something is wrong"
    code: str | None = None
    after: bool = False
    reset: bool = False
    delay: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


Lines = list[dict[str, Any]]


class LoopbackBatches:
    """The interface. What a line is answered is for ``answer``: the body's status and content.

    Attributes:
        auto: whether a batch is completed as soon as somebody asks after it.
        mangle: changes what a batch that ends has written: output and error lines -> the bytes of both files.
        faults: operation (upload, create, retrieve, list, cancel, content, delete, files) -> faults of its next calls.
        calls: every operation asked for, in order.
    """

    def __init__(self, answer: Callable[[dict[str, Any], dict[str, str]], tuple[int, bytes]]) -> None:
        self.answer = answer
        self.auto = False
        self.mangle: Callable[[Lines, Lines], tuple[bytes, bytes]] = lambda out, err: (jsonl(out), jsonl(err))
        self.faults: dict[str, list[HttpFault]] = {}
        self.calls: list[str] = []
        self.keys: set[str] = set()
        self.files: dict[str, StoredFile] = {}
        self.batches: dict[str, StoredBatch] = {}
        self.uploaded: list[StoredFile] = []
        self.page = 100
        self._serial = 0

    def custom_ids(self) -> list[str]:
        """The ids of all requests of all batches that were ever started."""
        return [line["custom_id"] for batch in self.batches.values() for line in batch.lines]

    def finish(self, status: str = "completed", only: Callable[[str], bool] = lambda custom_id: True) -> None:
        """End every batch that is under way; lines that ``only`` leaves out are not answered."""
        for batch in self.batches.values():
            if batch.status in ("in_progress", "cancelling"):
                self._end(batch, status, only)

    def fail(self, *errors: dict[str, Any]) -> None:
        """Fail every batch that is under way as a whole."""
        for batch in self.batches.values():
            if batch.status == "in_progress":
                batch.status, batch.errors = "failed", list(errors)

    def add_to(self, router: web.UrlDispatcher) -> None:
        """Serve the interface."""
        for method, path, name, handler in (
            ("POST", "/v1/files", "upload", self._upload),
            ("GET", "/v1/files", "files", self._files),
            ("GET", "/v1/files/{id}/content", "content", self._content),
            ("DELETE", "/v1/files/{id}", "delete", self._delete),
            ("POST", "/v1/batches", "create", self._create),
            ("GET", "/v1/batches", "list", self._list),
            ("GET", "/v1/batches/{id}", "retrieve", self._retrieve),
            ("POST", "/v1/batches/{id}/cancel", "cancel", self._cancel),
        ):
            router.add_route(method, path, self._with_faults(name, handler))

    def _with_faults(self, name: str, handler: Any) -> Any:
        async def handle(incoming: web.Request) -> web.StreamResponse:
            self.calls.append(name)
            self.keys.add(incoming.headers.get("Authorization", ""))
            waiting = self.faults.get(name, [])
            fault = waiting.pop(0) if waiting else None
            if fault is None:
                return await handler(incoming)
            await asyncio.sleep(fault.delay)
            if fault.after:
                await handler(incoming)
            if fault.reset:
                incoming.transport.abort()
            error = {"message": fault.message, "type": "server_error", "code": fault.code}
            return web.json_response({"error": error}, status=fault.status, headers=fault.headers)

        return handle

    async def _upload(self, incoming: web.Request) -> web.Response:
        form = await incoming.post()
        sent = form["file"]
        assert isinstance(sent, web.FileField)
        file = self._store(sent.filename, str(form["purpose"]), sent.file.read())
        self.uploaded.append(file)
        return web.json_response(file.described())

    async def _files(self, incoming: web.Request) -> web.Response:
        purpose = incoming.query.get("purpose")
        files = [f.described() for f in self.files.values() if purpose in (None, f.purpose)]
        return web.json_response({"object": "list", "data": files, "has_more": False})

    async def _content(self, incoming: web.Request) -> web.Response:
        file = self.files.get(incoming.match_info["id"])
        return _missing("file") if file is None else web.Response(body=file.content)

    async def _delete(self, incoming: web.Request) -> web.Response:
        file = self.files.pop(incoming.match_info["id"], None)
        if file is None:
            return _missing("file")
        return web.json_response({"id": file.file_id, "object": "file", "deleted": True})

    async def _create(self, incoming: web.Request) -> web.Response:
        asked = await incoming.json()
        file = self.files.get(asked["input_file_id"])
        if file is None:
            return _missing("file")
        lines = [json.loads(line) for line in file.content.splitlines()]
        batch = StoredBatch(self._name("batch"), file.file_id, asked.get("metadata") or {}, lines)
        self.batches[batch.batch_id] = batch
        return web.json_response(batch.described())

    async def _list(self, incoming: web.Request) -> web.Response:
        newest = list(reversed(self.batches.values()))
        after = incoming.query.get("after")
        start = next((i + 1 for i, batch in enumerate(newest) if batch.batch_id == after), 0)
        page = newest[start : start + self.page]
        more = start + self.page < len(newest)
        return web.json_response({"object": "list", "data": [b.described() for b in page], "has_more": more})

    async def _retrieve(self, incoming: web.Request) -> web.Response:
        batch = self.batches.get(incoming.match_info["id"])
        if batch is None:
            return _missing("batch")
        if self.auto and batch.status == "in_progress":
            self._end(batch, "completed", lambda custom_id: True)
        return web.json_response(batch.described())

    async def _cancel(self, incoming: web.Request) -> web.Response:
        batch = self.batches.get(incoming.match_info["id"])
        if batch is None:
            return _missing("batch")
        if batch.status == "in_progress":
            batch.status = "cancelling"
        return web.json_response(batch.described())

    def _end(self, batch: StoredBatch, status: str, only: Callable[[str], bool]) -> None:
        out: Lines = []
        err: Lines = []
        for number, line in enumerate(batch.lines):
            ids = {"id": f"batch_req_{number}", "custom_id": line["custom_id"]}
            if not only(line["custom_id"]):
                if status in ("expired", "cancelled"):
                    error = {"code": f"batch_{status}", "message": f"This request was not executed: batch {status}"}
                    err.append({**ids, "response": None, "error": error})
                continue
            code, body = self.answer(line["body"], {})
            response = {"status_code": code, "request_id": f"req-{number}", "body": _json_or_text(body)}
            (out if code == 200 else err).append({**ids, "response": response, "error": None})
        output, errors = self.mangle(out, err)
        batch.output_file_id = self._store("output.jsonl", "batch_output", output).file_id if output else None
        batch.error_file_id = self._store("error.jsonl", "batch_output", errors).file_id if errors else None
        batch.counts = (len(out), len(err))
        batch.status = status

    def _store(self, name: str, purpose: str, content: bytes) -> StoredFile:
        file = StoredFile(self._name("file"), name, purpose, content)
        self.files[file.file_id] = file
        return file

    def _name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}-{self._serial}-{time.monotonic_ns() % 10**6}"


def jsonl(lines: Lines) -> bytes:
    """One JSON object a line."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _json_or_text(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")


def _missing(what: str) -> web.Response:
    error = {"message": f"No such {what}", "type": "invalid_request_error", "code": None}
    return web.json_response({"error": error}, status=404)
