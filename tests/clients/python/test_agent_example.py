"""examples/agent/agent.py against a stub of each provider: it sends the export, calls over gRPC, and prints the answer."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from toolwire.v1 import confirmation_service_pb2, tool_service_pb2 as pb

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


def run(request, provider, name, question, **options):
    base = f"http://127.0.0.1:{provider.server_address[1]}"
    environment = {
        **os.environ, "TOOLWIRE_SERVER": f"http://{request.config.getoption('--address')}",
        "OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": "x", "ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "x",
    }
    command = [sys.executable, str(AGENT), name, question]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(("name", "answer"), [("openai", as_openai), ("anthropic", as_anthropic)])
def test_the_agent_sends_the_export_and_answers_from_the_call(request, tools, provider, name, answer):
    provider.answer = answer
    agent = run(request, provider, name, QUESTION)
    said, errors = agent.communicate(timeout=60)
    assert agent.returncode == 0, errors
    assert said == "It is 193.12.\n"
    exported = tools.ExportTools(pb.ExportToolsRequest(format=name), timeout=10).json
    assert len(provider.asked) == 2
    assert all(asked["tools"] == json.loads(exported) for asked in provider.asked)


# As a model writes the same arguments, now so and now so.
SPELLINGS = ['{"value": "agent"}', '{"value":"agent"}']


def payer_openai(body):
    last = body["messages"][-1]
    message = {"role": "assistant", "content": None}
    if last["role"] == "tool":
        message["content"] = last["content"].splitlines()[0]
    else:
        asked = sum(it["role"] == "user" for it in body["messages"])
        function = {"name": "debug_confirm", "arguments": SPELLINGS[asked % 2]}
        message["tool_calls"] = [{"id": f"call_{asked}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def payer_anthropic(body):
    last = body["messages"][-1]["content"]
    if isinstance(last, str):
        content = [{"type": "tool_use", "id": "toolu_1", "name": "debug_confirm", "input": {"value": "agent"}}]
    else:
        content = [{"type": "text", "text": last[0]["content"].splitlines()[0]}]
    return {**as_anthropic({"messages": [{"content": ""}]}), "content": content}


@pytest.mark.parametrize(("name", "answer"), [("openai", payer_openai), ("anthropic", payer_anthropic)])
def test_what_a_person_approves_is_carried_out_when_the_model_calls_again(
    request, tools, confirmations, provider, name, answer
):
    provider.answer = answer
    agent = run(request, provider, name, "Pay.")
    waits = agent.stdout.readline()
    assert waits.startswith("Not done yet: a person must approve "), agent.stderr.read()
    decision = confirmation_service_pb2.DecideConfirmationRequest(
        confirmation_id=waits.split()[7], approve=confirmation_service_pb2.Approve(tool="debug_confirm")
    )
    decided = confirmations.DecideConfirmation(decision, timeout=10).confirmation
    agent.stdin.write("Go on.\n")
    agent.stdin.flush()
    assert json.loads(agent.stdout.readline())["success"]
    # It is done: the next one is another, which a person decides on by itself.
    said, errors = agent.communicate("Pay again.\n", timeout=60)
    assert agent.returncode == 0, errors
    assert said.startswith("Not done yet: ")
    assert said.split()[7] != waits.split()[7]
    done = [it for it in tools.ListCalls(pb.ListCallsRequest(), timeout=10).calls if it.request_id == decided.request_id]
    assert len(done) == 1
