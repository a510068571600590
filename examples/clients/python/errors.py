"""Reads the two kinds of failure: a tool that failed, in the result, and a call that was refused, in the status."""

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from client import metadata, open_channel
from toolwire.v1 import tool_service_pb2, tool_service_pb2_grpc

with open_channel() as channel:
    tools = tool_service_pb2_grpc.ToolServiceStub(channel)

    def call(tool, arguments_json):
        request = tool_service_pb2.CallToolRequest(tool=tool, arguments_json=arguments_json)
        return tools.CallTool(request, timeout=10, metadata=metadata).result

    for violation in call("get_performance", '{"timefram": "YTD"}').error.field_violations:
        print(f"{violation.pointer} breaks {violation.rule}: {violation.description}")

    error = call("debug_fail", '{"code": "RATE_LIMITED", "retry_after": "2s"}').error
    if error.retryable:
        print(f"{error.message}: again in {error.retry_after.seconds} s")

    try:
        call("get_quote", "{}")
    except grpc.RpcError as error:
        # The package grpcio-status unpacks the details of a status; one that the library made itself has none.
        status = rpc_status.from_call(error)
        if not status:
            raise
        for detail in status.details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                print(f"refused, {info.reason}: {error.details()}")
