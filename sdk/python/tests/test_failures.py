"""Functions that fail in every way, through a real server and each of its faces: each call has its end at once, and its
slot takes the next one. TOOLWIRE_BINARY names the server; skipped without it."""

import asyncio
import builtins
import concurrent.futures
import contextlib
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faces import FACES, LIMIT, Faces
from tests.processes import start_host, wait_until
from toolwire import (
    Blocked,
    Conflict,
    Context,
    InvalidArgument,
    NotFound,
    ParseError,
    Refused,
    ToolError,
    Toolwire,
    Unavailable,
    Violation,
)
from toolwire._json import MOST_DATA
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire._tool import make
from toolwire.errors import MOST_TEXT

pytestmark = pytest.mark.skipif(not os.environ.get("TOOLWIRE_BINARY"), reason="TOOLWIRE_BINARY names no server")


class PanicException(BaseException):
    """As pyo3 raises it."""


ANY_VIOLATION: Any = Violation


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in ("__module__", "__qualname__", "__name__"):
            raise PanicException(name)
        return super().__getattribute__(name)


class OfMeta(Exception, metaclass=Meta):
    pass


class Unsaid(Exception):
    def __str__(self) -> str:
        raise PanicException

    __repr__ = __str__


class Liar(Exception):
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise KeyboardInterrupt


class Without(ToolError):
    """Never made as its base is."""

    def __init__(self) -> None:
        Exception.__init__(self, "made otherwise")


class Own(NotFound):
    @property
    def retryable(self) -> bool:
        raise PanicException

    @retryable.setter
    def retryable(self, _: bool) -> None:
        pass


class Plain:
    """A result with members of its own."""

    def __init__(self) -> None:
        self.a = 1


def throw(error: BaseException) -> None:
    raise error


def recurse(depth: int = 0) -> int:
    return recurse(depth + 1) + 1


def circle() -> Any:
    found: dict[str, Any] = {}
    found["again"] = found
    return found


def shared() -> Any:
    value: Any = ["x" * 1000]
    for _ in range(30):
        value = [value, value]
    return {"a": value}


def doubled(*_: object) -> Any:
    raise Conflict("x") from Unsaid()


def with_code(code: Any) -> ToolError:
    error = Blocked("odd code")
    error.code = code
    return error


def group() -> None:
    many: Any = vars(builtins)["BaseExceptionGroup"]
    raise many("many", [NotFound("one"), PanicException("two"), KeyboardInterrupt()])


def raise_unavailable(wait: Any) -> None:
    raise Unavailable("later", retry_after=wait)


def raise_violations(violations: Any) -> None:
    raise InvalidArgument("no", violations=violations)


@contextlib.contextmanager
def managed() -> Iterator[dict[str, int]]:
    yield {"a": 1}


