"""Tasks: work of agents, with a timeline of all that was done."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import json_format

from toolwire._rpc import Connection
from toolwire._stubs.toolwire.tasks.v1 import task_pb2
from toolwire._stubs.toolwire.tasks.v1 import task_service_pb2 as pb

SERVICE = "toolwire.tasks.v1.TaskService"


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


class Tasks:
    """The user's trees of tasks. A call belongs to one by its `task_id`."""

    def __init__(self, rpc: Connection) -> None:
        self._rpc = rpc

    def create(self, request: str, *, role: str = "", labels: Mapping[str, str] | None = None) -> Task:
        """Creates a root, for agents of a role, or for the caller to work on."""
        wanted = pb.CreateTaskRequest(request=request, role=role, labels=labels, request_id=str(uuid.uuid4()))
        return self._task("CreateTask", wanted, pb.CreateTaskResponse)

    def get(self, task_id: str) -> Task:
        return self._task("GetTask", pb.GetTaskRequest(task_id=task_id), pb.GetTaskResponse)

    def list(self, *, root_id: str = "", states: Iterable[str] = ()) -> list[Task]:
        """The roots, newest first, or the tasks of one tree; of these states."""
        numbers: Any = [getattr(task_pb2, f"TASK_STATE_{state.upper()}") for state in states]
        request = pb.ListTasksRequest(filter=pb.TaskFilter(root_id=root_id, states=numbers), page_size=1000)
        pages = self._rpc.pages(f"{SERVICE}/ListTasks", request, pb.ListTasksResponse)
        return [Task.of(task) for page in pages for task in page.tasks]

    def answer(self, task_id: str, answer: str) -> Task:
        """Answers a question."""
        request = pb.AnswerQuestionRequest(task_id=task_id, answer=answer)
        return self._task("AnswerQuestion", request, pb.AnswerQuestionResponse)

    def cancel(self, task_id: str, reason: str = "") -> Task:
        """Cancels a task with its calls, confirmations and descendants."""
        return self._task("CancelTask", pb.CancelTaskRequest(task_id=task_id, reason=reason), pb.CancelTaskResponse)

    def _task(self, method: str, request: Any, kind: Any) -> Task:
        return Task.of(self._rpc.unary(f"{SERVICE}/{method}", request, kind, 30).task)
