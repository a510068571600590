"""Tasks: work of agents, with a timeline of all that was done."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message

from toolwire._blocking import blocking
from toolwire._requests import build, enum_value
from toolwire._rpc import Connection
from toolwire._stubs.toolwire.tasks.v1 import task_pb2
from toolwire._stubs.toolwire.tasks.v1 import task_service_pb2 as pb


@dataclass(frozen=True)
class Task:
    """A task as it stood when it was read."""

    task_id: str
    state: str
    request: str
    role: str
    root_id: str
    parent_id: str
    # As handed off. None until it is completed.
    result: dict[str, Any] | None
    # Why it failed or was cancelled.
    message: str

    @classmethod
    def of(cls, proto: task_pb2.Task) -> Task:
        state = task_pb2.TaskState.Name(proto.state).removeprefix("TASK_STATE_").lower()
        result = json_format.MessageToDict(proto.result) if proto.HasField("result") else None
        return cls(
            proto.task_id, state, proto.request, proto.role, proto.root_id, proto.parent_id, result, proto.message
        )


class AsyncTasks:
    """The user's trees of tasks. A call belongs to one by its `task_id`."""

    def __init__(self, rpc: Connection) -> None:
        self._rpc = rpc

    async def create(self, request: str, *, role: str = "", labels: Mapping[str, str] | None = None) -> Task:
        """Creates a root, for agents of a role, or for the caller to work on."""
        made = build(pb.CreateTaskRequest, request=request, role=role, labels=labels, request_id=str(uuid.uuid4()))
        return await _task(self._rpc, made)

    async def get(self, task_id: str) -> Task:
        return await _task(self._rpc, build(pb.GetTaskRequest, task_id=task_id))

    async def list(self, *, root_id: str = "", states: Iterable[str] = ()) -> list[Task]:
        """The roots, newest first, or the tasks of one tree; of these states."""
        numbers = [enum_value("states", task_pb2.TaskState, "TASK_STATE_", state) for state in states]
        wanted = build(pb.TaskFilter, root_id=root_id, states=numbers)
        request = pb.ListTasksRequest(filter=wanted, page_size=1000)
        return [Task.of(task) async for page in self._rpc.pages(request) for task in page.tasks]

    async def answer(self, task_id: str, answer: str) -> Task:
        """Answers a question."""
        return await _task(self._rpc, build(pb.AnswerQuestionRequest, task_id=task_id, answer=answer))

    async def cancel(self, task_id: str, reason: str = "") -> Task:
        """Cancels a task with its calls, confirmations and descendants."""
        return await _task(self._rpc, build(pb.CancelTaskRequest, task_id=task_id, reason=reason))


class Tasks:
    """The user's trees of tasks. A call belongs to one by its `task_id`."""

    def __init__(self, rpc: Connection) -> None:
        self._rpc = rpc

    create = blocking(AsyncTasks.create)
    get = blocking(AsyncTasks.get)
    list = blocking(AsyncTasks.list)
    answer = blocking(AsyncTasks.answer)
    cancel = blocking(AsyncTasks.cancel)


async def _task(rpc: Connection, request: Message) -> Task:
    return Task.of((await rpc.unary(request, 30)).task)
