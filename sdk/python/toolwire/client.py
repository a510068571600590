"""The clients, which list, export, call and approve tools: `AsyncToolwire` in an event loop, `Toolwire` in threads."""

from __future__ import annotations

import itertools
import json
import random
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack, aclosing, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

from toolwire._blocking import blocking, blocking_iterator
from toolwire._hosting import Host, choose_tools
from toolwire._requests import arguments_json, build, enum_value, seconds
from toolwire._results import (
    Accepted,
    AwaitingApproval,
    Chunk,
    Confirmation,
    Event,
    Progress,
    Result,
    ToolInfo,
    event_of,
    info_of,
    result_of,
)
from toolwire._rpc import BlockingConnection, Connection
from toolwire._stubs.toolwire.v1 import confirmation_pb2, context_pb2, result_pb2, tool_pb2
from toolwire._stubs.toolwire.v1 import confirmation_service_pb2 as decisions
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb
from toolwire._target import Target
from toolwire._tool import Category
from toolwire.errors import ConfirmationRequired, Refused, ToolError, ToolwireError, refusal
from toolwire.tasks import AsyncTasks, Tasks

__all__ = [
    "Accepted", "AsyncToolwire", "AwaitingApproval", "Chunk", "Confirmation", "Progress", "Result", "ToolInfo",
    "Toolwire",
]

if TYPE_CHECKING:
    from typing_extensions import Self

Format = Literal["openai", "openai-responses", "anthropic", "gemini", "gemini-openapi", "mcp"]
Arguments: TypeAlias = Mapping[str, Any] | str | None
Request = TypeVar("Request", pb.CallToolRequest, pb.InvokeToolRequest)
T = TypeVar("T")

# Seconds before a second attempt, doubled before each further one; the server's `retry_after` if that is longer.
FIRST_PAUSE = 0.5
# Seconds to ask for the category of a tool whose call was not answered in time.
CATEGORY_TIMEOUT = 1.0
# How many calls for a model are kept until they are made again: the oldest is forgotten.
MOST_WAITING = 1000

