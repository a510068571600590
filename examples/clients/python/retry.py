"""Repeats a write until it has an answer. The same request_id says that it is the same write: it is done once."""

import json
import sys
import time
import uuid

import grpc

from client import metadata, open_channel
from toolwire.v1 import result_pb2, tool_service_pb2, tool_service_pb2_grpc

REPEATABLE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

# Seconds to wait before each attempt, unless the server asks for more.
PAUSES = [0, 1, 2, 4, 8]

with open_channel() as channel:
    tools = tool_service_pb2_grpc.ToolServiceStub(channel)
    request = tool_service_pb2.CallToolRequest(
        tool="debug_write",
        arguments_json='{"value": "x", "duration": "1s"}',
        request_id=str(uuid.uuid4()),
        result_format=result_pb2.RESULT_FORMAT_JSON,
    )

    def write():
        retry_after = 0
        for attempt, pause in enumerate(PAUSES, start=1):
            time.sleep(max(pause, retry_after))
            reason, retry_after = "no answer", 0
            try:
                # The first deadline is shorter than the write, to show what follows.
                timeout = 0.5 if attempt == 1 else 5
                result = tools.CallTool(request, timeout=timeout, metadata=metadata).result
                if not result.HasField("error"):
                    return result.data_json
                if not result.error.retryable:
                    sys.exit(result.error.message)
                reason, retry_after = result.error.message, result.error.retry_after.ToTimedelta().total_seconds()
            except grpc.RpcError as error:
                if error.code() not in REPEATABLE:
                    raise
            print(f"attempt {attempt}: {reason}", flush=True)
        sys.exit(f"given up: {reason}")

    first = write()
    print(f"{json.loads(first)['value']} is written")
    if write() == first:
        print("the repeat has the same data")
