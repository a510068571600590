"""Stands for the server's binary: its command line, and one service that calls the tools of the host that dials in."""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import grpc

from tests.fake import FakeServer, FakeSlot
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb

SERVER = FakeServer()
IDLE: list[FakeSlot] = []


async def call(request: pb.CallToolRequest, _: Any) -> pb.CallToolResponse:
    slot = IDLE.pop() if IDLE else await SERVER.slot()
    call_id = await slot.start(request.tool, raw=request.arguments_json)
    outcome = (await slot.inbox.get()).outcome
    IDLE.append(slot)
    result = result_pb2.ToolResult(tool=request.tool)
    if outcome.HasField("error"):
        result.error.CopyFrom(outcome.error)
    else:
        result.data_json = outcome.data_json
    return pb.CallToolResponse(call_id=call_id, result=result)


async def main() -> None:
    handler = grpc.unary_unary_rpc_method_handler(
        call, pb.CallToolRequest.FromString, pb.CallToolResponse.SerializeToString
    )
    await SERVER.open(grpc.method_handlers_generic_handler("toolwire.v1.ToolService", {"CallTool": handler}))
    state = Path(sys.argv[sys.argv.index("--state") + 1])
    lame_duck = os.environ.get("TOOLWIRE_DRAIN_LAME_DUCK", "")
    said = {"pid": os.getpid(), "arguments": sys.argv[1:], "lame_duck": lame_duck}
    (state / "fake.json").write_text(json.dumps(said))
    print(f"toolwire listening on 127.0.0.1:{SERVER.port}", flush=True)
    if "--http=127.0.0.1:0" in sys.argv:
        print("toolwire http on 127.0.0.1:50080", flush=True)
    print("  tools  0", flush=True)
    await asyncio.Event().wait()


def end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    if "FAKE_FAILS" in os.environ:
        sys.exit("error: the state is in use")
    else:
        threading.Thread(target=end_with_stdin, daemon=True).start()
        asyncio.run(main())
