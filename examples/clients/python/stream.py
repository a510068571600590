"""Follows the events of a call, lets a deadline pass, and cancels a call."""

import grpc

from client import metadata, open_channel
from toolwire.v1 import tool_service_pb2, tool_service_pb2_grpc

with open_channel() as channel:
    tools = tool_service_pb2_grpc.ToolServiceStub(channel)

    def invoke(tool, arguments_json, timeout):
        request = tool_service_pb2.InvokeToolRequest(tool=tool, arguments_json=arguments_json)
        return tools.InvokeTool(request, timeout=timeout, metadata=metadata)

    for response in invoke("debug_stream", '{"count": 2}', timeout=10):
        print(f"event {response.event.sequence}: {response.event.WhichOneof('event')}")

    try:
        list(invoke("debug_sleep", '{"duration": "60s"}', timeout=0.5))
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.DEADLINE_EXCEEDED:
            raise
        print("the deadline passed")

    call = invoke("debug_sleep", '{"duration": "60s", "progress_interval": "0.1s"}', timeout=10)
    try:
        for response in call:
            if response.event.WhichOneof("event") == "progress":
                call.cancel()
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.CANCELLED:
            raise
        print("the call was cancelled")
