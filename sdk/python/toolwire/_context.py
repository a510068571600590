"""What a tool knows of the call that it carries out."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class User:
    """The caller, by verified credentials alone."""

    id: str = ""
    email: str = ""
    role: str = ""


class Done:
    """An awaitable that has ended: what a method returns that an async function awaits, and another one does not."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


@dataclass
class Context:
    """The call. A parameter with this hint gets it; a test makes one and reads `progressed` and `chunks`.

    Of a tool whose results are cached for all users (`scope: shared` of a manifest), `user`, `task_id`, `session_id`
    and `attributes` are empty.
    """

    call_id: str = ""
    # The same in every repeat of the call: an idempotency key for what the tool asks.
    request_id: str = ""
    user: User = User()
    task_id: str = ""
    session_id: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    # W3C Trace Context.
    traceparent: str = ""
    # Until when the call may take, by `time.monotonic()`.
    deadline: float = float("inf")
    # Whether the work is to stop. A coroutine gets CancelledError; a function in a thread looks here.
    cancelled: bool = False
    progressed: list[tuple[str, float | None]] = field(default_factory=list)
    chunks: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def remaining(self) -> float:
        """The seconds left."""
        return max(0.0, self.deadline - time.monotonic())

    def progress(self, message: str, fraction: float | None = None) -> Awaitable[None]:
        """Tells the caller how far the work is; of more than ten a second the newest. Await it in a coroutine."""
        self.progressed.append((message, fraction))
        return Done()

    def chunk(self, data: Mapping[str, Any]) -> Awaitable[None]:
        """Sends a part of the data ahead of the result. Await it in a coroutine."""
        self.chunks.append(data)
        return Done()
