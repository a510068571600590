"""Lists tools, then calls one: arguments and result as JSON text."""

import json
import sys

from client import metadata, open_channel
from toolwire.v1 import result_pb2, tool_pb2, tool_service_pb2, tool_service_pb2_grpc

with open_channel() as channel:
    tools = tool_service_pb2_grpc.ToolServiceStub(channel)

    request = tool_service_pb2.ListToolsRequest(tags=["positions"], view=tool_pb2.TOOL_VIEW_BASIC)
    for response in tools.ListTools(request, timeout=10, metadata=metadata):
        print(f"tool {response.tool.name}: {response.tool.title}")

    request = tool_service_pb2.CallToolRequest(
        tool="get_quotes",
        arguments_json=json.dumps({"symbol": "AAPL"}),
        result_format=result_pb2.RESULT_FORMAT_JSON,
    )
    result = tools.CallTool(request, timeout=10, metadata=metadata).result
    if result.HasField("error"):
        sys.exit(result.error.message)
    quote = json.loads(result.data_json)["quotes"][0]
    print(f"{quote['symbol']} costs {quote['price']}, says {result.provenance.source_ids[0]}")
