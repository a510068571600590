"""The client: what it sends, what it makes of answers, and when it asks again."""

import json
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field

from tests.fake import free_port
from tests.fake_tools import FakeTools, Refusal
from tests.on_loop import OnLoop
from toolwire import (
    Accepted,
    AsyncToolwire,
    AwaitingApproval,
    Chunk,
    ConfirmationRequired,
    InvalidArgument,
    NotFound,
    OutcomeUnknown,
    Progress,
    RateLimited,
    Refused,
    Result,
    ToolError,
    ToolTimeout,
    Toolwire,
    Violation,
)
from toolwire._stubs.toolwire.tasks.v1 import task_pb2, task_service_pb2
from toolwire._stubs.toolwire.v1 import confirmation_pb2, confirmation_service_pb2, event_pb2, result_pb2, tool_pb2
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb


@pytest.fixture
def fake() -> Iterator[FakeTools]:
    opened = FakeTools()
    yield opened
    opened.close()


def connect(kind: str, url: str, token: str = "", **options: Any) -> Any:
    """Each kind of client, to be entered as the blocking one is."""
    if kind == "blocking":
        return Toolwire.connect(url, token, **options)
    return OnLoop(lambda: AsyncToolwire.connect(url, token, **options))


@pytest.fixture(params=["blocking", "awaited"])
def tools(request: pytest.FixtureRequest, fake: FakeTools, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toolwire]:
    monkeypatch.setattr("toolwire.client.FIRST_PAUSE", 0.01)
    with connect(request.param, fake.url, "secret", session_id="s-1") as client:
        yield client


def data(text: str = '{"big":9007199254740993}') -> pb.CallToolResponse:
    came = result_pb2.Provenance(source_ids=["tool:shop:v1"], as_of="2026-01-15", warnings=["old"])
    return pb.CallToolResponse(call_id="c", result=result_pb2.ToolResult(data_json=text, provenance=came))


def failure(code: str, retryable: bool = False, retry_after: float = 0) -> pb.CallToolResponse:
    error = result_pb2.ToolError(
        code=result_pb2.ToolErrorCode.Value(f"TOOL_ERROR_CODE_{code}"),  # type: ignore[arg-type]
        message=f"it is {code}", retryable=retryable,
    )
    error.field_violations.add(pointer="/a", rule="required", description="missing")
    if retry_after:
        error.retry_after.FromMilliseconds(round(retry_after * 1000))
    return pb.CallToolResponse(call_id="c", result=result_pb2.ToolResult(error=error))


def required() -> event_pb2.ConfirmationRequired:
    return event_pb2.ConfirmationRequired(
        confirmation_id="conf_1", summary="Pay 5", tool="pay", request_id="r-1", arguments_json='{"amount":5}'
    )


def in_turn(*answers: Any) -> Any:
    """A method that gives one answer after another: raises exceptions, and returns the rest."""
    left = list(answers)

    def answer(_: Any) -> Any:
        given = left.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    return answer


