"""What the tests of adapters need: a server with a tool whose large calls a person approves, and a scripted model."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from toolwire import AsyncToolwire, Context, Toolwire, tool

PAYMENTS = []
# As a model writes the same arguments, now so and now so.
SPELLINGS = [
    '{"amount": 500, "config": "a", "run_manager": "b", "callbacks": "c", "input": "d", "tool": "e"}',
    '{"tool":"e","run_manager":"b","callbacks":"c","input":"d","config":"a","amount":500}',
]


@tool(write=True, approve_unless={"amount": {"maximum": 100}})
def pay(
    amount: int, config: str = "", run_manager: str = "", callbacks: str = "", input: str = "", tool: str = "", *,
    ctx: Context,
) -> dict[str, int]:
    """Pays an amount in euros. Its parameters have names that the libraries give to their own."""
    PAYMENTS.append((ctx.request_id, amount, config + run_manager + callbacks + input + tool))
    return {"paid": amount}


class Model(BaseHTTPRequestHandler):
    """Speaks OpenAI's API of chat completions: calls `pay` at each message of a user, and says what it reads."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        last = body["messages"][-1]
        message, reason = {"role": "assistant", "content": None}, "tool_calls"
        if last["role"] == "tool":
            message["content"], reason = str(last["content"]).splitlines()[0], "stop"
        else:
            number = len(self.server.asked)
            function = {"name": "pay", "arguments": SPELLINGS[number // 2 % 2]}
            message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        completion = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "usage": usage}
        answer = json.dumps({**completion, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def model(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.asked = []
    server.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def local():
    with Toolwire.local(pay) as client:
        yield client


@pytest.fixture(params=["blocking", "awaited"])
def world(request, local, model):
    """`world(make)` has an agent pay, approves, and has it go on. `make` gets a client and its tools."""
    PAYMENTS.clear()

    def check(make):
        asyncio.run(converse(make))

    async def converse(make):
        if request.param == "awaited":
            async with AsyncToolwire.connect(local.url) as client:
                await pay_once(await make(client, await client.list_tools()))
        else:
            await pay_once(await make(local, local.list_tools()))

    async def pay_once(say):
        waits = await say("Pay the rent.")
        assert waits.startswith("Not done yet: a person must approve it first: "), waits
        assert "Then make the same call again." in waits
        assert PAYMENTS == []
        (confirmation,) = local.confirmations()
        local.approve(confirmation.confirmation_id)
        done = json.loads(await say("It is approved, go on."))
        assert done["data"] == {"paid": 500}
        assert PAYMENTS == [(confirmation.request_id, 500, "abcde")]
        # The tool as the server describes it.
        (listed,) = local.list_tools(text="pay")
        offered = {it["function"]["name"]: it["function"] for it in model.asked[0]["tools"]}
        assert offered["pay"]["description"] == listed.description
        parameters = offered["pay"]["parameters"]
        assert parameters["properties"].keys() == json.loads(SPELLINGS[0]).keys()
        assert (parameters["required"], parameters["properties"]["amount"]["type"]) == (["amount"], "integer")

    return check
