"""What a Python agent backend does with Toolwire, through grpcio and stubs generated from proto/."""

import json
import re
import time
import uuid

import grpc
import pytest
from google.protobuf import json_format, struct_pb2
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from toolwire.brokerage.v1 import brokerage_service_pb2 as brokerage_pb
from toolwire.v1 import confirmation_pb2, confirmation_service_pb2, result_pb2, tool_pb2
from toolwire.v1 import tool_service_pb2 as pb

# The bound on calls that are expected to end by themselves: a hung call fails its test.
LIMIT = 10
# Promise 2 allows 100 ms from a reset to the tool's stop; a loaded machine gets more.
STOPS_WITHIN = 0.5
ATTEMPTS = 20


def struct(**fields):
    message = struct_pb2.Struct()
    message.update(fields)
    return message


def call(tool, **arguments):
    return pb.CallToolRequest(tool=tool, arguments=struct(**arguments))


def invoke(tool, **arguments):
    return pb.InvokeToolRequest(tool=tool, arguments=struct(**arguments))


def kinds(events):
    return [event.WhichOneof("event") for event in events]


def error_details(error):
    """The google.rpc details of a failed call, by message name; the status must repeat code and message."""
    status = rpc_status.from_call(error)
    assert status is not None, f"no details in {error}"
    details = {}
    for packed in status.details:
        message = getattr(error_details_pb2, packed.TypeName().rsplit(".", 1)[1])()
        assert packed.Unpack(message)
        assert packed.TypeName() not in details, "each kind of detail comes once"
        details[packed.TypeName()] = message
    info = details["google.rpc.ErrorInfo"]
    assert info.domain == "toolwire"
    assert re.fullmatch(r"[A-Z][A-Z0-9_]*", info.reason)
    return details


def test_the_server_and_its_services_are_healthy(channel):
    health = health_pb2_grpc.HealthStub(channel)
    for service in ["", "toolwire.v1.ToolService", "toolwire.brokerage.v1.BrokerageService"]:
        answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=LIMIT)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING, service


def test_tools_are_listed_in_order_of_name_with_schema_and_digest(tools):
    request = pb.ListToolsRequest(view=tool_pb2.TOOL_VIEW_FULL_JSON)
    listed = [response.tool for response in tools.ListTools(request, timeout=LIMIT)]
    names = [tool.name for tool in listed]
    assert names == sorted(names)
    assert {"get_quotes", "get_positions", "rank_portfolio", "debug_sleep"} <= set(names)
    for tool in listed:
        assert tool.description
        assert re.fullmatch(r"[0-9a-f]{64}", tool.digest), tool.name
        assert json.loads(tool.input_schema_json)["type"] == "object", tool.name


def test_one_tool_is_got_as_it_was_listed(tools):
    listed = {response.tool.name: response.tool for response in tools.ListTools(pb.ListToolsRequest(), timeout=LIMIT)}
    got = tools.GetTool(pb.GetToolRequest(name="get_quotes"), timeout=LIMIT).tool
    assert got == listed["get_quotes"]


def test_a_call_streams_accepted_and_then_its_result(tools):
    events = [response.event for response in tools.InvokeTool(invoke("get_quotes", symbol="AAPL"), timeout=LIMIT)]
    assert kinds(events)[0] == "accepted"
    assert kinds(events)[-1] == "result"
    assert [event.sequence for event in events] == list(range(len(events)))
    assert len({event.call_id for event in events}) == 1
    result = events[-1].result
    assert list(result.provenance.source_ids) == ["tool:quotes:v1"]
    assert result.data["quotes"][0]["price"] == 193.12


def test_chunks_come_before_the_result(tools):
    request = invoke("debug_stream", count=3, bytes=100)
    events = [response.event for response in tools.InvokeTool(request, timeout=LIMIT)]
    assert kinds(events).count("chunk") == 3
    assert kinds(events)[-1] == "result"


def test_a_unary_call_answers_as_json_when_asked(tools):
    request = pb.CallToolRequest(
        tool="get_quotes", arguments_json='{"symbol":"AAPL"}', result_format=result_pb2.RESULT_FORMAT_JSON
    )
    response = tools.CallTool(request, timeout=LIMIT)
    assert response.call_id
    assert response.result.WhichOneof("outcome") == "data_json"
    assert json.loads(response.result.data_json)["quotes"][0]["price"] == 193.12