# What each way gives its caller: the code of a read. Of a write UNKNOWN, UNAVAILABLE, TIMEOUT and CANCELLED are
# OUTCOME_UNKNOWN.
WAYS: dict[str, tuple[Callable[[], Any], str]] = {
    "a Rust panic": (lambda: throw(PanicException("called `Option::unwrap()` on a `None` value")), "UNKNOWN"),
    "KeyboardInterrupt": (lambda: throw(KeyboardInterrupt()), "UNKNOWN"),
    "SystemExit": (lambda: sys.exit(3), "UNKNOWN"),
    "SystemExit of an object": (lambda: throw(SystemExit(Unsaid())), "UNKNOWN"),
    "GeneratorExit": (lambda: throw(GeneratorExit()), "UNKNOWN"),
    "CancelledError": (lambda: throw(asyncio.CancelledError()), "CANCELLED"),
    "CancelledError of a future": (lambda: throw(concurrent.futures.CancelledError()), "UNKNOWN"),
    "StopIteration": (lambda: next(iter([])), "UNKNOWN"),
    "StopAsyncIteration": (lambda: throw(StopAsyncIteration()), "UNKNOWN"),
    "RecursionError": (recurse, "UNKNOWN"),
    "MemoryError": (lambda: throw(MemoryError()), "UNKNOWN"),
    "TimeoutError": (lambda: throw(TimeoutError("10 s")), "UNKNOWN"),
    "a group": (group if sys.version_info >= (3, 11) else recurse, "UNKNOWN"),
    "an error that cannot be shown": (lambda: throw(Unsaid()), "UNKNOWN"),
    "an error of a metaclass": (lambda: throw(OfMeta("x")), "UNKNOWN"),
    "an error that lies of its class": (lambda: throw(Liar("x")), "UNKNOWN"),
    "what is no error": (lambda: throw("text"), "UNKNOWN"),  # type: ignore[arg-type]
    "an error from another": (doubled, "CONFLICT"),
    "an error as the message": (lambda: throw(NotFound(KeyError("A-1"))), "NOT_FOUND"),  # type: ignore[arg-type]
    "no text as the message": (lambda: throw(NotFound(None)), "NOT_FOUND"),  # type: ignore[arg-type]
    "bytes as the message": (lambda: throw(NotFound(b"\xff\xfe")), "NOT_FOUND"),  # type: ignore[arg-type]
    "a message that cannot be shown": (lambda: throw(NotFound(Unsaid())), "NOT_FOUND"),  # type: ignore[arg-type]
    "half of a surrogate pair": (lambda: throw(NotFound("bad name \ud83d here")), "NOT_FOUND"),
    "characters of control": (lambda: throw(NotFound("\x00\x1b[31m\r\n\u2028\ufffe")), "NOT_FOUND"),
    "an empty message": (lambda: throw(NotFound("")), "NOT_FOUND"),
    "ten megabytes of a message": (lambda: throw(NotFound("é" * 5_000_000)), "NOT_FOUND"),
    "ten megabytes of no code": (lambda: throw(ToolError("ä" * 5_000_000)), "UNKNOWN"),
    "a huge integer as the message": (lambda: throw(NotFound(10**5000)), "NOT_FOUND"),  # type: ignore[arg-type]
    "a list of itself as the message": (lambda: throw(NotFound([circle()])), "NOT_FOUND"),  # type: ignore[arg-type]
    "an error that is not made": (lambda: throw(Without()), "UNKNOWN"),
    "an error without arguments": (lambda: throw(NotFound()), "UNKNOWN"),  # type: ignore[call-arg]
    "an error whose members raise": (lambda: throw(Own("x")), "NOT_FOUND"),
    "a code that there is not": (lambda: throw(with_code("TEAPOT")), "UNKNOWN"),
    "a code that is no text": (lambda: throw(with_code(object())), "UNKNOWN"),
    "a code of the server": (lambda: throw(with_code("CONFIRMATION_DENIED")), "UNKNOWN"),
    **{
        f"to wait {number} {type(wait).__name__}": (functools.partial(raise_unavailable, wait), "UNAVAILABLE")
        for number, wait in enumerate([
            float("inf"), float("-inf"), float("nan"), -5, 1e300, 10**4000, "30", b"3", True, Decimal("NaN"),
            Decimal("sNaN"), Decimal("2.5"), timedelta(seconds=2), timedelta.max, object(), [1], 0, 1e-9,
        ])
    },
    **{
        f"violations {number}": (functools.partial(raise_violations, it), "INVALID_ARGUMENT")
        for number, it in enumerate([
            None, 5, "text", ["text", None, 3, object()], [ANY_VIOLATION(None, b"\xff", Unsaid())], [{"pointer": "/a"}],
            [Violation("/a", "x", "é" * 3_000_000)] * 300, {"a": 1},
            (Violation("\ud800", "x", "y") for _ in range(10**9)), [circle()], iter([Violation("/a", "b", "c")]),
        ])
    },
    "a member without JSON": (lambda: {"a": object()}, "PARSE_ERROR"),
    "nan": (lambda: {"a": float("nan")}, "PARSE_ERROR"),
    "bytes": (lambda: {"a": b"x"}, "PARSE_ERROR"),
    "a decimal": (lambda: {"a": Decimal("1.5")}, "PARSE_ERROR"),
    "keys that are no texts": (lambda: {1: "a", 1.5: "b", None: "c"}, "PARSE_ERROR"),
    "an integer of 81 bits": (lambda: {"a": 10**24}, "PARSE_ERROR"),
    "half of a pair in the result": (lambda: {"a": "\ud83d"}, "PARSE_ERROR"),
    "a result of itself": (circle, "PARSE_ERROR"),
    "a result of 2^30 elements": (shared, "RESULT_TOO_LARGE"),
    "ten megabytes": (lambda: {"a": "x" * 10_000_000}, "RESULT_TOO_LARGE"),
    "a list": (lambda: [1, 2], "PARSE_ERROR"),
    "an object": (Plain, "PARSE_ERROR"),
    "a class": (lambda: Plain, "PARSE_ERROR"),
    "a module": (lambda: sys, "PARSE_ERROR"),
    "a function": (lambda: recurse, "PARSE_ERROR"),
    "an error that is returned": (lambda: NotFound("x"), "PARSE_ERROR"),
    "a context manager": (managed, "PARSE_ERROR"),
    "a generator": (lambda: (it for it in [1]), "UNKNOWN"),
    "an iterator": (lambda: iter([1]), "UNKNOWN"),
    "bytes alone": (lambda: b"x", "PARSE_ERROR"),
    "an error of the tool's own": (lambda: throw(ParseError("unreadable")), "PARSE_ERROR"),
}
# Of a write these say that it has ended.
DONE = {"PARSE_ERROR", "RESULT_TOO_LARGE"}
UNCERTAIN = {"UNKNOWN", "UNAVAILABLE", "TIMEOUT", "CANCELLED"}
# Of what is no result at all nothing is known: it may be what is to be called, or entered, first.
NO_RESULT = {
    "an object", "a class", "a module", "a function", "an error that is returned", "a context manager", "bytes alone",
}


