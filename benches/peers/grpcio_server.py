"""`ToolService.CallTool` in Python's grpc.aio: the same contract, the same tool, the same answer.

It reads its argument, looks each symbol up, and renders the JSON, as the other peers do. With `--spared` it answers
with bytes that it has already: what the wire alone costs there. It checks no credentials, writes no log and keeps no
time. `ANSWERS` names the file with what our server answered; `STUBS` the directory of the messages that
`grpc_tools.protoc` made of the contract.
"""

import asyncio
import json
import os
import sys
import uuid

import grpc

sys.path.insert(0, os.environ["STUBS"])

from toolwire.v1.tool_service_pb2 import CallToolRequest, CallToolResponse  # noqa: E402

SERVICE = "toolwire.v1.ToolService"
CALL_TOOL = f"/{SERVICE}/CallTool"
QUOTES = {
    "AAPL": {"symbol": "AAPL", "price": 193.12, "change_pct": 1.1},
    "VTI": {"symbol": "VTI", "price": 236.18, "change_pct": 0.7},
    "BND": {"symbol": "BND", "price": 72.85, "change_pct": 0.1},
    "MSFT": {"symbol": "MSFT", "price": 420.55, "change_pct": -0.6},
}


def recorded() -> bytes:
    """What our server answered."""
    with open(os.environ["ANSWERS"], encoding="utf-8") as file:
        return bytes(next(answer["messages"][0] for answer in json.load(file) if answer["path"] == CALL_TOOL))


def get_quotes(request: CallToolRequest) -> CallToolResponse:
    symbols = json.loads(request.arguments_json)["symbol"].split(",")
    quotes = [QUOTES[symbol] for symbol in symbols if symbol in QUOTES]
    data = {"as_of": "2026-01-15", "quotes": quotes, "currency": "USD"}
    response = CallToolResponse(call_id=str(uuid.uuid4()))
    response.result.tool = request.tool
    response.result.fetched_at.GetCurrentTime()
    response.result.provenance.source_ids.append("tool:quotes:v1")
    response.result.provenance.as_of = data["as_of"]
    response.result.data_json = json.dumps(data, separators=(",", ":"))
    return response


async def main() -> None:
    answer = recorded()
    ours, theirs = CallToolResponse.FromString(answer), get_quotes(
        CallToolRequest(tool="get_quotes", arguments_json=json.dumps({"symbol": ",".join(QUOTES)}))
    )
    ours.call_id, ours.result.fetched_at.seconds, ours.result.fetched_at.nanos = (
        theirs.call_id,
        theirs.result.fetched_at.seconds,
        theirs.result.fetched_at.nanos,
    )
    assert ours == theirs, f"{theirs} instead of {ours}"

    async def call_tool(request: CallToolRequest, _context: grpc.aio.ServicerContext) -> bytes:
        return get_quotes(request).SerializeToString()

    async def spared(_request: bytes, _context: grpc.aio.ServicerContext) -> bytes:
        return answer

    handler = (
        grpc.unary_unary_rpc_method_handler(spared)
        if "--spared" in sys.argv
        else grpc.unary_unary_rpc_method_handler(call_tool, request_deserializer=CallToolRequest.FromString)
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"CallTool": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"toolwire listening on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