def test_a_typed_call_returns_what_the_tool_returns(tools, brokerage):
    typed = brokerage.GetPositions(brokerage_pb.GetPositionsRequest(symbol="AAPL"), timeout=LIMIT)
    untyped = tools.CallTool(call("get_positions", symbol="AAPL"), timeout=LIMIT).result
    assert typed.data.position.symbol == "AAPL"
    # The Struct shows null where an optional field is absent.
    shown = json_format.MessageToDict(
        typed.data, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    assert without_nulls(json_format.MessageToDict(untyped.data)) == shown
    assert typed.provenance == untyped.provenance


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def test_cancelling_in_mid_stream_ends_the_call_at_the_server(tools):
    stream = tools.InvokeTool(invoke("debug_sleep", duration="60s", progress_interval="0.1s"), timeout=LIMIT)
    call_id = next(stream).event.call_id
    assert next(stream).event.WhichOneof("event") == "progress"
    stream.cancel()
    with pytest.raises(grpc.RpcError) as raised:
        list(stream)
    assert raised.value.code() == grpc.StatusCode.CANCELLED
    # The tool would run for a minute: that no such call is running now means that the reset stopped it.
    time.sleep(STOPS_WITHIN)
    assert not tools.CancelCall(pb.CancelCallRequest(call_id=call_id), timeout=LIMIT).cancelled


def test_a_call_is_cancelled_by_its_id(tools):
    stream = tools.InvokeTool(invoke("debug_sleep", duration="60s"), timeout=LIMIT)
    call_id = next(stream).event.call_id
    assert tools.CancelCall(pb.CancelCallRequest(call_id=call_id), timeout=LIMIT).cancelled
    result = [response.event for response in stream][-1].result
    assert result.error.code == result_pb2.TOOL_ERROR_CODE_CANCELLED
    assert result.error.message == "Request was cancelled"


@pytest.mark.parametrize("attempt", range(ATTEMPTS))
def test_a_deadline_ends_a_stream(tools, attempt):
    with pytest.raises(grpc.RpcError) as raised:
        list(tools.InvokeTool(invoke("debug_sleep", duration="5s"), timeout=0.2))
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize("attempt", range(ATTEMPTS))
def test_a_deadline_ends_a_unary_call(tools, attempt):
    with pytest.raises(grpc.RpcError) as raised:
        tools.CallTool(call("debug_sleep", duration="5s"), timeout=0.2)
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


def test_an_unknown_tool_is_not_found_with_details(tools):
    with pytest.raises(grpc.RpcError) as raised:
        tools.CallTool(call("get_quote", symbol="AAPL"), timeout=LIMIT)
    assert raised.value.code() == grpc.StatusCode.NOT_FOUND
    assert "get_quotes" in raised.value.details(), "near names are named"
    assert error_details(raised.value)["google.rpc.ResourceInfo"].resource_name == "get_quote"


def test_arguments_that_are_not_json_are_a_result_that_a_model_can_correct(tools):
    request = pb.InvokeToolRequest(tool="get_quotes", arguments_json="{symbol: AAPL")
    events = list(tools.InvokeTool(request, timeout=LIMIT))
    assert kinds([response.event for response in events]) == ["result"]
    error = events[0].event.result.error
    assert error.code == result_pb2.TOOL_ERROR_CODE_INVALID_ARGUMENT, error
    assert error.field_violations


def test_a_typed_call_fails_with_a_status_and_details(brokerage):
    with pytest.raises(grpc.RpcError) as raised:
        brokerage.GetQuotes(brokerage_pb.GetQuotesRequest(symbol="NOSUCH"), timeout=LIMIT)
    assert raised.value.code() == grpc.StatusCode.NOT_FOUND
    error_details(raised.value)


def test_arguments_that_break_the_schema_are_a_result_with_every_violation(tools):
    events = list(tools.InvokeTool(invoke("get_quotes", symbl="AAPL"), timeout=LIMIT))
    assert kinds([response.event for response in events]) == ["result"]
    error = events[0].event.result.error
    assert error.code == result_pb2.TOOL_ERROR_CODE_INVALID_ARGUMENT
    assert error.origin == result_pb2.ERROR_ORIGIN_CALLER
    assert not error.retryable
    violations = {violation.rule: violation for violation in error.field_violations}
    assert "required" in violations
    assert violations["additionalProperties"].pointer == "/symbl"


def test_a_failing_tool_is_a_result_that_says_when_to_call_again(tools):
    result = tools.CallTool(call("debug_fail", code="RATE_LIMITED", retry_after="2s"), timeout=LIMIT).result
    assert result.error.code == result_pb2.TOOL_ERROR_CODE_RATE_LIMITED
    assert result.error.retryable
    assert result.error.retry_after.ToTimedelta().total_seconds() == 2
    assert result.HasField("fetched_at")


def test_a_write_waits_for_a_person_and_goes_on(tools, confirmations):
    request = invoke("debug_confirm", value="python")
    request.request_id = str(uuid.uuid4())
    request.wait_for_confirmation.FromSeconds(LIMIT)
    seen = []
    for response in tools.InvokeTool(request, timeout=2 * LIMIT):
        event = response.event
        seen.append(event.WhichOneof("event"))
        if seen[-1] == "awaiting_confirmation":
            decision = confirmation_service_pb2.DecideConfirmationRequest(
                confirmation_id=event.awaiting_confirmation.confirmation_id,
                approve=confirmation_service_pb2.Approve(tool=event.awaiting_confirmation.tool),
                on_behalf_of="chat:42",
            )
            decided = confirmations.DecideConfirmation(decision, timeout=LIMIT).confirmation
            assert decided.state == confirmation_pb2.CONFIRMATION_STATE_APPROVED
            assert decided.on_behalf_of == "chat:42"
    assert seen[:2] == ["accepted", "awaiting_confirmation"]
    assert seen[-1] == "result"
    assert event.result.data["value"] == "python"
    # The same call again has the same outcome, without a person.
    again = list(tools.InvokeTool(request, timeout=LIMIT))
    assert again[-1].event.result.data == event.result.data


def test_a_denied_write_says_why(tools, confirmations):
    request = call("debug_confirm", value="python")
    request.request_id = str(uuid.uuid4())
    required = tools.CallTool(request, timeout=LIMIT).confirmation_required
    deny = confirmation_service_pb2.Deny(reason="not today")
    decision = confirmation_service_pb2.DecideConfirmationRequest(confirmation_id=required.confirmation_id, deny=deny)
    confirmations.DecideConfirmation(decision, timeout=LIMIT)
    error = tools.CallTool(request, timeout=LIMIT).result.error
    assert error.code == result_pb2.TOOL_ERROR_CODE_CONFIRMATION_DENIED
    assert error.message == "A person denied this call: not today"