# Refusals that a model should read, since its next call may do better.
READABLE = {"NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}


class _Client:
    """What both clients are made of: a connection that blocks or is awaited, and the rules of a call."""

    _connection: ClassVar = Connection

    def __init__(self, target: Target, *, session_id: str = "", retries: int = 4, stack: ExitStack | None = None):
        self.url, self.session_id, self.retries = target.url, session_id, retries
        self._stack = stack or ExitStack()
        self._rpc = self._connection(target)
        # The `request_id` of calls of `call_text` that wait for a person, by tool, arguments and task.
        self._waiting: dict[tuple[str, str, str], str] = {}

    def __repr__(self) -> str:
        target = self._rpc.target
        user = f"user {target.user!r}" if target.user else "without a token"
        user = "the user of its token" if target.token else user
        return f"{type(self).__name__}({self.url}, {user}{', closed' if self._rpc.is_closed else ''})"

    @classmethod
    def connect(
        cls, url: str | None = None, token: str | None = None, *, ca: str | None = None, user: str = "",
        session_id: str = "", retries: int = 4,
    ) -> Self:
        """Connects to a server. What is not given is read from TOOLWIRE_SERVER, TOOLWIRE_TOKEN and TOOLWIRE_CA.

        Args:
            url: Where the server is, `http://HOST:PORT`, or `https://HOST:PORT` for one that speaks TLS.
            token: That of a user. Empty for a server on this machine that has no users.
            ca: A PEM file with the certificate that signed the server's. Empty: those that gRPC trusts.
            user: The name to go by at a server that has no users.
            session_id: The conversation of all calls.
            retries: How many times a call is made again at most, where that may help.
        """
        return cls(Target.read(url, token, ca, "TOOLWIRE_TOKEN", user), session_id=session_id, retries=retries)

    async def _list(self, request: pb.ListToolsRequest) -> list[ToolInfo]:
        request.view = tool_pb2.TOOL_VIEW_FULL_JSON
        return [info_of(response.tool) async for response in self._rpc.stream(request, 30)]

    async def _export(self, format: Format, strict: bool, tags: Iterable[str]) -> Any:
        request = build(pb.ExportToolsRequest, format=format, strict=strict, tags=tags)
        exported: pb.ExportToolsResponse = await self._rpc.unary(request, 30)
        return json.loads(exported.json)

    async def _decide(self, confirmation: str | ConfirmationRequired, **decision: Any) -> Confirmation:
        named = confirmation if isinstance(confirmation, str) else confirmation.confirmation_id
        request = build(decisions.DecideConfirmationRequest, confirmation_id=named, **decision)
        return Confirmation.of((await self._rpc.unary(request, 10)).confirmation)

    async def _call(self, request: pb.CallToolRequest, timeout: float) -> pb.CallToolResponse:
        response: pb.CallToolResponse = await self._rpc.unary(request, timeout)
        if response.HasField("confirmation_required"):
            raise ConfirmationRequired.of(response.confirmation_required)
        return response

    def _request(
        self, kind: type[Request], tool: str, arguments: Arguments, request_id: str, task_id: str, wait: float,
        timeout: float,
    ) -> Request:
        seconds("timeout", timeout)
        request = build(
            kind, tool=tool, request_id=request_id or str(uuid.uuid4()), result_format=result_pb2.RESULT_FORMAT_JSON
        )
        request.arguments_json = arguments_json(tool, arguments)
        if self.session_id or task_id:
            context = build(context_pb2.ToolContext, session_id=self.session_id, task_id=task_id)
            request.context.CopyFrom(context)
        if seconds("wait_for_approval", wait):
            request.wait_for_confirmation.FromMilliseconds(round(wait * 1000))
        return request

    def _keep(self, key: tuple[str, str, str], request: pb.CallToolRequest, error: ToolwireError | None = None) -> None:
        """Keeps the identifier of a call for the same one made again, unless an error says that this does not help."""
        if error is None or error.retryable:
            self._waiting.setdefault(key, request.request_id)
        while len(self._waiting) > MOST_WAITING:
            self._waiting.pop(next(iter(self._waiting)), None)

    async def _retry(self, request: Request, attempt: Callable[[float], Awaitable[T]], timeout: float) -> T:
        """Makes attempts until one is answered, or what it raises says that another cannot help in this time."""
        deadline = time.monotonic() + timeout
        for number in itertools.count():
            try:
                return await attempt(max(0.0, deadline - time.monotonic()))
            except ToolwireError as error:
                pause = max(FIRST_PAUSE * 2**number * random.uniform(0.5, 1), error.retry_after or 0)
                is_last = number == self.retries or time.monotonic() + pause >= deadline
                if is_last or not error.retryable:
                    raise await self._explain(error, request) from None
                await self._rpc.pause(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _explain(self, error: ToolwireError, request: Request) -> ToolwireError:
        """Names the call. Of one without an answer in time, unless the tool only reads: how to ask for the outcome."""
        if isinstance(error, Refused) and error.status == "DEADLINE_EXCEEDED":
            message = "no answer came in time"
            if not await self._reads(request.tool):
                again = f"call again with request_id={request.request_id!r} for its outcome"
                message = f"{message}; what has begun may go on: {again}"
            error = refusal(error.status, message)
            error.retryable = True
        error.request_id = error.request_id or request.request_id
        return error

    async def _reads(self, tool: str) -> bool:
        """Whether a tool is known to only read."""
        request = pb.GetToolRequest(name=tool, view=tool_pb2.TOOL_VIEW_BASIC)
        try:
            response: pb.GetToolResponse = await self._rpc.unary(request, CATEGORY_TIMEOUT)
        except ToolwireError:
            return False
        return response.tool.category == tool_pb2.TOOL_CATEGORY_READ


class AsyncToolwire(_Client):
    """A connection to a server, for one event loop. A call is cancelled in the server when its task is.

    So are `asyncio.timeout` and a stream that is left: `async with contextlib.aclosing(tools.stream(…))` leaves it at
    once, and without that it is left when it is collected.
    """

    @classmethod
    @asynccontextmanager
    async def local(
        cls, *functions: Callable[..., Any], samples: bool = False, state: Path | None = None, slots: int = 16,
        config: str | Path | None = None,
    ) -> AsyncGenerator[Self, None]:
        """Starts the server of the package for a block, `async with AsyncToolwire.local(…) as tools`.

        As `Toolwire.local` does, with coroutines of tools on the loop of the block.
        """
        with ExitStack() as stack:
            async with _local(functions, samples, state, slots, config, stack) as host, cls(_user_of(host)) as tools:
                yield tools

    @property
    def tasks(self) -> AsyncTasks:
        return AsyncTasks(self._rpc)

    async def close(self) -> None:
        """Ends the calls under way, which raise Closed."""
        try:
            await self._rpc.close()
        finally:
            await self._rpc.in_thread(self._stack.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def list_tools(
        self, *, tags: Iterable[str] = (), text: str = "", category: Category | None = None
    ) -> list[ToolInfo]:
        """The tools that the user may call and that match all of this, in order of name."""
        request = build(pb.ListToolsRequest, tags=tags, text=text)
        if category:
            request.category = enum_value("category", tool_pb2.ToolCategory, "TOOL_CATEGORY_", category)
        return await self._list(request)

    async def search(self, text: str) -> list[ToolInfo]:
        """The tools whose name, words, tags or sample questions contain all words of the text."""
        return await self._list(build(pb.ListToolsRequest, text=text))

    async def export(self, format: Format, *, strict: bool = False, tags: Iterable[str] = ()) -> Any:
        """The value of `tools` in a request to a provider of models; for `mcp` the result of tools/list."""
        return await self._export(format, strict, tags)

    async def openai(self, *, strict: bool = False, tags: Iterable[str] = ()) -> Any:
        """The value of `tools` in a request for chat completions. What the model calls, `call_text` answers."""
        return await self._export("openai", strict, tags)

    async def anthropic(self, *, strict: bool = False, tags: Iterable[str] = ()) -> Any:
        """The value of `tools` in a request for a message. What the model calls, `call_text` answers."""
        return await self._export("anthropic", strict, tags)

    async def gemini(self, *, strict: bool = False, tags: Iterable[str] = ()) -> Any:
        """The value of `tools` in a request for content. What the model calls, `call_text` answers."""
        return await self._export("gemini", strict, tags)

    async def call(
        self, tool: str, arguments: Arguments = None, *, request_id: str = "", task_id: str = "",
        wait_for_approval: float = 0, timeout: float = 60,
    ) -> Result:
        """Calls a tool, again where that may help, and never twice: each attempt has the same `request_id`.

        Raises a ToolError if there is no data, ConfirmationRequired if a person must approve the call first, and
        Refused if it was not carried out or its answer did not come in time.

        Args:
            tool: Its name.
            arguments: A dict, or the text of JSON that a model wrote.
            request_id: The identifier of the call, a UUID: the same in a repeat. One is made without.
            task_id: The task on whose behalf it is made.
            wait_for_approval: How many seconds to wait for a person, if one must approve it.
            timeout: How many seconds it may take, with all attempts.
        """
        request = self._request(pb.CallToolRequest, tool, arguments, request_id, task_id, wait_for_approval, timeout)

        async def attempt(left: float) -> Result:
            response = await self._call(request, left)
            return result_of(response.result, response.call_id)

        return await self._retry(request, attempt, timeout)

    async def call_text(
        self, tool: str, arguments: Arguments = None, *, max_tokens: int = 0, request_id: str = "", task_id: str = "",
        wait_for_approval: float = 0, timeout: float = 60,
    ) -> str:
        """What a model should read of a call: its data, a failure, or that a person must approve it first.

        The same call, made again, then goes on under the `request_id` that was approved. Of `max_tokens` it is cut
        to so many; the other options are those of `call`.
        """
        request = self._request(pb.CallToolRequest, tool, arguments, request_id, task_id, wait_for_approval, timeout)
        request.MergeFrom(build(pb.CallToolRequest, max_tokens=max_tokens))
        request.result_format = result_pb2.RESULT_FORMAT_MODEL
        key = (tool, _canonical(request.arguments_json), task_id)
        if not request_id:
            request.request_id = self._waiting.get(key, request.request_id)

        async def attempt(left: float) -> str:
            text = (await self._call(request, left)).result.data_text
            if text.startswith('{"success":false'):
                # The first line says whether another attempt may help, and when; the model reads all of it.
                error = json.loads(text.partition("\n")[0])["error"]
                raise ToolError(text, retryable=error["retryable"], retry_after=error.get("retry_after_seconds"))
            return text

        try:
            text = await self._retry(request, attempt, timeout)
        except ConfirmationRequired as required:
            self._keep(key, request)
            return f"Not done yet: {required}. Then make the same call again. It waits as {required.confirmation_id}."
        except Refused as refused:
            if refused.status not in READABLE:
                self._keep(key, request, refused)
                raise
            return f"Not called: {refused.message}"
        except ToolError as error:
            text = error.message
            if error.retryable:
                self._keep(key, request, error)
                return text
        self._waiting.pop(key, None)
        return text

    async def stream(
        self, tool: str, arguments: Arguments = None, *, request_id: str = "", task_id: str = "",
        wait_for_approval: float = 0, timeout: float = 60,
    ) -> AsyncGenerator[Event, None]:
        """Calls a tool and yields what happens, the Result last; raises as `call` does, and takes its options.

        Leaving it ends the call, unless it is a write that has begun: `cancel` reaches that too. A call that is refused
        before its first event is made again where that may help.
        """
        request = self._request(pb.InvokeToolRequest, tool, arguments, request_id, task_id, wait_for_approval, timeout)

        async def begin(left: float) -> tuple[Event, AsyncGenerator[pb.InvokeToolResponse, None]]:
            events = self._rpc.stream(request, left)
            try:
                return event_of((await events.__anext__()).event), events
            except StopAsyncIteration:
                raise ToolwireError("the call ended without an event: its outcome is not known") from None
            except BaseException:
                await events.aclose()
                raise

        first, events = await self._retry(request, begin, timeout)
        async with aclosing(events):
            yield first
            try:
                async for response in events:
                    yield event_of(response.event)
            except ToolwireError as error:
                raise await self._explain(error, request) from None

    async def cancel(self, call_id: str) -> bool:
        """Cancels a call, which its events name. A write may still finish. Returns whether it was running."""
        response: pb.CancelCallResponse = await self._rpc.unary(build(pb.CancelCallRequest, call_id=call_id), 10)
        return response.cancelled

    async def approve(
        self, confirmation: str | ConfirmationRequired, *, tool: str = "", reason: str = ""
    ) -> Confirmation:
        """Lets a call be carried out once. `tool` is its name as a person typed it, for those of high consequence."""
        return await self._decide(confirmation, approve=build(decisions.Approve, tool=tool, reason=reason))

    async def deny(
        self, confirmation: str | ConfirmationRequired, reason: str = "No reason was given."
    ) -> Confirmation:
        """Forbids a call; the agent reads the reason."""
        return await self._decide(confirmation, deny=build(decisions.Deny, reason=reason))

    async def confirmations(self, *, decidable: bool = True) -> list[Confirmation]:
        """What waits for a person, oldest first: what this user may decide, or all of the user's own too."""
        pending = [confirmation_pb2.CONFIRMATION_STATE_PENDING]
        wanted = decisions.ConfirmationFilter(states=pending, decidable=decidable)
        request = decisions.ListConfirmationsRequest(filter=wanted, page_size=200)
        return [Confirmation.of(each) async for page in self._rpc.pages(request) for each in page.confirmations]


class Toolwire(_Client):
    """A connection to a server. Its methods may be called on any thread, and block it."""

    _connection = BlockingConnection

    @classmethod
    def local(
        cls, *functions: Callable[..., Any], samples: bool = False, state: Path | None = None, slots: int = 16,
        config: str | Path | None = None,
    ) -> Self:
        """Starts the server of the package for this program alone, with all its tools, or those given.

        Its state is gone at the end, unless `state` names a directory. It has no settings but those of the file that
        `config` names, or TOOLWIRE_CONFIG. Where these have users, it takes TOOLWIRE_HOST_TOKEN and TOOLWIRE_TOKEN.
        """
        with ExitStack() as stack:
            host = stack.enter_context(_local(functions, samples, state, slots, config, stack))
            return cls(_user_of(host), stack=stack.pop_all())

    @property
    def tasks(self) -> Tasks:
        return Tasks(self._rpc)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    close = blocking(AsyncToolwire.close)
    list_tools = blocking(AsyncToolwire.list_tools)
    search = blocking(AsyncToolwire.search)
    export = blocking(AsyncToolwire.export)
    openai = blocking(AsyncToolwire.openai)
    anthropic = blocking(AsyncToolwire.anthropic)
    gemini = blocking(AsyncToolwire.gemini)
    call = blocking(AsyncToolwire.call)
    call_text = blocking(AsyncToolwire.call_text)
    stream = blocking_iterator(AsyncToolwire.stream)
    cancel = blocking(AsyncToolwire.cancel)
    approve = blocking(AsyncToolwire.approve)
    deny = blocking(AsyncToolwire.deny)
    confirmations = blocking(AsyncToolwire.confirmations)


def _local(
    functions: tuple[Callable[..., Any], ...], samples: bool, state: Path | None, slots: int,
    config: str | Path | None, stack: ExitStack,
) -> Host:
    """A host with a server that serves this program alone."""
    tools = choose_tools(functions or None)
    folder = state or stack.enter_context(TemporaryDirectory(prefix="toolwire-"))
    return Host(
        tools, server="", slots=slots, grace=1.0, samples=samples, config=config, http_port=None, state=folder
    )


def _user_of(host: Host) -> Target:
    assert host.server
    return host.server.target(None, "TOOLWIRE_TOKEN")


def _canonical(arguments_json: str) -> str:
    """One text for all texts of the same arguments: a model that repeats a call may write it in another way."""
    try:
        return json.dumps(json.loads(arguments_json), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments_json