def fail(way: str) -> dict[str, Any]:
    """Fails."""
    result: dict[str, Any] = WAYS[way][0]()
    return result


async def fail_async(way: str) -> dict[str, Any]:
    """Fails."""
    return fail(way)


def fail_later(way: str) -> Any:
    """Returns what is to be awaited."""
    return fail_async(way)


fail_later.__annotations__["return"] = dict[str, Any]
SAID: list[Callable[[Context], Any]] = []


async def say(number: int, *, ctx: Context) -> dict[str, bool]:
    """Says something odd on the way."""
    await SAID[number](ctx)
    return {"ok": True}


def say_in_thread(number: int, *, ctx: Context) -> dict[str, bool]:
    """Says something odd on the way."""
    SAID[number](ctx)
    return {"ok": True}


async def within(how: str) -> dict[str, bool]:
    """What tasks of its own do."""

    async def exit_soon(error: type[BaseException]) -> None:
        raise error

    loop = asyncio.get_running_loop()
    if how == "a cancelled task":
        task = asyncio.create_task(asyncio.sleep(10))
        await asyncio.sleep(0)
        task.cancel()
        await task
    if how == "its own cancellation":
        current = asyncio.current_task()
        assert current
        current.cancel()
        return {"ok": True}
    if how == "its own cancellation, awaited":
        current = asyncio.current_task()
        assert current
        current.cancel()
        await asyncio.sleep(0)
    if how == "SystemExit of a task":
        await asyncio.create_task(exit_soon(SystemExit))
    if how == "KeyboardInterrupt of a task":
        await asyncio.gather(exit_soon(KeyboardInterrupt), asyncio.sleep(10))
    if how == "SystemExit of a callback":
        loop.call_soon(sys.exit)
        await asyncio.sleep(0)
    if how == "the loop stopped":
        loop.stop()
        await asyncio.sleep(0)
    if how == "the loop closed":
        loop.close()
    if how == "a task that is left":
        loop.create_task(exit_soon(SystemExit)).add_done_callback(lambda it: it.exception())
    if how == "all tasks cancelled":
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)
    return {"ok": True}


def ok(number: int) -> dict[str, int]:
    """Succeeds."""
    return {"number": number}


