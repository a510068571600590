"""What a server says of tools, calls and confirmations, as values of the client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolwire._stubs.toolwire.v1 import confirmation_pb2, event_pb2, result_pb2, tool_pb2
from toolwire.errors import ConfirmationRequired, ToolError, ToolwireError


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


def info_of(proto: tool_pb2.ToolDefinition) -> ToolInfo:
    return ToolInfo(
        name=proto.name, title=proto.title, description=proto.description,
        category=tool_pb2.ToolCategory.Name(proto.category).removeprefix("TOOL_CATEGORY_").lower(),
        consequence=tool_pb2.ConsequenceLevel.Name(proto.consequence_level).removeprefix("CONSEQUENCE_LEVEL_").lower(),
        requires_confirmation=proto.requires_confirmation, problem=proto.status.reason,
        input_schema=json.loads(proto.input_schema_json or "{}"),
        output_schema=json.loads(proto.output_schema_json or "{}"),
    )


def result_of(proto: result_pb2.ToolResult, call_id: str) -> Result:
    if proto.HasField("error"):
        raise ToolError.from_proto(proto.error, call_id)
    came = proto.provenance
    return Result(
        json.loads(proto.data_json), tuple(came.source_ids), came.as_of, came.from_cache, tuple(came.warnings), call_id
    )


def event_of(proto: event_pb2.CallEvent) -> Event:
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
        return result_of(proto.result, proto.call_id)
    if kind == "confirmation_required":
        raise ConfirmationRequired.of(proto.confirmation_required)
    raise ToolwireError(f"the server sent an event that this version does not know: {kind}")
