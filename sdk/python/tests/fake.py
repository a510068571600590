"""The server's side of `Work`, for tests: it greets as the contract says, and the test does the rest."""

import asyncio
import contextlib
import json
import socket
import time
import uuid
from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio

from toolwire._stubs.google.rpc import error_details_pb2, status_pb2
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import context_pb2, result_pb2

# The bound on whatever a test waits for, in seconds.
LIMIT = 20.0


async def until(holds: Callable[[], Any]) -> None:
    """Waits for what other tasks do."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it never holds"
        await asyncio.sleep(0.005)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def details(code: grpc.StatusCode, reason: str, retry_after: float = 0) -> Any:
    """The trailing metadata of a refusal."""
    status = status_pb2.Status(code=code.value[0])
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain="toolwire"))
    if retry_after:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(round(retry_after * 1000))
        status.details.add().Pack(retry)
    return (("grpc-status-details-bin", status.SerializeToString()),)


class FakeSlot:
    """A stream of a host."""

    def __init__(self, server: "FakeServer", context: Any) -> None:
        self.server, self._context = server, context
        self.hellos: list[host_pb2.Hello] = []
        self.inbox: asyncio.Queue[host_pb2.WorkRequest] = asyncio.Queue()
        self.half_closed = asyncio.Event()
        self.cut: asyncio.Future[grpc.StatusCode] = asyncio.get_running_loop().create_future()
        self.metadata = dict(context.invocation_metadata())
        self.peer = context.peer()

    async def send(self, **message: Any) -> None:
        await self._context.write(host_pb2.WorkResponse(**message))

    async def start(self, tool: str, timeout: float = LIMIT, raw: str | None = None, **arguments: Any) -> str:
        """Starts a call and returns its identifier."""
        start = host_pb2.Start(
            call_id=str(uuid.uuid4()), tool=tool, request_id=str(uuid.uuid4()),
            arguments_json=json.dumps(arguments) if raw is None else raw,
            context=context_pb2.ToolContext(user_id="riley", user_email="r@example.com", task_id="task_1"),
        )
        start.timeout.FromMilliseconds(round(timeout * 1000))
        await self.send(start=start)
        return start.call_id

    async def receive(self, kind: str) -> Any:
        """The next message, which must be of this kind."""
        message = await asyncio.wait_for(self.inbox.get(), LIMIT)
        assert message.WhichOneof("message") == kind, message
        return getattr(message, kind)

    async def outcome(self) -> Any:
        """The outcome that comes next: its data, or its error as (code, message)."""
        return read_outcome(await self.receive("outcome"))

    async def call(self, tool: str, timeout: float = LIMIT, raw: str | None = None, **arguments: Any) -> Any:
        await self.start(tool, timeout, raw, **arguments)
        return await self.outcome()

    async def cancel(self, call_id: str) -> None:
        await self.send(cancel=host_pb2.Cancel(call_id=call_id, reason=host_pb2.CANCEL_REASON_REQUESTED))

    async def leave(self, retry_after: float | None = None) -> None:
        leave = host_pb2.Leave(reason="test")
        if retry_after is not None:
            leave.retry_after.FromMilliseconds(round(retry_after * 1000))
        await self.send(leave=leave)

    def kill(self, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
        """Ends the stream, as a lost connection does."""
        self.cut.set_result(code)

    async def wait_closed(self) -> None:
        await asyncio.wait_for(self.half_closed.wait(), LIMIT)


def read_outcome(outcome: host_pb2.Outcome) -> Any:
    if outcome.HasField("error"):
        code = result_pb2.ToolErrorCode.Name(outcome.error.code).removeprefix("TOOL_ERROR_CODE_")
        return code, outcome.error.message
    return json.loads(outcome.data_json)


class FakeServer:
    """A server that hosts dial into."""

    def __init__(self, port: int = 0, credentials: Any = None) -> None:
        self.port, self._credentials = port or free_port(), credentials
        self.slots: list[FakeSlot] = []
        self.catalogues: dict[str, list[host_pb2.Offer]] = {}
        self.verdicts: list[host_pb2.Verdict] = []
        # What each stream is refused by, instead of a welcome.
        self.refusal: tuple[grpc.StatusCode, str] | None = None
        self.is_silent = False
        self._taken = 0
        self._server: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self, *others: Any) -> "FakeServer":
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        handler = grpc.stream_stream_rpc_method_handler(
            self._work, host_pb2.WorkRequest.FromString, host_pb2.WorkResponse.SerializeToString
        )
        generic = grpc.method_handlers_generic_handler("toolwire.host.v1.ToolHostService", {"Work": handler})
        self._server.add_generic_rpc_handlers((generic, *others))
        address = f"127.0.0.1:{self.port}"
        if self._credentials:
            self._server.add_secure_port(address, self._credentials)
        else:
            self._server.add_insecure_port(address)
        await self._server.start()
        return self

    async def close(self) -> None:
        """Ends all streams and listens no more."""
        await self._server.stop(0)

    async def slot(self) -> FakeSlot:
        """The next slot that was welcomed and that no test has taken yet."""
        await self.count(self._taken + 1)
        self._taken += 1
        return self.slots[self._taken - 1]

    async def count(self, number: int) -> None:
        """Waits until this many slots were welcomed."""
        await until(lambda: len(self.slots) >= number)

    async def _work(self, _: Any, context: Any) -> None:
        slot = FakeSlot(self, context)
        reading = asyncio.ensure_future(self._read(slot, context))
        try:
            ends: list[asyncio.Future[Any]] = [reading, slot.cut]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            reading.cancel()
        if slot.cut.done():
            await context.abort(slot.cut.result(), "the test ends it")

    async def _read(self, slot: FakeSlot, context: Any) -> None:
        # A server that stops ends its reads with errors of its own.
        with contextlib.suppress(grpc.aio.BaseError):
            # grpc.aio.EOF is false, and no message is.
            while message := await context.read():
                if message.HasField("hello"):
                    await self._greet(slot, message.hello, context)
                else:
                    slot.inbox.put_nowait(message)
            slot.half_closed.set()

    async def _greet(self, slot: FakeSlot, hello: host_pb2.Hello, context: Any) -> None:
        slot.hellos.append(hello)
        if self.refusal:
            code, reason = self.refusal
            context.set_trailing_metadata(details(code, reason))
            await context.abort(code, f"refused: {reason}")
        if self.is_silent:
            return
        if hello.offers:
            self.catalogues[hello.catalogue_id] = list(hello.offers)
        known = self.catalogues.get(hello.catalogue_id)
        welcome = host_pb2.Welcome(provider="local", send_catalogue=known is None)
        if known is not None:
            welcome.verdicts.extend(self.verdicts)
            welcome.accepted = len(known)
        await slot.send(welcome=welcome)
        if known is not None:
            self.slots.append(slot)