FUNCTIONS: list[Callable[..., Any]] = [fail, fail_async, fail_later]


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    others: list[Callable[..., Any]] = [ok, say, say_in_thread, within]
    tools = [make(function) for function in [*FUNCTIONS, *others]]
    tools += [make(function, name=f"write_{function.__name__}", write=True) for function in FUNCTIONS]
    opened = Faces(tmp_path_factory.mktemp("state"), tools)
    yield opened
    opened.close()


def check_slots(faces: Faces) -> None:
    """Both slots take calls. One that waits for a slot in vain ends with an error."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = pool.map(lambda number: faces.call("CallTool", "ok", f'{{"number": {number}}}'), range(4))
        assert list(ends) == [("data", {"number": number}) for number in range(4)]


@pytest.mark.parametrize("way", WAYS)
def test_however_a_function_fails_its_call_has_its_end_and_the_slot_is_free(faces: Faces, way: str) -> None:
    code = WAYS[way][1]
    for face in FACES:
        for function in FUNCTIONS:
            name = function.__name__
            arguments = f'{{"way": "{way}"}}'
            assert faces.call(face, name, arguments)[0] == code, (face, name)
            written, text = faces.call(face, f"write_{name}", arguments)
            is_unknown = code in UNCERTAIN or way in NO_RESULT
            assert written == ("OUTCOME_UNKNOWN" if is_unknown else code), (face, name, text)
            if way != "an error of the tool's own":
                assert ("The write was done." in text) is (not is_unknown and code in DONE), text
            assert len(text) < MOST_TEXT + 500
    check_slots(faces)


@pytest.mark.parametrize(
    ("words", "fraction"),
    [
        ("half \ud83d", 0.5), (b"\xff", 0.5), (None, None), (KeyError("a"), 1), (Unsaid(), 0), ("a", float("nan")),
        ("b", 2.0), ("c", -1),
        ("d", float("inf")), ("e", 10**400), ("f", "50%"), ("g", True), ("é" * 2_000_000, 0.1), ("\x00", 0.2),
        ([1], Decimal("0.5")),
    ],
)
def test_odd_progress_costs_its_call_nothing(faces: Faces, words: Any, fraction: Any) -> None:
    SAID[:] = [lambda ctx: ctx.progress(words, fraction)]
    for face in FACES:
        for name in ("say", "say_in_thread"):
            assert faces.call(face, name, '{"number": 0}') == ("data", {"ok": True}), face
    check_slots(faces)


@pytest.mark.parametrize(
    "data",
    [
        {"a": "\ud83d"}, {"a": float("nan")}, {"a": 2**64}, {1: 2}, {"a": b"x"}, {"a": "x" * (MOST_DATA + 1)}, "text",
        None, [1], 5, circle(), object(),
    ],
)
def test_a_chunk_that_is_not_carried_is_an_error_of_its_function(faces: Faces, data: Any) -> None:
    SAID[:] = [lambda ctx: ctx.chunk(data)]
    for face in FACES:
        for name in ("say", "say_in_thread"):
            assert faces.call(face, name, '{"number": 0}')[0] == "UNKNOWN", face
    check_slots(faces)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("a cancelled task", "CANCELLED"), ("its own cancellation", "data"),
        ("its own cancellation, awaited", "CANCELLED"),
        ("SystemExit of a task", "UNKNOWN"), ("KeyboardInterrupt of a task", "UNKNOWN"),
        ("SystemExit of a callback", "data"),
        ("the loop stopped", "data"), ("the loop closed", "UNKNOWN"), ("a task that is left", "data"),
        ("all tasks cancelled", "CANCELLED"),
    ],
)
def test_what_tasks_of_a_function_do_to_the_loop_is_survived(faces: Faces, how: str, code: str) -> None:
    for face in FACES:
        assert faces.call(face, "within", f'{{"how": "{how}"}}')[0] == code, face
        check_slots(faces)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.binary(max_size=20)
    | st.text(st.characters(exclude_categories=[]), max_size=20) | st.timedeltas() | st.complex_numbers()
    | st.builds(object) | st.builds(Unsaid),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(message=ODD, wait=ODD, violations=ODD, retryable=ODD, code=ODD)
def test_whatever_an_error_holds_it_is_told_in_a_message_that_can_be_written(
    message: Any, wait: Any, violations: Any, retryable: Any, code: Any
) -> None:
    error = NotFound(message, retry_after=wait, violations=violations, retryable=retryable)
    if code is not None:
        vars(error)["code"] = code
    told = error.to_proto()
    outcome = host_pb2.Outcome(call_id="c", error=told)
    assert outcome.ByteSize() < 500_000
    assert host_pb2.Outcome.FromString(outcome.SerializeToString()) == outcome
    assert told.code in (result_pb2.TOOL_ERROR_CODE_NOT_FOUND, result_pb2.TOOL_ERROR_CODE_UNKNOWN)


@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(value=ODD, face=st.sampled_from(FACES), name=st.sampled_from(["fail", "write_fail_async"]))
def test_whatever_a_function_returns_its_call_has_its_end(faces: Faces, value: Any, face: str, name: str) -> None:
    WAYS["drawn"] = (lambda: value, "")
    code, data = faces.call(face, name, '{"way": "drawn"}')
    assert code in ("data", "PARSE_ERROR", "UNKNOWN", "OUTCOME_UNKNOWN"), data
    del WAYS["drawn"]


PROGRAM = '''
import asyncio, os, sys
from toolwire import serve, tool

async def exit_task():
    raise SystemExit(3)

def cancel_all():
    for task in asyncio.all_tasks():
        task.cancel()

@tool
async def harm(how: str) -> dict:
    """Harms the loop."""
    loop = asyncio.get_running_loop()
    acts = {
        "stop": loop.stop, "close": loop.close, "cancel": cancel_all, "exit": lambda: sys.exit(3),
        "exit in a callback": lambda: loop.call_soon(sys.exit, 3), "exit the process": lambda: os._exit(3),
        "exit in a task": lambda: loop.create_task(exit_task()),
    }
    acts[how]()
    await asyncio.sleep(0)
    return {}

@tool
def ok() -> dict:
    """Succeeds."""
    return {"ok": True}

serve(slots=1)
'''


@pytest.fixture
def program(tmp_path: Path) -> "Iterator[tuple[subprocess.Popen[str], Toolwire]]":
    (tmp_path / "tools.py").write_text(PROGRAM)
    with (tmp_path / "log").open("w") as log:
        started = start_host(tmp_path / "tools.py", log=log)
    assert started.stdout
    line = started.stdout.readline()
    assert line.startswith("toolwire serves 2 tools"), line
    with Toolwire.connect(line.split()[-1], retries=0) as tools:
        yield started, tools
    started.kill()
    started.communicate()


def test_a_program_goes_on_and_an_interrupt_of_its_operator_still_ends_it(program: Any) -> None:
    process, tools = program
    ends = {
        "stop": None, "close": "UNKNOWN", "cancel": "CANCELLED", "exit": "UNKNOWN", "exit in a callback": None,
        "exit in a task": None,
    }
    for how, code in ends.items():
        with contextlib.ExitStack() as stack:
            raised = stack.enter_context(pytest.raises(ToolError)) if code else None
            assert tools.call("harm", {"how": how}, timeout=LIMIT).data == {}
        assert not raised or raised.value.code == code
        assert tools.call("ok", timeout=LIMIT).data == {"ok": True}
    process.send_signal(signal.SIGINT)
    assert process.wait(LIMIT) == 0


def test_a_program_that_a_tool_ends_has_the_exit_code_of_the_tool(program: Any, tmp_path: Path) -> None:
    process, tools = program
    with pytest.raises(Refused):
        tools.call("harm", {"how": "exit the process"}, timeout=LIMIT)
    assert process.wait(LIMIT) == 3
    # Its server says so in its log, and ends after it.
    server_log = tmp_path / ".toolwire/state/server.log"
    wait_until(lambda: "has ended, and the server ends with it" in server_log.read_text(), LIMIT)
