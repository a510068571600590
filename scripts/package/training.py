"""Makes the calls by which a program is optimised: what agents ask most, over gRPC, MCP and HTTP, and of a host.
`python scripts/package/training.py [ROUNDS]`, where the SDK can be imported.

Code that none of these calls runs is compiled as rarely executed. What agents wait for must therefore be among them.
"""

import http.client
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from toolwire import Context, Toolwire, ToolError, tool
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb

ROUNDS = 2_000
USER, HOST = "user-0123456789abcdef", "host-0123456789abcdef"
SETTINGS = """
[server]
diagnostics = true
[http]
listen = "127.0.0.1:{port}"
[[auth.users]]
user_id = "demo"
token = "{user}"
[providers.shop]
kind = "host"
token_env = "TOOLWIRE_HOST_TOKEN"
tools = ["order_*"]
"""
REVISION, REVISION_BEFORE = "2026-07-28", "2025-11-25"
STOCK = {"symbol": "RELIANCE"}
QUOTES = {"symbol": "AAPL,VTI,BND,MSFT"}


@tool
def order_status(order_id: str) -> dict:
    """Where an order is."""
    return {"order_id": order_id, "state": "sent"}


@tool(write=True, approve_unless={"amount": {"maximum": 100}})
async def order_refund(order_id: str, amount: float, *, ctx: Context) -> dict:
    """Pays money back."""
    await ctx.progress("Asking the bank", 0.5)
    return {"order_id": order_id, "amount": amount}


def main(rounds):
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        settings = Path(folder) / "toolwire.toml"
        settings.write_text(SETTINGS.format(port=port, user=USER))
        # As in service, each call has its line in the log.
        os.environ |= {"TOOLWIRE_TOKEN": USER, "TOOLWIRE_HOST_TOKEN": HOST, "TOOLWIRE_LOG": "json"}
        with Toolwire.local(order_status, order_refund, samples=True, config=settings) as tools:
            each = [*over_grpc(tools), *of_a_host(tools), *over_http(http.client.HTTPConnection("127.0.0.1", port))]
            for round in range(rounds):
                for ask, every in each:
                    if round % every == 0:
                        ask()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def over_grpc(tools):
    """Calls, each with the number of rounds after which it is made again. The two below do the same."""

    def call(name, arguments, form, **options):
        request = pb.CallToolRequest(
            tool=name, arguments_json=json.dumps(arguments), result_format=f"RESULT_FORMAT_{form}", **options
        )
        return lambda: tools._rpc.unary(request, 30)

    def refused():
        try:
            tools.call("get_quotes", {})
        except ToolError:
            return
        raise AssertionError("a call without its required argument succeeded")

    yield from ((call("get_quotes", QUOTES, form), 1) for form in ("JSON", "STRUCT", "MODEL"))
    yield call("get_technicals", STOCK, "JSON"), 1
    yield lambda: [*tools.stream("debug_stream", {"count": 3})], 1
    yield lambda: tools.call("debug_write", {"value": "x"}), 4
    yield refused, 4
    yield lambda: tools.list_tools(), 100
    yield lambda: tools.export("openai"), 100


def of_a_host(tools):
    yield lambda: tools.call("order_status", {"order_id": "A-1"}), 1
    yield lambda: [*tools.stream("order_refund", {"order_id": "A-1", "amount": 5})], 4


def over_http(connection):
    def ask(path, body, **headers):
        headers |= {
            "authorization": f"Bearer {USER}", "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }

        def run():
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
            assert response.status == 200, text

        return run

    def mcp(method, **params):
        meta = {
            "io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {"mcp-protocol-version": REVISION, "mcp-method": method}
        if "name" in params:
            headers["mcp-name"] = params["name"]
        return ask("/mcp", body, **headers)

    def mcp_before(**params):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return ask("/mcp", body, **{"mcp-protocol-version": REVISION_BEFORE, "mcp-session-id": "training"})

    yield mcp("tools/call", name="get_technicals", arguments=STOCK), 1
    yield mcp("tools/call", name="order_status", arguments={"order_id": "A-1"}), 1
    yield mcp("tools/call", name="debug_write", arguments={"value": "x"}), 4
    yield mcp_before(name="get_technicals", arguments=STOCK), 1
    yield mcp_before(name="order_status", arguments={"order_id": "A-1"}, _meta={"progressToken": 1}), 4
    yield mcp("tools/list"), 20
    yield ask("/v1/tools/get_technicals:call", STOCK), 1
    yield ask("/api/chat", {"message": "What is Apple trading at, and any news on TCS?"}), 20


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
