"""examples/agent/agent.py against a stub of each provider: it sends the export, calls over gRPC, and prints the answer."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from toolwire.v1 import tool_service_pb2 as pb

AGENT = Path(__file__).parents[3] / "examples" / "agent" / "agent.py"
QUESTION = "What is Apple at?"


class Provider(BaseHTTPRequestHandler):
    """Calls get_quotes once, and then says what it has read."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        answer = json.dumps(self.server.answer(body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def read(text):
    return f"It is {json.loads(text.splitlines()[0])['data']['quotes'][0]['price']}."


def as_openai(body):
    last = body["messages"][-1]
    message = {"role": "assistant", "content": None}
    if last["role"] == "tool":
        message["content"] = read(last["content"])
    else:
        function = {"name": "get_quotes", "arguments": '{"symbol": "AAPL"}'}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def as_anthropic(body):
    last = body["messages"][-1]["content"]
    if isinstance(last, str):
        content = [{"type": "tool_use", "id": "toolu_1", "name": "get_quotes", "input": {"symbol": "AAPL"}}]
    else:
        content = [{"type": "text", "text": read(last[0]["content"])}]
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }


@pytest.fixture
def provider():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


@pytest.mark.parametrize(("name", "answer"), [("openai", as_openai), ("anthropic", as_anthropic)])
def test_the_agent_sends_the_export_and_answers_from_the_call(request, tools, provider, name, answer):
    provider.answer = answer
    base = f"http://127.0.0.1:{provider.server_address[1]}"
    environment = {
        **os.environ, "TOOLWIRE_ADDRESS": request.config.getoption("--address"),
        "OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": "x", "ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "x",
    }
    command = [sys.executable, str(AGENT), name, QUESTION]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "It is 193.12.\n"
    exported = tools.ExportTools(pb.ExportToolsRequest(format=name), timeout=10).json
    assert len(provider.asked) == 2
    assert all(asked["tools"] == json.loads(exported) for asked in provider.asked)