def test_a_call_has_its_data_and_where_it_came_from(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = in_turn(data())
    result = tools.call("order", {"order_id": "A-1"}, task_id="task_1")
    assert result == Result({"big": 9007199254740993}, ("tool:shop:v1",), "2026-01-15", False, ("old",), "c")
    request = fake.requests[0]
    assert (request.tool, request.arguments_json) == ("order", '{"order_id":"A-1"}')
    assert (request.context.session_id, request.context.task_id) == ("s-1", "task_1")
    assert request.result_format == result_pb2.RESULT_FORMAT_JSON
    assert uuid.UUID(request.request_id)
    assert fake.metadata[0]["authorization"] == "Bearer secret"


def test_arguments_of_a_model_go_as_they_are(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = in_turn(data(), data())
    tools.call("order", '{"a": 1')
    tools.call("order", request_id="mine", wait_for_approval=1.5)
    assert [request.arguments_json for request in fake.requests] == ['{"a": 1', "{}"]
    assert fake.requests[1].request_id == "mine"
    assert fake.requests[1].wait_for_confirmation.ToMilliseconds() == 1500


@pytest.mark.parametrize(
    ("code", "kind"),
    [("NOT_FOUND", NotFound), ("INVALID_ARGUMENT", InvalidArgument), ("UNKNOWN", ToolError),
     ("OUTCOME_UNKNOWN", OutcomeUnknown)],
)
def test_a_failure_is_the_error_that_the_tool_raised(
    fake: FakeTools, tools: Toolwire, code: str, kind: type[ToolError]
) -> None:
    fake.answers["CallTool"] = in_turn(failure(code))
    with pytest.raises(ToolError, match=f"it is {code}") as raised:
        tools.call("order")
    assert type(raised.value) is kind
    assert (raised.value.code, raised.value.call_id) == (code, "c")
    assert raised.value.violations == (Violation("/a", "required", "missing"),)


def test_what_is_retryable_is_asked_again_under_the_same_request_id(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = in_turn(
        failure("RATE_LIMITED", retryable=True, retry_after=0.2), Refusal(grpc.StatusCode.UNAVAILABLE, "OVERLOADED"),
        Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "SHARE_EXHAUSTED", 0.1), failure("OUTCOME_UNKNOWN", True), data(),
    )
    began = time.monotonic()
    assert tools.call("pay").call_id == "c"
    assert time.monotonic() - began > 0.3, "as long as the server says"
    assert len({request.request_id for request in fake.requests}) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (failure("RATE_LIMITED", retryable=False), RateLimited),
        (failure("RATE_LIMITED", retryable=True, retry_after=60), RateLimited),
        (Refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_TOOL"), Refused),
        (Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED"), Refused),
        (Refusal(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", 60), Refused),
    ],
)
def test_what_another_attempt_cannot_help_is_raised_at_once(
    fake: FakeTools, tools: Toolwire, answer: Any, kind: type[Exception]
) -> None:
    fake.answers["CallTool"] = in_turn(answer)
    with pytest.raises(kind):
        tools.call("pay", timeout=5)
    assert len(fake.requests) == 1


def test_attempts_are_counted(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = lambda _: failure("UNAVAILABLE", retryable=True)
    with pytest.raises(ToolError):
        tools.call("pay")
    assert len(fake.requests) == 1 + tools.retries


def test_a_refusal_says_its_reason(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = in_turn(Refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_TOOL"))
    with pytest.raises(Refused) as raised:
        tools.call("nothing")
    assert (raised.value.code, raised.value.reason) == ("NOT_FOUND", "UNKNOWN_TOOL")


@pytest.mark.parametrize("category", ["READ", "WRITE", "SIDE_EFFECT", "not known"])
def test_a_deadline_is_a_refusal_which_names_the_request_id_unless_the_tool_only_reads(
    fake: FakeTools, tools: Toolwire, category: str
) -> None:
    fake.answers["CallTool"] = fake.answers["InvokeTool"] = lambda _: time.sleep(0.5)
    if category != "not known":
        tool = tool_pb2.ToolDefinition(category=getattr(tool_pb2, f"TOOL_CATEGORY_{category}"))
        fake.answers["GetTool"] = lambda request: pb.GetToolResponse(tool=tool) if request.name == "slow" else None
    for call in (tools.call, lambda *args, **options: list(tools.stream(*args, **options))):
        with pytest.raises(ToolTimeout) as raised:
            call("slow", request_id="r-1", timeout=0.1)
        assert (type(raised.value).__name__, raised.value.code) == ("ToolTimeout", "TIMEOUT")
        assert (raised.value.retryable, raised.value.request_id) == (True, "r-1")
        if category == "READ":
            assert raised.value.message == "no answer came in time"
        else:
            assert "may go on: call again with request_id='r-1'" in raised.value.message


def test_an_option_that_does_not_exist_is_refused(tools: Toolwire) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'deadline'"):
        tools.call("echo", {}, deadline=1)  # type: ignore[call-arg]


def test_a_call_that_a_person_must_approve_goes_on_once_it_is(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = in_turn(pb.CallToolResponse(confirmation_required=required()), data())
    with pytest.raises(ConfirmationRequired, match="Pay 5") as raised:
        tools.call("pay", {"amount": 5}, request_id="r-1")
    decided = confirmation_pb2.Confirmation(
        confirmation_id="conf_1", state=confirmation_pb2.CONFIRMATION_STATE_APPROVED
    )
    fake.answers["DecideConfirmation"] = lambda _: confirmation_service_pb2.DecideConfirmationResponse(
        confirmation=decided
    )
    assert tools.approve(raised.value, tool="pay").state == "approved"
    assert (fake.requests[-1].confirmation_id, fake.requests[-1].approve.tool) == ("conf_1", "pay")
    tools.deny("conf_2", "not today")
    assert (fake.requests[-1].confirmation_id, fake.requests[-1].deny.reason) == ("conf_2", "not today")
    tools.deny("conf_3")
    assert fake.requests[-1].deny.reason == "No reason was given."
    assert tools.call("pay", {"amount": 5}, request_id=raised.value.request_id).call_id == "c"


def test_what_waits_for_a_person_is_listed_page_by_page(fake: FakeTools, tools: Toolwire) -> None:
    def answer(request: Any) -> Any:
        first = confirmation_pb2.Confirmation(confirmation_id=f"conf{request.page_token}", summary="Pay")
        first.may_decide.allowed = True
        token = "" if request.page_token else "2"
        return confirmation_service_pb2.ListConfirmationsResponse(confirmations=[first], next_page_token=token)

    fake.answers["ListConfirmations"] = answer
    assert [(it.confirmation_id, it.may_decide) for it in tools.confirmations()] == [("conf", True), ("conf2", True)]
    assert fake.requests[0].filter.decidable


def text(text: str) -> pb.CallToolResponse:
    return pb.CallToolResponse(result=result_pb2.ToolResult(data_text=text))


FAILED = '{"success":false,"error":{"code":"UNAVAILABLE","message":"later","retryable":true}}\nmore'
TOO_LATE = FAILED.replace("true}", 'true,"retry_after_seconds":90.5}')


@pytest.mark.parametrize(
    ("answers", "read"),
    [
        ([text('{"success":true,"data":{}}')], '{"success":true,"data":{}}'),
        ([text(FAILED), text('{"success":true}')], '{"success":true}'),
        ([text(FAILED.replace("true", "false"))], FAILED.replace("true", "false")),
        ([text(FAILED)] * 5, FAILED),
        ([text(TOO_LATE)], TOO_LATE),
        ([pb.CallToolResponse(confirmation_required=required())],
         "Not done yet: a person must approve it first: Pay 5. Then make the same call again. It waits "
         "as conf_1."),
        ([Refusal(grpc.StatusCode.NOT_FOUND, "UNKNOWN_TOOL")], "Not called: refused: UNKNOWN_TOOL"),
    ],
)
def test_a_model_reads_a_text_whatever_becomes_of_its_call(
    fake: FakeTools, tools: Toolwire, answers: list[Any], read: str
) -> None:
    fake.answers["CallTool"] = in_turn(*answers)
    assert tools.call_text("pay", '{"amount":5}', max_tokens=500) == read
    assert fake.requests[0].result_format == result_pb2.RESULT_FORMAT_MODEL
    assert fake.requests[0].max_tokens == 500
    assert len(fake.requests) == len(answers)


def test_a_call_of_a_model_whose_answer_was_lost_goes_on_under_its_request_id(
    fake: FakeTools, tools: Toolwire
) -> None:
    tools.retries = 0
    lost = Refusal(grpc.StatusCode.UNAVAILABLE, "")
    fake.answers["CallTool"] = in_turn(lost, text(FAILED), text(TOO_LATE))
    with pytest.raises(Refused):
        tools.call_text("pay", {"amount": 5})
    tools.call_text("pay", {"amount": 5})
    tools.call_text("pay", {"amount": 5})
    assert len({request.request_id for request in fake.requests}) == 1


def test_calls_that_a_model_never_makes_again_are_forgotten(
    fake: FakeTools, tools: Toolwire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire.client.MOST_WAITING", 10)
    fake.answers["CallTool"] = lambda _: pb.CallToolResponse(confirmation_required=required())
    for amount in range(15):
        tools.call_text("pay", {"amount": amount})
    assert [json.loads(arguments)["amount"] for _, arguments, _ in tools._waiting] == [*range(5, 15)]


def test_the_same_call_of_a_model_goes_on_under_the_request_id_that_waits_for_a_person(
    fake: FakeTools, tools: Toolwire
) -> None:
    wait, done = pb.CallToolResponse(confirmation_required=required()), text('{"success":true}')
    tools.retries = 0
    lost = Refusal(grpc.StatusCode.UNAVAILABLE, "")
    fake.answers["CallTool"] = in_turn(wait, wait, wait, text(FAILED), lost, done, done)
    tools.call_text("pay", {"amount": 5, "to": "x"})
    tools.call_text("pay", {"amount": 6, "to": "x"})
    # A model that repeats its call may write it in another way.
    tools.call_text("pay", '{ "to": "x", "amount": 5 }')
    tools.call_text("pay", {"to": "x", "amount": 5})
    with pytest.raises(Refused):
        tools.call_text("pay", {"amount": 5, "to": "x"})
    tools.call_text("pay", {"amount": 5, "to": "x"})
    tools.call_text("pay", {"amount": 5, "to": "x"})
    first, other, *again, ended = [request.request_id for request in fake.requests]
    assert again == [first] * 4
    assert len({first, other, ended}) == 3, "a call that has ended is not that call"


class Line(BaseModel):
    price: Decimal
    class_: str = Field(alias="class")
    model_config = ConfigDict(populate_by_name=True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> Decimal:
        return self.price * 2


LINE = Line.model_validate({"price": "1.50", "class": "a"})


class Lines(RootModel[list[Line]]):
    """Of a form that pydantic writes."""


@dataclass
class Bill:
    lines: tuple[Line, ...]
    of: date | None = None
    count: int = field(init=False, default=1)


class Point(NamedTuple):
    x: int
    y: Decimal


NAN, INF, HALF = float("nan"), float("inf"), "\ud83d"
CIRCLE: dict[str, Any] = {}
CIRCLE["again"] = CIRCLE
ODD_ARGUMENTS: list[tuple[Any, str]] = [
    ({"items": [{}, {}, {}, {"price": NAN}]}, "/items/3/price"), ({"a": INF}, "/a"), ({"a": (1.0, -INF)}, "/a/1"),
    ({"a": {"b": HALF}}, "/a/b"), ({"a": {HALF: 1}}, "/a"), ({HALF: 1}, ""), ({1: "x"}, ""), ({"a": {None: 1}}, "/a"),
    ({"a": [{True: 1}]}, "/a/0"), ({"a": {(1, 2): 1}}, "/a"), ({"a": b"x"}, "/a"), ({"a": bytearray(1)}, "/a"),
    ({"a": {object()}}, "/a/0"), ({"a": 1j}, "/a"), ({"a": Decimal("inf")}, "/a"), ({"a": object}, "/a"),
    ({"a": iter([1])}, "/a"), ({"a": 2**64}, "/a"), ({"a": [-(2**63) - 1]}, "/a/0"), ({"a": 10**5000}, "/a"),
    ({"a~/b": NAN}, "/a~0~1b"), (HALF, ""), (b"{}", ""), (NAN, ""), (object(), ""),
]
CALLS: dict[str, Callable[..., Any]] = {
    "call": lambda tools, *args, **options: tools.call(*args, **options),
    "call_text": lambda tools, *args, **options: tools.call_text(*args, **options),
    "stream": lambda tools, *args, **options: list(tools.stream(*args, **options)),
}


@pytest.fixture(scope="module", params=["blocking", "awaited"])
def offline(request: pytest.FixtureRequest) -> Iterator[Toolwire]:
    """A client without a server, which raises Refused of what it sends."""
    with connect(request.param, "http://127.0.0.1:1", retries=0) as client:
        yield client


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(("arguments", "pointer"), ODD_ARGUMENTS)
def test_arguments_that_are_not_carried_exactly_are_refused_at_their_place(
    offline: Toolwire, method: str, arguments: Any, pointer: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        CALLS[method](offline, "pay", arguments)
    assert [it.pointer for it in refused.value.violations] == [pointer]
    assert refused.value.message.startswith("the arguments of pay cannot be sent: ")
    assert pointer in refused.value.message


def test_arguments_that_hold_themselves_are_refused(offline: Toolwire) -> None:
    with pytest.raises(InvalidArgument, match="nests deeper"):
        offline.call("pay", CIRCLE)


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [(None, "{}"), ({}, "{}"), ([], "[]"), (0, "0"), (False, "false"), ("", ""), ({"a": True}, '{"a":true}'),
     ({"a": {"b"}, "c": (1, 2.0)}, '{"a":["b"],"c":[1,2.0]}'), ({"a": 2**64 - 1}, '{"a":18446744073709551615}'),
     ({"a": [Decimal("1.50"), clock(12), timedelta(hours=1)], "b": Path("/x")},
      '{"a":["1.50","12:00:00","PT1H"],"b":"/x"}'),
     (LINE, '{"price":"1.50","class":"a"}'),
     ({"a": [Bill((LINE,))]}, '{"a":[{"lines":[{"price":"1.50","class":"a"}],"of":null}]}'),
     ({"a": Point(1, Decimal(2)), "b": Lines([LINE])}, '{"a":{"x":1,"y":"2"},"b":[{"price":"1.50","class":"a"}]}'),
     (OrderedDict(a=Decimal(1)), '{"a":"1"}')],
)
def test_arguments_are_sent_as_they_are(fake: FakeTools, tools: Toolwire, arguments: Any, sent: str) -> None:
    fake.answers["CallTool"] = in_turn(data())
    tools.call("pay", arguments)
    assert fake.requests[0].arguments_json == sent


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda tools: tools.call("pay", amount=5),
         "Toolwire.call() got an unexpected keyword argument 'amount'; a tool takes one dict: call(tool, {…})"),
        (lambda tools: [*tools.stream("pay", amount=5)],
         "Toolwire.stream() got an unexpected keyword argument 'amount'; a tool takes one dict: stream(tool, {…})"),
        (lambda tools: tools.call("pay", {}, 5), "Toolwire.call() takes from 2 to 3 positional arguments but 4 were "
         "given; a tool takes one dict: call(tool, {…})"),
        (lambda tools: tools.search(), "Toolwire.search() missing 1 required positional argument: 'text'"),
        (lambda tools: tools.tasks.create(), "Tasks.create() missing 1 required positional argument: 'request'"),
    ],
)
def test_a_method_that_is_called_in_another_way_says_its_own_name(call: Callable[[Any], Any], said: str) -> None:
    with Toolwire.connect("http://127.0.0.1:1") as tools, pytest.raises(TypeError) as refused:
        call(tools)
    assert str(refused.value) == said


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({name: value}, f"/{name}") for name in ("timeout", "wait_for_approval")
        for value in (NAN, INF, -1, "5", True, 1e300, 10**400)
    ] + [({name: value}, f"/{name}") for name in ("request_id", "task_id") for value in (HALF, 5, b"\xff")],
)
def test_an_option_that_cannot_be_kept_is_refused_by_its_name(
    offline: Toolwire, method: str, options: Any, pointer: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        CALLS[method](offline, "pay", {}, **options)
    assert [it.pointer for it in refused.value.violations] == [pointer]


@pytest.mark.parametrize(
    ("ask", "pointer"),
    [
        (lambda tools: tools.call(HALF), "/tool"), (lambda tools: tools.call_text("a", max_tokens=NAN), "/max_tokens"),
        (lambda tools: tools.call_text("a", max_tokens=10**20), "/max_tokens"),
        (lambda tools: tools.search(HALF), "/text"), (lambda tools: tools.list_tools(text=5), "/text"),
        (lambda tools: tools.list_tools(tags=["a", HALF]), "/tags/1"),
        (lambda tools: tools.list_tools(tags=5), "/tags"),
        (lambda tools: tools.list_tools(category="odd"), "/category"),
        (lambda tools: tools.list_tools(category=["read"]), "/category"),
        (lambda tools: tools.export(HALF), "/format"), (lambda tools: tools.export("mcp", tags=(HALF,)), "/tags/0"),
        (lambda tools: tools.export("mcp", strict="no"), "/strict"), (lambda tools: tools.cancel(HALF), "/call_id"),
        (lambda tools: tools.approve(HALF), "/confirmation_id"), (lambda tools: tools.approve("c", tool=HALF), "/tool"),
        (lambda tools: tools.approve("c", reason=5), "/reason"), (lambda tools: tools.deny("c", HALF), "/reason"),
        (lambda tools: tools.tasks.create(HALF), "/request"), (lambda tools: tools.tasks.create("a", role=1), "/role"),
        (lambda tools: tools.tasks.create("a", labels={"b": HALF}), "/labels/b"),
        (lambda tools: tools.tasks.create("a", labels={1: "b"}), "/labels"),
        (lambda tools: tools.tasks.create("a", labels={"b": 1}), "/labels"),
        (lambda tools: tools.tasks.get(HALF), "/task_id"), (lambda tools: tools.tasks.list(root_id=HALF), "/root_id"),
        (lambda tools: tools.tasks.list(states=["running", "odd"]), "/states"),
        (lambda tools: tools.tasks.answer("a", HALF), "/answer"),
        (lambda tools: tools.tasks.answer("a", NAN), "/answer"),
        (lambda tools: tools.tasks.cancel("a", b"x"), "/reason"),
    ],
)
def test_a_value_that_a_method_cannot_send_is_refused_by_its_name(
    offline: Toolwire, ask: Callable[[Any], Any], pointer: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        ask(offline)
    assert [it.pointer for it in refused.value.violations] == [pointer]


def test_a_server_that_is_not_there_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    said = f"no answer of a server at {url}: start it, or name another by TOOLWIRE_SERVER"
    with Toolwire.connect(url, retries=0) as tools:
        for ask in (tools.list_tools, lambda: tools.call("pay")):
            with pytest.raises(Refused, match=said):
                ask()


def test_what_no_model_can_help_is_raised(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CallTool"] = in_turn(Refusal(grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_REJECTED"))
    with pytest.raises(Refused):
        tools.call_text("pay")


def event(**event: Any) -> pb.InvokeToolResponse:
    return pb.InvokeToolResponse(event=event_pb2.CallEvent(call_id="c", **event))


def test_a_stream_yields_what_happens(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["InvokeTool"] = in_turn(
        Refusal(grpc.StatusCode.UNAVAILABLE, "OVERLOADED"),
        [
            event(accepted=event_pb2.Accepted(tool="pay")), event(awaiting_confirmation=required()),
            event(progress=event_pb2.Progress(message="half", fraction=0.5)),
            event(progress=event_pb2.Progress(message="more")), event(chunk=event_pb2.Chunk(data_json='{"a":1}')),
            event(result=data().result),
        ],
    )
    *events, result = tools.stream("pay")
    assert events == [
        Accepted("c", "pay"), AwaitingApproval("conf_1", "Pay 5"), Progress("half", 0.5), Progress("more", None),
        Chunk({"a": 1}),
    ]
    assert isinstance(result, Result)
    assert len(fake.requests) == 2


def test_a_stream_raises_as_a_call_does(fake: FakeTools, tools: Toolwire) -> None:
    accepted = event(accepted=event_pb2.Accepted(tool="pay"))
    fake.answers["InvokeTool"] = in_turn(
        [accepted, event(result=failure("CONFLICT").result)], [event(confirmation_required=required())],
    )
    with pytest.raises(ToolError, match="it is CONFLICT"):
        list(tools.stream("pay"))
    with pytest.raises(ConfirmationRequired):
        list(tools.stream("pay"))


@pytest.mark.parametrize("count", [0, 1])
def test_a_stream_that_ends_by_its_deadline_names_its_request_id(
    fake: FakeTools, tools: Toolwire, count: int
) -> None:
    def answer(_: Any) -> Iterator[pb.InvokeToolResponse]:
        yield from [event(accepted=event_pb2.Accepted(tool="slow"))] * count
        time.sleep(0.5)

    fake.answers["InvokeTool"] = answer
    with pytest.raises(ToolTimeout) as raised:
        list(tools.stream("slow", request_id="r-1", timeout=0.2))
    assert "request_id='r-1'" in raised.value.message


def test_a_call_is_cancelled_by_its_identifier(fake: FakeTools, tools: Toolwire) -> None:
    fake.answers["CancelCall"] = lambda request: pb.CancelCallResponse(cancelled=request.call_id == "c")
    assert tools.cancel("c")
    assert not tools.cancel("ended")


def test_tools_are_listed_searched_and_exported(fake: FakeTools, tools: Toolwire) -> None:
    tool = tool_pb2.ToolDefinition(
        name="order", category=tool_pb2.TOOL_CATEGORY_SIDE_EFFECT, input_schema_json='{"type":"object"}',
        consequence_level=tool_pb2.CONSEQUENCE_LEVEL_HIGH, status=tool_pb2.ToolStatus(reason="no host"),
    )
    fake.answers["ListTools"] = lambda _: [pb.ListToolsResponse(tool=tool)]
    (found,) = tools.search("order shop")
    assert (found.name, found.category, found.consequence) == ("order", "side_effect", "high")
    assert (found.input_schema, found.problem) == ({"type": "object"}, "no host")
    assert fake.requests[0].text == "order shop"
    tools.list_tools(tags=["shop"], category="read")
    assert (list(fake.requests[1].tags), fake.requests[1].category) == (["shop"], tool_pb2.TOOL_CATEGORY_READ)
    fake.answers["ExportTools"] = lambda request: pb.ExportToolsResponse(json=json.dumps([request.format]))
    assert tools.export("anthropic") == ["anthropic"]
    assert (tools.openai(), tools.anthropic(tags=["shop"]), tools.gemini(strict=True)) == (
        ["openai"], ["anthropic"], ["gemini"]
    )
    assert (list(fake.requests[-2].tags), fake.requests[-1].strict) == (["shop"], True)


def test_tasks(fake: FakeTools, tools: Toolwire) -> None:
    task = task_pb2.Task(task_id="task_1", state=task_pb2.TASK_STATE_COMPLETED, request="Report")
    task.result.update({"text": "done"})
    fake.answers["CreateTask"] = lambda _: task_service_pb2.CreateTaskResponse(task=task)
    fake.answers["GetTask"] = lambda _: task_service_pb2.GetTaskResponse(task=task)
    fake.answers["ListTasks"] = lambda _: task_service_pb2.ListTasksResponse(tasks=[task])
    fake.answers["AnswerQuestion"] = lambda _: task_service_pb2.AnswerQuestionResponse(task=task)
    fake.answers["CancelTask"] = lambda _: task_service_pb2.CancelTaskResponse(task=task)
    created = tools.tasks.create("Report", role="analyst", labels={"a": "b"})
    assert (created.task_id, created.state, created.result) == ("task_1", "completed", {"text": "done"})
    assert uuid.UUID(fake.requests[0].request_id)
    assert tools.tasks.get("task_1") == tools.tasks.answer("task_1", "2024") == tools.tasks.cancel("task_1", "no")
    assert tools.tasks.list(states=["running"]) == [created]
    assert list(fake.requests[-1].filter.states) == [task_pb2.TASK_STATE_RUNNING]


def test_what_is_not_said_is_in_the_environment(fake: FakeTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWIRE_SERVER", fake.url)
    monkeypatch.setenv("TOOLWIRE_TOKEN", "from-the-environment")
    fake.answers["CallTool"] = in_turn(data())
    with Toolwire.connect() as tools:
        tools.call("order")
    assert fake.metadata[0]["authorization"] == "Bearer from-the-environment"
