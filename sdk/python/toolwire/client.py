"""The client: lists, exports, calls and approves tools."""

from __future__ import annotations

import itertools
import json
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

from toolwire._binary import LocalServer
from toolwire._requests import arguments_json, build, enum_value, seconds
from toolwire._rpc import Connection
from toolwire._serve import BackgroundHost, choose_tools
from toolwire._stubs.toolwire.v1 import (
    confirmation_pb2,
    confirmation_service_pb2,
    context_pb2,
    event_pb2,
    result_pb2,
    tool_pb2,
)
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb
from toolwire._target import Target
from toolwire._tool import Category
from toolwire.errors import ConfirmationRequired, Refused, ToolError, ToolwireError
from toolwire.tasks import Tasks

__all__ = ["Accepted", "AwaitingApproval", "Chunk", "Confirmation", "Progress", "Result", "ToolInfo", "Toolwire"]

if TYPE_CHECKING:
    from typing_extensions import Unpack

Format = Literal["openai", "openai-responses", "anthropic", "gemini", "gemini-openapi", "mcp"]
Arguments: TypeAlias = Mapping[str, Any] | str | None
Request = TypeVar("Request", pb.CallToolRequest, pb.InvokeToolRequest)
T = TypeVar("T")

# Seconds before a second attempt, doubled before each further one; the server's `retry_after` if that is longer.
FIRST_PAUSE = 0.5
# Seconds to ask for the category of a tool whose call was not answered in time.
CATEGORY_TIMEOUT = 1.0
# Refusals that a model should read, since its next call may do better.
READABLE = {"NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}


class CallOptions(TypedDict, total=False):
    """What every way to call a tool takes."""

    # The identifier of the call, a UUID: the same in a repeat. One is made without.
    request_id: str
    # The task on whose behalf it is made.
    task_id: str
    # How many seconds to wait for a person, if one must approve it. 0 by default.
    wait_for_approval: float
    # How many seconds it may take, with all attempts. 60 by default.
    timeout: float


@dataclass(frozen=True)
class ToolInfo:
    """A tool, as callers see it."""

    name: str
    title: str
    description: str
    category: str
    consequence: str
    requires_confirmation: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    # Why not all calls will succeed. Empty if the tool is ready.
    problem: str


@dataclass(frozen=True)
class Result:
    """The data of a call, and where it came from."""

    data: dict[str, Any]
    source_ids: tuple[str, ...] = ()
    as_of: str = ""
    from_cache: bool = False
    warnings: tuple[str, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class Accepted:
    """The call has begun."""

    call_id: str
    tool: str


@dataclass(frozen=True)
class Progress:
    """The call goes on."""

    message: str
    fraction: float | None


@dataclass(frozen=True)
class Chunk:
    """A part of the data, ahead of the result."""

    data: dict[str, Any]


@dataclass(frozen=True)
class AwaitingApproval:
    """The call waits for a person, as `wait_for_approval` asks it to."""

    confirmation_id: str
    summary: str


Event: TypeAlias = Accepted | Progress | Chunk | AwaitingApproval | Result


@dataclass(frozen=True)
class Confirmation:
    """A call that waits for a person, or what a person decided."""

    confirmation_id: str
    state: str
    tool: str
    summary: str
    arguments_json: str
    request_id: str
    # Whether this user may decide now, and must type the tool's name to approve.
    may_decide: bool
    name_required: bool

    @classmethod
    def of(cls, proto: confirmation_pb2.Confirmation) -> Confirmation:
        state = confirmation_pb2.ConfirmationState.Name(proto.state).removeprefix("CONFIRMATION_STATE_").lower()
        return cls(
            proto.confirmation_id, state, proto.tool, proto.summary, proto.arguments_json, proto.request_id,
            proto.may_decide.allowed, proto.may_decide.name_required,
        )


class Toolwire(AbstractContextManager["Toolwire"]):
    """A connection to a server. Its methods may be called on any thread."""

    def __init__(self, target: Target, *, session_id: str = "", retries: int = 4, stack: ExitStack | None = None):
        self.url, self.session_id, self.retries = target.url, session_id, retries
        self._stack = stack or ExitStack()
        self._rpc = Connection(target)
        self._stack.callback(self._rpc.close)
        # The `request_id` of calls of `call_text` that wait for a person, by tool, arguments and task.
        self._waiting: dict[tuple[str, str, str], str] = {}
        self.tasks = Tasks(self._rpc)

    @classmethod
    def connect(
        cls, url: str | None = None, token: str | None = None, *, ca: str | None = None, session_id: str = "",
        retries: int = 4,
    ) -> Toolwire:
        """Connects to a server. What is not given is read from TOOLWIRE_SERVER, TOOLWIRE_TOKEN and TOOLWIRE_CA."""
        return cls(Target.read(url, token, ca, "TOOLWIRE_TOKEN"), session_id=session_id, retries=retries)

    @classmethod
    def local(
        cls, *functions: Callable[..., Any], samples: bool = False, state: Path | None = None, slots: int = 16,
        config: str | Path | None = None,
    ) -> Toolwire:
        """Starts the server of the package for this program alone, with all its tools, or those given.

        Its state is gone at the end, unless `state` names a directory. It has no settings but those of the file that
        `config` names, or TOOLWIRE_CONFIG. Where these have users, it takes TOOLWIRE_HOST_TOKEN and TOOLWIRE_TOKEN.
        """
        tools = choose_tools(functions)
        with ExitStack() as stack:
            server = LocalServer(state, samples=samples, config=config)
            stack.callback(server.close)
            stack.callback(BackgroundHost(tools, server.target(None, "TOOLWIRE_HOST_TOKEN"), slots).close)
            return cls(server.target(None, "TOOLWIRE_TOKEN"), stack=stack.pop_all())

    def close(self) -> None:
        self._stack.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def list_tools(
        self, *, tags: Iterable[str] = (), text: str = "", category: Category | None = None
    ) -> list[ToolInfo]:
        """The tools that the user may call and that match all of this, in order of name."""
        request = build(pb.ListToolsRequest, tags=tags, text=text, view=tool_pb2.TOOL_VIEW_FULL_JSON)
        if category:
            request.category = enum_value("category", tool_pb2.ToolCategory, "TOOL_CATEGORY_", category)
        return [_info(response.tool) for response in self._rpc.stream(request, 30)]

    def search(self, text: str) -> list[ToolInfo]:
        """The tools whose name, words, tags or sample questions contain all words of the text."""
        return self.list_tools(text=text)

    def export(self, format: Format, *, strict: bool = False, tags: Iterable[str] = ()) -> Any:
        """The value of `tools` in a request to a provider of models; for `mcp` the result of tools/list."""
        request = build(pb.ExportToolsRequest, format=format, strict=strict, tags=tags)
        exported: pb.ExportToolsResponse = self._rpc.unary(request, 30)
        return json.loads(exported.json)

    def call(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Result:
        """Calls a tool, again where that may help, and never twice: each attempt has the same `request_id`.

        Raises a ToolError if there is no data, ConfirmationRequired if a person must approve the call first, and
        Refused if it was not carried out or its answer did not come in time.
        """
        request = self._request(pb.CallToolRequest, tool, arguments, options)

        def attempt(left: float) -> Result:
            response = self._call(request, left)
            return _result(response.result, response.call_id)

        return self._retry(attempt, options)

    def call_text(
        self, tool: str, arguments: Arguments = None, *, max_tokens: int = 0, **options: Unpack[CallOptions]
    ) -> str:
        """What a model should read of a call: its data, a failure, or that a person must approve it first.

        The same call, made again, then goes on under the `request_id` that was approved.
        """
        request = self._request(pb.CallToolRequest, tool, arguments, options)
        request.MergeFrom(build(pb.CallToolRequest, max_tokens=max_tokens))
        request.result_format = result_pb2.RESULT_FORMAT_MODEL
        key = (tool, request.arguments_json, request.context.task_id)
        if "request_id" not in options:
            request.request_id = self._waiting.get(key, request.request_id)

        def attempt(left: float) -> str:
            text = self._call(request, left).result.data_text
            if text.startswith('{"success":false'):
                # The first line says whether another attempt may help, and when; the model reads all of it.
                error = json.loads(text.partition("\n")[0])["error"]
                raise ToolError(text, retryable=error["retryable"], retry_after=error.get("retry_after_seconds"))
            return text

        try:
            text = self._retry(attempt, options)
        except ToolError as error:
            text = error.message
            if error.retryable:
                return text
        except ConfirmationRequired as required:
            self._waiting[key] = request.request_id
            return f"Not done yet: {required}. Then make the same call again. It waits as {required.confirmation_id}."
        except Refused as refused:
            if refused.code not in READABLE:
                raise
            return f"Not called: {refused.message}"
        self._waiting.pop(key, None)
        return text

    def stream(self, tool: str, arguments: Arguments = None, **options: Unpack[CallOptions]) -> Iterator[Event]:
        """Calls a tool and yields what happens, the Result last; raises as `call` does.

        Leaving it ends the call, unless it is a write that has begun: `cancel` reaches that too. A call that is refused
        before its first event is made again where that may help.
        """
        request = self._request(pb.InvokeToolRequest, tool, arguments, options)

        def begin(left: float) -> tuple[Event, Iterator[pb.InvokeToolResponse]]:
            events = self._rpc.stream(request, left)
            return _event(next(events).event), events

        with self._explain_deadline(request):
            first, events = self._retry(begin, options)
            yield first
            for response in events:
                yield _event(response.event)

    def cancel(self, call_id: str) -> bool:
        """Cancels a call, which its events name. A write may still finish. Returns whether it was running."""
        response: pb.CancelCallResponse = self._rpc.unary(build(pb.CancelCallRequest, call_id=call_id), 10)
        return response.cancelled

    def approve(self, confirmation: str | ConfirmationRequired, *, tool: str = "", reason: str = "") -> Confirmation:
        """Lets a call be carried out once. `tool` is its name as a person typed it, for those of high consequence."""
        approve = build(confirmation_service_pb2.Approve, tool=tool, reason=reason)
        return self._decide(confirmation, approve=approve)

    def deny(
        self, confirmation: str | ConfirmationRequired, reason: str = "No reason was given."
    ) -> Confirmation:
        """Forbids a call; the agent reads the reason."""
        return self._decide(confirmation, deny=build(confirmation_service_pb2.Deny, reason=reason))

    def confirmations(self, *, decidable: bool = True) -> list[Confirmation]:
        """What waits for a person, oldest first: what this user may decide, or all of the user's own too."""
        pending = [confirmation_pb2.CONFIRMATION_STATE_PENDING]
        wanted = confirmation_service_pb2.ConfirmationFilter(states=pending, decidable=decidable)
        request = confirmation_service_pb2.ListConfirmationsRequest(filter=wanted, page_size=200)
        return [Confirmation.of(each) for page in self._rpc.pages(request) for each in page.confirmations]

    def _decide(self, confirmation: str | ConfirmationRequired, **decision: Any) -> Confirmation:
        named = confirmation if isinstance(confirmation, str) else confirmation.confirmation_id
        request = build(confirmation_service_pb2.DecideConfirmationRequest, confirmation_id=named, **decision)
        return Confirmation.of(self._rpc.unary(request, 10).confirmation)

    def _call(self, request: pb.CallToolRequest, timeout: float) -> pb.CallToolResponse:
        with self._explain_deadline(request):
            response: pb.CallToolResponse = self._rpc.unary(request, timeout)
        if response.HasField("confirmation_required"):
            raise ConfirmationRequired(response.confirmation_required)
        return response

    def _request(self, kind: type[Request], tool: str, arguments: Arguments, options: CallOptions) -> Request:
        if unknown := options.keys() - CallOptions.__annotations__.keys():
            raise TypeError(
                f"no option is named {', '.join(sorted(unknown))}; there are {', '.join(CallOptions.__annotations__)}, "
                f"and arguments of the tool come in a dict: call({tool!r}, {{…}})"
            )
        seconds("timeout", options.get("timeout", 60))
        request = build(
            kind, tool=tool, request_id=options.get("request_id") or str(uuid.uuid4()),
            result_format=result_pb2.RESULT_FORMAT_JSON,
        )
        request.arguments_json = arguments_json(tool, arguments)
        if self.session_id or "task_id" in options:
            task_id = options.get("task_id", "")
            context = build(context_pb2.ToolContext, session_id=self.session_id, task_id=task_id)
            request.context.CopyFrom(context)
        if wait := seconds("wait_for_approval", options.get("wait_for_approval") or 0):
            request.wait_for_confirmation.FromMilliseconds(round(wait * 1000))
        return request

    def _retry(self, attempt: Callable[[float], T], options: CallOptions) -> T:
        """Makes attempts until one is answered, or what it raises says that another cannot help in this time."""
        deadline = time.monotonic() + options.get("timeout", 60)
        for number in itertools.count():
            try:
                return attempt(max(0.0, deadline - time.monotonic()))
            except (ToolError, Refused) as error:
                pause = max(FIRST_PAUSE * 2**number * random.uniform(0.5, 1), error.retry_after or 0)
                is_last = number == self.retries or time.monotonic() + pause >= deadline
                if is_last or not error.retryable:
                    raise
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _explain_deadline(self, request: Request) -> Iterator[None]:
        """Says that no answer came in time and, unless the tool only reads, how to ask for the outcome."""
        try:
            yield
        except Refused as error:
            if error.code != "DEADLINE_EXCEEDED":
                raise
            message = "no answer came in time"
            if not self._reads(request.tool):
                again = f"call again with request_id={request.request_id!r} for its outcome"
                message = f"{message}; what has begun may go on: {again}"
            raise Refused(error.code, message) from None

    def _reads(self, tool: str) -> bool:
        """Whether a tool is known to only read."""
        request = pb.GetToolRequest(name=tool, view=tool_pb2.TOOL_VIEW_BASIC)
        try:
            response: pb.GetToolResponse = self._rpc.unary(request, CATEGORY_TIMEOUT)
        except Refused:
            return False
        return response.tool.category == tool_pb2.TOOL_CATEGORY_READ


def _info(proto: tool_pb2.ToolDefinition) -> ToolInfo:
    return ToolInfo(
        name=proto.name, title=proto.title, description=proto.description,
        category=tool_pb2.ToolCategory.Name(proto.category).removeprefix("TOOL_CATEGORY_").lower(),
        consequence=tool_pb2.ConsequenceLevel.Name(proto.consequence_level).removeprefix("CONSEQUENCE_LEVEL_").lower(),
        requires_confirmation=proto.requires_confirmation, problem=proto.status.reason,
        input_schema=json.loads(proto.input_schema_json or "{}"),
        output_schema=json.loads(proto.output_schema_json or "{}"),
    )


def _result(proto: result_pb2.ToolResult, call_id: str) -> Result:
    if proto.HasField("error"):
        raise ToolError.from_proto(proto.error, call_id)
    came = proto.provenance
    return Result(
        json.loads(proto.data_json), tuple(came.source_ids), came.as_of, came.from_cache, tuple(came.warnings), call_id
    )


def _event(proto: event_pb2.CallEvent) -> Event:
    kind = proto.WhichOneof("event")
    if kind == "accepted":
        return Accepted(proto.call_id, proto.accepted.tool)
    if kind == "progress":
        progress = proto.progress
        return Progress(progress.message, progress.fraction if progress.HasField("fraction") else None)
    if kind == "chunk":
        return Chunk(json.loads(proto.chunk.data_json))
    if kind == "awaiting_confirmation":
        return AwaitingApproval(proto.awaiting_confirmation.confirmation_id, proto.awaiting_confirmation.summary)
    if kind == "result":
        return _result(proto.result, proto.call_id)
    if kind == "confirmation_required":
        raise ConfirmationRequired(proto.confirmation_required)
    raise ToolwireError(f"the server sent an event that this version does not know: {kind}")
