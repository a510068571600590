"""How a call fails. A tool raises these errors, and a client of the tool gets the same ones."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, NoReturn

from toolwire._stubs.google.rpc import error_details_pb2, status_pb2
from toolwire._stubs.toolwire.v1 import event_pb2, result_pb2
from toolwire._text import readable

__all__ = [
    "AuthFailed", "Blocked", "Cancelled", "Closed", "ConfirmationDenied", "ConfirmationExpired",
    "ConfirmationRequired", "Conflict", "InvalidArgument", "NotFound", "OutcomeUnknown", "ParseError",
    "PermissionDenied", "RateLimited", "Refused", "ResultTooLarge", "ToolError", "ToolTimeout", "ToolwireError",
    "Unavailable", "Violation",
]

# What a server takes of an error: bytes of its text, violations and the bytes of each part of one, seconds to wait.
MOST_TEXT, MOST_VIOLATIONS, MOST_PART, LONGEST_WAIT = 4096, 100, 1024, 3600


@dataclass(frozen=True)
class Violation:
    """One rule that the arguments break: where, as a JSON Pointer; which, as docs/ERRORS.md names it; and in words."""

    pointer: str
    rule: str
    description: str


class ToolwireError(Exception):
    """Everything that this package raises of a call."""

    code: str = "UNKNOWN"
    # Whether the same request may be made again, under its `request_id`, and after how many seconds.
    retryable: bool = False
    retry_after: float | None = None
    # Of the call that failed, with which it may be made again.
    request_id: str = ""


class ToolError(ToolwireError):
    """A call without data. `message` is for the agent: what went wrong and what to do, and nothing internal."""

    _by_code: ClassVar[dict[str, type[ToolError]]] = {}

    def __init_subclass__(cls, code: str = "", retryable: bool = False) -> None:
        # A program's own subclass of one of these errors is the same to its callers.
        if code:
            try:
                result_pb2.ToolErrorCode.Value(f"TOOL_ERROR_CODE_{code}")
            except ValueError:
                known = ", ".join(cls._by_code)
                raise TypeError(f"{code!r} is no code of an error: take one of {known}") from None
            cls.code, cls.retryable, cls._by_code[code] = code, retryable, cls

    def __init__(
        self, message: str, *, retryable: bool | None = None, retry_after: float | None = None,
        violations: tuple[Violation, ...] = (), call_id: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.retry_after, self.violations, self.call_id = message, retry_after, violations, call_id
        if retryable is not None:
            self.retryable = retryable

    def throw(self) -> NoReturn:
        """Raises this error, where Python takes an expression only: `found or NotFound("…").throw()`."""
        raise self

    def to_proto(self) -> result_pb2.ToolError:
        """What a server is told. It never fails, whatever a program has made of the error: what is odd is left out."""
        proto = result_pb2.ToolError(code=result_pb2.TOOL_ERROR_CODE_UNKNOWN, message="The error cannot be told.")
        for tell in (_tell_message, _tell_code, _tell_retry, _tell_violations):
            with contextlib.suppress(BaseException):
                tell(self, proto)
        return proto

    @classmethod
    def from_proto(cls, proto: result_pb2.ToolError, call_id: str) -> ToolError:
        kind = cls._by_code.get(result_pb2.ToolErrorCode.Name(proto.code).removeprefix("TOOL_ERROR_CODE_"), ToolError)
        wait = proto.retry_after.ToMilliseconds() / 1000 if proto.HasField("retry_after") else None
        violations = tuple(Violation(it.pointer, it.rule, it.description) for it in proto.field_violations)
        return kind(proto.message, retryable=proto.retryable, retry_after=wait, violations=violations, call_id=call_id)


def _tell_message(error: ToolError, proto: result_pb2.ToolError) -> None:
    proto.message = readable(getattr(error, "message", error), MOST_TEXT)


def _tell_code(error: ToolError, proto: result_pb2.ToolError) -> None:
    code: Any = result_pb2.ToolErrorCode.Value(f"TOOL_ERROR_CODE_{error.code}")
    proto.code = code


def _tell_retry(error: ToolError, proto: result_pb2.ToolError) -> None:
    proto.retryable = bool(error.retryable)
    wait: Any = error.retry_after
    if isinstance(wait, timedelta):
        wait = wait.total_seconds()
    is_number = isinstance(wait, Real | Decimal) and not isinstance(wait, bool)
    if is_number and (isinstance(wait, int) or math.isfinite(wait)) and wait >= 0:
        proto.retry_after.FromMilliseconds(round(float(min(wait, LONGEST_WAIT)) * 1000))


def _tell_violations(error: ToolError, proto: result_pb2.ToolError) -> None:
    violations: Any = error.violations or ()
    if isinstance(violations, str | bytes | Mapping | Violation):
        violations = (violations,)
    for it in itertools.islice(violations, MOST_VIOLATIONS):
        parts = it if isinstance(it, Mapping) else vars(it) if isinstance(it, Violation) else {"description": it}
        names = ("pointer", "rule", "description")
        proto.field_violations.add(**{name: readable(parts.get(name, ""), MOST_PART) for name in names})


class RateLimited(ToolError, code="RATE_LIMITED", retryable=True):
    """A limit is reached; `retry_after` says when a call will be accepted."""


class NotFound(ToolError, code="NOT_FOUND"):
    """What the arguments name does not exist."""


class ToolTimeout(ToolError, code="TIMEOUT", retryable=True):
    """The tool did not finish within its own time-out."""


class AuthFailed(ToolError, code="AUTH_FAILED"):
    """What the tool asks refused the credentials."""


class Blocked(ToolError, code="BLOCKED"):
    """What the tool asks refuses to serve."""


class ParseError(ToolError, code="PARSE_ERROR"):
    """The answer cannot be read."""


class InvalidArgument(ToolError, code="INVALID_ARGUMENT"):
    """The arguments are wrong; `violations` says where."""


class PermissionDenied(ToolError, code="PERMISSION_DENIED"):
    """The user may not do this."""


class Cancelled(ToolError, code="CANCELLED"):
    """The call was cancelled."""


class Unavailable(ToolError, code="UNAVAILABLE", retryable=True):
    """Not now."""


class Conflict(ToolError, code="CONFLICT"):
    """The state of the target does not allow the change."""


class ResultTooLarge(ToolError, code="RESULT_TOO_LARGE"):
    """The data is larger than 3 MiB."""


class ConfirmationDenied(ToolError, code="CONFIRMATION_DENIED"):
    """A person denied the call."""


class ConfirmationExpired(ToolError, code="CONFIRMATION_EXPIRED"):
    """No person decided in time."""


class OutcomeUnknown(ToolError, code="OUTCOME_UNKNOWN", retryable=True):
    """A write was begun, and its end is not known. The same `request_id` asks again without repeating it."""


class ConfirmationRequired(ToolwireError):
    """A person must approve the call first. Then make it again, with `request_id`."""

    code = "CONFIRMATION_REQUIRED"
    confirmation_id = tool = summary = arguments_json = ""

    @classmethod
    def of(cls, proto: event_pb2.ConfirmationRequired) -> ConfirmationRequired:
        error = cls(f"a person must approve it first: {proto.summary}")
        error.confirmation_id, error.request_id = proto.confirmation_id, proto.request_id
        error.tool, error.summary, error.arguments_json = proto.tool, proto.summary, proto.arguments_json
        return error


class Closed(ToolwireError):
    """The client was closed."""

    code = "CLOSED"


class Refused(ToolwireError):
    """A call that was not carried out, or whose answer did not come: `status` is gRPC's, `reason` the server's.

    Where the status says as much as one of the errors of tools, it is an instance of both: `except NotFound` gets an
    unknown tool too, and `except Unavailable` a server that is away.
    """

    def __init__(self, status: str, message: str, reason: str = "", retry_after: float | None = None) -> None:
        Exception.__init__(self, message)
        self.status, self.message, self.reason, self.retry_after = status, message, reason, retry_after
        # Nothing was begun, or the `request_id` sees to it.
        self.retryable = status == "UNAVAILABLE" or retry_after is not None
        self.violations: tuple[Violation, ...] = ()
        self.call_id = ""
        if not isinstance(self, ToolError):
            self.code = status

    def __str__(self) -> str:
        return f"{self.reason or self.status}: {self.message}"

    def __reduce__(self) -> Any:
        return refusal, (self.status, self.message, self.reason, self.retry_after), self.__dict__

    @classmethod
    def of(cls, error: Any) -> Refused:
        """Reads a failed call of grpc's or grpc.aio's, each of which has these methods."""
        call: Any = error
        reason, wait = "", None
        for key, value in call.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                for detail in status_pb2.Status.FromString(value).details:
                    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
                    if detail.Unpack(info):
                        reason = info.reason
                    elif detail.Unpack(retry):
                        wait = retry.retry_delay.ToMilliseconds() / 1000
        return refusal(call.code().name, call.details() or "", reason, wait)


def refusal(status: str, message: str, reason: str = "", retry_after: float | None = None) -> Refused:
    """The error that a status of gRPC is."""
    return _REFUSALS.get(status, Refused)(status, message, reason, retry_after)


def _refused(kind: type[ToolError]) -> type[Refused]:
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (Refused, kind), names)


_REFUSALS: dict[str, type[Refused]] = {
    "ABORTED": _refused(Conflict), "ALREADY_EXISTS": _refused(Conflict), "FAILED_PRECONDITION": _refused(Conflict),
    "CANCELLED": _refused(Cancelled), "DEADLINE_EXCEEDED": _refused(ToolTimeout),
    "INVALID_ARGUMENT": _refused(InvalidArgument), "NOT_FOUND": _refused(NotFound),
    "PERMISSION_DENIED": _refused(PermissionDenied), "RESOURCE_EXHAUSTED": _refused(RateLimited),
    "UNAUTHENTICATED": _refused(AuthFailed), "UNAVAILABLE": _refused(Unavailable),
}
