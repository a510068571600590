"""Repeats a write whose answer was lost. The same request_id says that it is the same write: it is done once."""

import json
import uuid

import grpc

from client import metadata, open_channel
from toolwire.v1 import result_pb2, tool_service_pb2, tool_service_pb2_grpc

REPEATABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

with open_channel() as channel:
    tools = tool_service_pb2_grpc.ToolServiceStub(channel)
    request = tool_service_pb2.CallToolRequest(
        tool="debug_write",
        arguments_json='{"value": "x", "duration": "1s"}',
        request_id=str(uuid.uuid4()),
        result_format=result_pb2.RESULT_FORMAT_JSON,
    )

    def write():
        for attempt, timeout in enumerate([0.5, 5, 5], start=1):
            try:
                return tools.CallTool(request, timeout=timeout, metadata=metadata).result
            except grpc.RpcError as error:
                if error.code() not in REPEATABLE:
                    raise
                print(f"attempt {attempt}: no answer")
        raise TimeoutError("no answer at all")

    first = write()
    print(f"{json.loads(first.data_json)['value']} is written")
    if write().data_json == first.data_json:
        print("the repeat has the same answer")
